// SPDX-License-Identifier: GPL-2.0
/*
 * Nominal limits: the figures that users of Kubernetes know, and exact
 * arithmetic over the whole range that a configuration may have.  Borrowing: a
 * day among the default levels, and random levels against a model in floating
 * point and against what any division has to keep to.
 */
#include "kselftest_harness.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <linux/types.h>

#include "allocation.h"
#include "random.h"

#define MAX_SEATS	65535
#define MAX_SHARES	0x7fffffff
#define MAX_LEVELS	256

struct level {
	const char *name;
	u32 shares;
	u32 nominal;	/* of 600 seats */
	u32 diluted;	/* the same beside one more level of 10 shares */
	u32 lendable;	/* percent */
	u32 min;
	u32 initial;
};

static const struct level defaults[] = {
	{ "exempt", 0, 0, 0, 0, 0, 0 },
	{ "catch-all", 5, 13, 12, 0, 13, 13 },
	{ "system", 30, 74, 71, 33, 50, 62 },
	{ "node-high", 40, 98, 95, 25, 73, 86 },
	{ "leader-election", 10, 25, 24, 0, 25, 25 },
	{ "workload-high", 40, 98, 95, 50, 49, 74 },
	{ "workload-low", 100, 245, 236, 90, 24, 135 },
	{ "global-default", 20, 49, 48, 50, 24, 37 },
};

#define NR_DEFAULTS ARRAY_SIZE(defaults)

static u64 sum_of_defaults(void)
{
	u64 sum = 0;
	size_t i;

	for (i = 0; i < NR_DEFAULTS; i++)
		sum += defaults[i].shares;
	return sum;
}

TEST(default_levels)
{
	size_t i;

	ASSERT_EQ(245, sum_of_defaults());
	for (i = 0; i < NR_DEFAULTS; i++) {
		const struct level *level = &defaults[i];

		EXPECT_EQ(level->nominal,
			  kapf_nominal_limit(600, level->shares, 245)) {
			TH_LOG("level %s", level->name);
		}
	}
}

TEST(one_more_level_dilutes_the_others)
{
	size_t i;

	ASSERT_EQ(255, sum_of_defaults() + 10);
	EXPECT_EQ(24, kapf_nominal_limit(600, 10, 255));
	for (i = 0; i < NR_DEFAULTS; i++) {
		const struct level *level = &defaults[i];

		EXPECT_EQ(level->diluted,
			  kapf_nominal_limit(600, level->shares, 255)) {
			TH_LOG("level %s", level->name);
		}
	}
}

TEST(no_shares_at_all)
{
	EXPECT_EQ(0, kapf_nominal_limit(600, 0, 0));
	EXPECT_EQ(0, kapf_nominal_limit(MAX_SEATS, 0, 0));
}

TEST(all_shares)
{
	EXPECT_EQ(1, kapf_nominal_limit(1, 1, 1));
	EXPECT_EQ(MAX_SEATS, kapf_nominal_limit(MAX_SEATS, MAX_SHARES,
						MAX_SHARES));
	EXPECT_EQ(MAX_SEATS / MAX_LEVELS + 1,
		  kapf_nominal_limit(MAX_SEATS, MAX_SHARES,
				     (u64)MAX_LEVELS * MAX_SHARES));
}

/* The limit is the least number of seats that is no less than the share. */
TEST(random_shares)
{
	u64 state = 1;
	u32 i;

	for (i = 0; i < 1000000; i++) {
		u64 bits = random_between(&state, 1, 31);
		u64 shares = random_between(&state, 0, (1ULL << bits) - 1);
		u64 others = random_next(&state) %
			     ((u64)(MAX_LEVELS - 1) * MAX_SHARES);
		u64 sum = shares + (others >> random_between(&state, 0, 38));
		u64 seats = random_between(&state, 1, MAX_SEATS);
		__int128 limit;

		if (!sum)
			continue;
		limit = kapf_nominal_limit(seats, shares, sum);
		ASSERT_TRUE(limit * sum >= seats * shares);
		ASSERT_TRUE(!limit || (limit - 1) * sum < seats * shares);
	}
}

TEST(limits_of_default_levels)
{
	struct kapf_limits limits;
	size_t i;

	for (i = 0; i < NR_DEFAULTS; i++) {
		const struct level *level = &defaults[i];

		kapf_limits_init(&limits, 600, level->nominal, level->lendable,
				 KAPF_BORROWING_UNSET);
		EXPECT_EQ(level->nominal, limits.nominal);
		EXPECT_EQ(level->min, limits.min);
		EXPECT_EQ(level->nominal + 600, limits.max);
		EXPECT_EQ(level->initial, kapf_initial_limit(&limits)) {
			TH_LOG("level %s", level->name);
		}
	}
}

TEST(limits_are_rounded_a_half_up)
{
	struct kapf_limits limits;

	kapf_limits_init(&limits, 600, 10, 25, 14);
	EXPECT_EQ(7, limits.min);
	EXPECT_EQ(11, limits.max);
	kapf_limits_init(&limits, 600, 10, 24, 15);
	EXPECT_EQ(8, limits.min);
	EXPECT_EQ(12, limits.max);
	kapf_limits_init(&limits, 600, 10, 100, 0);
	EXPECT_EQ(0, limits.min);
	EXPECT_EQ(5, kapf_initial_limit(&limits));
	EXPECT_EQ(10, limits.max);
	kapf_limits_init(&limits, MAX_SEATS, MAX_SEATS, 0, MAX_SHARES);
	EXPECT_EQ(MAX_SEATS + 1407353408061ULL, limits.max);
}

/* The default levels of a server with 600 seats, without demand. */
FIXTURE(server)
{
	struct kapf_allocation levels[NR_DEFAULTS];
};

FIXTURE_SETUP(server)
{
	size_t i;

	memset(self, 0, sizeof(*self));
	for (i = 0; i < NR_DEFAULTS; i++)
		kapf_limits_init(&self->levels[i].limits, 600,
				 defaults[i].nominal, defaults[i].lendable,
				 KAPF_BORROWING_UNSET);
	self->levels[0].exempt = true;
}

FIXTURE_TEARDOWN(server)
{
}

enum { EXEMPT, CATCH_ALL, SYSTEM, NODE_HIGH, LEADER_ELECTION, WORKLOAD_HIGH,
	WORKLOAD_LOW, GLOBAL_DEFAULT };

static void want(struct kapf_allocation *level, u64 seats)
{
	level->high_watermark = seats;
	level->smoothed = seats << KAPF_FIXED_BITS;
}

/* Are these the levels' CurrentCL, in the order of defaults? */
static bool current_are(const struct kapf_allocation *levels,
			const u32 *expected)
{
	bool all = true;
	size_t i;

	for (i = 0; i < NR_DEFAULTS; i++) {
		if (levels[i].current_limit == expected[i])
			continue;
		printf("# %s: %u, not %u\n", defaults[i].name,
		       levels[i].current_limit, expected[i]);
		all = false;
	}
	return all;
}

/*
 * Each gets the same multiple of its MinCL: 602 / 258 = 2.333, the factor by
 * which all that is lendable comes back to its lenders.
 */
TEST_F(server, nobody_wants_anything)
{
	EXPECT_EQ((602ULL << KAPF_FIXED_BITS) / 258,
		  kapf_allocate(self->levels, NR_DEFAULTS));
	EXPECT_TRUE(current_are(self->levels,
				(u32[]){ 0, 30, 117, 170, 58, 114, 56, 56 }));
}

/* The least that the others get are 234 seats; these borrow the rest. */
TEST_F(server, one_level_borrows)
{
	want(&self->levels[WORKLOAD_LOW], 400);
	EXPECT_EQ((368ULL << KAPF_FIXED_BITS) / 400,
		  kapf_allocate(self->levels, NR_DEFAULTS));
	EXPECT_TRUE(current_are(self->levels,
				(u32[]){ 0, 13, 50, 73, 25, 49, 368, 24 }));
	EXPECT_EQ(400ULL << KAPF_FIXED_BITS,
		  self->levels[WORKLOAD_LOW].target);
	EXPECT_EQ(50ULL << KAPF_FIXED_BITS, self->levels[SYSTEM].target);
}

/* Two thirds and one third of the 417 seats that are not the others'. */
TEST_F(server, two_levels_borrow)
{
	want(&self->levels[WORKLOAD_LOW], 700);
	want(&self->levels[WORKLOAD_HIGH], 350);
	EXPECT_EQ((417ULL << KAPF_FIXED_BITS) / 1050,
		  kapf_allocate(self->levels, NR_DEFAULTS));
	EXPECT_TRUE(current_are(self->levels,
				(u32[]){ 0, 13, 50, 73, 25, 139, 278, 24 }));
}

TEST_F(server, a_limit_to_borrowing)
{
	self->levels[WORKLOAD_LOW].limits.max = 300;
	want(&self->levels[WORKLOAD_LOW], 400);
	want(&self->levels[SYSTEM], 60);
	kapf_allocate(self->levels, NR_DEFAULTS);
	EXPECT_EQ(300, self->levels[WORKLOAD_LOW].current_limit);
	EXPECT_LT(60, self->levels[SYSTEM].current_limit);
}

/* What exempt requests hold is not there for others. */
TEST_F(server, exempt_holds_seats)
{
	want(&self->levels[EXEMPT], 100);
	want(&self->levels[WORKLOAD_LOW], 400);
	EXPECT_EQ((268ULL << KAPF_FIXED_BITS) / 400,
		  kapf_allocate(self->levels, NR_DEFAULTS));
	EXPECT_TRUE(current_are(self->levels,
				(u32[]){ 100, 13, 50, 73, 25, 49, 268, 24 }));
}

/* 402 seats: 258 for MinCL, and 144 of the 221 that workload-low could claim. */
TEST_F(server, exempt_leaves_too_few)
{
	want(&self->levels[EXEMPT], 200);
	want(&self->levels[WORKLOAD_LOW], 400);
	EXPECT_EQ(0, kapf_allocate(self->levels, NR_DEFAULTS));
	EXPECT_TRUE(current_are(self->levels,
				(u32[]){ 200, 13, 50, 73, 25, 49, 168, 24 }));
}

TEST_F(server, exempt_leaves_nothing)
{
	want(&self->levels[EXEMPT], 1000);
	want(&self->levels[WORKLOAD_LOW], 400);
	EXPECT_EQ(0, kapf_allocate(self->levels, NR_DEFAULTS));
	EXPECT_TRUE(current_are(self->levels,
				(u32[]){ 1000, 13, 50, 73, 25, 49, 24, 24 }));
}

/* The seats of exempt are more than the others may borrow. */
TEST_F(server, nobody_may_have_the_rest)
{
	size_t i;

	self->levels[EXEMPT].limits.nominal = 50;
	for (i = 0; i < NR_DEFAULTS; i++) {
		self->levels[i].limits.max = self->levels[i].limits.nominal;
		self->levels[i].current_limit = 7 + i;
	}
	EXPECT_EQ(0, kapf_allocate(self->levels, NR_DEFAULTS));
	EXPECT_TRUE(current_are(self->levels,
				(u32[]){ 0, 8, 9, 10, 11, 12, 13, 14 }));
	want(&self->levels[EXEMPT], 50);
	kapf_allocate(self->levels, NR_DEFAULTS);
	EXPECT_TRUE(current_are(self->levels,
				(u32[]){ 50, 13, 74, 98, 25, 98, 245, 49 }));
}

/* A level that has wanted less than 0.001 seats has wanted 0.001. */
TEST(tiny_targets)
{
	struct kapf_allocation levels[3] = { 0 };
	size_t i;

	for (i = 0; i < 3; i++)
		kapf_limits_init(&levels[i].limits, 300, 100, 100,
				 KAPF_BORROWING_UNSET);
	levels[1].smoothed = 2000;
	EXPECT_EQ(100000ULL << KAPF_FIXED_BITS, kapf_allocate(levels, 3));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(100, levels[i].current_limit);

	/* 0.002, in units of 2^-32: a half of all, but for the rounding. */
	levels[1].smoothed = 8589935;
	kapf_allocate(levels, 3);
	EXPECT_EQ(75, levels[0].current_limit);
	EXPECT_EQ(150, levels[1].current_limit);
	EXPECT_EQ(75, levels[2].current_limit);
}

/* The same in floating point, formula by formula. */
struct model {
	long double min_sum;
	long double least_sum;
	long double max_sum;
	long double remaining;
};

static long double model_least(const struct kapf_allocation *level)
{
	long double least = level->high_watermark;

	if (!level->exempt)
		least = fminl(least, level->limits.nominal);
	return fmaxl(least, level->limits.min);
}

static long double model_target(const struct kapf_allocation *level)
{
	long double target = ldexpl(level->smoothed, -32);

	return fmaxl(0.001L, fmaxl(model_least(level), target));
}

static long double model_part(const struct kapf_allocation *level,
			      long double prop)
{
	return fmaxl(model_least(level),
		     fminl(level->limits.max, prop * model_target(level)));
}

/* The least FairProp that gives all seats away, by halving. */
static long double model_prop(const struct kapf_allocation *levels, u32 nr,
			      long double remaining)
{
	long double low = 0, high = 1e9;
	u32 i, step;

	for (step = 0; step < 128; step++) {
		long double middle = (low + high) / 2, sum = 0;

		for (i = 0; i < nr; i++)
			if (!levels[i].exempt)
				sum += model_part(&levels[i], middle);
		if (sum < remaining)
			low = middle;
		else
			high = middle;
	}
	return high;
}

static void model_init(struct model *model,
		       const struct kapf_allocation *levels, u32 nr)
{
	u32 i;

	*model = (struct model) { 0 };
	for (i = 0; i < nr; i++) {
		const struct kapf_limits *limits = &levels[i].limits;

		model->remaining += limits->nominal;
		if (levels[i].exempt) {
			model->remaining -= model_least(&levels[i]);
			continue;
		}
		model->min_sum += limits->min;
		model->least_sum += model_least(&levels[i]);
		model->max_sum += limits->max;
	}
}

/* A limited level's CurrentCL before it is rounded. */
static long double model_current(const struct model *model,
				 const struct kapf_allocation *level,
				 long double prop)
{
	long double min = level->limits.min;

	if (model->remaining <= model->min_sum)
		return min;
	if (model->remaining <= model->least_sum)
		return min + (model_least(level) - min) *
				     (model->remaining - model->min_sum) /
				     (model->least_sum - model->min_sum);
	if (model->max_sum < model->remaining)
		return level->current_limit;
	return model_part(level, prop);
}

static u32 random_demand(u64 *state, u32 nominal)
{
	switch (random_between(state, 0, 3)) {
	case 0:
		return 0;
	case 1:
		return random_between(state, 0, nominal);
	default:
		return random_between(state, 0, 3 * nominal + 3);
	}
}

/* A server's levels, the first of them exempt now and then. */
static void random_levels(u64 *state, struct kapf_allocation *levels, u32 nr)
{
	u32 server = random_between(state, 1, nr < 9 ? 900 : MAX_SEATS);
	bool strict = random_chance(state, 30);
	u64 shares[MAX_LEVELS], sum = 0;
	u32 i;

	for (i = 0; i < nr; i++)
		sum += shares[i] = random_next(state) >> random_between(state, 54, 63);
	for (i = 0; i < nr; i++) {
		struct kapf_allocation *level = &levels[i];
		u32 borrowing = random_between(state, 0, strict ? 9 : 200);

		if (!strict && random_chance(state, 50))
			borrowing = KAPF_BORROWING_UNSET;
		memset(level, 0, sizeof(*level));
		kapf_limits_init(&level->limits, server,
				 kapf_nominal_limit(server, shares[i], sum),
				 random_between(state, 0, 100), borrowing);
		level->exempt = !i && random_chance(state, 60);
		level->current_limit = kapf_initial_limit(&level->limits);
		level->high_watermark =
			random_demand(state, level->limits.nominal);
		level->smoothed = ((u64)level->high_watermark << 33) / 1000 *
				  random_between(state, 0, 1000);
		if (random_chance(state, 10))
			level->smoothed = random_between(state, 0, 1 << 24);
	}
}

TEST(random_divisions)
{
	static struct kapf_allocation levels[MAX_LEVELS];
	u32 kinds[4] = { 0 };
	u64 state = 31;
	u32 run, i, nr;

	for (run = 0; run < 20000; run++) {
		long double parts[MAX_LEVELS], prop = 0;
		struct model model;
		u64 fair_prop;

		nr = run % 500 ? random_between(&state, 1, 8) : MAX_LEVELS;
		random_levels(&state, levels, nr);
		model_init(&model, levels, nr);
		if (model.remaining > model.least_sum &&
		    model.remaining <= model.max_sum)
			prop = model_prop(levels, nr, model.remaining);
		for (i = 0; i < nr; i++)
			parts[i] = levels[i].exempt ?
				model_least(&levels[i]) :
				model_current(&model, &levels[i], prop);

		fair_prop = kapf_allocate(levels, nr);
		ASSERT_LE(fabsl(ldexpl(fair_prop, -32) - prop),
			  1 / 1e9L + prop / 1e12L);
		for (i = 0; i < nr; i++)
			ASSERT_LE(fabsl(levels[i].current_limit - parts[i]),
				  0.500001L) {
				TH_LOG("run %u, level %u of %u", run, i, nr);
			}
		kinds[model.remaining <= model.min_sum ? 0 :
		      model.remaining <= model.least_sum ? 1 :
		      model.max_sum < model.remaining ? 2 : 3]++;
	}
	for (i = 0; i < 4; i++)
		EXPECT_LT(100, kinds[i]);
}

/* Seats are neither invented nor lost, but for the rounding. */
TEST(sums_and_bounds)
{
	static struct kapf_allocation levels[MAX_LEVELS];
	u64 state = 32;
	u32 run, i, nr;

	for (run = 0; run < 20000; run++) {
		s64 remaining, given = 0;
		struct model model;

		nr = run % 500 ? random_between(&state, 1, 8) : MAX_LEVELS;
		random_levels(&state, levels, nr);
		model_init(&model, levels, nr);
		if (model.max_sum < model.remaining)
			continue;
		kapf_allocate(levels, nr);
		remaining = fmaxl(model.remaining, model.min_sum);
		for (i = 0; i < nr; i++) {
			u32 current_limit = levels[i].current_limit;

			ASSERT_GE(current_limit, levels[i].limits.min);
			if (levels[i].exempt)
				continue;
			ASSERT_LE(current_limit, levels[i].limits.max);
			if (remaining >= model.least_sum)
				ASSERT_GE(current_limit, model_least(&levels[i]));
			given += current_limit;
		}
		ASSERT_LE(2 * llabs(given - remaining), nr);
	}
}

/* Who wants more gets no less, and nobody else more. */
TEST(monotony)
{
	static struct kapf_allocation levels[8], more[8];
	u64 state = 33;
	u32 run, i, nr, grown = 0;

	for (run = 0; run < 20000; run++) {
		nr = random_between(&state, 2, 8);
		random_levels(&state, levels, nr);
		memcpy(more, levels, sizeof(levels));
		more[nr - 1].smoothed += random_between(&state, 1, 1ULL << 40);
		kapf_allocate(levels, nr);
		kapf_allocate(more, nr);
		for (i = 0; i + 1 < nr; i++)
			ASSERT_LE(more[i].current_limit,
				  levels[i].current_limit);
		ASSERT_GE(more[i].current_limit, levels[i].current_limit);
		grown += more[i].current_limit > levels[i].current_limit;
	}
	EXPECT_LT(1000, grown);
}

TEST(order_does_not_matter)
{
	static struct kapf_allocation levels[8], turned[8];
	u64 state = 34;
	u32 run, i, nr;

	for (run = 0; run < 20000; run++) {
		nr = random_between(&state, 1, 8);
		random_levels(&state, levels, nr);
		for (i = 0; i < nr; i++)
			turned[(i + run) % nr] = levels[i];
		ASSERT_EQ(kapf_allocate(levels, nr), kapf_allocate(turned, nr));
		for (i = 0; i < nr; i++)
			ASSERT_EQ(levels[i].current_limit,
				  turned[(i + run) % nr].current_limit);
	}
}

TEST_HARNESS_MAIN
