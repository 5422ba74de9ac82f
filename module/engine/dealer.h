/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
#ifndef KAPF_DEALER_H
#define KAPF_DEALER_H

#include <linux/types.h>

#define KAPF_HAND_MAX 15

/**
 * struct kapf_deal - a hand that is dealt card by card
 * @rest: what is left of the hash
 * @deck: number of cards
 * @drawn: how many draws have been made
 * @draw: the draws, each an index into the cards that were left
 */
struct kapf_deal {
	u64 rest;
	u32 deck;
	u32 drawn;
	u32 draw[KAPF_HAND_MAX];
};

static inline void kapf_deal_start(struct kapf_deal *deal, u64 hash, u32 deck)
{
	deal->rest = hash;
	deal->deck = deck;
	deal->drawn = 0;
}

/**
 * kapf_deal_card() - one card of a hand
 * @deal: started with a hash and a deck
 * @position: of the card in the hand, from 0; less than the deck and
 *	KAPF_HAND_MAX
 *
 * Each draw costs a 64 bit division, so only those up to @position are made,
 * and none twice.  Inline, as it is part of each admission.
 *
 * Return: the card, 0 to deck - 1, different at each position.
 */
static inline u32 kapf_deal_card(struct kapf_deal *deal, u32 position)
{
	u32 card, i;

	while (deal->drawn <= position) {
		u32 left = deal->deck - deal->drawn;

		deal->draw[deal->drawn++] = deal->rest % left;
		deal->rest /= left;
	}

	/* Count the cards that earlier draws took from below this one. */
	card = deal->draw[position];
	for (i = position; i-- > 0;)
		if (card >= deal->draw[i])
			card++;
	return card;
}

void kapf_deal_hand(u64 hash, u32 deck, u32 hand_size, u32 *hand);
u32 kapf_hand_max(u32 deck);

#endif /* KAPF_DEALER_H */
