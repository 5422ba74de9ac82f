// SPDX-License-Identifier: GPL-2.0
/*
 * A FlowSchema at work: what ties requests to a priority level, and counts them.
 */

#include <linux/percpu.h>
#include <linux/slab.h>

#include "instance.h"
#include "level.h"

/**
 * kapf_schema_create() - a schema that nobody can reach yet
 * @level: that its requests belong to; NULL: it is dangling
 *
 * Return: NULL when memory is short.
 */
struct kapf_schema *kapf_schema_create(struct kapf_level *level)
{
	struct kapf_schema *schema = kzalloc(sizeof(*schema), KAPF_GFP);

	if (!schema)
		return NULL;
	schema->level = level;
	if (!level || !level->exempt)
		return schema;
	schema->exempt = alloc_percpu_gfp(struct kapf_exempt_tally, KAPF_GFP);
	schema->exempt_histograms =
		__alloc_percpu_gfp(KAPF_EXEMPT_KINDS *
				   sizeof(struct kapf_histogram),
				   __alignof__(struct kapf_histogram),
				   KAPF_GFP);
	if (schema->exempt && schema->exempt_histograms)
		return schema;
	kapf_schema_destroy(schema);
	return NULL;
}

/**
 * kapf_schema_destroy() - free a schema
 * @schema: idle, and nobody can reach it any more; may be NULL
 */
void kapf_schema_destroy(struct kapf_schema *schema)
{
	if (!schema)
		return;
	free_percpu(schema->exempt);
	free_percpu(schema->exempt_histograms);
	kvfree(schema->config);
	kfree(schema);
}

/**
 * kapf_schema_idle() - does it hold no request at all?
 * @schema: nobody admits by it, so that true stays true
 */
bool kapf_schema_idle(struct kapf_schema *schema)
{
	struct kapf_level *level = schema->level;
	struct kapf_exempt_tally sum;
	bool idle;

	if (!level)
		return true;
	if (level->exempt) {
		kapf_exempt_sum(schema->exempt, &sum);
		return sum.dispatched == sum.released;
	}
	spin_lock_bh(&level->lock);
	idle = !schema->tally.nr_waiting && !schema->tally.nr_passing &&
	       !schema->tally.seats_in_use;
	spin_unlock_bh(&level->lock);
	return idle;
}
