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

	while (value > bounds[bucket])
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
 * struct kapf_timing - for how long a ratio was how large
 * @value: numerator at present
 * @first: least numerator in the present bucket
 * @last: largest one
 * @since: when @area was brought up to date, in ns of any clock
 * @entered: when the present bucket was entered; its weight lacks what has passed
 *	since then
 * @area: integral of the numerator since the denominator was set, in ns
 * @bucket: the present one
 * @kind: enum kapf_histogram_kind
 * @denominator: never 0
 * @sum: integral of the ratio before the denominator was set, in ns
 * @weights: how long the ratio was in each bucket, in ns
 * @lasts: largest numerator of each bucket
 *
 * The first cache line is all that is touched as long as the ratio stays in its
 * bucket.  The owner serialises all calls.  A time before the last counts as the
 * last.
 */
struct kapf_timing {
	u64 value;
	u64 first;
	u64 last;
	u64 since;
	kapf_u128 area;
	u64 entered;
	u32 bucket;
	u32 kind;

	u64 denominator;
	u64 sum;
	u64 weights[KAPF_HISTOGRAM_BUCKETS];
	u64 lasts[KAPF_HISTOGRAM_BUCKETS];
} __aligned(64);

void kapf_timing_init(struct kapf_timing *timing,
		      enum kapf_histogram_kind kind, u64 now);
void kapf_timing_rebase(struct kapf_timing *timing, u64 denominator, u64 now);
void kapf_timing_move(struct kapf_timing *timing);
void kapf_timing_read(struct kapf_timing *timing, u64 now,
		      struct kapf_histogram_info *info);

/**
 * kapf_timing_set() - the ratio changes
 * @timing: the histogram
 * @value: the new numerator
 * @now: in ns
 */
static inline void kapf_timing_set(struct kapf_timing *timing, u64 value,
				   u64 now)
{
	u64 elapsed = now - timing->since;

	if (value == timing->value)
		return;
	if ((s64)elapsed > 0) {
		timing->area += (kapf_u128)timing->value * elapsed;
		timing->since = now;
	}
	timing->value = value;
	if (value < timing->first || value > timing->last)
		kapf_timing_move(timing);
}

#endif /* KAPF_HISTOGRAM_H */
