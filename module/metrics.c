// SPDX-License-Identifier: GPL-2.0
/*
 * The ratios of a level: to what, and since when.
 */

#include <linux/minmax.h>

#include "engine/queueset_now.h"
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
	const struct kapf_queueset *qs = &level->qs;
	const struct kapf_usage *usage = &qs->usage;

	switch (kind) {
	case KAPF_HISTOGRAM_WAITING:
		return (struct kapf_integral) {
			kapf_area_ns(&usage->waiting), qs->nr_waiting
		};
	case KAPF_HISTOGRAM_EXECUTING:
		return (struct kapf_integral) {
			kapf_area_ns(&usage->executing), qs->nr_executing
		};
	case KAPF_HISTOGRAM_SEATS:
		return (struct kapf_integral) {
			kapf_area_ns(&usage->demand) -
			kapf_area_ns(&usage->waiting_seats), qs->seats_in_use
		};
	default:
		return (struct kapf_integral) {
			kapf_area_ns(&usage->demand), kapf_queueset_demand(qs)
		};
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
 * @level: with the seats that are in use and waited for; its lock is held
 */
void kapf_metrics_seats(struct kapf_level *level)
{
	const struct kapf_queueset *qs = &level->qs;

	kapf_timing_set(kapf_level_ratio(level, KAPF_HISTOGRAM_SEATS),
			qs->seats_in_use, qs->now);
	kapf_timing_set(kapf_level_ratio(level, KAPF_HISTOGRAM_DEMAND),
			kapf_queueset_demand(qs), qs->now);
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
	kapf_queueset_advance(&level->qs, now);
	for (i = 0; i < KAPF_LEVEL_KINDS; i++) {
		enum kapf_histogram_kind kind = KAPF_LEVEL_KIND + i;
		struct kapf_integral numerator =
			kapf_metrics_numerator(level, kind);

		kapf_timing_rebase(&level->ratios[i],
				   kind == KAPF_HISTOGRAM_WAITING ? room :
								    seats,
				   &numerator, level->qs.now);
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
	struct kapf_queueset *qs = &level->qs;

	kapf_queueset_advance(qs, now);
	qs->seats_in_use = seats;
	qs->nr_executing = executing;
	kapf_measure_level(level);
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
	kapf_queueset_advance(&level->qs, now);
	kapf_timing_read(kapf_level_ratio(level, info->kind),
			 kapf_metrics_numerator(level, info->kind).area,
			 level->qs.now, info);
}
