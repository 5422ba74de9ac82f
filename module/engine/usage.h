/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
#ifndef KAPF_USAGE_H
#define KAPF_USAGE_H

#include <linux/types.h>

#include "fixed.h"

/**
 * struct kapf_area - the integral of something over time, in ns
 * @low: bits 0 to 63
 * @high: the others
 *
 * A kapf_u128 would have the compiler align the stack for what may be spilled of
 * it, in each function that takes part.
 */
struct kapf_area {
	u64 low;
	u64 high;
};

static inline kapf_u128 kapf_area_ns(const struct kapf_area *area)
{
	return (kapf_u128)area->high << 64 | area->low;
}

/* It was @value for a while, which is a product of less than 2^64. */
static __always_inline void kapf_area_pass_brief(struct kapf_area *area,
						 u64 value, u64 elapsed)
{
	u64 low = value * elapsed;

	area->low += low;
	area->high += area->low < low;
}

/* It was @value for a while. */
static __always_inline void kapf_area_pass(struct kapf_area *area, u64 value,
					   u64 elapsed)
{
	u64 high = (kapf_u128)value * elapsed >> 64;

	kapf_area_pass_brief(area, value, elapsed);
	area->high += high;
}

/**
 * struct kapf_usage - what a queue set has had until now
 * @demand: seats in use and those waited for
 * @square: square of that sum
 * @executing: requests that execute
 * @waiting: requests that wait
 * @waiting_seats: seats that they wait for
 */
struct kapf_usage {
	struct kapf_area demand;
	struct kapf_area square;
	struct kapf_area executing;
	struct kapf_area waiting;
	struct kapf_area waiting_seats;
};

#endif /* KAPF_USAGE_H */
