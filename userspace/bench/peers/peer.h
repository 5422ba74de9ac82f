/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whoever gives out seats: kapf, and what one would use without it.
 */
#ifndef KAPF_BENCH_PEER_H
#define KAPF_BENCH_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "../workload.h"

/**
 * struct peer_limits - what a peer is to give out
 * @load: levels, seats, queues
 * @workers: how many ask, numbered from 0, each for one request at a time
 * @max_wait_ns: for which one waits
 */
struct peer_limits {
	const struct workload *load;
	uint32_t workers;
	uint64_t max_wait_ns;
};

enum peer_verdict {
	PEER_EXECUTE = 1,
	PEER_REFUSED,
	PEER_TIME_OUT,
};

/**
 * struct peer - one of them
 * @name: as typed, and in the names of samples
 * @processes: by how many it can be used at once: 1, or 2 for any number
 * @fair: to flows, rather than to whoever asks most
 * @returns_seats: of a process that was killed
 * @program: runs workloads by itself (see workload.h) and has none of the rest
 * @open: make one, in the process that all who use it are children of
 * @attach: NULL, or called in each process that uses it, with what open() gave
 * @admit: ask for the seats of a request, and wait for them
 * @finish: give them back
 * @close: the end of it, in the process that made it
 *
 * What goes wrong ends the program.
 */
struct peer {
	const char *name;
	uint32_t processes;
	bool fair;
	bool returns_seats;
	const char *program;
	void *(*open)(const struct peer_limits *limits);
	void (*attach)(void *handle);
	enum peer_verdict (*admit)(void *handle, uint32_t worker,
				   const struct request *request);
	void (*finish)(void *handle, uint32_t worker,
		       const struct request *request);
	void (*close)(void *handle);
};

extern const struct peer peer_kapf;
extern const struct peer peer_mutex;
extern const struct peer peer_sysv;
extern const struct peer peer_socket;
extern const struct peer peer_shm;
extern const struct peer peer_reference;

#endif /* KAPF_BENCH_PEER_H */
