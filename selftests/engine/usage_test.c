// SPDX-License-Identifier: GPL-2.0
/*
 * What passes with time: virtual time and the integrals of what a queue set has,
 * step by step against sums of 128 bits, with seats and times of all magnitudes,
 * most of them close to where the short way ends.
 */
#include "kselftest_harness.h"

#include <linux/types.h>

#include "queueset_now.h"
#include "random.h"

#define STEPS 200

struct model {
	kapf_u128 demand;
	kapf_u128 square;
	kapf_u128 executing;
	kapf_u128 waiting;
	kapf_u128 waiting_seats;
	u64 current_r;
	u64 now;
};

static u64 least(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* Up to 2^bits; every third one next to 2^edge. */
static u64 random_number(u64 *state, u32 bits, u32 edge)
{
	if (random_chance(state, 33))
		return random_between(state, (1ULL << edge) - 2,
				      (1ULL << edge) + 2);
	return random_next(state) >> random_between(state, 64 - bits, 63);
}

static void random_state(struct kapf_queueset *qs, u64 *state)
{
	u64 seats = random_number(state, 34, random_chance(state, 50) ? 16 : 32);

	qs->nr_waiting = 0;
	qs->waiting_seats = 0;
	if (random_chance(state, 50)) {
		qs->waiting_seats = random_between(state, 0, seats);
		qs->nr_waiting = random_between(state, 0, least(qs->waiting_seats,
								~0u));
	}
	if (!qs->nr_waiting)
		qs->waiting_seats = 0;
	qs->seats_in_use = seats - qs->waiting_seats;
	qs->unqueued_seats = random_chance(state, 80) ? 0 :
			     random_between(state, 0, qs->seats_in_use);
	qs->nr_executing = random_between(state, 0, least(qs->seats_in_use, ~0u));
	qs->nr_active = random_chance(state, 20) ? 0 :
			random_between(state, 1, 1000);
	qs->seats = random_number(state, 31, 16);
}

static void pass(struct model *model, const struct kapf_queueset *qs, u64 now)
{
	u64 demand = qs->seats_in_use + qs->waiting_seats;
	kapf_u128 elapsed = now - model->now;
	kapf_u128 virtual = least(demand - qs->unqueued_seats, qs->seats);
	kapf_u128 unit = 10 * (u64)qs->nr_active;

	if ((s64)elapsed <= 0)
		return;
	model->now = now;
	model->demand += least(demand, ~0u) * elapsed;
	model->square += least(demand, ~0u) * least(demand, ~0u) * elapsed;
	model->executing += qs->nr_executing * elapsed;
	model->waiting += qs->nr_waiting * elapsed;
	model->waiting_seats += least(qs->waiting_seats, ~0u) * elapsed;
	if (unit)
		model->current_r += (virtual * elapsed + unit / 2) / unit;
}

TEST(sums_of_all_magnitudes)
{
	u64 state = 31;
	u32 run, i;

	for (run = 0; run < 2000; run++) {
		struct kapf_queueset qs = { .now = random_next(&state) >> 8 };
		struct model model = { .now = qs.now };
		/* Near the end of the low half, too. */
		u64 low = 0 - (random_next(&state) >> random_between(&state, 1, 63));

		qs.usage.demand.low = low;
		model.demand = low;
		qs.usage.executing.low = low;
		model.executing = low;
		for (i = 0; i < STEPS; i++) {
			u64 elapsed = random_number(&state, 48, 31);
			u64 now = qs.now + elapsed;

			if (random_chance(&state, 10))
				now = qs.now - elapsed;
			random_state(&qs, &state);
			kapf_queueset_advance(&qs, now);
			pass(&model, &qs, now);
			ASSERT_EQ(model.now, qs.now);
			ASSERT_EQ(model.current_r, qs.current_r);
			ASSERT_TRUE(model.demand ==
				    kapf_area_ns(&qs.usage.demand));
			ASSERT_TRUE(model.square ==
				    kapf_area_ns(&qs.usage.square));
			ASSERT_TRUE(model.executing ==
				    kapf_area_ns(&qs.usage.executing));
			ASSERT_TRUE(model.waiting ==
				    kapf_area_ns(&qs.usage.waiting));
			ASSERT_TRUE(model.waiting_seats ==
				    kapf_area_ns(&qs.usage.waiting_seats));
		}
	}
}

TEST_HARNESS_MAIN
