// SPDX-License-Identifier: GPL-2.0
/*
 * Nominal limits: the figures that users of Kubernetes know, and exact
 * arithmetic over the whole range that a configuration may have.
 */
#include "kselftest_harness.h"

#include <linux/types.h>

#include "allocation.h"
#include "random.h"

#define MAX_SEATS	65535
#define MAX_SHARES	0x7fffffff
#define MAX_LEVELS	256

struct level {
	const char *name;
	u32 shares;
	u32 nominal;	/* of 600 seats */
	u32 diluted;	/* the same beside one more level of 10 shares */
};

static const struct level defaults[] = {
	{ "exempt", 0, 0, 0 },
	{ "catch-all", 5, 13, 12 },
	{ "system", 30, 74, 71 },
	{ "node-high", 40, 98, 95 },
	{ "leader-election", 10, 25, 24 },
	{ "workload-high", 40, 98, 95 },
	{ "workload-low", 100, 245, 236 },
	{ "global-default", 20, 49, 48 },
};

#define NR_DEFAULTS ARRAY_SIZE(defaults)

static u64 sum_of_defaults(void)
{
	u64 sum = 0;
	size_t i;

	for (i = 0; i < NR_DEFAULTS; i++)
		sum += defaults[i].shares;
	return sum;
}

TEST(default_levels)
{
	size_t i;

	ASSERT_EQ(245, sum_of_defaults());
	for (i = 0; i < NR_DEFAULTS; i++) {
		const struct level *level = &defaults[i];

		EXPECT_EQ(level->nominal,
			  kapf_nominal_limit(600, level->shares, 245)) {
			TH_LOG("level %s", level->name);
		}
	}
}

TEST(one_more_level_dilutes_the_others)
{
	size_t i;

	ASSERT_EQ(255, sum_of_defaults() + 10);
	EXPECT_EQ(24, kapf_nominal_limit(600, 10, 255));
	for (i = 0; i < NR_DEFAULTS; i++) {
		const struct level *level = &defaults[i];

		EXPECT_EQ(level->diluted,
			  kapf_nominal_limit(600, level->shares, 255)) {
			TH_LOG("level %s", level->name);
		}
	}
}

TEST(no_shares_at_all)
{
	EXPECT_EQ(0, kapf_nominal_limit(600, 0, 0));
	EXPECT_EQ(0, kapf_nominal_limit(MAX_SEATS, 0, 0));
}

TEST(all_shares)
{
	EXPECT_EQ(1, kapf_nominal_limit(1, 1, 1));
	EXPECT_EQ(MAX_SEATS, kapf_nominal_limit(MAX_SEATS, MAX_SHARES,
						MAX_SHARES));
	EXPECT_EQ(MAX_SEATS / MAX_LEVELS + 1,
		  kapf_nominal_limit(MAX_SEATS, MAX_SHARES,
				     (u64)MAX_LEVELS * MAX_SHARES));
}

/* The limit is the least number of seats that is no less than the share. */
TEST(random_shares)
{
	u64 state = 1;
	u32 i;

	for (i = 0; i < 1000000; i++) {
		u64 bits = random_between(&state, 1, 31);
		u64 shares = random_between(&state, 0, (1ULL << bits) - 1);
		u64 others = random_next(&state) %
			     ((u64)(MAX_LEVELS - 1) * MAX_SHARES);
		u64 sum = shares + (others >> random_between(&state, 0, 38));
		u64 seats = random_between(&state, 1, MAX_SEATS);
		__int128 limit;

		if (!sum)
			continue;
		limit = kapf_nominal_limit(seats, shares, sum);
		ASSERT_TRUE(limit * sum >= seats * shares);
		ASSERT_TRUE(!limit || (limit - 1) * sum < seats * shares);
	}
}

TEST_HARNESS_MAIN
