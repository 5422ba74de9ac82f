// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Lending and borrowing of seats between priority levels.
 *
 * Each level has a range of seats that it may be given and, after each period, a
 * target: what it wanted.  Exempt levels take theirs.  Of the rest each level
 * gets the same proportion of its target, FairProp, kept between the least that
 * it is entitled to and the most that it may have.
 *
 * FairProp is looked for where it is bounded from: as it grows from 0, a level's
 * part is constant, then grows in proportion to its target, then is constant
 * again.  Between two of these bounds, in their order, the sum of all parts is a
 * straight line, so that FairProp is a ratio of integers and nothing is rounded
 * before the seats are.
 */

#include <linux/kernel.h>
#include <linux/rbtree.h>
#include <linux/types.h>

#include "allocation.h"

#define KAPF_WEIGHT_SCALE 1000

/**
 * struct kapf_fair_prop - FairProp = @seats / @weight
 * @seats: for the levels that it decides about
 * @weight: of these levels together
 */
struct kapf_fair_prop {
	u64 seats;
	kapf_u128 weight;
};

static u64 kapf_percent(u64 seats, u32 percent)
{
	return (seats * percent + 50) / 100;
}

/**
 * kapf_limits_init() - the limits that follow from a level's configuration
 * @limits: out: of the level
 * @server_seats: ServerCL
 * @nominal: NominalCL, by kapf_nominal_limit()
 * @lendable_percent: lendablePercent, 0 to 100
 * @borrowing_percent: borrowingLimitPercent, below 2^31, or
 *	KAPF_BORROWING_UNSET (always so for an exempt level): BorrowingCL =
 *	ServerCL
 *
 * LendableCL and BorrowingCL are those percentages of NominalCL, to the
 * nearest, a half up.
 */
void kapf_limits_init(struct kapf_limits *limits, u32 server_seats, u32 nominal,
		      u32 lendable_percent, u32 borrowing_percent)
{
	limits->nominal = nominal;
	limits->min = nominal - kapf_percent(nominal, lendable_percent);
	limits->max = nominal;
	if (borrowing_percent == KAPF_BORROWING_UNSET)
		limits->max += server_seats;
	else
		limits->max += kapf_percent(nominal, borrowing_percent);
}

/*
 * MinCurrentCL: what a level should get at least: as many seats as its demand
 * reached, but of a limited level no more than NominalCL.  An exempt level gets
 * just these.
 */
static u32 kapf_least_limit(const struct kapf_allocation *level)
{
	u32 least = level->high_watermark;

	if (!level->exempt)
		least = min(least, level->limits.nominal);
	return max(least, level->limits.min);
}

/*
 * There are not enough seats for MinCurrentCL of all: each level gets its MinCL,
 * and of the spare seats, if any, the same part of what it is still short of.
 */
static void kapf_allocate_least(struct kapf_allocation *levels, u32 nr_levels,
				s64 spare, u64 wanted)
{
	u32 i;

	for (i = 0; i < nr_levels; i++) {
		struct kapf_allocation *level = &levels[i];
		u64 more = kapf_least_limit(level) - level->limits.min;

		if (level->exempt)
			continue;
		level->current_limit = level->limits.min;
		if (spare > 0)
			level->current_limit +=
				(2 * more * spare + wanted) / (2 * wanted);
	}
}

/*
 * A target in thousandths of its unit; a target below 0.001 counts as 0.001,
 * which is an integer there.
 */
static kapf_u128 kapf_weight(u64 target)
{
	return max((kapf_u128)target * KAPF_WEIGHT_SCALE,
		   (kapf_u128)1 << KAPF_FIXED_BITS);
}

static bool kapf_bound_before(struct rb_node *a, const struct rb_node *b)
{
	const struct kapf_bound *x = rb_entry(a, struct kapf_bound, node);
	const struct kapf_bound *y = rb_entry(b, struct kapf_bound, node);

	return x->seats * y->weight < y->seats * x->weight;
}

/* The lower one first, as equal ones are visited in the order they came in. */
static void kapf_add_bounds(struct rb_root *bounds,
			    struct kapf_allocation *level)
{
	kapf_u128 weight = kapf_weight(level->target);

	level->lower.seats = kapf_least_limit(level);
	level->lower.weight = weight;
	level->lower.upper = false;
	rb_add(&level->lower.node, bounds, kapf_bound_before);
	level->upper.seats = level->limits.max;
	level->upper.weight = weight;
	level->upper.upper = true;
	rb_add(&level->upper.node, bounds, kapf_bound_before);
}

/*
 * The FairProp at which all seats are given away; false: there are more seats
 * than the levels may have.  prop->seats starts as what is left when all levels
 * get their least, and stays above 0: the seats that those levels use up whose
 * part is constant are less than all, as they were at the bound before.
 */
static bool kapf_find_fair_prop(const struct rb_root *bounds,
				struct kapf_fair_prop *prop)
{
	struct rb_node *node;

	for (node = rb_first(bounds); node; node = rb_next(node)) {
		const struct kapf_bound *bound =
			rb_entry(node, struct kapf_bound, node);

		if (bound->seats * prop->weight >= prop->seats * bound->weight)
			return true;
		if (bound->upper) {
			prop->seats -= bound->seats;
			prop->weight -= bound->weight;
		} else {
			prop->seats += bound->seats;
			prop->weight += bound->weight;
		}
	}
	return false;
}

/* CurrentCL = FairProp * target, to the nearest, a half up, within bounds. */
static u32 kapf_fair_limit(const struct kapf_allocation *level,
			   const struct kapf_fair_prop *prop)
{
	kapf_u128 part = 2 * prop->seats * level->lower.weight;
	u64 limit = kapf_div(part + prop->weight, 2 * prop->weight, NULL);

	return clamp(limit, level->lower.seats, level->upper.seats);
}

static u64 kapf_allocate_fairly(struct kapf_allocation *levels, u32 nr_levels,
				u64 spare)
{
	struct kapf_fair_prop prop = { .seats = spare };
	struct rb_root bounds = RB_ROOT;
	u32 i;

	for (i = 0; i < nr_levels; i++)
		if (!levels[i].exempt)
			kapf_add_bounds(&bounds, &levels[i]);
	if (!kapf_find_fair_prop(&bounds, &prop))
		return 0;
	for (i = 0; i < nr_levels; i++)
		if (!levels[i].exempt)
			levels[i].current_limit =
				kapf_fair_limit(&levels[i], &prop);
	return kapf_div(kapf_weight(prop.seats << KAPF_FIXED_BITS) <<
			KAPF_FIXED_BITS, prop.weight, NULL);
}

/**
 * kapf_allocate() - divide the seats of a server among its levels
 * @levels: all of them; the sum of their NominalCL is below 2^22
 * @nr_levels: how many, at most 256
 *
 * There is the sum of all NominalCL to divide, the exempt levels' included, of
 * which exempt levels take max(MinCL, high watermark) first.  Takes
 * O(nr_levels * log(nr_levels)) steps.  The formulas are those of KEP-1040,
 * "Dispatching"; unlike in kube-apiserver, what exempt levels take is not
 * divided a second time.
 *
 * Return: FairProp, with KAPF_FIXED_BITS of fraction; 0 when there are no seats
 * beyond what the levels should get at least, and when there are more than they
 * may have: then the CurrentCL of limited levels stay as they are.
 */
u64 kapf_allocate(struct kapf_allocation *levels, u32 nr_levels)
{
	s64 remaining = 0, min_sum = 0, least_sum = 0;
	u32 i;

	for (i = 0; i < nr_levels; i++) {
		struct kapf_allocation *level = &levels[i];
		u32 least = kapf_least_limit(level);

		level->target = max((u64)least << KAPF_FIXED_BITS,
				    level->smoothed);
		remaining += level->limits.nominal;
		if (level->exempt) {
			level->current_limit = least;
			remaining -= least;
		} else {
			min_sum += level->limits.min;
			least_sum += least;
		}
	}
	if (remaining > least_sum)
		return kapf_allocate_fairly(levels, nr_levels,
					    remaining - least_sum);
	kapf_allocate_least(levels, nr_levels, remaining - min_sum,
			    least_sum - min_sum);
	return 0;
}
