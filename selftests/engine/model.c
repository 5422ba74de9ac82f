// SPDX-License-Identifier: GPL-2.0
/*
 * Fair queuing of one priority level as its rules are worded, for the engine to
 * be compared with: whatever is asked for is counted anew over all requests and
 * all queues, work and virtual time are exact and as wide as they get.
 */
#include <linux/string.h>
#include <linux/types.h>

#include "model.h"

/* G: what a request is taken to need until that is known. */
#define GUESSED_NS 3000000

/* Long division, in digits of 32 bits: the kernel has none of 128 bits. */
static __int128 quotient(unsigned __int128 a, u32 b)
{
	unsigned __int128 q = 0;
	u64 rest = 0;
	int shift;

	for (shift = 96; shift >= 0; shift -= 32) {
		rest = rest << 32 | (u32)(a >> shift);
		q = q << 32 | rest / b;
		rest %= b;
	}
	return q;
}

/* a / b, b > 0, to the nearest, halves away from zero */
static __int128 divide(__int128 a, u32 b)
{
	return a < 0 ? -divide(-a, b) : quotient(2 * a + b, 2 * b);
}

/* Work counts in 1e-8 seat-seconds. */
static __int128 work(u32 seats, __int128 ns)
{
	return divide(seats * ns, 10);
}

static __int128 total_work(const struct model_request *request)
{
	return work(request->initial_seats, GUESSED_NS) +
	       work(request->final_seats, request->additional_latency);
}

static u32 width_of(const struct model_request *request)
{
	if (request->initial_seats > request->final_seats)
		return request->initial_seats;
	return request->final_seats;
}

u32 model_queue_count(const struct model *model, u32 queue,
		      enum model_state state)
{
	u32 i, n = 0;

	for (i = 0; i < model->nr_requests; i++)
		if (model->requests[i].state == state &&
		    model->requests[i].queue == queue)
			n++;
	return n;
}

u32 model_count(const struct model *model, enum model_state state)
{
	u32 i, n = 0;

	for (i = 0; i < model->nr_requests; i++)
		if (model->requests[i].state == state)
			n++;
	return n;
}

u32 model_seats_in_use(const struct model *model)
{
	u32 i, seats = 0;

	for (i = 0; i < model->nr_requests; i++)
		if (model->requests[i].state != MODEL_WAITING)
			seats += model->requests[i].held;
	return seats;
}

u32 model_queue_seats(const struct model *model, u32 queue)
{
	u32 i, seats = 0;

	for (i = 0; i < model->nr_requests; i++)
		if (model->requests[i].state != MODEL_WAITING &&
		    model->requests[i].queue == queue)
			seats += model->requests[i].held;
	return seats;
}

bool model_queue_active(const struct model *model, u32 queue)
{
	return model_queue_count(model, queue, MODEL_WAITING) ||
	       model_queue_count(model, queue, MODEL_EXECUTING);
}

struct model_request *model_find(struct model *model, u32 id)
{
	u32 i;

	for (i = 0; i < model->nr_requests; i++)
		if (model->requests[i].id == id)
			return &model->requests[i];
	return NULL;
}

static void leave(struct model *model, struct model_request *request)
{
	struct model_request *end = &model->requests[model->nr_requests--];

	memmove(request, request + 1, (char *)end - (char *)(request + 1));
}

static void advance(struct model *model, u64 now)
{
	u32 i, requested = 0, active = 0;

	if (now < model->now) {
		model->met[MODEL_LATE]++;
		return;
	}
	for (i = 0; i < model->nr_ever; i++)
		requested += model_queue_seats(model, i);
	for (i = 0; i < model->nr_requests; i++)
		if (model->requests[i].state == MODEL_WAITING)
			requested += width_of(&model->requests[i]);
	if (requested > model->seats)
		requested = model->seats;
	for (i = 0; i < model->nr_ever; i++)
		active += model_queue_active(model, i);
	if (active)
		model->r += divide((__int128)requested * (now - model->now),
				   10 * active);
	model->now = now;
}

static struct model_request *oldest(struct model *model, u32 queue)
{
	u32 i;

	for (i = 0; i < model->nr_requests; i++)
		if (model->requests[i].state == MODEL_WAITING &&
		    model->requests[i].queue == queue)
			return &model->requests[i];
	return NULL;
}

/* Anti-windup: no next dispatch before the arrival of the oldest. */
static void bound(struct model *model)
{
	u32 i;

	for (i = 0; i < model->nr_ever; i++) {
		const struct model_request *first = oldest(model, i);

		if (first && model->next_dispatch_r[i] < first->arrival_r) {
			model->next_dispatch_r[i] = first->arrival_r;
			model->met[MODEL_BOUND]++;
		}
	}
}

static bool can_be_seated(const struct model *model, u32 width)
{
	if (!model->seats)
		return false;
	if (width > model->seats)
		return !model_count(model, MODEL_EXECUTING);
	return model_seats_in_use(model) + width <= model->seats;
}

static bool seat_free(const struct model *model)
{
	return model_seats_in_use(model) < model->seats;
}

void model_limit(struct model *model, u32 seats, u64 now)
{
	advance(model, now);
	model->seats = seats;
}

/* Those beyond the new number take no more requests. */
void model_resize(struct model *model, u32 nr_queues, u32 hand_size,
		  u32 queue_length_limit)
{
	model->nr_queues = nr_queues;
	model->hand_size = hand_size;
	model->queue_length_limit = queue_length_limit;
	if (model->nr_ever < nr_queues)
		model->nr_ever = nr_queues;
}

bool model_has_room(const struct model *model, u32 width)
{
	if (model->nr_queues &&
	    (model_count(model, MODEL_WAITING) || !seat_free(model)))
		return false;
	return can_be_seated(model, width);
}

static void deal(u64 hash, u32 deck, u32 hand, u32 *cards)
{
	u32 r[MODEL_MAX_HAND];
	u32 i, j;

	for (i = 0; i < hand; i++) {
		r[i] = hash % (deck - i);
		hash /= deck - i;
	}
	for (i = 0; i < hand; i++) {
		cards[i] = r[i];
		for (j = i; j > 0; j--)
			if (cards[i] >= r[j - 1])
				cards[i]++;
	}
}

static __int128 work_waiting(const struct model *model, u32 queue)
{
	__int128 sum = 0;
	u32 i;

	for (i = 0; i < model->nr_requests; i++)
		if (model->requests[i].state == MODEL_WAITING &&
		    model->requests[i].queue == queue)
			sum += total_work(&model->requests[i]);
	return sum;
}

static u32 choose_queue(struct model *model, u64 hash)
{
	u32 cards[MODEL_MAX_HAND];
	u32 first = model->deals++ % model->hand_size;
	u32 i, best;

	deal(hash, model->nr_queues, model->hand_size, cards);
	best = cards[first];
	for (i = 1; i < model->hand_size; i++) {
		u32 queue = cards[(first + i) % model->hand_size];
		__int128 less = work_waiting(model, best) -
				work_waiting(model, queue);

		if (less > 0)
			best = queue;
		else if (!less && work_waiting(model, queue))
			model->met[MODEL_EQUAL_WORK]++;
	}
	return best;
}

static void seat(struct model *model, struct model_request *request)
{
	request->state = MODEL_EXECUTING;
	request->start = model->now;
	request->held = width_of(request);
}

/* Without queues: now or never. */
static enum model_verdict admit_or_refuse(struct model *model,
					  struct model_request *request)
{
	if (!can_be_seated(model, width_of(request))) {
		model->met[MODEL_REFUSED_LIMIT]++;
		return MODEL_CONCURRENCY_LIMIT;
	}
	request->queue = MODEL_NO_QUEUE;
	seat(model, request);
	model->nr_requests++;
	return MODEL_ADMITTED;
}

enum model_verdict model_admit(struct model *model,
			       const struct model_request *arrived, u64 hash,
			       u64 now)
{
	struct model_request *request = &model->requests[model->nr_requests];
	u32 queue;

	advance(model, now);
	*request = *arrived;
	if (!model->nr_queues)
		return admit_or_refuse(model, request);

	queue = choose_queue(model, hash);
	if (model_queue_count(model, queue, MODEL_WAITING) >=
	    model->queue_length_limit) {
		if (!seat_free(model)) {
			model->met[MODEL_REFUSED_FULL]++;
			return MODEL_QUEUE_FULL;
		}
		model->met[MODEL_FULL_LINE]++;
	}
	if (!model_queue_active(model, queue)) {
		if (model->next_dispatch_r[queue] > model->r)
			model->met[MODEL_RESTART]++;
		model->next_dispatch_r[queue] = model->r;
	}
	request->state = MODEL_WAITING;
	request->queue = queue;
	request->arrival_r = model->r;
	model->nr_requests++;
	bound(model);
	return MODEL_ADMITTED;
}

/* The queue to dispatch from; something has to wait. */
static u32 pick(struct model *model, u32 *equals)
{
	__int128 least = 0;
	u32 picked = 0;
	u32 i;

	*equals = 0;
	for (i = 1; i <= model->nr_ever; i++) {
		u32 queue = (model->robin + i) % model->nr_ever;
		const struct model_request *first = oldest(model, queue);
		__int128 finish;

		if (!first)
			continue;
		finish = model->next_dispatch_r[queue] + total_work(first);
		if (!*equals || finish < least) {
			*equals = 1;
			least = finish;
			picked = queue;
		} else if (finish == least) {
			++*equals;
		}
	}
	return picked;
}

static void note_blocked(struct model *model)
{
	u32 i;

	model->met[MODEL_BLOCKED]++;
	for (i = 0; i < model->nr_requests; i++)
		if (model->requests[i].state == MODEL_WAITING &&
		    can_be_seated(model, width_of(&model->requests[i]))) {
			model->met[MODEL_OVERTAKING]++;
			return;
		}
}

/* final seats that the level does not have: fewer of them for longer */
static void clip(struct model *model, struct model_request *request)
{
	__int128 final_work = work(request->final_seats,
				   request->additional_latency);

	if (request->final_seats <= model->seats)
		return;
	model->met[MODEL_CLIPPED]++;
	request->final_seats = model->seats;
	request->additional_latency = quotient(final_work * 10, model->seats);
}

static void note_lone(struct model *model, const struct model_request *request)
{
	if (width_of(request) <= model->seats)
		return;
	model->met[MODEL_LONE_WIDE]++;
	if (model_count(model, MODEL_LINGERING))
		model->met[MODEL_LONE_BESIDE_LINGERING]++;
}

bool model_wants_dispatch(const struct model *model)
{
	return model_count(model, MODEL_WAITING) && seat_free(model);
}

/* Return: how many were dispatched; their ids in order */
u32 model_dispatch(struct model *model, u32 budget, u64 now, u32 *order)
{
	u32 n = 0;

	advance(model, now);
	while (n < budget && model_wants_dispatch(model)) {
		u32 equals;
		u32 queue = pick(model, &equals);
		struct model_request *request = oldest(model, queue);

		if (!can_be_seated(model, width_of(request))) {
			note_blocked(model);
			break;
		}
		if (equals > 1)
			model->met[MODEL_TIE]++;
		note_lone(model, request);
		model->dispatch_r = model->r;
		model->latest_s = model->next_dispatch_r[queue];
		model->next_dispatch_r[queue] += total_work(request);
		model->robin = queue;
		clip(model, request);
		seat(model, request);
		bound(model);
		order[n++] = request->id;
	}
	return n;
}

void model_cancel(struct model *model, u32 id, u64 now)
{
	advance(model, now);
	leave(model, model_find(model, id));
	bound(model);
}

void model_finish(struct model *model, u32 id, u64 now)
{
	struct model_request *request = model_find(model, id);
	__int128 early;

	advance(model, now);
	early = (__int128)GUESSED_NS - (model->now - request->start);
	if (request->queue != MODEL_NO_QUEUE) {
		model->next_dispatch_r[request->queue] -=
			work(request->initial_seats, early);
		model->met[early < 0 ? MODEL_SETTLED_UP : MODEL_SETTLED_DOWN]++;
		bound(model);
	}
	if (request->additional_latency) {
		model->met[MODEL_LINGERED]++;
		request->state = MODEL_LINGERING;
	} else {
		leave(model, request);
	}
}

/* A lingering request leaves before its additional latency is over. */
void model_refund(struct model *model, u32 id, u64 unused, u64 now)
{
	struct model_request *request = model_find(model, id);

	advance(model, now);
	if (request->queue == MODEL_NO_QUEUE)
		return;
	model->met[MODEL_REFUNDED]++;
	model->next_dispatch_r[request->queue] -=
		work(request->final_seats, unused);
	bound(model);
}

void model_release(struct model *model, u32 id, u64 now)
{
	advance(model, now);
	leave(model, model_find(model, id));
}
