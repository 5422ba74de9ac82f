// SPDX-License-Identifier: GPL-2.0
/*
 * An exempt level refuses nobody, so that it needs no lock and no common
 * counters; only additional latencies take its lock.
 *
 * Its demand is sampled.
 */

#include <linux/percpu.h>
#include <linux/spinlock.h>

#include "exempt_now.h"
#include "instance.h"
#include "metrics.h"

static bool kapf_exempt_look(struct kapf_sampler *sampler, u64 now)
{
	return kapf_exempt_sample(container_of(sampler, struct kapf_level,
					       sampler), now);
}

/**
 * kapf_exempt_init() - make a new level exempt
 * @level: zeroed
 *
 * Return: 0 or -ENOMEM.
 */
int kapf_exempt_init(struct kapf_level *level)
{
	level->exempt = alloc_percpu_gfp(struct kapf_exempt_tally, KAPF_GFP);
	if (!level->exempt)
		return -ENOMEM;
	kapf_sampler_init(&level->sampler, kapf_exempt_look);
	return 0;
}

/**
 * kapf_exempt_destroy() - undo kapf_exempt_init()
 * @level: that nobody can reach any more
 */
void kapf_exempt_destroy(struct kapf_level *level)
{
	kapf_sampler_destroy(&level->sampler);
	free_percpu(level->exempt);
}

/**
 * kapf_exempt_finish() - a request has been served
 * @level: of its schema
 * @slot: claimed by who found it EXECUTING or GRANTED
 * @linger: keep its seats for its additional latency
 * @now: the time
 *
 * Return: ns that the seats linger, and the slot is LINGERING; or 0, and it is
 * as it was.
 */
u64 kapf_exempt_finish(struct kapf_level *level, struct kapf_slot *slot,
		       bool linger, u64 now)
{
	u64 latency = slot->request.additional_latency;

	kapf_exempt_finished(level, slot, now);
	if (!latency || !linger) {
		kapf_exempt_released(level, slot, now);
		return 0;
	}
	spin_lock(&level->lock);
	kapf_deadlines_add(&level->lingers, &slot->deadline, now + latency);
	atomic_set_release(&slot->state, KAPF_SLOT_LINGERING);
	spin_unlock(&level->lock);
	return latency;
}

/**
 * kapf_exempt_sum() - the tally of an exempt level or schema
 * @tally: per CPU
 * @sum: out
 *
 * A request may be dispatched on one CPU and released on another meanwhile.  What
 * happens last to it is summed first, so that no count of what is there at
 * present can come out below zero.
 */
void kapf_exempt_sum(const struct kapf_exempt_tally __percpu *tally,
		     struct kapf_exempt_tally *sum)
{
	const struct kapf_exempt_tally *t;
	int cpu;

	*sum = (struct kapf_exempt_tally) { };
	for_each_possible_cpu(cpu) {
		t = per_cpu_ptr(tally, cpu);
		sum->released += READ_ONCE(t->released);
		sum->seats_released += READ_ONCE(t->seats_released);
	}
	smp_rmb(); /* Pairs with the release of the slot's state. */
	for_each_possible_cpu(cpu) {
		t = per_cpu_ptr(tally, cpu);
		sum->finished += READ_ONCE(t->finished);
	}
	smp_rmb(); /* Likewise. */
	for_each_possible_cpu(cpu) {
		t = per_cpu_ptr(tally, cpu);
		sum->dispatched += READ_ONCE(t->dispatched);
		sum->seats_taken += READ_ONCE(t->seats_taken);
	}
}

/**
 * kapf_exempt_sample() - note the present demand of an exempt level, and its
 *	ratios
 * @level: exempt
 * @now: the time
 *
 * Return: seats.
 */
u64 kapf_exempt_sample(struct kapf_level *level, u64 now)
{
	struct kapf_exempt_tally sum;
	u64 seats;

	kapf_exempt_sum(level->exempt, &sum);
	seats = sum.seats_taken - sum.seats_released;
	spin_lock_bh(&level->lock);
	kapf_metrics_sample(level, &sum, now);
	spin_unlock_bh(&level->lock);
	return seats;
}
