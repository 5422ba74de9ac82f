// SPDX-License-Identifier: GPL-2.0
/*
 * Histograms of levels: ratios weighted by the time for which they held, and what
 * they are ratios to.
 */
#include <pthread.h>

#include "histogram.h"

FIXTURE(ratio) {
	int control;
	int fd;
	__u32 level;	/* "test": 10 seats, one queue for 20 */
	__u32 schema;
};

FIXTURE_SETUP(ratio)
{
	self->control = open_node(CONTROL_NODE, O_RDWR);
	self->schema = set_up_queues(self->control, 10, 1, 1, 20);
	self->level = level_stats(self->control, "test").id;
	self->fd = open_session(64);
}

FIXTURE_TEARDOWN(ratio)
{
	set_mode(self->control, KAPF_MODE_ENFORCE);
	close(self->fd);
	close(self->control);
}

static struct kapf_histogram_info ratio_of(struct _test_data_ratio *self,
					   __u32 kind)
{
	return histogram_of(self->control, kind, self->level, 0);
}

/* A ratio of @value thousandths weighs so long in the bucket of @bound. */
static void check_ratio(struct __test_metadata *_metadata,
			const struct kapf_histogram_info *before,
			const struct kapf_histogram_info *after, __u64 bound,
			__u64 value, __u64 least, __u64 most)
{
	__u64 weight = gained(before, after, bound);
	__u64 sum = after->sum - before->sum;

	EXPECT_LE(least, weight) {
		TH_LOG("kind %u", after->kind);
	}
	EXPECT_GE(most, weight) {
		TH_LOG("kind %u", after->kind);
	}
	EXPECT_LE(least * value / 1000, sum) {
		TH_LOG("kind %u", after->kind);
	}
	EXPECT_GE(most * value / 1000, sum) {
		TH_LOG("kind %u", after->kind);
	}
	/* All the time that has passed is in some bucket. */
	EXPECT_LE(weight, total(after) - total(before));
}

/* Half of the seats in use, by one request. */
TEST_F(ratio, ratios_of_a_half_full_level)
{
	static const struct {
		__u32 kind;
		__u64 bound;
		__u64 value;
	} ratios[] = {
		{ KAPF_HISTOGRAM_SEATS, 500, 500 },
		{ KAPF_HISTOGRAM_WAITING, 0, 0 },
		{ KAPF_HISTOGRAM_EXECUTING, 100, 100 },
		{ KAPF_HISTOGRAM_DEMAND, 600, 500 },
	};
	struct kapf_histogram_info before[4], after[4];
	struct kapf_op op = request(0, self->schema);
	__u64 begin, least, most;
	__u32 i;

	op.initial_seats = 5;
	for (i = 0; i < 4; i++)
		before[i] = ratio_of(self, ratios[i].kind);
	begin = now_ns();
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	least = now_ns();
	sleep_ms(1000);
	least = now_ns() - least;
	for (i = 0; i < 4; i++)
		after[i] = ratio_of(self, ratios[i].kind);
	most = now_ns() - begin;
	for (i = 0; i < 4; i++)
		check_ratio(_metadata, &before[i], &after[i], ratios[i].bound,
			    ratios[i].value, least,
			    ratios[i].bound ? most : 2 * most);
	EXPECT_EQ(0, finish(self->fd, 0));
	/* And now it is empty. */
	before[0] = ratio_of(self, KAPF_HISTOGRAM_SEATS);
	sleep_ms(10);
	after[0] = ratio_of(self, KAPF_HISTOGRAM_SEATS);
	EXPECT_EQ(before[0].sum, after[0].sum);
	EXPECT_LE(10 * MS, gained(&before[0], &after[0], 0));
}

/* Nobody looks while it happens. */
TEST_F(ratio, time_between_two_looks)
{
	struct kapf_histogram_info before, after;
	__u64 begin, least, most;

	begin = now_ns();
	before = ratio_of(self, KAPF_HISTOGRAM_SEATS);
	least = now_ns();
	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 0, self->schema));
	sleep_ms(20);
	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 1, self->schema));
	sleep_ms(10);
	ASSERT_EQ(0, finish(self->fd, 0));
	ASSERT_EQ(0, finish(self->fd, 1));
	least = now_ns() - least;
	after = ratio_of(self, KAPF_HISTOGRAM_SEATS);
	most = now_ns() - begin;
	EXPECT_LE(20 * MS, gained(&before, &after, 100));
	EXPECT_LE(10 * MS, gained(&before, &after, 200));
	EXPECT_LE(20 * MS / 10 + 10 * MS / 5, after.sum - before.sum);
	EXPECT_GE(most / 5, after.sum - before.sum);
	EXPECT_LE(least, total(&after) - total(&before));
	EXPECT_GE(most, total(&after) - total(&before));
}

/* 10 seats: how many seats in use belong to which bucket. */
TEST_F(ratio, bounds_of_ratios_belong_to_what_is_below)
{
	static const __u64 bounds[] = { 0, 100, 200, 300, 400, 500, 600, 700,
					800, 900, 1000 };
	struct kapf_histogram_info before, after;
	__u32 i;

	for (i = 0; i <= 10; i++) {
		before = ratio_of(self, KAPF_HISTOGRAM_SEATS);
		sleep_ms(3);
		after = ratio_of(self, KAPF_HISTOGRAM_SEATS);
		EXPECT_LE(3 * MS, gained(&before, &after, bounds[i]));
		EXPECT_EQ(total(&after) - total(&before),
			  gained(&before, &after, bounds[i]));
		if (i < 10)
			ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, i,
						      self->schema));
	}
}

/* A lone wide request has more seats than there are. */
TEST_F(ratio, more_than_everything)
{
	struct kapf_histogram_info before, after;
	struct kapf_op op = request(0, self->schema);

	op.initial_seats = 61;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	before = ratio_of(self, KAPF_HISTOGRAM_DEMAND);
	sleep_ms(3);
	after = ratio_of(self, KAPF_HISTOGRAM_DEMAND);
	EXPECT_LE(3 * MS, gained(&before, &after, NO_BOUND));
	EXPECT_LE(3 * MS * 61 / 10, after.sum - before.sum);
}

/* One waits in a queue that has room for 20. */
TEST_F(ratio, ratio_of_waiting_requests)
{
	struct kapf_histogram_info before, after;
	struct kapf_op op = request(0, self->schema);

	op.initial_seats = 10;
	op.flags = KAPF_OP_NOWAIT;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	op.slot = 1;
	ASSERT_EQ(KAPF_QUEUED, KAPF_VERDICT(admit_op(self->fd, op)));
	before = ratio_of(self, KAPF_HISTOGRAM_WAITING);
	sleep_ms(3);
	after = ratio_of(self, KAPF_HISTOGRAM_WAITING);
	EXPECT_EQ(total(&after) - total(&before),
		  gained(&before, &after, 100));
	/* Rounded down when it is read. */
	EXPECT_GE(20, llabs((long long)((after.sum - before.sum) * 20 -
					gained(&before, &after, 100))));
	before = ratio_of(self, KAPF_HISTOGRAM_DEMAND);
	sleep_ms(3);
	after = ratio_of(self, KAPF_HISTOGRAM_DEMAND);
	EXPECT_EQ(total(&after) - total(&before),
		  gained(&before, &after, 2000));
}

/* 5 of 10 seats, and then 5 of 20. */
TEST_F(ratio, another_limit)
{
	struct kapf_histogram_info before, after;
	struct kapf_op op = request(0, self->schema);
	__u64 begin, change, changed, weight;

	op.initial_seats = 5;
	before = ratio_of(self, KAPF_HISTOGRAM_SEATS);
	begin = now_ns();
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	sleep_ms(20);
	change = now_ns();
	configure(self->control, 20, "test");
	changed = now_ns();
	sleep_ms(20);
	after = ratio_of(self, KAPF_HISTOGRAM_SEATS);
	weight = gained(&before, &after, 500);
	EXPECT_LE(20 * MS, weight);
	EXPECT_GE(changed - begin, weight);
	weight = gained(&before, &after, 300);
	EXPECT_LE(20 * MS, weight);
	EXPECT_GE(now_ns() - change, weight);
	EXPECT_LE(20 * MS / 2 + 20 * MS / 4, after.sum - before.sum);
	EXPECT_GE((changed - begin) / 2 + (now_ns() - change) / 4,
		  after.sum - before.sum);
}

/*
 * An exempt level is looked at now and then; by how many seats it takes from the
 * others is what it is compared with.
 */
TEST_F(ratio, ratios_of_an_exempt_level)
{
	/* 15 seats in all: a tenth, rounded, is 2. */
	static const struct {
		__u32 kind;
		__u64 bound;
		__u64 value;
	} ratios[] = {
		{ KAPF_HISTOGRAM_SEATS, NO_BOUND, 1500 },
		{ KAPF_HISTOGRAM_EXECUTING, 500, 500 },
		{ KAPF_HISTOGRAM_DEMAND, 1700, 1500 },
	};
	struct kapf_op op = request(0, schema_id(self->control, "exempt"));
	struct kapf_histogram_info before[3], after[3];
	__u32 i;

	self->level = level_stats(self->control, "exempt").id;
	op.initial_seats = 3;
	for (i = 0; i < 3; i++)
		before[i] = ratio_of(self, ratios[i].kind);
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	sleep_ms(500);
	for (i = 0; i < 3; i++) {
		after[i] = ratio_of(self, ratios[i].kind);
		EXPECT_LE(500 * MS, total(&after[i]) - total(&before[i]));
		check_ratio(_metadata, &before[i], &after[i], ratios[i].bound,
			    ratios[i].value, 200 * MS,
			    total(&after[i]) - total(&before[i]));
	}
	EXPECT_EQ(0, finish(self->fd, 0));
}

/* A level that has no seat, of a server with 100: demand is a ratio to 10. */
TEST_F(ratio, ratio_to_no_seat)
{
	struct kapf_histogram_info before, after;
	struct kapf_op op = request(0, 0);
	struct image image;

	image_init(&image);
	image_queues(&image, "test", 0, 1, 1, 20);
	image_level(&image, "other", KAPF_LEVEL_REJECT, 95);
	image_schema(&image, "test", 100, "test", "[]");
	set_up(self->control, &image);
	image_free(&image);
	self->level = level_stats(self->control, "test").id;
	op.schema = schema_id(self->control, "test");
	op.flags = KAPF_OP_NOWAIT;
	op.initial_seats = 6;
	ASSERT_EQ(KAPF_QUEUED, KAPF_VERDICT(admit_op(self->fd, op)));
	before = ratio_of(self, KAPF_HISTOGRAM_DEMAND);
	sleep_ms(3);
	after = ratio_of(self, KAPF_HISTOGRAM_DEMAND);
	EXPECT_EQ(total(&after) - total(&before), gained(&before, &after, 600));
	EXPECT_EQ(0, cancel(self->fd, 0));
}

/* Of the instance */

static struct kapf_histogram_info of_instance(struct _test_data_ratio *self,
					      __u32 kind)
{
	return histogram_of(self->control, kind, 0, 0);
}

/* For 30 ms nothing of this kind but what is in the bucket of @bound. */
static void check_kind(struct __test_metadata *_metadata,
		       struct _test_data_ratio *self, __u32 kind, __u64 bound,
		       __u64 numerator, __u64 denominator)
{
	struct kapf_histogram_info before, after;
	__u64 weight, sum;

	before = of_instance(self, kind);
	sleep_ms(30);
	after = of_instance(self, kind);
	weight = gained(&before, &after, bound);
	sum = after.sum - before.sum;
	EXPECT_LE(30 * MS, weight);
	EXPECT_EQ(total(&after) - total(&before), weight) {
		TH_LOG("kind %u", kind);
	}
	/* Rounded down when it is read. */
	EXPECT_LE(weight * numerator / denominator, sum + 1);
	EXPECT_GE(weight * numerator / denominator + 1, sum) {
		TH_LOG("kind %u", kind);
	}
}

/*
 * 15 seats, and room for 20 to wait: two mutate, one of them exempt; one waits to
 * read.
 */
TEST_F(ratio, of_the_instance)
{
	struct kapf_op op = request(0, self->schema);

	run_on(0);
	op.flags = KAPF_OP_MUTATING | KAPF_OP_NOWAIT;
	op.initial_seats = 10;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	op.slot = 1;
	op.schema = schema_id(self->control, "exempt");
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	op = request(2, self->schema);
	op.flags = KAPF_OP_NOWAIT;
	ASSERT_EQ(KAPF_QUEUED, KAPF_VERDICT(admit_op(self->fd, op)));
	check_kind(_metadata, self, KAPF_HISTOGRAM_WAITING_READ_ONLY, 100, 1,
		   20);
	check_kind(_metadata, self, KAPF_HISTOGRAM_WAITING_MUTATING, 0, 0, 20);
	check_kind(_metadata, self, KAPF_HISTOGRAM_EXECUTING_READ_ONLY, 0, 0,
		   15);
	check_kind(_metadata, self, KAPF_HISTOGRAM_EXECUTING_MUTATING, 200, 2,
		   15);

	/* What waited executes, and mutates nothing. */
	run_on(1);
	ASSERT_EQ(0, finish(self->fd, 0));
	check_kind(_metadata, self, KAPF_HISTOGRAM_WAITING_READ_ONLY, 0, 0, 20);
	check_kind(_metadata, self, KAPF_HISTOGRAM_EXECUTING_READ_ONLY, 100, 1,
		   15);
	check_kind(_metadata, self, KAPF_HISTOGRAM_EXECUTING_MUTATING, 100, 1,
		   15);

	ASSERT_EQ(0, finish(self->fd, 1));
	ASSERT_EQ(KAPF_EXECUTE, read_event(self->fd).verdict);
	ASSERT_EQ(0, finish(self->fd, 2));
	check_kind(_metadata, self, KAPF_HISTOGRAM_EXECUTING_READ_ONLY, 0, 0,
		   15);
	check_kind(_metadata, self, KAPF_HISTOGRAM_EXECUTING_MUTATING, 0, 0,
		   15);
}

/* Who gives up waits no more. */
TEST_F(ratio, of_who_gave_up)
{
	struct kapf_op op = request(0, self->schema);

	op.initial_seats = 10;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	op.flags = KAPF_OP_MUTATING | KAPF_OP_NOWAIT;
	op.slot = 1;
	ASSERT_EQ(KAPF_QUEUED, KAPF_VERDICT(admit_op(self->fd, op)));
	op.slot = 2;
	op.max_wait = 1 * MS;
	ASSERT_EQ(KAPF_QUEUED, KAPF_VERDICT(admit_op(self->fd, op)));
	ASSERT_EQ(KAPF_TIME_OUT, read_event(self->fd).verdict);
	check_kind(_metadata, self, KAPF_HISTOGRAM_WAITING_MUTATING, 100, 1,
		   20);
	ASSERT_EQ(0, cancel(self->fd, 1));
	check_kind(_metadata, self, KAPF_HISTOGRAM_WAITING_MUTATING, 0, 0, 20);
}

/* Nobody looks, but it is sampled. */
TEST_F(ratio, sampled)
{
	struct kapf_histogram_info before, after;

	before = of_instance(self, KAPF_HISTOGRAM_EXECUTING_READ_ONLY);
	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 0, self->schema));
	sleep_ms(500);
	ASSERT_EQ(0, finish(self->fd, 0));
	after = of_instance(self, KAPF_HISTOGRAM_EXECUTING_READ_ONLY);
	EXPECT_LE(100 * MS, gained(&before, &after, 100));
}

/* What passes executes; what would wait, waits. */
TEST_F(ratio, in_mode_observe)
{
	struct kapf_op op = request(0, self->schema);

	ASSERT_EQ(0, set_mode(self->control, KAPF_MODE_OBSERVE));
	op.initial_seats = 10;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	op.slot = 1;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	check_kind(_metadata, self, KAPF_HISTOGRAM_EXECUTING_READ_ONLY, 200, 2,
		   15);
	check_kind(_metadata, self, KAPF_HISTOGRAM_WAITING_READ_ONLY, 100, 1,
		   20);
	ASSERT_EQ(0, finish(self->fd, 0));
	ASSERT_EQ(0, finish(self->fd, 1));
	check_kind(_metadata, self, KAPF_HISTOGRAM_EXECUTING_READ_ONLY, 0, 0,
		   15);
	check_kind(_metadata, self, KAPF_HISTOGRAM_WAITING_READ_ONLY, 0, 0, 20);
}

#define GIVERS_UP 15

/* Requests that wait until the same moment, and what they have waited, in ns. */
struct givers_up {
	int fd;
	__u32 schema;
	__u64 until;
	__u64 waited[GIVERS_UP];
	pthread_barrier_t begin;
	pthread_barrier_t end;
};

struct giver_up {
	struct givers_up *all;
	__u32 slot;
};

static void *give_up(void *arg)
{
	struct giver_up *self = arg;
	struct givers_up *all = self->all;

	run_on(1);
	for (;;) {
		struct kapf_op op = request(self->slot, all->schema);
		__u64 now;

		pthread_barrier_wait(&all->begin);
		if (!all->until)
			return NULL;
		now = now_ns();
		op.max_wait = all->until > now ? all->until - now : 1;
		if (KAPF_VERDICT(admit_op(all->fd, op)) == KAPF_EXECUTE)
			finish(all->fd, self->slot);
		all->waited[self->slot] = now_ns() - now;
		pthread_barrier_wait(&all->end);
	}
}

/*
 * Who gives up is woken while the level is not locked.  If something that never
 * waits comes in between, the time for which they waited still counts.
 */
TEST_F(ratio, a_finish_while_all_give_up)
{
	struct givers_up all = { .fd = self->fd, .schema = self->schema };
	struct kapf_op op = request(GIVERS_UP, self->schema);
	struct giver_up givers_up[GIVERS_UP];
	pthread_t threads[GIVERS_UP];
	__u32 i, turn;

	pthread_barrier_init(&all.begin, NULL, GIVERS_UP + 1);
	pthread_barrier_init(&all.end, NULL, GIVERS_UP + 1);
	for (i = 0; i < GIVERS_UP; i++) {
		givers_up[i] = (struct giver_up){ .all = &all, .slot = i };
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, give_up,
					    &givers_up[i]));
	}
	run_on(0);
	op.initial_seats = 10;
	for (turn = 0; turn < 100; turn++) {
		struct kapf_histogram_info before, after;
		__u64 finished, waited = 0;

		ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
		before = ratio_of(self, KAPF_HISTOGRAM_WAITING);
		all.until = now_ns() + 30 * MS;
		pthread_barrier_wait(&all.begin);
		finished = all.until + turn % 20 * 20000;
		while (now_ns() < finished)
			;
		ASSERT_EQ(0, finish(self->fd, GIVERS_UP));
		pthread_barrier_wait(&all.end);
		after = ratio_of(self, KAPF_HISTOGRAM_WAITING);
		for (i = 0; i < GIVERS_UP; i++)
			waited += all.waited[i];
		/* Of 20 that may wait; without the way into the kernel. */
		ASSERT_LE(waited / 20 / 2, after.sum - before.sum) {
			TH_LOG("turn %u", turn);
		}
	}
	all.until = 0;
	pthread_barrier_wait(&all.begin);
	for (i = 0; i < GIVERS_UP; i++)
		pthread_join(threads[i], NULL);
}

TEST_HARNESS_MAIN
