// SPDX-License-Identifier: GPL-2.0
/*
 * What the statistics say about demand, and that the limits are what the
 * formulas of KEP-1040 make of it.
 */
#include "borrow.h"

#define MAX_LEVELS 4

/* All levels at one moment. */
struct sheet {
	struct kapf_get_stats get;
	struct kapf_level_stats levels[MAX_LEVELS];
};

static struct sheet read_sheet(struct _test_data_borrow *self)
{
	struct sheet sheet = {
		.get = {
			.size = sizeof(sheet.get),
			.level_size = sizeof(struct kapf_level_stats),
			.schema_size = sizeof(struct kapf_schema_stats),
			.nr_levels = MAX_LEVELS,
		},
	};

	sheet.get.levels = (uintptr_t)sheet.levels;
	errno = -call(self->control, KAPF_GET_STATS, &sheet.get);
	if (errno || sheet.get.nr_levels != MAX_LEVELS)
		die("GET_STATS");
	return sheet;
}

static double seats(__u64 demand)
{
	return (double)demand / SEAT;
}

static bool near(double a, double b)
{
	const double close = 0.000001;

	return a - b < close && b - a < close;
}

/* To the nearest. */
static long long rounded(double x)
{
	return x + 0.5;
}

/* MinCurrentCL; of exempt its CurrentCL. */
static __u32 least(const struct kapf_level_stats *level)
{
	__u32 least = level->demand_high_watermark;

	if (level->type != KAPF_LEVEL_EXEMPT && least > level->nominal_seats)
		least = level->nominal_seats;
	return least < level->min_seats ? level->min_seats : least;
}

/* What a level gets by a FairProp. */
static double fair_part(const struct kapf_level_stats *level, double prop)
{
	double target = seats(level->target_seats);
	double part = prop * (target < 0.001 ? 0.001 : target);

	if (part < least(level))
		return least(level);
	return part > level->max_seats ? level->max_seats : part;
}

/* FairProp, by trying. */
static double find_fair_prop(const struct sheet *sheet, long long remaining)
{
	double low = 0, high = 1e9, middle, sum;
	__u32 i, tries;

	for (tries = 0; tries < 200; tries++) {
		middle = (low + high) / 2;
		sum = 0;
		for (i = 0; i < MAX_LEVELS; i++)
			if (sheet->levels[i].type != KAPF_LEVEL_EXEMPT)
				sum += fair_part(&sheet->levels[i], middle);
		if (sum < remaining)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* The limits that a configuration sets. */
static void check_bounds(struct __test_metadata *_metadata,
			 struct _test_data_borrow *self,
			 const struct sheet *sheet)
{
	const struct kapf_config_level *record;
	const struct kapf_level_stats *level;
	__u32 i, lendable, borrowing;

	record = (void *)self->image.levels;
	for (i = 0; i < MAX_LEVELS; i++, record++) {
		level = &sheet->levels[i];
		lendable = rounded(level->nominal_seats *
				   record->lendable_percent / 100.0);
		borrowing = sheet->get.server_seats;
		if (record->borrowing_limit_percent != KAPF_BORROWING_UNLIMITED)
			borrowing = rounded(level->nominal_seats *
					    record->borrowing_limit_percent /
					    100.0);
		EXPECT_EQ(level->nominal_seats - lendable, level->min_seats);
		EXPECT_EQ(level->nominal_seats + borrowing, level->max_seats);
	}
}

/* What a level is judged by, which depends on the period before, too. */
static void check_target(struct __test_metadata *_metadata,
			 const struct kapf_level_stats *before,
			 const struct kapf_level_stats *level)
{
	double envelope, smoothed;
	__u64 target;

	envelope = seats(level->demand_average) + seats(level->demand_stdev);
	smoothed = 0.977 * seats(before->demand_smoothed) + 0.023 * envelope;
	if (smoothed < envelope)
		smoothed = envelope;
	EXPECT_TRUE(near(smoothed, seats(level->demand_smoothed))) {
		TH_LOG("%s: %f smoothed, not %f", level->name,
		       seats(level->demand_smoothed), smoothed);
	}
	target = least(level) * SEAT;
	if (target < level->demand_smoothed)
		target = level->demand_smoothed;
	EXPECT_EQ(target, level->target_seats);
}

enum branch { MIN_ONLY, SHORT, FAIR, BRANCHES };

static enum branch check_limits(struct __test_metadata *_metadata,
				const struct sheet *sheet)
{
	const struct kapf_level_stats *level;
	long long remaining = 0, min = 0, wanted = 0;
	enum branch branch = FAIR;
	double prop = 0;
	__u32 i;

	for (i = 0; i < MAX_LEVELS; i++) {
		level = &sheet->levels[i];
		remaining += level->nominal_seats;
		if (level->type == KAPF_LEVEL_EXEMPT) {
			remaining -= least(level);
		} else {
			min += level->min_seats;
			wanted += least(level);
		}
	}
	if (remaining <= min)
		branch = MIN_ONLY;
	else if (remaining <= wanted)
		branch = SHORT;
	else
		prop = find_fair_prop(sheet, remaining);
	EXPECT_TRUE(near(prop, seats(sheet->get.fair_frac))) {
		TH_LOG("%f of the targets, not %f",
		       seats(sheet->get.fair_frac), prop);
	}

	for (i = 0; i < MAX_LEVELS; i++) {
		double limit;

		level = &sheet->levels[i];
		if (level->type == KAPF_LEVEL_EXEMPT)
			limit = least(level);
		else if (branch == MIN_ONLY)
			limit = level->min_seats;
		else if (branch == SHORT)
			limit = level->min_seats +
				(least(level) - level->min_seats) *
				(double)(remaining - min) / (wanted - min);
		else
			limit = fair_part(level, prop);
		EXPECT_EQ(rounded(limit), level->current_seats) {
			TH_LOG("%s, of %f seats", level->name, limit);
		}
	}
	return branch;
}

/* What is wanted of the two levels and of exempt. */
static const struct {
	__u32 wanted[NR];
	__u32 exempt;
} demands[] = {
	{ { 20, 3 }, 2 }, { { 20, 3 }, 2 }, { { 36, 9 }, 0 }, { { 1, 30 }, 5 },
	{ { 30, 30 }, 20 }, { { 30, 30 }, 40 }, { { 30, 30 }, 9 },
	{ { 0, 2 }, 0 }, { { 0, 0 }, 3 }, { { 0, 0 }, 0 }, { { 5, 40 }, 0 },
	{ { 13, 17 }, 21 }, { { 7, 7 }, 100 }, { { 25, 1 }, 1 },
};

TEST_F(borrow, limits_follow_from_the_demand)
{
	struct kapf_config_level *exempt = (void *)self->image.levels;
	int branches[BRANCHES] = { 0 };
	struct sheet before, sheet;
	size_t i;
	__u32 j;

	exempt->nominal_shares = 50;
	exempt->lendable_percent = 60;
	self->image.head.max_requests_inflight = 60;
	begin(self, (struct terms){ 50, 67 }, (struct terms){ 33, 50 },
	      LONG_PERIOD_MS);
	for (i = 0; i < ARRAY_SIZE(demands); i++) {
		before = read_sheet(self);
		for (j = 0; j < NR; j++) {
			drop(self, j);
			want(self, j, demands[i].wanted[j]);
		}
		if (demands[i].exempt)
			ask(self, FIRST, self->exempt, SLOTS - 1, 1,
			    demands[i].exempt);
		sleep_ms(5);
		adjust(self);
		sheet = read_sheet(self);
		check_bounds(_metadata, self, &sheet);
		for (j = 0; j < MAX_LEVELS; j++)
			check_target(_metadata, &before.levels[j],
				     &sheet.levels[j]);
		branches[check_limits(_metadata, &sheet)]++;
	}
	EXPECT_LT(0, branches[MIN_ONLY]);
	EXPECT_LT(0, branches[SHORT]);
	EXPECT_LT(0, branches[FAIR]);
}

/*
 * 8 seats wanted from some time on.  When exactly the level learnt of that, and
 * when its period began and ended, lies between what the clock said before and
 * after each call.
 */
TEST_F(borrow, average_and_deviation_of_a_period)
{
	__u64 begun[2], risen[2], ended[2], smoothed;
	struct kapf_level_stats level;
	double average, square;

	begin(self, (struct terms){ 0, 0 }, (struct terms){ 0, 0 },
	      LONG_PERIOD_MS);
	begun[0] = now_ns();
	adjust(self);
	begun[1] = now_ns();
	sleep_ms(200);
	risen[0] = now_ns();
	ask(self, FIRST, self->schemas[FIRST], 0, 1, 8);
	risen[1] = now_ns();
	sleep_ms(200);
	ended[0] = now_ns();
	adjust(self);
	ended[1] = now_ns();

	level = stats(self, FIRST);
	average = seats(level.demand_average);
	square = seats(level.demand_stdev) * seats(level.demand_stdev);
	EXPECT_LE(8.0 * (ended[0] - risen[1]) / (ended[0] - begun[0]),
		  average);
	EXPECT_GE(8.0 * (ended[1] - risen[0]) / (ended[1] - begun[1]),
		  average);
	/* The mean of the squares is 8 times the average. */
	EXPECT_TRUE(near(8 * average - average * average, square));
	EXPECT_EQ(8, level.demand_high_watermark);
	EXPECT_EQ(level.demand_average + level.demand_stdev,
		  level.demand_smoothed);

	/* A constant demand does not deviate. */
	smoothed = level.demand_smoothed;
	if (smoothed < 8 * SEAT)
		smoothed = 8 * SEAT;
	adjust(self);
	level = stats(self, FIRST);
	EXPECT_EQ(8 * SEAT, level.demand_average);
	EXPECT_EQ(0, level.demand_stdev);
	EXPECT_EQ(8, level.demand_high_watermark);
	EXPECT_LE(8 * SEAT, level.demand_smoothed);
	EXPECT_GE(smoothed, level.demand_smoothed);
	EXPECT_EQ(0, stats(self, SECOND).demand_smoothed);
}

/* The demand of the first level at present: the period after this begins so. */
static __u32 present_demand(struct _test_data_borrow *self)
{
	adjust(self);
	adjust(self);
	return stats(self, FIRST).demand_high_watermark;
}

static int ask_op(struct _test_data_borrow *self, struct kapf_op op)
{
	int ret;

	op.flags |= KAPF_OP_NOWAIT;
	ret = admit_op(self->fds[FIRST], op);
	return ret < 0 ? ret : KAPF_VERDICT(ret);
}

TEST_F(borrow, demand_is_what_is_held_and_waited_for)
{
	struct kapf_op op;

	begin(self, (struct terms){ 0, 0 }, (struct terms){ 0, 0 },
	      LONG_PERIOD_MS);
	want(self, FIRST, 15);
	EXPECT_EQ(12, stats(self, FIRST).executing_requests);
	EXPECT_EQ(15, present_demand(self));
	EXPECT_EQ(0, cancel(self->fds[FIRST], 14));
	EXPECT_EQ(14, present_demand(self));
	EXPECT_EQ(0, finish(self->fds[FIRST], 0));
	EXPECT_EQ(13, present_demand(self));

	/* What is refused has not been waited for. */
	op = request(20, self->schemas[FIRST]);
	op.flags = KAPF_OP_NOQUEUE;
	EXPECT_EQ(KAPF_CONCURRENCY_LIMIT, ask_op(self, op));
	EXPECT_EQ(13, present_demand(self));

	/* Nor is what waits no more. */
	op.flags = 0;
	op.initial_seats = 7;
	op.max_wait = 20 * NSEC_PER_MSEC;
	EXPECT_EQ(KAPF_QUEUED, ask_op(self, op));
	adjust(self);
	EXPECT_EQ(20, stats(self, FIRST).demand_high_watermark);
	while (read_event(self->fds[FIRST]).slot != 20)
		;
	EXPECT_EQ(13, present_demand(self));
	drop(self, FIRST);
	EXPECT_EQ(0, present_demand(self));
}

/* Seats that linger are held, as many as were cut to the limit. */
TEST_F(borrow, demand_of_seats_that_linger)
{
	struct kapf_op op;

	begin(self, (struct terms){ 0, 0 }, (struct terms){ 0, 0 },
	      LONG_PERIOD_MS);
	want(self, FIRST, 1);
	op = request(1, self->schemas[FIRST]);
	op.final_seats = 48;
	op.additional_latency = KAPF_MAX_ADDITIONAL_LATENCY_NS;
	EXPECT_EQ(KAPF_QUEUED, ask_op(self, op));
	EXPECT_EQ(49, present_demand(self));
	EXPECT_EQ(0, finish(self->fds[FIRST], 0));
	EXPECT_EQ(KAPF_EXECUTE, read_event(self->fds[FIRST]).verdict);
	EXPECT_EQ(12, present_demand(self));
	EXPECT_LT(0, finish(self->fds[FIRST], 1));
	EXPECT_EQ(12, present_demand(self));
	drop(self, FIRST);
	EXPECT_EQ(0, present_demand(self));

	op.slot = 0;
	op.final_seats = 9;
	op.additional_latency = 30 * NSEC_PER_MSEC;
	EXPECT_EQ(KAPF_EXECUTE, ask_op(self, op));
	EXPECT_EQ(30, finish(self->fds[FIRST], 0));
	adjust(self);
	EXPECT_EQ(9, stats(self, FIRST).demand_high_watermark);
	while (stats(self, FIRST).lingering_requests)
		sleep_ms(1);
	EXPECT_EQ(0, present_demand(self));
}

TEST_HARNESS_MAIN
