// SPDX-License-Identifier: GPL-2.0
/*
 * Requests of more than one seat: what they hold, when one that is wider than
 * its level is served, that nothing overtakes it, and what becomes of final
 * seats that the level does not have.
 */
#include "schema.h"

FIXTURE(width) {
	int control;
	int fd;
	__u32 schema;	/* of a level with 4 seats and 8 queues */
};

FIXTURE_SETUP(width)
{
	self->control = open_node(CONTROL_NODE, O_RDWR);
	self->schema = set_up_queues(self->control, 4, 8, 1, 10);
	self->fd = open_session(16);
}

FIXTURE_TEARDOWN(width)
{
	close(self->fd);
	close(self->control);
}

static struct kapf_op wide(struct _test_data_width *self, __u32 slot,
			   __u16 initial_seats, __u16 final_seats)
{
	struct kapf_op op = request(slot, self->schema);

	op.initial_seats = initial_seats;
	op.final_seats = final_seats;
	op.flow_hash = slot;
	return op;
}

static int admit_wide(struct _test_data_width *self, __u32 slot,
		      __u16 initial_seats, __u16 final_seats)
{
	int ret = admit_op(self->fd, wide(self, slot, initial_seats,
					  final_seats));

	return ret < 0 ? ret : KAPF_VERDICT(ret);
}

/*
 * Time in which virtual time passes the finish of whatever waits now, so that
 * who comes later is behind it in every queue.
 */
static void let_virtual_time_pass(void)
{
	sleep_ms(200);
}

static __u64 in_use(struct _test_data_width *self)
{
	return seats_in_use(self->control, "test");
}

/* The one request in @slot of the session, as GET_REQUESTS shows it. */
static struct kapf_request_info shown(struct _test_data_width *self, __u32 slot)
{
	struct kapf_request_info info = { 0 };
	struct kapf_get_requests get = {
		.size = sizeof(get),
		.request_size = sizeof(info),
		.nr = 1,
		.requests = (uintptr_t)&info,
		.slot = slot,
	};

	errno = -call(self->fd, KAPF_GET_REQUESTS, &get);
	if (errno || get.nr != 1 || info.slot != slot)
		die("GET_REQUESTS");
	return info;
}

TEST_F(width, is_the_larger_of_initial_and_final)
{
	static const __u16 seats[][3] = {
		{ 1, 0, 1 }, { 2, 1, 2 }, { 1, 3, 3 }, { 4, 4, 4 }, { 3, 0, 3 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(seats); i++) {
		EXPECT_EQ(KAPF_EXECUTE, admit_wide(self, 0, seats[i][0],
						   seats[i][1]));
		EXPECT_EQ(seats[i][2], in_use(self));
		EXPECT_EQ(0, finish(self->fd, 0));
		EXPECT_EQ(0, in_use(self));
	}
}

TEST_F(width, waiting_seats_are_widths)
{
	struct waiter waiters[2];

	ASSERT_EQ(KAPF_EXECUTE, admit_wide(self, 0, 4, 0));
	waiter_start(&waiters[0], self->fd, wide(self, 1, 1, 3));
	waiter_start(&waiters[1], self->fd, wide(self, 2, 2, 0));
	ASSERT_TRUE(await_waiting(self->control, 2));
	EXPECT_EQ(5, level_stats(self->control, "test").waiting_seats);
	EXPECT_EQ(4, in_use(self));
	EXPECT_EQ(0, finish(self->fd, 0));
	/* 3 and 2 do not fit together. */
	ASSERT_TRUE(await_waiting(self->control, 1));
	EXPECT_EQ(in_use(self), 5 - level_stats(self->control, "test")
		  .waiting_seats);
	while (requests_known(self->control)) {
		finish(self->fd, 1);
		finish(self->fd, 2);
	}
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&waiters[0]));
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&waiters[1]));
}

TEST_F(width, exactly_the_limit_fits)
{
	EXPECT_EQ(KAPF_EXECUTE, admit_wide(self, 0, 3, 0));
	EXPECT_EQ(KAPF_EXECUTE, admit_wide(self, 1, 1, 0));
	EXPECT_EQ(4, in_use(self));
	EXPECT_EQ(0, level_stats(self->control, "test").no_accommodation);
}

/* A seat is free, but the next request, of the second schema, needs two. */
TEST_F(width, whose_request_is_too_wide)
{
	struct image image;
	struct kapf_op op;
	__u32 other;

	image_init(&image);
	image_queues(&image, "test", 4, 8, 1, 10);
	image_schema(&image, "test", 100, "test", "[]");
	image_schema(&image, "other", 200, "test", "[]");
	set_up(self->control, &image);
	image_free(&image);
	self->schema = schema_id(self->control, "test");
	other = schema_id(self->control, "other");

	ASSERT_EQ(KAPF_EXECUTE, admit_wide(self, 0, 3, 0));
	op = wide(self, 1, 2, 0);
	op.schema = other;
	op.flags = KAPF_OP_NOWAIT;
	ASSERT_EQ(KAPF_QUEUED, KAPF_VERDICT(admit_op(self->fd, op)));
	EXPECT_EQ(1, level_stats(self->control, "test").no_accommodation);
	EXPECT_EQ(1, schema_stats(self->control, other).no_accommodation);
	EXPECT_EQ(0, schema_stats(self->control, self->schema)
		     .no_accommodation);
}

/* Wider than the level */

TEST_F(width, lone_wide_request_runs_when_it_is_alone)
{
	EXPECT_EQ(KAPF_EXECUTE, admit_wide(self, 0, 10, 0));
	EXPECT_EQ(10, in_use(self));
	EXPECT_EQ(0, finish(self->fd, 0));
	EXPECT_EQ(0, in_use(self));
}

TEST_F(width, lone_wide_request_waits_for_all_others)
{
	struct waiter waiters[2];

	ASSERT_EQ(KAPF_EXECUTE, admit_wide(self, 0, 1, 0));
	ASSERT_EQ(KAPF_EXECUTE, admit_wide(self, 1, 1, 0));
	waiter_start(&waiters[0], self->fd, wide(self, 2, 10, 0));
	ASSERT_TRUE(await_waiting(self->control, 1));
	let_virtual_time_pass();
	/* A narrow one behind it, in another queue, could have a seat. */
	waiter_start(&waiters[1], self->fd, wide(self, 3, 1, 0));
	ASSERT_TRUE(await_waiting(self->control, 2));
	EXPECT_EQ(0, finish(self->fd, 0));
	sleep_ms(50);
	EXPECT_EQ(2, level_stats(self->control, "test").waiting_requests);
	EXPECT_EQ(1, in_use(self));
	EXPECT_LE(1, level_stats(self->control, "test").no_accommodation);
	EXPECT_EQ(0, finish(self->fd, 1));
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&waiters[0]));
	EXPECT_EQ(10, in_use(self));
	EXPECT_EQ(1, level_stats(self->control, "test").waiting_requests);
	/* Nobody beside it. */
	EXPECT_EQ(0, finish(self->fd, 2));
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&waiters[1]));
	EXPECT_EQ(1, in_use(self));
}

TEST_F(width, nothing_overtakes_one_that_fits_later)
{
	struct waiter waiters[2];

	ASSERT_EQ(KAPF_EXECUTE, admit_wide(self, 0, 2, 0));
	waiter_start(&waiters[0], self->fd, wide(self, 1, 3, 0));
	ASSERT_TRUE(await_waiting(self->control, 1));
	let_virtual_time_pass();
	waiter_start(&waiters[1], self->fd, wide(self, 2, 1, 0));
	ASSERT_TRUE(await_waiting(self->control, 2));
	sleep_ms(20);
	EXPECT_EQ(2, in_use(self));
	EXPECT_EQ(0, finish(self->fd, 0));
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&waiters[0]));
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&waiters[1]));
	EXPECT_EQ(4, in_use(self));
}

/* When a wide request gives up, those behind it need no other event. */
TEST_F(width, timed_out_wide_request_lets_others_in)
{
	struct kapf_op op = wide(self, 1, 4, 0);
	struct waiter waiters[2];

	ASSERT_EQ(KAPF_EXECUTE, admit_wide(self, 0, 1, 0));
	op.max_wait = 1500 * NSEC_PER_MSEC;
	waiter_start(&waiters[0], self->fd, op);
	ASSERT_TRUE(await_waiting(self->control, 1));
	let_virtual_time_pass();
	waiter_start(&waiters[1], self->fd, wide(self, 2, 1, 0));
	ASSERT_TRUE(await_waiting(self->control, 2));
	EXPECT_EQ(KAPF_TIME_OUT, waiter_join(&waiters[0]));
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&waiters[1]));
	EXPECT_GE(3 * NSEC_PER_SEC, waiters[1].waited);
	EXPECT_EQ(2, in_use(self));
}

/* A level without queues knows lone wide requests, too. */
TEST_F(width, lone_wide_request_of_a_level_that_rejects)
{
	self->schema = set_up_reject(self->control, 4);
	EXPECT_EQ(KAPF_EXECUTE, admit_wide(self, 0, 10, 0));
	EXPECT_EQ(10, in_use(self));
	EXPECT_EQ(KAPF_CONCURRENCY_LIMIT, admit_wide(self, 1, 1, 0));
	EXPECT_EQ(0, finish(self->fd, 0));
	EXPECT_EQ(KAPF_EXECUTE, admit_wide(self, 1, 1, 0));
	EXPECT_EQ(KAPF_CONCURRENCY_LIMIT, admit_wide(self, 2, 10, 0));
	EXPECT_EQ(KAPF_CONCURRENCY_LIMIT, admit_wide(self, 2, 4, 0));
	EXPECT_EQ(KAPF_EXECUTE, admit_wide(self, 2, 3, 0));
}

/* Lingering seats count against the limit, but a lone request may pass them. */
TEST_F(width, lone_wide_request_beside_lingering_seats)
{
	struct kapf_op op = wide(self, 0, 1, 1);

	op.additional_latency = 10 * NSEC_PER_SEC;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	ASSERT_EQ(10000, finish(self->fd, 0));
	EXPECT_EQ(KAPF_EXECUTE, admit_wide(self, 1, 10, 0));
	EXPECT_EQ(11, in_use(self));
}

TEST_F(width, lingering_seats_that_fill_the_level)
{
	struct kapf_op op = wide(self, 0, 1, 4);
	struct waiter waiter;

	op.additional_latency = 600 * NSEC_PER_MSEC;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	ASSERT_EQ(600, finish(self->fd, 0));
	EXPECT_EQ(4, in_use(self));
	waiter_start(&waiter, self->fd, wide(self, 1, 10, 0));
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&waiter));
	EXPECT_LE(200 * NSEC_PER_MSEC, waiter.waited);
	EXPECT_EQ(10, in_use(self));
}

/* Final seats */

TEST_F(width, final_seats_linger_after_finish)
{
	struct kapf_op op = wide(self, 0, 1, 3);
	struct kapf_level_stats stats;

	op.additional_latency = 600 * NSEC_PER_MSEC;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	EXPECT_EQ(3, in_use(self));
	EXPECT_EQ(600, finish(self->fd, 0));
	stats = level_stats(self->control, "test");
	EXPECT_EQ(3, stats.seats_in_use);
	EXPECT_EQ(0, stats.executing_requests);
	EXPECT_EQ(1, stats.lingering_requests);
	EXPECT_EQ(KAPF_EXECUTE, admit_wide(self, 1, 1, 0));
	ASSERT_TRUE(await_seats(self->control, 1));
}

/*
 * More final seats than the level has: it gets all that there are, for longer,
 * so that the work is the same.
 */
static void expect_cut(struct __test_metadata *_metadata,
		       struct _test_data_width *self, struct kapf_op op,
		       __u16 seats, __u64 latency)
{
	struct kapf_request_info info;

	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	info = shown(self, op.slot);
	EXPECT_EQ(op.initial_seats, info.initial_seats);
	EXPECT_EQ(seats, info.final_seats);
	EXPECT_EQ(latency, info.additional_latency);
	EXPECT_EQ(op.initial_seats > seats ? op.initial_seats : seats,
		  in_use(self));
	EXPECT_EQ((latency + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC,
		  finish(self->fd, op.slot));
}

TEST_F(width, final_seats_are_cut_to_the_level)
{
	struct kapf_op op = wide(self, 0, 1, 8);

	op.additional_latency = NSEC_PER_SEC;
	expect_cut(_metadata, self, op, 4, 2 * NSEC_PER_SEC);
}

TEST_F(width, cut_latency_is_truncated)
{
	struct kapf_op op = wide(self, 0, 1, 5);

	self->schema = set_up_queues(self->control, 3, 8, 1, 10);
	op.schema = self->schema;
	op.additional_latency = NSEC_PER_SEC;
	expect_cut(_metadata, self, op, 3, 1666666666);
}

TEST_F(width, cut_of_the_largest)
{
	struct kapf_op op = wide(self, 0, KAPF_MAX_WIDTH, KAPF_MAX_WIDTH);

	self->schema = set_up_queues(self->control, 1, 8, 1, 10);
	op.schema = self->schema;
	op.additional_latency = 60 * NSEC_PER_SEC;
	expect_cut(_metadata, self, op, 1, 60000 * NSEC_PER_SEC);
}

TEST_F(width, final_seats_that_the_level_has_are_kept)
{
	struct kapf_op op = wide(self, 0, 2, 4);

	op.additional_latency = NSEC_PER_SEC;
	expect_cut(_metadata, self, op, 4, NSEC_PER_SEC);
}

TEST_F(width, cut_after_waiting)
{
	struct kapf_op op = wide(self, 1, 1, 8);
	struct kapf_request_info info;
	struct waiter waiter;

	ASSERT_EQ(KAPF_EXECUTE, admit_wide(self, 0, 1, 0));
	op.additional_latency = NSEC_PER_SEC;
	waiter_start(&waiter, self->fd, op);
	ASSERT_TRUE(await_waiting(self->control, 1));
	/* It counts as asked while it waits, and is alone when it executes. */
	info = shown(self, 1);
	EXPECT_EQ(8, info.final_seats);
	EXPECT_EQ(NSEC_PER_SEC, info.additional_latency);
	EXPECT_EQ(8, level_stats(self->control, "test").waiting_seats);
	EXPECT_EQ(0, finish(self->fd, 0));
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&waiter));
	info = shown(self, 1);
	EXPECT_EQ(4, info.final_seats);
	EXPECT_EQ(2 * NSEC_PER_SEC, info.additional_latency);
	EXPECT_EQ(4, in_use(self));
	EXPECT_EQ(0, level_stats(self->control, "test").waiting_seats);
}

TEST_F(width, no_cut_without_queues)
{
	struct kapf_op op = wide(self, 0, 1, 8);

	self->schema = set_up_reject(self->control, 4);
	op.schema = self->schema;
	op.additional_latency = NSEC_PER_SEC;
	expect_cut(_metadata, self, op, 8, NSEC_PER_SEC);
}

TEST_HARNESS_MAIN
