/* SPDX-License-Identifier: GPL-2.0 */
/* Clock, sleep, and latencies with their percentiles. */
#ifndef DEMO_TIMING_H
#define DEMO_TIMING_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define MSEC_NS	1000000ULL
#define SEC_NS	1000000000ULL

/**
 * struct samples - latencies that many threads measure
 * @lock: of the others; begins as PTHREAD_MUTEX_INITIALIZER
 * @ns: the latencies
 * @nr: how many
 * @room: at @ns
 */
struct samples {
	pthread_mutex_t lock;
	uint64_t *ns;
	size_t nr;
	size_t room;
};

uint64_t now_ns(void);
void sleep_until_ns(uint64_t when);

void samples_add(struct samples *samples, uint64_t ns);
void samples_print(struct samples *samples, const char *name);

#endif /* DEMO_TIMING_H */
