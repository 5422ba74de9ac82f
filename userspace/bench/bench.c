// SPDX-License-Identifier: GPL-2.0
/*
 * Benchmarks: an instance, a session, requests.  Whatever does not go as it should
 * ends the program: a benchmark of something else is worth nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "libkapf.h"
#include "random.h"

/* Requests of one flow more than its hand would not queue anywhere else. */
#define HAND 4u

static const char manifest[] =
	"apiVersion: flowcontrol.apiserver.k8s.io/v1\n"
	"kind: PriorityLevelConfiguration\n"
	"metadata: {name: bench%u}\n"
	"spec:\n"
	"  type: Limited\n"
	"  limited:\n"
	"    nominalConcurrencyShares: %u\n"
	"    borrowingLimitPercent: 0\n"
	"    limitResponse:\n"
	"      type: Queue\n"
	"      queuing: {queues: %u, handSize: %u, queueLengthLimit: %u}\n"
	"---\n"
	"apiVersion: flowcontrol.apiserver.k8s.io/v1\n"
	"kind: FlowSchema\n"
	"metadata: {name: bench%u}\n"
	"spec:\n"
	"  matchingPrecedence: 500\n"
	"  priorityLevelConfiguration: {name: bench%u}\n"
	"  rules: []\n"
	"---\n";

void bench_fail(const char *what)
{
	fprintf(stderr, "kapf-bench: %s: %s\n", what, strerror(errno));
	exit(1);
}

/**
 * bench_wrong() - end, since something is not as it should be
 * @what: that no system call has said
 */
void bench_wrong(const char *what)
{
	fprintf(stderr, "kapf-bench: %s\n", what);
	exit(1);
}

/**
 * bench_now() - CLOCK_MONOTONIC, in ns
 */
uint64_t bench_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * SECOND_NS + now.tv_nsec;
}

/**
 * bench_lines() - memory, zeroed, that begins with a cache line
 * @size: of it, in bytes
 */
void *bench_lines(size_t size)
{
	void *memory = aligned_alloc(64, (size + 63) & ~63ULL);

	if (!memory)
		bench_fail("no memory");
	return memset(memory, 0, size);
}

/**
 * bench_pin() - have this thread, and those that it makes, run on one processor
 * @number: of a worker, say: even ones run on the first of those that may be used,
 *	odd ones on the second, where there is one
 */
void bench_pin(uint32_t number)
{
	int cpu, found[2], nr = 0;
	cpu_set_t set;

	/* Those of the process, of which this thread may have lost some. */
	if (sched_getaffinity(getpid(), sizeof(set), &set))
		bench_fail("sched_getaffinity");
	for (cpu = 0; cpu < CPU_SETSIZE && nr < 2; cpu++)
		if (CPU_ISSET(cpu, &set))
			found[nr++] = cpu;
	CPU_ZERO(&set);
	CPU_SET(found[number % nr], &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		bench_fail("sched_setaffinity");
}

/**
 * bench_fork() - fork a process that does not outlive this one
 *
 * Return: as fork(), but without failing.
 */
pid_t bench_fork(void)
{
	pid_t pid;

	/* What is not written yet would be so by both. */
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		bench_fail("fork");
	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

static void check(int ret, const struct kapf_error *err)
{
	if (ret < 0) {
		fprintf(stderr, "kapf-bench: %s\n", err->text);
		exit(1);
	}
}

/*
 * Replace the configuration by these objects, and those that have to be, of which
 * catch-all has 5 seats.
 */
static void configure(const char *text, size_t len, uint32_t seats)
{
	struct kapf_configuration *config = kapf_config_new(), *written;
	struct kapf_error err = {};
	int fd = open("/dev/kapfctl0", O_RDWR | O_CLOEXEC);

	if (fd < 0 || !config)
		bench_fail("/dev/kapfctl0");
	check(kapf_config_merge(config, text, len, "bench", &err), &err);
	check(kapf_config_read(&written, fd, &err), &err);
	config->generation = written->generation;
	kapf_config_free(written);
	config->max_requests_inflight = seats + 5;
	config->max_mutating_requests_inflight = 0;
	check(kapf_config_write(config, fd, &err), &err);
	kapf_config_free(config);
	close(fd);
}

/**
 * bench_configure_alike() - configure the instance with levels that are all alike
 * @levels: how many: bench0 and so on, each with a schema of that name
 * @seats: of a level
 * @queues: of a level
 * @hand: queues that a flow may use
 * @length: of a queue
 */
void bench_configure_alike(uint32_t levels, uint32_t seats, uint32_t queues,
			   uint32_t hand, uint32_t length)
{
	char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);
	uint32_t i;

	for (i = 0; to && i < levels; i++)
		fprintf(to, manifest, i, seats, queues, hand, length, i, i);
	if (!to || fclose(to))
		bench_fail("memory");
	configure(text, len, levels * seats);
	free(text);
}

/**
 * bench_configure() - configure the instance
 * @seats: of the level
 * @queues: of the level
 * @length: of its queues
 */
void bench_configure(uint32_t seats, uint32_t queues, uint32_t length)
{
	bench_configure_alike(1, seats, queues, queues < HAND ? queues : HAND,
			      length);
}

/**
 * bench_configure_levels() - configure the instance with many levels
 * @nr: how many
 */
void bench_configure_levels(uint32_t nr)
{
	char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);
	uint32_t i;

	for (i = 0; to && i < nr; i++)
		fprintf(to, "%sapiVersion: flowcontrol.apiserver.k8s.io/v1\n"
			"kind: PriorityLevelConfiguration\n"
			"metadata: {name: level-%u}\n"
			"spec: {type: Limited, limited: {nominalConcurrencyShares: 10,\n"
			"  lendablePercent: 50, limitResponse: {type: Reject}}}\n",
			i ? "---\n" : "", i);
	if (!to || fclose(to))
		bench_fail("memory");
	configure(text, len, 10 * nr);
	free(text);
}

/**
 * bench_schema() - the id of a schema
 * @bench: attached; a session that never asks would be told with each verdict that
 *	it is behind
 * @name: of the schema
 */
uint32_t bench_schema(struct bench *bench, const char *name)
{
	const struct kapf_flow_schema *schema;
	struct kapf_configuration *config;
	struct kapf_error err = {};
	uint32_t id;

	check(kapf_config_read(&config, bench->fd, &err), &err);
	schema = kapf_config_schema(config, name);
	if (!schema)
		bench_fail(name);
	id = schema->id;
	kapf_config_free(config);
	return id;
}

/**
 * bench_attach() - attach to the instance, as it is configured
 * @bench: out
 * @slots: of the session
 */
void bench_attach(struct bench *bench, uint32_t slots)
{
	struct kapf_attach attach = {
		.size = sizeof(attach), .slots = slots, .server = "bench",
	};

	*bench = (struct bench){ .random = 1 };
	bench->fd = open("/dev/kapf0", O_RDWR | O_CLOEXEC);
	if (bench->fd < 0 || ioctl(bench->fd, KAPF_ATTACH, &attach) < 0)
		bench_fail("/dev/kapf0");
	bench->schema = bench_schema(bench, "bench0");
	bench->exempt = bench_schema(bench, "exempt");
}

/**
 * bench_open() - configure the instance, and attach to it
 * @bench: out
 * @seats: of the level
 * @queues: of the level
 * @length: of its queues
 * @slots: of the session
 */
void bench_open(struct bench *bench, uint32_t seats, uint32_t queues,
		uint32_t length, uint32_t slots)
{
	bench_configure(seats, queues, length);
	bench_attach(bench, slots);
}

/**
 * bench_close() - end the session
 * @bench: from bench_open()
 */
void bench_close(struct bench *bench)
{
	close(bench->fd);
}

/**
 * bench_random() - the next of a series of numbers that is always the same
 * @bench: from bench_open()
 */
uint64_t bench_random(struct bench *bench)
{
	return random_next(&bench->random);
}

/**
 * bench_op() - a request of some flow
 * @bench: from bench_open()
 * @op: out
 * @schema: that it belongs to
 * @slot: for it
 */
void bench_op(struct bench *bench, struct kapf_op *op, uint32_t schema,
	      uint32_t slot)
{
	*op = (struct kapf_op){
		.opcode = KAPF_OP_ADMIT,
		.initial_seats = 1,
		.slot = slot,
		.schema = schema,
		.watch_count = KAPF_WATCH_COUNT_UNKNOWN,
		.max_wait = KAPF_MAX_WAIT_NS,
		.flow_hash = bench_random(bench),
	};
}

/**
 * bench_admit() - ask for a seat
 * @bench: from bench_open()
 * @schema: that the request belongs to
 * @slot: for it
 *
 * Return: the verdict.
 */
int bench_admit(struct bench *bench, uint32_t schema, uint32_t slot)
{
	struct kapf_op op;
	int ret;

	bench_op(bench, &op, schema, slot);
	ret = ioctl(bench->fd, KAPF_ADMIT, &op);
	if (ret < 0)
		bench_fail("ADMIT");
	return KAPF_VERDICT(ret);
}

/**
 * bench_finish() - give the seat back
 * @bench: from bench_open()
 * @slot: of a request that executes
 */
void bench_finish(struct bench *bench, uint32_t slot)
{
	if (ioctl(bench->fd, KAPF_FINISH, (unsigned long)slot))
		bench_fail("FINISH");
}

/**
 * bench_hold() - have requests execute
 * @bench: from bench_open()
 * @from: slot of the first
 * @nr: how many
 */
void bench_hold(struct bench *bench, uint32_t from, uint32_t nr)
{
	while (nr--)
		if (bench_admit(bench, bench->schema, from++) != KAPF_EXECUTE)
			bench_fail("a request does not execute");
}

/**
 * bench_enqueue() - have requests wait
 * @bench: from bench_open(), all its seats in use
 * @from: slot of the first
 * @nr: how many
 */
void bench_enqueue(struct bench *bench, uint32_t from, uint32_t nr)
{
	struct kapf_op op;

	while (nr--) {
		bench_op(bench, &op, bench->schema, from++);
		op.flags = KAPF_OP_NOWAIT;
		if (ioctl(bench->fd, KAPF_ADMIT, &op) != KAPF_QUEUED)
			bench_fail("a request does not wait");
	}
}

/**
 * bench_granted() - take the event of a request that waited
 * @bench: from bench_open()
 *
 * Return: its slot.
 */
uint32_t bench_granted(struct bench *bench)
{
	struct kapf_event event;

	if (read(bench->fd, &event, sizeof(event)) != sizeof(event) ||
	    event.verdict != KAPF_EXECUTE)
		bench_fail("a request was not granted");
	return event.slot;
}
