/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A priority level for tests of single facts: a queue set, what a test needs to
 * drive it in a line per event, and the requests that it dispatched.
 *
 * Each event is followed by the dispatch that it makes due.
 */
#ifndef ENGINE_LEVEL_H
#define ENGINE_LEVEL_H

#include <linux/kernel.h>
#include <linux/types.h>

#include "invariants.h"
#include "queueset.h"

#define LEVEL_MAX_QUEUES 64
#define LEVEL_MAX_DISPATCHED 16

/* Units of work in a seat held for 1 ms, for 1 s. */
#define SEAT_MS	100000ULL
#define SEAT_S	100000000ULL
/* Work that one initial seat is charged with. */
#define GUESS	(3 * SEAT_MS)

#define MS	1000000ULL
#define S	1000000000ULL

#define SEATS(n) ((struct kapf_request){ .initial_seats = (n) })
#define LINGERING_SEATS(n, final, latency) ((struct kapf_request){	\
	.initial_seats = (n), .final_seats = (final),			\
	.additional_latency = (latency) })

struct level {
	struct kapf_queueset qs;
	struct kapf_queue queues[LEVEL_MAX_QUEUES];
	struct kapf_request *dispatched[LEVEL_MAX_DISPATCHED];
	u32 nr_dispatched;
	u32 last_width;
};

static inline void level_note_dispatched(struct kapf_queueset *qs,
					 struct kapf_request *req, u32 width)
{
	struct level *level = container_of(qs, struct level, qs);

	assert(kapf_invariant_seated(qs, width));
	assert(level->nr_dispatched < LEVEL_MAX_DISPATCHED);
	level->dispatched[level->nr_dispatched++] = req;
	level->last_width = width;
}

static inline void level_start(struct level *level, u32 nr_queues,
			       u32 hand_size, u32 queue_length_limit, u32 seats)
{
	*level = (struct level) {
		.qs.dispatched = level_note_dispatched,
	};
	kapf_queueset_init(&level->qs, level->queues, nr_queues, hand_size,
			   queue_length_limit, seats);
}

static inline void level_dispatch(struct level *level, u64 now)
{
	while (kapf_queueset_dispatch(&level->qs, 32, now))
		;
	assert(!kapf_invariant_broken(&level->qs));
}

/*
 * In a level whose hands are of one card, a hash below the number of queues is
 * the index of the queue.
 */
static inline enum kapf_admission level_arrive(struct level *level,
					       struct kapf_request *req,
					       u64 hash, u64 now)
{
	enum kapf_admission admission;

	admission = kapf_queueset_admit(&level->qs, req, hash, now);
	level_dispatch(level, now);
	return admission;
}

static inline void level_finish(struct level *level, struct kapf_request *req,
				u64 now)
{
	kapf_queueset_finish(&level->qs, req, now);
	level_dispatch(level, now);
}

static inline void level_release(struct level *level, struct kapf_request *req,
				 u64 now)
{
	kapf_queueset_release(&level->qs, req, now);
	level_dispatch(level, now);
}

static inline void level_cancel(struct level *level, struct kapf_request *req,
				u64 now)
{
	kapf_queueset_cancel(&level->qs, req, now);
	level_dispatch(level, now);
}

#endif /* ENGINE_LEVEL_H */
