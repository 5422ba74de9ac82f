/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KAPF_BENCH_INSN_H
#define KAPF_BENCH_INSN_H

#include <stdint.h>

#include "bench.h"

/* Rounds, of which the least counts, and calls in each. */
#define ROUNDS	200
#define CALLS	100

static inline uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* copies.c */
double copies_per_request(struct bench *bench);

/* footprint.c */
void footprint(double *per_slot, double *per_queue);

#endif /* KAPF_BENCH_INSN_H */
