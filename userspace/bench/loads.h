/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Workloads, run with one peer.
 */
#ifndef KAPF_BENCH_LOADS_H
#define KAPF_BENCH_LOADS_H

#include "peers/peer.h"

/**
 * struct loads_open - of an open loop
 * @p50_ms: median of the latencies
 * @p99_ms: 99th percentile
 */
struct loads_open {
	double p50_ms;
	double p99_ms;
};

/**
 * struct loads_fair - how fair a peer is
 * @jain: index of the flows; 1: quite
 * @light_p99_ms: 99th percentile of the light flow's wait
 */
struct loads_fair {
	double jain;
	double light_p99_ms;
};

double loads_closed(const struct peer *peer, const struct workload *load,
		    uint32_t processes, double seconds, uint64_t seed);
struct loads_open loads_open(const struct peer *peer,
			     const struct workload *load, double seconds,
			     uint64_t seed);
struct loads_fair loads_fair(const struct peer *peer,
			     const struct workload *load, double seconds);
bool loads_kill(const struct peer *peer);

#endif /* KAPF_BENCH_LOADS_H */
