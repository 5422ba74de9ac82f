// SPDX-License-Identifier: GPL-2.0
/*
 * GET_HISTOGRAMS.
 *
 * They are walked in one order, of which the cursor is the place: the instance,
 * the schemas of the configuration, its levels, and what drains; of each all
 * kinds, of which it has some.  Each is read for itself, so that no lock is held
 * for longer than one takes.
 */

#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/nospec.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "config.h"
#include "metrics.h"
#include "snapshot.h"

#define KAPF_PIECE_HISTOGRAMS 128

static void kapf_start_histogram(struct kapf_histogram_info *info,
				 enum kapf_histogram_kind kind,
				 const struct kapf_level *level,
				 const struct kapf_schema *schema)
{
	*info = (struct kapf_histogram_info) {
		.kind = kind,
		.level = level ? level->id : 0,
		.schema = schema ? schema->id : 0,
	};
	memcpy(info->bounds, kapf_histogram_bounds[kind], sizeof(info->bounds));
	while (info->bounds[info->buckets++] != KAPF_NO_BOUND)
		;
}

static void kapf_read_exempt_histogram(const struct kapf_schema *schema,
				       struct kapf_histogram_info *info)
{
	int cpu;
	u32 i;

	for_each_possible_cpu(cpu) {
		const struct kapf_histogram *histogram;

		histogram = per_cpu_ptr(schema->exempt_histograms, cpu) +
			    info->kind;
		info->sum += READ_ONCE(histogram->sum);
		for (i = 0; i < info->buckets; i++)
			info->counts[i] += READ_ONCE(histogram->counts[i]);
	}
}

/* Requests that were refused when they arrived. */
static u64 kapf_refused(const struct kapf_counts *counts)
{
	return counts->rejected[KAPF_REJECTION_QUEUE_FULL] +
	       counts->rejected[KAPF_REJECTION_CONCURRENCY_LIMIT];
}

/* Called with the lock of its level held. */
static void kapf_read_limited_histogram(const struct kapf_schema *schema,
					struct kapf_histogram_info *info)
{
	const struct kapf_histogram *histogram;
	u32 i;

	if (info->kind == KAPF_HISTOGRAM_REFUSED_WAIT) {
		for (i = 0; i < KAPF_BOOKS; i++)
			info->counts[0] +=
				kapf_refused(&schema->tally.counts[i]);
		return;
	}
	histogram = &schema->histograms[info->kind];
	info->sum = histogram->sum;
	memcpy(info->counts, histogram->counts, sizeof(histogram->counts));
	/* These were alone in their queue, and waited for no time. */
	if (info->kind == KAPF_HISTOGRAM_QUEUE_LENGTH) {
		info->sum += schema->tally.seated_now;
		info->counts[kapf_histogram_bucket(info->kind, 1)] +=
			schema->tally.seated_now;
	} else if (info->kind == KAPF_HISTOGRAM_WAIT) {
		info->counts[0] += schema->tally.seated_now;
	}
}

/* false: there is no such histogram. */
static bool kapf_read_schema_histogram(const struct kapf_schema *schema,
				       enum kapf_histogram_kind kind,
				       struct kapf_histogram_info *info)
{
	struct kapf_level *level = schema->level;

	if (!level || kind >= KAPF_LEVEL_KIND ||
	    (level->exempt && kind >= KAPF_EXEMPT_KINDS))
		return false;
	kapf_start_histogram(info, kind, level, schema);
	if (level->exempt) {
		kapf_read_exempt_histogram(schema, info);
		return true;
	}
	spin_lock_bh(&level->lock);
	kapf_read_limited_histogram(schema, info);
	spin_unlock_bh(&level->lock);
	return true;
}

static bool kapf_read_level_histogram(struct kapf_level *level,
				      enum kapf_histogram_kind kind,
				      struct kapf_histogram_info *info)
{
	if (kind < KAPF_LEVEL_KIND || kind >= KAPF_INSTANCE_KIND)
		return false;
	kapf_start_histogram(info, kind, level, NULL);
	if (level->exempt)
		kapf_exempt_sample(level, ktime_get_ns());
	spin_lock_bh(&level->lock);
	kapf_metrics_read(level, ktime_get_ns(), info);
	spin_unlock_bh(&level->lock);
	return true;
}

static bool kapf_read_instance_histogram(struct kapf_kinds *kinds,
					 enum kapf_histogram_kind kind,
					 struct kapf_histogram_info *info)
{
	if (kind < KAPF_INSTANCE_KIND)
		return false;
	kapf_start_histogram(info, kind, NULL, NULL);
	kapf_kinds_sample(kinds, ktime_get_ns());
	kapf_kinds_read(kinds, ktime_get_ns(), info);
	return true;
}

static const struct kapf_schema *
kapf_draining_schema(const struct kapf_instance *instance, u32 place)
{
	const struct kapf_schema *schema;

	list_for_each_entry(schema, &instance->draining_schemas, link)
		if (!place--)
			return schema;
	return NULL;
}

/*
 * The histogram of this kind of the object at this place.  What drains comes last,
 * so that the places of the others stay when some of it is freed.
 */
static bool kapf_read_histogram(struct kapf_instance *instance, u32 place,
				enum kapf_histogram_kind kind,
				struct kapf_histogram_info *info)
{
	const struct kapf_active_config *config = kapf_config_locked(instance);
	const struct kapf_schema *schema;
	struct kapf_level *level;

	if (!place--)
		return kapf_read_instance_histogram(instance->kinds, kind,
						    info);
	if (place < config->nr_schemas) {
		place = array_index_nospec(place, KAPF_MAX_SCHEMAS);
		return kapf_read_schema_histogram(config->schemas[place], kind,
						  info);
	}
	place -= config->nr_schemas;
	level = kapf_level_at(instance, place);
	if (level)
		return kapf_read_level_histogram(level, kind, info);
	place -= config->nr_levels + instance->nr_draining_levels;
	schema = kapf_draining_schema(instance, place);
	return schema && kapf_read_schema_histogram(schema, kind, info);
}

/* Read some histograms from the cursor on, at most @room.  Return: how many. */
static u32 kapf_read_histograms(struct kapf_instance *instance, void *arg,
				void *elements, u32 room)
{
	const struct kapf_active_config *config = kapf_config_locked(instance);
	struct kapf_histogram_info *infos = elements;
	struct kapf_get_histograms *get = arg;
	u32 all = KAPF_HISTOGRAM_KINDS *
		  (1 + config->nr_schemas + instance->nr_draining_schemas +
		   config->nr_levels + instance->nr_draining_levels);
	u32 nr = 0;

	for (; nr < room && get->cursor < all; get->cursor++) {
		u32 cursor = get->cursor;

		nr += kapf_read_histogram(instance,
					  cursor / KAPF_HISTOGRAM_KINDS,
					  cursor % KAPF_HISTOGRAM_KINDS,
					  &infos[nr]);
	}
	return nr;
}

/**
 * kapf_snapshot_histograms() - KAPF_GET_HISTOGRAMS
 * @instance: that is looked into
 * @get: its argument, in the kernel; in and out
 *
 * Return: as the ABI says.
 */
int kapf_snapshot_histograms(struct kapf_instance *instance,
			     struct kapf_get_histograms *get)
{
	const struct kapf_pieces pieces = {
		.read = kapf_read_histograms,
		.size = sizeof(struct kapf_histogram_info),
		.room = KAPF_PIECE_HISTOGRAMS,
		.array = get->histograms,
		.stride = get->histogram_size,
	};

	if (get->reserved)
		return -EINVAL;
	return kapf_snapshot_pieces(instance, &pieces, get, &get->nr,
				    &get->generation);
}
