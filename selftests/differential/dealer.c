// SPDX-License-Identifier: GPL-2.0

#include <err.h>

#include "answer.h"
#include "dealer.h"

struct json_object *answer_dealer(struct json_object *c)
{
	struct json_object *answer = json_object_new_array();
	uint64_t hand_size = case_u64(c, "hand"), deck = case_u64(c, "deck");
	u32 hand[KAPF_HAND_MAX], i;

	if (hand_size > kapf_hand_max(deck))
		errx(1, "no hand of %lu from %lu", hand_size, deck);
	kapf_deal_hand(case_u64(c, "hash"), deck, hand_size, hand);
	for (i = 0; i < hand_size; i++)
		json_object_array_add(answer, json_object_new_int64(hand[i]));
	return answer;
}
