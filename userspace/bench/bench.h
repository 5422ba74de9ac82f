/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the benchmarks share: an instance with a configuration, a session, and
 * requests without libkapf, of which the cost is not the matter.
 */
#ifndef KAPF_BENCH_H
#define KAPF_BENCH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <linux/kapf.h>

#define SECOND_NS 1000000000ULL

/* What has a cache line of its own. */
#define LINE __attribute__((aligned(64)))

/**
 * struct bench - a session, and the level that is looked at
 * @fd: of the session
 * @schema: id of the schema that leads to the level
 * @exempt: id of the schema of the exempt level
 * @random: state of bench_random()
 */
struct bench {
	int fd;
	uint32_t schema;
	uint32_t exempt;
	uint64_t random;
};

void bench_fail(const char *what) __attribute__((noreturn));
void bench_wrong(const char *what) __attribute__((noreturn));
uint64_t bench_now(void);
void *bench_lines(size_t size);
void bench_pin(uint32_t number);
pid_t bench_fork(void);
void bench_configure_alike(uint32_t levels, uint32_t seats, uint32_t queues,
			   uint32_t hand, uint32_t length);
void bench_configure(uint32_t seats, uint32_t queues, uint32_t length);
void bench_configure_levels(uint32_t nr);
uint32_t bench_schema(struct bench *bench, const char *name);
void bench_attach(struct bench *bench, uint32_t slots);
void bench_open(struct bench *bench, uint32_t seats, uint32_t queues,
		uint32_t length, uint32_t slots);
void bench_close(struct bench *bench);
uint64_t bench_random(struct bench *bench);
void bench_op(struct bench *bench, struct kapf_op *op, uint32_t schema,
	      uint32_t slot);
int bench_admit(struct bench *bench, uint32_t schema, uint32_t slot);
void bench_finish(struct bench *bench, uint32_t slot);
void bench_hold(struct bench *bench, uint32_t from, uint32_t nr);
void bench_enqueue(struct bench *bench, uint32_t from, uint32_t nr);
uint32_t bench_granted(struct bench *bench);

#endif /* KAPF_BENCH_H */
