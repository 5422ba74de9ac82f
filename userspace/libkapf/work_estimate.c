// SPDX-License-Identifier: LGPL-2.1
/*
 * Work estimates: how many seats a request will need, and for how long after it
 * has been served, from what the store knows of its resource.
 */
#include <string.h>

#include "internal.h"

/* What a list is taken to have in memory, and how much of that makes a seat */
#define BYTES_PER_SEAT		100000
#define MAX_OBJECT_BYTES	1500000
#define MAX_CACHE_BYTES		1000000
#define MAX_SEATS_BY_SIZE	100

#define OBJECTS_PER_SEAT	100
#define MAX_SEATS_BY_COUNT	10

/* How many there are when nobody knows any more */
#define STALE_OBJECTS		1000000000

/* Sending an event to so many watchers takes a seat for so long. */
#define WATCHERS_PER_SEAT	10
#define EVENT_NS		5000000ULL
#define MAX_FINAL_SEATS		10

/**
 * struct list - what the cost of a list depends on
 * @objects: that are stored
 * @limit: at most so many of them are wanted
 * @object_bytes: average size
 * @is_one: a name selects one
 * @is_selected: by a field or label selector
 * @is_cached: the store itself is not asked
 */
struct list {
	uint64_t objects;
	uint64_t limit;
	uint64_t object_bytes;
	bool is_one;
	bool is_selected;
	bool is_cached;
};

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t divide_up(uint64_t a, uint64_t b)
{
	return a / b + !!(a % b);
}

/* Can the cache serve a list of these options? */
static bool is_cacheable(const struct kapf_list_options *options,
			 const struct kapf_store *store)
{
	const char *match = options->resource_version_match;

	if (*match)
		return !strcmp(match, "NotOlderThan");
	if (*options->continue_token)
		return false;
	if (!*options->resource_version)
		return store->reports_progress;
	return options->limit <= 0 || !strcmp(options->resource_version, "0");
}

static uint64_t seats_by_size(const struct list *list)
{
	uint64_t bytes, objects = list->limit;

	if (list->is_one)
		objects = 1;
	else if (!list->is_cached && list->is_selected)
		objects = max(list->limit, list->objects / 2);
	if (__builtin_mul_overflow(objects, list->object_bytes, &bytes))
		bytes = UINT64_MAX;
	if (list->is_cached)
		bytes = min(bytes, MAX_CACHE_BYTES);
	return divide_up(bytes, BYTES_PER_SEAT);
}

static uint64_t seats_by_count(const struct list *list)
{
	uint64_t objects;

	if (list->is_one)
		objects = 1;
	else if (list->is_cached)
		objects = list->objects;
	else if (__builtin_add_overflow(list->is_selected ? list->objects :
							    list->limit,
					list->limit, &objects))
		objects = UINT64_MAX;
	return divide_up(objects, OBJECTS_PER_SEAT);
}

/* What the store knows, and what of it is asked for. */
static struct list describe(const struct kapf_http_request *request,
			    const struct kapf_store *store)
{
	const struct kapf_list_options *options = &request->list;
	struct list list = {
		.objects = store->objects,
		.object_bytes = store->object_bytes,
		.is_one = *request->name,
		.is_selected = *options->field_selector ||
			       *options->label_selector,
		.is_cached = !strcmp(request->verb, "watch") ||
			     is_cacheable(options, store),
	};

	if (store->is_stale) {
		list.objects = STALE_OBJECTS;
		list.object_bytes = MAX_OBJECT_BYTES;
	}
	if (!list.object_bytes && list.objects)
		list.object_bytes = MAX_OBJECT_BYTES;
	list.limit = list.objects;
	if (options->limit > 0)
		list.limit = min(list.limit, options->limit);
	return list;
}

static unsigned int list_seats(const struct kapf_http_request *request,
			       const struct kapf_store *store, uint64_t limit,
			       enum kapf_list_cost cost)
{
	struct list list = describe(request, store);

	if (!request->list.is_valid)
		return limit;
	if (!store->is_known)
		return 1;
	return min(limit, max(1, cost == KAPF_LIST_BY_COUNT ?
				 seats_by_count(&list) : seats_by_size(&list)));
}

/* A watch that does not begin with the objects there are costs little. */
static bool is_like_a_list(const struct kapf_http_request *request)
{
	const struct kapf_list_options *options = &request->list;

	if (!strcmp(request->verb, "list"))
		return true;
	return !strcmp(request->verb, "watch") &&
	       (!options->is_valid || options->send_initial_events ||
		!*options->resource_version ||
		!strcmp(options->resource_version, "0"));
}

static void add_events(struct kapf_work *work, uint64_t watchers,
		       unsigned int max_seats)
{
	uint64_t seats = divide_up(watchers, WATCHERS_PER_SEAT), ns;

	work->counts_watchers = true;
	work->watchers = watchers;
	if (watchers < WATCHERS_PER_SEAT)
		return;
	work->final_seats = min(seats, min(MAX_FINAL_SEATS, max_seats));
	if (__builtin_mul_overflow(seats, EVENT_NS, &ns))
		ns = UINT64_MAX;
	work->additional_latency = min(ns / work->final_seats,
				       KAPF_MAX_ADDITIONAL_LATENCY_NS);
}

/* A token is made for a service account, which does not change. */
static bool makes_token(const struct kapf_http_request *request)
{
	return !strcmp(request->resource, "serviceaccounts") &&
	       !strcmp(request->subresource, "token");
}

void kapf_work_estimate(struct kapf_work *work,
			const struct kapf_http_request *request,
			const struct kapf_store *store, unsigned int max_seats,
			enum kapf_list_cost cost)
{
	static const char *const changes[] = {
		"create", "update", "patch", "delete", NULL
	};
	const uint64_t cap = cost == KAPF_LIST_BY_COUNT ? MAX_SEATS_BY_COUNT :
							  MAX_SEATS_BY_SIZE;

	if (!max_seats)
		max_seats = KAPF_MAX_WIDTH;
	*work = (struct kapf_work){ .initial_seats = 1 };
	if (kapf_is_one_of(request->verb, changes)) {
		if (!makes_token(request))
			add_events(work, store->watchers, max_seats);
	} else if (is_like_a_list(request)) {
		work->initial_seats = list_seats(request, store,
						 min(cap, max_seats), cost);
	}
}
