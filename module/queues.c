// SPDX-License-Identifier: GPL-2.0
/*
 * The queues of a level: memory for them, and how they become more or fewer while
 * requests wait in them.
 */

#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "instance.h"
#include "level.h"

/*
 * Queues that are looked at, and moved, in one hold of the level's lock; few where
 * the module checks itself, so that something comes in between.
 */
#define KAPF_LOOKED_AT (IS_ENABLED(CONFIG_KAPF_DEBUG) ? 4 : 512)
#define KAPF_MOVED (IS_ENABLED(CONFIG_KAPF_DEBUG) ? 2 : 128)

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
 * @level: of them; config_lock is held
 *
 * Return: one more than the index of the last queue in use, at this moment; those
 * that are configured may be put to use at any time.
 */
u32 kapf_level_least_queues(struct kapf_level *level)
{
	struct kapf_queueset *qs = &level->qs;
	u32 room, least = qs->nr_kept;

	do {
		room = least;
		spin_lock_bh(&level->lock);
		least = kapf_queueset_least_room(qs, room, KAPF_LOOKED_AT);
		spin_unlock_bh(&level->lock);
		cond_resched();
	} while (room - least == KAPF_LOOKED_AT);
	return least;
}

static void kapf_level_deal(struct kapf_level *level)
{
	const struct kapf_config_level *config = level->config;

	spin_lock_bh(&level->lock);
	kapf_queueset_deal(&level->qs, config->queues, config->hand_size,
			   config->queue_length_limit);
	spin_unlock_bh(&level->lock);
}

static void kapf_level_move(struct kapf_level *level, struct kapf_queue *queues,
			    u32 room)
{
	bool more;

	do {
		spin_lock_bh(&level->lock);
		more = kapf_queueset_move(&level->qs, queues, room, KAPF_MOVED);
		spin_unlock_bh(&level->lock);
		cond_resched();
	} while (more);
}

/**
 * kapf_level_resize() - give a level the queues of its configuration
 * @level: with its configuration; config_lock is held
 * @queues: @room of them, of kapf_queues_create(), become the level's; NULL: it is
 *	to keep those it has, which are enough
 * @room: at least as many as are configured
 *
 * Queues beyond the configured ones are kept while requests use them.  It keeps
 * those it has, too, if more of them are in use than there are new ones.  Requests
 * come and go meanwhile.  May sleep.
 *
 * Return: queues that are not needed, to be freed.
 */
struct kapf_queue *kapf_level_resize(struct kapf_level *level,
				     struct kapf_queue *queues, u32 room)
{
	struct kapf_queue *unused = level->qs.queues;
	u32 kept = level->qs.nr_kept;

	/* First, so that no more are put to use of those that are to go. */
	if (level->config->queues <= kept)
		kapf_level_deal(level);
	if (!queues || (room < kept && room < kapf_level_least_queues(level)))
		unused = queues;
	else
		kapf_level_move(level, queues, room);
	if (level->config->queues > kept)
		kapf_level_deal(level);
	return unused;
}
