// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Fair queuing for the requests of one priority level.
 *
 * As in fair queuing of packets, each queue with something to do advances in a
 * virtual world in which all of them are served at once, at equal rates, and
 * the request that would finish first there is dispatched next.  Three things
 * differ from packets: many requests execute at a time, each on a number of
 * seats; how long one will take is not known beforehand, so that a guess is
 * charged at dispatch and set right at the finish; and a request may keep its
 * seats for a known time after it has finished.
 *
 * Virtual time R advances at min(seats requested, limit) / active queues
 * seat-seconds per second.  Both are running sums here, so that no event costs
 * more than one division for it, and the queues with something waiting stand in
 * a tree, so that none costs more than O(log queues).
 */

#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/types.h>

#include "queueset_now.h"

/**
 * kapf_queues_init() - make queues
 * @queues: where
 * @nr: how many
 */
void kapf_queues_init(struct kapf_queue *queues, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++) {
		queues[i] = (struct kapf_queue) { };
		INIT_LIST_HEAD(&queues[i].waiting);
	}
}

/**
 * kapf_queueset_init() - give a queue set its queues and its limit
 * @qs: the queue set: zeroed but for dispatched, or in use before and idle now,
 *	of which it keeps its virtual time and its counters
 * @queues: room for @nr_queues; the caller's, who also frees it
 * @nr_queues: 0: refuse rather than queue
 * @hand_size: queues that a flow may use, at most kapf_hand_max(@nr_queues)
 * @queue_length_limit: of one queue, while no seat is free
 * @seats: the limit
 */
void kapf_queueset_init(struct kapf_queueset *qs, struct kapf_queue *queues,
			u32 nr_queues, u32 hand_size, u32 queue_length_limit,
			u32 seats)
{
	kapf_queues_init(queues, nr_queues);
	qs->seats = seats;
	qs->queues = queues;
	qs->nr_queues = nr_queues;
	qs->nr_kept = nr_queues;
	qs->nr_moved = KAPF_ALL_MOVED;
	qs->hand_size = hand_size;
	qs->queue_length_limit = queue_length_limit;
	qs->robin = 0;
	qs->backlog = RB_ROOT_CACHED;
}

static struct kapf_queue *kapf_request_queue(const struct kapf_queueset *qs,
					     const struct kapf_request *req)
{
	return kapf_queueset_queue(qs, req->queue);
}

/* Could a request of this width be seated at once? */
static bool kapf_queueset_fits(const struct kapf_queueset *qs, u32 width)
{
	/* One that will never fit beside others may run alone. */
	if (width > qs->seats)
		return !qs->nr_executing && qs->seats;
	return qs->seats_in_use + width <= qs->seats;
}

/**
 * kapf_queueset_has_room() - would a request execute at once?
 * @qs: the queue set
 * @width: of the request
 *
 * Return: whether it fits and nothing waits that comes before it.
 */
bool kapf_queueset_has_room(const struct kapf_queueset *qs, u32 width)
{
	if (!kapf_queueset_fits(qs, width))
		return false;
	return !qs->nr_queues ||
	       (!qs->nr_waiting && kapf_queueset_seat_free(qs));
}

static struct kapf_request *kapf_queue_oldest(const struct kapf_queue *queue)
{
	return list_first_entry(&queue->waiting, struct kapf_request, link);
}

/* Index of a queue with something waiting. */
static u32 kapf_queue_index(const struct kapf_queue *queue)
{
	return kapf_queue_oldest(queue)->queue;
}

static bool kapf_queue_before(struct rb_node *a, const struct rb_node *b)
{
	const struct kapf_queue *x = rb_entry(a, struct kapf_queue, node);
	const struct kapf_queue *y = rb_entry(b, struct kapf_queue, node);

	if (x->finish_r != y->finish_r)
		return kapf_seatsec_before(x->finish_r, y->finish_r);
	return kapf_queue_index(x) < kapf_queue_index(y);
}

/*
 * After a change of the oldest waiting request or of the next dispatch: no
 * request is dispatched before its arrival in virtual time.  Without that
 * bound a queue that long used less than its share could save up for a burst
 * that shuts out all others.  Then give the queue its place in the tree.
 */
static void kapf_queue_bound(struct kapf_queueset *qs, struct kapf_queue *queue)
{
	const struct kapf_request *oldest = kapf_queue_oldest(queue);

	if (kapf_seatsec_before(queue->next_dispatch_r, oldest->arrival_r))
		queue->next_dispatch_r = oldest->arrival_r;
	queue->finish_r = queue->next_dispatch_r + kapf_request_work(oldest);
	rb_add_cached(&queue->node, &qs->backlog, kapf_queue_before);
}

static void kapf_queue_unbound(struct kapf_queueset *qs,
			       struct kapf_queue *queue)
{
	rb_erase_cached(&queue->node, &qs->backlog);
}

/*
 * Choose the queue of the flow's hand with the least work waiting, the first of
 * equals from a place in the hand that moves with each deal: where hands
 * overlap, no queue should be everybody's first.  Return: its index.
 */
static u32 kapf_queueset_choose(struct kapf_queueset *qs, u64 hash)
{
	u32 position = qs->deals++ % qs->hand_size;
	u64 least = 0;
	u32 i, best = 0;

	kapf_deal_start(&qs->deal, hash, qs->nr_queues);
	for (i = 0; i < qs->hand_size; i++) {
		u32 card = kapf_deal_card(&qs->deal, position);
		u64 work = kapf_queueset_queue(qs, card)->waiting_work;

		/* Every request is some work, so nothing is less than none. */
		if (!work)
			return card;
		if (!i || work < least) {
			least = work;
			best = card;
		}
		if (++position == qs->hand_size)
			position = 0;
	}
	return best;
}

static void kapf_queueset_seat_unqueued(struct kapf_queueset *qs,
					struct kapf_request *req)
{
	u32 width = kapf_request_width(req);

	req->start = qs->now;
	qs->nr_executing++;
	qs->seats_in_use += width;
	qs->unqueued_seats += width;
}

/*
 * What a request will need after it has finished may be more than the level has:
 * then fewer seats are kept for longer, so that the work is the same.
 */
static void kapf_queueset_cut(const struct kapf_queueset *qs,
			      struct kapf_request *req)
{
	u64 work = kapf_seatsec(req->final_seats, req->additional_latency);

	req->final_seats = qs->seats;
	req->additional_latency = kapf_seatsec_duration(work, qs->seats);
}

/* Dispatch a request of a queue: it is in no list any more. */
static void kapf_queueset_start(struct kapf_queueset *qs,
				struct kapf_queue *queue,
				struct kapf_request *req)
{
	kapf_queueset_charge(qs, queue, req, req->queue,
			     queue->next_dispatch_r);
	if (req->final_seats > qs->seats)
		kapf_queueset_cut(qs, req);
	kapf_queueset_seat(qs, queue, req, kapf_request_width(req));
}

static void kapf_queue_append(struct kapf_queueset *qs,
			      struct kapf_request *req)
{
	struct kapf_queue *queue = kapf_request_queue(qs, req);

	req->position = queue->taken++;
	req->arrival_r = qs->current_r;
	list_add_tail(&req->link, &queue->waiting);
	queue->waiting_work += kapf_request_work(req);
	queue->waiting_initial_seats += req->initial_seats;
	queue->waiting_seats += kapf_request_width(req);
	qs->waiting_seats += kapf_request_width(req);
	qs->nr_waiting++;
	if (!queue->nr_waiting++) {
		qs->nr_backlogged++;
		kapf_queue_bound(qs, queue);
	}
}

/* The queue's place in the tree is for the caller to see to. */
static void kapf_queue_remove(struct kapf_queueset *qs,
			      struct kapf_request *req)
{
	struct kapf_queue *queue = kapf_request_queue(qs, req);

	list_del(&req->link);
	queue->waiting_work -= kapf_request_work(req);
	queue->waiting_initial_seats -= req->initial_seats;
	queue->waiting_seats -= kapf_request_width(req);
	qs->waiting_seats -= kapf_request_width(req);
	qs->nr_waiting--;
	if (!--queue->nr_waiting)
		qs->nr_backlogged--;
}

/**
 * kapf_queueset_admit() - a request arrives
 * @qs: the queue set
 * @req: with its seats and additional latency
 * @hash: of its flow
 * @now: the time
 *
 * After KAPF_ADMISSION_QUEUED kapf_queueset_dispatch() is due if a seat is free:
 * the new request may be narrow enough for seats that the others have to leave
 * empty.
 *
 * Return: what became of it.
 */
enum kapf_admission kapf_queueset_admit(struct kapf_queueset *qs,
					struct kapf_request *req, u64 hash,
					u64 now)
{
	u32 width = kapf_request_width(req);
	struct kapf_queue *queue;
	bool has_room;
	u32 index;

	if (kapf_queueset_admit_now(qs, req, width, hash, now))
		return KAPF_ADMISSION_SEATED;
	has_room = kapf_queueset_has_room(qs, width);
	kapf_queueset_advance(qs, now);
	req->queue = KAPF_NO_QUEUE;
	if (!qs->nr_queues) {
		if (!has_room)
			return KAPF_ADMISSION_CONCURRENCY_LIMIT;
		kapf_queueset_seat_unqueued(qs, req);
		return KAPF_ADMISSION_SEATED;
	}

	index = kapf_queueset_choose(qs, hash);
	queue = kapf_queueset_queue(qs, index);
	if (queue->nr_waiting >= qs->queue_length_limit &&
	    !kapf_queueset_seat_free(qs))
		return KAPF_ADMISSION_QUEUE_FULL;
	req->queue = index;
	if (!kapf_queue_active(queue)) {
		queue->next_dispatch_r = qs->current_r;
		qs->nr_active++;
	}
	if (!has_room) {
		kapf_queue_append(qs, req);
		return KAPF_ADMISSION_QUEUED;
	}

	/* One that is wider than the limit, and alone, so that its queue restarts. */
	kapf_queueset_start(qs, queue, req);
	return KAPF_ADMISSION_SEATED;
}

/*
 * The queue whose oldest request would finish first; of equals the first one
 * after the queue dispatched last.
 */
static struct kapf_queue *kapf_queueset_pick(const struct kapf_queueset *qs)
{
	struct rb_node *node = rb_first_cached(&qs->backlog);
	struct kapf_queue *least = rb_entry(node, struct kapf_queue, node);
	struct kapf_queue *next = NULL;

	for (node = qs->backlog.rb_root.rb_node; node;) {
		struct kapf_queue *queue;

		queue = rb_entry(node, struct kapf_queue, node);
		if (queue->finish_r != least->finish_r) {
			node = node->rb_left;
		} else if (kapf_queue_index(queue) > qs->robin) {
			next = queue;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return next ? next : least;
}

/**
 * kapf_queueset_dispatch() - seat what fits now
 * @qs: the queue set
 * @budget: most requests to dispatch
 * @now: the time
 *
 * To be called after every event that may have made room, and again while it
 * returns true.
 *
 * Return: whether the budget is used up.
 */
bool kapf_queueset_dispatch(struct kapf_queueset *qs, u32 budget, u64 now)
{
	kapf_queueset_advance(qs, now);
	qs->blocked = NULL;
	while (qs->nr_waiting && kapf_queueset_seat_free(qs)) {
		struct kapf_queue *queue;
		struct kapf_request *req;
		u32 width;

		if (!budget--)
			return true;
		queue = kapf_queueset_pick(qs);
		req = kapf_queue_oldest(queue);
		width = kapf_request_width(req);
		if (!kapf_queueset_fits(qs, width)) {
			qs->no_accommodation++;
			qs->blocked = req;
			break;
		}
		kapf_queue_unbound(qs, queue);
		kapf_queue_remove(qs, req);
		kapf_queueset_start(qs, queue, req);
		if (queue->nr_waiting)
			kapf_queue_bound(qs, queue);
		qs->dispatched(qs, req, width);
	}
	return false;
}

/**
 * kapf_queueset_cancel() - a waiting request leaves its queue
 * @qs: the queue set
 * @req: that waits there
 * @now: the time
 */
void kapf_queueset_cancel(struct kapf_queueset *qs, struct kapf_request *req,
			  u64 now)
{
	struct kapf_queue *queue = kapf_request_queue(qs, req);

	kapf_queueset_advance(qs, now);
	kapf_queue_unbound(qs, queue);
	kapf_queue_remove(qs, req);
	if (queue->nr_waiting)
		kapf_queue_bound(qs, queue);
	if (!kapf_queue_active(queue))
		qs->nr_active--;
}

static void kapf_queueset_give_back(struct kapf_queueset *qs,
				    struct kapf_request *req)
{
	u32 width = kapf_request_width(req);

	qs->seats_in_use -= width;
	if (req->queue == KAPF_NO_QUEUE)
		qs->unqueued_seats -= width;
	else
		kapf_request_queue(qs, req)->seats_in_use -= width;
}

/**
 * kapf_queueset_finish() - a request has been served
 * @qs: the queue set
 * @req: that executes there
 * @now: the time
 *
 * When the request has an additional latency its seats are kept, and
 * kapf_queueset_release() is due at the end of it.  Otherwise they are free.
 */
void kapf_queueset_finish(struct kapf_queueset *qs, struct kapf_request *req,
			  u64 now)
{
	if (kapf_queueset_finish_now(qs, req, kapf_request_width(req), now))
		return;
	kapf_queueset_advance(qs, now);
	qs->nr_executing--;
	if (req->queue != KAPF_NO_QUEUE) {
		struct kapf_queue *queue = kapf_request_queue(qs, req);

		if (queue->nr_waiting)
			kapf_queue_unbound(qs, queue);
		kapf_queueset_settle(qs, queue, req);
		if (queue->nr_waiting)
			kapf_queue_bound(qs, queue);
		queue->nr_executing--;
		if (!kapf_queue_active(queue))
			qs->nr_active--;
	}
	if (req->additional_latency)
		qs->nr_lingering++;
	else
		kapf_queueset_give_back(qs, req);
}

/**
 * kapf_queueset_refund() - an additional latency ends early
 * @qs: the queue set
 * @req: finished there; its release is due
 * @unused: how much earlier
 * @now: the time
 *
 * The queue was charged for all of it at dispatch, and would otherwise pay with
 * its later requests for seats that others have had.
 */
void kapf_queueset_refund(struct kapf_queueset *qs, struct kapf_request *req,
			  u64 unused, u64 now)
{
	struct kapf_queue *queue;

	kapf_queueset_advance(qs, now);
	if (req->queue == KAPF_NO_QUEUE || !unused)
		return;
	queue = kapf_request_queue(qs, req);
	if (queue->nr_waiting)
		kapf_queue_unbound(qs, queue);
	queue->next_dispatch_r -= kapf_seatsec(req->final_seats, unused);
	if (queue->nr_waiting)
		kapf_queue_bound(qs, queue);
}

/**
 * kapf_queueset_release() - the seats of a finished request are free again
 * @qs: the queue set
 * @req: finished there, with an additional latency
 * @now: the time
 */
void kapf_queueset_release(struct kapf_queueset *qs, struct kapf_request *req,
			   u64 now)
{
	kapf_queueset_advance(qs, now);
	qs->nr_lingering--;
	kapf_queueset_give_back(qs, req);
}

static u64 kapf_counted_seats(u64 seats)
{
	return seats > ~0u ? ~0u : seats;
}

/**
 * kapf_queueset_advance_far() - the rest of kapf_queueset_advance()
 * @qs: the queue set
 * @elapsed: any time
 *
 * In the usage 2^32 seats and more count as 2^32 - 1, whose square there is room
 * for.
 */
void kapf_queueset_advance_far(struct kapf_queueset *qs, u64 elapsed)
{
	struct kapf_usage *usage = &qs->usage;
	u64 demand = kapf_queueset_demand(qs);
	u64 seats = kapf_counted_seats(demand);

	kapf_area_pass(&usage->demand, seats, elapsed);
	kapf_area_pass(&usage->square, seats * seats, elapsed);
	kapf_area_pass(&usage->executing, qs->nr_executing, elapsed);
	kapf_area_pass(&usage->waiting, qs->nr_waiting, elapsed);
	kapf_area_pass(&usage->waiting_seats,
		       kapf_counted_seats(qs->waiting_seats), elapsed);
	seats = kapf_queueset_virtual_seats(qs, demand);
	if (qs->nr_active)
		qs->current_r += kapf_seatsec_ratio(seats, elapsed,
						    qs->nr_active);
}

/**
 * kapf_queueset_limit() - change the limit
 * @qs: the queue set
 * @seats: the new one
 * @now: the time
 *
 * kapf_queueset_dispatch() is due.
 */
void kapf_queueset_limit(struct kapf_queueset *qs, u32 seats, u64 now)
{
	kapf_queueset_advance(qs, now);
	qs->seats = seats;
}

/* Does a request wait in the queue, or hold seats that came from it? */
static bool kapf_queue_used(const struct kapf_queue *queue)
{
	return queue->nr_waiting || queue->seats_in_use;
}

/**
 * kapf_queueset_least_room() - how many queues have to be kept
 * @qs: the queue set
 * @room: not more than so many, at most nr_kept
 * @budget: most queues to look at
 *
 * To be called again with what it returns, until that is less than @budget below
 * @room.  Meanwhile others may be put to use only if flows use them: not those
 * from nr_queues on.
 *
 * Return: one more than the index of the last queue that a request waits in or
 * came from, or less than @room by the budget; 0 if there is none.
 */
u32 kapf_queueset_least_room(const struct kapf_queueset *qs, u32 room,
			     u32 budget)
{
	while (room && budget-- &&
	       !kapf_queue_used(kapf_queueset_queue(qs, room - 1)))
		room--;
	return room;
}

/**
 * kapf_queueset_deal() - change how queues are dealt
 * @qs: the queue set
 * @nr_queues: that flows are to use, of those that it has; 0: refuse rather than
 *	queue
 * @hand_size: queues that a flow may use, at most kapf_hand_max(@nr_queues)
 * @queue_length_limit: of one queue, while no seat is free
 *
 * A queue beyond the first @nr_queues takes no more requests; those that it has
 * are served as before.
 */
void kapf_queueset_deal(struct kapf_queueset *qs, u32 nr_queues, u32 hand_size,
			u32 queue_length_limit)
{
	qs->nr_queues = nr_queues;
	qs->hand_size = hand_size;
	qs->queue_length_limit = queue_length_limit;
}

/* Whatever points to the queue is to point to where it has been moved. */
static void kapf_queue_move(struct kapf_queueset *qs, struct kapf_queue *from,
			    struct kapf_queue *to)
{
	*to = *from;
	INIT_LIST_HEAD(&to->waiting);
	if (!from->nr_waiting)
		return;
	list_replace(&from->waiting, &to->waiting);
	rb_replace_node_cached(&from->node, &to->node, &qs->backlog);
}

/**
 * kapf_queueset_move() - replace the queues by more or fewer
 * @qs: the queue set
 * @queues: of kapf_queues_init(), others than it has
 * @room: how many these are, at least nr_queues and kapf_queueset_least_room()
 * @budget: most queues to move
 *
 * To be called again while it returns true; the queue set may be used in between.
 * Then the old queues are the caller's again.
 *
 * Return: whether the budget is used up.
 */
bool kapf_queueset_move(struct kapf_queueset *qs, struct kapf_queue *queues,
			u32 room, u32 budget)
{
	if (qs->queues != queues) {
		qs->former = qs->queues;
		qs->queues = queues;
		qs->nr_moved = 0;
		if (qs->nr_kept > room)
			qs->nr_kept = room;
	}
	for (; qs->nr_moved < qs->nr_kept; qs->nr_moved++) {
		u32 i = qs->nr_moved;

		if (!budget--)
			return true;
		/* One that is not used has nothing that is worth a move. */
		if (kapf_queue_used(&qs->former[i]))
			kapf_queue_move(qs, &qs->former[i], &queues[i]);
	}
	qs->nr_moved = KAPF_ALL_MOVED;
	qs->nr_kept = room;
	return false;
}
