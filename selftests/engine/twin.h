/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A queue set and its model side by side, given the same events; twin.c says
 * what is compared.
 */
#ifndef ENGINE_TWIN_H
#define ENGINE_TWIN_H

#include <linux/types.h>

#include "model.h"
#include "queueset.h"

#define TWIN_MAX_REQUESTS	300

/**
 * struct twin_sizes - of the queues of a priority level
 * @nr_queues: as kapf_queueset_deal(), likewise the following
 */
struct twin_sizes {
	u32 nr_queues;
	u32 hand_size;
	u32 queue_length_limit;
};

/*
 * How events went for which the short way (queueset_now.h) was asked first, as the
 * module does.
 */
enum twin_way {
	TWIN_SEATED_NOW,
	TWIN_SEATED_ELSE,	/* from a queue, too, but not by the short way */
	TWIN_NOT_SEATED,
	TWIN_FINISHED_NOW,
	TWIN_FINISHED_ELSE,
	TWIN_NR_WAYS,
};

/**
 * struct twin - engine and model of one priority level; zero until it starts,
 *	but for @now
 * @queues: of the engine, in one half at a time
 * @moving_to: half that they are being moved to; NULL: they are not
 * @room: how many there will be
 * @sizes: of the last twin_resize()
 * @requests: of the engine, by the id that they have in the model
 * @nr_arrived: how many of those there are
 * @dispatched: ids of those seated by the present dispatch, in order
 * @nr_dispatched: how many
 * @ways: how often an event went so, by enum twin_way
 * @now: the time of the next event, to be set before it
 * @failed: they have disagreed, and that has been printed
 */
struct twin {
	struct kapf_queueset qs;
	struct kapf_queue queues[2][MODEL_MAX_QUEUES];
	struct kapf_queue *moving_to;
	u32 room;
	struct twin_sizes sizes;
	struct kapf_request requests[TWIN_MAX_REQUESTS];
	u32 nr_arrived;
	u32 dispatched[TWIN_MAX_REQUESTS];
	u32 nr_dispatched;
	struct model model;
	u64 ways[TWIN_NR_WAYS];
	u64 now;
	bool failed;
};

void twin_start(struct twin *twin, u32 seats, const struct twin_sizes *sizes,
		u64 start_r);
void twin_arrive(struct twin *twin, const struct model_request *arrived,
		 u64 hash);
void twin_leave(struct twin *twin, u32 id);
void twin_release_early(struct twin *twin, u32 id, u64 unused);
void twin_limit(struct twin *twin, u32 seats);
void twin_resize(struct twin *twin, const struct twin_sizes *sizes, bool move);
bool twin_dispatch(struct twin *twin, u32 budget);
void twin_agree(struct twin *twin);
u32 twin_nth(const struct twin *twin, enum model_state state, u32 n);

#endif /* ENGINE_TWIN_H */
