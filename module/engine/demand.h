/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
#ifndef KAPF_DEMAND_H
#define KAPF_DEMAND_H

#include <linux/types.h>

#include "fixed.h"

/**
 * struct kapf_demand - how many seats a level wants: now, and in its last period
 * @now: time of the last change
 * @seats: demand at present
 * @peak: greatest demand of the present period
 * @integral: of the demand from the first period to @now, in seats * ns
 * @square_integral: of the square of the demand from @begin to @now, in
 *	seats^2 * ns
 * @begin_integral: what it was at @begin
 * @begin: of the present period
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
	u32 seats;
	u32 peak;
	kapf_u128 integral;
	kapf_u128 square_integral;
	kapf_u128 begin_integral;
	u64 begin;
	u32 high_watermark;
	u64 average;
	u64 deviation;
	u64 smoothed;
};

/**
 * kapf_demand_advance() - bring the integrals up to date
 * @demand: of the level
 * @now: in ns
 *
 * Inline, as it is part of each admission and each finish, and so are the next.
 *
 * Return: how much time has passed, in ns.
 */
static inline u64 kapf_demand_advance(struct kapf_demand *demand, u64 now)
{
	u64 elapsed = now - demand->now;
	u64 seats = demand->seats;

	if ((s64)elapsed <= 0)
		return 0;
	demand->now = now;
	demand->integral += (kapf_u128)seats * elapsed;
	demand->square_integral += (kapf_u128)(seats * seats) * elapsed;
	return elapsed;
}

/**
 * kapf_demand_rise() - the demand changes, and may be a new peak
 * @demand: of the level; brought up to date
 * @seats: in use and waited for, less than 2^32
 */
static inline void kapf_demand_rise(struct kapf_demand *demand, u32 seats)
{
	demand->seats = seats;
	if (seats > demand->peak)
		demand->peak = seats;
}

/**
 * kapf_demand_put() - the demand changes
 * @demand: of the level; brought up to date
 * @seats: in use and waited for; 2^32 and more count as 2^32 - 1
 */
static inline void kapf_demand_put(struct kapf_demand *demand, u64 seats)
{
	kapf_demand_rise(demand, seats > ~0u ? ~0u : seats);
}

/**
 * kapf_demand_set() - the demand changes
 * @demand: of the level
 * @seats: in use and waited for; 2^32 and more count as 2^32 - 1
 * @now: in ns
 */
static inline void kapf_demand_set(struct kapf_demand *demand, u64 seats,
				   u64 now)
{
	kapf_demand_advance(demand, now);
	kapf_demand_put(demand, seats);
}

void kapf_demand_init(struct kapf_demand *demand, u64 now);
void kapf_demand_end_period(struct kapf_demand *demand, u64 now);

#endif /* KAPF_DEMAND_H */
