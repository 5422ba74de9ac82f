/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
#ifndef KAPF_DEMAND_H
#define KAPF_DEMAND_H

#include <linux/types.h>

#include "fixed.h"

/**
 * struct kapf_demand - how many seats a level wants: now, and in its last period
 * @now: time of the last change
 * @begin: of the present period
 * @integral: of the demand from then to @now, in seats * ns
 * @square_integral: of its square, in seats^2 * ns
 * @seats: demand at present
 * @peak: greatest demand of the present period
 * @high_watermark: greatest demand of the last period, in seats
 * @average: demand of the last period, weighted by time; in seats, with
 *	KAPF_FIXED_BITS of fraction, as are the next two
 * @deviation: its standard deviation
 * @smoothed: the envelope, average + deviation, which rises at once and comes
 *	down slowly
 *
 * The owner serialises all calls.  A time before the last counts as the last.
 */
struct kapf_demand {
	u64 now;
	u64 begin;
	kapf_u128 integral;
	kapf_u128 square_integral;
	u32 seats;
	u32 peak;
	u32 high_watermark;
	u64 average;
	u64 deviation;
	u64 smoothed;
};

/* Bring the integrals up to date. */
static inline void kapf_demand_advance(struct kapf_demand *demand, u64 now)
{
	u64 elapsed = now - demand->now;
	u64 seats = demand->seats;

	if ((s64)elapsed <= 0)
		return;
	demand->now = now;
	demand->integral += (kapf_u128)seats * elapsed;
	demand->square_integral += (kapf_u128)(seats * seats) * elapsed;
}

/**
 * kapf_demand_set() - the demand changes
 * @demand: of the level
 * @seats: in use and waited for; 2^32 and more count as 2^32 - 1
 * @now: in ns
 *
 * Inline, as it is part of each admission and each finish.
 */
static inline void kapf_demand_set(struct kapf_demand *demand, u64 seats,
				   u64 now)
{
	kapf_demand_advance(demand, now);
	demand->seats = seats > ~0u ? ~0u : seats;
	if (demand->seats > demand->peak)
		demand->peak = demand->seats;
}

void kapf_demand_init(struct kapf_demand *demand, u64 now);
void kapf_demand_end_period(struct kapf_demand *demand, u64 now);

#endif /* KAPF_DEMAND_H */
