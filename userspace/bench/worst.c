// SPDX-License-Identifier: GPL-2.0
/*
 * What might make the module hold a lock for long: much at once.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "bench.h"
#include "hold.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#define SLOTS		65536	/* most of a session */
#define EXECUTING	65500	/* a server has at most 65535 seats */
#define WAITING		50000
#define QUEUES		1024
#define MANY_QUEUES	16384	/* most of an instance */
#define WIDE		1000
#define BATCH		256
#define LEVELS		250

static int control = -1;

static void call(unsigned long request, void *arg, const char *what)
{
	if (ioctl(control, request, arg) < 0)
		bench_fail(what);
}

/* A session in which so many wait; one executes, in slot 0. */
static void open_waiting(struct bench *bench, uint32_t queues, uint32_t waiting)
{
	/* Hands are dealt at random: leave room for queues longer than others. */
	bench_open(bench, 1, queues, 4 * waiting / queues + 16, SLOTS);
	bench_hold(bench, 0, 1);
	bench_enqueue(bench, 1, waiting);
}

static struct hold close_executing(void)
{
	struct bench bench;

	bench_open(&bench, EXECUTING, QUEUES, 50, SLOTS);
	bench_hold(&bench, 0, EXECUTING);
	hold_start();
	bench_close(&bench);
	return hold_stop();
}

static struct hold close_waiting(void)
{
	struct bench bench;

	open_waiting(&bench, QUEUES, WAITING);
	hold_start();
	bench_close(&bench);
	return hold_stop();
}

/* While others wait for what it has. */
static struct hold close_beside_waiting(void)
{
	const uint32_t half = SLOTS / 2;
	struct bench bench, other;
	struct hold hold;

	bench_open(&bench, half, QUEUES, 200, SLOTS);
	bench_hold(&bench, 0, half);
	bench_attach(&other, SLOTS);
	bench_enqueue(&other, 0, WAITING);
	hold_start();
	bench_close(&bench);
	hold = hold_stop();
	bench_close(&other);
	return hold;
}

static struct hold evict(void)
{
	struct kapf_session_info info;
	struct kapf_get_sessions get = {
		.size = sizeof(get),
		.session_size = sizeof(info),
		.nr = 1,
		.sessions = (uintptr_t)&info,
	};
	struct kapf_evict end = { .size = sizeof(end) };
	struct bench bench;
	struct hold hold;

	open_waiting(&bench, QUEUES, WAITING);
	call(KAPF_GET_SESSIONS, &get, "GET_SESSIONS");
	end.session = info.session;
	hold_start();
	call(KAPF_EVICT, &end, "EVICT");
	hold = hold_stop();
	if (end.waiting != WAITING)
		bench_fail("EVICT of others");
	bench_close(&bench);
	return hold;
}

/* All wait until the same time. */
static struct hold time_out(void)
{
	struct bench bench;
	struct kapf_op op;
	struct hold hold;
	uint64_t end;
	uint32_t i;

	bench_open(&bench, 1, QUEUES, 200, SLOTS);
	bench_hold(&bench, 0, 1);
	end = bench_now() + 2000000000;
	for (i = 1; i <= WAITING; i++) {
		bench_op(&bench, &op, bench.schema, i);
		op.flags = KAPF_OP_NOWAIT;
		op.max_wait = end - bench_now();
		if (ioctl(bench.fd, KAPF_ADMIT, &op) != KAPF_QUEUED)
			bench_fail("a request does not wait");
	}
	hold_start();
	while (bench_now() < end + 1000000000)
		usleep(100000);
	hold = hold_stop();
	bench_close(&bench);
	return hold;
}

static struct hold finish_wide(void)
{
	struct bench bench;
	struct kapf_op op;
	struct hold hold;

	bench_open(&bench, WIDE, QUEUES, 50, SLOTS);
	bench_op(&bench, &op, bench.schema, 0);
	op.initial_seats = WIDE;
	if (KAPF_VERDICT(ioctl(bench.fd, KAPF_ADMIT, &op)) != KAPF_EXECUTE)
		bench_fail("a wide request does not execute");
	bench_enqueue(&bench, 1, 2 * WIDE);
	hold_start();
	bench_finish(&bench, 0);
	hold = hold_stop();
	bench_close(&bench);
	return hold;
}

/* Much in one call, of one level. */
static struct hold submit(void)
{
	static struct kapf_finish finish[BATCH];
	static struct kapf_event events[BATCH];
	static struct kapf_op ops[BATCH];
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
	struct bench bench;
	struct hold hold;
	uint32_t i;

	bench_open(&bench, BATCH, QUEUES, 200, SLOTS);
	bench_hold(&bench, 0, BATCH);
	for (i = 0; i < BATCH; i++) {
		finish[i] = (struct kapf_finish){ .slot = i };
		bench_op(&bench, &ops[i], bench.schema, i);
	}
	hold_start();
	if (ioctl(bench.fd, KAPF_SUBMIT, &call) < 0 || call.nr_ops != BATCH)
		bench_fail("SUBMIT");
	hold = hold_stop();
	bench_close(&bench);
	return hold;
}

/* From few queues, in which some wait, to many, or back. */
static struct hold resize(uint32_t from, uint32_t to)
{
	struct bench bench;
	struct hold hold;

	open_waiting(&bench, from, 800);
	hold_start();
	bench_configure(1, to, 1000);
	hold = hold_stop();
	bench_close(&bench);
	return hold;
}

static struct hold grow(void)
{
	return resize(16, MANY_QUEUES);
}

static struct hold shrink(void)
{
	return resize(MANY_QUEUES, 16);
}

/* Something waits in nearly each of many queues. */
static struct hold grow_busy(void)
{
	struct bench bench;
	struct hold hold;

	open_waiting(&bench, MANY_QUEUES / 2, WAITING);
	hold_start();
	bench_configure(1, MANY_QUEUES, 50);
	hold = hold_stop();
	bench_close(&bench);
	return hold;
}

/* Most of a session wait, in many queues: look at all of that. */
static struct hold dump(void)
{
	struct kapf_get_queues queues = {
		.size = sizeof(queues),
		.queue_size = sizeof(struct kapf_queue_info),
		.nr = MANY_QUEUES,
	};
	struct kapf_get_requests requests = {
		.size = sizeof(requests),
		.request_size = sizeof(struct kapf_request_info),
		.nr = SLOTS,
	};
	void *room = malloc(SLOTS * sizeof(struct kapf_request_info));
	struct bench bench;
	struct hold hold;

	if (!room)
		bench_fail("memory");
	queues.queues = (uintptr_t)room;
	requests.requests = (uintptr_t)room;
	open_waiting(&bench, MANY_QUEUES, WAITING);
	hold_start();
	call(KAPF_GET_QUEUES, &queues, "GET_QUEUES");
	call(KAPF_GET_REQUESTS, &requests, "GET_REQUESTS");
	hold = hold_stop();
	if (queues.nr != MANY_QUEUES || requests.nr != WAITING + 1)
		bench_fail("there are fewer queues or requests");
	bench_close(&bench);
	free(room);
	return hold;
}

static void set_mode(uint32_t mode)
{
	struct kapf_set_mode set = { .size = sizeof(set), .mode = mode };

	call(KAPF_SET_MODE, &set, "SET_MODE");
}

/* All that wait are let go, and then all shadows. */
static struct hold change_mode(void)
{
	struct bench bench;
	struct hold hold;

	open_waiting(&bench, QUEUES, WAITING);
	hold_start();
	set_mode(KAPF_MODE_OBSERVE);
	hold = hold_stop();
	bench_close(&bench);
	set_mode(KAPF_MODE_ENFORCE);
	return hold;
}

static struct hold drop_shadows(void)
{
	struct bench bench;
	struct hold hold;

	bench_open(&bench, 1, QUEUES, 200, SLOTS);
	set_mode(KAPF_MODE_OBSERVE);
	bench_hold(&bench, 0, WAITING);
	hold_start();
	set_mode(KAPF_MODE_ENFORCE);
	hold = hold_stop();
	bench_close(&bench);
	return hold;
}

/* The limits of all levels that there can be are adjusted. */
static struct hold borrow(void)
{
	struct hold hold;

	bench_configure_levels(LEVELS);
	hold_start();
	sleep(KAPF_DEFAULT_ADJUSTMENT_PERIOD_MS / 1000 + 1);
	hold = hold_stop();
	bench_configure(1, 16, 50);
	return hold;
}

static const struct {
	const char *name;
	struct hold (*run)(void);
} cases[] = {
	{ "close_executing", close_executing },
	{ "close_waiting", close_waiting },
	{ "close_beside_waiting", close_beside_waiting },
	{ "evict", evict },
	{ "time_out", time_out },
	{ "finish_wide", finish_wide },
	{ "submit", submit },
	{ "grow", grow },
	{ "shrink", shrink },
	{ "grow_busy", grow_busy },
	{ "dump", dump },
	{ "change_mode", change_mode },
	{ "drop_shadows", drop_shadows },
	{ "borrow", borrow },
};

/**
 * worst_hold() - how long does the module hold a lock at most?
 *
 * Prints what it found of each case, too.
 *
 * Return: instructions.
 */
double worst_hold(void)
{
	struct hold holds[ARRAY_SIZE(cases)];
	uint64_t worst = 0, length;
	char name[128];
	size_t i;

	control = open("/dev/kapfctl0", O_RDWR | O_CLOEXEC);
	if (control < 0)
		bench_fail("/dev/kapfctl0");
	hold_watch();
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		holds[i] = cases[i].run();
	hold_unwatch();
	close(control);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		length = holds[i].length - hold_shortest();
		hold_name(&holds[i], name, sizeof(name));
		fprintf(stderr, "longest hold in %s: %s, %llu instructions\n",
			cases[i].name, name, (unsigned long long)length);
		printf("insn.lock_hold.%s %llu\n", cases[i].name,
		       (unsigned long long)length);
		if (length > worst)
			worst = length;
	}
	return worst;
}
