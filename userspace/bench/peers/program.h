/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A peer that is a program of its own.
 */
#ifndef KAPF_BENCH_PROGRAM_H
#define KAPF_BENCH_PROGRAM_H

#include "peer.h"

struct program_result {
	const char *key;
	double value;
};

void program_run(const struct peer *peer, const struct workload *load,
		 double seconds, uint64_t seed, struct program_result *results);

#endif /* KAPF_BENCH_PROGRAM_H */
