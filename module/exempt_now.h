/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an exempt level does for each request, inline.  Counters are those of the
 * CPU, whatever CPU the request was on before.
 */
#ifndef KAPF_EXEMPT_NOW_H
#define KAPF_EXEMPT_NOW_H

#include <linux/compiler.h>
#include <linux/percpu.h>

#include "level.h"
#include "metrics.h"
#include "trace.h"

/**
 * kapf_exempt_admit() - a request arrives
 * @level: of its schema
 * @slot: claimed; with schema, arrival, and the request's seats and latency
 * @schema: that it belongs to
 * @watch_count: kapf_op.watch_count
 * @now: the time
 *
 * Return: KAPF_EXECUTE.
 */
static __always_inline u16 kapf_exempt_admit(struct kapf_level *level,
					     struct kapf_slot *slot,
					     struct kapf_schema *schema,
					     u32 watch_count, u64 now)
{
	struct kapf_exempt_tally __percpu *of_level = level->exempt;
	struct kapf_exempt_tally __percpu *of_schema = schema->exempt;
	u32 width = kapf_request_width(&slot->request);

	slot->request.queue = KAPF_NO_QUEUE;
	slot->request.start = now;
	this_cpu_inc(of_level->dispatched);
	this_cpu_add(of_level->seats_taken, width);
	this_cpu_inc(of_schema->dispatched);
	this_cpu_add(of_schema->seats_taken, width);
	kapf_measure_arrival(this_cpu_ptr(schema->exempt_histograms), width,
			     watch_count);
	kapf_measure_dispatch(level, slot);
	kapf_sampler_need(&level->sampler);
	trace_kapf_dispatch(slot, now, now);
	return KAPF_EXECUTE;
}

/* A request has been served; its seats are still in use. */
static __always_inline void kapf_exempt_finished(struct kapf_level *level,
						 struct kapf_slot *slot,
						 u64 now)
{
	struct kapf_schema *schema = slot->schema;

	this_cpu_inc(schema->exempt->finished);
	this_cpu_inc(level->exempt->finished);
	kapf_measure_served(level, this_cpu_ptr(schema->exempt_histograms),
			    slot, now);
	trace_kapf_finish(slot, slot->request.start, now);
}

/* They are no more. */
static __always_inline void kapf_exempt_released(struct kapf_level *level,
						 struct kapf_slot *slot,
						 u64 now)
{
	struct kapf_exempt_tally __percpu *of_schema = slot->schema->exempt;
	struct kapf_exempt_tally __percpu *of_level = level->exempt;
	u32 width = kapf_request_width(&slot->request);

	this_cpu_add(of_schema->seats_released, width);
	this_cpu_inc(of_schema->released);
	this_cpu_add(of_level->seats_released, width);
	this_cpu_inc(of_level->released);
	trace_kapf_release(slot, slot->request.start, now);
}

/* Both, unless its seats are to linger, which false says: nothing was done. */
static __always_inline bool kapf_exempt_finish_now(struct kapf_level *level,
						   struct kapf_slot *slot,
						   u64 now)
{
	if (slot->request.additional_latency)
		return false;
	kapf_exempt_finished(level, slot, now);
	kapf_exempt_released(level, slot, now);
	return true;
}

#endif /* KAPF_EXEMPT_NOW_H */
