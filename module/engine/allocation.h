/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * How the seats of a server are divided among its priority levels.
 */
#ifndef KAPF_ALLOCATION_H
#define KAPF_ALLOCATION_H

#include <linux/rbtree.h>
#include <linux/types.h>

#include "fixed.h"

/* No borrowingLimitPercent: a level may borrow as many seats as there are. */
#define KAPF_BORROWING_UNSET (~0u)

/**
 * struct kapf_limits - what a configuration grants a level, in seats
 * @nominal: NominalCL, below 2^31
 * @min: MinCL = NominalCL - LendableCL
 * @max: MaxCL = NominalCL + BorrowingCL
 */
struct kapf_limits {
	u32 nominal;
	u32 min;
	u64 max;
};

/**
 * struct kapf_bound - a number of seats at which a level's part stops to change
 * @node: in the order of @seats / @weight
 * @seats: so many
 * @weight: of the level, see allocation.c
 * @upper: its part grows no more; else: begins to grow
 */
struct kapf_bound {
	struct rb_node node;
	u64 seats;
	kapf_u128 weight;
	bool upper;
};

/**
 * struct kapf_allocation - a level's part in a division of seats
 * @limits: of the level
 * @smoothed: in: its smoothed demand, with KAPF_FIXED_BITS of fraction
 * @high_watermark: in: its greatest demand of the last period
 * @exempt: in: it takes what it wants
 * @current_limit: in and out: CurrentCL
 * @target: out: the demand that it was judged by, with KAPF_FIXED_BITS of
 *	fraction
 * @lower: scratch
 * @upper: scratch
 */
struct kapf_allocation {
	struct kapf_limits limits;
	u64 smoothed;
	u32 high_watermark;
	bool exempt;
	u32 current_limit;
	u64 target;
	struct kapf_bound lower;
	struct kapf_bound upper;
};

/**
 * kapf_nominal_limit() - NominalCL = ceil(ServerCL * NCS / sum of NCS)
 * @server_seats: ServerCL, below 2^31
 * @shares: NCS of the level, below 2^32
 * @sum: of the NCS of all levels, exempt ones included, below 2^63
 *
 * Rounding up may hand out a few seats more than the server has.
 *
 * Return: seats; 0 where no level has any share.
 */
static inline u32 kapf_nominal_limit(u64 server_seats, u64 shares, u64 sum)
{
	return sum ? (server_seats * shares + sum - 1) / sum : 0;
}

/**
 * kapf_initial_limit() - CurrentCL = NominalCL - LendableCL / 2 of a new level
 * @limits: of the level
 *
 * Return: seats: half of what is lendable, rounded down, is lent.
 */
static inline u32 kapf_initial_limit(const struct kapf_limits *limits)
{
	return limits->nominal - (limits->nominal - limits->min) / 2;
}

void kapf_limits_init(struct kapf_limits *limits, u32 server_seats, u32 nominal,
		      u32 lendable_percent, u32 borrowing_percent);
u64 kapf_allocate(struct kapf_allocation *levels, u32 nr_levels);

#endif /* KAPF_ALLOCATION_H */
