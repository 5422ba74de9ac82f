// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Shuffle sharding.
 *
 * A flow's hash is read as a number in a mixed radix, whose digits are draws
 * without replacement from a deck of queues: the first digit is one of deck
 * cards, the second one of the deck - 1 that are left, and so on.  Two flows
 * with different hashes rarely hold the same hand, so that a heavy flow rarely
 * fills all the queues that a light one could go to.
 */

#include <linux/types.h>

#include "dealer.h"

/**
 * kapf_deal_hand() - a whole hand
 * @hash: of the flow
 * @deck: number of queues
 * @hand_size: number of cards, at most kapf_hand_max(deck)
 * @hand: out: the cards, in the order dealt
 */
void kapf_deal_hand(u64 hash, u32 deck, u32 hand_size, u32 *hand)
{
	struct kapf_deal deal;
	u32 i;

	kapf_deal_start(&deal, hash, deck);
	for (i = 0; i < hand_size; i++)
		hand[i] = kapf_deal_card(&deal, i);
}

/**
 * kapf_hand_max() - the largest hand that can be dealt fairly from a deck
 * @deck: number of queues
 *
 * Return: the largest H up to @deck and KAPF_HAND_MAX with
 * ceil(log2(deck) * H) <= 60, which is deck^H <= 2^60: 60 bits of hash then
 * give every hand; 0 when the deck is empty or has more than 2^26 cards.
 */
u32 kapf_hand_max(u32 deck)
{
	u64 hands = 1;
	u32 size = 0;

	if (!deck || deck > 1u << 26)
		return 0;
	while (size < deck && size < KAPF_HAND_MAX &&
	       hands <= (1ULL << 60) / deck) {
		hands *= deck;
		size++;
	}
	return size;
}
