// SPDX-License-Identifier: GPL-2.0
/*
 * How many requests of an instance read, and how many mutate.
 *
 * All levels count them, on each CPU for itself; a lock for all of them would be
 * one that every request waits for.  Ratios are looked at from time to time.
 */

#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "kinds.h"

static u32 kapf_kind_index(enum kapf_histogram_kind kind)
{
	return kind - KAPF_INSTANCE_KIND;
}

static bool kapf_kinds_look(struct kapf_sampler *sampler, u64 now)
{
	return kapf_kinds_sample(container_of(sampler, struct kapf_kinds,
					      sampler), now);
}

/**
 * kapf_kinds_create() - an instance without requests
 * @now: the time
 *
 * Return: NULL when memory is short.
 */
struct kapf_kinds *kapf_kinds_create(u64 now)
{
	struct kapf_kinds *kinds = kzalloc(sizeof(*kinds), GFP_KERNEL);
	u32 i;

	if (!kinds)
		return NULL;
	kinds->tally = alloc_percpu_gfp(struct kapf_kind_tally,
					GFP_KERNEL | __GFP_NOWARN);
	if (!kinds->tally) {
		kfree(kinds);
		return NULL;
	}
	spin_lock_init(&kinds->lock);
	kinds->since = now;
	kapf_sampler_init(&kinds->sampler, kapf_kinds_look);
	for (i = 0; i < KAPF_INSTANCE_KINDS; i++)
		kapf_timing_init(&kinds->ratios[i], KAPF_INSTANCE_KIND + i,
				 now);
	return kinds;
}

/**
 * kapf_kinds_destroy() - free them
 * @kinds: of an instance that nobody uses any more
 */
void kapf_kinds_destroy(struct kapf_kinds *kinds)
{
	kapf_sampler_destroy(&kinds->sampler);
	free_percpu(kinds->tally);
	kfree(kinds);
}

/* Bring the integrals up to date.  Called with the lock held. */
static void kapf_kinds_pass(struct kapf_kinds *kinds, u64 now)
{
	u64 elapsed = now - kinds->since;
	u32 i;

	if ((s64)elapsed <= 0)
		return;
	kinds->since = now;
	for (i = 0; i < KAPF_INSTANCE_KINDS; i++)
		kapf_integral_pass(&kinds->sums[i], elapsed);
}

/**
 * kapf_kinds_limit() - ratios are to other limits from now on
 * @kinds: of an instance
 * @waiting: room for waiting requests in all levels; 0 counts as 1
 * @executing: seats that all levels have; likewise
 * @now: the time
 */
void kapf_kinds_limit(struct kapf_kinds *kinds, u64 waiting, u64 executing,
		      u64 now)
{
	const u32 first_executing =
		kapf_kind_index(KAPF_HISTOGRAM_EXECUTING_READ_ONLY);
	u32 i;

	waiting = max(waiting, 1ULL);
	executing = max(executing, 1ULL);
	spin_lock_bh(&kinds->lock);
	kapf_kinds_pass(kinds, now);
	for (i = 0; i < KAPF_INSTANCE_KINDS; i++)
		kapf_timing_rebase(&kinds->ratios[i],
				   i < first_executing ? waiting : executing,
				   &kinds->sums[i], kinds->since);
	spin_unlock_bh(&kinds->lock);
}

/* They come and go meanwhile, so that a sum may be below zero for a moment. */
static void kapf_kinds_sum(const struct kapf_kinds *kinds, long *sums)
{
	const u32 waiting = kapf_kind_index(KAPF_HISTOGRAM_WAITING_READ_ONLY);
	const u32 executing =
		kapf_kind_index(KAPF_HISTOGRAM_EXECUTING_READ_ONLY);
	const struct kapf_kind_tally *tally;
	int cpu;
	u32 i;

	memset(sums, 0, KAPF_INSTANCE_KINDS * sizeof(*sums));
	for_each_possible_cpu(cpu) {
		tally = per_cpu_ptr(kinds->tally, cpu);
		for (i = 0; i < 2; i++) {
			sums[waiting + i] += READ_ONCE(tally->waiting[i]);
			sums[executing + i] += READ_ONCE(tally->executing[i]);
		}
	}
	for (i = 0; i < KAPF_INSTANCE_KINDS; i++)
		sums[i] = max(sums[i], 0L);
}

/**
 * kapf_kinds_count() - how many there are at present
 * @kinds: of an instance
 * @get: out: the numbers by kind
 */
void kapf_kinds_count(const struct kapf_kinds *kinds,
		      struct kapf_get_stats *get)
{
	long sums[KAPF_INSTANCE_KINDS];

	kapf_kinds_sum(kinds, sums);
	get->waiting_read_only_requests =
		sums[kapf_kind_index(KAPF_HISTOGRAM_WAITING_READ_ONLY)];
	get->waiting_mutating_requests =
		sums[kapf_kind_index(KAPF_HISTOGRAM_WAITING_MUTATING)];
	get->executing_read_only_requests =
		sums[kapf_kind_index(KAPF_HISTOGRAM_EXECUTING_READ_ONLY)];
	get->executing_mutating_requests =
		sums[kapf_kind_index(KAPF_HISTOGRAM_EXECUTING_MUTATING)];
}

/**
 * kapf_kinds_sample() - note the present ratios
 * @kinds: of an instance
 * @now: the time
 *
 * Return: whether there are any requests.
 */
bool kapf_kinds_sample(struct kapf_kinds *kinds, u64 now)
{
	long sums[KAPF_INSTANCE_KINDS];
	bool any = false;
	u32 i;

	kapf_kinds_sum(kinds, sums);
	spin_lock_bh(&kinds->lock);
	kapf_kinds_pass(kinds, now);
	for (i = 0; i < KAPF_INSTANCE_KINDS; i++) {
		kinds->sums[i].value = sums[i];
		kapf_timing_set(&kinds->ratios[i], sums[i], kinds->since);
		any |= sums[i];
	}
	spin_unlock_bh(&kinds->lock);
	return any;
}

/**
 * kapf_kinds_read() - what a ratio was like until now
 * @kinds: of an instance
 * @now: the time
 * @info: in: its kind; out: sum and counts
 */
void kapf_kinds_read(struct kapf_kinds *kinds, u64 now,
		     struct kapf_histogram_info *info)
{
	u32 kind = kapf_kind_index(info->kind);

	spin_lock_bh(&kinds->lock);
	kapf_kinds_pass(kinds, now);
	kapf_timing_read(&kinds->ratios[kind], kinds->sums[kind].area,
			 kinds->since, info);
	spin_unlock_bh(&kinds->lock);
}
