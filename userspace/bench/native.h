/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What kapf's own code and the reference's do natively: the same workloads for both,
 * as text that both read.
 */
#ifndef KAPF_BENCH_NATIVE_H
#define KAPF_BENCH_NATIVE_H

#include <json-c/json.h>
#include <stdint.h>

/* The level: half of the seats of workload-low when a server is small. */
#define ENGINE_SEATS	20
#define ENGINE_QUEUES	128
#define ENGINE_HAND	6
#define ENGINE_LENGTH	50

#define ENGINE_FLOWS	64
/* Requests of each flow at a time, one of them new whenever one has finished */
#define ENGINE_DEPTH	4
/* From one end of a request to the next */
#define ENGINE_STEP_NS	100000

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#endif

/* native.c */
void fail(const char *format, ...)
	__attribute__((__format__(printf, 1, 2), __noreturn__));

/* native_set.c */
uint64_t set_random(void);
struct json_object *set_schemas(unsigned int nr);
struct json_object *set_requests(unsigned int nr);

/* native_engine.c */
void engine_start(const uint64_t *hashes);
void engine_run(unsigned int cycles);

/* native_classify.c */
struct matching;
struct matching *matching_new(struct json_object *schemas,
			      struct json_object *requests);
unsigned int matching_run(const struct matching *matching);
uint64_t matching_sum(const struct matching *matching);
unsigned int matching_hash(const struct matching *matching);
void matching_free(struct matching *matching);

#endif /* KAPF_BENCH_NATIVE_H */
