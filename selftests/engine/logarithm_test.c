// SPDX-License-Identifier: GPL-2.0
/*
 * Which hands are allowed, by the logarithms that the rule speaks of.  There is
 * no floating point in the kernel, so that this is a program only.
 */
#include "test.h"

#include <math.h>

#include <linux/types.h>

#include "dealer.h"
#include "random.h"

/* The rule as Kubernetes words it: ceil(log2(deck) * hand) <= 60. */
TEST(largest_hand_by_logarithms)
{
	u64 state = 6;
	u32 i;

	for (i = 0; i < 200000; i++) {
		u64 bits = random_between(&state, 4, 26);
		u32 deck = random_between(&state, 15, 1u << bits);
		u32 size = kapf_hand_max(deck);

		ASSERT_LE(ceill(log2l(deck) * size), 60);
		if (size < KAPF_HAND_MAX) {
			ASSERT_GT(ceill(log2l(deck) * (size + 1)), 60) {
				TH_LOG("%u of deck %u", size, deck);
			}
		}
	}
}

TEST_HARNESS_MAIN;
