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

	kapf_demand_init(&level->demand, now);
	for (i = 0; i < KAPF_LEVEL_KINDS; i++)
		kapf_timing_init(&level->ratios[i], KAPF_LEVEL_KIND + i, now);
}

/* The numerator of a ratio.  Seats that are not waited for are in use. */
static struct kapf_integral
kapf_metrics_numerator(const struct kapf_level *level,
		       enum kapf_histogram_kind kind)
{
	struct kapf_integral demand = {
		.area = level->demand.integral,
		.value = level->demand.seats,
	};

	switch (kind) {
	case KAPF_HISTOGRAM_WAITING:
		return level->waiting;
	case KAPF_HISTOGRAM_EXECUTING:
		return level->executing;
	case KAPF_HISTOGRAM_SEATS:
		demand.area -= level->waiting_seats.area;
		demand.value -= level->waiting_seats.value;
		return demand;
	default:
		return demand;
	}
}

/* See struct kapf_level. */
static void kapf_metrics_calm(struct kapf_level *level)
{
	const struct kapf_timing *seats =
		kapf_level_ratio(level, KAPF_HISTOGRAM_SEATS);
	const struct kapf_timing *demand =
		kapf_level_ratio(level, KAPF_HISTOGRAM_DEMAND);

	level->calm_first = max(seats->first, demand->first);
	level->calm_last = min(seats->last, demand->last);
}

/**
 * kapf_metrics_seats() - the ratios of seats change
 * @level: with the seats that are in use; its lock is held
 * @demand: that there is now
 */
void kapf_metrics_seats(struct kapf_level *level, u64 demand)
{
	kapf_timing_set(kapf_level_ratio(level, KAPF_HISTOGRAM_SEATS),
			level->qs.seats_in_use, level->demand.now);
	kapf_timing_set(kapf_level_ratio(level, KAPF_HISTOGRAM_DEMAND),
			demand, level->demand.now);
	kapf_metrics_calm(level);
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
	u32 i;

	room = max(room, 1ULL);
	seats = max(seats, 1ULL);
	kapf_measure_pass(level, now);
	for (i = 0; i < KAPF_LEVEL_KINDS; i++) {
		enum kapf_histogram_kind kind = KAPF_LEVEL_KIND + i;
		struct kapf_integral numerator =
			kapf_metrics_numerator(level, kind);

		kapf_timing_rebase(&level->ratios[i],
				   kind == KAPF_HISTOGRAM_WAITING ? room :
								    seats,
				   &numerator, level->demand.now);
	}
	kapf_metrics_calm(level);
}

/**
 * kapf_metrics_sample() - note what there is of an exempt level at present
 * @level: exempt; its lock is held
 * @sum: what is there
 * @now: the time
 */
void kapf_metrics_sample(struct kapf_level *level,
			 const struct kapf_exempt_tally *sum, u64 now)
{
	u64 seats = sum->seats_taken - sum->seats_released;
	u64 executing = sum->dispatched - sum->finished;

	kapf_measure_pass(level, now);
	kapf_demand_put(&level->demand, seats);
	level->executing.value = executing;
	kapf_timing_set(kapf_level_ratio(level, KAPF_HISTOGRAM_SEATS),
			seats, level->demand.now);
	kapf_timing_set(kapf_level_ratio(level, KAPF_HISTOGRAM_EXECUTING),
			executing, level->demand.now);
	kapf_timing_set(kapf_level_ratio(level, KAPF_HISTOGRAM_DEMAND),
			seats, level->demand.now);
}

/**
 * kapf_metrics_read() - what a ratio of a level was like until now
 * @level: its lock is held
 * @now: the time
 * @info: in: its kind; out: sum and counts
 */
void kapf_metrics_read(struct kapf_level *level, u64 now,
		       struct kapf_histogram_info *info)
{
	kapf_measure_pass(level, now);
	kapf_timing_read(kapf_level_ratio(level, info->kind),
			 kapf_metrics_numerator(level, info->kind).area,
			 level->demand.now, info);
}
