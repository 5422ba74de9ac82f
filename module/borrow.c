// SPDX-License-Identifier: GPL-2.0
/*
 * Limits that move: levels lend each other seats, by their demand in the last
 * period and before.  At the end of each period, and when the configuration
 * changes, the limits of all levels are judged anew.
 *
 * What drains is looked after here, too.  A level whose name is gone keeps its
 * shares while it has requests, and so do a schema its counts and a queue beyond
 * those that are configured its place.  What is found idle is freed, and the
 * shares are those of the others.
 *
 * All of it happens with config_lock held, but for the freeing.
 */

#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "borrow.h"
#include "config.h"
#include "kinds.h"
#include "level.h"
#include "trace.h"

/* How often what drains is looked at. */
#define KAPF_REAP_NS (100 * NSEC_PER_MSEC)

/* What is not configured is unlimited, in the engine as in the image. */
static_assert(KAPF_BORROWING_UNSET == KAPF_BORROWING_UNLIMITED);

/* kapf_allocate() takes less than 2^22 seats in all; each level rounds up. */
static_assert(KAPF_MAX_SERVER_SEATS + 2 * KAPF_MAX_LEVELS < 1 << 22);

/**
 * kapf_borrow_share() - divide the seats of the server by shares
 * @instance: whose levels
 * @server_seats: how many
 *
 * This gives each level its nominal limit, and bounds for its limit.
 */
void kapf_borrow_share(struct kapf_instance *instance, u32 server_seats)
{
	u64 shares = 0, room = 0, seats = 0;
	struct kapf_level *level;

	list_for_each_entry(level, &instance->levels, link)
		shares += level->config->nominal_shares;
	list_for_each_entry(level, &instance->levels, link) {
		struct kapf_config_level *config = level->config;

		config->nominal_seats =
			kapf_nominal_limit(server_seats, config->nominal_shares,
					   shares);
		kapf_limits_init(&level->limits, server_seats,
				 config->nominal_seats,
				 config->lendable_percent,
				 config->borrowing_limit_percent);
		room += (u64)config->queues * config->queue_length_limit;
		seats += config->nominal_seats;
	}
	kapf_kinds_limit(instance->kinds, room, seats, ktime_get_ns());
}

/* The present period ends; seat what fits into the limits of the next one. */
static void kapf_borrow_adjust(struct kapf_instance *instance)
{
	const struct kapf_active_config *config = kapf_config_locked(instance);
	struct kapf_allocation *parts = instance->parts;
	struct kapf_level *level;
	u64 now = ktime_get_ns();
	u32 nr = 0;

	list_for_each_entry(level, &instance->levels, link)
		kapf_level_end_period(level, &parts[nr++], now);
	instance->fair_prop = kapf_allocate(parts, nr);
	nr = 0;
	list_for_each_entry(level, &instance->levels, link) {
		trace_kapf_adjust(instance, level, &parts[nr]);
		kapf_level_limit(level, &parts[nr++], kapf_server_seats(config),
				 now);
	}
	instance->next_adjustment =
		now + config->adjustment_period_ms * NSEC_PER_MSEC;
}

/*
 * Free queues that are not configured any more, if no request uses them.  Where
 * memory is too short for that, it is tried again.  Return: are there any?
 */
static bool kapf_borrow_trim(struct kapf_level *level)
{
	u32 queues = level->config->queues;
	struct kapf_queue *new;

	if (level->qs.nr_kept == queues)
		return false;
	if (kapf_level_least_queues(level) > queues)
		return true;
	new = kapf_queues_create(queues);
	if (new)
		kvfree(kapf_level_resize(level, new, queues));
	return level->qs.nr_kept != queues;
}

/* What has drained, and cannot be found any more. */
struct kapf_drained {
	struct list_head levels;
	struct list_head schemas;
};

static void kapf_borrow_collect_levels(struct kapf_instance *instance,
				       struct list_head *drained, bool settled)
{
	struct kapf_level *level, *next;

	list_for_each_entry_safe(level, next, &instance->levels, link) {
		if (!level->draining) {
			instance->drains |= kapf_borrow_trim(level);
		} else if (settled && kapf_level_idle(level)) {
			list_move(&level->link, drained);
			instance->nr_draining_levels--;
		}
	}
	instance->drains |= instance->nr_draining_levels;
}

static void kapf_borrow_collect_schemas(struct kapf_instance *instance,
					struct list_head *drained, bool settled)
{
	struct kapf_schema *schema, *next;

	list_for_each_entry_safe(schema, next, &instance->draining_schemas,
				 link) {
		if (!settled || !kapf_schema_idle(schema))
			continue;
		list_move(&schema->link, drained);
		instance->nr_draining_schemas--;
	}
	instance->drains |= instance->nr_draining_schemas;
}

/*
 * Collect what has drained, for kapf_borrow_free().  The levels first: nobody
 * admits to them, so that the schemas of one that is idle are so, too, when they
 * are looked at.
 *
 * Return: are shares gone?
 */
static bool kapf_borrow_reap(struct kapf_instance *instance,
			     struct kapf_drained *drained)
{
	/* Else somebody may still admit to what he has found before. */
	bool settled = instance->settled ==
		       kapf_config_locked(instance)->generation;

	INIT_LIST_HEAD(&drained->levels);
	INIT_LIST_HEAD(&drained->schemas);
	instance->drains = false;
	kapf_borrow_collect_levels(instance, &drained->levels, settled);
	kapf_borrow_collect_schemas(instance, &drained->schemas, settled);
	return !list_empty(&drained->levels);
}

/*
 * Those who found an object idle no more reach it after a grace period: a FINISH
 * that has just made it so may not have let go of it.  To be called without
 * config_lock: nobody else is to wait for that.
 */
static void kapf_borrow_free(struct kapf_drained *drained)
{
	struct kapf_schema *schema, *next_schema;
	struct kapf_level *level, *next_level;

	if (list_empty(&drained->levels) && list_empty(&drained->schemas))
		return;
	/* Expedited: each object that is configured comes here once. */
	synchronize_rcu_expedited();
	list_for_each_entry_safe(schema, next_schema, &drained->schemas, link)
		kapf_schema_destroy(schema);
	list_for_each_entry_safe(level, next_level, &drained->levels, link)
		kapf_level_destroy(level);
}

static void kapf_borrow_schedule(struct kapf_instance *instance)
{
	u64 now = ktime_get_ns();
	u64 delay = 0;

	if (instance->next_adjustment > now)
		delay = instance->next_adjustment - now;
	if (instance->drains)
		delay = min_t(u64, delay, KAPF_REAP_NS);
	mod_delayed_work(system_unbound_wq, &instance->borrow,
			 nsecs_to_jiffies(delay) + 1);
}

/**
 * kapf_borrow_update() - the configuration has changed
 * @instance: of which
 * @generation: of the configuration since which a grace period has passed: nobody
 *	reaches what it does not have any more
 */
void kapf_borrow_update(struct kapf_instance *instance, u64 generation)
{
	struct kapf_drained drained;

	mutex_lock(&instance->config_lock);
	instance->settled = max(instance->settled, generation);
	kapf_borrow_reap(instance, &drained);
	kapf_borrow_share(instance,
			  kapf_server_seats(kapf_config_locked(instance)));
	kapf_borrow_adjust(instance);
	kapf_borrow_schedule(instance);
	mutex_unlock(&instance->config_lock);
	kapf_borrow_free(&drained);
}

static void kapf_borrow_work(struct work_struct *work)
{
	struct kapf_instance *instance =
		container_of(to_delayed_work(work), struct kapf_instance,
			     borrow);
	const struct kapf_active_config *config;
	struct kapf_drained drained;
	bool fewer;

	mutex_lock(&instance->config_lock);
	config = kapf_config_locked(instance);
	fewer = kapf_borrow_reap(instance, &drained);
	if (fewer)
		kapf_borrow_share(instance, kapf_server_seats(config));
	if (fewer || ktime_get_ns() >= instance->next_adjustment)
		kapf_borrow_adjust(instance);
	kapf_borrow_schedule(instance);
	mutex_unlock(&instance->config_lock);
	kapf_borrow_free(&drained);
}

/**
 * kapf_borrow_init() - let limits move
 * @instance: with its first configuration
 *
 * Return: 0 or -ENOMEM.
 */
int kapf_borrow_init(struct kapf_instance *instance)
{
	/* As many may drain as are configured, see change.c. */
	instance->parts = kvcalloc(2 * KAPF_MAX_LEVELS,
				   sizeof(*instance->parts),
				   GFP_KERNEL | __GFP_NOWARN);
	if (!instance->parts)
		return -ENOMEM;
	INIT_DELAYED_WORK(&instance->borrow, kapf_borrow_work);
	kapf_borrow_update(instance, instance->generation);
	return 0;
}

/**
 * kapf_borrow_destroy() - let limits be
 * @instance: that nobody uses any more
 */
void kapf_borrow_destroy(struct kapf_instance *instance)
{
	cancel_delayed_work_sync(&instance->borrow);
	kvfree(instance->parts);
}
