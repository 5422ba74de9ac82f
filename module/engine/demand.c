// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The seat demand of a priority level.
 *
 * Demand is what a level's requests hold and wait for.  From its integral and that
 * of its square, which the queue set keeps, it is worked out at the end of a
 * period what that was like, and how many seats the level should be able to have:
 * as many as its demand reaches often, given up slowly once it is less.
 */

#include <linux/types.h>

#include "demand.h"

/* What is left of an excess over the envelope after a period: 0.977. */
#define KAPF_SMOOTHING_PARTS 1000
#define KAPF_SMOOTHING_LOST 23

/**
 * kapf_demand_init() - a level without demand
 * @demand: of the level
 * @now: start of its first period, in ns of any clock
 */
void kapf_demand_init(struct kapf_demand *demand, u64 now)
{
	*demand = (struct kapf_demand) { .begin = now };
}

/*
 * Average and deviation of the period.  With q the whole seats of the average
 * and f their fraction, the variance is that of the demand less q, which is
 * avg((x - q)^2) - f^2.  So no large numbers cancel out, and a constant demand
 * deviates by exactly 0.  The mean square has twice KAPF_FIXED_BITS of fraction,
 * as its root has to have KAPF_FIXED_BITS.
 */
static void kapf_demand_measure(struct kapf_demand *demand,
				const struct kapf_usage *usage, u64 elapsed)
{
	kapf_u128 integral = kapf_area_ns(&usage->demand) - demand->integral;
	kapf_u128 rest, squares, variance;
	u64 whole, fraction;

	whole = kapf_div(integral, elapsed, &rest);
	squares = kapf_area_ns(&usage->square) - demand->square -
		  whole * (integral + rest);
	fraction = kapf_div(rest << 64, elapsed, NULL);

	variance = kapf_div(squares, elapsed, &rest) << 64;
	variance += kapf_div(rest << 64, elapsed, NULL);
	variance -= (kapf_u128)fraction * fraction >> 64;

	demand->average = (whole << KAPF_FIXED_BITS) +
			  (fraction >> (64 - KAPF_FIXED_BITS));
	demand->deviation = kapf_sqrt(variance);
}

/* smoothed := max(envelope, 0.977 * smoothed + 0.023 * envelope) */
static void kapf_demand_smooth(struct kapf_demand *demand)
{
	u64 envelope = demand->average + demand->deviation;
	u64 excess;

	if (envelope < demand->average)
		envelope = ~0ULL;
	if (demand->smoothed <= envelope) {
		demand->smoothed = envelope;
		return;
	}
	excess = demand->smoothed - envelope;
	demand->smoothed -=
		excess / KAPF_SMOOTHING_PARTS * KAPF_SMOOTHING_LOST +
		(excess % KAPF_SMOOTHING_PARTS * KAPF_SMOOTHING_LOST +
		 KAPF_SMOOTHING_PARTS / 2) / KAPF_SMOOTHING_PARTS;
}

/**
 * kapf_demand_end_period() - one period ends and the next begins
 * @demand: of the level; high_watermark, average, deviation and smoothed are
 *	those of the period that ends
 * @usage: of its queue set, at @now
 * @seats: demand at present
 * @now: in ns, not before the period's begin
 *
 * A period of no length has a high watermark only.  The formulas are those of
 * KEP-1040, "Dispatching", and of kube-apiserver.
 */
void kapf_demand_end_period(struct kapf_demand *demand,
			    const struct kapf_usage *usage, u64 seats, u64 now)
{
	demand->high_watermark = demand->peak;
	demand->peak = 0;
	kapf_demand_change(demand, seats);
	if (now == demand->begin)
		return;
	kapf_demand_measure(demand, usage, now - demand->begin);
	kapf_demand_smooth(demand);
	demand->begin = now;
	demand->integral = kapf_area_ns(&usage->demand);
	demand->square = kapf_area_ns(&usage->square);
}
