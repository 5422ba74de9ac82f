/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KAPFCTL_CAUSES_H
#define KAPFCTL_CAUSES_H

#include "kapfctl.h"

enum cause {
	CAUSE_ARRIVALS,
	CAUSE_SERVICE,
	CAUSE_LIMIT,
	CAUSE_LONG,
	NR_CAUSES,
};

/**
 * struct causes - why a level is slow
 * @level: the statistics of the later reading
 * @pace: what happened between the two
 * @service: how long a request executed that was served between them, in s, on
 *	average; 0: none was
 * @usual: the same of all that were served before
 * @width: seats of a request that is there, on average
 * @limit: CurrentCL now
 * @before: CurrentCL at the first reading
 * @full: the larger one of NominalCL and @before
 * @nr_long: requests that have held their seats since before the first reading
 * @long_seats: their seats
 * @oldest: since when the oldest of them does, ns
 * @factors: by which each cause makes the level slower; 1: not at all
 * @slow: requests waited or were refused
 * @cause: where @slow, the one that matters most
 */
struct causes {
	const struct kapf_level_stats *level;
	struct pace pace;
	double service;
	double usual;
	double width;
	uint32_t limit;
	uint32_t before;
	uint32_t full;
	unsigned int nr_long;
	uint64_t long_seats;
	uint64_t oldest;
	double factors[NR_CAUSES];
	bool slow;
	enum cause cause;
};

void find_causes(struct causes *causes, const struct reading *first,
		 const struct reading *second,
		 const struct kapf_level_stats *level);

#endif /* KAPFCTL_CAUSES_H */
