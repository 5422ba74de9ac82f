// SPDX-License-Identifier: GPL-2.0
/*
 * What SET_CONFIG refuses, field by field: each refusal names object, record,
 * field, reason and what would be accepted, and changes nothing.  Each test
 * spoils one thing in an image that is otherwise good.
 */
#include "kapf_test.h"

FIXTURE(refusal) {
	int control;
	struct image image;
	struct kapf_config_level *exempt;	/* record 0 */
	struct kapf_config_level *catch_all;	/* record 1 */
	struct kapf_config_level *reject;	/* record 2 */
	struct kapf_config_level *queues;	/* record 3 */
	struct kapf_config_schema *exempt_schema;	/* record 0 */
	struct kapf_config_schema *catch_all_schema;	/* record 1 */
	struct kapf_config_schema *schema;	/* record 2 */
	__u64 generation;
};

FIXTURE_SETUP(refusal)
{
	struct image *image = &self->image;

	self->control = open_node(CONTROL_NODE, O_RDWR);
	set_up_bare(self->control);
	image_init(image);
	self->exempt = (void *)image->levels;
	self->catch_all = self->exempt + 1;
	self->reject = image_level(image, "reject", KAPF_LEVEL_REJECT, 1);
	self->queues = image_queues(image, "queues", 10, 64, 6, 50);
	self->exempt_schema = (void *)image->schemas;
	self->catch_all_schema = (void *)(image->schemas +
					  self->exempt_schema->record_size);
	self->schema = image_schema(image, "schema", 100, "queues", "[]");
	set_up(self->control, image);
	self->generation = generation(self->control);
}

FIXTURE_TEARDOWN(refusal)
{
	/* Whatever was spoilt was put right again. */
	EXPECT_EQ(0, set_image(self->control, &self->image, NULL));
	image_free(&self->image);
	close(self->control);
}

/* A value of the report that a test does not look at. */
#define ANY (~0ULL - 1)

static bool is(__u64 expected, __u64 seen)
{
	return expected == ANY || expected == seen;
}

/* Faults; a reason NONE stands for any: how to call it is the kernel's. */

static struct kapf_config_error fault(__u32 reason, __u64 value, __u64 min,
				      __u64 max)
{
	return (struct kapf_config_error){
		.reason = reason, .value = value, .min = min, .max = max,
	};
}

static struct kapf_config_error range(__u64 value, __u64 min, __u64 max)
{
	return fault(KAPF_REASON_RANGE, value, min, max);
}

static struct kapf_config_error immutable(__u64 value, __u64 min)
{
	return fault(KAPF_REASON_IMMUTABLE, value, min, ANY);
}

#define some_fault()	fault(KAPF_REASON_NONE, ANY, ANY, ANY)
#define format()	fault(KAPF_REASON_FORMAT, ANY, ANY, ANY)
#define duplicate()	fault(KAPF_REASON_DUPLICATE, ANY, ANY, ANY)
#define conflict()	fault(KAPF_REASON_CONFLICT, ANY, ANY, ANY)
#define changed()	fault(KAPF_REASON_IMMUTABLE, ANY, ANY, ANY)

/* @which: 0 exempt, 1 catch-all */
static struct kapf_config_error missing(__u64 which)
{
	return fault(KAPF_REASON_MISSING, ANY, which, ANY);
}

static struct kapf_config_error limit(__u64 max)
{
	return fault(KAPF_REASON_LIMIT, ANY, ANY, max);
}

/* Where they are */

static struct kapf_config_error in_object(__u32 object, __u32 index,
					  __u32 field,
					  struct kapf_config_error want)
{
	want.object = object;
	want.index = index;
	want.field = field;
	return want;
}

#define in_image(field, want) \
	in_object(KAPF_OBJECT_IMAGE, 0, KAPF_FIELD_##field, want)
#define in_level(index, field, want) \
	in_object(KAPF_OBJECT_LEVEL, index, KAPF_FIELD_##field, want)
#define in_schema(index, field, want) \
	in_object(KAPF_OBJECT_SCHEMA, index, KAPF_FIELD_##field, want)

/* self->image is refused with @err for just what @want says. */
static void refused(struct __test_metadata *_metadata,
		    struct _test_data_refusal *self, int line, int err,
		    struct kapf_config_error want)
{
	struct kapf_config_error got;

	EXPECT_EQ(-err, set_image(self->control, &self->image, &got)) {
		TH_LOG("in line %d", line);
	}
	EXPECT_NE(KAPF_REASON_NONE, got.reason);
	EXPECT_TRUE(want.object == got.object &&
		    (want.reason == KAPF_REASON_MISSING ||
		     want.index == got.index) && want.field == got.field &&
		    (!want.reason || want.reason == got.reason) &&
		    is(want.value, got.value) && is(want.min, got.min) &&
		    is(want.max, got.max)) {
		TH_LOG("line %d: object %u index %u field %u reason %u: %llu, %llu..%llu",
		       line, got.object, got.index, got.field, got.reason,
		       got.value, got.min, got.max);
	}
	EXPECT_EQ(self->generation, generation(self->control));
}

#define REFUSED(err, want) refused(_metadata, self, __LINE__, err, want)

/* The same while @bad is at @at. */
static void spoilt(struct __test_metadata *_metadata,
		   struct _test_data_refusal *self, int line, __u32 *at,
		   __u32 bad, struct kapf_config_error want)
{
	__u32 good = *at;

	*at = bad;
	refused(_metadata, self, line, EINVAL, want);
	*at = good;
}

#define SPOILT(lvalue, bad, want) \
	spoilt(_metadata, self, __LINE__, &(lvalue), bad, want)

/* The head */

TEST_F(refusal, magic)
{
	SPOILT(self->image.head.magic, KAPF_CONFIG_MAGIC + 1,
	       in_image(MAGIC, some_fault()));
}

TEST_F(refusal, server_seats)
{
	struct kapf_config *head = &self->image.head;

	head->max_requests_inflight = 0;
	REFUSED(EINVAL, in_image(SERVER_SEATS, range(0, 1, 65535)));
	head->max_requests_inflight = 65536;
	REFUSED(EINVAL, in_image(SERVER_SEATS, range(65536, 1, 65535)));
	head->max_mutating_requests_inflight = 1;
	head->max_requests_inflight = 65535;
	REFUSED(EINVAL, in_image(SERVER_SEATS, range(65536, 1, 65535)));
	/* A sum that overflows 32 bits. */
	head->max_requests_inflight = ~0u;
	head->max_mutating_requests_inflight = 2;
	REFUSED(EINVAL,
		in_image(SERVER_SEATS, range(0x100000001ULL, 1, 65535)));
	head->max_requests_inflight = 65534;
	head->max_mutating_requests_inflight = 1;
}

TEST_F(refusal, adjustment_period)
{
	__u32 *period = &self->image.head.adjustment_period_ms;

	SPOILT(*period, 99,
	       in_image(ADJUSTMENT_PERIOD, range(99, 100, 600000)));
	SPOILT(*period, 1, in_image(ADJUSTMENT_PERIOD, range(1, 100, 600000)));
	SPOILT(*period, 600001,
	       in_image(ADJUSTMENT_PERIOD, range(600001, 100, 600000)));
	SPOILT(*period, ~0u,
	       in_image(ADJUSTMENT_PERIOD, range(~0u, 100, 600000)));
}

TEST_F(refusal, numbers_of_records)
{
	__u32 *levels = &self->image.head.nr_levels;
	__u32 *schemas = &self->image.head.nr_schemas;

	SPOILT(*levels, 1, in_image(NR_LEVELS, range(1, 2, KAPF_MAX_LEVELS)));
	SPOILT(*levels, 0, in_image(NR_LEVELS, range(0, 2, KAPF_MAX_LEVELS)));
	SPOILT(*levels, 257,
	       in_image(NR_LEVELS, range(257, 2, KAPF_MAX_LEVELS)));
	SPOILT(*levels, ~0u,
	       in_image(NR_LEVELS, range(~0u, 2, KAPF_MAX_LEVELS)));
	SPOILT(*schemas, 1,
	       in_image(NR_SCHEMAS, range(1, 2, KAPF_MAX_SCHEMAS)));
	SPOILT(*schemas, 4097,
	       in_image(NR_SCHEMAS, range(4097, 2, KAPF_MAX_SCHEMAS)));
}

TEST_F(refusal, reserved)
{
	SPOILT(self->queues->reserved, 1, in_level(3, RESERVED, some_fault()));
	SPOILT(self->schema->reserved, 1, in_schema(2, RESERVED, some_fault()));
}

/* Names */

struct bad_name {
	const char *name;
	size_t len;
};

#define NAME(text) { text, sizeof(text) - 1 }
static const struct bad_name bad_names[] = {
	NAME(""), NAME("Upper"), NAME("under_score"), NAME("with space"),
	NAME("-leading"), NAME("trailing-"), NAME(".leading"),
	NAME("trailing."), NAME("two..dots"), NAME("dash-.dot"),
	NAME("dot.-dash"), NAME("\xc3\xa4"), NAME("new\nline"),
	NAME("slash/"), NAME("rubbish\0behind"), NAME("*"), NAME("a:b"),
};

static void set_name(char *to, const char *name, size_t len)
{
	memset(to, 0, KAPF_NAME_BYTES);
	memcpy(to, name, len);
}

static void bad_names_refused(struct __test_metadata *_metadata,
			      struct _test_data_refusal *self, char *at,
			      struct kapf_config_error want)
{
	char good[KAPF_NAME_BYTES];
	size_t i;

	memcpy(good, at, sizeof(good));
	for (i = 0; i < ARRAY_SIZE(bad_names); i++) {
		set_name(at, bad_names[i].name, bad_names[i].len);
		refused(_metadata, self, i, EINVAL, want);
	}
	memset(at, 0, KAPF_NAME_BYTES);
	memset(at, 'a', 254);
	REFUSED(EINVAL, want);
	memset(at, 'a', KAPF_NAME_BYTES);
	REFUSED(EINVAL, want);
	memcpy(at, good, sizeof(good));
}

TEST_F(refusal, level_name)
{
	bad_names_refused(_metadata, self, self->reject->name,
			  in_level(2, NAME, format()));
}

TEST_F(refusal, schema_name)
{
	bad_names_refused(_metadata, self, self->schema->name,
			  in_schema(2, NAME, format()));
}

TEST_F(refusal, level_of_a_schema)
{
	bad_names_refused(_metadata, self, self->schema->level,
			  in_schema(2, LEVEL, format()));
}

TEST_F(refusal, names_that_are_good)
{
	static const char *const names[] = {
		"a", "0", "a.b", "a-b", "9.9", "a--b", "x.y-z.0",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		set_name(self->reject->name, names[i], strlen(names[i]));
		set_name(self->schema->name, names[i], strlen(names[i]));
		set_name(self->schema->level, names[i], strlen(names[i]));
		EXPECT_EQ(0, set_image(self->control, &self->image, NULL));
	}
	memset(self->reject->name, 'a', 253);
	memset(self->schema->name, 'a', 253);
	memset(self->schema->level, 'a', 253);
	EXPECT_EQ(0, set_image(self->control, &self->image, NULL));
}

TEST_F(refusal, duplicates)
{
	struct kapf_config_schema *more, *later;

	set_name(self->queues->name, "reject", 6);
	REFUSED(EINVAL, in_level(3, NAME, duplicate()));
	set_name(self->queues->name, "queues", 6);
	more = image_schema(&self->image, "schema", 200, "reject", "[]");
	/* Of two the second; what comes after it is not looked at. */
	later = image_schema(&self->image, "later", 1, "reject", "[]");
	REFUSED(EINVAL, in_schema(3, NAME, duplicate()));
	set_name(more->name, "other", 5);
	later->precedence = 200;
}

TEST_F(refusal, uid_conflict)
{
	size_t len;
	char *bytes = get_image(self->control, &len);
	__u8 uid[KAPF_UID_BYTES];

	memcpy(uid, find_level(bytes, "queues")->uid, sizeof(uid));
	self->queues->uid[3] = 1;
	REFUSED(EINVAL, in_level(3, UID, conflict()));
	memcpy(self->queues->uid, uid, sizeof(uid));
	self->queues->uid[15] ^= 1;
	REFUSED(EINVAL, in_level(3, UID, conflict()));
	self->queues->uid[15] ^= 1;
	memcpy(uid, find_schema(bytes, "schema")->uid, sizeof(uid));
	self->schema->uid[0] = 1;
	REFUSED(EINVAL, in_schema(2, UID, conflict()));
	memcpy(self->schema->uid, uid, sizeof(uid));
	free(bytes);
}

/* Levels */

TEST_F(refusal, type)
{
	SPOILT(self->reject->type, 0, in_level(2, TYPE, range(0, ANY, 3)));
	SPOILT(self->reject->type, 4, in_level(2, TYPE, range(4, ANY, 3)));
	SPOILT(self->reject->type, KAPF_LEVEL_EXEMPT,
	       in_level(2, TYPE, range(1, 2, 3)));
}

TEST_F(refusal, shares)
{
	SPOILT(self->reject->nominal_shares, 0x80000000,
	       in_level(2, NOMINAL_SHARES, range(0x80000000, 0, 0x7fffffff)));
	SPOILT(self->exempt->nominal_shares, ~0u,
	       in_level(0, NOMINAL_SHARES, range(~0u, 0, 0x7fffffff)));
}

TEST_F(refusal, lendable)
{
	SPOILT(self->reject->lendable_percent, 101,
	       in_level(2, LENDABLE_PERCENT, range(101, 0, 100)));
	SPOILT(self->exempt->lendable_percent, 101,
	       in_level(0, LENDABLE_PERCENT, range(101, 0, 100)));
}

TEST_F(refusal, borrowing)
{
	SPOILT(self->reject->borrowing_limit_percent, 0x80000000,
	       in_level(2, BORROWING_LIMIT_PERCENT,
			range(0x80000000, 0, 0x7fffffff)));
	SPOILT(self->reject->borrowing_limit_percent, ~0u - 1,
	       in_level(2, BORROWING_LIMIT_PERCENT,
			range(~0u - 1, 0, 0x7fffffff)));
}

TEST_F(refusal, queuing_of_a_level_that_queues)
{
	struct kapf_config_level *queues = self->queues;

	SPOILT(queues->queues, 0, in_level(3, QUEUES, range(0, 1, 10000000)));
	SPOILT(queues->queues, 10000001,
	       in_level(3, QUEUES, range(10000001, 1, 10000000)));
	SPOILT(queues->hand_size, 0, in_level(3, HAND_SIZE, range(0, 1, ANY)));
	SPOILT(queues->hand_size, 16, in_level(3, HAND_SIZE, range(16, 1, 15)));
	SPOILT(queues->queue_length_limit, 0,
	       in_level(3, QUEUE_LENGTH_LIMIT, range(0, 1, 0x7fffffff)));
	SPOILT(queues->queue_length_limit, 0x80000000,
	       in_level(3, QUEUE_LENGTH_LIMIT,
			range(0x80000000, 1, 0x7fffffff)));
	queues->queues = 5;
	SPOILT(queues->hand_size, 6, in_level(3, HAND_SIZE, range(6, 1, 5)));
	queues->queues = 64;
}

TEST_F(refusal, queuing_of_levels_that_do_not_queue)
{
	SPOILT(self->reject->queues, 1, in_level(2, QUEUES, range(1, 0, 0)));
	SPOILT(self->reject->hand_size, 1,
	       in_level(2, HAND_SIZE, range(1, 0, 0)));
	SPOILT(self->reject->queue_length_limit, 1,
	       in_level(2, QUEUE_LENGTH_LIMIT, range(1, 0, 0)));
	SPOILT(self->exempt->queues, 1, in_level(0, QUEUES, some_fault()));
	SPOILT(self->exempt->hand_size, 1,
	       in_level(0, HAND_SIZE, some_fault()));
	SPOILT(self->exempt->queue_length_limit, 1,
	       in_level(0, QUEUE_LENGTH_LIMIT, some_fault()));
}

TEST_F(refusal, too_many_hands)
{
	/* The largest hand that 60 bits of hash can deal from so many queues */
	static const struct {
		__u32 queues;
		__u32 hand_size;
	} largest[] = {
		{ 1024, 6 }, { 1025, 5 }, { 512, 6 }, { 64, 10 }, { 65, 9 },
		{ 32, 12 }, { 16, 15 }, { 17, 14 }, { 16384, 4 },
	};
	struct kapf_config_level *queues = self->queues;
	__u32 hand_size;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(largest); i++) {
		hand_size = largest[i].hand_size;
		queues->queues = largest[i].queues;
		queues->hand_size = hand_size;
		ASSERT_EQ(0, set_image(self->control, &self->image, NULL));
		self->generation++;
		if (hand_size < KAPF_MAX_HAND_SIZE)
			SPOILT(queues->hand_size, hand_size + 1,
			       in_level(3, HAND_SIZE,
					fault(KAPF_REASON_DECK, hand_size + 1,
					      ANY, hand_size)));
	}
}

TEST_F(refusal, more_queues_than_the_instance_allows)
{
	struct kapf_info info = { .size = sizeof(info) };
	struct kapf_config_level *queues = self->queues;
	struct kapf_config_level *more;

	ASSERT_EQ(0, call(self->control, KAPF_GET_INFO, &info));
	queues->hand_size = 1;
	queues->queues = info.max_queues + 1;
	REFUSED(ENOSPC, in_level(3, QUEUES, limit(info.max_queues)));
	queues->queues = KAPF_MAX_QUEUES;
	REFUSED(ENOSPC, in_level(3, QUEUES, limit(info.max_queues)));
	queues->queues = info.max_queues;
	more = image_queues(&self->image, "more", 1, 1, 1, 1);
	REFUSED(ENOSPC, in_level(4, QUEUES, limit(info.max_queues)));
	queues->queues = info.max_queues - more->queues;
}

/* Schemas */

TEST_F(refusal, precedence)
{
	SPOILT(self->schema->precedence, 0,
	       in_schema(2, PRECEDENCE, range(0, ANY, 10000)));
	SPOILT(self->schema->precedence, 1,
	       in_schema(2, PRECEDENCE, range(1, 2, 10000)));
	SPOILT(self->schema->precedence, 10001,
	       in_schema(2, PRECEDENCE, range(10001, ANY, 10000)));
}

TEST_F(refusal, distinguisher)
{
	SPOILT(self->schema->distinguisher, 3,
	       in_schema(2, DISTINGUISHER, range(3, 0, 2)));
}

/* Mandatory objects */

TEST_F(refusal, mandatory_missing)
{
	set_name(self->exempt->name, "exempted", 8);
	self->exempt->type = KAPF_LEVEL_REJECT;
	REFUSED(EINVAL, in_level(0, NAME, missing(0)));
	self->exempt->type = KAPF_LEVEL_EXEMPT;
	set_name(self->exempt->name, "exempt", 6);

	set_name(self->catch_all->name, "catch-most", 10);
	REFUSED(EINVAL, in_level(0, NAME, missing(1)));
	set_name(self->catch_all->name, "catch-all", 9);

	set_name(self->exempt_schema->name, "exempted", 8);
	self->exempt_schema->precedence = 2;
	REFUSED(EINVAL, in_schema(0, NAME, missing(0)));
	self->exempt_schema->precedence = 1;
	set_name(self->exempt_schema->name, "exempt", 6);

	set_name(self->catch_all_schema->name, "catch-most", 10);
	REFUSED(EINVAL, in_schema(0, NAME, missing(1)));
	set_name(self->catch_all_schema->name, "catch-all", 9);
}

TEST_F(refusal, mandatory_levels_changed)
{
	SPOILT(self->exempt->type, KAPF_LEVEL_REJECT,
	       in_level(0, TYPE, immutable(2, 1)));
	SPOILT(self->exempt->borrowing_limit_percent, 0,
	       in_level(0, BORROWING_LIMIT_PERCENT, immutable(0, ~0u)));
	SPOILT(self->catch_all->type, KAPF_LEVEL_EXEMPT,
	       in_level(1, TYPE, some_fault()));
	self->catch_all->queues = 2;
	self->catch_all->hand_size = 1;
	self->catch_all->queue_length_limit = 1;
	SPOILT(self->catch_all->type, KAPF_LEVEL_QUEUE,
	       in_level(1, TYPE, immutable(3, 2)));
	self->catch_all->queues = 0;
	self->catch_all->hand_size = 0;
	self->catch_all->queue_length_limit = 0;
	SPOILT(self->catch_all->nominal_shares, 6,
	       in_level(1, NOMINAL_SHARES, immutable(6, 5)));
	SPOILT(self->catch_all->lendable_percent, 1,
	       in_level(1, LENDABLE_PERCENT, immutable(1, 0)));
	SPOILT(self->catch_all->borrowing_limit_percent, 100,
	       in_level(1, BORROWING_LIMIT_PERCENT, immutable(100, ~0u)));
}

TEST_F(refusal, mandatory_schemas_changed)
{
	struct kapf_config_schema *exempt = self->exempt_schema;
	struct kapf_config_schema *catch_all = self->catch_all_schema;
	char *rules = (char *)(catch_all + 1);

	SPOILT(exempt->precedence, 2,
	       in_schema(0, PRECEDENCE, immutable(2, 1)));
	SPOILT(exempt->distinguisher, KAPF_BY_USER,
	       in_schema(0, DISTINGUISHER, immutable(1, 0)));
	set_name(exempt->level, "reject", 6);
	REFUSED(EINVAL, in_schema(0, LEVEL, changed()));
	set_name(exempt->level, "exempt", 6);
	((char *)(exempt + 1))[20] ^= 1;
	REFUSED(EINVAL, in_schema(0, RULES, changed()));
	((char *)(exempt + 1))[20] ^= 1;

	SPOILT(catch_all->precedence, 9999,
	       in_schema(1, PRECEDENCE, immutable(9999, 10000)));
	SPOILT(catch_all->distinguisher, KAPF_BY_NAMESPACE,
	       in_schema(1, DISTINGUISHER, immutable(2, 1)));
	set_name(catch_all->level, "reject", 6);
	REFUSED(EINVAL, in_schema(1, LEVEL, changed()));
	set_name(catch_all->level, "catch-all", 9);
	rules[0] = ' ';
	REFUSED(EINVAL, in_schema(1, RULES, changed()));
	rules[0] = '[';
	/* One byte less, which is then padding. */
	rules[catch_all->rules_len - 1] = '\0';
	SPOILT(catch_all->rules_len, catch_all->rules_len - 1,
	       in_schema(1, RULES, changed()));
	rules[catch_all->rules_len - 1] = ']';
}

/* The form of the image */

TEST_F(refusal, blobs_too_long)
{
	char rules[KAPF_MAX_BLOB_BYTES + 8] = "";
	struct kapf_config_schema *schema;
	struct kapf_config_level *level;

	memset(rules, ' ', KAPF_MAX_BLOB_BYTES);
	schema = image_schema(&self->image, "long", 5, "reject", rules);
	EXPECT_EQ(0, set_image(self->control, &self->image, NULL));
	self->generation++;
	self->image.schemas_len += 8;
	schema->record_size += 8;
	SPOILT(schema->rules_len, KAPF_MAX_BLOB_BYTES + 1,
	       in_schema(3, RULES,
			 range(KAPF_MAX_BLOB_BYTES + 1, 0,
			       KAPF_MAX_BLOB_BYTES)));
	schema->rules_len = 0;
	SPOILT(schema->metadata_len, KAPF_MAX_BLOB_BYTES + 1,
	       in_schema(3, METADATA,
			 range(KAPF_MAX_BLOB_BYTES + 1, 0,
			       KAPF_MAX_BLOB_BYTES)));
	self->image.schemas_len -= schema->record_size;
	self->image.head.nr_schemas--;

	level = image_level(&self->image, "long", KAPF_LEVEL_REJECT, 1);
	level->record_size += KAPF_MAX_BLOB_BYTES + 8;
	self->image.levels_len += KAPF_MAX_BLOB_BYTES + 8;
	SPOILT(level->metadata_len, KAPF_MAX_BLOB_BYTES + 1,
	       in_level(4, METADATA,
			range(KAPF_MAX_BLOB_BYTES + 1, 0,
			      KAPF_MAX_BLOB_BYTES)));
	level->record_size -= 8;
	self->image.levels_len -= 8;
	level->metadata_len = KAPF_MAX_BLOB_BYTES;
}

TEST_F(refusal, record_size_that_lies)
{
	__u32 good = self->queues->record_size;
	const __u32 sizes[] = { 0, 1, 7, 8, good - 8, good + 1, good + 8,
				good * 2, 1 << 20, 0x7ffffff8, ~0u - 7, ~0u };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		SPOILT(self->queues->record_size, sizes[i],
		       in_level(3, RECORD_SIZE, some_fault()));
		SPOILT(self->schema->record_size, sizes[i],
		       in_schema(2, RECORD_SIZE, some_fault()));
	}
}

TEST_F(refusal, blob_lengths_that_lie)
{
	const __u32 lengths[] = { 9, 4096, 0x7fffffff, ~0u - 7, ~0u };
	struct kapf_config_error error;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		self->queues->metadata_len = lengths[i];
		EXPECT_EQ(-EINVAL, set_image(self->control, &self->image,
					     &error));
		EXPECT_EQ(KAPF_OBJECT_LEVEL, error.object);
		EXPECT_EQ(3, error.index);
		self->queues->metadata_len = 0;
		self->schema->rules_len = lengths[i];
		EXPECT_EQ(-EINVAL, set_image(self->control, &self->image,
					     &error));
		EXPECT_EQ(KAPF_OBJECT_SCHEMA, error.object);
		EXPECT_EQ(2, error.index);
		self->schema->rules_len = 2;
	}
	/* Two lengths whose sum overflows to what the record holds. */
	self->schema->rules_len = 0x80000001;
	self->schema->metadata_len = 0x80000001;
	EXPECT_EQ(-EINVAL, set_image(self->control, &self->image, &error));
	EXPECT_EQ(KAPF_OBJECT_SCHEMA, error.object);
	self->schema->rules_len = 2;
	self->schema->metadata_len = 0;
}

TEST_F(refusal, padding_that_is_not_zero)
{
	struct kapf_config_error error;

	((char *)(self->schema + 1))[7] = 1;
	EXPECT_EQ(-EINVAL, set_image(self->control, &self->image, &error));
	EXPECT_EQ(KAPF_OBJECT_SCHEMA, error.object);
	EXPECT_EQ(2, error.index);
	((char *)(self->schema + 1))[7] = 0;
}

TEST_F(refusal, success_reports_nothing)
{
	static const struct kapf_config_error none;
	struct kapf_config_error error;

	EXPECT_EQ(0, set_image(self->control, &self->image, &error));
	EXPECT_EQ(0, memcmp(&none, &error, sizeof(none)));
}

TEST_HARNESS_MAIN
