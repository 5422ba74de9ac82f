// SPDX-License-Identifier: GPL-2.0
/*
 * Histograms of ratios that are weighted by time, and the bounds of all.
 *
 * A ratio is kept as its numerator.  For each denominator the largest numerator
 * of each bucket is worked out once, so that a change of the ratio needs no
 * division.  The weight of a bucket is written when the ratio leaves it.
 */

#include <linux/stddef.h>
#include <linux/string.h>

#include "histogram.h"

/* Bounds of ratios are in thousandths. */
#define KAPF_RATIO_ONE 1000

#define MS(n) ((n) * 1000000ULL)
#define DURATIONS							\
	{ 0, MS(5), MS(20), MS(50), MS(100), MS(200), MS(500), MS(1000),	\
	  MS(2000), MS(5000), MS(10000), MS(15000), MS(30000), KAPF_NO_BOUND }
#define REQUEST_RATIOS							\
	{ 0, 1, 3, 10, 30, 100, 250, 500, 750, 1000, KAPF_NO_BOUND }
#define KIND_RATIOS							\
	{ 0, 1, 10, 100, 200, 300, 400, 500, 600, 700, 800, 900, 950, 990,	\
	  1000, KAPF_NO_BOUND }

const u64 kapf_histogram_bounds[KAPF_HISTOGRAM_KINDS]
			       [KAPF_HISTOGRAM_BUCKETS] = {
	[KAPF_HISTOGRAM_EXECUTION] = DURATIONS,
	[KAPF_HISTOGRAM_WATCH_EXECUTION] = DURATIONS,
	[KAPF_HISTOGRAM_ESTIMATED_SEATS] = {
		1, 2, 4, 8, 16, 32, 64, 100, KAPF_NO_BOUND
	},
	[KAPF_HISTOGRAM_WATCH_COUNT] = {
		0, 1, 10, 100, 1000, 10000, KAPF_NO_BOUND
	},
	[KAPF_HISTOGRAM_QUEUE_LENGTH] = {
		0, 10, 25, 50, 100, 250, 500, 1000, KAPF_NO_BOUND
	},
	[KAPF_HISTOGRAM_WAIT] = DURATIONS,
	[KAPF_HISTOGRAM_REFUSED_WAIT] = DURATIONS,
	[KAPF_HISTOGRAM_SEATS] = {
		0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 950, 990, 1000,
		KAPF_NO_BOUND
	},
	[KAPF_HISTOGRAM_WAITING] = REQUEST_RATIOS,
	[KAPF_HISTOGRAM_EXECUTING] = REQUEST_RATIOS,
	[KAPF_HISTOGRAM_DEMAND] = {
		200, 400, 600, 800, 1000, 1200, 1400, 1700, 2000, 2800, 4000,
		6000, KAPF_NO_BOUND
	},
	[KAPF_HISTOGRAM_WAITING_READ_ONLY] = KIND_RATIOS,
	[KAPF_HISTOGRAM_WAITING_MUTATING] = KIND_RATIOS,
	[KAPF_HISTOGRAM_EXECUTING_READ_ONLY] = KIND_RATIOS,
	[KAPF_HISTOGRAM_EXECUTING_MUTATING] = KIND_RATIOS,
};

/**
 * kapf_timing_init() - a ratio that is 0
 * @timing: the histogram
 * @kind: of it
 * @now: when it begins, in ns
 */
void kapf_timing_init(struct kapf_timing *timing, enum kapf_histogram_kind kind,
		      u64 now)
{
	static const struct kapf_integral nothing;

	*timing = (struct kapf_timing) { .entered = now, .kind = kind };
	kapf_timing_rebase(timing, 1, &nothing, now);
}

/* Bring the weight of the present bucket up to date. */
static void kapf_timing_weigh(struct kapf_timing *timing, u64 now)
{
	timing->weights[timing->bucket] += now - timing->entered;
	timing->entered = now;
}

/**
 * kapf_timing_move() - to the bucket that the numerator belongs to
 * @timing: the histogram
 * @value: the numerator
 * @now: the time
 */
void kapf_timing_move(struct kapf_timing *timing, u64 value, u64 now)
{
	u32 bucket = timing->bucket;

	kapf_timing_weigh(timing, now);
	while (value > timing->lasts[bucket])
		bucket++;
	while (bucket && value <= timing->lasts[bucket - 1])
		bucket--;
	timing->bucket = bucket;
	timing->first = bucket ? timing->lasts[bucket - 1] + 1 : 0;
	timing->last = timing->lasts[bucket];
}

/* Integral of the ratio since the denominator was set. */
static u64 kapf_timing_part(const struct kapf_timing *timing, kapf_u128 area)
{
	return kapf_div(area - timing->base, timing->denominator, NULL);
}

/**
 * kapf_timing_rebase() - the denominator changes, and with it the ratio
 * @timing: the histogram
 * @denominator: the new one, from 1
 * @numerator: at present
 * @now: the time
 */
void kapf_timing_rebase(struct kapf_timing *timing, u64 denominator,
			const struct kapf_integral *numerator, u64 now)
{
	const u64 *bounds = kapf_histogram_bounds[timing->kind];
	u64 whole = denominator / KAPF_RATIO_ONE;
	u64 rest = denominator % KAPF_RATIO_ONE;
	u32 i;

	if (denominator == timing->denominator)
		return;
	if (timing->denominator)
		timing->sum += kapf_timing_part(timing, numerator->area);
	timing->base = numerator->area;
	timing->denominator = denominator;
	for (i = 0; bounds[i] != KAPF_NO_BOUND; i++)
		timing->lasts[i] = whole * bounds[i] +
				   rest * bounds[i] / KAPF_RATIO_ONE;
	timing->lasts[i] = ~0ULL;
	kapf_timing_move(timing, numerator->value, now);
}

/**
 * kapf_timing_read() - what the ratio was like until now
 * @timing: the histogram
 * @area: integral of the numerator
 * @now: the time
 * @info: out: sum and counts
 */
void kapf_timing_read(struct kapf_timing *timing, kapf_u128 area, u64 now,
		      struct kapf_histogram_info *info)
{
	kapf_timing_weigh(timing, now);
	info->sum = timing->sum + kapf_timing_part(timing, area);
	memcpy(info->counts, timing->weights, sizeof(timing->weights));
}
