// SPDX-License-Identifier: GPL-2.0
/*
 * Retry-After: against a model that remembers every drop, and the course of a
 * storm from its beginning to its end.
 */
#include "test.h"

#include <linux/string.h>
#include <linux/types.h>

#include "random.h"
#include "retryafter.h"

#define MAX_DROPS 20000

/* Every drop that ever was, and the rule applied to all of them. */
struct history {
	u64 drops[MAX_DROPS];
	u32 nr_drops;
	u64 doubled;
	bool ever_doubled;
	u32 retry_after;
};

static void history_adapt(struct history *history, u64 second)
{
	u64 window = history->retry_after;
	u64 dropped = 0;
	u32 i;

	for (i = 0; i < history->nr_drops; i++)
		if (history->drops[i] < second &&
		    history->drops[i] + window >= second)
			dropped++;
	if ((!history->ever_doubled || second - history->doubled >= window) &&
	    dropped >= 3 * window) {
		history->retry_after = window < 16 ? 2 * window : 32;
		history->ever_doubled = true;
		history->doubled = second;
	} else if (dropped < window && window > 1) {
		history->retry_after--;
	}
}

static u32 history_drop(struct history *history, u64 second)
{
	u64 last = 0;

	if (history->nr_drops)
		last = history->drops[history->nr_drops - 1];
	if (second < last)
		second = last;
	if (!history->nr_drops || second > last)
		history_adapt(history, second);
	history->drops[history->nr_drops++] = second;
	return history->retry_after;
}

/* Seconds until the next drop. */
static u64 random_pause(u64 *state, u32 heavy)
{
	if (random_chance(state, heavy))
		return 0;
	if (random_chance(state, 70))
		return 1;
	if (random_chance(state, 90))
		return random_between(state, 2, 8);
	return random_between(state, 9, 120);
}

TEST(random_drops)
{
	static const u64 starts[] = { 0, 1, 31, 32, 33, 1000, 1ULL << 32 };
	static struct history history;
	struct kapf_retry_after ra;
	u32 seen[KAPF_RETRY_AFTER_MAX + 1] = { 0 };
	u64 state = 7;
	u32 run, i;

	for (run = 0; run < 40; run++) {
		u64 second = starts[run % ARRAY_SIZE(starts)];
		u32 heavy = 0;

		memset(&history, 0, sizeof(history));
		history.retry_after = 1;
		kapf_retry_after_init(&ra);
		for (i = 0; i < MAX_DROPS / 4; i++) {
			u32 answer;

			/* Storms and lulls. */
			if (i % 250 == 0)
				heavy = random_between(&state, 0, 98);
			second += random_pause(&state, heavy);
			answer = kapf_retry_after_drop(&ra, second);
			ASSERT_EQ(history_drop(&history, second), answer) {
				TH_LOG("run %u, drop %u, second %" PRIu64, run, i,
				       second);
			}
			ASSERT_GE(answer, 1);
			ASSERT_LE(answer, KAPF_RETRY_AFTER_MAX);
			seen[answer]++;
		}
	}
	/* Each answer was given, so that each has been compared. */
	for (i = 1; i <= KAPF_RETRY_AFTER_MAX; i++) {
		EXPECT_NE(0, seen[i]) {
			TH_LOG("never %u s", i);
		}
	}
}

static u32 drop_many(struct kapf_retry_after *ra, u64 second, u32 drops)
{
	u32 answer = 0;

	while (drops--)
		answer = kapf_retry_after_drop(ra, second);
	return answer;
}

/* It doubles no sooner than those have come back who were told the last time. */
TEST(storm_doubles_to_the_maximum)
{
	static const u32 expected[] = {
		1, 2, 2, 4, 4, 4, 4, 8, 8, 8, 8, 8, 8, 8, 8, 16,
	};
	struct kapf_retry_after ra;
	u64 second;

	kapf_retry_after_init(&ra);
	for (second = 0; second < 200; second++) {
		u32 answer = drop_many(&ra, 1000 + second, 100);

		if (second < ARRAY_SIZE(expected)) {
			EXPECT_EQ(expected[second], answer) {
				TH_LOG("second %" PRIu64, second);
			}
		}
		EXPECT_EQ(second >= 31, answer == 32);
		EXPECT_LE(answer, 32);
	}
}

TEST(comes_down_by_one_at_a_time)
{
	struct kapf_retry_after ra;
	u32 answer = 0, last;
	u64 second;

	kapf_retry_after_init(&ra);
	for (second = 0; second < 100; second++)
		answer = drop_many(&ra, second, 100);
	ASSERT_EQ(32, answer);
	/* The storm is out of the window, then drops come one in two seconds. */
	for (second = 200; answer > 1; second += 2) {
		last = answer;
		answer = drop_many(&ra, second, 1);
		ASSERT_EQ(last - 1, answer);
	}
	EXPECT_EQ(1, drop_many(&ra, second, 1));
}

TEST(stays_where_drops_are_neither_many_nor_few)
{
	struct kapf_retry_after ra;
	u64 second;

	kapf_retry_after_init(&ra);
	drop_many(&ra, 10, 3);
	ASSERT_EQ(2, drop_many(&ra, 11, 2));
	/* In 2 seconds 2 drops are not too few, and 5 not yet too many. */
	for (second = 12; second < 50; second++) {
		EXPECT_EQ(2, drop_many(&ra, second, 1)) {
			TH_LOG("second %" PRIu64, second);
		}
	}
	for (; second < 100; second++) {
		EXPECT_EQ(2, drop_many(&ra, second, second % 2 ? 2 : 3)) {
			TH_LOG("second %" PRIu64, second);
		}
	}
}

/* All drops of a second get one answer, and the present one counts for none. */
TEST(looked_at_once_a_second)
{
	struct kapf_retry_after ra;

	kapf_retry_after_init(&ra);
	EXPECT_EQ(1, drop_many(&ra, 5, 1000));
	EXPECT_EQ(2, drop_many(&ra, 6, 1));
	EXPECT_EQ(2, drop_many(&ra, 6, 1000));
}

TEST(second_before_the_last_counts_as_the_last)
{
	struct kapf_retry_after ra;

	kapf_retry_after_init(&ra);
	drop_many(&ra, 5, 2);
	drop_many(&ra, 4, 1);
	EXPECT_EQ(2, drop_many(&ra, 6, 1));
}

TEST_HARNESS_MAIN;
