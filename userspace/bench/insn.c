// SPDX-License-Identifier: GPL-2.0
/*
 * kapf-bench-insn: how many instructions calls take, in a guest with one CPU whose
 * time stamp counter counts them (QEMU's -icount shift=0).  Prints lines "KEY VALUE".
 *
 * Of many rounds the least counts: an interrupt in the others is no part of the
 * call.  Beside what it measures a round has the instructions of a loop and of the
 * C library's ioctl(), in the null call, too.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <x86intrin.h>

#include "bench.h"
#include "handoff.h"
#include "hold.h"
#include "insn.h"

/* After a boot the guest is busy with itself for a while. */
#define REST_S 10

#define BATCH_MAX 256	/* requests */

/* How many wait by queue, where queues become more. */
#define WAITING	12

/* What the level has beside the request that is looked at. */
#define OTHERS	40

/* An unknown ioctl of /dev/null. */
static double null_call(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	uint64_t best = UINT64_MAX;
	int round, i;

	for (round = 0; round < ROUNDS; round++) {
		uint64_t start = __rdtsc();

		for (i = 0; i < CALLS; i++)
			if (!ioctl(fd, KAPF_GET_INFO, 0))
				bench_fail("/dev/null");
		best = least(best, __rdtsc() - start);
	}
	close(fd);
	return (double)best / CALLS;
}

/* ADMIT and FINISH of a request that is seated at once; each of another flow. */
static double admit_finish(struct bench *bench, uint32_t schema)
{
	uint64_t best = UINT64_MAX;
	struct kapf_op ops[CALLS];
	int round, i;

	for (round = 0; round < ROUNDS; round++) {
		uint64_t start;

		for (i = 0; i < CALLS; i++)
			bench_op(bench, &ops[i], schema, 0);
		start = __rdtsc();
		for (i = 0; i < CALLS; i++)
			if (ioctl(bench->fd, KAPF_ADMIT, &ops[i]) !=
			    KAPF_EXECUTE ||
			    ioctl(bench->fd, KAPF_FINISH, 0UL))
				bench_fail("ADMIT and FINISH");
		best = least(best, __rdtsc() - start);
	}
	return (double)best / CALLS;
}

static void submit(struct bench *bench, struct kapf_submit *call, uint32_t nr)
{
	if (ioctl(bench->fd, KAPF_SUBMIT, call) < 0 || call->nr_finish != nr ||
	    call->nr_ops != nr || call->nr_events != nr)
		bench_fail("SUBMIT");
}

/* SUBMIT that finishes as many requests as it admits, by request. */
static double submit_batch(struct bench *bench, uint32_t nr)
{
	struct kapf_finish finish[BATCH_MAX];
	struct kapf_event events[BATCH_MAX];
	struct kapf_op ops[BATCH_MAX];
	uint64_t best = UINT64_MAX;
	uint32_t round, i;

	bench_hold(bench, 0, nr);
	for (round = 0; round < ROUNDS; round++) {
		struct kapf_submit call = {
			.size = sizeof(call),
			.op_size = sizeof(*ops),
			.event_size = sizeof(*events),
			.nr_finish = nr,
			.nr_ops = nr,
			.nr_events = nr,
			.finish = (uintptr_t)finish,
			.ops = (uintptr_t)ops,
			.events = (uintptr_t)events,
		};
		uint64_t start;

		for (i = 0; i < nr; i++) {
			finish[i] = (struct kapf_finish){ .slot = i };
			bench_op(bench, &ops[i], bench->schema, i);
		}
		start = __rdtsc();
		submit(bench, &call, nr);
		best = least(best, __rdtsc() - start);
		for (i = 0; i < nr; i++)
			if (events[i].verdict != KAPF_EXECUTE)
				bench_fail("a request of the batch");
	}
	for (i = 0; i < nr; i++)
		bench_finish(bench, i);
	return (double)best / nr;
}

/* FINISH that has one of so many waiting requests seated. */
static double dispatch(uint32_t queues, uint32_t waiting)
{
	uint64_t best = UINT64_MAX;
	uint32_t slot = 0;
	struct bench bench;
	int round;

	/* Hands are dealt at random: leave room for queues longer than others. */
	bench_open(&bench, 1, queues, 4 * waiting / queues, waiting + 1);
	bench_hold(&bench, slot, 1);
	bench_enqueue(&bench, 1, waiting);
	for (round = 0; round < ROUNDS; round++) {
		uint32_t next;
		uint64_t start;

		start = __rdtsc();
		bench_finish(&bench, slot);
		best = least(best, __rdtsc() - start);
		next = bench_granted(&bench);
		bench_enqueue(&bench, slot, 1);
		slot = next;
	}
	bench_close(&bench);
	return best;
}

static void print(const char *key, double value)
{
	printf("insn.%s %.1f\n", key, value);
}

static void print_calls(void)
{
	struct bench bench;
	char key[32];
	uint32_t nr;

	print("null_call", null_call());
	bench_open(&bench, 600, 128, 50, BATCH_MAX + OTHERS);
	bench_hold(&bench, BATCH_MAX, OTHERS);
	print("admit_finish", admit_finish(&bench, bench.schema));
	print("exempt_admit_finish", admit_finish(&bench, bench.exempt));
	print("batch64_per_request", submit_batch(&bench, 64));
	print("batch64_copy_per_request", copies_per_request(&bench));
	for (nr = 1; nr <= BATCH_MAX; nr *= 2) {
		snprintf(key, sizeof(key), "by_batch.%u", nr);
		print(key, submit_batch(&bench, nr));
	}
	bench_close(&bench);
}

static void print_dispatches(void)
{
	char key[32];
	uint32_t nr;

	print("dispatch_16q_800w", dispatch(16, 800));
	print("dispatch_1024q_50000w", dispatch(1024, 50000));
	for (nr = 16; nr <= 4096; nr *= 4) {
		snprintf(key, sizeof(key), "by_queues.%u", nr);
		print(key, dispatch(nr, WAITING * nr));
	}
}

/* Here a nanosecond is an instruction. */
static void print_handoff(const char *key,
			  void (*handoff)(uint64_t ns[HANDOFF_ROUNDS]))
{
	uint64_t ns[HANDOFF_ROUNDS];
	int i;

	handoff(ns);
	for (i = 0; i < HANDOFF_ROUNDS; i++)
		print(key, ns[i]);
}

static const char usage[] =
"usage: kapf-bench-insn\n"
"\n"
"Counts what calls of kapf cost.  kapf has to be loaded, and is configured anew.\n"
"Prints lines \"insn.KEY VALUE\": ticks of the time stamp counter, which are\n"
"instructions in a virtual machine of QEMU with -icount shift=0 alone; that is how\n"
"`make bench` runs it.\n";

int main(int argc, char **argv)
{
	double per_slot, per_queue;

	if (argc > 1) {
		bool help = argc == 2 && !strcmp(argv[1], "--help");

		fputs(usage, help ? stdout : stderr);
		return help ? 0 : 2;
	}
	sleep(REST_S);
	print_calls();
	print_dispatches();
	print_handoff("handoff.kapf", handoff_kapf);
	print_handoff("handoff.futex", handoff_futex);
	print("longest_lock_hold", worst_hold());
	footprint(&per_slot, &per_queue);
	printf("bytes.charged_per_slot %.2f\n", per_slot);
	printf("bytes.charged_per_queue %.2f\n", per_queue);
	return 0;
}
