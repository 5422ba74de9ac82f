/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Workers of one or two processes, who use a peer.
 */
#ifndef KAPF_BENCH_CREW_H
#define KAPF_BENCH_CREW_H

#include <sys/types.h>

#include "bench.h"
#include "peers/peer.h"

#define CREW_PROCESSES 2

struct crew_worker {
	LINE uint64_t finished;
};

/**
 * struct crew_shared - what the processes share
 * @ready: workers that have asked for their first seats, or wait for the start
 * @start: go on
 * @stop: no more requests
 * @next: OPEN: arrival that has no worker yet
 * @start_ns: time of the start
 * @workers: one each: how many requests it has finished since
 */
struct crew_shared {
	uint32_t ready;
	uint32_t start;
	uint32_t stop;
	LINE uint32_t next;
	LINE uint64_t start_ns;
	struct crew_worker workers[];
};

/**
 * struct crew - one run of a workload
 * @peer: that is used
 * @load: what it is used for
 * @processes: how many use it, 1 or CREW_PROCESSES
 * @workers: of all processes
 * @seed: of the requests
 * @seconds: for how long
 * @work: what a worker does
 * @arrivals: OPEN: @nr_samples
 * @nr_samples: room for latencies
 * @handle: of the peer
 * @shared: with the processes
 * @samples: latencies in ns, likewise
 * @pids: the processes
 *
 * The first ones are the caller's.
 */
struct crew {
	const struct peer *peer;
	const struct workload *load;
	uint32_t processes;
	uint32_t workers;
	uint64_t seed;
	double seconds;
	void (*work)(struct crew *crew, uint32_t worker);
	const struct arrival *arrivals;
	uint32_t nr_samples;
	void *handle;
	struct crew_shared *shared;
	uint64_t *samples;
	pid_t pids[CREW_PROCESSES];
};

void crew_start(struct crew *crew);
void crew_stop(struct crew *crew);
void crew_end(struct crew *crew);
void crew_wait_for_start(struct crew *crew);
void crew_first(struct crew *crew, uint32_t worker,
		const struct request *request);
void crew_admit(struct crew *crew, uint32_t worker,
		const struct request *request);
void crew_finish(struct crew *crew, uint32_t worker,
		 const struct request *request);
uint64_t crew_finished(const struct crew *crew, uint32_t from, uint32_t nr);
bool crew_stopped(const struct crew *crew);
void crew_sleep_until(uint64_t when);
void crew_sleep(uint64_t ns);

#endif /* KAPF_BENCH_CREW_H */
