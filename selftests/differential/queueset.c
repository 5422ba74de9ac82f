// SPDX-License-Identifier: GPL-2.0
/*
 * A trace of events through one priority level.  The answer says for each event
 * what it led to; of what is zero, and of queues that it did not change, it says
 * nothing.
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include <linux/kernel.h>
#include <linux/types.h>

#include "answer.h"
#include "invariants.h"
#include "queueset.h"

/* More than any trace uses. */
#define MAX_QUEUES 256
#define MAX_REQUESTS 4096

enum state {
	GONE,
	WAITING,
	EXECUTING,
	LINGERING,
};

/**
 * struct trace - a level in the course of a trace
 * @queues: all of them
 * @told: what the answer said last of the next dispatch of each queue
 * @requests: by number; taken when they arrive
 * @state: of each of them
 * @dispatched: in the present event, in order
 * @broken: what does not hold, after the present event; or NULL
 */
struct trace {
	struct kapf_queueset qs;
	struct kapf_queue *queues;
	uint64_t told[MAX_QUEUES];
	struct kapf_request requests[MAX_REQUESTS];
	enum state state[MAX_REQUESTS];
	struct json_object *dispatched;
	const char *broken;
};

static void seated(struct trace *trace, struct kapf_request *req)
{
	int64_t id = req - trace->requests;

	trace->state[id] = EXECUTING;
	json_object_array_add(trace->dispatched, json_object_new_int64(id));
}

static void note_dispatched(struct kapf_queueset *qs, struct kapf_request *req,
			    u32 width)
{
	struct trace *trace = container_of(qs, struct trace, qs);

	if (!kapf_invariant_seated(qs, width))
		trace->broken = "dispatched, and does not fit";
	seated(trace, req);
}

static void resize(struct trace *trace, struct json_object *event)
{
	uint64_t nr = case_u64(event, "queues");
	u32 kept = trace->qs.nr_kept;
	u32 room = kapf_queueset_least_room(&trace->qs, kept, kept);
	struct kapf_queue *queues;

	if (nr > MAX_QUEUES)
		errx(1, "too many queues");
	if (room < nr)
		room = nr;
	/* As tight as can be: the sanitizer sees who still uses the old. */
	queues = calloc(room, sizeof(*queues));
	if (room && !queues)
		err(1, "calloc");
	kapf_queues_init(queues, room);
	kapf_queueset_move(&trace->qs, queues, room, kept);
	kapf_queueset_deal(&trace->qs, nr, case_u64(event, "hand"),
			   case_u64(event, "length"));
	free(trace->queues);
	trace->queues = queues;
}

/* Return: why it is refused; or NULL */
static const char *arrive(struct trace *trace, struct json_object *event,
			  uint32_t id, uint64_t now)
{
	struct kapf_request *req = &trace->requests[id];

	*req = (struct kapf_request) {
		.initial_seats = case_u64(event, "initial"),
		.final_seats = case_u64(event, "final"),
		.additional_latency = case_u64(event, "latency"),
	};
	switch (kapf_queueset_admit(&trace->qs, req, case_u64(event, "hash"),
				    now)) {
	case KAPF_ADMISSION_SEATED:
		seated(trace, req);
		return NULL;
	case KAPF_ADMISSION_QUEUED:
		trace->state[id] = WAITING;
		return NULL;
	case KAPF_ADMISSION_QUEUE_FULL:
		return "queue-full";
	case KAPF_ADMISSION_CONCURRENCY_LIMIT:
		return "concurrency-limit";
	}
	errx(1, "no such admission");
}

/* Return: why a request is refused; or NULL */
static const char *apply(struct trace *trace, struct json_object *event,
			 const char *op, uint64_t now)
{
	struct kapf_queueset *qs = &trace->qs;
	struct kapf_request *req;
	enum state *state;
	uint64_t id;

	if (!strcmp(op, "limit")) {
		kapf_queueset_limit(qs, case_u64(event, "seats"), now);
		return NULL;
	}
	if (!strcmp(op, "resize")) {
		resize(trace, event);
		return NULL;
	}
	id = case_u64(event, "id");
	if (id >= MAX_REQUESTS)
		errx(1, "no request %lu", id);
	req = &trace->requests[id];
	state = &trace->state[id];
	if (!strcmp(op, "arrive") && *state == GONE)
		return arrive(trace, event, id, now);
	if (!strcmp(op, "finish") && *state == EXECUTING) {
		kapf_queueset_finish(qs, req, now);
		*state = req->additional_latency ? LINGERING : GONE;
	} else if (!strcmp(op, "release") && *state == LINGERING) {
		kapf_queueset_release(qs, req, now);
		*state = GONE;
	} else if (!strcmp(op, "cancel") && *state == WAITING) {
		kapf_queueset_cancel(qs, req, now);
		*state = GONE;
	} else {
		/* It was dispatched at another time than in the reference. */
		return "impossible";
	}
	return NULL;
}

static void tell(struct json_object *answer, const char *key, uint64_t value)
{
	if (value)
		json_object_object_add(answer, key,
				       json_object_new_uint64(value));
}

/* Takes the list. */
static void tell_list(struct json_object *answer, const char *key,
		      struct json_object *list)
{
	if (json_object_array_length(list))
		json_object_object_add(answer, key, list);
	else
		json_object_put(list);
}

static void tell_queues(struct trace *trace, struct json_object *answer)
{
	struct json_object *list = json_object_new_array(), *pair, *number;
	u32 i;

	for (i = 0; i < trace->qs.nr_kept; i++) {
		const struct kapf_queue *queue = &trace->qs.queues[i];

		if (!(queue->nr_waiting || queue->nr_executing) ||
		    queue->next_dispatch_r == trace->told[i])
			continue;
		trace->told[i] = queue->next_dispatch_r;
		pair = json_object_new_array();
		number = json_object_new_uint64(queue->next_dispatch_r);
		json_object_array_add(pair, json_object_new_int64(i));
		json_object_array_add(pair, number);
		json_object_array_add(list, pair);
	}
	tell_list(answer, "queues", list);
}

static struct json_object *answer_event(struct trace *trace,
					struct json_object *event)
{
	struct json_object *answer = json_object_new_object();
	const char *op = json_object_get_string(case_get(event, "op"));
	uint64_t now = case_u64(event, "t");
	const char *verdict;

	trace->dispatched = json_object_new_array();
	verdict = apply(trace, event, op, now);
	if (verdict)
		json_object_object_add(answer, "verdict",
				       json_object_new_string(verdict));
	if (!strcmp(op, "finish"))
		tell(answer, "lingers",
		     trace->requests[case_u64(event, "id")].additional_latency);
	while (kapf_queueset_dispatch(&trace->qs, 1, now))
		;
	if (!trace->broken)
		trace->broken = kapf_invariant_broken(&trace->qs);
	if (trace->broken)
		json_object_object_add(answer, "broken",
				       json_object_new_string(trace->broken));
	tell_list(answer, "dispatched", trace->dispatched);
	tell(answer, "r", trace->qs.current_r);
	tell(answer, "in_use", trace->qs.seats_in_use);
	tell(answer, "waiting", trace->qs.waiting_seats);
	tell_queues(trace, answer);
	return answer;
}

struct json_object *answer_queueset(struct json_object *c)
{
	struct json_object *answer = json_object_new_array();
	struct json_object *events = case_get(c, "events"), *event;
	struct trace *trace = calloc(1, sizeof(*trace));
	size_t i;

	if (!trace)
		err(1, "calloc");
	trace->qs.dispatched = note_dispatched;
	kapf_queueset_init(&trace->qs, NULL, 0, 0, 0, case_u64(c, "seats"));
	trace->qs.current_r = case_u64(c, "r");
	resize(trace, c);
	for (i = 0; i < json_object_array_length(events) && !trace->broken;
	     i++) {
		event = json_object_array_get_idx(events, i);
		json_object_array_add(answer, answer_event(trace, event));
	}
	free(trace->queues);
	free(trace);
	return answer;
}
