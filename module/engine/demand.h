/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
#ifndef KAPF_DEMAND_H
#define KAPF_DEMAND_H

#include <linux/types.h>

#include "fixed.h"
#include "usage.h"

/**
 * struct kapf_demand - how many seats a level wants: now and then, and what that
 *	was like in its last period
 * @peak: greatest demand of the present period
 * @begin: of the present period
 * @integral: of the demand at @begin
 * @square: of the square of the demand at @begin
 * @high_watermark: greatest demand of the last period, in seats
 * @average: demand of the last period, weighted by time; in seats, with
 *	KAPF_FIXED_BITS of fraction, as are the next two
 * @deviation: its standard deviation
 * @smoothed: the envelope, average + deviation, which rises at once and comes
 *	down slowly
 *
 * The owner serialises all calls.
 */
struct kapf_demand {
	u32 peak;
	u64 begin;
	kapf_u128 integral;
	kapf_u128 square;
	u32 high_watermark;
	u64 average;
	u64 deviation;
	u64 smoothed;
};

/**
 * kapf_demand_change() - the demand is another one, and may be a new peak
 * @demand: of the level
 * @seats: in use and waited for; 2^32 and more count as 2^32 - 1
 *
 * Inline, as it is part of each admission.
 */
static inline void kapf_demand_change(struct kapf_demand *demand, u64 seats)
{
	if (seats > demand->peak)
		demand->peak = seats > ~0u ? ~0u : seats;
}

void kapf_demand_init(struct kapf_demand *demand, u64 now);
void kapf_demand_end_period(struct kapf_demand *demand,
			    const struct kapf_usage *usage, u64 seats,
			    u64 now);

#endif /* KAPF_DEMAND_H */
