/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hands, dealt by drawing from a list of cards what was not drawn yet, in
 * Python:
 *
 *	def deal(hash, deck, hand):
 *		left, cards = list(range(deck)), []
 *		for i in range(hand):
 *			cards.append(left.pop(hash % (deck - i)))
 *			hash //= deck - i
 *		return cards
 *
 * The first hashes are those of flows of the default FlowSchemas, three rows
 * each: of exempt without a distinguisher, of system-nodes for the user
 * system:node:a, of service-accounts for system:serviceaccount:default:default,
 * of global-default for alice.
 */
#ifndef ENGINE_DEALER_VECTORS_H
#define ENGINE_DEALER_VECTORS_H

#include "dealer.h"

static const struct {
	u64 hash;
	u32 deck;
	u32 hand_size;
	u32 hand[KAPF_HAND_MAX];
} dealer_vectors[] = {
	{ 0xffa9e4a2537c0600ULL, 16, 4,
	  { 0, 8, 2, 5 } },
	{ 0xffa9e4a2537c0600ULL, 64, 6,
	  { 0, 17, 28, 59, 14, 29 } },
	{ 0xffa9e4a2537c0600ULL, 128, 6,
	  { 0, 34, 103, 89, 96, 51 } },
	{ 0x6acc35453a79eea7ULL, 16, 4,
	  { 7, 4, 12, 0 } },
	{ 0x6acc35453a79eea7ULL, 64, 6,
	  { 39, 38, 30, 56, 55, 0 } },
	{ 0x6acc35453a79eea7ULL, 128, 6,
	  { 39, 116, 30, 22, 61, 26 } },
	{ 0xba4dd08bd6ad597fULL, 16, 4,
	  { 15, 13, 8, 4 } },
	{ 0xba4dd08bd6ad597fULL, 64, 6,
	  { 63, 43, 6, 59, 8, 11 } },
	{ 0xba4dd08bd6ad597fULL, 128, 6,
	  { 127, 66, 18, 15, 64, 74 } },
	{ 0xf4de3bd42ccdf6b7ULL, 16, 4,
	  { 7, 14, 0, 3 } },
	{ 0xf4de3bd42ccdf6b7ULL, 64, 6,
	  { 55, 56, 51, 36, 11, 5 } },
	{ 0xf4de3bd42ccdf6b7ULL, 128, 6,
	  { 55, 62, 126, 125, 105, 1 } },
	{ 0x0000000000000000ULL, 1, 1,
	  { 0 } },
	{ 0x0000000000000000ULL, 2, 2,
	  { 0, 1 } },
	{ 0x0000000000000000ULL, 15, 15,
	  { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 } },
	{ 0x0000000000000000ULL, 32, 12,
	  { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 } },
	{ 0x0000000000000000ULL, 64, 8,
	  { 0, 1, 2, 3, 4, 5, 6, 7 } },
	{ 0x0000000000000000ULL, 512, 6,
	  { 0, 1, 2, 3, 4, 5 } },
	{ 0x0000000000000000ULL, 1024, 6,
	  { 0, 1, 2, 3, 4, 5 } },
	{ 0x0000000000000000ULL, 10007, 4,
	  { 0, 1, 2, 3 } },
	{ 0x0000000000000001ULL, 15, 15,
	  { 1, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 } },
	{ 0x0000000000000001ULL, 512, 6,
	  { 1, 0, 2, 3, 4, 5 } },
	{ 0xffffffffffffffffULL, 1, 1,
	  { 0 } },
	{ 0xffffffffffffffffULL, 2, 2,
	  { 1, 0 } },
	{ 0xffffffffffffffffULL, 15, 15,
	  { 0, 2, 1, 3, 4, 5, 11, 8, 6, 7, 12, 10, 13, 9, 14 } },
	{ 0xffffffffffffffffULL, 32, 12,
	  { 31, 15, 23, 3, 13, 7, 19, 6, 12, 28, 22, 17 } },
	{ 0xffffffffffffffffULL, 64, 8,
	  { 63, 15, 55, 23, 31, 2, 39, 34 } },
	{ 0xffffffffffffffffULL, 512, 6,
	  { 511, 1, 127, 94, 196, 285 } },
	{ 0xffffffffffffffffULL, 1024, 6,
	  { 1023, 15, 497, 420, 22, 243 } },
	{ 0xffffffffffffffffULL, 10007, 4,
	  { 3797, 1170, 9241, 6221 } },
	{ 0x7fffffffffffffffULL, 15, 15,
	  { 7, 0, 1, 2, 3, 10, 6, 5, 4, 12, 13, 11, 8, 14, 9 } },
	{ 0x7fffffffffffffffULL, 512, 6,
	  { 511, 0, 64, 303, 353, 142 } },
	{ 0x0fffffffffffffffULL, 1, 1,
	  { 0 } },
	{ 0x0fffffffffffffffULL, 2, 2,
	  { 1, 0 } },
	{ 0x0fffffffffffffffULL, 15, 15,
	  { 0, 8, 7, 2, 6, 9, 3, 14, 1, 5, 13, 11, 12, 10, 4 } },
	{ 0x0fffffffffffffffULL, 32, 12,
	  { 31, 0, 8, 1, 30, 21, 27, 3, 29, 24, 23, 17 } },
	{ 0x0fffffffffffffffULL, 64, 8,
	  { 63, 0, 16, 6, 61, 28, 11, 20 } },
	{ 0x0fffffffffffffffULL, 512, 6,
	  { 511, 63, 455, 165, 108, 465 } },
	{ 0x0fffffffffffffffULL, 1024, 6,
	  { 1023, 0, 32, 92, 67, 16 } },
	{ 0x0fffffffffffffffULL, 10007, 4,
	  { 3989, 8829, 7456, 388 } },
	{ 0x0000000000000000ULL, 1048576, 3,
	  { 0, 1, 2 } },
	{ 0xffffffffffffffffULL, 1048576, 3,
	  { 1048575, 15, 49 } },
	{ 0x0123456789abcdefULL, 1048576, 3,
	  { 773615, 498655, 74565 } },
	{ 0x0000000000000000ULL, 67108864, 2,
	  { 0, 1 } },
	{ 0xffffffffffffffffULL, 67108864, 2,
	  { 67108863, 4095 } },
	{ 0x0123456789abcdefULL, 67108864, 2,
	  { 28036591, 13720052 } },
	{ 0x0000000000000000ULL, 67108859, 2,
	  { 0, 1 } },
	{ 0xffffffffffffffffULL, 67108859, 2,
	  { 102399, 45056 } },
	{ 0x0123456789abcdefULL, 67108859, 2,
	  { 29528352, 13720233 } },
};

#endif /* ENGINE_DEALER_VECTORS_H */
