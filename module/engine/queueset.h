/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
#ifndef KAPF_QUEUESET_H
#define KAPF_QUEUESET_H

#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/types.h>

#include "dealer.h"
#include "usage.h"

#define KAPF_NO_QUEUE (~0u)
#define KAPF_ALL_MOVED (~0u)

/* G: how long a request is taken to execute, until it is known (3 ms). */
#define KAPF_GUESSED_SERVICE_NS 3000000

/**
 * struct kapf_request - a request, from admission to the release of its seats
 * @start: time of its dispatch
 * @additional_latency: time for which its seats linger after it has finished
 * @queue: index of the queue where it waits or came from; KAPF_NO_QUEUE when the
 *	queue set had none
 * @initial_seats: seats that it occupies while it executes
 * @final_seats: seats that it occupies during its additional latency
 * @position: counts the requests that this queue has taken
 * @link: in the queue, while it waits
 * @arrival_r: virtual time of its arrival
 *
 * The first half is all that a request needs which never waits.
 */
struct kapf_request {
	u64 start;
	u64 additional_latency;
	u32 queue;
	u16 initial_seats;
	u16 final_seats;
	u32 position;
	struct list_head link;
	u64 arrival_r;
};

/**
 * struct kapf_queue - one of the queues of a priority level
 * @node: in the tree of queues with something waiting
 * @finish_r: key there: virtual time at which the oldest waiting request would
 *	finish
 * @next_dispatch_r: virtual time of the next dispatch
 * @waiting: requests, oldest first
 * @waiting_work: sum of their work, in seat-seconds
 * @waiting_initial_seats: sum of their initial seats
 * @waiting_seats: sum of their widths
 * @nr_waiting: how many
 * @nr_executing: requests dispatched from here and not finished
 * @seats_in_use: seats of those and of the lingering ones
 * @taken: requests ever put in here
 */
struct kapf_queue {
	struct rb_node node;
	u64 finish_r;
	u64 next_dispatch_r;
	struct list_head waiting;
	u64 waiting_work;
	u64 waiting_initial_seats;
	u64 waiting_seats;
	u32 nr_waiting;
	u32 nr_executing;
	u32 seats_in_use;
	u32 taken;
};

/**
 * struct kapf_queueset - the seats and the queues of a priority level
 * @current_r: virtual time
 * @now: real time of the last change
 * @seats_in_use: of executing and lingering requests; may exceed the limit by far
 *	where there are no queues: a lone wide request does not mind lingering ones
 * @unqueued_seats: those of them that came by no queue; they do not count in the
 *	virtual world
 * @seats: the limit (CurrentCL)
 * @nr_executing: requests dispatched and not finished
 * @nr_lingering: requests finished, their seats not yet released
 * @nr_waiting: requests
 * @nr_active: queues with something waiting or executing
 * @waiting_seats: width of the waiting requests
 * @nr_queues: that flows may use; 0: refuse rather than queue
 * @nr_kept: those and surplus ones, which take no more requests
 * @nr_moved: those before this index are in @queues; KAPF_ALL_MOVED but during
 *	kapf_queueset_move()
 * @hand_size: queues that a flow may use
 * @queue_length_limit: of one queue, while no seat is free
 * @robin: index of the queue that was dispatched last
 * @deals: hands ever dealt
 * @nr_backlogged: how many those are
 * @dispatch_r: virtual time at which that was
 * @latest_s: next_dispatch_r of that queue then: where the request began in
 *	virtual time
 * @queues: all that are kept
 * @former: during kapf_queueset_move(): where those are that have not been moved
 * @usage: what it has had until @now
 * @deal: scratch
 * @backlog: those with something waiting, by finish_r and index
 * @no_accommodation: times that seats were free, but too few for the next
 * @blocked: of the last dispatch: the request for which they were too few; NULL:
 *	there was none
 * @dispatched: called for each request that leaves a queue for execution, with
 *	the width that it waited with
 *
 * The owner serialises all calls, and passes times that never run backwards by
 * much: one before the last counts as the last.
 */
struct kapf_queueset {
	u64 current_r;
	u64 now;
	u64 seats_in_use;
	u64 unqueued_seats;
	u32 seats;
	u32 nr_executing;
	u32 nr_lingering;
	u32 nr_waiting;
	u32 nr_active;
	u64 waiting_seats;
	u32 nr_queues;
	u32 nr_kept;
	u32 nr_moved;
	u32 hand_size;
	u32 queue_length_limit;
	u32 robin;
	u32 deals;
	u32 nr_backlogged;
	u64 dispatch_r;
	u64 latest_s;
	struct kapf_queue *queues;
	struct kapf_queue *former;
	struct kapf_usage usage;
	struct kapf_deal deal;
	struct rb_root_cached backlog;
	u64 no_accommodation;
	struct kapf_request *blocked;
	void (*dispatched)(struct kapf_queueset *qs, struct kapf_request *req,
			   u32 width);
};

enum kapf_admission {
	KAPF_ADMISSION_SEATED,
	KAPF_ADMISSION_QUEUED,
	KAPF_ADMISSION_QUEUE_FULL,
	KAPF_ADMISSION_CONCURRENCY_LIMIT,
};

static inline u32 kapf_request_width(const struct kapf_request *req)
{
	return req->initial_seats > req->final_seats ? req->initial_seats :
						       req->final_seats;
}

/* The queue of an index below nr_kept. */
static inline struct kapf_queue *
kapf_queueset_queue(const struct kapf_queueset *qs, u32 index)
{
	return index < qs->nr_moved ? &qs->queues[index] : &qs->former[index];
}

/* Seats in use, and those waited for. */
static inline u64 kapf_queueset_demand(const struct kapf_queueset *qs)
{
	return qs->seats_in_use + qs->waiting_seats;
}

/* Does nothing wait, execute or linger? */
static inline bool kapf_queueset_idle(const struct kapf_queueset *qs)
{
	return !qs->nr_waiting && !qs->nr_executing && !qs->nr_lingering;
}

/*
 * Is a seat free?  A lone wide request, and a limit that was cut, can make the
 * seats in use exceed the limit.
 */
static inline bool kapf_queueset_seat_free(const struct kapf_queueset *qs)
{
	return qs->seats_in_use < qs->seats;
}

void kapf_queues_init(struct kapf_queue *queues, u32 nr);
void kapf_queueset_init(struct kapf_queueset *qs, struct kapf_queue *queues,
			u32 nr_queues, u32 hand_size, u32 queue_length_limit,
			u32 seats);
void kapf_queueset_limit(struct kapf_queueset *qs, u32 seats, u64 now);
void kapf_queueset_deal(struct kapf_queueset *qs, u32 nr_queues, u32 hand_size,
			u32 queue_length_limit);
u32 kapf_queueset_least_room(const struct kapf_queueset *qs, u32 room,
			     u32 budget);
bool kapf_queueset_move(struct kapf_queueset *qs, struct kapf_queue *queues,
			u32 room, u32 budget);
void kapf_queueset_advance_far(struct kapf_queueset *qs, u64 elapsed);
bool kapf_queueset_has_room(const struct kapf_queueset *qs, u32 width);
enum kapf_admission kapf_queueset_admit(struct kapf_queueset *qs,
					struct kapf_request *req, u64 hash,
					u64 now);
bool kapf_queueset_dispatch(struct kapf_queueset *qs, u32 budget, u64 now);
void kapf_queueset_cancel(struct kapf_queueset *qs, struct kapf_request *req,
			  u64 now);
void kapf_queueset_finish(struct kapf_queueset *qs, struct kapf_request *req,
			  u64 now);
void kapf_queueset_refund(struct kapf_queueset *qs, struct kapf_request *req,
			  u64 unused, u64 now);
void kapf_queueset_release(struct kapf_queueset *qs, struct kapf_request *req,
			   u64 now);

#endif /* KAPF_QUEUESET_H */
