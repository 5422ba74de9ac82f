// SPDX-License-Identifier: GPL-2.0
/*
 * Single facts of seat accounting: who is seated, queued, refused, and what is
 * held for how long.
 */
#include "test.h"

#include <linux/types.h>

#include "level.h"
#include "queueset.h"

#define SEATED	KAPF_ADMISSION_SEATED
#define QUEUED	KAPF_ADMISSION_QUEUED
#define FULL	KAPF_ADMISSION_QUEUE_FULL
#define LIMIT	KAPF_ADMISSION_CONCURRENCY_LIMIT

static struct level level;

TEST(free_seats_are_given_at_once)
{
	struct kapf_request r[3] = { SEATS(1), SEATS(2), SEATS(1) };

	level_start(&level, 4, 1, 50, 3);
	EXPECT_EQ(SEATED, level_arrive(&level, &r[0], 0, 7));
	EXPECT_EQ(7, r[0].start);
	EXPECT_EQ(SEATED, level_arrive(&level, &r[1], 0, 8));
	EXPECT_EQ(3, level.qs.seats_in_use);
	EXPECT_EQ(3, level.queues[0].seats_in_use);
	EXPECT_EQ(QUEUED, level_arrive(&level, &r[2], 1, 9));
	EXPECT_EQ(0, level.nr_dispatched);
	level_finish(&level, &r[1], 10);
	ASSERT_EQ(1, level.nr_dispatched);
	EXPECT_EQ(10, r[2].start);
	EXPECT_EQ(2, level.qs.seats_in_use);
	EXPECT_EQ(1, level.queues[1].seats_in_use);
}

TEST(queue_keeps_the_order_of_arrival)
{
	struct kapf_request r[4] = { SEATS(1), SEATS(2), SEATS(1), SEATS(1) };

	level_start(&level, 1, 1, 50, 2);
	level_arrive(&level, &r[0], 0, 0);
	EXPECT_EQ(QUEUED, level_arrive(&level, &r[1], 0, 0));
	EXPECT_EQ(QUEUED, level_arrive(&level, &r[2], 0, 0));
	EXPECT_EQ(QUEUED, level_arrive(&level, &r[3], 0, 0));
	level_cancel(&level, &r[2], 0);
	level_finish(&level, &r[0], 0);
	level_finish(&level, &r[1], 0);
	ASSERT_EQ(2, level.nr_dispatched);
	EXPECT_EQ(&r[1], level.dispatched[0]);
	EXPECT_EQ(&r[3], level.dispatched[1]);
}

TEST(queue_full)
{
	struct kapf_request r[5] = {
		SEATS(1), SEATS(1), SEATS(1), SEATS(1), SEATS(1),
	};

	level_start(&level, 4, 1, 2, 1);
	EXPECT_EQ(SEATED, level_arrive(&level, &r[0], 0, 0));
	EXPECT_EQ(QUEUED, level_arrive(&level, &r[1], 0, 0));
	EXPECT_EQ(QUEUED, level_arrive(&level, &r[2], 0, 0));
	EXPECT_EQ(FULL, level_arrive(&level, &r[3], 0, 0));
	/* It is the queue's length that counts, not the level's. */
	EXPECT_EQ(QUEUED, level_arrive(&level, &r[4], 1, 0));
	EXPECT_EQ(3, level.qs.nr_waiting);
	level_cancel(&level, &r[1], 0);
	EXPECT_EQ(QUEUED, level_arrive(&level, &r[3], 0, 0));
}

TEST(queue_length_limit_holds_only_when_no_seat_is_free)
{
	struct kapf_request one = SEATS(1), wide = SEATS(2), third = SEATS(1);

	level_start(&level, 4, 1, 1, 2);
	level_arrive(&level, &one, 0, 0);
	EXPECT_EQ(QUEUED, level_arrive(&level, &wide, 0, 0));
	EXPECT_EQ(QUEUED, level_arrive(&level, &third, 0, 0));
	EXPECT_EQ(2, level.queues[0].nr_waiting);
}

TEST(blocked_wide_head_lets_nobody_overtake)
{
	struct kapf_request two = SEATS(2), wide = SEATS(4), narrow = SEATS(1);

	level_start(&level, 4, 1, 50, 4);
	level_arrive(&level, &two, 0, 0);
	EXPECT_EQ(QUEUED, level_arrive(&level, &wide, 1, 0));
	EXPECT_EQ(1, level.qs.no_accommodation);
	EXPECT_EQ(QUEUED, level_arrive(&level, &narrow, 2, 1 * S));
	EXPECT_EQ(2, level.qs.no_accommodation);
	EXPECT_EQ(&wide, level.qs.blocked);
	EXPECT_EQ(0, level.nr_dispatched);
	EXPECT_FALSE(kapf_queueset_has_room(&level.qs, 1));
	level_finish(&level, &two, 1 * S);
	ASSERT_EQ(1, level.nr_dispatched);
	EXPECT_EQ(&wide, level.dispatched[0]);
	/* No seat is free. */
	EXPECT_EQ(NULL, level.qs.blocked);
	level_finish(&level, &wide, 1 * S);
	ASSERT_EQ(2, level.nr_dispatched);
	EXPECT_EQ(&narrow, level.dispatched[1]);
}

TEST(narrow_request_that_is_next_goes_before_a_wide_one)
{
	struct kapf_request two = SEATS(2), wide = SEATS(4), narrow = SEATS(1);

	level_start(&level, 4, 1, 50, 4);
	level_arrive(&level, &two, 0, 0);
	level_arrive(&level, &wide, 1, 0);
	EXPECT_EQ(QUEUED, level_arrive(&level, &narrow, 2, 0));
	ASSERT_EQ(1, level.nr_dispatched);
	EXPECT_EQ(&narrow, level.dispatched[0]);
}

TEST(lone_wide_only_when_nothing_executes)
{
	struct kapf_request one = SEATS(1), wide = SEATS(5), other = SEATS(1);

	level_start(&level, 4, 1, 50, 3);
	level_arrive(&level, &one, 0, 0);
	EXPECT_EQ(QUEUED, level_arrive(&level, &wide, 1, 0));
	EXPECT_EQ(0, level.nr_dispatched);
	level_finish(&level, &one, 1 * MS);
	ASSERT_EQ(1, level.nr_dispatched);
	EXPECT_EQ(5, level.qs.seats_in_use);
	EXPECT_EQ(QUEUED, level_arrive(&level, &other, 0, 1 * MS));
	EXPECT_EQ(1, level.nr_dispatched);
	level_finish(&level, &wide, 2 * MS);
	EXPECT_EQ(2, level.nr_dispatched);
}

TEST(lone_wide_beside_lingering)
{
	struct kapf_request lingering = LINGERING_SEATS(1, 2, 1 * S);
	struct kapf_request wide = SEATS(5);

	level_start(&level, 4, 1, 50, 3);
	level_arrive(&level, &lingering, 0, 0);
	EXPECT_EQ(QUEUED, level_arrive(&level, &wide, 1, 0));
	level_finish(&level, &lingering, 1 * MS);
	ASSERT_EQ(1, level.nr_dispatched);
	EXPECT_EQ(7, level.qs.seats_in_use);
}

TEST(lone_wide_waits_for_a_free_seat)
{
	struct kapf_request lingering = LINGERING_SEATS(1, 3, 1 * S);
	struct kapf_request wide = SEATS(5);

	level_start(&level, 4, 1, 50, 3);
	level_arrive(&level, &lingering, 0, 0);
	level_finish(&level, &lingering, 0);
	EXPECT_FALSE(kapf_queueset_has_room(&level.qs, 5));
	EXPECT_EQ(QUEUED, level_arrive(&level, &wide, 1, 0));
	EXPECT_EQ(0, level.nr_dispatched);
	level_release(&level, &lingering, 1 * S);
	EXPECT_EQ(1, level.nr_dispatched);
}

TEST(width_is_the_larger_of_both)
{
	struct kapf_request wide_end = LINGERING_SEATS(1, 3, 1 * S);
	struct kapf_request wide_start = LINGERING_SEATS(4, 2, 1 * S);

	level_start(&level, 4, 1, 50, 9);
	level_arrive(&level, &wide_end, 0, 0);
	EXPECT_EQ(3, level.qs.seats_in_use);
	level_arrive(&level, &wide_start, 0, 0);
	EXPECT_EQ(7, level.qs.seats_in_use);
	level_finish(&level, &wide_start, 0);
	EXPECT_EQ(7, level.qs.seats_in_use);
	EXPECT_EQ(1, level.qs.nr_lingering);
	level_release(&level, &wide_start, 1 * S);
	EXPECT_EQ(3, level.qs.seats_in_use);
}

TEST(seats_go_back_at_once_without_additional_latency)
{
	struct kapf_request r = LINGERING_SEATS(1, 3, 0);

	level_start(&level, 4, 1, 50, 9);
	level_arrive(&level, &r, 0, 0);
	EXPECT_EQ(3, level.qs.seats_in_use);
	level_finish(&level, &r, 0);
	EXPECT_EQ(0, level.qs.seats_in_use);
	EXPECT_TRUE(kapf_queueset_idle(&level.qs));
}

/* More final seats than the limit: the limit for longer, the same work. */
TEST(final_seats_are_clipped)
{
	struct kapf_request r = LINGERING_SEATS(2, 40, 1 * S);

	level_start(&level, 4, 1, 50, 10);
	EXPECT_EQ(SEATED, level_arrive(&level, &r, 0, 0));
	EXPECT_EQ(10, r.final_seats);
	EXPECT_EQ(4 * S, r.additional_latency);
	EXPECT_EQ(10, level.qs.seats_in_use);
	EXPECT_EQ(2 * GUESS + 40 * SEAT_S, level.queues[0].next_dispatch_r);
	level_finish(&level, &r, 0);
	EXPECT_EQ(10, level.qs.seats_in_use);
	level_release(&level, &r, 4 * S);
	EXPECT_EQ(0, level.qs.seats_in_use);
}

TEST(clipped_latency_is_truncated)
{
	/* 7 seats for 10 ns are 7 units, and those are 23.3 ns of 3 seats. */
	struct kapf_request r = LINGERING_SEATS(5, 7, 10);

	level_start(&level, 4, 1, 50, 3);
	level_arrive(&level, &r, 0, 0);
	EXPECT_EQ(3, r.final_seats);
	EXPECT_EQ(23, r.additional_latency);
	EXPECT_EQ(5, level.qs.seats_in_use);
	EXPECT_EQ(5 * GUESS + 7, level.queues[0].next_dispatch_r);
}

/* What waits is not clipped yet, and is taken as wide as it is. */
TEST(clipped_at_dispatch_not_before)
{
	struct kapf_request one = SEATS(1), last = SEATS(1);
	struct kapf_request r = LINGERING_SEATS(1, 4, 3 * S);

	level_start(&level, 4, 1, 50, 3);
	level_arrive(&level, &one, 0, 0);
	EXPECT_EQ(QUEUED, level_arrive(&level, &r, 1, 0));
	EXPECT_EQ(4, r.final_seats);
	EXPECT_EQ(4, level.qs.waiting_seats);
	EXPECT_EQ(0, level.nr_dispatched);
	level_finish(&level, &one, 1 * MS);
	ASSERT_EQ(1, level.nr_dispatched);
	EXPECT_EQ(4, level.last_width);
	EXPECT_EQ(3, r.final_seats);
	EXPECT_EQ(4 * S, r.additional_latency);
	EXPECT_EQ(3, level.qs.seats_in_use);
	EXPECT_EQ(0, level.qs.waiting_seats);
	EXPECT_EQ(QUEUED, level_arrive(&level, &last, 0, 1 * MS));
}

TEST(reject_level)
{
	struct kapf_request one = SEATS(1), two = SEATS(2), wide = SEATS(5);

	level_start(&level, 0, 0, 0, 2);
	EXPECT_EQ(SEATED, level_arrive(&level, &one, 0, 0));
	EXPECT_EQ(LIMIT, level_arrive(&level, &two, 0, 0));
	EXPECT_EQ(LIMIT, level_arrive(&level, &wide, 0, 0));
	level_finish(&level, &one, 1 * MS);
	EXPECT_EQ(SEATED, level_arrive(&level, &two, 0, 1 * MS));
	EXPECT_EQ(2, level.qs.seats_in_use);
	EXPECT_EQ(LIMIT, level_arrive(&level, &one, 0, 1 * MS));
	EXPECT_EQ(0, level.qs.current_r);
}

TEST(reject_level_admits_a_lone_wide_request)
{
	struct kapf_request lingering = LINGERING_SEATS(1, 2, 1 * S);
	struct kapf_request wide = LINGERING_SEATS(1, 5, 1 * S);
	struct kapf_request one = SEATS(1);

	level_start(&level, 0, 0, 0, 2);
	EXPECT_EQ(SEATED, level_arrive(&level, &lingering, 0, 0));
	level_finish(&level, &lingering, 0);
	EXPECT_EQ(SEATED, level_arrive(&level, &wide, 0, 0));
	EXPECT_EQ(7, level.qs.seats_in_use);
	EXPECT_EQ(LIMIT, level_arrive(&level, &one, 0, 0));
	/* Only what came through a queue is clipped. */
	EXPECT_EQ(5, wide.final_seats);
	EXPECT_EQ(1 * S, wide.additional_latency);
}

TEST(limit_0_never_dispatches)
{
	struct kapf_request r[3] = { SEATS(1), SEATS(1), SEATS(1) };

	level_start(&level, 4, 1, 2, 0);
	EXPECT_FALSE(kapf_queueset_has_room(&level.qs, 1));
	EXPECT_EQ(QUEUED, level_arrive(&level, &r[0], 0, 0));
	EXPECT_EQ(QUEUED, level_arrive(&level, &r[1], 0, 0));
	EXPECT_EQ(FULL, level_arrive(&level, &r[2], 0, 0));
	level_dispatch(&level, 100 * S);
	EXPECT_EQ(0, level.nr_dispatched);
	EXPECT_EQ(0, level.qs.current_r);
	level_cancel(&level, &r[0], 100 * S);
	level_cancel(&level, &r[1], 100 * S);
	EXPECT_TRUE(kapf_queueset_idle(&level.qs));
	EXPECT_EQ(0, level.qs.nr_active);
}

TEST(limit_0_of_a_reject_level)
{
	struct kapf_request r = SEATS(1);

	level_start(&level, 0, 0, 0, 0);
	EXPECT_FALSE(kapf_queueset_has_room(&level.qs, 1));
	EXPECT_EQ(LIMIT, level_arrive(&level, &r, 0, 0));
	EXPECT_TRUE(kapf_queueset_idle(&level.qs));
}

TEST(budget)
{
	struct kapf_request all = SEATS(5), r[5];
	u32 i;

	level_start(&level, 1, 1, 50, 5);
	level_arrive(&level, &all, 0, 0);
	for (i = 0; i < 5; i++) {
		r[i] = SEATS(1);
		level_arrive(&level, &r[i], 0, 0);
	}
	kapf_queueset_finish(&level.qs, &all, 0);
	EXPECT_TRUE(kapf_queueset_dispatch(&level.qs, 0, 0));
	EXPECT_EQ(0, level.nr_dispatched);
	EXPECT_TRUE(kapf_queueset_dispatch(&level.qs, 2, 0));
	EXPECT_EQ(2, level.nr_dispatched);
	EXPECT_FALSE(kapf_queueset_dispatch(&level.qs, 3, 0));
	EXPECT_EQ(5, level.nr_dispatched);
}

/* A limit that was cut: nothing new until the seats in use are below it. */
TEST(cut_limit)
{
	struct kapf_request r[3] = { SEATS(2), SEATS(2), SEATS(1) };

	level_start(&level, 4, 1, 50, 4);
	level_arrive(&level, &r[0], 0, 0);
	level_arrive(&level, &r[1], 1, 0);
	level.qs.seats = 2;
	EXPECT_EQ(QUEUED, level_arrive(&level, &r[2], 2, 0));
	level_finish(&level, &r[0], 0);
	EXPECT_EQ(0, level.nr_dispatched);
	level_finish(&level, &r[1], 0);
	EXPECT_EQ(1, level.nr_dispatched);
}

TEST_HARNESS_MAIN;
