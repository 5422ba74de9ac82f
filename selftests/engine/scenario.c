// SPDX-License-Identifier: GPL-2.0
/*
 * Runs scenarios: a list of what happens when, taken from in the order of time
 * and, at one time, in the order in which it was put there; and the integrals
 * of what clients get meanwhile.
 */
#include <assert.h>
#include <string.h>

#include <linux/kernel.h>
#include <linux/types.h>

#include "level.h"
#include "scenario.h"

#define MAX_CALLS	2048
#define MAX_EVENTS	256

/* A call of a client's thread; @number: from 0 */
struct call {
	struct kapf_request req;
	u32 client;
	u32 thread;
	u32 number;
};

struct event {
	u64 at;
	void (*happen)(struct call *call);
	struct call *call;
};

/* All of the one that is running; @demand: of the calls under way, in seats */
static struct level level;
static const struct scenario *scenario;
static struct scenario_result *result;
static struct call calls[MAX_CALLS];
static u32 nr_calls;
static struct event events[MAX_EVENTS];
static u32 nr_events;
static u64 now;
static u32 executing[SCENARIO_MAX_CLIENTS];
static __int128 seat_ns[SCENARIO_MAX_CLIENTS];
static u64 demand;

u32 scenario_nr_clients(const struct scenario *of)
{
	u32 nr = 0;

	while (nr < SCENARIO_MAX_CLIENTS && of->clients[nr].threads)
		nr++;
	return nr;
}

/*
 * Everybody gets as much, but nobody more than it demands; what that leaves over
 * is for the others.
 */
void scenario_fair_shares(const double *demands, u32 nr, double capacity,
			  double *shares)
{
	u32 i, unsettled = nr;
	bool settled[SCENARIO_MAX_CLIENTS] = {};
	bool again;

	do {
		double share = capacity / unsettled;

		again = false;
		for (i = 0; i < nr; i++) {
			if (settled[i])
				continue;
			shares[i] = share;
			if (demands[i] > share)
				continue;
			shares[i] = demands[i];
			capacity -= demands[i];
			unsettled--;
			settled[i] = true;
			again = true;
		}
	} while (again && unsettled);
}

static void happens(u64 at, void (*happen)(struct call *call),
		    struct call *call)
{
	assert(nr_events < MAX_EVENTS);
	events[nr_events++] = (struct event){
		.at = at, .happen = happen, .call = call,
	};
}

/* NULL: nothing happens any more. */
static struct event *next_event(void)
{
	struct event *next = NULL;
	u32 i;

	for (i = 0; i < nr_events; i++)
		if (!next || events[i].at < next->at)
			next = &events[i];
	return next;
}

static void take_event(struct event *event)
{
	struct event taken = *event;

	nr_events--;
	memmove(event, event + 1,
		(char *)&events[nr_events] - (char *)event);
	taken.happen(taken.call);
}

static void pass_time(u64 until)
{
	u32 i;

	for (i = 0; i < SCENARIO_MAX_CLIENTS; i++)
		seat_ns[i] += (__int128)executing[i] * (until - now);
	now = until;
}

static const struct scenario_client *client_of(const struct call *call)
{
	return &scenario->clients[call->client];
}

static void start_call(struct call *call);
static void end_call(struct call *call);

static void start_serving(struct call *call)
{
	const struct scenario_client *client = client_of(call);

	result->executed[call->client]++;
	result->order = result->order * 1000003 + (call - calls) + 1;
	executing[call->client] += client->seats;
	happens(now + client->exec + client->think, start_call, call);
	happens(now + client->exec, end_call, call);
}

static void start_serving_dispatched(void)
{
	u32 i;

	for (i = 0; i < level.nr_dispatched; i++)
		start_serving(container_of(level.dispatched[i], struct call,
					   req));
	level.nr_dispatched = 0;
}

static void end_latency(struct call *call)
{
	demand -= kapf_request_width(&call->req);
	level_release(&level, &call->req, now);
	start_serving_dispatched();
}

static void end_call(struct call *call)
{
	executing[call->client] -= client_of(call)->seats;
	if (call->req.additional_latency)
		happens(now + call->req.additional_latency, end_latency, call);
	else
		demand -= kapf_request_width(&call->req);
	level_finish(&level, &call->req, now);
	start_serving_dispatched();
}

static struct call *new_call(u32 client, u32 thread, u32 number)
{
	struct call *call = &calls[nr_calls++];

	assert(nr_calls <= MAX_CALLS);
	*call = (struct call){
		.client = client, .thread = thread, .number = number,
	};
	return call;
}

static void ask(struct call *call)
{
	const struct scenario_client *client = client_of(call);

	call->req = (struct kapf_request)LINGERING_SEATS(client->seats,
							 client->final_seats,
							 client->latency);
	demand += kapf_request_width(&call->req);
	switch (level_arrive(&level, &call->req, client->hash, now)) {
	case KAPF_ADMISSION_SEATED:
		start_serving(call);
		break;
	case KAPF_ADMISSION_QUEUED:
		break;
	case KAPF_ADMISSION_QUEUE_FULL:
		result->queue_full[call->client]++;
		demand -= kapf_request_width(&call->req);
		break;
	case KAPF_ADMISSION_CONCURRENCY_LIMIT:
		result->concurrency_limit[call->client]++;
		demand -= kapf_request_width(&call->req);
		break;
	}
	start_serving_dispatched();
}

static bool sleeps_first(const struct scenario_client *client, u32 thread)
{
	return client->split && thread >= client->threads / 2;
}

/* The call of a thread that follows @last. */
static void start_call(struct call *last)
{
	const struct scenario_client *client = client_of(last);
	u32 most = client->calls;

	if (sleeps_first(client, last->thread))
		most /= 2;
	if (last->number + 1 < most)
		ask(new_call(last->client, last->thread, last->number + 1));
}

/* Threads start a little apart. */
static void start_threads(void)
{
	u32 i, j;

	for (i = 0; i < scenario_nr_clients(scenario); i++) {
		const struct scenario_client *client = &scenario->clients[i];

		for (j = 0; j < client->threads; j++)
			happens(90 * j + 20 * i +
				(sleeps_first(client, j) ? scenario->ns / 2 : 0),
				ask, new_call(i, j, 0));
	}
}

static void run_until(u64 end)
{
	struct event *event = next_event();

	while (event && event->at <= end) {
		u64 before = level.qs.current_r;

		pass_time(event->at);
		take_event(event);
		if (level.qs.current_r < before)
			result->wraps++;
		if (demand != level.qs.seats_in_use + level.qs.waiting_seats)
			result->demand_strayed = true;
		event = next_event();
	}
}

/* What clients would use if they never had to wait */
static double could_use(const struct scenario_client *client, bool first_half)
{
	u32 threads = client->threads;

	if (client->split && first_half)
		threads /= 2;
	return (double)threads * client->seats * client->exec /
	       (client->exec + client->think);
}

static void measure(u32 span, bool first_half, u64 ns)
{
	double demands[SCENARIO_MAX_CLIENTS];
	u32 i, nr = scenario_nr_clients(scenario);

	for (i = 0; i < nr; i++) {
		demands[i] = could_use(&scenario->clients[i], first_half);
		result->averages[span][i] = (double)seat_ns[i] / ns;
		seat_ns[i] = 0;
	}
	scenario_fair_shares(demands, nr,
			     scenario->capacity ? scenario->capacity :
						  scenario->limit,
			     result->fair[span]);
}

static bool is_split(void)
{
	u32 i;

	for (i = 0; i < SCENARIO_MAX_CLIENTS; i++)
		if (scenario->clients[i].split)
			return true;
	return false;
}

void scenario_run(const struct scenario *run, struct scenario_result *to)
{
	u32 span, spans;

	memset(to, 0, sizeof(*to));
	memset(seat_ns, 0, sizeof(seat_ns));
	memset(executing, 0, sizeof(executing));
	scenario = run;
	result = to;
	nr_calls = 0;
	nr_events = 0;
	now = 0;
	demand = 0;
	level_start(&level, run->queues, run->hand_size,
		    run->queue_length_limit, run->limit);
	level.qs.current_r = run->start_r;

	start_threads();
	spans = is_split() ? 2 : 1;
	for (span = 0; span < spans; span++) {
		u64 end = run->ns * (span + 1) / spans;

		run_until(end);
		pass_time(end);
		measure(span, span + 1 < spans, run->ns / spans);
	}
	run_until(~0ULL);
	to->idle = kapf_queueset_idle(&level.qs) && !demand;
}
