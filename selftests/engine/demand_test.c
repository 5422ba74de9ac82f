// SPDX-License-Identifier: GPL-2.0
/*
 * Seat demand: periods that can be worked out by hand, the ends of the range,
 * and random histories against a model that remembers them and computes in
 * floating point.
 */
#include "kselftest_harness.h"

#include <math.h>

#include <linux/types.h>

#include "demand.h"
#include "random.h"

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
static void hold(struct kapf_demand *demand, u64 seats, u64 *now, u64 ns)
{
	kapf_demand_set(demand, seats, *now);
	*now += ns;
}

TEST(nothing_yet)
{
	struct kapf_demand demand;

	kapf_demand_init(&demand, 5 * SECOND);
	kapf_demand_end_period(&demand, 5 * SECOND);
	EXPECT_EQ(0, demand.high_watermark);
	EXPECT_EQ(0, demand.average);
	EXPECT_EQ(0, demand.deviation);
	EXPECT_EQ(0, demand.smoothed);
}

/* Rises at once, comes down by 2.3 percent of the difference. */
TEST(three_periods)
{
	struct kapf_demand demand;
	u64 now = 7 * SECOND;

	kapf_demand_init(&demand, now);
	hold(&demand, 10, &now, 5 * SECOND);
	hold(&demand, 30, &now, 5 * SECOND);
	kapf_demand_end_period(&demand, now);
	EXPECT_EQ(30, demand.high_watermark);
	EXPECT_EQ(fixed(20), demand.average);
	EXPECT_EQ(fixed(10), demand.deviation);
	EXPECT_EQ(fixed(30), demand.smoothed);

	hold(&demand, 0, &now, 10 * SECOND);
	kapf_demand_end_period(&demand, now);
	EXPECT_EQ(30, demand.high_watermark);
	EXPECT_EQ(0, demand.average);
	EXPECT_EQ(0, demand.deviation);
	EXPECT_EQ((fixed(30) * 977 + 500) / 1000, demand.smoothed);

	hold(&demand, 40, &now, 10 * SECOND);
	kapf_demand_end_period(&demand, now);
	EXPECT_EQ(40, demand.high_watermark);
	EXPECT_EQ(fixed(40), demand.average);
	EXPECT_EQ(0, demand.deviation);
	EXPECT_EQ(fixed(40), demand.smoothed);
}

TEST(the_watermark_restarts_at_the_present_demand)
{
	struct kapf_demand demand;
	u64 now = 0;

	kapf_demand_init(&demand, now);
	hold(&demand, 9, &now, SECOND);
	hold(&demand, 4, &now, SECOND);
	kapf_demand_end_period(&demand, now);
	EXPECT_EQ(9, demand.high_watermark);
	kapf_demand_end_period(&demand, now + SECOND);
	EXPECT_EQ(4, demand.high_watermark);
}

/* It lasted for no time, but was wanted. */
TEST(a_short_peak_is_in_the_watermark_alone)
{
	struct kapf_demand demand;
	u64 now = 0;

	kapf_demand_init(&demand, now);
	hold(&demand, 2, &now, SECOND);
	hold(&demand, 500, &now, 0);
	hold(&demand, 2, &now, SECOND);
	kapf_demand_end_period(&demand, now);
	EXPECT_EQ(500, demand.high_watermark);
	EXPECT_EQ(fixed(2), demand.average);
	EXPECT_EQ(0, demand.deviation);
}

TEST(a_period_of_no_length_has_a_watermark_only)
{
	struct kapf_demand demand;
	u64 now = 0;

	kapf_demand_init(&demand, now);
	hold(&demand, 1, &now, SECOND);
	hold(&demand, 3, &now, SECOND);
	kapf_demand_end_period(&demand, now);
	hold(&demand, 8, &now, 0);
	hold(&demand, 5, &now, 0);
	kapf_demand_end_period(&demand, now);
	EXPECT_EQ(8, demand.high_watermark);
	EXPECT_EQ(fixed(2), demand.average);
	EXPECT_EQ(fixed(1), demand.deviation);
	EXPECT_EQ(fixed(3), demand.smoothed);
	kapf_demand_end_period(&demand, now);
	EXPECT_EQ(5, demand.high_watermark);
}

TEST(time_does_not_run_backwards)
{
	struct kapf_demand demand;

	kapf_demand_init(&demand, 10 * SECOND);
	kapf_demand_set(&demand, 6, 10 * SECOND);
	kapf_demand_set(&demand, 2, 9 * SECOND);
	kapf_demand_end_period(&demand, 8 * SECOND);
	EXPECT_EQ(6, demand.high_watermark);
	EXPECT_EQ(0, demand.average);
	kapf_demand_end_period(&demand, 11 * SECOND);
	EXPECT_EQ(fixed(2), demand.average);
	EXPECT_EQ(0, demand.deviation);
}

TEST(a_constant_demand_does_not_deviate)
{
	u64 state = 21;
	u32 i, j;

	for (i = 0; i < 20000; i++) {
		struct kapf_demand demand;
		u64 seats = random_next(&state) >> random_between(&state, 32, 63);
		u64 now = random_next(&state) >> 8;

		kapf_demand_init(&demand, now);
		for (j = 0; j < 5; j++)
			hold(&demand, seats, &now,
			     random_next(&state) >> random_between(&state, 8, 63));
		hold(&demand, seats, &now, 1);
		kapf_demand_end_period(&demand, now);
		ASSERT_EQ(fixed(seats), demand.average);
		ASSERT_EQ(0, demand.deviation);
		ASSERT_EQ(fixed(seats), demand.smoothed);
	}
}

/* The greatest demand there is, for centuries. */
TEST(the_largest_numbers)
{
	struct kapf_demand demand;
	u64 now = 0;

	kapf_demand_init(&demand, now);
	hold(&demand, 0, &now, 1ULL << 61);
	hold(&demand, 1ULL << 32, &now, 1ULL << 61);
	kapf_demand_end_period(&demand, now);
	EXPECT_EQ(~0u, demand.high_watermark);
	EXPECT_EQ(fixed(~0u) / 2, demand.average);
	EXPECT_EQ(fixed(~0u) / 2, demand.deviation);
	EXPECT_EQ(fixed(~0u), demand.smoothed);

	/* Here the envelope is beyond what there are bits for. */
	hold(&demand, 0, &now, SECOND);
	hold(&demand, ~0ULL, &now, 3 * SECOND);
	kapf_demand_end_period(&demand, now);
	EXPECT_EQ(fixed(~0u) / 4 * 3, demand.average);
	EXPECT_EQ(~0ULL, demand.smoothed);
}

/* A nanosecond in which a seat was wanted, in so many. */
TEST(the_smallest_numbers)
{
	static const u64 lengths[] = { 2, 3, 10, 10 * SECOND, 1ULL << 40,
				       1ULL << 62 };
	struct kapf_demand demand;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		long double part = 1.0L / lengths[i];
		u64 now = 0;

		kapf_demand_init(&demand, now);
		hold(&demand, 1, &now, 1);
		hold(&demand, 0, &now, lengths[i] - 1);
		kapf_demand_end_period(&demand, now);
		EXPECT_LE(fabsl(real(demand.average) - part), real(1));
		EXPECT_LE(fabsl(real(demand.deviation) -
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
static void random_period(u64 *state, u32 mode, struct kapf_demand *demand,
			  struct history *history, u64 *now)
{
	u32 i;

	/* What was wanted at the end of the period before still is. */
	history->seats[0] = demand->seats;
	history->ns[0] = random_ns(state, mode);
	history->most = demand->seats;
	*now += history->ns[0];
	history->nr_pieces = random_between(state, 1, MAX_PIECES);
	for (i = 1; i < history->nr_pieces; i++) {
		history->seats[i] = random_seats(state, mode);
		history->ns[i] = random_ns(state, mode);
		if (history->most < history->seats[i])
			history->most = history->seats[i];
		hold(demand, history->seats[i], now, history->ns[i]);
	}
	history_end_period(history);
	kapf_demand_end_period(demand, *now);
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
		struct kapf_demand demand;
		u64 now = random_next(&state) >> 2;
		u32 mode = run % 4;

		kapf_demand_init(&demand, now);
		for (i = 0; i < 12; i++) {
			random_period(&state, mode, &demand, &history, &now);
			slack = fmaxl(slack, ldexpl(history.most, -50) + real(24));
			ASSERT_EQ(history.most, demand.high_watermark);
			ASSERT_LE(fabsl(history.average - real(demand.average)),
				  slack);
			ASSERT_LE(fabsl(history.deviation -
					real(demand.deviation)), slack);
			ASSERT_LE(fabsl(history.smoothed -
					real(demand.smoothed)), slack);
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
		struct kapf_demand demand;
		u64 now = 0, start, smoothed = 0;

		kapf_demand_init(&demand, now);
		for (i = 0; i < 6; i++) {
			start = now;
			random_period(&state, run % 4, &demand, &history, &now);
			if (now == start)
				continue;
			ASSERT_LE(demand.average, fixed(demand.high_watermark));
			ASSERT_LE(demand.deviation,
				  fixed(demand.high_watermark) / 2);
			ASSERT_GE(demand.smoothed, demand.average);
			ASSERT_GE(demand.smoothed, smoothed / 1000 * 977);
			smoothed = demand.smoothed;
		}
	}
}

TEST_HARNESS_MAIN
