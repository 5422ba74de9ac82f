/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long it takes from one process that gives a seat back to another one that has
 * waited for it.
 */
#ifndef KAPF_BENCH_HANDOFF_H
#define KAPF_BENCH_HANDOFF_H

#include <stdint.h>

#define HANDOFF_ROUNDS 1000

void handoff_kapf(uint64_t ns[HANDOFF_ROUNDS]);
void handoff_futex(uint64_t ns[HANDOFF_ROUNDS]);

#endif /* KAPF_BENCH_HANDOFF_H */
