// SPDX-License-Identifier: GPL-2.0
/*
 * Histograms: how they are read, where the bounds are and to which side they belong,
 * and what schemas count.
 */
#include "histogram.h"

FIXTURE(histogram) {
	int control;
	int fd;
	__u32 level;	/* "test": 10 seats, one queue for 20 */
	__u32 schema;
};

FIXTURE_SETUP(histogram)
{
	self->control = open_node(CONTROL_NODE, O_RDWR);
	self->schema = set_up_queues(self->control, 10, 1, 1, 20);
	self->level = level_stats(self->control, "test").id;
	self->fd = open_session(64);
}

FIXTURE_TEARDOWN(histogram)
{
	set_mode(self->control, KAPF_MODE_ENFORCE);
	close(self->fd);
	close(self->control);
}

static struct kapf_histogram_info of_schema(struct _test_data_histogram *self,
					    __u32 kind)
{
	return histogram_of(self->control, kind, self->level, self->schema);
}

static struct kapf_histogram_info of_level(struct _test_data_histogram *self,
					   __u32 kind)
{
	return histogram_of(self->control, kind, self->level, 0);
}

/* What is seen */

/* Kinds and their bounds, as kube-apiserver has them. */
static const struct {
	__u32 kind;
	__u64 bounds[KAPF_HISTOGRAM_BUCKETS];
} kinds[] = {
#define DURATIONS { 0, 5 * MS, 20 * MS, 50 * MS, 100 * MS, 200 * MS,	\
		    500 * MS, 1000 * MS, 2000 * MS, 5000 * MS,		\
		    10000 * MS, 15000 * MS, 30000 * MS, NO_BOUND }
#define RATIOS { 0, 1, 3, 10, 30, 100, 250, 500, 750, 1000, NO_BOUND }
#define KIND_RATIOS { 0, 1, 10, 100, 200, 300, 400, 500, 600, 700, 800,	\
		      900, 950, 990, 1000, NO_BOUND }
	{ KAPF_HISTOGRAM_EXECUTION, DURATIONS },
	{ KAPF_HISTOGRAM_WATCH_EXECUTION, DURATIONS },
	{ KAPF_HISTOGRAM_ESTIMATED_SEATS,
	  { 1, 2, 4, 8, 16, 32, 64, 100, NO_BOUND } },
	{ KAPF_HISTOGRAM_WATCH_COUNT,
	  { 0, 1, 10, 100, 1000, 10000, NO_BOUND } },
	{ KAPF_HISTOGRAM_QUEUE_LENGTH,
	  { 0, 10, 25, 50, 100, 250, 500, 1000, NO_BOUND } },
	{ KAPF_HISTOGRAM_WAIT, DURATIONS },
	{ KAPF_HISTOGRAM_REFUSED_WAIT, DURATIONS },
	{ KAPF_HISTOGRAM_SEATS,
	  { 0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 950, 990, 1000,
	    NO_BOUND } },
	{ KAPF_HISTOGRAM_WAITING, RATIOS },
	{ KAPF_HISTOGRAM_EXECUTING, RATIOS },
	{ KAPF_HISTOGRAM_DEMAND,
	  { 200, 400, 600, 800, 1000, 1200, 1400, 1700, 2000, 2800, 4000, 6000,
	    NO_BOUND } },
	{ KAPF_HISTOGRAM_WAITING_READ_ONLY, KIND_RATIOS },
	{ KAPF_HISTOGRAM_WAITING_MUTATING, KIND_RATIOS },
	{ KAPF_HISTOGRAM_EXECUTING_READ_ONLY, KIND_RATIOS },
	{ KAPF_HISTOGRAM_EXECUTING_MUTATING, KIND_RATIOS },
};

TEST_F(histogram, bounds)
{
	struct kapf_histogram_info info;
	__u32 i, j;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		__u32 kind = kinds[i].kind;

		info = histogram_of(self->control, kind,
				    kind < KAPF_HISTOGRAM_WAITING_READ_ONLY ?
				    self->level : 0,
				    kind < KAPF_HISTOGRAM_SEATS ?
				    self->schema : 0);
		ASSERT_LE(info.buckets, KAPF_HISTOGRAM_BUCKETS);
		for (j = 0; j < info.buckets; j++)
			EXPECT_EQ(kinds[i].bounds[j], info.bounds[j]) {
				TH_LOG("kind %u, bound %u", info.kind, j);
			}
		EXPECT_EQ(NO_BOUND, info.bounds[info.buckets - 1]);
		for (; j < KAPF_HISTOGRAM_BUCKETS; j++) {
			EXPECT_EQ(0, info.bounds[j]);
			EXPECT_EQ(0, info.counts[j]);
		}
	}
}

/*
 * Those of the instance, the schemas and the levels; an exempt schema has no queue
 * to wait in.
 */
TEST_F(histogram, in_pieces_of_any_size)
{
	const __u32 schemas = 4, levels = schemas + 4 + 2 * 7;
	const __u32 nr = levels + 3 * 4;
	struct kapf_histogram_info infos[ROOM];
	__u32 step, i;

	for (step = 1; step <= nr + 1; step++) {
		memset(infos, 0xff, sizeof(infos));
		ASSERT_EQ(nr, get_histograms(self->control, infos, step));
		for (i = 0; i < nr; i++)
			EXPECT_EQ(i < schemas ?
				  KAPF_HISTOGRAM_WAITING_READ_ONLY + i :
				  i < schemas + 4 ? i - schemas :
				  i < levels ? (i - schemas - 4) % 7 :
				  KAPF_HISTOGRAM_SEATS + (i - levels) % 4,
				  infos[i].kind);
		EXPECT_EQ(0, infos[0].level);
		EXPECT_EQ(schema_id(self->control, "exempt"),
			  infos[schemas].schema);
		EXPECT_EQ(self->level, infos[levels - 1].level);
		EXPECT_EQ(self->schema, infos[levels - 1].schema);
		EXPECT_EQ(self->level, infos[nr - 1].level);
		EXPECT_EQ(0, infos[nr - 1].schema);
	}
}

TEST_F(histogram, of_a_schema_without_a_level)
{
	struct kapf_histogram_info infos[ROOM];
	struct image image;

	image_init(&image);
	image_schema(&image, "loose", 300, "nowhere", "[]");
	set_up(self->control, &image);
	image_free(&image);
	EXPECT_EQ(4 + 4 + 7 + 2 * 4, get_histograms(self->control, infos, 5));
}

TEST_F(histogram, bad_arguments)
{
	struct kapf_histogram_info infos[ROOM];
	struct kapf_get_histograms get = {
		.size = sizeof(get), .nr = 1,
		.histograms = (uintptr_t)infos,
		.histogram_size = sizeof(infos[0]) - 8,
	};
	const __u64 beyond[] = { 1ULL << 20, 1ULL << 32, ~0ULL };
	__u32 i;

	EXPECT_EQ(-EINVAL, call(self->control, KAPF_GET_HISTOGRAMS, &get));
	get.histogram_size = 65544;
	EXPECT_EQ(-EINVAL, call(self->control, KAPF_GET_HISTOGRAMS, &get));
	get.histogram_size = sizeof(infos[0]);
	EXPECT_EQ(-ENOTTY, call(self->fd, KAPF_GET_HISTOGRAMS, &get));
	get.histograms = 0;
	EXPECT_EQ(-EFAULT, call(self->control, KAPF_GET_HISTOGRAMS, &get));
	get.histograms = (uintptr_t)infos;
	for (i = 0; i < ARRAY_SIZE(beyond); i++) {
		get.nr = 1;
		get.cursor = beyond[i];
		EXPECT_EQ(0, call(self->control, KAPF_GET_HISTOGRAMS, &get));
		EXPECT_EQ(0, get.nr);
		EXPECT_EQ(beyond[i], get.cursor);
	}
	get.nr = 0;
	get.cursor = 3;
	EXPECT_EQ(0, call(self->control, KAPF_GET_HISTOGRAMS, &get));
	EXPECT_EQ(3, get.cursor);
}

TEST_F(histogram, longer_elements_end_in_zeros)
{
	struct {
		struct kapf_histogram_info info;
		__u64 more;
	} elements[3];
	struct kapf_get_histograms get = {
		.size = sizeof(get), .nr = 2,
		.histograms = (uintptr_t)elements,
		.histogram_size = sizeof(elements[0]),
	};

	memset(elements, 0xff, sizeof(elements));
	ASSERT_EQ(0, call(self->control, KAPF_GET_HISTOGRAMS, &get));
	EXPECT_EQ(2, get.nr);
	EXPECT_EQ(generation(self->control), get.generation);
	EXPECT_EQ(KAPF_HISTOGRAM_WAITING_READ_ONLY, elements[0].info.kind);
	EXPECT_EQ(KAPF_HISTOGRAM_WAITING_MUTATING, elements[1].info.kind);
	EXPECT_EQ(0, elements[0].more);
	EXPECT_EQ(0, elements[1].more);
	EXPECT_EQ(~0u, elements[2].info.kind);
}

/* What schemas count */

/* A bound belongs to what is below it. */
TEST_F(histogram, estimated_seats)
{
	static const __u16 widths[] = { 1, 2, 4, 8, 16, 32, 64, 100 };
	struct kapf_histogram_info info;
	struct kapf_op op = request(0, 0);
	__u64 sum = 0;
	__u32 i;

	self->schema = set_up_reject(self->control, 1000);
	self->level = level_stats(self->control, "test").id;
	op.schema = self->schema;
	for (i = 0; i < ARRAY_SIZE(widths); i++) {
		op.initial_seats = widths[i];
		op.final_seats = 1;
		ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
		ASSERT_EQ(0, finish(self->fd, 0));
		op.initial_seats = 1;
		op.final_seats = widths[i] + 1;
		ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
		ASSERT_EQ(0, finish(self->fd, 0));
		sum += widths[i] + widths[i] + 1;
	}
	info = of_schema(self, KAPF_HISTOGRAM_ESTIMATED_SEATS);
	EXPECT_EQ(16, total(&info));
	EXPECT_EQ(sum, info.sum);
	EXPECT_EQ(1, info.counts[0]);
	/* 2 is both a bound and one more than one. */
	EXPECT_EQ(2, info.counts[1]);
	for (i = 2; i < 8; i++)
		EXPECT_EQ(2, info.counts[i]);
	EXPECT_EQ(1, info.counts[8]);
}

TEST_F(histogram, watch_count)
{
	static const __u32 values[] = { 0, 1, 2, 10, 11, 100, 101, 1000, 1001,
					10000, 10001, ~0u - 1 };
	struct kapf_op op = request(0, self->schema);
	struct kapf_histogram_info info;
	__u64 sum = 0;
	__u32 i;

	/* Nobody has counted. */
	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 0, self->schema));
	ASSERT_EQ(0, finish(self->fd, 0));
	for (i = 0; i < ARRAY_SIZE(values); i++) {
		op.watch_count = values[i];
		ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
		ASSERT_EQ(0, finish(self->fd, 0));
		sum += values[i];
	}
	info = of_schema(self, KAPF_HISTOGRAM_WATCH_COUNT);
	EXPECT_EQ(sum, info.sum);
	EXPECT_EQ(1, info.counts[0]);
	EXPECT_EQ(1, info.counts[1]);
	for (i = 2; i < 7; i++)
		EXPECT_EQ(2, info.counts[i]);
	info = of_schema(self, KAPF_HISTOGRAM_ESTIMATED_SEATS);
	EXPECT_EQ(13, info.counts[0]);
}

/* 10 execute, which came into an empty queue; 20 wait; one does not fit. */
TEST_F(histogram, queue_length)
{
	struct kapf_op op = request(0, self->schema);
	struct kapf_histogram_info info;
	__u32 i;

	op.flags = KAPF_OP_NOWAIT;
	for (i = 0; i < 31; i++) {
		op.slot = i;
		EXPECT_EQ(i < 10 ? KAPF_EXECUTE :
			  i < 30 ? KAPF_QUEUED : KAPF_QUEUE_FULL,
			  KAPF_VERDICT(admit_op(self->fd, op)));
	}
	info = of_schema(self, KAPF_HISTOGRAM_QUEUE_LENGTH);
	EXPECT_EQ(0, up_to(&info, 0));
	EXPECT_EQ(10 + 10, up_to(&info, 10));
	EXPECT_EQ(10 + 20, up_to(&info, 25));
	EXPECT_EQ(10 + 20, total(&info));
	EXPECT_EQ(10 * 1 + 20 * 21 / 2, info.sum);
	info = of_schema(self, KAPF_HISTOGRAM_REFUSED_WAIT);
	EXPECT_EQ(1, up_to(&info, 0));
	EXPECT_EQ(1, total(&info));
	EXPECT_EQ(0, info.sum);
	info = of_schema(self, KAPF_HISTOGRAM_WAIT);
	EXPECT_EQ(10, total(&info));
}

TEST_F(histogram, no_queue_no_length)
{
	struct kapf_histogram_info info;

	self->schema = set_up_reject(self->control, 1);
	self->level = level_stats(self->control, "test").id;
	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 0, self->schema));
	ASSERT_EQ(KAPF_CONCURRENCY_LIMIT, admit(self->fd, 1, self->schema));
	info = of_schema(self, KAPF_HISTOGRAM_QUEUE_LENGTH);
	EXPECT_EQ(0, total(&info));
	info = of_schema(self, KAPF_HISTOGRAM_WAIT);
	EXPECT_EQ(1, total(&info));
	info = of_schema(self, KAPF_HISTOGRAM_REFUSED_WAIT);
	EXPECT_EQ(1, total(&info));
}

/* The bucket of @duration is in those of @least to @most. */
static bool in_bucket(const struct kapf_histogram_info *info, __u64 least,
		      __u64 most)
{
	__u32 i;

	for (i = 0; i < info->buckets; i++)
		if (info->counts[i])
			return info->bounds[i] >= least &&
			       (!i || info->bounds[i - 1] < most);
	return false;
}

TEST_F(histogram, wait)
{
	struct kapf_op op = request(1, self->schema);
	struct kapf_histogram_info before, after;
	__u64 begin, queued, least, most;
	__u32 i;

	op.initial_seats = 10;
	op.slot = 0;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	before = of_schema(self, KAPF_HISTOGRAM_WAIT);
	EXPECT_EQ(1, total(&before));
	EXPECT_EQ(1, up_to(&before, 5 * MS));

	op.flags = KAPF_OP_NOWAIT;
	op.slot = 1;
	begin = now_ns();
	ASSERT_EQ(KAPF_QUEUED, KAPF_VERDICT(admit_op(self->fd, op)));
	queued = now_ns();
	sleep_ms(60);
	least = now_ns() - queued;
	ASSERT_EQ(0, finish(self->fd, 0));
	most = now_ns() - begin;
	EXPECT_EQ(KAPF_EXECUTE, read_event(self->fd).verdict);

	after = of_schema(self, KAPF_HISTOGRAM_WAIT);
	EXPECT_EQ(2, total(&after));
	after.sum -= before.sum;
	EXPECT_LE(least, after.sum);
	EXPECT_GE(most, after.sum);
	for (i = 0; i < after.buckets; i++)
		after.counts[i] -= before.counts[i];
	EXPECT_TRUE(in_bucket(&after, least, most));
}

TEST_F(histogram, wait_in_vain)
{
	struct kapf_op op = request(0, self->schema);
	struct kapf_histogram_info info;
	__u64 begin = now_ns();

	op.initial_seats = 10;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	op.slot = 1;
	op.max_wait = 30 * MS;
	ASSERT_EQ(KAPF_TIME_OUT, KAPF_VERDICT(admit_op(self->fd, op)));
	op.slot = 2;
	op.max_wait = 0;
	op.flags = KAPF_OP_NOWAIT;
	ASSERT_EQ(KAPF_QUEUED, KAPF_VERDICT(admit_op(self->fd, op)));
	ASSERT_EQ(0, cancel(self->fd, 2));
	info = of_schema(self, KAPF_HISTOGRAM_WAIT);
	EXPECT_EQ(3, total(&info));
	EXPECT_LE(30 * MS, info.sum);
	EXPECT_GE(now_ns() - begin, info.sum);
	info = of_schema(self, KAPF_HISTOGRAM_REFUSED_WAIT);
	EXPECT_EQ(0, total(&info));
}

/* How long requests of these flags execute, measured from both sides. */
static void serve(struct __test_metadata *_metadata,
		  struct _test_data_histogram *self, __u32 schema, __u8 flags,
		  __u64 *least, __u64 *most)
{
	struct kapf_op op = request(0, schema);
	__u64 begin = now_ns(), admitted;

	op.flags = flags;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	admitted = now_ns();
	sleep_ms(25);
	*least = now_ns() - admitted;
	ASSERT_EQ(0, finish(self->fd, 0));
	*most = now_ns() - begin;
}

TEST_F(histogram, execution)
{
	static const struct {
		__u8 flags;
		__u32 kind;
	} kinds[] = {
		{ 0, KAPF_HISTOGRAM_EXECUTION },
		{ KAPF_OP_WATCH, KAPF_HISTOGRAM_WATCH_EXECUTION },
	};
	struct kapf_histogram_info info;
	__u64 least, most;
	__u32 i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		serve(_metadata, self, self->schema, kinds[i].flags, &least,
		      &most);
		info = of_schema(self, kinds[i].kind);
		EXPECT_EQ(1, total(&info));
		EXPECT_LE(least, info.sum);
		EXPECT_GE(most, info.sum);
		EXPECT_TRUE(in_bucket(&info, least, most));
		info = of_schema(self, kinds[!i].kind);
		EXPECT_EQ(i, total(&info));
	}
}

/* What lingers does not execute; what a session leaves behind has executed. */
TEST_F(histogram, execution_without_its_end)
{
	struct kapf_op op = request(0, self->schema);
	struct kapf_histogram_info info;

	op.final_seats = 1;
	op.additional_latency = 300 * MS;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	ASSERT_EQ(300, finish(self->fd, 0));
	info = of_schema(self, KAPF_HISTOGRAM_EXECUTION);
	EXPECT_EQ(1, total(&info));
	EXPECT_GT(300 * MS, info.sum);
	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 1, self->schema));
	close(self->fd);
	info = of_schema(self, KAPF_HISTOGRAM_EXECUTION);
	EXPECT_EQ(2, total(&info));
	self->fd = open_session(64);
}

/* Counted on the CPU where it happens. */
TEST_F(histogram, exempt)
{
	__u32 schema = schema_id(self->control, "exempt");
	__u32 level = level_stats(self->control, "exempt").id;
	struct kapf_histogram_info before[KAPF_HISTOGRAM_WATCH_COUNT + 1];
	struct kapf_op op = request(1, schema);
	struct kapf_histogram_info info;
	__u64 least, most;
	int i;

	for (i = 0; i <= KAPF_HISTOGRAM_WATCH_COUNT; i++)
		before[i] = histogram_of(self->control, i, level, schema);
	op.initial_seats = 3;
	op.watch_count = 11;
	for (i = 0; i < 4; i++) {
		run_on(i % 2);
		ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
		run_on(!(i % 2));
		ASSERT_EQ(0, finish(self->fd, 1));
	}
	serve(_metadata, self, schema, KAPF_OP_WATCH, &least, &most);

	info = histogram_of(self->control, KAPF_HISTOGRAM_ESTIMATED_SEATS,
			    level, schema);
	EXPECT_EQ(4, info.counts[2] -
		  before[KAPF_HISTOGRAM_ESTIMATED_SEATS].counts[2]);
	EXPECT_EQ(4 * 3 + 1, info.sum -
		  before[KAPF_HISTOGRAM_ESTIMATED_SEATS].sum);
	info = histogram_of(self->control, KAPF_HISTOGRAM_WATCH_COUNT, level,
			    schema);
	EXPECT_EQ(4, info.counts[3] -
		  before[KAPF_HISTOGRAM_WATCH_COUNT].counts[3]);
	EXPECT_EQ(44, info.sum - before[KAPF_HISTOGRAM_WATCH_COUNT].sum);
	info = histogram_of(self->control, KAPF_HISTOGRAM_EXECUTION, level,
			    schema);
	EXPECT_EQ(4, total(&info) -
		  total(&before[KAPF_HISTOGRAM_EXECUTION]));
	info = histogram_of(self->control, KAPF_HISTOGRAM_WATCH_EXECUTION,
			    level, schema);
	info.sum -= before[KAPF_HISTOGRAM_WATCH_EXECUTION].sum;
	EXPECT_EQ(1, total(&info) -
		  total(&before[KAPF_HISTOGRAM_WATCH_EXECUTION]));
	EXPECT_LE(least, info.sum);
	EXPECT_GE(most, info.sum);
}

/* What stays goes on; a schema that goes to another level begins anew. */
TEST_F(histogram, of_what_is_configured_anew)
{
	struct kapf_histogram_info before, after;

	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 0, self->schema));
	sleep_ms(20);
	ASSERT_EQ(0, finish(self->fd, 0));
	before = of_level(self, KAPF_HISTOGRAM_SEATS);
	configure(self->control, 5, "test");
	after = of_level(self, KAPF_HISTOGRAM_SEATS);
	EXPECT_LT(total(&before), total(&after));
	EXPECT_EQ(before.sum, after.sum);
	EXPECT_LT(0, after.sum);
	after = of_schema(self, KAPF_HISTOGRAM_WAIT);
	EXPECT_EQ(1, total(&after));

	configure(self->control, 5, "catch-all");
	self->level = level_stats(self->control, "catch-all").id;
	after = of_schema(self, KAPF_HISTOGRAM_WAIT);
	EXPECT_EQ(0, total(&after));
}

/* What drains is seen, and goes on counting until it is gone. */
TEST_F(histogram, what_drains)
{
	struct kapf_histogram_info infos[ROOM], info;
	struct image image;
	__u32 i;

	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 0, self->schema));
	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 1, self->schema));
	image_init(&image);
	ASSERT_EQ(0, set_image(self->control, &image, NULL));
	image_free(&image);
	for (i = 1; i < 7; i++)
		EXPECT_EQ(4 + 4 + 2 * 7 + 3 * 4,
			  get_histograms(self->control, infos, i));
	ASSERT_EQ(0, finish(self->fd, 0));
	info = of_schema(self, KAPF_HISTOGRAM_EXECUTION);
	EXPECT_EQ(1, total(&info));
	info = of_level(self, KAPF_HISTOGRAM_SEATS);
	EXPECT_LT(0, info.sum);
	ASSERT_EQ(0, finish(self->fd, 1));
	for (i = 0; i < 10000; i++) {
		if (get_histograms(self->control, infos, ROOM) == 4 + 4 + 7 + 2 * 4)
			break;
		sleep_ms(1);
	}
	EXPECT_GT(10000, i);
}

/* Modes in which requests pass */

/* The second executes, too, and would wait until it has been served. */
TEST_F(histogram, in_mode_observe)
{
	struct kapf_op op = request(0, self->schema);
	struct kapf_histogram_info info;
	__u32 i;

	ASSERT_EQ(0, set_mode(self->control, KAPF_MODE_OBSERVE));
	op.initial_seats = 10;
	op.watch_count = 3;
	for (i = 0; i < 2; i++) {
		op.slot = i;
		ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	}
	sleep_ms(20);
	ASSERT_EQ(0, finish(self->fd, 1));
	ASSERT_EQ(0, finish(self->fd, 0));
	info = of_schema(self, KAPF_HISTOGRAM_ESTIMATED_SEATS);
	EXPECT_EQ(2, total(&info));
	info = of_schema(self, KAPF_HISTOGRAM_WATCH_COUNT);
	EXPECT_EQ(2, total(&info));
	info = of_schema(self, KAPF_HISTOGRAM_QUEUE_LENGTH);
	EXPECT_EQ(2, total(&info));
	info = of_schema(self, KAPF_HISTOGRAM_WAIT);
	EXPECT_EQ(2, total(&info));
	EXPECT_LE(20 * MS, info.sum);
	info = of_schema(self, KAPF_HISTOGRAM_EXECUTION);
	EXPECT_EQ(2, total(&info));
	EXPECT_LE(2 * 20 * MS, info.sum);
}

/* As many as the server has seats, and one more. */
TEST_F(histogram, in_mode_off)
{
	struct kapf_histogram_info info;
	__u32 i;

	ASSERT_EQ(0, set_mode(self->control, KAPF_MODE_OFF));
	for (i = 0; i < 15; i++)
		ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, i, self->schema));
	ASSERT_EQ(KAPF_CONCURRENCY_LIMIT, admit(self->fd, 15, self->schema));
	sleep_ms(20);
	for (i = 0; i < 15; i++)
		ASSERT_EQ(0, finish(self->fd, i));
	info = of_schema(self, KAPF_HISTOGRAM_ESTIMATED_SEATS);
	EXPECT_EQ(16, info.counts[0]);
	info = of_schema(self, KAPF_HISTOGRAM_QUEUE_LENGTH);
	EXPECT_EQ(0, total(&info));
	info = of_schema(self, KAPF_HISTOGRAM_WAIT);
	EXPECT_EQ(15, info.counts[0]);
	info = of_schema(self, KAPF_HISTOGRAM_REFUSED_WAIT);
	EXPECT_EQ(1, info.counts[0]);
	info = of_schema(self, KAPF_HISTOGRAM_EXECUTION);
	EXPECT_EQ(15, total(&info));
	EXPECT_LE(15 * 20 * MS, info.sum);
}

TEST_HARNESS_MAIN
