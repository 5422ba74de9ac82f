// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of admission within a process, each of what the device is tested for,
 * too: exempt levels, refusals, queues, deadlines, fairness, additional latencies,
 * and seats that are lent.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>

#include "local.h"
#include "slots.h"
#include "test.h"

#define MSEC	1000000ULL
#define MOST	64

#define QUEUING(queues, hand, length) \
	"limitResponse: {type: Queue, queuing: {queues: " #queues \
	", handSize: " #hand ", queueLengthLimit: " #length "}}"

#define ALONE	"borrowingLimitPercent: 0, "
#define LIMITED(name, limited) \
	OBJECT("PriorityLevelConfiguration", "name: " name, \
	       "type: Limited, limited: {" limited "}")
#define FLOWS(name, level, path) \
	SCHEMA("name: " name, "matchingPrecedence: 500, " TO(level) ", " \
	       "distinguisherMethod: {type: ByUser}, " \
	       "rules: [{subjects: [{kind: Group, group: {name: all}}], " \
	       "nonResourceRules: [{verbs: [\"*\"], " \
	       "nonResourceURLs: [\"" path "\"]}]}]")

static const char levels[] =
	LIMITED("one", ALONE "nominalConcurrencyShares: 1, " QUEUING(64, 1, 2))
	LIMITED("four", ALONE "nominalConcurrencyShares: 4, "
		QUEUING(64, 4, 50))
	LIMITED("refuser", ALONE "nominalConcurrencyShares: 2, " REJECT)
	LIMITED("lender", "nominalConcurrencyShares: 8, lendablePercent: 100, "
		QUEUING(1, 1, 50))
	LIMITED("borrower", "nominalConcurrencyShares: 4, "
		QUEUING(1, 1, 50))
	FLOWS("one", "one", "/one")
	FLOWS("four", "four", "/four")
	FLOWS("refuser", "refuser", "/refuser")
	FLOWS("lender", "lender", "/lender")
	FLOWS("borrower", "borrower", "/borrower");

/* What was told, of which request. */
struct told {
	unsigned int nr;
	int verdicts[MOST];
	unsigned int retry_after;
	int order[MOST];
};

static struct told told;
static int numbers[MOST];

static void decided(const struct kapf_ticket *ticket, void *user)
{
	int number = (int *)user - numbers;

	told.verdicts[number] = ticket->verdict;
	told.retry_after = ticket->retry_after;
	told.order[told.nr++] = number;
}

/* 24 seats for 24 shares: NominalCL of a level are its shares. */
static struct local *make(unsigned int period)
{
	struct kapf_configuration *config = kapf_config_new();
	struct snapshot *snapshot;
	struct local *local = NULL;

	told = (struct told){};
	if (merge(config, levels, NULL))
		exit(1);
	config->max_requests_inflight = 19;
	config->max_mutating_requests_inflight = 5;
	config->adjustment_period_ms = period;
	for (size_t i = 0; i < config->nr_levels; i++)
		memset(config->levels[i].uid, 'l', KAPF_UID_BYTES);
	for (size_t i = 0; i < config->nr_schemas; i++)
		memset(config->schemas[i].uid, 's', KAPF_UID_BYTES);
	kapf_config_nominal(config);
	snapshot = snapshot_new(config);
	if (!snapshot || local_new(&local, snapshot))
		exit(1);
	snapshots_put(snapshot);
	return local;
}

struct ask {
	const char *path;
	const char *user;
	struct kapf_work work;
	uint64_t wait;
};

static struct local_request *request;

static struct kapf_ticket submit(struct local *local, int number,
				 const struct ask *ask)
{
	const char *group = ask->user && !strcmp(ask->user, "root") ?
		"system:masters" : "all";
	const struct kapf_digest digest = {
		.user = ask->user ? ask->user : "u",
		.groups = &group,
		.nr_groups = 1,
		.verb = "get",
		.path = ask->path,
	};
	struct kapf_ticket ticket = {};

	request = NULL;
	if (local_submit(local, &digest, &ask->work, ask->wait, decided,
			 &numbers[number], &ticket, &request))
		ticket.verdict = 0;
	return ticket;
}

static int verdict(struct local *local, int number, const char *path,
		   const char *user)
{
	return submit(local, number,
		      &(struct ask){ .path = path, .user = user }).verdict;
}

/* Pump for so long as it is said to be worth it, or until so many were told. */
static void pump(struct local *local, unsigned int nr, uint64_t time)
{
	struct pollfd poller = { .fd = local_fd(local), .events = POLLIN };
	uint64_t end = slots_now() + time;

	while (told.nr < nr && slots_now() < end)
		if (poll(&poller, 1, (end - slots_now()) / MSEC + 1) == 1)
			local_pump(local);
}

static bool is_readable(struct local *local)
{
	struct pollfd poller = { .fd = local_fd(local), .events = POLLIN };

	return poll(&poller, 1, 20) == 1;
}

static void test_exempt(void)
{
	struct local *local = make(0);
	struct kapf_ticket ticket;
	bool all = true;

	for (int i = 0; i < 500; i++)
		all &= verdict(local, 0, "/one", "root") == KAPF_EXECUTE;
	ok(all, "local: an exempt level executes all");
	ticket = submit(local, 0, &(struct ask){ .path = "/one" });
	ok(ticket.verdict == KAPF_EXECUTE && ticket.level_uid[0] == 'l' &&
	   ticket.schema_uid[KAPF_UID_BYTES - 1] == 's',
	   "local: a ticket has the UIDs of what matched");
	local_free(local);
}

/* Refusals are counted by whole seconds: be at the beginning of one. */
static void await_second(void)
{
	const uint64_t second = 1000 * MSEC;
	const uint64_t left = second - slots_now() % second;
	const struct timespec wait = { .tv_nsec = left };

	if (left == second)
		return;
	nanosleep(&wait, NULL);
}

static void test_limits(void)
{
	struct local *local = make(0);
	struct kapf_ticket ticket;
	bool seated = true;

	for (int i = 0; i < 2; i++)
		seated &= verdict(local, i, "/refuser", "u") == KAPF_EXECUTE;
	ticket = submit(local, 2, &(struct ask){ .path = "/refuser" });
	ok(seated && ticket.verdict == KAPF_CONCURRENCY_LIMIT &&
	   ticket.retry_after == 1,
	   "local: a level without queues refuses beyond its limit, for 1 s");
	await_second();
	for (int i = 0; i < 8; i++)
		submit(local, 2, &(struct ask){ .path = "/refuser" });
	await_second();
	ticket = submit(local, 2, &(struct ask){ .path = "/refuser" });
	ok(ticket.retry_after == 2,
	   "local: many refusals double the time to stay away");

	verdict(local, 0, "/one", "u");
	verdict(local, 1, "/one", "u");
	verdict(local, 2, "/one", "u");
	ticket = submit(local, 3, &(struct ask){ .path = "/one" });
	ok(ticket.verdict == KAPF_QUEUE_FULL && ticket.retry_after == 1,
	   "local: a queue that is full refuses");
	local_free(local);
}

static void test_queue(void)
{
	struct local *local = make(0);
	struct local_request *executing, *waiting;
	int first, second;

	first = verdict(local, 0, "/one", "u");
	executing = request;
	second = verdict(local, 1, "/one", "u");
	waiting = request;
	ok(first == KAPF_EXECUTE && second == KAPF_QUEUED,
	   "local: who finds no seat is queued");
	ok(!is_readable(local), "local: nothing is to be told as long as it waits");
	local_finish(local, executing);
	ok(is_readable(local) && !told.nr,
	   "local: a decision is told by the pump alone");
	ok(local_pump(local) == 1 && told.nr == 1 &&
	   told.verdicts[1] == KAPF_EXECUTE,
	   "local: who waited executes when a seat is free");
	ok(!is_readable(local), "local: a decision is told once");
	local_finish(local, waiting);
	ok(verdict(local, 2, "/one", "u") == KAPF_EXECUTE,
	   "local: the seat of who had waited is free again");
	local_free(local);
}

static void test_ends_of_waits(void)
{
	struct local *local = make(0);
	struct local_request *waiting;
	uint64_t begin = slots_now();
	int first, second;

	verdict(local, 0, "/one", "u");
	submit(local, 1, &(struct ask){ .path = "/one", .wait = 30 * MSEC });
	pump(local, 1, 5000 * MSEC);
	ok(told.verdicts[1] == KAPF_TIME_OUT && told.retry_after == 1 &&
	   slots_now() - begin >= 30 * MSEC,
	   "local: a wait ends at its limit");

	verdict(local, 2, "/one", "u");
	waiting = request;
	first = local_cancel(local, waiting);
	second = local_cancel(local, waiting);
	pump(local, 2, 5000 * MSEC);
	ok(!first && second == -EALREADY && told.verdicts[2] == KAPF_CANCELLED,
	   "local: who is cancelled leaves its queue, once");
	local_free(local);
}

static void test_fairness(void)
{
	struct local *local = make(0);
	struct local_request *executing[4];
	unsigned int place = 0;

	for (int i = 0; i < 4; i++) {
		verdict(local, i, "/four", "elephant");
		executing[i] = request;
	}
	for (int i = 4; i < 24; i++)
		verdict(local, i, "/four", "elephant");
	verdict(local, 24, "/four", "mouse");
	for (int i = 0; i < 4; i++)
		local_finish(local, executing[i]);
	local_pump(local);
	while (place < told.nr && told.order[place] != 24)
		place++;
	ok(told.nr == 4 && place < 4,
	   "local: one of another flow does not wait for all of a flood");
	local_free(local);
}

static void test_latency(void)
{
	const struct ask lingers = {
		.path = "/one",
		.work = { .final_seats = 1, .additional_latency = 50 * MSEC },
	};
	struct local *local = make(0);
	uint64_t begin;
	int linger;

	submit(local, 0, &lingers);
	begin = slots_now();
	linger = local_finish(local, request);
	ok(linger == 50 && verdict(local, 1, "/one", "u") == KAPF_QUEUED,
	   "local: a seat lingers for the additional latency");
	pump(local, 1, 5000 * MSEC);
	ok(told.verdicts[1] == KAPF_EXECUTE &&
	   slots_now() - begin >= 50 * MSEC,
	   "local: it is free at the end of that");
	local_free(local);
}

static void test_width(void)
{
	const struct ask wide = {
		.path = "/four", .work = { .initial_seats = 9 },
	};
	const struct ask impossible = {
		.path = "/four",
		.work = { .initial_seats = KAPF_MAX_WIDTH + 1 },
	};
	struct local *local = make(0);
	struct local_request *narrow;
	int first, second;

	verdict(local, 0, "/four", "u");
	narrow = request;
	first = submit(local, 1, &wide).verdict;
	local_finish(local, narrow);
	local_pump(local);
	second = verdict(local, 2, "/four", "u");
	ok(first == KAPF_QUEUED && told.verdicts[1] == KAPF_EXECUTE,
	   "local: one that is wider than its level runs alone");
	ok(second == KAPF_QUEUED, "local: nobody runs beside it");
	ok(!submit(local, 3, &impossible).verdict,
	   "local: what is out of its range is refused");
	local_free(local);
}

static void test_borrowing(void)
{
	struct local *local = make(100);
	int seated = 0, back = 0;

	for (int i = 0; i < 12; i++)
		seated += verdict(local, i, "/borrower", "u") == KAPF_EXECUTE;
	ok(seated > 4, "local: a level borrows what others do not need");
	note("4 seats are its own, %d in use", seated);
	for (int i = 12; i < 20; i++)
		back += verdict(local, i, "/lender", "u") == KAPF_EXECUTE;
	note("%d of 8 are not lent", back);
	ok(back < 8, "local: what is lent is not there");
	pump(local, 8 - back, 5000 * MSEC);
	for (int i = 12; i < 20; i++)
		back += told.verdicts[i] == KAPF_EXECUTE;
	ok(back == 8, "local: it comes back when a period ends in which it was wanted");
	local_free(local);
}

void test_local(void)
{
	test_exempt();
	test_limits();
	test_queue();
	test_ends_of_waits();
	test_fairness();
	test_latency();
	test_width();
	test_borrowing();
}
