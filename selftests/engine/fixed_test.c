// SPDX-License-Identifier: GPL-2.0
/*
 * Division and root of 128 bits: against the compiler's division, and against
 * what a root is.
 */
#include "kselftest_harness.h"

#include <linux/types.h>

#include "fixed.h"
#include "random.h"

/* Of any length up to so many bits. */
static kapf_u128 random_wide(u64 *state, u32 bits)
{
	kapf_u128 wide = (kapf_u128)random_next(state) << 64;

	return (wide | random_next(state)) >>
	       random_between(state, 128 - bits, 127);
}

TEST(quotients)
{
	u64 state = 11;
	u32 i;

	for (i = 0; i < 200000; i++) {
		kapf_u128 dividend = random_wide(&state, 128), rest;
		kapf_u128 divisor = random_wide(&state, 127) + 1;

		ASSERT_TRUE(dividend / divisor ==
			    kapf_div(dividend, divisor, &rest));
		ASSERT_TRUE(dividend % divisor == rest);
	}
}

TEST(extreme_quotients)
{
	const kapf_u128 most = ~(kapf_u128)0, half = (kapf_u128)1 << 127;
	kapf_u128 rest;

	EXPECT_TRUE(kapf_div(0, 1, &rest) == 0 && rest == 0);
	EXPECT_TRUE(kapf_div(most, 1, &rest) == most && rest == 0);
	EXPECT_TRUE(kapf_div(most, half, &rest) == 1 && rest == half - 1);
	EXPECT_TRUE(kapf_div(half - 1, half, &rest) == 0 && rest == half - 1);
	EXPECT_TRUE(kapf_div(most, 3, NULL) == most / 3);
}

TEST(roots)
{
	u64 state = 12;
	u32 i;

	for (i = 0; i < 200000; i++) {
		kapf_u128 square = random_wide(&state, 128);
		kapf_u128 root = kapf_sqrt(square);

		ASSERT_TRUE(root * root <= square);
		ASSERT_TRUE(root == ~0ULL || (root + 1) * (root + 1) > square);
	}
}

TEST(roots_of_squares_and_of_their_neighbours)
{
	u64 state = 13;
	u32 i;

	EXPECT_EQ(0, kapf_sqrt(0));
	EXPECT_EQ(~0ULL, kapf_sqrt(~(kapf_u128)0));
	for (i = 0; i < 200000; i++) {
		u64 root = random_wide(&state, 64) | 1;

		ASSERT_EQ(root, kapf_sqrt((kapf_u128)root * root));
		ASSERT_EQ(root - 1, kapf_sqrt((kapf_u128)root * root - 1));
	}
}

TEST_HARNESS_MAIN
