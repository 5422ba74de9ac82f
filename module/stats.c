// SPDX-License-Identifier: GPL-2.0
/*
 * GET_STATS: what levels and schemas have counted, and where they stand.
 */

#include <linux/ktime.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "config.h"
#include "kinds.h"
#include "level.h"
#include "snapshot.h"

static void kapf_read_observed(const struct kapf_counts *counts,
			       struct kapf_observed *observed)
{
	const u64 *rejected = counts[KAPF_OBSERVED].rejected;

	observed->dispatched = counts[KAPF_OBSERVED].dispatched;
	observed->queue_full = rejected[KAPF_REJECTION_QUEUE_FULL];
	observed->concurrency_limit =
		rejected[KAPF_REJECTION_CONCURRENCY_LIMIT];
	observed->time_out = rejected[KAPF_REJECTION_TIME_OUT];
	observed->cancelled = rejected[KAPF_REJECTION_CANCELLED];
}

/*
 * What became of requests, under the names that struct kapf_level_stats and struct
 * kapf_schema_stats have in common.
 */
#define kapf_read_counts(stats, counts) do {				\
	const struct kapf_counts *_counts = (counts);			\
	const struct kapf_counts *_real = &_counts[KAPF_REAL];		\
	const u64 *_rejected = _real->rejected;				\
	typeof(stats) _stats = (stats);					\
									\
	_stats->executing_requests = _real->dispatched - _real->finished; \
	_stats->dispatched = _real->dispatched;				\
	_stats->rejected_queue_full =					\
		_rejected[KAPF_REJECTION_QUEUE_FULL];			\
	_stats->rejected_concurrency_limit =				\
		_rejected[KAPF_REJECTION_CONCURRENCY_LIMIT];		\
	_stats->rejected_time_out = _rejected[KAPF_REJECTION_TIME_OUT];	\
	_stats->rejected_cancelled =					\
		_rejected[KAPF_REJECTION_CANCELLED];			\
	kapf_read_observed(_counts, &_stats->observed);			\
} while (0)

static void kapf_read_limited_level(struct kapf_level *level,
				    struct kapf_level_stats *stats)
{
	const struct kapf_queueset *qs = &level->qs;

	spin_lock_bh(&level->lock);
	kapf_read_counts(stats, level->counts);
	stats->passing_requests = level->nr_passing;
	stats->lingering_requests = qs->nr_lingering;
	stats->seats_in_use = qs->seats_in_use;
	stats->waiting_requests = qs->nr_waiting;
	stats->waiting_seats = qs->waiting_seats;
	stats->active_queues = qs->nr_backlogged;
	stats->queues = qs->nr_queues;
	stats->retry_after = level->retry_after.seconds;
	stats->no_accommodation = qs->no_accommodation;
	stats->current_r = qs->current_r;
	stats->dispatch_r = qs->dispatch_r;
	stats->latest_s = qs->latest_s;
	spin_unlock_bh(&level->lock);
}

static void kapf_read_exempt_level(struct kapf_level *level,
				   struct kapf_level_stats *stats)
{
	struct kapf_exempt_tally sum;

	kapf_exempt_sum(level->exempt, &sum);
	stats->executing_requests = sum.dispatched - sum.finished;
	stats->lingering_requests = sum.finished - sum.released;
	stats->seats_in_use = sum.seats_taken - sum.seats_released;
	stats->dispatched = sum.dispatched;
}

/* Limits, and what they come from. */
static void kapf_read_demand(struct kapf_level *level,
			     struct kapf_level_stats *stats)
{
	const struct kapf_demand *demand = &level->demand;

	stats->nominal_seats = level->limits.nominal;
	stats->min_seats = level->limits.min;
	stats->max_seats = level->limits.max;
	spin_lock_bh(&level->lock);
	stats->current_seats = level->qs.seats;
	stats->demand_high_watermark = demand->high_watermark;
	stats->demand_average = demand->average;
	stats->demand_stdev = demand->deviation;
	stats->demand_smoothed = demand->smoothed;
	stats->target_seats = level->target;
	spin_unlock_bh(&level->lock);
}

static void kapf_read_level(struct kapf_level *level,
			    struct kapf_level_stats *stats)
{
	stats->id = level->id;
	stats->type = level->config->type;
	stats->flags = level->draining ? KAPF_STATS_DRAINING : 0;
	memcpy(stats->name, level->config->name, sizeof(stats->name));
	kapf_read_demand(level, stats);
	if (level->exempt)
		kapf_read_exempt_level(level, stats);
	else
		kapf_read_limited_level(level, stats);
}

static void kapf_read_limited_schema(struct kapf_schema *schema,
				     struct kapf_schema_stats *stats)
{
	const struct kapf_tally *tally = &schema->tally;

	spin_lock_bh(&schema->level->lock);
	kapf_read_counts(stats, tally->counts);
	stats->dispatched += tally->seated_now;
	stats->executing_requests += tally->seated_now;
	stats->passing_requests = tally->nr_passing;
	stats->seats_in_use = tally->seats_in_use;
	stats->waiting_requests = tally->nr_waiting;
	stats->waiting_seats = tally->waiting_seats;
	stats->no_accommodation = tally->no_accommodation;
	spin_unlock_bh(&schema->level->lock);
}

static void kapf_read_schema(struct kapf_schema *schema,
			     struct kapf_schema_stats *stats)
{
	struct kapf_exempt_tally sum;

	stats->id = schema->id;
	memcpy(stats->name, schema->config->name, sizeof(stats->name));
	if (!schema->level)
		return;
	stats->level = schema->level->id;
	if (!schema->level->exempt) {
		kapf_read_limited_schema(schema, stats);
		return;
	}
	kapf_exempt_sum(schema->exempt, &sum);
	stats->executing_requests = sum.dispatched - sum.finished;
	stats->seats_in_use = sum.seats_taken - sum.seats_released;
	stats->dispatched = sum.dispatched;
}

/* What GET_STATS gathers before it copies. */
struct kapf_stats {
	struct kapf_level_stats *levels;
	struct kapf_schema_stats *schemas;
	u32 nr_levels;
	u32 nr_schemas;
};

static void kapf_stats_destroy(struct kapf_stats *stats)
{
	kvfree(stats->levels);
	kvfree(stats->schemas);
}

static int kapf_stats_create(struct kapf_stats *stats, u32 nr_levels,
			     u32 nr_schemas)
{
	stats->nr_levels = nr_levels;
	stats->nr_schemas = nr_schemas;
	stats->levels = kvcalloc(nr_levels, sizeof(*stats->levels), KAPF_GFP);
	stats->schemas = kvcalloc(nr_schemas, sizeof(*stats->schemas),
				  KAPF_GFP);
	return stats->levels && stats->schemas ? 0 : -ENOMEM;
}

static void kapf_read_stats(struct kapf_instance *instance,
			    struct kapf_stats *stats)
{
	const struct kapf_active_config *config = kapf_config_locked(instance);
	struct kapf_schema_stats *schema_stats = stats->schemas;
	struct kapf_level_stats *level_stats = stats->levels;
	struct kapf_schema *schema;
	u32 i;

	for (i = 0; i < stats->nr_levels; i++)
		kapf_read_level(kapf_level_at(instance, i), level_stats++);
	for (i = 0; i < config->nr_schemas; i++)
		kapf_read_schema(config->schemas[i], schema_stats++);
	list_for_each_entry(schema, &instance->draining_schemas, link) {
		kapf_read_schema(schema, schema_stats);
		schema_stats++->flags = KAPF_STATS_DRAINING;
	}
}

/*
 * Memory is taken while the lock is not held: a caller who has to wait for it
 * shall wait alone.
 */
static int kapf_gather_stats(struct kapf_instance *instance,
			     struct kapf_get_stats *get,
			     struct kapf_stats *stats)
{
	for (;;) {
		const struct kapf_active_config *config;
		int ret = mutex_lock_interruptible(&instance->config_lock);

		if (ret)
			return ret;
		config = kapf_config_locked(instance);
		get->time = ktime_get_ns();
		get->nr_levels = config->nr_levels +
				 instance->nr_draining_levels;
		get->nr_schemas = config->nr_schemas +
				  instance->nr_draining_schemas;
		get->server_seats = kapf_server_seats(config);
		get->generation = config->generation;
		get->nr_sessions = READ_ONCE(instance->nr_sessions);
		get->fair_frac = instance->fair_prop;
		get->mode = READ_ONCE(instance->mode);
		get->passing_requests = atomic_read(&instance->passing[0]);
		get->passing_mutating_requests =
			atomic_read(&instance->passing[1]);
		kapf_kinds_count(instance->kinds, get);
		if (get->nr_levels == stats->nr_levels &&
		    get->nr_schemas == stats->nr_schemas) {
			kapf_read_stats(instance, stats);
			mutex_unlock(&instance->config_lock);
			return 0;
		}
		mutex_unlock(&instance->config_lock);

		kapf_stats_destroy(stats);
		ret = kapf_stats_create(stats, get->nr_levels, get->nr_schemas);
		if (ret)
			return ret;
	}
}

/**
 * kapf_snapshot_stats() - KAPF_GET_STATS
 * @instance: that is looked into
 * @get: its argument, in the kernel; in and out
 *
 * Return: as the ABI says.
 */
int kapf_snapshot_stats(struct kapf_instance *instance,
			struct kapf_get_stats *get)
{
	u32 level_room = get->nr_levels, schema_room = get->nr_schemas;
	struct kapf_stats stats = { };
	int ret;

	if (get->reserved || get->reserved2 ||
	    !kapf_stride_valid(get->level_size, sizeof(*stats.levels)) ||
	    !kapf_stride_valid(get->schema_size, sizeof(*stats.schemas)))
		return -EINVAL;
	ret = kapf_gather_stats(instance, get, &stats);
	if (!ret)
		ret = kapf_put_array(get->levels,
				     min(level_room, get->nr_levels),
				     get->level_size, stats.levels,
				     sizeof(*stats.levels));
	if (!ret)
		ret = kapf_put_array(get->schemas,
				     min(schema_room, get->nr_schemas),
				     get->schema_size, stats.schemas,
				     sizeof(*stats.schemas));
	kapf_stats_destroy(&stats);
	return ret;
}
