/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KAPF_BENCH_HOLD_H
#define KAPF_BENCH_HOLD_H

#include <stdint.h>

/**
 * struct hold - one that was longer than all others
 * @length: in ticks of the time stamp counter, probes included
 * @taken_at: address behind the call that took the lock
 */
struct hold {
	uint64_t length;
	uint64_t taken_at;
};

void hold_watch(void);
void hold_unwatch(void);
void hold_start(void);
struct hold hold_stop(void);
uint64_t hold_shortest(void);
void hold_name(const struct hold *hold, char *name, unsigned int size);

/* worst.c */
double worst_hold(void);

#endif /* KAPF_BENCH_HOLD_H */
