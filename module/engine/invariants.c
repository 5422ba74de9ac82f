// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * What holds of a queue set between any two calls, found out by recounting; for
 * the tests, and for a module that is built with KAPF_DEBUG=y.
 */
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/types.h>

#include "invariants.h"
#include "queueset.h"
#include "seatsec.h"

#define KAPF_GUESSED_NS 3000000

/* Sums over queues. */
struct kapf_recount {
	u32 waiting;
	u32 waiting_seats;
	u32 executing;
	u32 seats_in_use;
	u32 active;
	u32 backlogged;
};

static u64 kapf_total_work(const struct kapf_request *req)
{
	return kapf_seatsec(req->initial_seats, KAPF_GUESSED_NS) +
	       kapf_seatsec(req->final_seats, req->additional_latency);
}

static const char *kapf_list_broken(const struct kapf_queueset *qs,
				    u32 index, struct kapf_recount *sum)
{
	const struct kapf_queue *queue = kapf_queueset_queue(qs, index);
	const struct kapf_request *before = NULL;
	const struct kapf_request *req;
	u64 work = 0, initial_seats = 0, width = 0;
	u32 n = 0;

	list_for_each_entry(req, &queue->waiting, link) {
		if (++n > queue->nr_waiting)
			return "more in the list than nr_waiting";
		if (req->link.next->prev != &req->link)
			return "list is torn";
		if (req->queue != index)
			return "a request waits in a queue that is not its own";
		if (before && req->position <= before->position)
			return "a younger request waits before an older one";
		if (before && kapf_seatsec_before(req->arrival_r,
						  before->arrival_r))
			return "arrivals run backwards in virtual time";
		work += kapf_total_work(req);
		initial_seats += req->initial_seats;
		width += kapf_request_width(req);
		before = req;
	}
	sum->waiting_seats += width;
	if (n != queue->nr_waiting)
		return "fewer in the list than nr_waiting";
	if (work != queue->waiting_work)
		return "waiting_work is not the sum";
	if (initial_seats != queue->waiting_initial_seats)
		return "waiting_initial_seats is not the sum";
	if (width != queue->waiting_seats)
		return "waiting_seats of a queue is not the sum";
	if (before && kapf_seatsec_before(qs->current_r, before->arrival_r))
		return "a request arrived after R";
	return NULL;
}

static const char *kapf_queue_broken(const struct kapf_queueset *qs,
				     u32 index, struct kapf_recount *sum)
{
	const struct kapf_queue *queue = kapf_queueset_queue(qs, index);
	const char *broken = kapf_list_broken(qs, index, sum);
	const struct kapf_request *oldest;

	if (broken)
		return broken;
	sum->waiting += queue->nr_waiting;
	sum->executing += queue->nr_executing;
	sum->seats_in_use += queue->seats_in_use;
	if (queue->nr_waiting || queue->nr_executing)
		sum->active++;
	if (queue->nr_executing > queue->seats_in_use)
		return "fewer seats in use than requests execute";
	if (!queue->nr_waiting)
		return NULL;

	sum->backlogged++;
	oldest = list_first_entry(&queue->waiting, struct kapf_request, link);
	if (kapf_seatsec_before(queue->next_dispatch_r, oldest->arrival_r))
		return "next dispatch before the arrival of the oldest";
	if (queue->finish_r != queue->next_dispatch_r + kapf_total_work(oldest))
		return "finish_r is not that of the oldest";
	return NULL;
}

/* Is it one of those that the queue set has, or had before it began to move? */
static bool kapf_is_queue(const struct kapf_queueset *qs,
			  const struct kapf_queue *queue)
{
	if (queue >= qs->queues && queue < qs->queues + qs->nr_kept)
		return true;
	return qs->nr_moved != KAPF_ALL_MOVED && queue >= qs->former &&
	       queue < qs->former + qs->nr_kept;
}

static u32 kapf_backlogged_index(const struct kapf_queue *queue)
{
	return list_first_entry(&queue->waiting, struct kapf_request,
				link)->queue;
}

static const char *kapf_tree_broken(const struct kapf_queueset *qs, u32 backlogged)
{
	struct rb_node *node = rb_first(&qs->backlog.rb_root);
	const struct kapf_queue *before = NULL;
	u32 n = 0;

	if (rb_first_cached(&qs->backlog) != node)
		return "the cached leftmost node is another one";
	for (; node; node = rb_next(node)) {
		const struct kapf_queue *queue;

		if (++n > backlogged)
			return "more queues in the tree than have a backlog";
		queue = rb_entry(node, struct kapf_queue, node);
		if (!kapf_is_queue(qs, queue))
			return "the tree holds what is no queue";
		if (!queue->nr_waiting)
			return "a queue without a backlog is in the tree";
		if (kapf_queueset_queue(qs, kapf_backlogged_index(queue)) !=
		    queue)
			return "a queue is in the tree where it was before it was moved";
		if (before && (kapf_seatsec_before(queue->finish_r,
						   before->finish_r) ||
			       (queue->finish_r == before->finish_r &&
				kapf_backlogged_index(queue) <=
				kapf_backlogged_index(before))))
			return "the tree is out of order";
		before = queue;
	}
	if (n != backlogged)
		return "a queue with a backlog is not in the tree";
	return NULL;
}

/**
 * kapf_invariant_broken() - is something wrong with a queue set?
 * @qs: the queue set, between two calls
 *
 * Looks at all queues and all that waits.
 *
 * Return: what is wrong, in words; NULL: nothing.
 */
const char *kapf_invariant_broken(const struct kapf_queueset *qs)
{
	struct kapf_recount sum = { 0 };
	const char *broken;
	u32 i;

	for (i = 0; i < qs->nr_kept; i++) {
		broken = kapf_queue_broken(qs, i, &sum);
		if (broken)
			return broken;
	}
	broken = kapf_tree_broken(qs, sum.backlogged);
	if (broken)
		return broken;
	if (sum.waiting != qs->nr_waiting)
		return "nr_waiting is not the sum";
	if (sum.waiting_seats != qs->waiting_seats)
		return "waiting_seats is not the sum";
	if (sum.active != qs->nr_active)
		return "nr_active is not the sum";
	if (sum.backlogged != qs->nr_backlogged)
		return "nr_backlogged is not the sum";
	if (sum.executing > qs->nr_executing ||
	    (sum.executing < qs->nr_executing && !qs->unqueued_seats))
		return "nr_executing is not the sum";
	if (sum.seats_in_use + qs->unqueued_seats != qs->seats_in_use)
		return "seats_in_use is not the sum";
	if (qs->seats_in_use < qs->nr_executing + qs->nr_lingering)
		return "a request holds no seat";
	return NULL;
}

/**
 * kapf_invariant_seated() - was a request seated by right?
 * @qs: the queue set that has just seated it
 * @width: of the request, before its final seats were clipped
 *
 * Return: whether the seats in use are within the limit, but for a lone wide
 * request.
 */
bool kapf_invariant_seated(const struct kapf_queueset *qs, u32 width)
{
	return qs->seats_in_use <= qs->seats ||
	       (width > qs->seats && qs->nr_executing == 1);
}
