/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is measured of requests on their way through a level, and of the level.
 */
#ifndef KAPF_METRICS_H
#define KAPF_METRICS_H

#include <linux/container_of.h>
#include <linux/minmax.h>
#include <linux/types.h>
#include <linux/kapf.h>

#include "histogram.h"
#include "kinds.h"
#include "level.h"

/* A request arrives; @watch_count: kapf_op.watch_count */
static inline void kapf_measure_arrival(struct kapf_histogram *histograms,
					u32 width, u32 watch_count)
{
	kapf_histogram_observe(histograms, KAPF_HISTOGRAM_ESTIMATED_SEATS,
			       width);
	if (watch_count != KAPF_WATCH_COUNT_UNKNOWN)
		kapf_histogram_observe(histograms, KAPF_HISTOGRAM_WATCH_COUNT,
				       watch_count);
}

/* So many wait in the queue that a request came into, with it. */
static inline void kapf_measure_queue(const struct kapf_slot *slot, u32 length)
{
	kapf_histogram_observe(slot->schema->histograms,
			       KAPF_HISTOGRAM_QUEUE_LENGTH, length);
}

/* A request mutates (1), or not (0). */
static inline u32 kapf_slot_kind(const struct kapf_slot *slot)
{
	static_assert(KAPF_OP_MUTATING == 1);
	return slot->flags & KAPF_OP_MUTATING;
}

/* A request waits no more, or never did. */
static inline void kapf_measure_wait(const struct kapf_slot *slot, u64 now)
{
	kapf_histogram_observe(slot->schema->histograms, KAPF_HISTOGRAM_WAIT,
			       now - slot->arrival);
}

/* A request does not have to wait in the queue that it came into, if any. */
static inline void kapf_measure_seated(const struct kapf_slot *slot, u64 now)
{
	if (slot->request.queue != KAPF_NO_QUEUE)
		kapf_measure_queue(slot, 1);
	kapf_measure_wait(slot, now);
}

/* Were seats free, but too few for the request whose turn it is? */
static inline void kapf_measure_blocked(const struct kapf_queueset *qs)
{
	const struct kapf_slot *slot;

	if (!qs->blocked)
		return;
	slot = container_of(qs->blocked, struct kapf_slot, request);
	slot->schema->tally.no_accommodation++;
}

/* A request is to wait in a queue, where so many wait with it. */
static inline void kapf_measure_enqueue(const struct kapf_level *level,
					const struct kapf_slot *slot,
					u32 length)
{
	kapf_kinds_wait(level->kinds, kapf_slot_kind(slot));
	kapf_measure_queue(slot, length);
}

/* A request leaves its queue. */
static inline void kapf_measure_dequeue(const struct kapf_level *level,
					const struct kapf_slot *slot, u64 now)
{
	kapf_kinds_waited(level->kinds, kapf_slot_kind(slot));
	kapf_measure_wait(slot, now);
}

/* A request is to be served. */
static inline void kapf_measure_dispatch(const struct kapf_level *level,
					 const struct kapf_slot *slot)
{
	if (!(slot->flags & KAPF_SLOT_SHADOW))
		kapf_kinds_execute(level->kinds, kapf_slot_kind(slot));
}

/* A request has been served. */
static inline void kapf_measure_served(const struct kapf_level *level,
				       struct kapf_histogram *histograms,
				       const struct kapf_slot *slot, u64 now)
{
	u64 took = now - slot->request.start;

	kapf_kinds_executed(level->kinds, kapf_slot_kind(slot));
	if (unlikely(slot->flags & KAPF_OP_WATCH))
		kapf_histogram_observe(histograms,
				       KAPF_HISTOGRAM_WATCH_EXECUTION, took);
	else
		kapf_histogram_observe(histograms, KAPF_HISTOGRAM_EXECUTION,
				       took);
}

/* The same, if it is no shadow: what that does is no execution. */
static inline void kapf_measure_finish(const struct kapf_level *level,
				       struct kapf_histogram *histograms,
				       const struct kapf_slot *slot, u64 now)
{
	if (!(slot->flags & KAPF_SLOT_SHADOW))
		kapf_measure_served(level, histograms, slot, now);
}

void kapf_metrics_init(struct kapf_level *level, u64 now);
void kapf_metrics_limit(struct kapf_level *level, u32 server_seats, u64 now);
void kapf_metrics_seats(struct kapf_level *level);
void kapf_metrics_sample(struct kapf_level *level,
			 const struct kapf_exempt_tally *sum, u64 now);
void kapf_metrics_read(struct kapf_level *level, u64 now,
		       struct kapf_histogram_info *info);

static inline struct kapf_timing *
kapf_level_ratio(struct kapf_level *level, enum kapf_histogram_kind kind)
{
	return &level->ratios[kind - KAPF_LEVEL_KIND];
}

/*
 * After an event, when nothing waits and nothing did before it, so that the demand
 * is the seats in use.  @rise: they have not become fewer.
 */
static __always_inline void kapf_measure_now(struct kapf_level *level, bool rise)
{
	const struct kapf_queueset *qs = &level->qs;
	u64 seats = qs->seats_in_use;

	WARN_ON_ONCE(IS_ENABLED(CONFIG_KAPF_DEBUG) &&
		     !kapf_timing_stays(kapf_level_ratio(level,
							 KAPF_HISTOGRAM_WAITING),
					0));
	if (rise)
		kapf_demand_change(&level->demand, seats);
	if (unlikely(seats < level->calm_first || seats > level->calm_last))
		kapf_metrics_seats(level);
	kapf_timing_set(kapf_level_ratio(level, KAPF_HISTOGRAM_EXECUTING),
			qs->nr_executing, qs->now);
}

/* After any event. */
static inline void kapf_measure_level(struct kapf_level *level)
{
	const struct kapf_queueset *qs = &level->qs;
	u64 demand = kapf_queueset_demand(qs);

	kapf_demand_change(&level->demand, demand);
	if (!kapf_timing_stays(kapf_level_ratio(level, KAPF_HISTOGRAM_SEATS),
			       qs->seats_in_use) ||
	    !kapf_timing_stays(kapf_level_ratio(level, KAPF_HISTOGRAM_DEMAND),
			       demand))
		kapf_metrics_seats(level);
	kapf_timing_set(kapf_level_ratio(level, KAPF_HISTOGRAM_EXECUTING),
			qs->nr_executing, qs->now);
	kapf_timing_set(kapf_level_ratio(level, KAPF_HISTOGRAM_WAITING),
			qs->nr_waiting, qs->now);
}

/* Before the lock is dropped after an event. */
static inline void kapf_level_settle(struct kapf_level *level)
{
	/* Of an exempt one, whose timers come here, it is sampled. */
	if (level->exempt)
		return;
	kapf_measure_level(level);
	if (IS_ENABLED(CONFIG_KAPF_DEBUG))
		kapf_level_check(level);
}

#endif /* KAPF_METRICS_H */
