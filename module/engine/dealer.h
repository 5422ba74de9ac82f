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

/* The card of a draw: count those below it that earlier draws took. */
static inline u32 kapf_deal_count(const struct kapf_deal *deal, u32 position)
{
	u32 card = deal->draw[position];

	while (position-- > 0)
		if (card >= deal->draw[position])
			card++;
	return card;
}

/**
 * kapf_deal_card() - one card of a hand
 * @deal: started with a hash and a deck
 * @position: of the card in the hand, from 0; less than the deck and
 *	KAPF_HAND_MAX
 *
 * Each draw costs a 64 bit division, so only those up to @position are made,
 * and none twice.
 *
 * Return: the card, 0 to deck - 1, different at each position.
 */
static inline u32 kapf_deal_card(struct kapf_deal *deal, u32 position)
{
	while (deal->drawn <= position) {
		u32 left = deal->deck - deal->drawn;

		deal->draw[deal->drawn++] = deal->rest % left;
		deal->rest /= left;
	}
	return kapf_deal_count(deal, position);
}

/**
 * kapf_deal_one() - the only card of a hand that is needed
 * @deal: scratch
 * @hash: of the flow
 * @deck: number of queues
 * @position: as for kapf_deal_card()
 *
 * Return: likewise.
 */
static inline u32 kapf_deal_one(struct kapf_deal *deal, u64 hash, u32 deck,
				u32 position)
{
	u32 i;

	for (i = 0; i <= position; i++, deck--) {
		deal->draw[i] = hash % deck;
		hash /= deck;
	}
	return kapf_deal_count(deal, position);
}

void kapf_deal_hand(u64 hash, u32 deck, u32 hand_size, u32 *hand);
u32 kapf_hand_max(u32 deck);

#endif /* KAPF_DEALER_H */
