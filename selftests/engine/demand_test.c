// SPDX-License-Identifier: GPL-2.0
/*
 * Seat demand: periods that can be worked out by hand, the ends of the range,
 * and random histories against a model that remembers them and computes in
 * floating point.
 */
#include "kselftest_harness.h"

#include <math.h>

#include <linux/types.h>

#include "random.h"
#include "wants.h"

#define SECOND 1000000000ULL
#define MAX_PIECES 64

/* Seats with KAPF_FIXED_BITS of fraction. */
static u64 fixed(u64 seats)
{
	return seats << KAPF_FIXED_BITS;
}

static long double real(u64 seats)
{
	return ldexpl(seats, -KAPF_FIXED_BITS);
}

/* One period, remembered piece by piece, and what earlier ones have left. */
struct history {
	long double average;
	long double deviation;
	long double smoothed;
	u32 seats[MAX_PIECES];
	u64 ns[MAX_PIECES];
	u32 nr_pieces;
	u32 most;
};

static void history_end_period(struct history *history)
{
	long double total = 0, sum = 0, squares = 0, envelope;
	u32 i;

	for (i = 0; i < history->nr_pieces; i++) {
		total += history->ns[i];
		sum += (long double)history->seats[i] * history->ns[i];
	}
	if (!total)
		return;
	history->average = sum / total;
	for (i = 0; i < history->nr_pieces; i++)
		squares += powl(history->seats[i] - history->average, 2) *
			   history->ns[i];
	history->deviation = sqrtl(squares / total);
	envelope = history->average + history->deviation;
	envelope = fminl(envelope, real(~0ULL));
	history->smoothed = fmaxl(envelope, 0.977L * history->smoothed +
						    0.023L * envelope);
}

/* Demand for a while, from now on. */
static void hold(struct wants *wants, u64 seats, u64 *now, u64 ns)
{
	wants_seats(wants, seats, *now);
	*now += ns;
}

TEST(nothing_yet)
{
	struct wants wants;

	wants_begin(&wants, 5 * SECOND);
	wants_end_period(&wants, 5 * SECOND);
	EXPECT_EQ(0, wants.demand.high_watermark);
	EXPECT_EQ(0, wants.demand.average);
	EXPECT_EQ(0, wants.demand.deviation);
	EXPECT_EQ(0, wants.demand.smoothed);
}

/* Rises at once, comes down by 2.3 percent of the difference. */
TEST(three_periods)
{
	struct wants wants;
	u64 now = 7 * SECOND;

	wants_begin(&wants, now);
	hold(&wants, 10, &now, 5 * SECOND);
	hold(&wants, 30, &now, 5 * SECOND);
	wants_end_period(&wants, now);
	EXPECT_EQ(30, wants.demand.high_watermark);
	EXPECT_EQ(fixed(20), wants.demand.average);
	EXPECT_EQ(fixed(10), wants.demand.deviation);
	EXPECT_EQ(fixed(30), wants.demand.smoothed);

	hold(&wants, 0, &now, 10 * SECOND);
	wants_end_period(&wants, now);
	EXPECT_EQ(30, wants.demand.high_watermark);
	EXPECT_EQ(0, wants.demand.average);
	EXPECT_EQ(0, wants.demand.deviation);
	EXPECT_EQ((fixed(30) * 977 + 500) / 1000, wants.demand.smoothed);

	hold(&wants, 40, &now, 10 * SECOND);
	wants_end_period(&wants, now);
	EXPECT_EQ(40, wants.demand.high_watermark);
	EXPECT_EQ(fixed(40), wants.demand.average);
	EXPECT_EQ(0, wants.demand.deviation);
	EXPECT_EQ(fixed(40), wants.demand.smoothed);
}

TEST(the_watermark_restarts_at_the_present_demand)
{
	struct wants wants;
	u64 now = 0;

	wants_begin(&wants, now);
	hold(&wants, 9, &now, SECOND);
	hold(&wants, 4, &now, SECOND);
	wants_end_period(&wants, now);
	EXPECT_EQ(9, wants.demand.high_watermark);
	wants_end_period(&wants, now + SECOND);
	EXPECT_EQ(4, wants.demand.high_watermark);
}

/* It lasted for no time, but was wanted. */
TEST(a_short_peak_is_in_the_watermark_alone)
{
	struct wants wants;
	u64 now = 0;

	wants_begin(&wants, now);
	hold(&wants, 2, &now, SECOND);
	hold(&wants, 500, &now, 0);
	hold(&wants, 2, &now, SECOND);
	wants_end_period(&wants, now);
	EXPECT_EQ(500, wants.demand.high_watermark);
	EXPECT_EQ(fixed(2), wants.demand.average);
	EXPECT_EQ(0, wants.demand.deviation);
}

TEST(a_period_of_no_length_has_a_watermark_only)
{
	struct wants wants;
	u64 now = 0;

	wants_begin(&wants, now);
	hold(&wants, 1, &now, SECOND);
	hold(&wants, 3, &now, SECOND);
	wants_end_period(&wants, now);
	hold(&wants, 8, &now, 0);
	hold(&wants, 5, &now, 0);
	wants_end_period(&wants, now);
	EXPECT_EQ(8, wants.demand.high_watermark);
	EXPECT_EQ(fixed(2), wants.demand.average);
	EXPECT_EQ(fixed(1), wants.demand.deviation);
	EXPECT_EQ(fixed(3), wants.demand.smoothed);
	wants_end_period(&wants, now);
	EXPECT_EQ(5, wants.demand.high_watermark);
}

TEST(time_does_not_run_backwards)
{
	struct wants wants;

	wants_begin(&wants, 10 * SECOND);
	wants_seats(&wants, 6, 10 * SECOND);
	wants_seats(&wants, 2, 9 * SECOND);
	wants_end_period(&wants, 8 * SECOND);
	EXPECT_EQ(6, wants.demand.high_watermark);
	EXPECT_EQ(0, wants.demand.average);
	wants_end_period(&wants, 11 * SECOND);
	EXPECT_EQ(fixed(2), wants.demand.average);
	EXPECT_EQ(0, wants.demand.deviation);
}

TEST(a_constant_demand_does_not_deviate)
{
	u64 state = 21;
	u32 i, j;

	for (i = 0; i < 20000; i++) {
		struct wants wants;
		u64 seats = random_next(&state) >> random_between(&state, 32, 63);
		u64 now = random_next(&state) >> 8;

		wants_begin(&wants, now);
		for (j = 0; j < 5; j++)
			hold(&wants, seats, &now,
			     random_next(&state) >> random_between(&state, 8, 63));
		hold(&wants, seats, &now, 1);
		wants_end_period(&wants, now);
		ASSERT_EQ(fixed(seats), wants.demand.average);
		ASSERT_EQ(0, wants.demand.deviation);
		ASSERT_EQ(fixed(seats), wants.demand.smoothed);
	}
}

/* The greatest demand there is, for centuries. */
TEST(the_largest_numbers)
{
	struct wants wants;
	u64 now = 0;

	wants_begin(&wants, now);
	hold(&wants, 0, &now, 1ULL << 61);
	hold(&wants, 1ULL << 32, &now, 1ULL << 61);
	wants_end_period(&wants, now);
	EXPECT_EQ(~0u, wants.demand.high_watermark);
	EXPECT_EQ(fixed(~0u) / 2, wants.demand.average);
	EXPECT_EQ(fixed(~0u) / 2, wants.demand.deviation);
	EXPECT_EQ(fixed(~0u), wants.demand.smoothed);

	/* Here the envelope is beyond what there are bits for. */
	hold(&wants, 0, &now, SECOND);
	hold(&wants, ~0ULL, &now, 3 * SECOND);
	wants_end_period(&wants, now);
	EXPECT_EQ(fixed(~0u) / 4 * 3, wants.demand.average);
	EXPECT_EQ(~0ULL, wants.demand.smoothed);
}

/* A nanosecond in which a seat was wanted, in so many. */
TEST(the_smallest_numbers)
{
	static const u64 lengths[] = { 2, 3, 10, 10 * SECOND, 1ULL << 40,
				       1ULL << 62 };
	struct wants wants;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		long double part = 1.0L / lengths[i];
		u64 now = 0;

		wants_begin(&wants, now);
		hold(&wants, 1, &now, 1);
		hold(&wants, 0, &now, lengths[i] - 1);
		wants_end_period(&wants, now);
		EXPECT_LE(fabsl(real(wants.demand.average) - part), real(1));
		EXPECT_LE(fabsl(real(wants.demand.deviation) -
				sqrtl(part * (1 - part))), real(1));
	}
}

static u64 random_seats(u64 *state, u32 mode)
{
	switch (mode) {
	case 0:
		return random_between(state, 0, 20);
	case 1:
		return random_between(state, 100000, 100003);
	case 2:
		return random_next(state) >> random_between(state, 32, 63);
	default:
		return random_chance(state, 90) ? 0 :
						  random_between(state, 1, 600);
	}
}

static u64 random_ns(u64 *state, u32 mode)
{
	if (random_chance(state, 20))
		return 0;
	if (mode == 2)
		return random_next(state) >> random_between(state, 10, 63);
	return random_between(state, 1, 4 * SECOND);
}

/* Both of the same random period; most of its pieces are of other seats. */
static void random_period(u64 *state, u32 mode, struct wants *wants,
			  struct history *history, u64 *now)
{
	u32 i;

	/* What was wanted at the end of the period before still is. */
	history->seats[0] = wants->qs.seats_in_use;
	history->ns[0] = random_ns(state, mode);
	history->most = wants->qs.seats_in_use;
	*now += history->ns[0];
	history->nr_pieces = random_between(state, 1, MAX_PIECES);
	for (i = 1; i < history->nr_pieces; i++) {
		history->seats[i] = random_seats(state, mode);
		history->ns[i] = random_ns(state, mode);
		if (history->most < history->seats[i])
			history->most = history->seats[i];
		hold(wants, history->seats[i], now, history->ns[i]);
	}
	history_end_period(history);
	wants_end_period(wants, *now);
}

/*
 * The model's own error is 2^-60 or so of the greatest demand, whose root
 * counts where the demand hardly deviates; ours is half a unit in each period,
 * 22 units after very many.
 */
TEST(random_histories)
{
	u64 state = 22;
	u32 run, i;

	for (run = 0; run < 4000; run++) {
		long double slack = 0;
		struct history history = { 0 };
		struct wants wants;
		u64 now = random_next(&state) >> 2;
		u32 mode = run % 4;

		wants_begin(&wants, now);
		for (i = 0; i < 12; i++) {
			random_period(&state, mode, &wants, &history, &now);
			slack = fmaxl(slack, ldexpl(history.most, -50) + real(24));
			ASSERT_EQ(history.most, wants.demand.high_watermark);
			ASSERT_LE(fabsl(history.average - real(wants.demand.average)),
				  slack);
			ASSERT_LE(fabsl(history.deviation -
					real(wants.demand.deviation)), slack);
			ASSERT_LE(fabsl(history.smoothed -
					real(wants.demand.smoothed)), slack);
		}
	}
}

/* What holds for any period, whatever the demand. */
TEST(bounds)
{
	u64 state = 23;
	u32 run, i;

	for (run = 0; run < 4000; run++) {
		struct history history = { 0 };
		struct wants wants;
		u64 now = 0, start, smoothed = 0;

		wants_begin(&wants, now);
		for (i = 0; i < 6; i++) {
			start = now;
			random_period(&state, run % 4, &wants, &history, &now);
			if (now == start)
				continue;
			ASSERT_LE(wants.demand.average, fixed(wants.demand.high_watermark));
			ASSERT_LE(wants.demand.deviation,
				  fixed(wants.demand.high_watermark) / 2);
			ASSERT_GE(wants.demand.smoothed, wants.demand.average);
			ASSERT_GE(wants.demand.smoothed, smoothed / 1000 * 977);
			smoothed = wants.demand.smoothed;
		}
	}
}

TEST_HARNESS_MAIN
