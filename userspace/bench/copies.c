// SPDX-License-Identifier: GPL-2.0
/*
 * What of a SUBMIT is copying: of each request that it finishes and admits, 8 bytes
 * of struct kapf_finish and 64 of struct kapf_op into the kernel, 32 of struct
 * kapf_event out of it.
 *
 * The first and the last are copied for a chunk of requests at a time, by what all
 * of the kernel calls for that, copy_from_user() and its counterpart.  So their cost
 * is that of other system calls, with such a copy and without it, or with a longer
 * and a shorter one: where nothing else differs.  Ops are copied by code of the
 * module, which ADMIT has in common: an ADMIT that copies one and then finds that
 * there is no such slot, against one that does not come so far.
 */
#include <signal.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#include "bench.h"
#include "insn.h"

/* Since 6.4; older headers have it not. */
#ifndef PR_GET_AUXV
#define PR_GET_AUXV 0x41555856
#endif

/* Requests, as of the module's KAPF_CHUNK. */
#define CHUNK 16

/* So many bytes more of an argument, twice, and 8, are what a chunk of events has. */
#define HALF ((CHUNK * sizeof(struct kapf_event) - 8) / 2)

static char buffer[1024] LINE;
static int session;

/* Which signals are blocked?  Copies them out, 8 bytes, if @out is not NULL. */
static bool ask_mask(void *out, unsigned long bytes)
{
	(void)bytes;
	return !syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, out, 8);
}

/* No such command: which is seen once its argument has been copied in. */
static bool ask_bpf(void *in, unsigned long bytes)
{
	return syscall(SYS_bpf, 99999, in, bytes) < 0;
}

/* Copies so many bytes out of what the program was told when it began. */
static bool ask_auxv(void *out, unsigned long bytes)
{
	return syscall(SYS_prctl, PR_GET_AUXV, out, bytes, 0, 0) > 0;
}

/* No slot has this number. */
static bool ask_kapf(void *op, unsigned long bytes)
{
	(void)bytes;
	return ioctl(session, KAPF_ADMIT, op) < 0;
}

static double cost(bool (*ask)(void *buffer, unsigned long bytes), void *with,
		   unsigned long bytes)
{
	uint64_t best = UINT64_MAX;
	int round, i;

	for (round = 0; round < ROUNDS; round++) {
		uint64_t start = __rdtsc();

		for (i = 0; i < CALLS; i++)
			if (!ask(with, bytes))
				bench_fail("a call that copies");
		best = least(best, __rdtsc() - start);
	}
	return (double)best / CALLS;
}

/**
 * copies_per_request() - what a request of a batch costs in copies
 * @bench: a session
 *
 * Return: instructions.
 */
double copies_per_request(struct bench *bench)
{
	/* The last address that there is: of the kernel, which is seen at once. */
	void *nowhere = (void *)-64L;
	double eight, finishes, events, op;
	struct kapf_op request;

	session = bench->fd;
	bench_op(bench, &request, bench->schema, UINT32_MAX);
	op = cost(ask_kapf, &request, 0) - cost(ask_kapf, nowhere, 0);
	eight = cost(ask_mask, buffer, 8) - cost(ask_mask, NULL, 8);
	finishes = eight +
		   cost(ask_bpf, buffer, CHUNK * sizeof(struct kapf_finish)) -
		   cost(ask_bpf, buffer, 8);
	events = eight + 2 * (cost(ask_auxv, buffer, 8 + HALF) -
			      cost(ask_auxv, buffer, 8));
	return op + (finishes + events) / CHUNK;
}
