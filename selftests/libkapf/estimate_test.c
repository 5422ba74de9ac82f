// SPDX-License-Identifier: GPL-2.0
/*
 * Work estimates: what a list costs, by size and by count, from the store and
 * from the cache; which watches cost as much; and what the watchers of a change
 * add to it.
 */
#include <stdio.h>

#include "test.h"

#define PODS		"GET", "/api/v1/pods"
#define LIST(query)	"GET", "/api/v1/pods?" query
#define NONE		KAPF_MAX_WIDTH /* MaxSeats of a level without queues */
#define OBJECTS(nr, bytes) \
	{ .is_known = true, .objects = (nr), .object_bytes = (bytes) }

/* Lists of what is seats by size, and by count. */
static const struct {
	const char *method;
	const char *url;
	struct kapf_store store;
	unsigned int max_seats;
	unsigned int by_size;
	unsigned int by_count;
} lists[] = {
	/* 1 to the cap, or to MaxSeats */
	{ PODS, OBJECTS(0, 0), NONE, 1, 1 },
	{ PODS, OBJECTS(100, 1000), NONE, 1, 2 },
	{ PODS, OBJECTS(101, 1000), NONE, 2, 3 },
	{ PODS, OBJECTS(10000, 500), NONE, 50, 10 },
	{ PODS, OBJECTS(10000, 5000), NONE, 100, 10 },
	{ PODS, OBJECTS(10000, 5000), 7, 7, 7 },
	{ PODS, OBJECTS(10000, 5000), 0, 100, 10 },
	{ PODS, OBJECTS(1ULL << 32, 1ULL << 32), NONE, 100, 10 },
	{ PODS, OBJECTS(1ULL << 63, 1), NONE, 100, 10 },

	/* What is not known */
	{ PODS, { .objects = 10000, .object_bytes = 5000 }, NONE, 1, 1 },
	{ PODS, { .is_known = true, .is_stale = true }, NONE, 100, 10 },
	{ PODS, { .is_stale = true }, NONE, 1, 1 },
	{ PODS, OBJECTS(1, 0), NONE, 15, 1 },
	{ PODS, OBJECTS(2, 0), NONE, 30, 1 },
	{ LIST("limit=x"), { .objects = 1 }, NONE, 100, 10 },
	{ LIST("timeoutSeconds=x"), OBJECTS(1, 1), 7, 7, 7 },
	{ LIST("labelSelector=!"), OBJECTS(1, 1), NONE, 1, 1 },

	/* limit */
	{ LIST("limit=300"), OBJECTS(1000, 1000), NONE, 3, 6 },
	{ LIST("limit=2000"), OBJECTS(1000, 500), NONE, 5, 10 },
	{ LIST("limit=0"), OBJECTS(400, 500), NONE, 2, 8 },
	{ LIST("limit=-5"), OBJECTS(400, 500), NONE, 2, 8 },

	/* Selectors, from the store */
	{ LIST("limit=100&labelSelector=a"), OBJECTS(600, 1000), NONE, 3, 7 },
	{ LIST("limit=100&fieldSelector=a=b"), OBJECTS(600, 1000), NONE, 3, 7 },
	{ LIST("limit=400&labelSelector=a"), OBJECTS(600, 1000), NONE, 4, 10 },
	{ LIST("fieldSelector=metadata.name=p"), OBJECTS(600, 200001), NONE, 3,
	  1 },

	/* The same from the cache: at most 1,000,000 bytes */
	{ LIST("resourceVersion=0&limit=100&labelSelector=a"),
	  OBJECTS(600, 1000), NONE, 1, 6 },
	{ LIST("resourceVersion=0"), OBJECTS(600, 5000), NONE, 10, 6 },
	{ LIST("resourceVersion=0&fieldSelector=metadata.name=p"),
	  OBJECTS(600, 200001), NONE, 3, 1 },

	/* Which of both */
	{ LIST("resourceVersion=5"), OBJECTS(300, 5000), NONE, 10, 3 },
	{ LIST("resourceVersion=5&limit=299"), OBJECTS(300, 5000), NONE, 15, 6 },
	{ LIST("resourceVersion=0&limit=299"), OBJECTS(300, 5000), NONE, 10, 3 },
	{ LIST("resourceVersion=0&continue=c"), OBJECTS(300, 5000), NONE, 15, 6 },
	{ LIST("resourceVersion=0&resourceVersionMatch=Exact"),
	  OBJECTS(300, 5000), NONE, 15, 6 },
	{ LIST("resourceVersionMatch=NotOlderThan&continue=c"),
	  OBJECTS(300, 5000), NONE, 10, 3 },
	{ LIST("resourceVersion=0&resourceVersionMatch=Odd"),
	  OBJECTS(300, 5000), NONE, 15, 6 },
	{ LIST("limit=299"), { .is_known = true, .objects = 300,
			       .object_bytes = 5000, .reports_progress = true },
	  NONE, 10, 3 },

	/* Watches that begin with the objects there are, and others */
	{ LIST("watch=1"), OBJECTS(300, 5000), NONE, 10, 3 },
	{ LIST("watch=1&resourceVersion=0"), OBJECTS(300, 5000), NONE, 10, 3 },
	{ LIST("watch=1&resourceVersion=5"), OBJECTS(300, 5000), NONE, 1, 1 },
	{ LIST("watch=1&resourceVersion=5&sendInitialEvents=true"),
	  OBJECTS(300, 5000), NONE, 10, 3 },
	{ LIST("watch=1&sendInitialEvents=false"), OBJECTS(300, 5000), NONE, 10,
	  3 },
	{ LIST("watch=1&resourceVersion=5&limit=x"), OBJECTS(300, 5000), NONE,
	  100, 10 },
	{ "GET", "/api/v1/watch/pods?continue=c&labelSelector=a",
	  OBJECTS(300, 5000), NONE, 10, 3 },

	/* Other verbs */
	{ "GET", "/api/v1/pods/p", OBJECTS(300, 5000), NONE, 1, 1 },
	{ "DELETE", "/api/v1/pods?limit=x", OBJECTS(300, 5000), NONE, 1, 1 },
	{ "LIST", "/x", OBJECTS(300, 5000), NONE, 15, 6 },
};

#define MS 1000000

static const struct {
	const char *method;
	const char *url;
	uint64_t watchers;
	unsigned int max_seats;
	unsigned int final_seats;
	uint64_t ns;
} changes[] = {
	{ "POST", "/api/v1/pods", 9, NONE, 0, 0 },
	{ "POST", "/api/v1/pods", 10, NONE, 1, 5 * MS },
	{ "PUT", "/api/v1/pods/p", 11, NONE, 2, 5 * MS },
	{ "PATCH", "/api/v1/pods/p", 100, NONE, 10, 5 * MS },
	{ "DELETE", "/api/v1/pods/p", 101, NONE, 10, 5500000 },
	{ "PUT", "/api/v1/pods/p", 70, 3, 3, 11666666 },
	{ "PUT", "/api/v1/pods/p", 20, 1, 1, 10 * MS },
	{ "PUT", "/api/v1/pods/p", 100, 0, 10, 5 * MS },
	{ "PUT", "/api/v1/pods/p", 1200000, NONE, 10, 60000000000 },
	{ "PUT", "/api/v1/pods/p", 1300000, NONE, 10, 60000000000 },
	{ "PUT", "/api/v1/pods/p", ~0ULL, NONE, 10, 60000000000 },
	{ "DELETE", "/api/v1/pods", 100, NONE, 0, 0 },
	{ "GET", "/api/v1/pods", 100, NONE, 0, 0 },
	{ "OPTIONS", "/api/v1/pods", 100, NONE, 0, 0 },
	{ "POST", "/api/v1/namespaces/n/serviceaccounts/s/token", 100, NONE,
	  0, 0 },
	{ "PUT", "/api/v1/namespaces/n/serviceaccounts/s", 10, NONE, 1, 5 * MS },
	{ "POST", "/api/v1/namespaces/n/things/s/token", 10, NONE, 1, 5 * MS },
};

static struct kapf_work estimate(const char *method, const char *url,
				 const struct kapf_store *store,
				 unsigned int max_seats,
				 enum kapf_list_cost cost)
{
	struct kapf_http_request *request = NULL;
	struct kapf_work work = { 77, 77, 77, true, 77 };

	kapf_http_request_parse(&request, method, url, NULL);
	kapf_work_estimate(&work, request, store, max_seats, cost);
	kapf_http_request_free(request);
	return work;
}

static void test_lists(void)
{
	for (size_t i = 0; i < SIZE(lists); i++) {
		struct kapf_work by_size = estimate(lists[i].method,
						    lists[i].url,
						    &lists[i].store,
						    lists[i].max_seats,
						    KAPF_LIST_BY_SIZE);
		struct kapf_work by_count = estimate(lists[i].method,
						     lists[i].url,
						     &lists[i].store,
						     lists[i].max_seats,
						     KAPF_LIST_BY_COUNT);

		ok(by_size.initial_seats == lists[i].by_size &&
		   by_count.initial_seats == lists[i].by_count &&
		   !by_size.final_seats && !by_size.additional_latency &&
		   !by_count.final_seats && !by_count.additional_latency &&
		   !by_size.counts_watchers && !by_count.counts_watchers,
		   "estimate: %zu: %s %s: by size %u, by count %u", i,
		   lists[i].method, lists[i].url, by_size.initial_seats,
		   by_count.initial_seats);
	}
}

/* Which watchers statistics count: also those who cost nothing. */
static void test_watchers(void)
{
	const struct kapf_store store = { .watchers = 9 };
	struct kapf_work work = estimate("PUT", "/api/v1/pods/p", &store, NONE,
					 KAPF_LIST_BY_SIZE);

	ok(work.counts_watchers && work.watchers == 9,
	   "estimate: watchers of a change are counted");
	work = estimate("DELETE", "/api/v1/pods", &store, NONE,
			KAPF_LIST_BY_SIZE);
	ok(!work.counts_watchers, "estimate: none of a deletecollection");
	work = estimate("POST", "/api/v1/namespaces/n/serviceaccounts/s/token",
			&store, NONE, KAPF_LIST_BY_SIZE);
	ok(!work.counts_watchers, "estimate: none of a token");
}

static void test_changes(void)
{
	for (size_t i = 0; i < SIZE(changes); i++) {
		struct kapf_store store = { .watchers = changes[i].watchers };
		struct kapf_work work = estimate(changes[i].method,
						 changes[i].url, &store,
						 changes[i].max_seats,
						 KAPF_LIST_BY_SIZE);

		ok(work.initial_seats == 1 &&
		   work.final_seats == changes[i].final_seats &&
		   work.additional_latency == changes[i].ns,
		   "estimate: %s %s, %ju watchers: %u seats for %ju ns",
		   changes[i].method, changes[i].url,
		   (uintmax_t)changes[i].watchers, work.final_seats,
		   (uintmax_t)work.additional_latency);
	}
}

void test_estimates(void)
{
	test_lists();
	test_changes();
	test_watchers();
}
