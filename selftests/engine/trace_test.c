// SPDX-License-Identifier: GPL-2.0
/*
 * The queue set against the model, over random traces: after each event both
 * have to agree on all that can be seen, and the invariants have to hold.
 *
 * The traces are steered towards what is rare, and the test fails where
 * something to be met was not met.  KAPF_TRACE_SEED, or the parameter trace_seed
 * of the module, repeats a run.
 */
#include "test.h"

#ifndef __KERNEL__
#include <stdlib.h>
#include <time.h>
#endif

#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>

#include "dealer.h"
#include "random.h"
#include "twin.h"

#define NSEC_PER_DAY	86400000000000ULL
#define MAX_EVENTS	TWIN_MAX_REQUESTS
#define MAX_FLOWS	8
#define MAX_LIVE	40
#define NR_TRACES	1500
#define OFTEN		25

/* What traces meet beside enum model_event. */
enum {
	CROSSED_HALF = MODEL_NR_EVENTS,	/* R passed 2^63 */
	CROSSED_ALL,			/* R passed 2^64 */
	SMALL_BUDGET,			/* something was left to dispatch */
	LIMIT_CUT,			/* below the seats in use */
	QUEUES_LEFT,			/* of a higher number, by requests */
	QUEUES_NO_MORE,			/* while requests wait */
	QUEUES_MOVING,			/* while requests come and go */
	LONG_STEP,			/* of a day or more */
	WAYS,				/* the first of enum twin_way */
	NR_MET = WAYS + TWIN_NR_WAYS,
};

static const char * const met_names[NR_MET] = {
	[MODEL_TIE] = "tie",
	[MODEL_LONE_WIDE] = "lone wide request",
	[MODEL_LONE_BESIDE_LINGERING] = "lone wide request beside lingering",
	[MODEL_BLOCKED] = "blocked head",
	[MODEL_OVERTAKING] = "blocked head where another would fit",
	[MODEL_CLIPPED] = "clipped final seats",
	[MODEL_BOUND] = "anti-windup",
	[MODEL_RESTART] = "restart of a queue that is ahead",
	[MODEL_FULL_LINE] = "queue length exceeded as a seat was free",
	[MODEL_REFUSED_FULL] = "queue-full",
	[MODEL_REFUSED_LIMIT] = "concurrency-limit",
	[MODEL_LINGERED] = "lingering",
	[MODEL_REFUNDED] = "latency that ends early",
	[MODEL_SETTLED_UP] = "service longer than guessed",
	[MODEL_SETTLED_DOWN] = "service shorter than guessed",
	[MODEL_EQUAL_WORK] = "equal queues in a hand",
	[MODEL_LATE] = "time before the last",
	[CROSSED_HALF] = "R passes 2^63",
	[CROSSED_ALL] = "R passes 2^64",
	[LIMIT_CUT] = "limit cut below the seats in use",
	[QUEUES_LEFT] = "surplus queues in use",
	[QUEUES_NO_MORE] = "no queues any more while requests wait",
	[QUEUES_MOVING] = "events while queues are moved",
	[SMALL_BUDGET] = "budget used up",
	[LONG_STEP] = "step of days",
	[WAYS + TWIN_SEATED_NOW] = "seated by the short way",
	[WAYS + TWIN_SEATED_ELSE] = "seated, but not by the short way",
	[WAYS + TWIN_NOT_SEATED] = "not seated, though asked to be at once",
	[WAYS + TWIN_FINISHED_NOW] = "finished by the short way",
	[WAYS + TWIN_FINISHED_ELSE] = "finished, but not by the short way",
};

/*
 * A run of both, and what steers it.
 *
 * @pace: power of ten of the usual step, in ns
 * @max_width: most seats of a request
 * @alike: whether all of them are equal, so that queues often are
 * @load: requests that the trace aims to have waiting, executing, lingering
 */
struct trace {
	struct twin twin;
	u64 random;
	u64 hashes[MAX_FLOWS];
	u32 nr_flows;
	u32 pace;
	u32 max_width;
	bool alike;
	u32 load;
	u32 event;
	u64 start_r;
};

static void dispatch(struct trace *trace, u64 *met)
{
	/* At times the owner lets go of the level before all is done. */
	bool hasty = random_chance(&trace->random, 25);
	u32 budget = hasty ? random_between(&trace->random, 0, 2) : 32;

	while (twin_dispatch(&trace->twin, budget)) {
		met[SMALL_BUDGET]++;
		if (hasty)
			break;
	}
}

static u64 random_latency(u64 *state)
{
	static const u64 most[] = { 1, 30, 10000000, 1000000000, 60000000000 };
	size_t last = ARRAY_SIZE(most) - 1;

	if (random_chance(state, 60))
		return 0;
	return random_between(state, 1, most[random_between(state, 0, last)]);
}

static void arrive(struct trace *trace)
{
	u64 *state = &trace->random;
	u64 hash = trace->hashes[random_between(state, 0, trace->nr_flows - 1)];
	struct model_request request = { .initial_seats = trace->max_width };

	if (!trace->alike) {
		request.initial_seats = random_between(state, 1,
						       trace->max_width);
		if (random_chance(state, 30))
			request.final_seats = random_between(state, 1, 40);
		request.additional_latency = random_latency(state);
	}
	twin_arrive(&trace->twin, &request, hash);
}

static void leave(struct trace *trace, enum model_state state)
{
	struct twin *twin = &trace->twin;
	u32 last = model_count(&twin->model, state) - 1;
	u32 id = twin_nth(twin, state, random_between(&trace->random, 0, last));
	u64 latency = twin->requests[id].additional_latency;

	if (state == MODEL_LINGERING && random_chance(&trace->random, 20))
		twin_release_early(twin, id, random_between(&trace->random, 0,
							    latency));
	else
		twin_leave(twin, id);
}

/* Of the states that there are requests in. */
static enum model_state random_state(struct trace *trace)
{
	static const enum model_state states[] = {
		MODEL_WAITING, MODEL_EXECUTING, MODEL_EXECUTING,
		MODEL_EXECUTING, MODEL_LINGERING, MODEL_LINGERING,
	};
	size_t last = ARRAY_SIZE(states) - 1;
	enum model_state state;

	do {
		state = states[random_between(&trace->random, 0, last)];
	} while (!model_count(&trace->twin.model, state));
	return state;
}

static void pass_time(struct trace *trace, u64 *met)
{
	u64 *state = &trace->random;
	u64 step = 1;
	u32 i;

	if (random_chance(state, 40))
		return;
	if (random_chance(state, 3)) {
		trace->twin.now -= random_between(state, 1, 1000);
		return;
	}
	if (random_chance(state, 1)) {
		trace->twin.now += random_between(state, NSEC_PER_DAY,
					     30 * NSEC_PER_DAY);
		met[LONG_STEP]++;
		return;
	}
	for (i = 0; i < trace->pace; i++)
		step *= 10;
	trace->twin.now += random_between(state, 1, 20 * step);
}

static u32 random_seats(u64 *state)
{
	static const u32 most_seats[] = { 1, 3, 10, 30, 100 };

	if (random_chance(state, 6))
		return 0;
	return random_between(state, 1, most_seats[random_between(state, 0, 4)]);
}

static u32 random_hand_size(u64 *state, u32 nr_queues)
{
	u32 most = kapf_hand_max(nr_queues);

	return random_between(state, 1, random_chance(state, 50) ?
						most : (most + 3) / 4);
}

/* How many queues there are to be, and all that goes with it */
static struct twin_sizes random_sizes(u64 *state)
{
	static const u32 most_queues[] = { 1, 2, 4, 8, 8, MODEL_MAX_QUEUES };
	static const u32 lengths[] = { 1, 1, 2, 5, 50 };
	struct twin_sizes sizes = {};
	u32 most;

	if (!random_chance(state, 10)) {
		most = most_queues[random_between(state, 0, 5)];
		sizes.nr_queues = random_between(state, 1, most);
		sizes.hand_size = random_hand_size(state, sizes.nr_queues);
		sizes.queue_length_limit =
			lengths[random_between(state, 0, 4)];
	}
	return sizes;
}

static void resize(struct trace *trace, u64 *met)
{
	const struct kapf_queueset *qs = &trace->twin.qs;
	struct twin_sizes sizes = random_sizes(&trace->random);

	if (kapf_queueset_least_room(qs, qs->nr_kept, ~0u) > sizes.nr_queues)
		met[QUEUES_LEFT]++;
	if (!sizes.nr_queues && qs->nr_waiting)
		met[QUEUES_NO_MORE]++;
	twin_resize(&trace->twin, &sizes, random_chance(&trace->random, 50));
}

static void reconfigure(struct trace *trace, u64 *met)
{
	u32 seats;

	if (random_chance(&trace->random, 50)) {
		resize(trace, met);
		return;
	}
	seats = random_seats(&trace->random);
	if (seats < trace->twin.qs.seats_in_use)
		met[LIMIT_CUT]++;
	twin_limit(&trace->twin, seats);
}

static bool wants_more(struct trace *trace)
{
	u32 live = trace->twin.model.nr_requests;

	return !live || random_chance(&trace->random,
				      live < trace->load ? 70 : 15);
}

static void one_event(struct trace *trace, bool draining, u64 *met)
{
	struct twin *twin = &trace->twin;

	pass_time(trace, met);
	if (twin->moving_to)
		met[QUEUES_MOVING]++;
	if (random_chance(&trace->random, 3))
		reconfigure(trace, met);
	else if (!draining && wants_more(trace))
		arrive(trace);
	else
		leave(trace, random_state(trace));
	if (!twin->failed)
		twin_agree(twin);
	if (!twin->failed)
		dispatch(trace, met);
	if (!twin->failed)
		twin_agree(twin);
	trace->event++;
}

static u64 random_start_r(u64 *state)
{
	u64 before = random_between(state, 0, 1);
	u32 i;

	for (i = random_between(state, 0, 12); i > 0; i--)
		before *= 10;
	switch (random_between(state, 0, 3)) {
	case 0:
		return 0;
	case 1:
		return (1ULL << 63) - before;
	case 2:
		return -before;
	default:
		return random_next(state);
	}
}

static void set_up_level(struct trace *trace)
{
	u64 *state = &trace->random;
	u32 seats = random_seats(state);
	struct twin_sizes sizes = random_sizes(state);

	trace->start_r = random_start_r(state);
	trace->twin.now = random_between(state, 2 * NSEC_PER_DAY, 1ULL << 62);
	twin_start(&trace->twin, seats, &sizes, trace->start_r);
}

static void set_up_load(struct trace *trace)
{
	u32 seats = trace->twin.model.seats;
	const u32 most_widths[] = {
		1, 2, 8, seats + 1, seats + 5, 40,
	};
	u64 *state = &trace->random;
	u32 i;

	trace->max_width = most_widths[random_between(state, 0, 5)];
	trace->alike = random_chance(state, 20);
	trace->load = random_between(state, 1, MAX_LIVE);
	trace->pace = random_between(state, 0, 9);
	trace->nr_flows = random_between(state, 1, MAX_FLOWS);
	for (i = 0; i < trace->nr_flows; i++)
		trace->hashes[i] = random_next(state);
}

static void note_crossings(const struct trace *trace, u64 *met)
{
	const __int128 half = (__int128)1 << 63;
	__int128 from = trace->start_r;
	__int128 to = trace->twin.model.r;

	if (from < half && to >= half)
		met[CROSSED_HALF]++;
	if (from < 2 * half && to >= 2 * half)
		met[CROSSED_ALL]++;
}

static bool run_trace(u64 seed, u32 number, u64 *met)
{
	static struct trace trace;
	u32 i;

	memset(&trace, 0, sizeof(trace));
	trace.random = seed;
	trace.random = random_next(&trace.random) + number;
	set_up_level(&trace);
	set_up_load(&trace);
	while (!trace.twin.failed && trace.event < MAX_EVENTS)
		one_event(&trace, false, met);
	while (!trace.twin.failed && trace.twin.model.nr_requests)
		one_event(&trace, true, met);

	note_crossings(&trace, met);
	for (i = 0; i < MODEL_NR_EVENTS; i++)
		met[i] += trace.twin.model.met[i];
	for (i = 0; i < TWIN_NR_WAYS; i++)
		met[WAYS + i] += trace.twin.ways[i];
	if (trace.twin.failed)
		ksft_print_msg("in event %u\n", trace.event);
	return !trace.twin.failed;
}

static void run_traces(struct __test_metadata *_metadata, u64 seed)
{
	u64 met[NR_MET] = { 0 };
	u32 i;

	TH_LOG("KAPF_TRACE_SEED=%" PRIu64, seed);
	for (i = 0; i < NR_TRACES; i++) {
		ASSERT_TRUE(run_trace(seed, i, met)) {
			TH_LOG("trace %u of seed %" PRIu64, i, seed);
		}
	}
	for (i = 0; i < NR_MET; i++) {
		TH_LOG("%8" PRIu64 " times: %s", met[i], met_names[i]);
		EXPECT_GE(met[i], OFTEN);
	}
}

#ifdef __KERNEL__
static unsigned long trace_seed;
module_param(trace_seed, ulong, 0);

static u64 other_seed(void)
{
	return trace_seed ? trace_seed : ktime_get_real_ns();
}
#else
static u64 other_seed(void)
{
	const char *seed = getenv("KAPF_TRACE_SEED");

	return seed ? strtoull(seed, NULL, 0) : (u64)time(NULL);
}
#endif

TEST(fixed_seed)
{
	run_traces(_metadata, 1);
}

TEST(seed_of_the_clock)
{
	run_traces(_metadata, other_seed());
}

TEST_HARNESS_MAIN;
