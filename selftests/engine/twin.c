// SPDX-License-Identifier: GPL-2.0
/*
 * The queue set against the model: after each event both have to agree on all
 * that can be seen, and the invariants have to hold.  Whoever drives them
 * decides which events there are.
 */
#ifdef __KERNEL__
#include <linux/printk.h>
#else
#include <stdio.h>
#endif

#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>

#include "invariants.h"
#include "queueset_now.h"
#include "twin.h"

/* A line of KTAP's that says more; programs that fuzz have no harness. */
#ifdef __KERNEL__
#define say(fmt, ...) pr_info("# " fmt "\n", ##__VA_ARGS__)
#else
#define say(fmt, ...) printf("# " fmt "\n", ##__VA_ARGS__)
#endif

static void complain(struct twin *twin, const char *what)
{
	if (!twin->failed)
		say("%s", what);
	twin->failed = true;
}

static void agree(struct twin *twin, const char *what, u64 model, u64 engine)
{
	if (model == engine)
		return;
	complain(twin, what);
	say("model %llu, engine %llu", (unsigned long long)model,
	    (unsigned long long)engine);
}

/* What the model says of a request that has just been dispatched. */
static void agree_on_dispatched(struct twin *twin, u32 id)
{
	const struct model_request *expected = model_find(&twin->model, id);
	const struct kapf_request *req = &twin->requests[id];

	agree(twin, "seats held", expected->held, kapf_request_width(req));
	agree(twin, "initial seats", expected->initial_seats,
	      req->initial_seats);
	agree(twin, "final seats", expected->final_seats, req->final_seats);
	agree(twin, "additional latency", expected->additional_latency,
	      req->additional_latency);
	agree(twin, "start", expected->start, req->start);
}

static void agree_on_queues(struct twin *twin)
{
	const struct model *model = &twin->model;
	u32 i;

	for (i = twin->qs.nr_kept; i < model->nr_ever; i++)
		agree(twin, "seats of a queue that is not kept", 0,
		      model_queue_seats(model, i));
	for (i = 0; i < twin->qs.nr_kept; i++) {
		const struct kapf_queue *queue =
			kapf_queueset_queue(&twin->qs, i);

		agree(twin, "waiting in a queue",
		      model_queue_count(model, i, MODEL_WAITING),
		      queue->nr_waiting);
		agree(twin, "executing from a queue",
		      model_queue_count(model, i, MODEL_EXECUTING),
		      queue->nr_executing);
		agree(twin, "seats in use of a queue",
		      model_queue_seats(model, i), queue->seats_in_use);
		if (model_queue_active(model, i))
			agree(twin, "next dispatch R",
			      model->next_dispatch_r[i],
			      queue->next_dispatch_r);
	}
}

void twin_agree(struct twin *twin)
{
	const struct kapf_queueset *qs = &twin->qs;
	const struct model *model = &twin->model;
	const char *broken = kapf_invariant_broken(qs);
	u32 i;

	if (broken)
		complain(twin, broken);
	agree(twin, "R", model->r, qs->current_r);
	agree(twin, "time", model->now, qs->now);
	agree(twin, "robin", model->robin, qs->robin);
	agree(twin, "R of the last dispatch", model->dispatch_r, qs->dispatch_r);
	agree(twin, "latest S", model->latest_s, qs->latest_s);
	agree(twin, "seats in use", model_seats_in_use(model),
	      qs->seats_in_use);
	agree(twin, "waiting", model_count(model, MODEL_WAITING),
	      qs->nr_waiting);
	agree(twin, "executing", model_count(model, MODEL_EXECUTING),
	      qs->nr_executing);
	agree(twin, "lingering", model_count(model, MODEL_LINGERING),
	      qs->nr_lingering);
	agree(twin, "idle", !model->nr_requests, kapf_queueset_idle(qs));
	agree(twin, "times that the next did not fit",
	      model->met[MODEL_BLOCKED], qs->no_accommodation);
	agree_on_queues(twin);
	for (i = 0; i < model->nr_requests; i++) {
		const struct model_request *request = &model->requests[i];

		agree(twin, "queue of a request", request->queue,
		      twin->requests[request->id].queue);
	}
}

static void note_dispatched(struct kapf_queueset *qs, struct kapf_request *req,
			    u32 width)
{
	struct twin *twin = container_of(qs, struct twin, qs);
	u32 id = req - twin->requests;

	agree(twin, "width", model_find(&twin->model, id)->held, width);
	if (!kapf_invariant_seated(qs, width))
		complain(twin, "a dispatch exceeded the limit");
	twin->dispatched[twin->nr_dispatched++] = id;
}

/* The twins begin to live. */
void twin_start(struct twin *twin, u32 seats, const struct twin_sizes *sizes,
		u64 start_r)
{
	struct model *model = &twin->model;

	twin->qs.current_r = start_r;
	twin->qs.now = twin->now;
	twin->qs.dispatched = note_dispatched;
	kapf_queueset_init(&twin->qs, twin->queues[0], sizes->nr_queues,
			   sizes->hand_size, sizes->queue_length_limit, seats);
	model->r = start_r;
	model->now = twin->now;
	model->seats = seats;
	model_resize(model, sizes->nr_queues, sizes->hand_size,
		     sizes->queue_length_limit);
}

/*
 * Seats what fits, at most @budget.  The engine first, as its callback needs
 * what the model knew before: until then @held is the width that a request waits
 * with.
 *
 * Return: whether the budget is used up and more is left to do
 */
bool twin_dispatch(struct twin *twin, u32 budget)
{
	u32 order[MODEL_MAX_REQUESTS];
	bool more;
	u32 i, n;

	twin->nr_dispatched = 0;
	more = kapf_queueset_dispatch(&twin->qs, budget, twin->now);
	n = model_dispatch(&twin->model, budget, twin->now, order);
	agree(twin, "requests dispatched", n, twin->nr_dispatched);
	agree(twin, "budget used up",
	      n == budget && model_wants_dispatch(&twin->model), more);
	for (i = 0; i < n && !twin->failed; i++) {
		agree(twin, "order of dispatch", order[i], twin->dispatched[i]);
		if (!twin->failed)
			agree_on_dispatched(twin, order[i]);
	}
	return more && !twin->failed;
}

static void deal(struct twin *twin)
{
	const struct twin_sizes *sizes = &twin->sizes;

	model_resize(&twin->model, sizes->nr_queues, sizes->hand_size,
		     sizes->queue_length_limit);
	kapf_queueset_deal(&twin->qs, sizes->nr_queues, sizes->hand_size,
			   sizes->queue_length_limit);
}

/* Go on with the last twin_resize(): between events, as of the module. */
static void resize_step(struct twin *twin, u32 budget)
{
	struct kapf_queue *queues = twin->moving_to;

	if (!queues ||
	    kapf_queueset_move(&twin->qs, queues, twin->room, budget))
		return;
	/* The others are not to be looked at again. */
	memset(twin->queues[queues == twin->queues[0]], 0xa5,
	       sizeof(twin->queues[0]));
	twin->moving_to = NULL;
	if (twin->sizes.nr_queues > twin->model.nr_queues)
		deal(twin);
}

/*
 * Every other request goes as in the module, which asks for the short way first: it
 * has to be there where it should, and to do nothing where it should not.
 */
static bool asks_first(const struct kapf_request *req, const struct twin *twin)
{
	return (req - twin->requests) % 2;
}

/* @room: by the model */
static enum kapf_admission admit(struct twin *twin, struct kapf_request *req,
				 u64 hash, bool room)
{
	struct kapf_queueset *qs = &twin->qs;
	u32 width = kapf_request_width(req);
	enum kapf_admission admission;
	bool brief;

	if (!asks_first(req, twin))
		return kapf_queueset_admit(qs, req, hash, twin->now);
	brief = room && twin->model.nr_queues && width <= twin->model.seats;
	if (kapf_queueset_admit_now(qs, req, width, hash, twin->now)) {
		agree(twin, "short way of an admission", brief, 1);
		twin->ways[TWIN_SEATED_NOW]++;
		return KAPF_ADMISSION_SEATED;
	}
	agree(twin, "short way of an admission", brief, 0);
	admission = kapf_queueset_admit(qs, req, hash, twin->now);
	if (admission != KAPF_ADMISSION_SEATED)
		twin->ways[TWIN_NOT_SEATED]++;
	else if (twin->model.nr_queues)
		twin->ways[TWIN_SEATED_ELSE]++;
	return admission;
}

static void serve(struct twin *twin, struct kapf_request *req)
{
	struct kapf_queueset *qs = &twin->qs;
	bool brief;

	if (!asks_first(req, twin)) {
		kapf_queueset_finish(qs, req, twin->now);
		return;
	}
	brief = !model_count(&twin->model, MODEL_WAITING) &&
		!req->additional_latency && req->queue != KAPF_NO_QUEUE;
	if (kapf_queueset_finish_now(qs, req, kapf_request_width(req),
				     twin->now)) {
		agree(twin, "short way of a finish", brief, 1);
		twin->ways[TWIN_FINISHED_NOW]++;
		return;
	}
	agree(twin, "short way of a finish", brief, 0);
	kapf_queueset_finish(qs, req, twin->now);
	twin->ways[TWIN_FINISHED_ELSE]++;
}

/* A request with the seats and the latency of @arrived */
void twin_arrive(struct twin *twin, const struct model_request *arrived,
		 u64 hash)
{
	struct kapf_request *req = &twin->requests[twin->nr_arrived];
	struct model_request request = *arrived;
	enum kapf_admission admission;
	enum model_verdict verdict;
	bool room;

	resize_step(twin, 1);
	req->initial_seats = request.initial_seats;
	req->final_seats = request.final_seats;
	req->additional_latency = request.additional_latency;
	request.id = twin->nr_arrived++;
	request.held = kapf_request_width(req);

	room = model_has_room(&twin->model, request.held);
	agree(twin, "room", room,
	      kapf_queueset_has_room(&twin->qs, request.held));
	verdict = model_admit(&twin->model, &request, hash, twin->now);
	admission = admit(twin, req, hash, room);
	agree(twin, "queue full", verdict == MODEL_QUEUE_FULL,
	      admission == KAPF_ADMISSION_QUEUE_FULL);
	agree(twin, "concurrency limit", verdict == MODEL_CONCURRENCY_LIMIT,
	      admission == KAPF_ADMISSION_CONCURRENCY_LIMIT);
	agree(twin, "seated at once", room,
	      admission == KAPF_ADMISSION_SEATED);
	if (admission != KAPF_ADMISSION_SEATED || twin->failed)
		return;

	if (!kapf_invariant_seated(&twin->qs, request.held))
		complain(twin, "an admission exceeded the limit");
	if (twin->model.nr_queues)
		agree(twin, "dispatched at once", 1,
		      model_dispatch(&twin->model, 1, twin->now,
				     &(u32){ 0 }));
	agree_on_dispatched(twin, request.id);
}

/* A request waits, executes or lingers no more. */
void twin_leave(struct twin *twin, u32 id)
{
	struct kapf_request *req = &twin->requests[id];

	resize_step(twin, 1);
	switch (model_find(&twin->model, id)->state) {
	case MODEL_WAITING:
		model_cancel(&twin->model, id, twin->now);
		kapf_queueset_cancel(&twin->qs, req, twin->now);
		break;
	case MODEL_EXECUTING:
		model_finish(&twin->model, id, twin->now);
		serve(twin, req);
		break;
	case MODEL_LINGERING:
		model_release(&twin->model, id, twin->now);
		kapf_queueset_release(&twin->qs, req, twin->now);
		break;
	}
}

/* One that lingers gives its seats back so much too early. */
void twin_release_early(struct twin *twin, u32 id, u64 unused)
{
	model_refund(&twin->model, id, unused, twin->now);
	kapf_queueset_refund(&twin->qs, &twin->requests[id], unused, twin->now);
	twin_agree(twin);
	twin_leave(twin, id);
}

void twin_limit(struct twin *twin, u32 seats)
{
	model_limit(&twin->model, seats, twin->now);
	kapf_queueset_limit(&twin->qs, seats, twin->now);
}

/* @move: to other queues, even if those that it has are enough */
void twin_resize(struct twin *twin, const struct twin_sizes *sizes, bool move)
{
	struct kapf_queueset *qs = &twin->qs;
	u32 i;

	resize_step(twin, ~0u);
	twin->sizes = *sizes;
	if (sizes->nr_queues <= qs->nr_kept)
		deal(twin);
	twin->room = kapf_queueset_least_room(qs, qs->nr_kept, ~0u);
	if (twin->room < sizes->nr_queues)
		twin->room = sizes->nr_queues;
	if (!move && twin->room <= qs->nr_kept)
		return;
	i = qs->queues == twin->queues[0];
	twin->moving_to = twin->queues[i];
	kapf_queues_init(twin->moving_to, twin->room);
	resize_step(twin, 1);
}

/*
 * Return: the id of the nth request, from 0, in this state, of which there have
 * to be more
 */
u32 twin_nth(const struct twin *twin, enum model_state state, u32 n)
{
	const struct model *model = &twin->model;
	u32 i;

	for (i = 0;; i++)
		if (model->requests[i].state == state && !n--)
			return model->requests[i].id;
}
