/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * What fair queuing does for a request that never waits, inline: most requests
 * are of this kind, and the rest of what a server does for one is not much more.
 */
#ifndef KAPF_QUEUESET_NOW_H
#define KAPF_QUEUESET_NOW_H

#include <linux/compiler.h>
#include <linux/types.h>

#include "queueset.h"
#include "seatsec.h"

/* What each seat is charged with until it is known. */
#define KAPF_GUESSED_WORK (KAPF_GUESSED_SERVICE_NS / KAPF_SEATSEC_NS)

/* The work that a request is charged with when it is dispatched. */
static __always_inline u64 kapf_request_work(const struct kapf_request *req)
{
	u64 work = (u64)req->initial_seats * KAPF_GUESSED_WORK;

	if (req->additional_latency)
		work += kapf_seatsec(req->final_seats, req->additional_latency);
	return work;
}

/* Seats that are requested in the virtual world, of @demand, and can be had. */
static __always_inline u64
kapf_queueset_virtual_seats(const struct kapf_queueset *qs, u64 demand)
{
	u64 seats = demand - qs->unqueued_seats;

	return seats > qs->seats ? qs->seats : seats;
}

/**
 * kapf_queueset_advance() - bring R and the usage up to date
 * @qs: the queue set
 * @now: the time
 *
 * To be called before any change of state.  Inline is what one division and
 * products of 64 bits do for: demand^2 * elapsed.
 */
static __always_inline void kapf_queueset_advance(struct kapf_queueset *qs,
						  u64 now)
{
	struct kapf_usage *usage = &qs->usage;
	u64 demand = kapf_queueset_demand(qs);
	u64 elapsed = now - qs->now;
	u64 seats;

	if ((s64)elapsed <= 0)
		return;
	qs->now = now;
	/* 2^16 seats or more, or 2^31 ns? */
	if (unlikely((demand | elapsed >> 15) >> 16)) {
		kapf_queueset_advance_far(qs, elapsed);
		return;
	}
	kapf_area_pass_brief(&usage->demand, demand, elapsed);
	kapf_area_pass_brief(&usage->square, demand * demand, elapsed);
	kapf_area_pass_brief(&usage->executing, qs->nr_executing, elapsed);
	if (qs->nr_waiting) {
		kapf_area_pass_brief(&usage->waiting, qs->nr_waiting, elapsed);
		kapf_area_pass_brief(&usage->waiting_seats, qs->waiting_seats,
				     elapsed);
	}
	seats = kapf_queueset_virtual_seats(qs, demand);
	if (qs->nr_active)
		qs->current_r += kapf_seatsec_brief(seats, elapsed,
						    qs->nr_active);
}

static __always_inline bool kapf_queue_active(const struct kapf_queue *queue)
{
	return queue->nr_waiting || queue->nr_executing;
}

/*
 * Charge the queue of a request that is dispatched now.  @dispatch_r: the queue's
 * next dispatch in virtual time.
 */
static __always_inline void kapf_queueset_charge(struct kapf_queueset *qs,
						 struct kapf_queue *queue,
						 const struct kapf_request *req,
						 u32 index, u64 dispatch_r)
{
	qs->dispatch_r = qs->current_r;
	qs->latest_s = dispatch_r;
	qs->robin = index;
	queue->next_dispatch_r = dispatch_r + kapf_request_work(req);
}

static __always_inline void kapf_queueset_seat(struct kapf_queueset *qs,
					       struct kapf_queue *queue,
					       struct kapf_request *req,
					       u32 width)
{
	req->start = qs->now;
	qs->nr_executing++;
	qs->seats_in_use += width;
	queue->nr_executing++;
	queue->seats_in_use += width;
}

/*
 * Replace the guess that the queue was charged with by what its request really
 * took.
 */
static __always_inline void
kapf_queueset_settle(const struct kapf_queueset *qs, struct kapf_queue *queue,
		     const struct kapf_request *req)
{
	u64 served = qs->now - req->start;
	u64 seats = req->initial_seats;

	if (served <= KAPF_GUESSED_SERVICE_NS)
		queue->next_dispatch_r -=
			kapf_seatsec_brief(seats, KAPF_GUESSED_SERVICE_NS -
						  served, 1);
	else
		queue->next_dispatch_r +=
			kapf_seatsec(seats, served - KAPF_GUESSED_SERVICE_NS);
}

/**
 * kapf_queueset_admit_now() - seat a request, if it has room and nothing waits
 * @qs: the queue set
 * @req: as for kapf_queueset_admit(), of which this is a part
 * @width: of the request
 * @hash: of its flow
 * @now: the time
 *
 * As nothing waits, no queue has less work than the first that the request comes
 * to.  What is done is what appending it there and dispatching it would do,
 * without list and tree.
 *
 * Return: whether it was seated; if not, nothing was done.
 */
static __always_inline bool kapf_queueset_admit_now(struct kapf_queueset *qs,
						    struct kapf_request *req,
						    u32 width, u64 hash,
						    u64 now)
{
	struct kapf_queue *queue;
	u32 position, index;
	u64 dispatch_r;

	if (!qs->nr_queues || qs->nr_waiting ||
	    qs->seats_in_use + width > qs->seats)
		return false;
	kapf_queueset_advance(qs, now);
	position = qs->deals++ % qs->hand_size;
	index = kapf_deal_one(&qs->deal, hash, qs->nr_queues, position);
	req->queue = index;
	queue = kapf_queueset_queue(qs, index);
	dispatch_r = qs->current_r;
	if (!kapf_queue_active(queue))
		qs->nr_active++;
	else if (kapf_seatsec_before(dispatch_r, queue->next_dispatch_r))
		dispatch_r = queue->next_dispatch_r;
	kapf_queueset_charge(qs, queue, req, index, dispatch_r);
	kapf_queueset_seat(qs, queue, req, width);
	return true;
}

/**
 * kapf_queueset_finish_now() - a request has been served, and nobody waits for it
 * @qs: the queue set
 * @req: as for kapf_queueset_finish(), of which this is a part
 * @width: of the request
 * @now: the time
 *
 * Return: whether it was finished; if not, nothing was done.
 */
static __always_inline bool kapf_queueset_finish_now(struct kapf_queueset *qs,
						     struct kapf_request *req,
						     u32 width, u64 now)
{
	struct kapf_queue *queue;

	if (qs->nr_waiting || req->additional_latency ||
	    req->queue == KAPF_NO_QUEUE)
		return false;
	kapf_queueset_advance(qs, now);
	queue = kapf_queueset_queue(qs, req->queue);
	kapf_queueset_settle(qs, queue, req);
	qs->nr_executing--;
	qs->seats_in_use -= width;
	queue->seats_in_use -= width;
	if (!--queue->nr_executing)
		qs->nr_active--;
	return true;
}

#endif /* KAPF_QUEUESET_NOW_H */
