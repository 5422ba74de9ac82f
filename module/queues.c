// SPDX-License-Identifier: GPL-2.0
/*
 * The queues of a level: memory for them, and how they become more or fewer while
 * requests wait in them.
 */

#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "instance.h"
#include "level.h"

/**
 * kapf_queues_create() - queues for a level
 * @nr: how many, may be 0
 *
 * Return: NULL when memory is short.
 */
struct kapf_queue *kapf_queues_create(u32 nr)
{
	struct kapf_queue *queues = kvcalloc(nr, sizeof(*queues), KAPF_GFP);

	if (queues)
		kapf_queues_init(queues, nr);
	return queues;
}

/**
 * kapf_level_least_queues() - how many queues its requests need
 * @level: of them
 *
 * Return: one more than the index of the last queue in use, at this moment.
 */
u32 kapf_level_least_queues(struct kapf_level *level)
{
	u32 least;

	spin_lock_bh(&level->lock);
	least = kapf_queueset_least_room(&level->qs);
	spin_unlock_bh(&level->lock);
	return least;
}

/**
 * kapf_level_resize() - give a level the queues of its configuration
 * @level: with its configuration
 * @queues: @room of them, of kapf_queues_create(), become the level's; NULL: it is
 *	to keep those it has, which are enough
 * @room: at least as many as are configured
 *
 * Queues beyond the configured ones are kept while requests use them.  It keeps
 * those it has, too, if more of them are in use than there are new ones.
 *
 * Return: queues that are not needed, to be freed.
 */
struct kapf_queue *kapf_level_resize(struct kapf_level *level,
				     struct kapf_queue *queues, u32 room)
{
	const struct kapf_config_level *config = level->config;
	struct kapf_queueset *qs = &level->qs;
	struct kapf_queue *unused;

	spin_lock_bh(&level->lock);
	unused = qs->queues;
	if (!queues ||
	    (room < qs->nr_kept && room < kapf_queueset_least_room(qs))) {
		unused = queues;
		queues = qs->queues;
		room = qs->nr_kept;
	}
	kapf_queueset_resize(qs, queues, room, config->queues,
			     config->hand_size, config->queue_length_limit);
	spin_unlock_bh(&level->lock);
	return unused;
}
