/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KAPF_KINDS_H
#define KAPF_KINDS_H

#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "histogram.h"
#include "sampler.h"

/**
 * struct kapf_kind_tally - what has come less what has gone on one CPU, so that
 *	only the sums over all of them mean something
 * @waiting: requests, first those that only read, then those that mutate
 * @executing: likewise
 */
struct kapf_kind_tally {
	long waiting[2];
	long executing[2];
};

/**
 * struct kapf_kinds - the requests of an instance by what they do
 * @tally: without a lock, wherever requests are
 * @sampler: of @tally
 * @lock: of what follows
 * @since: the last sample
 * @sums: of @tally then, by kind from KAPF_INSTANCE_KIND on
 * @ratios: likewise
 */
struct kapf_kinds {
	struct kapf_kind_tally __percpu *tally;
	struct kapf_sampler sampler;
	spinlock_t lock; /* of what follows */
	u64 since;
	struct kapf_integral sums[KAPF_INSTANCE_KINDS];
	struct kapf_timing ratios[KAPF_INSTANCE_KINDS];
};

struct kapf_kinds *kapf_kinds_create(u64 now);
void kapf_kinds_destroy(struct kapf_kinds *kinds);
void kapf_kinds_limit(struct kapf_kinds *kinds, u64 waiting, u64 executing,
		      u64 now);
void kapf_kinds_count(const struct kapf_kinds *kinds,
		      struct kapf_get_stats *get);
bool kapf_kinds_sample(struct kapf_kinds *kinds, u64 now);
void kapf_kinds_read(struct kapf_kinds *kinds, u64 now,
		     struct kapf_histogram_info *info);

/* One more waits that mutates (@kind 1) or not (0). */
static inline void kapf_kinds_wait(struct kapf_kinds *kinds, u32 kind)
{
	this_cpu_inc(kinds->tally->waiting[kind]);
	kapf_sampler_need(&kinds->sampler);
}

/* One fewer.  As long as there was one the sampler was active, as below. */
static inline void kapf_kinds_waited(struct kapf_kinds *kinds, u32 kind)
{
	this_cpu_dec(kinds->tally->waiting[kind]);
}

/* One more executes. */
static inline void kapf_kinds_execute(struct kapf_kinds *kinds, u32 kind)
{
	this_cpu_inc(kinds->tally->executing[kind]);
	kapf_sampler_need(&kinds->sampler);
}

/* One fewer. */
static inline void kapf_kinds_executed(struct kapf_kinds *kinds, u32 kind)
{
	this_cpu_dec(kinds->tally->executing[kind]);
}

#endif /* KAPF_KINDS_H */
