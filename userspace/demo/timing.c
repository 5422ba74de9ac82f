// SPDX-License-Identifier: GPL-2.0
/* Clock, sleep, and latencies with their percentiles. */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "timing.h"

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * SEC_NS + ts.tv_nsec;
}

void sleep_until_ns(uint64_t when)
{
	const struct timespec ts = {
		.tv_sec = when / SEC_NS,
		.tv_nsec = when % SEC_NS,
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL))
		;
}

void samples_add(struct samples *samples, uint64_t ns)
{
	pthread_mutex_lock(&samples->lock);
	if (samples->nr == samples->room) {
		samples->room = samples->room * 2 ?: 1024;
		samples->ns = realloc(samples->ns,
				      samples->room * sizeof(*samples->ns));
		if (!samples->ns)
			err(1, "latencies");
	}
	samples->ns[samples->nr++] = ns;
	pthread_mutex_unlock(&samples->lock);
}

static int by_length(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The least latency that percent of all do not exceed; null without any. */
static void print_percentile(const struct samples *samples, const char *name,
			     unsigned int percent)
{
	size_t rank = (samples->nr * percent + 99) / 100;

	if (rank)
		printf("\"%s_p%u_ms\": %.3f, ", name, percent,
		       samples->ns[rank - 1] / 1e6);
	else
		printf("\"%s_p%u_ms\": null, ", name, percent);
}

/**
 * samples_print() - print "name_p50_ms": ..., "name_p99_ms": ..., in that form
 * @samples: no thread may be adding to it; is sorted
 * @name: what was measured
 */
void samples_print(struct samples *samples, const char *name)
{
	if (samples->nr)
		qsort(samples->ns, samples->nr, sizeof(*samples->ns),
		      by_length);
	print_percentile(samples, name, 50);
	print_percentile(samples, name, 99);
}
