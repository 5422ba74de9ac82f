// SPDX-License-Identifier: GPL-2.0
/*
 * Shuffle sharding: hands against ones computed independently, their
 * properties over random decks, and which hands are allowed.
 */
#include "test.h"

#include <linux/string.h>
#include <linux/types.h>

#include "dealer.h"
#include "dealer_vectors.h"
#include "random.h"

/* Most cards of a deck that is dealt by taking cards out of an array. */
#define SMALL_DECK 512

#define NR_VECTORS ARRAY_SIZE(dealer_vectors)

/* Is dealing a hand of this size from this deck fair?  Exact arithmetic. */
static bool hand_allowed(u32 deck, u32 size)
{
	const __int128 most = (__int128)1 << 60;
	__int128 hands = 1;
	u32 i;

	for (i = 0; i < size && hands <= most; i++)
		hands *= deck;
	return size <= deck && size <= KAPF_HAND_MAX && hands <= most;
}

static u32 random_hand_size(u64 *state, u32 deck)
{
	u32 size;

	do {
		size = random_between(state, 1, KAPF_HAND_MAX);
	} while (!hand_allowed(deck, size));
	return size;
}

TEST(known_hands)
{
	u32 hand[KAPF_HAND_MAX];
	size_t i;
	u32 j;

	for (i = 0; i < NR_VECTORS; i++) {
		kapf_deal_hand(dealer_vectors[i].hash, dealer_vectors[i].deck,
			       dealer_vectors[i].hand_size, hand);
		for (j = 0; j < dealer_vectors[i].hand_size; j++) {
			EXPECT_EQ(dealer_vectors[i].hand[j], hand[j]) {
				TH_LOG("vector %zu, card %u", i, j);
			}
		}
	}
}

TEST(random_hands_by_taking_cards_out)
{
	u32 left[SMALL_DECK], hand[KAPF_HAND_MAX];
	u64 state = 2;
	u32 round, i;

	for (round = 0; round < 20000; round++) {
		u32 deck = random_between(&state, 1, SMALL_DECK);
		u32 size = random_hand_size(&state, deck);
		u64 hash = random_next(&state);

		kapf_deal_hand(hash, deck, size, hand);
		for (i = 0; i < deck; i++)
			left[i] = i;
		for (i = 0; i < size; i++) {
			u32 draw = hash % (deck - i);

			hash /= deck - i;
			ASSERT_EQ(left[draw], hand[i]);
			memmove(&left[draw], &left[draw + 1],
				(deck - i - draw - 1) * sizeof(left[0]));
		}
	}
}

TEST(cards_are_different_and_in_range)
{
	u32 hand[KAPF_HAND_MAX];
	u64 state = 3;
	u32 round, i, j;

	for (round = 0; round < 200000; round++) {
		u64 bits = random_between(&state, 0, 26);
		u32 deck = random_between(&state, 1, 1u << bits);
		u32 size = random_hand_size(&state, deck);

		kapf_deal_hand(random_next(&state), deck, size, hand);
		for (i = 0; i < size; i++) {
			ASSERT_LT(hand[i], deck);
			for (j = 0; j < i; j++) {
				ASSERT_NE(hand[i], hand[j]) {
					TH_LOG("%u of deck %u", size, deck);
				}
			}
		}
	}
}

TEST(cards_in_any_order_make_the_same_hand)
{
	u32 hand[KAPF_HAND_MAX], order[KAPF_HAND_MAX];
	struct kapf_deal deal;
	u64 state = 4;
	u32 round, i;

	for (round = 0; round < 50000; round++) {
		u32 deck = random_between(&state, 1, 2000);
		u32 size = random_hand_size(&state, deck);
		u64 hash = random_next(&state);

		for (i = 0; i < size; i++) {
			u32 other = random_between(&state, 0, i);

			order[i] = order[other];
			order[other] = i;
		}
		kapf_deal_hand(hash, deck, size, hand);
		kapf_deal_start(&deal, hash, deck);
		for (i = 0; i < size; i++) {
			ASSERT_EQ(hand[order[i]],
				  kapf_deal_card(&deal, order[i]));
		}
		/* And asked for once more. */
		for (i = 0; i < size; i++) {
			ASSERT_EQ(hand[i], kapf_deal_card(&deal, i)) {
				TH_LOG("%u of deck %u", size, deck);
			}
		}
	}
}

/*
 * Each ordered hand should come up as often as any other: 10000 times here, and
 * six standard deviations are about 600.
 */
TEST(hands_are_equally_likely)
{
	static const struct {
		u32 deck, size, hands;
	} decks[] = { { 5, 2, 20 }, { 4, 3, 24 }, { 4, 4, 24 }, { 7, 1, 7 } };
	u32 count[7 * 7 * 7];
	u32 hand[KAPF_HAND_MAX];
	u64 state = 5;
	size_t d, i;
	u32 j;

	for (d = 0; d < ARRAY_SIZE(decks); d++) {
		u32 hands = 0;

		memset(count, 0, sizeof(count));
		for (i = 0; i < 10000ULL * decks[d].hands; i++) {
			u32 number = 0;

			kapf_deal_hand(random_next(&state), decks[d].deck,
				       decks[d].size, hand);
			for (j = 0; j < decks[d].size; j++)
				number = number * decks[d].deck + hand[j];
			count[number]++;
		}
		for (i = 0; i < ARRAY_SIZE(count); i++) {
			if (!count[i])
				continue;
			hands++;
			EXPECT_GT(count[i], 9400);
			EXPECT_LT(count[i], 10600);
		}
		EXPECT_EQ(decks[d].hands, hands);
	}
}

static u32 hand_max(u32 deck)
{
	u32 size = 0;

	while (hand_allowed(deck, size + 1))
		size++;
	return size;
}

TEST(largest_hand)
{
	u32 deck, bits;

	for (deck = 1; deck <= 1u << 17; deck++) {
		ASSERT_EQ(hand_max(deck), kapf_hand_max(deck)) {
			TH_LOG("deck %u", deck);
		}
	}
	for (bits = 17; bits <= 26; bits++) {
		for (deck = (1u << bits) - 2;
		     deck <= (1u << bits) + 2 && deck <= 1u << 26; deck++) {
			ASSERT_EQ(hand_max(deck), kapf_hand_max(deck)) {
				TH_LOG("deck %u", deck);
			}
		}
	}
}

TEST(decks_that_cannot_be_dealt_from)
{
	EXPECT_EQ(0, kapf_hand_max(0));
	EXPECT_EQ(2, kapf_hand_max(1u << 26));
	EXPECT_EQ(0, kapf_hand_max((1u << 26) + 1));
	EXPECT_EQ(0, kapf_hand_max(~0u));
}

TEST_HARNESS_MAIN;
