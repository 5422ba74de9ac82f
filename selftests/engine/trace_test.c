// SPDX-License-Identifier: GPL-2.0
/*
 * The queue set against the model, over random traces: after each event both
 * have to agree on all that can be seen, and the invariants have to hold.
 *
 * The traces are steered towards what is rare, and the test fails where
 * something to be met was not met.  KAPF_TRACE_SEED repeats a run.
 */
#include "kselftest_harness.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <linux/kernel.h>
#include <linux/types.h>

#include "invariant.h"
#include "model.h"
#include "queueset.h"
#include "random.h"

#define NSEC_PER_DAY	86400000000000ULL
#define MAX_EVENTS	300
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
	LONG_STEP,			/* of a day or more */
	NR_MET,
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
	[MODEL_SETTLED_UP] = "service longer than guessed",
	[MODEL_SETTLED_DOWN] = "service shorter than guessed",
	[MODEL_EQUAL_WORK] = "equal queues in a hand",
	[MODEL_LATE] = "time before the last",
	[CROSSED_HALF] = "R passes 2^63",
	[CROSSED_ALL] = "R passes 2^64",
	[LIMIT_CUT] = "limit cut below the seats in use",
	[QUEUES_LEFT] = "surplus queues in use",
	[QUEUES_NO_MORE] = "no queues any more while requests wait",
	[SMALL_BUDGET] = "budget used up",
	[LONG_STEP] = "step of days",
};

/**
 * struct trace - one run of engine and model side by side
 * @queues: of the engine, in one half at a time
 * @requests: of the engine, by the id that they have in the model
 * @nr_arrived: how many of those there are
 * @dispatched: ids of those seated since the last look, in order
 * @pace: power of ten of the usual step, in ns
 * @max_width: most seats of a request
 * @alike: whether all of them are equal, so that queues often are
 * @load: requests that the trace aims to have waiting, executing, lingering
 */
struct trace {
	struct kapf_queueset qs;
	struct kapf_queue queues[2][MODEL_MAX_QUEUES];
	struct kapf_request requests[MAX_EVENTS];
	u32 nr_arrived;
	u32 dispatched[MAX_EVENTS];
	u32 nr_dispatched;
	struct model model;
	u64 random;
	u64 now;
	u64 hashes[MAX_FLOWS];
	u32 nr_flows;
	u32 pace;
	u32 max_width;
	bool alike;
	u32 load;
	u32 number;
	u32 event;
	u64 start_r;
	bool failed;
};

static void complain(struct trace *trace, const char *what)
{
	if (!trace->failed)
		printf("# trace %u, event %u: %s\n", trace->number,
		       trace->event, what);
	trace->failed = true;
}

static void agree(struct trace *trace, const char *what, u64 model, u64 engine)
{
	if (model == engine)
		return;
	complain(trace, what);
	printf("# model %" PRIu64 ", engine %" PRIu64 "\n", model, engine);
}

/* What the model says of a request that has just been dispatched. */
static void agree_on_dispatched(struct trace *trace, u32 id)
{
	const struct model_request *expected = model_find(&trace->model, id);
	const struct kapf_request *req = &trace->requests[id];

	agree(trace, "seats held", expected->held, kapf_request_width(req));
	agree(trace, "initial seats", expected->initial_seats,
	      req->initial_seats);
	agree(trace, "final seats", expected->final_seats, req->final_seats);
	agree(trace, "additional latency", expected->additional_latency,
	      req->additional_latency);
	agree(trace, "start", expected->start, req->start);
}

static void agree_on_queues(struct trace *trace)
{
	const struct model *model = &trace->model;
	u32 i;

	for (i = trace->qs.nr_kept; i < model->nr_ever; i++)
		agree(trace, "seats of a queue that is not kept", 0,
		      model_queue_seats(model, i));
	for (i = 0; i < trace->qs.nr_kept; i++) {
		const struct kapf_queue *queue = &trace->qs.queues[i];

		agree(trace, "waiting in a queue",
		      model_queue_count(model, i, MODEL_WAITING),
		      queue->nr_waiting);
		agree(trace, "executing from a queue",
		      model_queue_count(model, i, MODEL_EXECUTING),
		      queue->nr_executing);
		agree(trace, "seats in use of a queue",
		      model_queue_seats(model, i), queue->seats_in_use);
		if (model_queue_active(model, i))
			agree(trace, "next dispatch R",
			      model->next_dispatch_r[i],
			      queue->next_dispatch_r);
	}
}

static void agree_on_state(struct trace *trace)
{
	const struct kapf_queueset *qs = &trace->qs;
	const struct model *model = &trace->model;
	const char *broken = invariant_broken(qs);
	u32 i;

	if (broken)
		complain(trace, broken);
	agree(trace, "R", model->r, qs->current_r);
	agree(trace, "time", model->now, qs->now);
	agree(trace, "robin", model->robin, qs->robin);
	agree(trace, "seats in use", model_seats_in_use(model),
	      qs->seats_in_use);
	agree(trace, "waiting", model_count(model, MODEL_WAITING),
	      qs->nr_waiting);
	agree(trace, "executing", model_count(model, MODEL_EXECUTING),
	      qs->nr_executing);
	agree(trace, "lingering", model_count(model, MODEL_LINGERING),
	      qs->nr_lingering);
	agree(trace, "idle", !model->nr_requests, kapf_queueset_idle(qs));
	agree_on_queues(trace);
	for (i = 0; i < model->nr_requests; i++) {
		const struct model_request *request = &model->requests[i];

		agree(trace, "queue of a request", request->queue,
		      trace->requests[request->id].queue);
	}
}

static void note_dispatched(struct kapf_queueset *qs, struct kapf_request *req,
			    u32 width)
{
	struct trace *trace = container_of(qs, struct trace, qs);
	u32 id = req - trace->requests;

	agree(trace, "width", model_find(&trace->model, id)->held, width);
	if (!invariant_seated(qs, width))
		complain(trace, "a dispatch exceeded the limit");
	trace->dispatched[trace->nr_dispatched++] = id;
}

/*
 * The engine first, as its callback needs what the model knew before: until
 * then @held is the width that a request waits with.
 */
static bool dispatch_some(struct trace *trace, u32 budget)
{
	u32 order[MODEL_MAX_REQUESTS];
	bool more;
	u32 i, n;

	trace->nr_dispatched = 0;
	more = kapf_queueset_dispatch(&trace->qs, budget, trace->now);
	n = model_dispatch(&trace->model, budget, trace->now, order);
	agree(trace, "requests dispatched", n, trace->nr_dispatched);
	agree(trace, "budget used up",
	      n == budget && model_wants_dispatch(&trace->model), more);
	for (i = 0; i < n && !trace->failed; i++) {
		agree(trace, "order of dispatch", order[i],
		      trace->dispatched[i]);
		if (!trace->failed)
			agree_on_dispatched(trace, order[i]);
	}
	return more && !trace->failed;
}

static void dispatch(struct trace *trace, u64 *met)
{
	/* At times the owner lets go of the level before all is done. */
	bool hasty = random_chance(&trace->random, 25);
	u32 budget = hasty ? random_between(&trace->random, 0, 2) : 32;

	while (dispatch_some(trace, budget)) {
		met[SMALL_BUDGET]++;
		if (hasty)
			break;
	}
	agree(trace, "times that the next did not fit",
	      trace->model.met[MODEL_BLOCKED], trace->qs.no_accommodation);
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
	struct model_request request = { .id = trace->nr_arrived };
	struct kapf_request *req = &trace->requests[trace->nr_arrived++];
	enum kapf_admission admission;
	enum model_verdict verdict;
	bool room;

	request.initial_seats = trace->max_width;
	if (!trace->alike) {
		request.initial_seats = random_between(state, 1,
						       trace->max_width);
		if (random_chance(state, 30))
			request.final_seats = random_between(state, 1, 40);
		request.additional_latency = random_latency(state);
	}
	req->initial_seats = request.initial_seats;
	req->final_seats = request.final_seats;
	req->additional_latency = request.additional_latency;
	request.held = kapf_request_width(req);

	room = model_has_room(&trace->model, request.held);
	agree(trace, "room", room,
	      kapf_queueset_has_room(&trace->qs, request.held));
	verdict = model_admit(&trace->model, &request, hash, trace->now);
	admission = kapf_queueset_admit(&trace->qs, req, hash, trace->now);
	agree(trace, "queue full", verdict == MODEL_QUEUE_FULL,
	      admission == KAPF_ADMISSION_QUEUE_FULL);
	agree(trace, "concurrency limit", verdict == MODEL_CONCURRENCY_LIMIT,
	      admission == KAPF_ADMISSION_CONCURRENCY_LIMIT);
	agree(trace, "seated at once", room,
	      admission == KAPF_ADMISSION_SEATED);
	if (admission != KAPF_ADMISSION_SEATED || trace->failed)
		return;

	if (!invariant_seated(&trace->qs, request.held))
		complain(trace, "an admission exceeded the limit");
	if (trace->model.nr_queues)
		agree(trace, "dispatched at once", 1,
		      model_dispatch(&trace->model, 1, trace->now,
				     &(u32){ 0 }));
	agree_on_dispatched(trace, request.id);
}

/* Return: the id of a request in this state, which there has to be */
static u32 random_request(struct trace *trace, enum model_state state)
{
	const struct model *model = &trace->model;
	u32 skip = random_between(&trace->random, 0,
				  model_count(model, state) - 1);
	u32 i;

	for (i = 0;; i++)
		if (model->requests[i].state == state && !skip--)
			return model->requests[i].id;
}

static void leave(struct trace *trace, enum model_state state)
{
	u32 id = random_request(trace, state);
	struct kapf_request *req = &trace->requests[id];

	switch (state) {
	case MODEL_WAITING:
		model_cancel(&trace->model, id, trace->now);
		kapf_queueset_cancel(&trace->qs, req, trace->now);
		break;
	case MODEL_EXECUTING:
		model_finish(&trace->model, id, trace->now);
		kapf_queueset_finish(&trace->qs, req, trace->now);
		break;
	case MODEL_LINGERING:
		model_release(&trace->model, id, trace->now);
		kapf_queueset_release(&trace->qs, req, trace->now);
		break;
	}
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
	} while (!model_count(&trace->model, state));
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
		trace->now -= random_between(state, 1, 1000);
		return;
	}
	if (random_chance(state, 1)) {
		trace->now += random_between(state, NSEC_PER_DAY,
					     30 * NSEC_PER_DAY);
		met[LONG_STEP]++;
		return;
	}
	for (i = 0; i < trace->pace; i++)
		step *= 10;
	trace->now += random_between(state, 1, 20 * step);
}

static u32 random_hand_size(u64 *state, u32 nr_queues)
{
	u32 most = kapf_hand_max(nr_queues);

	return random_between(state, 1, random_chance(state, 50) ?
						most : (most + 3) / 4);
}

static u32 random_seats(u64 *state)
{
	static const u32 most_seats[] = { 1, 3, 10, 30, 100 };

	if (random_chance(state, 6))
		return 0;
	return random_between(state, 1, most_seats[random_between(state, 0, 4)]);
}

/* How many queues there are to be, and all that goes with it; the model's. */
static void random_sizes(struct trace *trace)
{
	static const u32 most_queues[] = { 1, 2, 4, 8, 8, MODEL_MAX_QUEUES };
	static const u32 lengths[] = { 1, 1, 2, 5, 50 };
	u32 most, nr_queues = 0, hand_size = 0, length = 0;
	u64 *state = &trace->random;

	if (!random_chance(state, 10)) {
		most = most_queues[random_between(state, 0, 5)];
		nr_queues = random_between(state, 1, most);
		hand_size = random_hand_size(state, nr_queues);
		length = lengths[random_between(state, 0, 4)];
	}
	model_resize(&trace->model, nr_queues, hand_size, length);
}

static void resize(struct trace *trace, u64 *met)
{
	struct kapf_queueset *qs = &trace->qs;
	struct kapf_queue *queues = qs->queues;
	const struct model *model = &trace->model;
	u32 room = kapf_queueset_least_room(qs);

	random_sizes(trace);
	if (room > model->nr_queues)
		met[QUEUES_LEFT]++;
	else
		room = model->nr_queues;
	if (!model->nr_queues && qs->nr_waiting)
		met[QUEUES_NO_MORE]++;
	if (room > qs->nr_kept || random_chance(&trace->random, 50)) {
		queues = trace->queues[qs->queues == trace->queues[0]];
		kapf_queues_init(queues, room);
	}
	kapf_queueset_resize(qs, queues, room, model->nr_queues,
			     model->hand_size, model->queue_length_limit);
	/* The others are not to be looked at again. */
	memset(trace->queues[queues == trace->queues[0]], 0xa5,
	       sizeof(trace->queues[0]));
}

static void reconfigure(struct trace *trace, u64 *met)
{
	u32 seats;

	if (random_chance(&trace->random, 50)) {
		resize(trace, met);
		return;
	}
	seats = random_seats(&trace->random);
	if (seats < trace->qs.seats_in_use)
		met[LIMIT_CUT]++;
	model_limit(&trace->model, seats, trace->now);
	kapf_queueset_limit(&trace->qs, seats, trace->now);
}

static bool wants_more(struct trace *trace)
{
	u32 live = trace->model.nr_requests;

	return !live || random_chance(&trace->random,
				      live < trace->load ? 70 : 15);
}

static void one_event(struct trace *trace, bool draining, u64 *met)
{
	pass_time(trace, met);
	if (random_chance(&trace->random, 3))
		reconfigure(trace, met);
	else if (!draining && wants_more(trace))
		arrive(trace);
	else
		leave(trace, random_state(trace));
	if (!trace->failed)
		agree_on_state(trace);
	if (!trace->failed)
		dispatch(trace, met);
	if (!trace->failed)
		agree_on_state(trace);
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
	struct model *model = &trace->model;

	model->seats = random_seats(state);
	random_sizes(trace);
	trace->start_r = random_start_r(state);
	trace->now = random_between(state, 2 * NSEC_PER_DAY, 1ULL << 62);
	trace->qs.current_r = trace->start_r;
	trace->qs.now = trace->now;
	trace->qs.dispatched = note_dispatched;
	model->r = trace->start_r;
	model->now = trace->now;
	kapf_queueset_init(&trace->qs, trace->queues[0], model->nr_queues,
			   model->hand_size, model->queue_length_limit,
			   model->seats);
}

static void set_up_load(struct trace *trace)
{
	const u32 most_widths[] = {
		1, 2, 8, trace->model.seats + 1, trace->model.seats + 5, 40,
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
	__int128 to = trace->model.r;

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
	trace.number = number;
	trace.random = seed;
	trace.random = random_next(&trace.random) + number;
	set_up_level(&trace);
	set_up_load(&trace);
	while (!trace.failed && trace.event < MAX_EVENTS)
		one_event(&trace, false, met);
	while (!trace.failed && trace.model.nr_requests)
		one_event(&trace, true, met);

	note_crossings(&trace, met);
	for (i = 0; i < MODEL_NR_EVENTS; i++)
		met[i] += trace.model.met[i];
	return !trace.failed;
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

TEST(fixed_seed)
{
	run_traces(_metadata, 1);
}

TEST(seed_of_the_clock)
{
	const char *seed = getenv("KAPF_TRACE_SEED");

	run_traces(_metadata, seed ? strtoull(seed, NULL, 0) :
				     (u64)time(NULL));
}

TEST_HARNESS_MAIN
