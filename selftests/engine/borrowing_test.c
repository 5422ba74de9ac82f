// SPDX-License-Identifier: GPL-2.0
/*
 * Levels that borrow seats from each other, as in the scenarios of the
 * reference's own tests: demand, allocation and queue sets together.
 */
#include "test.h"

#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>

#include "allocation.h"
#include "wants.h"

#define MS 1000000ULL
#define PERIOD (10000 * MS)
#define SERVICE (250 * MS)
#define MAX_CALLERS 24
#define NR_QUEUES 10
#define NR_LEVELS 3

/*
 * A priority level and who calls it, again and again.
 *
 * @callers: how many, each with one request at a time
 * @end: when each request has been served; 0: it waits
 */
struct level {
	struct kapf_queueset qs;
	struct kapf_queue queues[NR_QUEUES];
	struct kapf_demand demand;
	struct kapf_request requests[MAX_CALLERS];
	u32 callers;
	u64 end[MAX_CALLERS];
};

static struct level levels[NR_LEVELS];
static struct kapf_allocation parts[NR_LEVELS];
static u64 now;

static void note_dispatched(struct kapf_queueset *qs, struct kapf_request *req,
			    u32 width)
{
	struct level *level = container_of(qs, struct level, qs);

	assert(width == 1);
	level->end[req - level->requests] = now + SERVICE;
}

static void settle(struct level *level)
{
	while (kapf_queueset_dispatch(&level->qs, 32, now))
		;
	kapf_demand_change(&level->demand, kapf_queueset_demand(&level->qs));
}

/* Each caller is one of the level's only flow. */
static void one_call(struct level *level, u32 caller)
{
	struct kapf_request *req = &level->requests[caller];

	*req = (struct kapf_request){ .initial_seats = 1 };
	level->end[caller] = 0;
	switch (kapf_queueset_admit(&level->qs, req, 0x123456789, now)) {
	case KAPF_ADMISSION_SEATED:
		level->end[caller] = now + SERVICE;
		break;
	case KAPF_ADMISSION_QUEUED:
		break;
	default:
		assert(!"refused");
	}
	settle(level);
}

/* What happens every ten seconds, and when the levels begin. */
static void adjust(void)
{
	u32 i;

	for (i = 0; i < NR_LEVELS; i++) {
		struct level *level = &levels[i];

		kapf_queueset_advance(&level->qs, now);
		kapf_demand_end_period(&level->demand, &level->qs.usage,
				       kapf_queueset_demand(&level->qs), now);
		parts[i].smoothed = level->demand.smoothed;
		parts[i].high_watermark = level->demand.high_watermark;
	}
	kapf_allocate(parts, NR_LEVELS);
	for (i = 0; i < NR_LEVELS; i++) {
		kapf_queueset_limit(&levels[i].qs, parts[i].current_limit, now);
		settle(&levels[i]);
	}
}

/* The first request to end from now on; false: none executes */
static bool next_end(struct level **level, u32 *caller)
{
	u64 first = ~0ULL;
	u32 i, j;

	for (i = 0; i < NR_LEVELS; i++)
		for (j = 0; j < levels[i].callers; j++)
			if (levels[i].end[j] && levels[i].end[j] < first) {
				first = levels[i].end[j];
				*level = &levels[i];
				*caller = j;
			}
	return first != ~0ULL;
}

/* Until a time, which is also the end of a period. */
static void run_until(u64 until)
{
	struct level *level;
	u32 caller;

	while (next_end(&level, &caller) && level->end[caller] <= until) {
		now = level->end[caller];
		kapf_queueset_finish(&level->qs, &level->requests[caller], now);
		settle(level);
		one_call(level, caller);
	}
	now = until;
}

/* A level begins with half of what it may lend lent. */
static void set_up_level(u32 i, u32 nominal, u32 lendable, u32 borrowing,
			 u32 callers)
{
	struct level *level = &levels[i];

	parts[i] = (struct kapf_allocation){ };
	kapf_limits_init(&parts[i].limits, 24, nominal, lendable, borrowing);
	memset(level, 0, sizeof(*level));
	level->callers = callers;
	level->qs.dispatched = note_dispatched;
	kapf_queueset_init(&level->qs, level->queues, NR_QUEUES, 2, 10,
			   kapf_initial_limit(&parts[i].limits));
	kapf_demand_init(&level->demand, now);
}

/*
 * A server of 24 seats; two levels of 100 shares, which are 12 seats each, with
 * 24 callers and 6; and catch-all with its 5 shares, which are a seat.
 */
static void borrow(struct __test_metadata *_metadata, const u32 *lendable,
		   const u32 *borrowing)
{
	u32 i, j;

	now = 0;
	set_up_level(0, kapf_nominal_limit(24, 100, 205), lendable[0],
		     borrowing[0], 24);
	set_up_level(1, kapf_nominal_limit(24, 100, 205), lendable[1],
		     borrowing[1], 6);
	set_up_level(2, kapf_nominal_limit(24, 5, 205), 0,
		     KAPF_BORROWING_UNSET, 0);
	adjust();
	for (i = 0; i < NR_LEVELS; i++)
		for (j = 0; j < levels[i].callers; j++)
			one_call(&levels[i], j);

	/* What was delivered before one whole period does not count. */
	for (i = 1; i <= 3; i++) {
		run_until(i * PERIOD);
		if (i > 1) {
			EXPECT_EQ(16, parts[0].current_limit);
			EXPECT_EQ(16, levels[0].qs.seats_in_use);
			EXPECT_EQ(6, levels[1].qs.seats_in_use);
			EXPECT_EQ(24ULL << KAPF_FIXED_BITS,
				  levels[0].demand.average);
			EXPECT_EQ(6ULL << KAPF_FIXED_BITS,
				  levels[1].demand.average);
		}
		adjust();
	}
}

/* Level 1 has no more than 4 of its 12 to lend. */
TEST(lendable_limited)
{
	borrow(_metadata, (u32[]){ 50, 33 }, (u32[]){ 67, 50 });
	EXPECT_EQ(8, parts[1].current_limit);
}

/* Level 1 has 8 to lend, but level 0 may not borrow more than 4. */
TEST(borrowing_limited)
{
	borrow(_metadata, (u32[]){ 50, 67 }, (u32[]){ 33, 50 });
	EXPECT_LE(6, parts[1].current_limit);
}

enum { EXEMPT, HIGH, MID, LOW };

/* One period in which the levels want so many seats, and what they get then. */
static void divide(struct kapf_allocation *four, struct wants *wants,
		   const u32 *wanted)
{
	u32 i;

	now += PERIOD;
	for (i = 0; i < 4; i++) {
		wants_seats(&wants[i], wanted[i], now);
		wants_end_period(&wants[i], now);
		four[i].smoothed = wants[i].demand.smoothed;
		four[i].high_watermark = wants[i].demand.high_watermark;
	}
	kapf_allocate(four, 4);
}

/*
 * The default levels workload-high, workload-low and catch-all beside exempt,
 * which takes what it wants: 40, 100 and 5 shares of 870 seats.
 */
TEST(exempt_borrows)
{
	static struct wants wants[4];
	struct kapf_allocation four[4] = { [EXEMPT].exempt = true };
	const u32 lendable[4] = { [HIGH] = 50, [MID] = 90 };
	const u32 shares[4] = { [HIGH] = 40, [MID] = 100, [LOW] = 5 };
	u32 wanted[4] = { 970, 970, 970, 970 }, half[4], i;

	now = 0;
	for (i = 0; i < 4; i++) {
		kapf_limits_init(&four[i].limits, 870,
				 kapf_nominal_limit(870, shares[i], 145),
				 lendable[i], KAPF_BORROWING_UNSET);
		wants_begin(&wants[i], now);
		half[i] = (four[i].limits.nominal + four[i].limits.min) / 2;
	}

	/* It leaves nothing: the others have what they do not lend. */
	divide(four, wants, wanted);
	EXPECT_EQ(970, four[EXEMPT].current_limit);
	EXPECT_EQ(120, four[HIGH].current_limit);
	EXPECT_EQ(60, four[MID].current_limit);
	EXPECT_EQ(30, four[LOW].current_limit);

	/* It leaves them half of what they lend. */
	wanted[EXEMPT] = 870 - half[HIGH] - half[MID] - half[LOW];
	divide(four, wants, wanted);
	divide(four, wants, wanted);
	EXPECT_EQ(wanted[EXEMPT], four[EXEMPT].current_limit);
	for (i = HIGH; i <= LOW; i++)
		EXPECT_EQ(half[i], four[i].current_limit);

	/* One of them wants nothing, and it takes all that this one lends. */
	wanted[MID] = 1;
	wanted[EXEMPT] = 870 - 240 - 60 - 30;
	divide(four, wants, wanted);
	divide(four, wants, wanted);
	EXPECT_EQ(wanted[EXEMPT], four[EXEMPT].current_limit);
	EXPECT_EQ(240, four[HIGH].current_limit);
	EXPECT_EQ(60, four[MID].current_limit);
	EXPECT_EQ(30, four[LOW].current_limit);
}

TEST_HARNESS_MAIN;
