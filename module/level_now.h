/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a level does for a request that never waits, inline.  The rest, and what
 * they have in common with it, is in level.c.
 */
#ifndef KAPF_LEVEL_NOW_H
#define KAPF_LEVEL_NOW_H

#include <linux/compiler.h>
#include <linux/ktime.h>
#include <linux/spinlock.h>

#include "engine/queueset_now.h"
#include "exempt_now.h"
#include "level.h"
#include "metrics.h"
#include "trace.h"

/* Before the lock is dropped. */
static __always_inline void kapf_level_settle_now(struct kapf_level *level,
						  bool rise)
{
	kapf_measure_now(level, rise);
	if (IS_ENABLED(CONFIG_KAPF_DEBUG))
		kapf_level_check(level);
}

/**
 * kapf_level_seat_now() - seat a request that arrives, if it has room
 * @level: limited; its lock is held, and kapf_level_settle() is due
 * @slot: as for kapf_level_admit()
 * @schema: likewise
 * @op: likewise
 * @now: the time
 *
 * Return: whether it was seated; if not, nothing was done.
 */
static __always_inline bool kapf_level_seat_now(struct kapf_level *level,
						struct kapf_slot *slot,
						struct kapf_schema *schema,
						const struct kapf_op *op,
						u64 now)
{
	u32 width = kapf_request_width(&slot->request);

	if (!kapf_queueset_admit_now(&level->qs, &slot->request, width,
				     op->flow_hash, now))
		return false;
	kapf_measure_arrival(schema->histograms, width, op->watch_count);
	level->counts[KAPF_REAL].dispatched++;
	schema->tally.seated_now++;
	schema->tally.seats_in_use += width;
	kapf_kinds_execute(level->kinds, kapf_slot_kind(slot));
	trace_kapf_dispatch(slot, now, slot->request.start);
	return true;
}

/**
 * kapf_level_admit() - a request arrives
 * @level: of its schema
 * @slot: claimed, no shadow; with schema, flags, and the request's seats and
 *	latency
 * @schema: that it belongs to
 * @op: the request
 *
 * To be called with bottom halves disabled.
 *
 * Return: ADMIT's value, and the slot is as it was; or 0: it is WAITING, and may
 * have been decided on already.
 */
static __always_inline u16 kapf_level_admit(struct kapf_level *level,
					    struct kapf_slot *slot,
					    struct kapf_schema *schema,
					    const struct kapf_op *op)
{
	u64 now = ktime_get_ns();

	slot->arrival = now;
	if (level->exempt)
		return kapf_exempt_admit(level, slot, schema, op->watch_count,
					 now);
	spin_lock(&level->lock);
	if (!kapf_level_seat_now(level, slot, schema, op, now))
		return kapf_level_admit_unlock(level, slot, op, now);
	kapf_level_settle_now(level, true);
	spin_unlock(&level->lock);
	return KAPF_EXECUTE;
}

/**
 * kapf_level_serve_now() - a request has been served, and nobody waits for it
 * @level: limited; its lock is held, and kapf_level_settle() is due
 * @slot: as for kapf_level_finish_now()
 * @schema: that it belongs to
 * @now: the time
 *
 * Return: whether that was all; if not, nothing was done.
 */
static __always_inline bool kapf_level_serve_now(struct kapf_level *level,
						 struct kapf_slot *slot,
						 struct kapf_schema *schema,
						 u64 now)
{
	u32 width = kapf_request_width(&slot->request);

	if (!kapf_queueset_finish_now(&level->qs, &slot->request, width, now))
		return false;
	level->counts[KAPF_REAL].finished++;
	schema->tally.counts[KAPF_REAL].finished++;
	schema->tally.seats_in_use -= width;
	kapf_measure_served(level, schema->histograms, slot, level->qs.now);
	trace_kapf_finish(slot, slot->request.start, now);
	trace_kapf_release(slot, slot->request.start, now);
	return true;
}

/**
 * kapf_level_finish_now() - a request has been served
 * @slot: claimed by who found it EXECUTING; no shadow
 *
 * Its seats linger for its additional latency.  To be called with bottom halves
 * disabled.
 *
 * Return: ns that the seats linger, and the slot is LINGERING; or 0, and it is
 * as it was.
 */
static __always_inline u64 kapf_level_finish_now(struct kapf_slot *slot)
{
	struct kapf_schema *schema = slot->schema;
	struct kapf_level *level = schema->level;
	u64 now = ktime_get_ns();

	if (level->exempt)
		return kapf_exempt_finish_now(level, slot, now) ?
			       0 : kapf_exempt_finish(level, slot, true, now);
	spin_lock(&level->lock);
	if (!kapf_level_serve_now(level, slot, schema, now))
		return kapf_level_finish_unlock(level, slot, true, now);
	kapf_level_settle_now(level, false);
	spin_unlock(&level->lock);
	return 0;
}

#endif /* KAPF_LEVEL_NOW_H */
