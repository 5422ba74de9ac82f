// SPDX-License-Identifier: GPL-2.0
/*
 * Wait limits: each request that is not seated in time is refused at its own
 * time, in whatever order the limits come, and its place is free then.
 */
#include "kapf_test.h"

/* A timer is late rather than early, and the machine may be slow. */
#define LATE (700 * NSEC_PER_MSEC)

/* How much too late a thread of its own was at most that slept again and again. */
struct sleeper {
	pthread_t thread;
	bool stop;
	__u64 late;
};

static void *sleeper_main(void *arg)
{
	struct sleeper *sleeper = arg;
	__u64 begin, took;

	while (!__atomic_load_n(&sleeper->stop, __ATOMIC_RELAXED)) {
		begin = now_ns();
		sleep_ms(10);
		took = now_ns() - begin;
		if (took > sleeper->late)
			__atomic_store_n(&sleeper->late, took,
					 __ATOMIC_RELAXED);
	}
	return NULL;
}

FIXTURE(limits) {
	struct sleeper sleeper;
	int control;
	int fd;
	__u32 schema;	/* of a level whose one seat is taken, in slot 0 */
};

FIXTURE_SETUP(limits)
{
	self->control = open_node(CONTROL_NODE, O_RDWR);
	self->schema = set_up_queues(self->control, 1, 4, 1, 200);
	self->fd = open_session(256);
	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 0, self->schema));
	ASSERT_EQ(0, pthread_create(&self->sleeper.thread, NULL, sleeper_main,
				    &self->sleeper));
}

FIXTURE_TEARDOWN(limits)
{
	__atomic_store_n(&self->sleeper.stop, true, __ATOMIC_RELAXED);
	pthread_join(self->sleeper.thread, NULL);
	close(self->fd);
	close(self->control);
}

/* When a request with a limit of so many ns is refused at the latest. */
static __u64 latest(struct _test_data_limits *self, __u64 limit)
{
	return limit + LATE + 2 * __atomic_load_n(&self->sleeper.late,
						  __ATOMIC_RELAXED);
}

static struct kapf_op limited(struct _test_data_limits *self, __u32 slot,
			      __u64 max_wait)
{
	struct kapf_op op = request(slot, self->schema);

	op.max_wait = max_wait;
	op.flow_hash = slot;
	return op;
}

TEST_F(limits, short_limit)
{
	__u64 begin = now_ns(), waited;
	int ret;

	ret = admit_op(self->fd, limited(self, 1, 50 * NSEC_PER_MSEC));
	waited = now_ns() - begin;
	EXPECT_EQ(KAPF_TIME_OUT, KAPF_VERDICT(ret));
	EXPECT_LE(50 * NSEC_PER_MSEC, waited);
	EXPECT_GE(latest(self, 50 * NSEC_PER_MSEC), waited);
	EXPECT_EQ(0, level_stats(self->control, "test").waiting_requests);
}

TEST_F(limits, shortest_limit)
{
	EXPECT_EQ(KAPF_TIME_OUT,
		  KAPF_VERDICT(admit_op(self->fd, limited(self, 1, 1))));
}

/* Every limit at its time, whatever the order in which they came. */
static void all_in_time(struct __test_metadata *_metadata,
			struct _test_data_limits *self, const __u32 *limit_ms,
			__u32 nr)
{
	static struct waiter waiters[100];
	__u32 i;

	for (i = 0; i < nr; i++)
		waiter_start(&waiters[i], self->fd,
			     limited(self, 1 + i,
				     limit_ms[i] * NSEC_PER_MSEC));
	for (i = 0; i < nr; i++) {
		EXPECT_EQ(KAPF_TIME_OUT, waiter_join(&waiters[i]));
		EXPECT_LE(limit_ms[i] * NSEC_PER_MSEC, waiters[i].waited);
		EXPECT_GE(latest(self, limit_ms[i] * NSEC_PER_MSEC),
			  waiters[i].waited) {
			TH_LOG("limit %u of %u ms: %llu ms", i, limit_ms[i],
			       waiters[i].waited / NSEC_PER_MSEC);
		}
	}
	EXPECT_EQ(0, level_stats(self->control, "test").waiting_requests);
	EXPECT_EQ(0, level_stats(self->control, "test").waiting_seats);
	EXPECT_EQ(0, level_stats(self->control, "test").active_queues);
	EXPECT_EQ(nr, level_stats(self->control, "test").rejected_time_out);
}

TEST_F(limits, falling)
{
	__u32 limit_ms[40], i;

	for (i = 0; i < 40; i++)
		limit_ms[i] = 2160 - 40 * i;
	all_in_time(_metadata, self, limit_ms, 40);
}

TEST_F(limits, mixed)
{
	__u32 limit_ms[40], i;

	for (i = 0; i < 40; i++)
		limit_ms[i] = 600 + 40 * (i * 17 % 40);
	all_in_time(_metadata, self, limit_ms, 40);
}

TEST_F(limits, all_at_once)
{
	__u32 limit_ms[100], i;

	for (i = 0; i < 100; i++)
		limit_ms[i] = 1200;
	all_in_time(_metadata, self, limit_ms, 100);
}

/* The earliest limit goes away by a grant; the next one still holds. */
TEST_F(limits, next_limit_after_a_grant)
{
	struct waiter early, late;

	waiter_start(&early, self->fd, limited(self, 4, 1500 * NSEC_PER_MSEC));
	ASSERT_TRUE(await_waiting(self->control, 1));
	waiter_start(&late, self->fd, limited(self, 8, 1800 * NSEC_PER_MSEC));
	ASSERT_TRUE(await_waiting(self->control, 2));
	EXPECT_EQ(0, finish(self->fd, 0));
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&early));
	EXPECT_EQ(KAPF_TIME_OUT, waiter_join(&late));
	EXPECT_LE(1800 * NSEC_PER_MSEC, late.waited);
	EXPECT_GE(latest(self, 1800 * NSEC_PER_MSEC), late.waited);
	/* The limit of who executes is no longer of importance. */
	EXPECT_EQ(1, seats_in_use(self->control, "test"));
	EXPECT_EQ(0, finish(self->fd, 4));
}

TEST_F(limits, granted_requests_do_not_time_out)
{
	struct waiter waiter;

	waiter_start(&waiter, self->fd, limited(self, 1, 2000 * NSEC_PER_MSEC));
	ASSERT_TRUE(await_waiting(self->control, 1));
	EXPECT_EQ(0, finish(self->fd, 0));
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&waiter));
	sleep_ms(2200);
	EXPECT_EQ(1, level_stats(self->control, "test").executing_requests);
	EXPECT_EQ(0, level_stats(self->control, "test").rejected_time_out);
	EXPECT_EQ(0, finish(self->fd, 1));
}

/* Limits and grants at the same moment: each request gets one of both. */
TEST_F(limits, race_with_the_grant)
{
	__u32 executed = 0, timed_out = 0;
	struct waiter waiter;
	int i;

	for (i = 0; i < 100; i++) {
		waiter_start(&waiter, self->fd,
			     limited(self, 1, 5 * NSEC_PER_MSEC));
		sleep_ms(3 + i % 3);
		ASSERT_EQ(0, finish(self->fd, 0));
		if (waiter_join(&waiter) == KAPF_EXECUTE) {
			executed++;
			ASSERT_EQ(1, seats_in_use(self->control, "test"));
			ASSERT_EQ(0, finish(self->fd, 1));
		} else {
			timed_out++;
			ASSERT_EQ(KAPF_TIME_OUT, KAPF_VERDICT(waiter.ret));
			ASSERT_EQ(-ENOENT, finish(self->fd, 1));
		}
		ASSERT_EQ(0, seats_in_use(self->control, "test"));
		ASSERT_EQ(0, requests_known(self->control));
		ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 0, self->schema));
	}
	EXPECT_EQ(timed_out, level_stats(self->control, "test")
		  .rejected_time_out);
	TH_LOG("%u executed, %u timed out", executed, timed_out);
}

/* 0 stands for the default, and the longest limit is not a short one. */
TEST_F_TIMEOUT(limits, default_and_longest, 60)
{
	struct waiter by_default, longest;

	waiter_start(&longest, self->fd, limited(self, 1, KAPF_MAX_WAIT_NS));
	waiter_start(&by_default, self->fd, limited(self, 2, 0));
	EXPECT_EQ(KAPF_TIME_OUT, waiter_join(&by_default));
	EXPECT_LE(KAPF_DEFAULT_WAIT_NS, by_default.waited);
	EXPECT_GE(latest(self, KAPF_DEFAULT_WAIT_NS), by_default.waited);
	EXPECT_EQ(1, level_stats(self->control, "test").waiting_requests);
	EXPECT_EQ(0, finish(self->fd, 0));
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&longest));
}

TEST_HARNESS_MAIN
