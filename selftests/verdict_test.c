// SPDX-License-Identifier: GPL-2.0
/*
 * The verdicts: when a request gets which, what comes with it, how it is
 * counted, and that nothing of a refused request is left.
 */
#include "kapf_test.h"

FIXTURE(verdict) {
	int control;
	int fd;
};

FIXTURE_SETUP(verdict)
{
	self->control = open_node(CONTROL_NODE, O_RDWR);
	self->fd = open_session(1024);
}

FIXTURE_TEARDOWN(verdict)
{
	close(self->fd);
	close(self->control);
}

/* @ret is refusal @verdict with a Retry-After that a client can use. */
#define EXPECT_REFUSED(verdict, ret) do {				\
	int ret__ = (ret);						\
									\
	EXPECT_EQ(verdict, KAPF_VERDICT(ret__));			\
	EXPECT_LE(1, KAPF_RETRY_AFTER(ret__));				\
	EXPECT_GE(32, KAPF_RETRY_AFTER(ret__));				\
} while (0)

/* @ret is @verdict, which is no refusal. */
#define EXPECT_VERDICT(verdict, ret) do {				\
	int ret__ = (ret);						\
									\
	EXPECT_EQ(verdict, KAPF_VERDICT(ret__));			\
	EXPECT_EQ(0, KAPF_RETRY_AFTER(ret__));				\
} while (0)

TEST_F(verdict, execute_when_seats_are_free)
{
	__u32 schema = set_up_queues(self->control, 2, 1, 1, 1);
	struct kapf_level_stats stats;
	int ret;

	ret = admit_op(self->fd, request(0, schema));
	EXPECT_VERDICT(KAPF_EXECUTE, ret);
	EXPECT_EQ(0, ret & ~(0xffff | KAPF_STALE));
	stats = level_stats(self->control, "test");
	EXPECT_EQ(1, stats.executing_requests);
	EXPECT_EQ(1, stats.seats_in_use);
	EXPECT_EQ(1, stats.dispatched);
	EXPECT_EQ(0, stats.waiting_requests);
	EXPECT_EQ(0, finish(self->fd, 0));
	stats = level_stats(self->control, "test");
	EXPECT_EQ(0, stats.executing_requests);
	EXPECT_EQ(0, stats.seats_in_use);
	EXPECT_EQ(1, stats.dispatched);
}

TEST_F(verdict, queue_full)
{
	__u32 schema = set_up_queues(self->control, 1, 1, 1, 2);
	struct kapf_level_stats stats;
	struct waiter waiters[2];

	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 0, schema));
	waiter_start(&waiters[0], self->fd, request(1, schema));
	waiter_start(&waiters[1], self->fd, request(2, schema));
	ASSERT_TRUE(await_waiting(self->control, 2));
	EXPECT_REFUSED(KAPF_QUEUE_FULL,
		       admit_op(self->fd, request(3, schema)));
	stats = level_stats(self->control, "test");
	EXPECT_EQ(1, stats.rejected_queue_full);
	EXPECT_EQ(0, stats.rejected_concurrency_limit);
	EXPECT_EQ(0, stats.rejected_time_out);
	EXPECT_EQ(0, stats.rejected_cancelled);
	EXPECT_EQ(2, stats.waiting_requests);
	EXPECT_EQ(2, stats.waiting_seats);
	EXPECT_EQ(1, stats.active_queues);
	EXPECT_EQ(-ENOENT, finish(self->fd, 3));

	EXPECT_EQ(0, finish(self->fd, 0));
	while (requests_known(self->control)) {
		finish(self->fd, 1);
		finish(self->fd, 2);
	}
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&waiters[0]));
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&waiters[1]));
	EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, 3, schema));
}

TEST_F(verdict, concurrency_limit_of_a_level_that_rejects)
{
	__u32 schema = set_up_reject(self->control, 2);
	struct kapf_level_stats stats;

	EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, 0, schema));
	EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, 1, schema));
	EXPECT_REFUSED(KAPF_CONCURRENCY_LIMIT,
		       admit_op(self->fd, request(2, schema)));
	stats = level_stats(self->control, "test");
	EXPECT_EQ(2, stats.dispatched);
	EXPECT_EQ(2, stats.seats_in_use);
	EXPECT_EQ(1, stats.rejected_concurrency_limit);
	EXPECT_EQ(0, stats.rejected_queue_full);
	EXPECT_EQ(-ENOENT, finish(self->fd, 2));
	EXPECT_EQ(0, finish(self->fd, 0));
	EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, 2, schema));
}

TEST_F(verdict, concurrency_limit_of_a_level_without_seats)
{
	__u32 schema = set_up_reject(self->control, 0);

	EXPECT_REFUSED(KAPF_CONCURRENCY_LIMIT,
		       admit_op(self->fd, request(0, schema)));
}

TEST_F(verdict, concurrency_limit_of_a_request_that_does_not_queue)
{
	__u32 schema = set_up_queues(self->control, 1, 1, 1, 10);
	struct kapf_op op = request(1, schema);

	op.flags = KAPF_OP_NOQUEUE;
	EXPECT_VERDICT(KAPF_EXECUTE, admit_op(self->fd, op));
	op.slot = 2;
	EXPECT_REFUSED(KAPF_CONCURRENCY_LIMIT, admit_op(self->fd, op));
	EXPECT_EQ(1, level_stats(self->control, "test")
		  .rejected_concurrency_limit);
	EXPECT_EQ(0, level_stats(self->control, "test").waiting_requests);
}

/* It may not overtake: a wide request waits although a seat is free. */
TEST_F(verdict, concurrency_limit_behind_one_that_waits)
{
	__u32 schema = set_up_queues(self->control, 2, 8, 1, 10);
	struct kapf_op wide = request(1, schema);
	struct kapf_op op = request(2, schema);
	struct waiter waiter;

	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 0, schema));
	wide.initial_seats = 2;
	waiter_start(&waiter, self->fd, wide);
	ASSERT_TRUE(await_waiting(self->control, 1));
	op.flags = KAPF_OP_NOQUEUE;
	op.flow_hash = 3;
	EXPECT_REFUSED(KAPF_CONCURRENCY_LIMIT, admit_op(self->fd, op));
	EXPECT_EQ(1, level_stats(self->control, "test").waiting_requests);
	EXPECT_EQ(0, finish(self->fd, 0));
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&waiter));
}

TEST_F(verdict, time_out)
{
	__u32 schema = set_up_queues(self->control, 1, 1, 1, 1);
	struct kapf_op op = request(1, schema);
	struct kapf_level_stats stats;

	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 0, schema));
	op.max_wait = 50 * NSEC_PER_MSEC;
	EXPECT_REFUSED(KAPF_TIME_OUT, admit_op(self->fd, op));
	stats = level_stats(self->control, "test");
	EXPECT_EQ(1, stats.rejected_time_out);
	EXPECT_EQ(0, stats.rejected_cancelled);
	EXPECT_EQ(0, stats.rejected_queue_full);
	EXPECT_EQ(0, stats.waiting_requests);
	EXPECT_EQ(0, stats.waiting_seats);
	EXPECT_EQ(1, stats.dispatched);
	EXPECT_EQ(-ENOENT, finish(self->fd, 1));
}

TEST_F(verdict, reclassify_what_never_was)
{
	__u32 schema = set_up_queues(self->control, 1, 1, 1, 1);
	const __u32 ids[] = { 0, schema + 1, schema + 4096, 0x7fffffff, ~0u };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ids); i++) {
		EXPECT_VERDICT(KAPF_RECLASSIFY,
			       admit_op(self->fd, request(0, ids[i])));
		EXPECT_EQ(-ENOENT, finish(self->fd, 0));
	}
	EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, 0, schema));
}

TEST_F(verdict, reclassify_what_is_gone)
{
	__u32 schema = set_up_queues(self->control, 1, 1, 1, 1);

	set_up_bare(self->control);
	EXPECT_VERDICT(KAPF_RECLASSIFY,
		       admit_op(self->fd, request(0, schema)));
	/* It comes back under another id. */
	EXPECT_NE(schema, set_up_queues(self->control, 1, 1, 1, 1));
	EXPECT_VERDICT(KAPF_RECLASSIFY,
		       admit_op(self->fd, request(0, schema)));
}

TEST_F(verdict, reclassify_while_the_level_is_missing)
{
	struct image image;
	__u32 schema;

	image_init(&image);
	image_schema(&image, "loose", 50, "later", "[]");
	set_up(self->control, &image);
	schema = schema_id(self->control, "loose");
	EXPECT_VERDICT(KAPF_RECLASSIFY,
		       admit_op(self->fd, request(0, schema)));
	image_level(&image, "later", KAPF_LEVEL_REJECT, 1);
	ASSERT_EQ(0, set_image(self->control, &image, NULL));
	EXPECT_VERDICT(KAPF_EXECUTE, admit_op(self->fd, request(0, schema)));
	EXPECT_EQ(1, seats_in_use(self->control, "later"));
	EXPECT_EQ(0, finish(self->fd, 0));
	image_free(&image);
}

TEST_F(verdict, schema_follows_its_level)
{
	struct image image;
	__u32 schema = set_up_queues(self->control, 1, 1, 1, 1);

	image_init(&image);
	image_queues(&image, "test", 1, 1, 1, 1);
	image_level(&image, "other", KAPF_LEVEL_REJECT, 1);
	image_schema(&image, "test", 100, "other", "[]");
	ASSERT_EQ(0, set_image(self->control, &image, NULL));
	EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, 0, schema));
	EXPECT_EQ(1, seats_in_use(self->control, "other"));
	EXPECT_EQ(0, seats_in_use(self->control, "test"));
	EXPECT_EQ(0, finish(self->fd, 0));
	image_free(&image);
}

/* STALE */

TEST_F(verdict, stale_until_the_configuration_is_read)
{
	struct kapf_get_config get = { .size = sizeof(get) };
	__u32 schema = set_up_reject(self->control, 4);
	int other = open_session(1);
	size_t len;

	free(get_image(self->fd, &len));
	EXPECT_EQ(0, admit_op(self->fd, request(0, schema)) & KAPF_STALE);
	EXPECT_EQ(0, finish(self->fd, 0));

	schema = set_up_reject(self->control, 4);
	EXPECT_NE(0, admit_op(self->fd, request(0, schema)) & KAPF_STALE);
	/* Neither a read without room nor that of others makes it fresh. */
	EXPECT_EQ(-ERANGE, call(self->fd, KAPF_GET_CONFIG, &get));
	free(get_image(self->control, &len));
	free(get_image(other, &len));
	EXPECT_NE(0, admit_op(self->fd, request(1, schema)) & KAPF_STALE);
	/* Also with other verdicts. */
	EXPECT_EQ(KAPF_RECLASSIFY | KAPF_STALE,
		  admit_op(self->fd, request(2, 0)));
	free(get_image(self->fd, &len));
	EXPECT_EQ(0, admit_op(self->fd, request(2, schema)) & KAPF_STALE);
	close(other);
}

TEST_F(verdict, stale_before_the_first_read)
{
	__u32 schema = set_up_reject(self->control, 1);
	int fd = open_session(1);

	EXPECT_NE(0, admit_op(fd, request(0, schema)) & KAPF_STALE);
	close(fd);
}

/* Retry-After */

/* Drops are counted by seconds of CLOCK_MONOTONIC. */
static void await_new_second(void)
{
	sleep_ms(1020 - now_ns() % NSEC_PER_SEC / NSEC_PER_MSEC);
}

/* Have @nr requests refused; the Retry-After of the first. */
static int refuse(int fd, __u32 schema, int nr)
{
	int first = KAPF_RETRY_AFTER(admit_op(fd, request(1, schema)));

	while (--nr > 0)
		admit_op(fd, request(1, schema));
	return first;
}

TEST_F(verdict, retry_after_follows_the_drops)
{
	__u32 schema = set_up_reject(self->control, 1);

	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 0, schema));
	await_new_second();
	EXPECT_EQ(1, refuse(self->fd, schema, 10));
	EXPECT_EQ(1, level_stats(self->control, "test").retry_after);
	await_new_second();
	EXPECT_EQ(2, refuse(self->fd, schema, 20));
	EXPECT_EQ(2, level_stats(self->control, "test").retry_after);
	/* Two whole seconds without a drop: it comes down by one. */
	sleep_ms(2000);
	await_new_second();
	EXPECT_EQ(1, refuse(self->fd, schema, 1));
	EXPECT_EQ(1, level_stats(self->control, "test").retry_after);
}

TEST_F(verdict, retry_after_is_of_the_level)
{
	__u32 schema = set_up_reject(self->control, 1);

	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 0, schema));
	await_new_second();
	refuse(self->fd, schema, 10);
	await_new_second();
	EXPECT_EQ(2, refuse(self->fd, schema, 1));
	EXPECT_EQ(1, level_stats(self->control, "catch-all").retry_after);
}

/* The exempt level */

TEST_F(verdict, exempt_when_all_else_is_full)
{
	__u32 schema = set_up_queues(self->control, 1, 1, 1, 1);
	__u32 catch_all = schema_id(self->control, "catch-all");
	__u32 exempt = schema_id(self->control, "exempt");
	struct kapf_op op = request(9, exempt);
	struct kapf_level_stats stats;
	struct waiter waiter;
	__u32 slot;

	for (slot = 0; slot < 5; slot++)
		ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, slot, catch_all));
	ASSERT_EQ(KAPF_CONCURRENCY_LIMIT, admit(self->fd, 5, catch_all));
	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 5, schema));
	waiter_start(&waiter, self->fd, request(6, schema));
	ASSERT_TRUE(await_waiting(self->control, 1));
	ASSERT_EQ(KAPF_QUEUE_FULL, admit(self->fd, 7, schema));

	EXPECT_VERDICT(KAPF_EXECUTE, admit_op(self->fd, request(8, exempt)));
	op.initial_seats = KAPF_MAX_WIDTH;
	EXPECT_VERDICT(KAPF_EXECUTE, admit_op(self->fd, op));
	stats = level_stats(self->control, "exempt");
	EXPECT_EQ(KAPF_LEVEL_EXEMPT, stats.type);
	EXPECT_EQ(0, stats.current_seats);
	EXPECT_EQ(2, stats.executing_requests);
	EXPECT_EQ(KAPF_MAX_WIDTH + 1, stats.seats_in_use);
	EXPECT_EQ(1, seats_in_use(self->control, "test"));

	EXPECT_EQ(0, finish(self->fd, 5));
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&waiter));
}

TEST_F(verdict, exempt_without_limit_and_counted)
{
	__u32 exempt = schema_id(self->control, "exempt");
	struct kapf_level_stats before, stats;
	__u32 slot;

	set_up_bare(self->control);
	before = level_stats(self->control, "exempt");
	for (slot = 0; slot < 1024; slot++)
		ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, slot, exempt));
	stats = level_stats(self->control, "exempt");
	EXPECT_EQ(1024, stats.executing_requests);
	EXPECT_EQ(1024, stats.seats_in_use);
	EXPECT_EQ(before.dispatched + 1024, stats.dispatched);
	for (slot = 0; slot < 1024; slot++)
		ASSERT_EQ(0, finish(self->fd, slot));
	stats = level_stats(self->control, "exempt");
	EXPECT_EQ(0, stats.executing_requests);
	EXPECT_EQ(0, stats.seats_in_use);
	EXPECT_EQ(before.dispatched + 1024, stats.dispatched);
}

TEST_F(verdict, exempt_lingers)
{
	__u32 exempt = schema_id(self->control, "exempt");
	struct kapf_op op = request(0, exempt);
	struct kapf_level_stats stats;

	op.final_seats = 3;
	op.additional_latency = 500 * NSEC_PER_MSEC;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	EXPECT_EQ(3, seats_in_use(self->control, "exempt"));
	EXPECT_EQ(500, finish(self->fd, 0));
	stats = level_stats(self->control, "exempt");
	EXPECT_EQ(0, stats.executing_requests);
	EXPECT_EQ(1, stats.lingering_requests);
	EXPECT_EQ(3, stats.seats_in_use);
	EXPECT_EQ(-EBUSY, admit(self->fd, 0, exempt));
	sleep_ms(800);
	stats = level_stats(self->control, "exempt");
	EXPECT_EQ(0, stats.lingering_requests);
	EXPECT_EQ(0, stats.seats_in_use);
	EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, 0, exempt));
}

TEST_HARNESS_MAIN
