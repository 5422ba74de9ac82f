// SPDX-License-Identifier: GPL-2.0
/*
 * Readings: all that an instance shows at one moment, so that two of them tell
 * what happened between.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kapfctl.h"

#define NSEC_PER_MSEC 1000000ULL

/* An interval is at least long enough to be measured. */
#define MIN_INTERVAL (100 * NSEC_PER_MSEC)
#define MAX_INTERVAL (600 * NSEC_PER_SEC)

/**
 * interval_option() - read a length of time, or end the program as wrongly typed
 * @command: whose option it is
 * @value: of the option, as in 5s or 500ms
 *
 * Return: ns.
 */
uint64_t interval_option(const struct command *command, const char *value)
{
	uint64_t unit = 0, number;
	char *end;

	errno = 0;
	number = strtoull(value, &end, 10);
	if (!strcmp(end, "s"))
		unit = NSEC_PER_SEC;
	else if (!strcmp(end, "ms"))
		unit = NSEC_PER_MSEC;
	if (*value >= '0' && *value <= '9' && unit && !errno &&
	    number <= MAX_INTERVAL / unit && number * unit >= MIN_INTERVAL)
		return number * unit;
	exit(usage_error(command,
			 "--interval \"%s\" is not accepted: must be 100ms to 600s, as in 500ms or 5s",
			 value));
}

/**
 * take_reading() - read statistics, requests and histograms
 * @reading: out; to be freed in any case
 * @fd: of the control node
 *
 * Return: 0 or -1.
 */
int take_reading(struct reading *reading, int fd)
{
	*reading = (struct reading){ .time = time_now(CLOCK_REALTIME) };
	if (read_state(&reading->state, fd) < 0)
		return -1;
	if (read_requests(&reading->requests, &reading->nr_requests, fd) < 0)
		return -1;
	return read_histograms(&reading->histograms, &reading->nr_histograms,
			       fd);
}

/**
 * free_reading() - free what take_reading() made
 * @reading: it
 */
void free_reading(struct reading *reading)
{
	free(reading->histograms);
	free_requests(reading->requests, reading->nr_requests);
	free_state(&reading->state);
}

/**
 * seconds_between() - how long it was between two readings
 * @first: one
 * @second: the later one
 */
double seconds_between(const struct reading *first,
		       const struct reading *second)
{
	return (second->state.stats.time - first->state.stats.time) /
	       (double)NSEC_PER_SEC;
}

/**
 * level_pace() - what happened in a level between two readings
 * @pace: out
 * @first: one
 * @second: the later one
 * @id: of the level
 */
void level_pace(struct pace *pace, const struct reading *first,
		const struct reading *second, uint32_t id)
{
	const struct kapf_level_stats *a = level_stats(&first->state, id);
	const struct kapf_level_stats *b = level_stats(&second->state, id);
	const double seconds = seconds_between(first, second);

	*pace = (struct pace){
		.dispatched = (b->dispatched - a->dispatched) / seconds,
		.queue_full = (b->rejected_queue_full -
			       a->rejected_queue_full) / seconds,
		.concurrency_limit = (b->rejected_concurrency_limit -
				      a->rejected_concurrency_limit) / seconds,
		.time_out = (b->rejected_time_out -
			     a->rejected_time_out) / seconds,
		.cancelled = (b->rejected_cancelled -
			      a->rejected_cancelled) / seconds,
	};
	pace->refused = pace->queue_full + pace->concurrency_limit +
			pace->time_out;
	/* Whoever has come has been dispatched or rejected, or waits. */
	pace->arrivals = pace->dispatched + pace->refused + pace->cancelled +
			 ((double)b->waiting_requests -
			  a->waiting_requests) / seconds;
	if (pace->arrivals < 0)
		pace->arrivals = 0;
}
