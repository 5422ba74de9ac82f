/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Seat-seconds: the unit in which fair queuing measures work.
 *
 * A u64 counts units of 1e-8 seat-seconds.  Points in virtual time may wrap and
 * are compared by signed difference, which is right as long as the points that
 * coexist lie within 2^63 units (2924 seat-years) of each other.
 */
#ifndef KAPF_SEATSEC_H
#define KAPF_SEATSEC_H

#include <linux/types.h>

/* One seat held for this many nanoseconds is one unit. */
#define KAPF_SEATSEC_NS 10

/* Is point a of virtual time before point b? */
static inline bool kapf_seatsec_before(u64 a, u64 b)
{
	return (s64)(a - b) < 0;
}

/*
 * seats * ns / divisor in units, to the nearest, a half up.  The product would
 * overflow after 106 days of 1000 seats, hence the division before it.
 */
static inline u64 kapf_seatsec_ratio(u64 seats, u64 ns, u64 divisor)
{
	u64 unit = divisor * KAPF_SEATSEC_NS;

	return seats * (ns / unit) + (seats * (ns % unit) + unit / 2) / unit;
}

/* The same for less than 2^31 seats and ns, with one division. */
static inline u64 kapf_seatsec_brief(u64 seats, u64 ns, u64 divisor)
{
	u64 unit = divisor * KAPF_SEATSEC_NS;

	return (seats * ns + unit / 2) / unit;
}

/* The work of seats held for ns. */
static inline u64 kapf_seatsec(u64 seats, u64 ns)
{
	return kapf_seatsec_ratio(seats, ns, 1);
}

/* For how long, in whole ns, seats can be held with this much work. */
static inline u64 kapf_seatsec_duration(u64 work, u64 seats)
{
	return work * KAPF_SEATSEC_NS / seats;
}

#endif /* KAPF_SEATSEC_H */
