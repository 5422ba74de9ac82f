// SPDX-License-Identifier: GPL-2.0
/*
 * Modes observe and off: who executes, what is counted, and what becomes of
 * requests in flight when the mode changes.
 */
#include "kapf_test.h"

FIXTURE(mode) {
	int control;
	int fd;
	__u32 schema;	/* of a level with 2 seats and one queue for 2 requests */
	__u32 exempt;
};

static struct kapf_get_stats totals(int control)
{
	struct kapf_get_stats get = {
		.size = sizeof(get),
		.level_size = sizeof(struct kapf_level_stats),
		.schema_size = sizeof(struct kapf_schema_stats),
	};

	errno = -call(control, KAPF_GET_STATS, &get);
	if (errno)
		die("GET_STATS");
	return get;
}

FIXTURE_SETUP(mode)
{
	self->control = open_node(CONTROL_NODE, O_RDWR);
	self->schema = set_up_queues(self->control, 2, 1, 1, 2);
	self->exempt = schema_id(self->control, "exempt");
	self->fd = open_session(16);
}

FIXTURE_TEARDOWN(mode)
{
	set_mode(self->control, KAPF_MODE_ENFORCE);
	close(self->fd);
	close(self->control);
}

static int admit_many(struct _test_data_mode *self, __u32 first, __u32 end)
{
	int executing = 0;
	__u32 i;

	for (i = first; i < end; i++)
		executing += admit(self->fd, i, self->schema) == KAPF_EXECUTE;
	return executing;
}

static int finish_many(struct _test_data_mode *self, __u32 first, __u32 end)
{
	int finished = 0;
	__u32 i;

	for (i = first; i < end; i++)
		finished += !finish(self->fd, i);
	return finished;
}

TEST_F(mode, who_may_set_which)
{
	int fd = open_node(CONTROL_NODE, O_RDONLY);

	EXPECT_EQ(KAPF_MODE_ENFORCE, totals(self->control).mode);
	EXPECT_EQ(-EPERM, set_mode(fd, KAPF_MODE_OFF));
	EXPECT_EQ(-ENOTTY, set_mode(self->fd, KAPF_MODE_OFF));
	EXPECT_EQ(-EINVAL, set_mode(self->control, 0));
	EXPECT_EQ(-EINVAL, set_mode(self->control, KAPF_MODE_OFF + 1));
	EXPECT_EQ(KAPF_MODE_ENFORCE, totals(self->control).mode);
	EXPECT_EQ(0, set_mode(self->control, KAPF_MODE_OFF));
	EXPECT_EQ(KAPF_MODE_OFF, totals(fd).mode);
	EXPECT_EQ(0, set_mode(self->control, KAPF_MODE_OFF));
	close(fd);
}

/* Seven requests, where two execute and two wait: three are too many. */
TEST_F(mode, observe_tells_what_would_be)
{
	struct kapf_level_stats stats;

	ASSERT_EQ(0, set_mode(self->control, KAPF_MODE_OBSERVE));
	EXPECT_EQ(7, admit_many(self, 0, 7));
	stats = level_stats(self->control, "test");
	EXPECT_EQ(7, stats.executing_requests);
	EXPECT_EQ(7, stats.passing_requests);
	EXPECT_EQ(7, stats.dispatched);
	EXPECT_EQ(0, stats.rejected_queue_full);
	EXPECT_EQ(2, stats.seats_in_use);
	EXPECT_EQ(2, stats.waiting_requests);
	EXPECT_EQ(2, stats.observed.dispatched);
	EXPECT_EQ(3, stats.observed.queue_full);

	/* One of those that would wait would be dispatched. */
	EXPECT_EQ(0, finish(self->fd, 0));
	stats = level_stats(self->control, "test");
	EXPECT_EQ(6, stats.executing_requests);
	EXPECT_EQ(2, stats.seats_in_use);
	EXPECT_EQ(1, stats.waiting_requests);
	EXPECT_EQ(3, stats.observed.dispatched);

	/* What would still wait when it is served leaves the queue. */
	EXPECT_EQ(0, finish(self->fd, 3));
	stats = level_stats(self->control, "test");
	EXPECT_EQ(0, stats.waiting_requests);
	EXPECT_EQ(1, stats.observed.cancelled);
	EXPECT_EQ(0, stats.rejected_cancelled);

	EXPECT_EQ(0, finish(self->fd, 1));
	EXPECT_EQ(0, finish(self->fd, 2));
	EXPECT_EQ(3, finish_many(self, 4, 7));
	stats = level_stats(self->control, "test");
	EXPECT_EQ(0, stats.executing_requests);
	EXPECT_EQ(0, stats.passing_requests);
	EXPECT_EQ(0, stats.seats_in_use);
	EXPECT_EQ(0, stats.lingering_requests);
}

TEST_F(mode, observed_time_outs)
{
	struct kapf_op op = request(2, self->schema);
	struct kapf_level_stats stats;
	int i;

	ASSERT_EQ(0, set_mode(self->control, KAPF_MODE_OBSERVE));
	EXPECT_EQ(2, admit_many(self, 0, 2));
	op.max_wait = 1;
	EXPECT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	for (i = 0; i < 500; i++) {
		stats = level_stats(self->control, "test");
		if (stats.observed.time_out)
			break;
		sleep_ms(10);
	}
	EXPECT_EQ(1, stats.observed.time_out);
	EXPECT_EQ(0, stats.rejected_time_out);
	EXPECT_EQ(3, stats.executing_requests);
	EXPECT_EQ(3, finish_many(self, 0, 3));
	EXPECT_EQ(0, seats_in_use(self->control, "test"));
}

TEST_F(mode, observed_concurrency_limit)
{
	struct kapf_level_stats stats;

	self->schema = set_up_reject(self->control, 1);
	ASSERT_EQ(0, set_mode(self->control, KAPF_MODE_OBSERVE));
	EXPECT_EQ(3, admit_many(self, 0, 3));
	stats = level_stats(self->control, "test");
	EXPECT_EQ(1, stats.observed.dispatched);
	EXPECT_EQ(2, stats.observed.concurrency_limit);
	EXPECT_EQ(0, stats.rejected_concurrency_limit);
	/* Nobody has been sent away, who would come back. */
	EXPECT_EQ(1, stats.retry_after);
	EXPECT_EQ(3, finish_many(self, 0, 3));
}

/* Seats that would linger do, until the slot is used again. */
TEST_F(mode, observed_latency)
{
	struct kapf_op op = request(0, self->schema);
	struct kapf_level_stats stats;
	int i;

	op.final_seats = 2;
	op.additional_latency = KAPF_MAX_ADDITIONAL_LATENCY_NS;
	ASSERT_EQ(0, set_mode(self->control, KAPF_MODE_OBSERVE));
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
		EXPECT_EQ(0, finish(self->fd, 0));
		stats = level_stats(self->control, "test");
		EXPECT_EQ(1, stats.lingering_requests);
		EXPECT_EQ(2, stats.seats_in_use);
		EXPECT_EQ(0, stats.executing_requests);
		EXPECT_EQ(i + 1, stats.observed.dispatched);
	}
	close(self->fd);
	EXPECT_EQ(0, seats_in_use(self->control, "test"));
	self->fd = open_session(1);
}

TEST_F(mode, observe_with_events)
{
	struct kapf_op op = request(0, self->schema);
	struct kapf_event event;
	__u32 i;

	ASSERT_EQ(0, set_mode(self->control, KAPF_MODE_OBSERVE));
	for (i = 0; i < 6; i++) {
		op.slot = i;
		op.user_data = 100 + i;
		ASSERT_EQ(1, write_ops(self->fd, &op, 1));
	}
	for (i = 0; i < 6; i++) {
		event = read_event(self->fd);
		EXPECT_EQ(100 + i, event.user_data);
		EXPECT_EQ(KAPF_EXECUTE, event.verdict);
		EXPECT_EQ(0, event.wait);
	}
	EXPECT_EQ(2, level_stats(self->control, "test").observed.queue_full);
	EXPECT_EQ(6, finish_many(self, 0, 6));
}

/* A session from before has shadows, too, and one that ends takes them along. */
TEST_F(mode, sessions_end)
{
	struct kapf_level_stats stats;
	int fd;

	ASSERT_EQ(0, set_mode(self->control, KAPF_MODE_OBSERVE));
	fd = open_session(4);
	EXPECT_EQ(KAPF_EXECUTE, admit(fd, 3, self->schema));
	EXPECT_EQ(5, admit_many(self, 0, 5));
	close(self->fd);
	stats = level_stats(self->control, "test");
	EXPECT_EQ(1, stats.executing_requests);
	EXPECT_EQ(1, stats.seats_in_use);
	EXPECT_EQ(0, stats.waiting_requests);
	EXPECT_EQ(0, finish(fd, 3));
	EXPECT_EQ(0, seats_in_use(self->control, "test"));
	self->fd = fd;
}

/* Caps: 7 requests that only read, none of the others. */
TEST_F(mode, off_caps)
{
	struct kapf_op op = request(7, self->schema);
	struct kapf_level_stats stats;
	struct kapf_get_stats get;
	int ret;

	ASSERT_EQ(0, set_mode(self->control, KAPF_MODE_OFF));
	EXPECT_EQ(7, admit_many(self, 0, 7));
	ret = admit_op(self->fd, op);
	EXPECT_EQ(KAPF_CONCURRENCY_LIMIT, KAPF_VERDICT(ret));
	EXPECT_EQ(1, KAPF_RETRY_AFTER(ret));
	EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, 7, self->exempt));
	op.flags = KAPF_OP_MUTATING;
	for (op.slot = 8; op.slot < 16; op.slot++)
		EXPECT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	get = totals(self->control);
	EXPECT_EQ(7, get.passing_requests);
	EXPECT_EQ(8, get.passing_mutating_requests);
	stats = level_stats(self->control, "test");
	EXPECT_EQ(15, stats.passing_requests);
	EXPECT_EQ(15, stats.executing_requests);
	EXPECT_EQ(1, stats.rejected_concurrency_limit);
	EXPECT_EQ(0, stats.seats_in_use);
	EXPECT_EQ(0, stats.observed.dispatched);

	EXPECT_EQ(0, finish(self->fd, 0));
	EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, 0, self->schema));
	EXPECT_EQ(16, finish_many(self, 0, 16));
	EXPECT_EQ(KAPF_RECLASSIFY, admit(self->fd, 1, ~0u));
	get = totals(self->control);
	EXPECT_EQ(0, get.passing_requests);
	EXPECT_EQ(0, get.passing_mutating_requests);
	EXPECT_EQ(0, level_stats(self->control, "test").passing_requests);
}

TEST_F(mode, off_ends_with_the_session)
{
	ASSERT_EQ(0, set_mode(self->control, KAPF_MODE_OFF));
	EXPECT_EQ(3, admit_many(self, 0, 3));
	close(self->fd);
	EXPECT_EQ(0, totals(self->control).passing_requests);
	EXPECT_EQ(0, level_stats(self->control, "test").passing_requests);
	self->fd = open_session(1);
}

/* What an EVICT tells of: requests from before the mode, and exempt ones. */
static void evict_in_mode(struct __test_metadata *_metadata,
			  struct _test_data_mode *self, __u32 mode)
{
	struct kapf_evict evict = { .size = sizeof(evict) };
	struct kapf_op op = request(1, self->exempt);

	evict.session = last_session(self->control);
	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 0, self->schema));
	ASSERT_EQ(0, set_mode(self->control, mode));
	op.initial_seats = 7;
	EXPECT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	EXPECT_EQ(4, admit_many(self, 2, 6));
	op = request(6, self->schema);
	EXPECT_EQ(1, write_ops(self->fd, &op, 1));
	EXPECT_EQ(0, call(self->control, KAPF_EVICT, &evict));
	EXPECT_EQ(2, evict.requests);
	EXPECT_EQ(8, evict.seats);
	EXPECT_EQ(0, evict.waiting);
	EXPECT_EQ(0, level_stats(self->control, "test").executing_requests);
	EXPECT_EQ(0, seats_in_use(self->control, "test"));
}

TEST_F(mode, observe_evicts_no_seats_of_those_that_pass)
{
	evict_in_mode(_metadata, self, KAPF_MODE_OBSERVE);
}

TEST_F(mode, off_evicts_no_seats_of_those_that_pass)
{
	evict_in_mode(_metadata, self, KAPF_MODE_OFF);
}

/* Two execute, two wait. */
static void two_wait(struct _test_data_mode *self, struct waiter *waiters)
{
	if (admit_many(self, 0, 2) != 2)
		die("the level is not empty");
	waiter_start(&waiters[0], self->fd, request(2, self->schema));
	waiter_start(&waiters[1], self->fd, request(3, self->schema));
	if (!await_waiting(self->control, 2))
		die("nobody waits");
}

static void grants(struct __test_metadata *_metadata,
		   struct _test_data_mode *self, __u32 mode)
{
	struct waiter waiters[2];

	two_wait(self, waiters);
	ASSERT_EQ(0, set_mode(self->control, mode));
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&waiters[0]));
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&waiters[1]));
	/* Until they finish they have seats. */
	EXPECT_EQ(4, seats_in_use(self->control, "test"));
	EXPECT_EQ(2, level_stats(self->control, "test").current_seats);
	EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, 4, self->schema));
	EXPECT_EQ(5, finish_many(self, 0, 5));
	EXPECT_EQ(0, seats_in_use(self->control, "test"));
	EXPECT_EQ(0, totals(self->control).passing_requests);
}

TEST_F(mode, who_waits_is_granted_into_observe)
{
	grants(_metadata, self, KAPF_MODE_OBSERVE);
}

TEST_F(mode, who_waits_is_granted_into_off)
{
	grants(_metadata, self, KAPF_MODE_OFF);
}

/* Those that would have waited wait no more, and nobody notices. */
TEST_F(mode, out_of_observe)
{
	struct kapf_op op = request(5, self->schema);
	struct kapf_level_stats stats;

	ASSERT_EQ(0, set_mode(self->control, KAPF_MODE_OBSERVE));
	EXPECT_EQ(4, admit_many(self, 0, 4));
	ASSERT_EQ(2, level_stats(self->control, "test").waiting_requests);
	ASSERT_EQ(0, set_mode(self->control, KAPF_MODE_ENFORCE));
	stats = level_stats(self->control, "test");
	EXPECT_EQ(0, stats.waiting_requests);
	EXPECT_EQ(2, stats.seats_in_use);
	EXPECT_EQ(4, stats.executing_requests);
	/* From now on it is real. */
	op.flags = KAPF_OP_NOWAIT;
	EXPECT_EQ(KAPF_QUEUED, KAPF_VERDICT(admit_op(self->fd, op)));
	EXPECT_EQ(4, finish_many(self, 0, 4));
	EXPECT_EQ(KAPF_EXECUTE, read_event(self->fd).verdict);
	EXPECT_EQ(0, finish(self->fd, 5));
	stats = level_stats(self->control, "test");
	EXPECT_EQ(0, stats.seats_in_use);
	EXPECT_EQ(0, stats.executing_requests);
}

/* A request that began in mode off ends so, whatever the mode is then. */
TEST_F(mode, off_books_in_enforce)
{
	ASSERT_EQ(0, set_mode(self->control, KAPF_MODE_OFF));
	EXPECT_EQ(4, admit_many(self, 0, 4));
	ASSERT_EQ(0, set_mode(self->control, KAPF_MODE_ENFORCE));
	EXPECT_EQ(2, admit_many(self, 4, 6));
	EXPECT_EQ(4, totals(self->control).passing_requests);
	EXPECT_EQ(4, finish_many(self, 0, 4));
	EXPECT_EQ(0, totals(self->control).passing_requests);
	EXPECT_EQ(2, seats_in_use(self->control, "test"));
	EXPECT_EQ(2, finish_many(self, 4, 6));
	EXPECT_EQ(0, seats_in_use(self->control, "test"));
}

/* What passes holds its level and schema as what has seats does. */
TEST_F(mode, passing_through_a_level_that_drains)
{
	struct kapf_get_stats get;
	__u32 mode;

	for (mode = KAPF_MODE_OBSERVE; mode <= KAPF_MODE_OFF; mode++) {
		self->schema = set_up_queues(self->control, 2, 1, 1, 2);
		ASSERT_EQ(0, set_mode(self->control, mode));
		EXPECT_EQ(6, admit_many(self, 0, 6));
		set_up_bare(self->control);
		get = totals(self->control);
		EXPECT_EQ(3, get.nr_levels);
		EXPECT_EQ(KAPF_RECLASSIFY, admit(self->fd, 7, self->schema));
		EXPECT_EQ(6, finish_many(self, 0, 6));
		set_up_bare(self->control);
		EXPECT_EQ(2, totals(self->control).nr_levels);
	}
}

struct switcher {
	int control;
	bool stop;
	unsigned long switches;
};

static void *switcher_main(void *arg)
{
	struct switcher *switcher = arg;

	while (!__atomic_load_n(&switcher->stop, __ATOMIC_RELAXED)) {
		if (set_mode(switcher->control, 1 + switcher->switches % 3))
			die("SET_MODE");
		switcher->switches++;
	}
	return NULL;
}

/* Whatever the mode was, each request gets an answer, and nothing is left. */
TEST_F(mode, changes_under_load)
{
	struct switcher switcher = { .control = self->control };
	struct kapf_level_stats stats;
	unsigned int refused = 0, requests = 0;
	__u64 end = now_ns() + 5 * NSEC_PER_SEC;
	struct waiter waiters[8];
	pthread_t thread;
	struct kapf_op op;
	int j, verdict;

	ASSERT_EQ(0, pthread_create(&thread, NULL, switcher_main, &switcher));
	while (now_ns() < end) {
		for (j = 0; j < 8; j++, requests++) {
			op = request(j, self->schema);
			op.max_wait = NSEC_PER_MSEC;
			op.final_seats = j % 2;
			op.additional_latency = op.final_seats * 1000;
			waiter_start(&waiters[j], self->fd, op);
		}
		for (j = 0; j < 8; j++) {
			verdict = waiter_join(&waiters[j]);
			refused += verdict != KAPF_EXECUTE;
			if (verdict == KAPF_EXECUTE)
				EXPECT_LE(0, finish(self->fd, j));
		}
		sleep_ms(1);
	}
	__atomic_store_n(&switcher.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	ASSERT_EQ(0, set_mode(self->control, KAPF_MODE_ENFORCE));
	close(self->fd);
	stats = level_stats(self->control, "test");
	EXPECT_EQ(0, stats.seats_in_use);
	EXPECT_EQ(0, stats.waiting_requests);
	EXPECT_EQ(0, stats.executing_requests);
	EXPECT_EQ(0, stats.passing_requests);
	EXPECT_EQ(0, totals(self->control).passing_requests);
	TH_LOG("%lu switches, %u of %u refused", switcher.switches, refused,
	       requests);
	self->fd = open_session(1);
}

TEST_HARNESS_MAIN
