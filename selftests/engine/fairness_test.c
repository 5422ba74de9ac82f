// SPDX-License-Identifier: GPL-2.0
/*
 * Single facts of fair queuing: the order of dispatch, virtual time, and what
 * queues are charged with.
 */
#include "test.h"

#include <linux/types.h>

#include "level.h"
#include "queueset.h"

#define SEATED	KAPF_ADMISSION_SEATED
#define QUEUED	KAPF_ADMISSION_QUEUED
#define FULL	KAPF_ADMISSION_QUEUE_FULL

static struct level level;

TEST(first_tie_goes_to_queue_1)
{
	struct kapf_request r[4];
	u32 i;

	level_start(&level, 4, 1, 50, 0);
	for (i = 0; i < 4; i++) {
		r[i] = SEATS(1);
		ASSERT_EQ(QUEUED, level_arrive(&level, &r[i], i, 0));
	}
	level.qs.seats = 4;
	level_dispatch(&level, 0);
	ASSERT_EQ(4, level.nr_dispatched);
	EXPECT_EQ(&r[1], level.dispatched[0]);
	EXPECT_EQ(&r[2], level.dispatched[1]);
	EXPECT_EQ(&r[3], level.dispatched[2]);
	EXPECT_EQ(&r[0], level.dispatched[3]);
}

TEST(robin_moves_only_on_dispatch)
{
	struct kapf_request first = SEATS(1);
	struct kapf_request r[4];
	u32 i;

	level_start(&level, 4, 1, 50, 1);
	ASSERT_EQ(SEATED, level_arrive(&level, &first, 2, 0));
	EXPECT_EQ(2, level.qs.robin);
	for (i = 0; i < 4; i++) {
		r[i] = SEATS(1);
		ASSERT_EQ(QUEUED, level_arrive(&level, &r[i], i, 0));
		EXPECT_EQ(2, level.qs.robin);
	}
	level_cancel(&level, &r[0], 0);
	EXPECT_EQ(2, level.qs.robin);
	r[0] = SEATS(1);
	level_arrive(&level, &r[0], 0, 0);
	EXPECT_EQ(2, level.qs.robin);
	kapf_queueset_finish(&level.qs, &first, 3 * MS);
	EXPECT_EQ(2, level.qs.robin);

	/* What executed was as long as guessed, so queue 2 is behind. */
	level_dispatch(&level, 3 * MS);
	ASSERT_EQ(1, level.nr_dispatched);
	EXPECT_EQ(&r[3], level.dispatched[0]);
	EXPECT_EQ(3, level.qs.robin);
	level_finish(&level, &r[3], 6 * MS);
	ASSERT_EQ(2, level.nr_dispatched);
	EXPECT_EQ(&r[0], level.dispatched[1]);
	level_finish(&level, &r[0], 9 * MS);
	ASSERT_EQ(3, level.nr_dispatched);
	EXPECT_EQ(&r[1], level.dispatched[2]);
}

/* With a hand of both queues of two, a hash of 0 deals 0, 1. */
TEST(first_of_equals_from_a_start_that_rotates)
{
	struct kapf_request r[3] = { SEATS(1), SEATS(1), SEATS(1) };

	level_start(&level, 2, 2, 1, 0);
	level_arrive(&level, &r[0], 0, 0);
	EXPECT_EQ(0, r[0].queue);
	level_cancel(&level, &r[0], 0);
	level_arrive(&level, &r[0], 0, 0);
	EXPECT_EQ(1, r[0].queue);
	level_arrive(&level, &r[1], 0, 0);
	EXPECT_EQ(0, r[1].queue);

	/* Now both have equal work waiting, and are full: also a deal. */
	EXPECT_EQ(FULL, level_arrive(&level, &r[2], 0, 0));
	level.qs.queue_length_limit = 9;
	level_arrive(&level, &r[2], 0, 0);
	EXPECT_EQ(0, r[2].queue);
}

TEST(equals_are_taken_in_the_order_of_the_hand)
{
	struct kapf_request r = SEATS(1);

	/* 3 mod 4 = 3, 3 div 4 mod 3 = 0: the hand is 3, 0. */
	level_start(&level, 4, 2, 9, 1);
	level_arrive(&level, &r, 3, 0);
	EXPECT_EQ(3, r.queue);
	level_finish(&level, &r, 0);
	level_arrive(&level, &r, 3, 0);
	EXPECT_EQ(0, r.queue);
}

TEST(joins_the_least_work_waiting)
{
	struct kapf_request wide = SEATS(3);
	struct kapf_request r[4] = { SEATS(1), SEATS(1), SEATS(1), SEATS(1) };
	u32 i;

	/* Waiting work alone counts: what executes does not. */
	level_start(&level, 2, 2, 9, 0);
	level_arrive(&level, &wide, 0, 0);
	EXPECT_EQ(0, wide.queue);
	for (i = 0; i < 3; i++) {
		level_arrive(&level, &r[i], 0, 0);
		EXPECT_EQ(1, r[i].queue);
	}
	/* Three requests of one seat are as much as one of three. */
	level_arrive(&level, &r[3], 0, 0);
	EXPECT_EQ(0, r[3].queue);
}

TEST(guess_is_charged_and_settled)
{
	static const struct {
		u64 served;
		u64 charge;
	} cases[] = {
		{ 0, 0 }, { 1 * MS, 3 * SEAT_MS }, { 3 * MS, 9 * SEAT_MS },
		{ 5 * MS, 15 * SEAT_MS }, { 10 * S, 30 * SEAT_S },
		/* three seats for 5 ns, 1 ns: one and a half, 0.3 of a unit */
		{ 3 * MS + 5, 9 * SEAT_MS + 2 }, { 3 * MS + 1, 9 * SEAT_MS },
		{ 3 * MS - 5, 9 * SEAT_MS - 2 }, { 3 * MS - 1, 9 * SEAT_MS },
	};
	struct kapf_request r;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		level_start(&level, 1, 1, 50, 5);
		r = SEATS(3);
		level_arrive(&level, &r, 0, 0);
		EXPECT_EQ(3 * GUESS, level.queues[0].next_dispatch_r);
		level_finish(&level, &r, cases[i].served);
		EXPECT_EQ(cases[i].charge, level.queues[0].next_dispatch_r) {
			TH_LOG("case %zu", i);
		}
	}
}

TEST(final_work_is_charged_and_stays)
{
	struct kapf_request r = LINGERING_SEATS(2, 4, 10 * MS);

	level_start(&level, 1, 1, 50, 5);
	level_arrive(&level, &r, 0, 0);
	EXPECT_EQ(2 * GUESS + 40 * SEAT_MS, level.queues[0].next_dispatch_r);
	level_finish(&level, &r, 1 * MS);
	EXPECT_EQ(2 * SEAT_MS + 40 * SEAT_MS, level.queues[0].next_dispatch_r);
}

/* Seats that are given back early are paid for as long as they were held. */
TEST(latency_that_ends_early_is_refunded)
{
	struct kapf_request r = LINGERING_SEATS(4, 2, 10 * MS);
	struct kapf_request one = SEATS(1), wide = SEATS(5);
	struct kapf_queue *queue = &level.queues[0];

	level_start(&level, 2, 1, 50, 5);
	level_arrive(&level, &one, 0, 0);
	level_arrive(&level, &r, 0, 0);
	level_finish(&level, &r, 3 * MS);
	EXPECT_EQ(5 * GUESS + 20 * SEAT_MS, queue->next_dispatch_r);
	/* Nothing of it was used after 4 of 10 ms. */
	kapf_queueset_refund(&level.qs, &r, 6 * MS, 7 * MS);
	EXPECT_EQ(5 * GUESS + 8 * SEAT_MS, queue->next_dispatch_r);
	level_release(&level, &r, 7 * MS);
	EXPECT_EQ(0, level.qs.nr_lingering);

	/* What waits is dispatched the earlier, but not before its arrival. */
	level_start(&level, 1, 1, 50, 5);
	level_arrive(&level, &one, 0, 0);
	r = LINGERING_SEATS(1, 4, 10 * S);
	level_arrive(&level, &r, 0, 0);
	level_finish(&level, &r, 3 * MS);
	level_arrive(&level, &wide, 0, 3 * MS);
	EXPECT_EQ(2 * GUESS + 40 * SEAT_S + 5 * GUESS, queue->finish_r);
	kapf_queueset_refund(&level.qs, &r, 9 * S, 3 * MS);
	EXPECT_EQ(2 * GUESS + 4 * SEAT_S + 5 * GUESS, queue->finish_r);
	kapf_queueset_refund(&level.qs, &r, 1 * S, 3 * MS);
	EXPECT_EQ(level.qs.current_r + 5 * GUESS, queue->finish_r);
	EXPECT_FALSE(kapf_invariant_broken(&level.qs));
}

TEST(rate_is_seats_requested_by_active_queues)
{
	struct kapf_request five = SEATS(5), eight = SEATS(8), one = SEATS(1);

	level_start(&level, 4, 1, 50, 10);
	level_dispatch(&level, 1 * S);
	EXPECT_EQ(0, level.qs.current_r);
	level_arrive(&level, &five, 0, 1 * S);
	level_arrive(&level, &one, 1, 2 * S);
	EXPECT_EQ(5 * SEAT_S, level.qs.current_r);
	level_finish(&level, &one, 3 * S);
	EXPECT_EQ(8 * SEAT_S, level.qs.current_r);
	/* Waiting seats count, up to the limit. */
	level_arrive(&level, &eight, 1, 3 * S);
	level_dispatch(&level, 4 * S);
	EXPECT_EQ(13 * SEAT_S, level.qs.current_r);
	/* To the nearest unit, halves up. */
	level_dispatch(&level, 4 * S + 1);
	EXPECT_EQ(13 * SEAT_S + 1, level.qs.current_r);
	level_finish(&level, &five, 4 * S + 1);
	level_dispatch(&level, 4 * S + 2);
	EXPECT_EQ(13 * SEAT_S + 2, level.qs.current_r);
	level_finish(&level, &eight, 4 * S + 2);
	level_dispatch(&level, 9 * S);
	EXPECT_EQ(13 * SEAT_S + 2, level.qs.current_r);
}

TEST(lingering_counts_in_seats_not_in_active_queues)
{
	struct kapf_request lingering = LINGERING_SEATS(1, 4, 10 * S);
	struct kapf_request other = SEATS(2);

	level_start(&level, 4, 1, 50, 10);
	level_arrive(&level, &lingering, 0, 0);
	EXPECT_EQ(1, level.qs.nr_active);
	level_finish(&level, &lingering, 0);
	EXPECT_EQ(4, level.qs.seats_in_use);
	EXPECT_EQ(0, level.qs.nr_active);
	EXPECT_FALSE(kapf_queueset_idle(&level.qs));
	level_arrive(&level, &other, 1, 1 * S);
	EXPECT_EQ(0, level.qs.current_r);
	EXPECT_EQ(1, level.qs.nr_active);
	level_dispatch(&level, 2 * S);
	EXPECT_EQ(6 * SEAT_S, level.qs.current_r);
	level_release(&level, &lingering, 3 * S);
	EXPECT_EQ(12 * SEAT_S, level.qs.current_r);
	EXPECT_EQ(2, level.qs.seats_in_use);
	level_finish(&level, &other, 3 * S);
	EXPECT_TRUE(kapf_queueset_idle(&level.qs));
}

/*
 * Queue 0 is far behind R: for a second slow held one seat there, while other
 * held three in queue 1, so that R advanced by two.
 */
static void leave_queue_0_behind(struct kapf_request *slow,
				 struct kapf_request *other)
{
	*slow = SEATS(1);
	*other = SEATS(3);
	level_start(&level, 4, 1, 50, 4);
	level_arrive(&level, slow, 0, 0);
	level_arrive(&level, other, 1, 0);
	level_dispatch(&level, 1 * S);
}

TEST(bound_at_arrival)
{
	struct kapf_request slow, other, r = SEATS(1);

	leave_queue_0_behind(&slow, &other);
	EXPECT_EQ(GUESS, level.queues[0].next_dispatch_r);
	EXPECT_EQ(QUEUED, level_arrive(&level, &r, 0, 1 * S));
	EXPECT_EQ(2 * SEAT_S, level.queues[0].next_dispatch_r);
}

TEST(bound_at_arrival_that_is_seated_at_once)
{
	struct kapf_request slow, other, r = SEATS(1);

	leave_queue_0_behind(&slow, &other);
	level_finish(&level, &other, 1 * S);
	EXPECT_EQ(SEATED, level_arrive(&level, &r, 0, 1 * S));
	EXPECT_EQ(2 * SEAT_S + GUESS, level.queues[0].next_dispatch_r);
}

TEST(bound_at_dispatch)
{
	struct kapf_request slow, other, r[2] = { SEATS(1), SEATS(1) };

	leave_queue_0_behind(&slow, &other);
	level_arrive(&level, &r[0], 0, 1 * S);
	level_arrive(&level, &r[1], 0, 2 * S);
	EXPECT_EQ(2 * SEAT_S, level.queues[0].next_dispatch_r);
	level_finish(&level, &other, 2 * S);
	ASSERT_EQ(2, level.nr_dispatched);
	EXPECT_EQ(4 * SEAT_S + GUESS, level.queues[0].next_dispatch_r);
}

/* What was charged too much is given back, but not what came before. */
TEST(bound_at_finish)
{
	struct kapf_request fast = SEATS(1), other = SEATS(3), r = SEATS(1);

	level_start(&level, 4, 1, 50, 4);
	level_arrive(&level, &fast, 0, 0);
	level_arrive(&level, &other, 1, 0);
	EXPECT_EQ(QUEUED, level_arrive(&level, &r, 0, 1 * MS));
	EXPECT_EQ(3 * SEAT_MS, level.queues[0].next_dispatch_r);
	kapf_queueset_finish(&level.qs, &fast, 1 * MS);
	EXPECT_EQ(2 * SEAT_MS, level.queues[0].next_dispatch_r);
	level_dispatch(&level, 1 * MS);
	ASSERT_EQ(1, level.nr_dispatched);
	EXPECT_EQ(2 * SEAT_MS + GUESS, level.queues[0].next_dispatch_r);
}

TEST(bound_at_cancel)
{
	struct kapf_request slow, other, r[2] = { SEATS(1), SEATS(1) };

	leave_queue_0_behind(&slow, &other);
	level_arrive(&level, &r[0], 0, 1 * S);
	level_arrive(&level, &r[1], 0, 2 * S);
	EXPECT_EQ(2 * SEAT_S, level.queues[0].next_dispatch_r);
	level_cancel(&level, &r[0], 2 * S);
	EXPECT_EQ(4 * SEAT_S, level.queues[0].next_dispatch_r);
}

/* Queue 0 is ahead of R by then: it held three of four seats for 10 s. */
static void bring_queue_0_ahead(struct kapf_request *wide,
				struct kapf_request *other)
{
	*wide = SEATS(3);
	*other = SEATS(1);
	level_start(&level, 4, 1, 50, 10);
	level_arrive(&level, wide, 0, 0);
	level_arrive(&level, other, 1, 0);
}

TEST(idle_queue_restarts_at_r)
{
	struct kapf_request wide, other, r = SEATS(1);

	bring_queue_0_ahead(&wide, &other);
	level_finish(&level, &wide, 10 * S);
	EXPECT_EQ(20 * SEAT_S, level.qs.current_r);
	EXPECT_EQ(30 * SEAT_S, level.queues[0].next_dispatch_r);
	level_arrive(&level, &r, 0, 10 * S);
	EXPECT_EQ(20 * SEAT_S + GUESS, level.queues[0].next_dispatch_r);
}

/* Lingering is not executing: the queue is idle all the same. */
TEST(lingering_queue_restarts_at_r)
{
	struct kapf_request wide, other, r = SEATS(1);

	bring_queue_0_ahead(&wide, &other);
	wide.final_seats = 3;
	wide.additional_latency = 1 * S;
	level_finish(&level, &wide, 10 * S);
	level_arrive(&level, &r, 0, 10 * S);
	EXPECT_EQ(20 * SEAT_S + GUESS, level.queues[0].next_dispatch_r);
}

TEST(queue_with_something_executing_keeps_its_next_dispatch)
{
	struct kapf_request wide, other, second = SEATS(1), r = SEATS(1);

	bring_queue_0_ahead(&wide, &other);
	level_arrive(&level, &second, 0, 0);
	level_finish(&level, &wide, 10 * S);
	EXPECT_EQ(30 * SEAT_S + GUESS, level.queues[0].next_dispatch_r);
	level_arrive(&level, &r, 0, 10 * S);
	EXPECT_EQ(30 * SEAT_S + 2 * GUESS, level.queues[0].next_dispatch_r);
}

/*
 * Queue 0 holds 500 seats for a time, queue 1 holds 100: then queue 1 is to be
 * served first, however long the time and wherever R started.
 */
static void hold_for(struct __test_metadata *_metadata, u64 ns, u64 start_r)
{
	struct kapf_request long0 = SEATS(500), long1 = SEATS(100);
	struct kapf_request keep0 = SEATS(1), keep1 = SEATS(1);
	struct kapf_request next0 = SEATS(2000), next1 = SEATS(2000);
	u64 units = ns / 10;

	TH_LOG("%" PRIu64 " ns from R = %" PRIx64, ns, start_r);
	level_start(&level, 4, 1, 50, 2000);
	level.qs.current_r = start_r;
	level_arrive(&level, &long0, 0, 0);
	level_arrive(&level, &long1, 1, 0);
	level_arrive(&level, &keep0, 0, 0);
	level_arrive(&level, &keep1, 1, 0);
	level_finish(&level, &long0, ns);
	level_finish(&level, &long1, ns);
	EXPECT_EQ(301 * units, level.qs.current_r - start_r);
	EXPECT_EQ(500 * units + GUESS,
		  level.queues[0].next_dispatch_r - start_r);
	EXPECT_EQ(100 * units + GUESS,
		  level.queues[1].next_dispatch_r - start_r);
	EXPECT_EQ(QUEUED, level_arrive(&level, &next0, 0, ns));
	EXPECT_EQ(QUEUED, level_arrive(&level, &next1, 1, ns));
	EXPECT_EQ(301 * units, level.queues[1].next_dispatch_r - start_r);
	level_finish(&level, &keep0, ns);
	level_finish(&level, &keep1, ns);
	ASSERT_EQ(1, level.nr_dispatched);
	EXPECT_EQ(&next1, level.dispatched[0]);
}

TEST(long_times_and_wrapping_are_like_short_times)
{
	const u64 half = 1ULL << 63;
	const u64 day = 86400;
	const u64 times[] = { 1 * S, 91 * day * S, 1000 * day * S };
	const u64 starts[] = {
		0, half - 1, half - 400 * SEAT_S, half - 7000000 * SEAT_S,
		-1ULL, -400 * SEAT_S, -7000000 * SEAT_S,
		-301 * 91 * day * SEAT_S, -301 * 91 * day * SEAT_S - 1,
	};
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(times); i++)
		for (j = 0; j < ARRAY_SIZE(starts); j++)
			hold_for(_metadata, times[i], starts[j]);
}

/* A request of two queues finishes on either side of the wrap. */
TEST(order_across_the_wrap)
{
	static const u64 wraps[] = { 0, 1ULL << 63 };
	struct kapf_request narrow = SEATS(1), wide = SEATS(2);
	size_t i;

	for (i = 0; i < 2; i++) {
		level_start(&level, 2, 1, 50, 0);
		level.qs.current_r = wraps[i] - GUESS - 1;
		level_arrive(&level, &wide, 1, 0);
		level_arrive(&level, &narrow, 0, 0);
		level.qs.seats = 3;
		level_dispatch(&level, 0);
		ASSERT_EQ(2, level.nr_dispatched);
		EXPECT_EQ(&narrow, level.dispatched[0]);
		EXPECT_EQ(&wide, level.dispatched[1]);
	}
}

/* A queue that asks for more than its share waits for those that do not. */
TEST(heavy_flow_does_not_delay_a_light_one)
{
	struct kapf_request heavy[8], light = SEATS(1);
	u32 i;

	level_start(&level, 2, 1, 50, 1);
	for (i = 0; i < 8; i++) {
		heavy[i] = SEATS(1);
		level_arrive(&level, &heavy[i], 0, 0);
	}
	level_finish(&level, &heavy[0], 10 * MS);
	level_arrive(&level, &light, 1, 11 * MS);
	level_finish(&level, &heavy[1], 20 * MS);
	ASSERT_EQ(2, level.nr_dispatched);
	EXPECT_EQ(&light, level.dispatched[1]);
}

TEST(idle_level_takes_other_queues_and_keeps_its_time)
{
	struct kapf_request r = SEATS(2);

	level_start(&level, 2, 1, 50, 2);
	level_arrive(&level, &r, 1, 0);
	level_finish(&level, &r, 1 * S);
	ASSERT_TRUE(kapf_queueset_idle(&level.qs));
	kapf_queueset_init(&level.qs, level.queues, 4, 1, 1, 1);
	EXPECT_EQ(2 * SEAT_S, level.qs.current_r);
	EXPECT_EQ(0, level.qs.robin);
	EXPECT_EQ(SEATED, level_arrive(&level, &r, 3, 1 * S));
	EXPECT_EQ(2 * SEAT_S + 2 * GUESS, level.queues[3].next_dispatch_r);
}

TEST(time_before_the_last_counts_as_the_last)
{
	struct kapf_request r = SEATS(1);

	level_start(&level, 1, 1, 50, 5);
	level_arrive(&level, &r, 0, 5 * MS);
	level_dispatch(&level, 10 * MS);
	level_finish(&level, &r, 9 * MS);
	EXPECT_EQ(5 * SEAT_MS, level.qs.current_r);
	EXPECT_EQ(5 * SEAT_MS, level.queues[0].next_dispatch_r);
}

TEST_HARNESS_MAIN;
