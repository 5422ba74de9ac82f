/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Histograms: how often something was how large, and how long.
 *
 * Their bounds are those of kube-apiserver's metrics, so that dashboards made for
 * it fit.  A bound belongs to the bucket below it, as `le` of Prometheus has it.
 */
#ifndef KAPF_HISTOGRAM_H
#define KAPF_HISTOGRAM_H

#include <linux/types.h>
#include <linux/kapf.h>

#include "engine/fixed.h"

/* Those that a schema counts, and those of them that an exempt one does. */
#define KAPF_COUNTED_KINDS (KAPF_HISTOGRAM_WAIT + 1)
#define KAPF_EXEMPT_KINDS (KAPF_HISTOGRAM_WATCH_COUNT + 1)
#define KAPF_COUNTED_BUCKETS 14

/* The ratios of a level; the first of them, and how many. */
#define KAPF_LEVEL_KIND KAPF_HISTOGRAM_SEATS
#define KAPF_LEVEL_KINDS (KAPF_HISTOGRAM_DEMAND - KAPF_LEVEL_KIND + 1)

/* Those of an instance. */
#define KAPF_INSTANCE_KIND KAPF_HISTOGRAM_WAITING_READ_ONLY
#define KAPF_INSTANCE_KINDS \
	(KAPF_HISTOGRAM_EXECUTING_MUTATING - KAPF_INSTANCE_KIND + 1)

#define KAPF_HISTOGRAM_KINDS (KAPF_INSTANCE_KIND + KAPF_INSTANCE_KINDS)

/* Of the last bucket of each kind. */
#define KAPF_NO_BOUND (~0ULL)

extern const u64 kapf_histogram_bounds[KAPF_HISTOGRAM_KINDS]
				      [KAPF_HISTOGRAM_BUCKETS];

/**
 * struct kapf_histogram - how often something was how large
 * @sum: of all values
 * @counts: values that were in each bucket
 *
 * The owner serialises all calls.
 */
struct kapf_histogram {
	u64 sum;
	u64 counts[KAPF_COUNTED_BUCKETS];
};

/**
 * kapf_histogram_bucket() - where a value belongs
 * @kind: of the histogram
 * @value: in the unit of the kind
 *
 * From the least bound on, since most values are small.
 *
 * Return: the number of the bucket, from 0.
 */
static inline u32 kapf_histogram_bucket(enum kapf_histogram_kind kind,
					u64 value)
{
	const u64 *bounds = kapf_histogram_bounds[kind];
	u32 bucket = 0;

	while (unlikely(value > bounds[bucket]))
		bucket++;
	return bucket;
}

/**
 * kapf_histogram_observe() - something was so large
 * @histograms: by kind
 * @kind: which of them
 * @value: in the unit of the kind
 */
static inline void kapf_histogram_observe(struct kapf_histogram *histograms,
					  enum kapf_histogram_kind kind,
					  u64 value)
{
	struct kapf_histogram *histogram = &histograms[kind];

	histogram->counts[kapf_histogram_bucket(kind, value)]++;
	histogram->sum += value;
}

/**
 * struct kapf_integral - a number and its integral over time
 * @area: the integral, in ns
 * @value: the number at present
 */
struct kapf_integral {
	kapf_u128 area;
	u64 value;
};

/**
 * kapf_integral_pass() - the number was what it is for a while
 * @integral: of it
 * @elapsed: for how long, in ns
 */
static inline void kapf_integral_pass(struct kapf_integral *integral,
				      u64 elapsed)
{
	integral->area += (kapf_u128)integral->value * elapsed;
}

/**
 * struct kapf_timing - for how long a ratio was how large
 * @first: least numerator in the present bucket
 * @last: largest one
 * @entered: when the present bucket was entered, in ns of any clock; its weight
 *	lacks what has passed since then
 * @bucket: the present one
 * @kind: enum kapf_histogram_kind
 * @denominator: never 0
 * @base: integral of the numerator when the denominator was set, in ns
 * @sum: integral of the ratio before that, in ns
 * @weights: how long the ratio was in each bucket, in ns
 * @lasts: largest numerator of each bucket
 *
 * The numerator and its integral are the owner's, who serialises all calls, and
 * passes times that never run backwards.  As long as the ratio stays in its
 * bucket the first two members are all that is touched.
 */
struct kapf_timing {
	u64 first;
	u64 last;
	u64 entered;
	u32 bucket;
	u32 kind;
	u64 denominator;
	kapf_u128 base;
	u64 sum;
	u64 weights[KAPF_HISTOGRAM_BUCKETS];
	u64 lasts[KAPF_HISTOGRAM_BUCKETS];
} __aligned(64);

void kapf_timing_init(struct kapf_timing *timing,
		      enum kapf_histogram_kind kind, u64 now);
void kapf_timing_rebase(struct kapf_timing *timing, u64 denominator,
			const struct kapf_integral *numerator, u64 now);
void kapf_timing_move(struct kapf_timing *timing, u64 value, u64 now);
void kapf_timing_read(struct kapf_timing *timing, kapf_u128 area, u64 now,
		      struct kapf_histogram_info *info);

/* Would the ratio stay in its bucket with this numerator? */
static inline bool kapf_timing_stays(const struct kapf_timing *timing,
				     u64 value)
{
	return value >= timing->first && value <= timing->last;
}

/**
 * kapf_timing_set() - the ratio changes
 * @timing: the histogram
 * @value: the new numerator
 * @now: the time
 */
static inline void kapf_timing_set(struct kapf_timing *timing, u64 value,
				   u64 now)
{
	if (!kapf_timing_stays(timing, value))
		kapf_timing_move(timing, value, now);
}

#endif /* KAPF_HISTOGRAM_H */
