// SPDX-License-Identifier: GPL-2.0
/*
 * The ratios of a level: to what, and since when.
 */

#include <linux/minmax.h>

#include "metrics.h"

/**
 * kapf_metrics_init() - a level of which there is nothing to measure yet
 * @level: that nobody can reach yet
 * @now: the time
 */
void kapf_metrics_init(struct kapf_level *level, u64 now)
{
	u32 i;

	for (i = 0; i < KAPF_LEVEL_KINDS; i++)
		kapf_timing_init(&level->ratios[i], KAPF_LEVEL_KIND + i, now);
}

/**
 * kapf_metrics_limit() - ratios are to another limit from now on
 * @level: with its limit and its configuration; its lock is held
 * @server_seats: ServerCL
 * @now: the time
 *
 * A level without a seat is compared with a tenth of the server's, as in
 * kube-apiserver.
 */
void kapf_metrics_limit(struct kapf_level *level, u32 server_seats, u64 now)
{
	const struct kapf_config_level *config = level->config;
	u64 room = (u64)config->queues * config->queue_length_limit;
	u64 seats = level->qs.seats ?: (server_seats + 5) / 10;

	room = max(room, 1ULL);
	seats = max(seats, 1ULL);
	kapf_timing_rebase(kapf_level_ratio(level, KAPF_HISTOGRAM_SEATS),
			   seats, now);
	kapf_timing_rebase(kapf_level_ratio(level, KAPF_HISTOGRAM_WAITING),
			   room, now);
	kapf_timing_rebase(kapf_level_ratio(level, KAPF_HISTOGRAM_EXECUTING),
			   seats, now);
	kapf_timing_rebase(kapf_level_ratio(level, KAPF_HISTOGRAM_DEMAND),
			   seats, now);
}

/**
 * kapf_metrics_sample() - note the present ratios of an exempt level
 * @level: exempt; its lock is held
 * @sum: what is there
 * @now: the time
 */
void kapf_metrics_sample(struct kapf_level *level,
			 const struct kapf_exempt_tally *sum, u64 now)
{
	u64 seats = sum->seats_taken - sum->seats_released;

	kapf_timing_set(kapf_level_ratio(level, KAPF_HISTOGRAM_SEATS),
			seats, now);
	kapf_timing_set(kapf_level_ratio(level, KAPF_HISTOGRAM_EXECUTING),
			sum->dispatched - sum->finished, now);
	kapf_timing_set(kapf_level_ratio(level, KAPF_HISTOGRAM_DEMAND),
			seats, now);
}
