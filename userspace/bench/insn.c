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
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <x86intrin.h>

#include "bench.h"
#include "hold.h"

/* After a boot the guest is busy with itself for a while. */
#define REST_S 10

#define ROUNDS	200
#define CALLS	100	/* in a round */
#define BATCH	64	/* requests */

/* What the level has beside the request that is looked at. */
#define OTHERS	40

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

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

static void submit(struct bench *bench, struct kapf_submit *call)
{
	if (ioctl(bench->fd, KAPF_SUBMIT, call) < 0 ||
	    call->nr_finish != BATCH || call->nr_ops != BATCH ||
	    call->nr_events != BATCH)
		bench_fail("SUBMIT");
}

/* SUBMIT that finishes as many requests as it admits, by request. */
static double submit_batch(struct bench *bench)
{
	struct kapf_finish finish[BATCH];
	struct kapf_event events[BATCH];
	uint64_t best = UINT64_MAX;
	struct kapf_op ops[BATCH];
	int round, i;

	bench_hold(bench, 0, BATCH);
	for (round = 0; round < ROUNDS; round++) {
		struct kapf_submit call = {
			.size = sizeof(call),
			.op_size = sizeof(*ops),
			.event_size = sizeof(*events),
			.nr_finish = BATCH,
			.nr_ops = BATCH,
			.nr_events = BATCH,
			.finish = (uintptr_t)finish,
			.ops = (uintptr_t)ops,
			.events = (uintptr_t)events,
		};
		uint64_t start;

		for (i = 0; i < BATCH; i++) {
			finish[i] = (struct kapf_finish){ .slot = i };
			bench_op(bench, &ops[i], bench->schema, i);
		}
		start = __rdtsc();
		submit(bench, &call);
		best = least(best, __rdtsc() - start);
		for (i = 0; i < BATCH; i++)
			if (events[i].verdict != KAPF_EXECUTE)
				bench_fail("a request of the batch");
	}
	for (i = 0; i < BATCH; i++)
		bench_finish(bench, i);
	return (double)best / BATCH;
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

int main(void)
{
	struct bench bench;

	sleep(REST_S);
	print("null_call", null_call());
	bench_open(&bench, 600, 128, 50, 256);
	bench_hold(&bench, 128, OTHERS);
	print("admit_finish", admit_finish(&bench, bench.schema));
	print("exempt_admit_finish", admit_finish(&bench, bench.exempt));
	print("batch64_per_request", submit_batch(&bench));
	bench_close(&bench);
	print("dispatch_16q_800w", dispatch(16, 800));
	print("dispatch_1024q_50000w", dispatch(1024, 50000));
	print("longest_lock_hold", worst_hold());
	return 0;
}
