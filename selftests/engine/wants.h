/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A priority level of which only the demand matters: all of it is in use.
 */
#ifndef ENGINE_WANTS_H
#define ENGINE_WANTS_H

#include <linux/types.h>

#include "demand.h"
#include "queueset_now.h"

struct wants {
	struct kapf_queueset qs;
	struct kapf_demand demand;
};

static inline void wants_begin(struct wants *wants, u64 now)
{
	*wants = (struct wants) { .qs.now = now };
	kapf_demand_init(&wants->demand, now);
}

static inline void wants_seats(struct wants *wants, u64 seats, u64 now)
{
	kapf_queueset_advance(&wants->qs, now);
	wants->qs.seats_in_use = seats;
	kapf_demand_change(&wants->demand, seats);
}

static inline void wants_end_period(struct wants *wants, u64 now)
{
	kapf_queueset_advance(&wants->qs, now);
	kapf_demand_end_period(&wants->demand, &wants->qs.usage,
			       kapf_queueset_demand(&wants->qs),
			       wants->qs.now);
}

#endif /* ENGINE_WANTS_H */
