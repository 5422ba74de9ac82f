// SPDX-License-Identifier: GPL-2.0
/*
 * Levels that lend each other seats: whose limits move, when, and how far.
 *
 * Where time does not matter, a period ends because the configuration is set
 * again, so that a slow machine changes nothing.
 */
#include "borrow.h"

/*
 * The scenarios of kube-apiserver's own test: 24 clients of the first level and
 * 6 of the second.  Each asks again in the call in which it finishes, so that
 * what a level delivers does not depend on how fast the clients run.
 */
#define CLIENTS		30
#define SERVICE_NS	(50 * NSEC_PER_MSEC)

/**
 * struct load - clients that call again and again
 * @end: when each has been served; 0: it waits
 * @sampled: when the seats in use were last looked at
 * @integral: of the seats in use since then, in seats * ns, of each level
 */
struct load {
	__u64 end[CLIENTS];
	__u64 sampled;
	__u64 integral[NR];
};

static struct kapf_op client_op(struct _test_data_borrow *self, __u32 client)
{
	struct kapf_op op;

	op = request(client, self->schemas[client < 24 ? FIRST : SECOND]);
	op.flow_hash = 0x123456789;
	op.max_wait = KAPF_MAX_WAIT_NS;
	return op;
}

/* Finish what has been served, ask again, and note what is granted. */
static void load_turn(struct _test_data_borrow *self, struct load *load)
{
	struct kapf_finish finishes[CLIENTS];
	struct kapf_event events[2 * CLIENTS];
	struct kapf_op ops[CLIENTS];
	struct kapf_submit submit = {
		.size = sizeof(submit),
		.op_size = sizeof(struct kapf_op),
		.event_size = sizeof(struct kapf_event),
		.nr_events = 2 * CLIENTS,
		.finish = (uintptr_t)finishes,
		.ops = (uintptr_t)ops,
		.events = (uintptr_t)events,
	};
	__u64 now = now_ns();
	__u32 i;

	for (i = 0; i < CLIENTS; i++) {
		if (!load->end[i] || load->end[i] > now)
			continue;
		load->end[i] = 0;
		finishes[submit.nr_finish++] = (struct kapf_finish){ i, 0 };
		ops[submit.nr_ops++] = client_op(self, i);
	}
	errno = -call(self->fds[FIRST], KAPF_SUBMIT, &submit);
	if (errno)
		die("SUBMIT");
	for (i = 0; i < submit.nr_events; i++) {
		if (events[i].verdict != KAPF_EXECUTE)
			die("a client was refused");
		load->end[events[i].slot] = now + SERVICE_NS;
	}
}

static void load_run(struct _test_data_borrow *self, struct load *load,
		     __u64 until)
{
	__u64 seats[NR], now;
	int i;

	while (load->sampled < until) {
		load_turn(self, load);
		for (i = 0; i < NR; i++)
			seats[i] = stats(self, i).seats_in_use;
		sleep_ms(2);
		now = now_ns();
		for (i = 0; i < NR; i++)
			load->integral[i] += seats[i] * (now - load->sampled);
		load->sampled = now;
	}
}

static void deliver(struct __test_metadata *_metadata,
		    struct _test_data_borrow *self, struct terms first,
		    struct terms second)
{
	struct load load = { .sampled = now_ns() };
	__u64 give_up = load.sampled + 60 * NSEC_PER_SEC, begun;
	double delivered[NR];
	__u32 i;

	begin(self, first, second, 1000);
	for (i = 0; i < CLIENTS; i++) {
		struct kapf_op op = client_op(self, i);

		op.flags = KAPF_OP_NOWAIT;
		if (KAPF_VERDICT(admit_op(self->fds[FIRST], op)) ==
		    KAPF_EXECUTE)
			load.end[i] = now_ns() + SERVICE_NS;
	}
	/* Judged by a whole period of this load. */
	while (load.sampled < give_up &&
	       (stats(self, FIRST).demand_average < 47 * SEAT / 2 ||
		stats(self, SECOND).demand_average < 11 * SEAT / 2))
		load_run(self, &load, load.sampled + 100 * NSEC_PER_MSEC);
	ASSERT_LT(load.sampled, give_up);

	/* What has borrowed seats fills them at once, and keeps them. */
	load_run(self, &load, load.sampled + 200 * NSEC_PER_MSEC);
	memset(load.integral, 0, sizeof(load.integral));
	begun = load.sampled;
	load_run(self, &load, begun + 2500 * NSEC_PER_MSEC);
	for (i = 0; i < NR; i++)
		delivered[i] = (double)load.integral[i] /
			       (load.sampled - begun);
	TH_LOG("%.2f and %.2f seats on average", delivered[FIRST],
	       delivered[SECOND]);
	EXPECT_LE(15, delivered[FIRST]);
	EXPECT_GE(17, delivered[FIRST]);
	EXPECT_LE(5.5, delivered[SECOND]);
	EXPECT_GE(6.5, delivered[SECOND]);
	EXPECT_EQ(16, limit(self, FIRST));
	EXPECT_EQ(8, limit(self, SECOND));
}

/* The second level has no more than 4 of its 12 to lend. */
TEST_F(borrow, delivers_what_may_be_lent)
{
	deliver(_metadata, self, (struct terms){ 50, 67 },
		(struct terms){ 33, 50 });
}

/* The second level has 8 to lend, but the first may not borrow more than 4. */
TEST_F(borrow, delivers_what_may_be_borrowed)
{
	deliver(_metadata, self, (struct terms){ 50, 33 },
		(struct terms){ 67, 50 });
}

/*
 * What the terms mean
 */

TEST_F(borrow, lent_seats_come_back)
{
	struct kapf_level_stats lender;

	begin(self, (struct terms){ 0, 100 }, (struct terms){ 50, 100 },
	      LONG_PERIOD_MS);
	want(self, FIRST, 24);
	adjust(self);
	EXPECT_EQ(18, limit(self, FIRST));
	EXPECT_EQ(18, stats(self, FIRST).executing_requests);
	EXPECT_EQ(6, limit(self, SECOND));

	want(self, SECOND, 12);
	lender = stats(self, SECOND);
	EXPECT_EQ(6, lender.executing_requests);
	EXPECT_EQ(6, lender.waiting_requests);
	EXPECT_EQ(18, limit(self, FIRST));
	adjust(self);
	EXPECT_EQ(12, limit(self, FIRST));
	lender = stats(self, SECOND);
	EXPECT_EQ(12, lender.current_seats);
	EXPECT_EQ(12, lender.executing_requests);

	/* Nobody is interrupted; but who finishes makes no room any more. */
	EXPECT_EQ(18, stats(self, FIRST).executing_requests);
	EXPECT_EQ(0, finish(self->fds[FIRST], 0));
	EXPECT_EQ(17, stats(self, FIRST).executing_requests);
	EXPECT_EQ(6, stats(self, FIRST).waiting_requests);
}

/* What the first gets when it wants everything and the second nothing. */
static const struct {
	struct terms first;
	struct terms second;
	__u32 limit;
} outcomes[] = {
	{ { 0, 100 },	{ 100, 0 },	24 },
	{ { 0, 100 },	{ 0, 0 },	12 },
	{ { 0, 0 },	{ 100, 0 },	12 },
	{ { 0, 50 },	{ 100, 0 },	18 },
	{ { 0, 25 },	{ 50, 0 },	15 },
	{ { 0, 75 },	{ 50, 0 },	18 },
	{ { 100, KAPF_BORROWING_UNLIMITED }, { 25, 0 }, 15 },
};

TEST_F(borrow, as_much_as_the_terms_allow)
{
	struct kapf_level_stats first;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(outcomes); i++) {
		begin(self, outcomes[i].first, outcomes[i].second,
		      LONG_PERIOD_MS);
		want(self, FIRST, 24);
		adjust(self);
		first = stats(self, FIRST);
		EXPECT_EQ(outcomes[i].limit, first.current_seats) {
			TH_LOG("by terms %zu", i);
		}
		EXPECT_EQ(first.current_seats, first.executing_requests);
		drop(self, FIRST);
	}
}

/* Exempt requests take their seats from the others. */

static __u32 exempt_limit(struct _test_data_borrow *self)
{
	return level_stats(self->control, "exempt").current_seats;
}

/* 12 seats wanted by both levels, of which they may lend 6. */
static void begin_exempt(struct _test_data_borrow *self)
{
	begin(self, (struct terms){ 50, 0 }, (struct terms){ 50, 0 },
	      LONG_PERIOD_MS);
	want(self, FIRST, 12);
	want(self, SECOND, 12);
	adjust(self);
}

static void want_exempt(struct _test_data_borrow *self, __u32 slot, __u32 seats)
{
	ask(self, FIRST, self->exempt, slot, 1, seats);
	adjust(self);
}

TEST_F(borrow, exempt_demand_comes_off_first)
{
	begin_exempt(self);
	EXPECT_EQ(12, limit(self, FIRST));
	EXPECT_EQ(12, limit(self, SECOND));
	EXPECT_EQ(0, exempt_limit(self));

	want_exempt(self, 24, 6);
	EXPECT_EQ(6, exempt_limit(self));
	EXPECT_EQ(9, limit(self, FIRST));
	EXPECT_EQ(9, limit(self, SECOND));

	want_exempt(self, 25, 6);
	EXPECT_EQ(12, exempt_limit(self));
	EXPECT_EQ(6, limit(self, FIRST));
	EXPECT_EQ(6, limit(self, SECOND));

	/* They keep what they do not lend. */
	want_exempt(self, 26, 1000);
	EXPECT_EQ(1012, exempt_limit(self));
	EXPECT_EQ(6, limit(self, FIRST));
	EXPECT_EQ(6, limit(self, SECOND));
	EXPECT_EQ(1, level_stats(self->control, "catch-all").current_seats);

	/* The period in which it ends has had it. */
	EXPECT_EQ(0, finish(self->fds[FIRST], 26));
	adjust(self);
	EXPECT_EQ(1012, exempt_limit(self));
	EXPECT_EQ(0, finish(self->fds[FIRST], 25));
	adjust(self);
	adjust(self);
	EXPECT_EQ(6, exempt_limit(self));
	EXPECT_EQ(9, limit(self, FIRST));
	EXPECT_EQ(9, limit(self, SECOND));
}

static void run_on(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		die("sched_setaffinity");
}

/* The time of the last tick: timers that are due by it have run soon after. */
static __u64 coarse_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

/* Let some tens of ms pass. */
static void pass_time(bool busy)
{
	__u64 until = coarse_ns() + 30 * NSEC_PER_MSEC;

	if (!busy) {
		sleep_ms(50);
		return;
	}
	while (coarse_ns() < until)
		;
	until = now_ns() + 20 * NSEC_PER_MSEC;
	while (now_ns() < until)
		;
}

/*
 * Also what comes and goes within a period, though the machine has nothing else
 * to do, or but one of its CPUs.
 */
TEST_F(borrow, exempt_demand_is_seen_within_a_period)
{
	int turn, nr = sysconf(_SC_NPROCESSORS_ONLN);
	struct kapf_level_stats exempt;

	begin_exempt(self);
	for (turn = 0; turn < 2 * nr; turn++) {
		run_on(turn / 2);
		ask(self, FIRST, self->exempt, 24, 1, 2);
		pass_time(false);
		ask(self, FIRST, self->exempt, 25, 1, 4);
		pass_time(turn % 2);
		EXPECT_EQ(0, finish(self->fds[FIRST], 24));
		EXPECT_EQ(0, finish(self->fds[FIRST], 25));
		adjust(self);
		exempt = level_stats(self->control, "exempt");
		EXPECT_EQ(6, exempt.demand_high_watermark);
		EXPECT_EQ(6, exempt.current_seats);
		EXPECT_EQ(9, limit(self, FIRST));
		adjust(self);
		EXPECT_EQ(12, limit(self, FIRST));
	}
}

/* Also what comes in the last moment, later than the last look but one. */
TEST_F(borrow, exempt_demand_is_seen_to_the_end_of_a_period)
{
	struct kapf_level_stats exempt;
	int turn;

	begin_exempt(self);
	ask(self, FIRST, self->exempt, 24, 1, 2);
	for (turn = 0; turn < 20; turn++) {
		adjust(self);
		adjust(self);
		EXPECT_EQ(2, exempt_limit(self));
		ask(self, FIRST, self->exempt, 25, 1, 4);
		adjust(self);
		exempt = level_stats(self->control, "exempt");
		EXPECT_EQ(6, exempt.demand_high_watermark);
		EXPECT_EQ(6, exempt.current_seats);
		EXPECT_EQ(9, limit(self, FIRST));
		EXPECT_EQ(0, finish(self->fds[FIRST], 25));
	}
}

/*
 * When periods end
 */

static __u32 watermark(struct _test_data_borrow *self)
{
	return stats(self, FIRST).demand_high_watermark;
}

/* Wait until the high watermark is @value. */
static void await_watermark(struct _test_data_borrow *self, __u32 value)
{
	__u64 give_up = now_ns() + 60 * NSEC_PER_SEC;

	while (watermark(self) != value) {
		if (now_ns() > give_up)
			die("the period does not end");
		sleep_ms(1);
	}
}

TEST_F(borrow, change_of_the_configuration_ends_the_period)
{
	begin(self, (struct terms){ 0, 100 }, (struct terms){ 50, 0 },
	      LONG_PERIOD_MS);
	want(self, FIRST, 24);
	sleep_ms(50);
	EXPECT_EQ(0, watermark(self));
	EXPECT_GT(18, limit(self, FIRST));
	record(self, SECOND)->lendable_percent = 100;
	adjust(self);
	EXPECT_EQ(24, watermark(self));
	EXPECT_EQ(24, limit(self, FIRST));

	/* The next one starts with what is wanted at present. */
	drop(self, FIRST);
	want(self, FIRST, 3);
	adjust(self);
	EXPECT_EQ(24, watermark(self));
	adjust(self);
	EXPECT_EQ(3, watermark(self));
}

TEST_F(borrow, another_length_of_the_period_holds_at_once)
{
	__u64 longest = 0, took;
	int i;

	begin(self, (struct terms){ 0, 100 }, (struct terms){ 50, 0 },
	      LONG_PERIOD_MS);
	want(self, FIRST, 1);
	sleep_ms(500);
	EXPECT_EQ(0, watermark(self));

	self->image.head.adjustment_period_ms = KAPF_MIN_ADJUSTMENT_PERIOD_MS;
	adjust(self);
	EXPECT_EQ(1, watermark(self));
	for (i = 0; i < 5; i++) {
		took = -now_ns();
		drop(self, FIRST);
		await_watermark(self, 0);
		/* The period in which it left, and a whole one without it. */
		took += now_ns();
		EXPECT_LE(100 * NSEC_PER_MSEC, took);
		longest = took > longest ? took : longest;
		want(self, FIRST, 1);
		await_watermark(self, 1);
	}
	TH_LOG("at most %llu ms", longest / NSEC_PER_MSEC);
	EXPECT_GE(5 * NSEC_PER_SEC, longest);

	self->image.head.adjustment_period_ms = LONG_PERIOD_MS;
	adjust(self);
	drop(self, FIRST);
	sleep_ms(500);
	EXPECT_EQ(1, watermark(self));
}

TEST_HARNESS_MAIN
