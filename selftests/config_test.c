// SPDX-License-Identifier: GPL-2.0
/*
 * The configuration as a whole: reading it, replacing it by compare-and-swap,
 * what stays the same from one to the next, the nominal limits that follow from
 * it, and when it cannot be replaced.  What a single field may hold is
 * refusal_test.c's.
 */
#include "kapf_test.h"

FIXTURE(config) {
	int control;
	struct image image;
};

FIXTURE_SETUP(config)
{
	self->control = open_node(CONTROL_NODE, O_RDWR);
	set_up_bare(self->control);
	image_init(&self->image);
}

FIXTURE_TEARDOWN(config)
{
	image_free(&self->image);
	close(self->control);
}

/* SET_CONFIG of self->image has to work. */
#define SET() ASSERT_EQ(0, set_image(self->control, &self->image, NULL))

TEST_F(config, get_writes_image_length_and_generation)
{
	struct kapf_get_config get = { .size = sizeof(get) };
	struct kapf_config *head;
	size_t len;
	char *bytes = get_image(self->control, &len);

	head = (void *)bytes;
	EXPECT_EQ(KAPF_CONFIG_MAGIC, head->magic);
	EXPECT_EQ(5, head->max_requests_inflight);
	EXPECT_EQ(2, head->nr_levels);
	EXPECT_EQ(2, head->nr_schemas);
	EXPECT_EQ(0, len % 8);
	ASSERT_NE(NULL, find_level(bytes, "exempt"));
	ASSERT_NE(NULL, find_level(bytes, "catch-all"));
	ASSERT_NE(NULL, find_schema(bytes, "exempt"));
	ASSERT_NE(NULL, find_schema(bytes, "catch-all"));
	EXPECT_EQ(-ERANGE, call(self->control, KAPF_GET_CONFIG, &get));
	EXPECT_EQ(len, get.image_len);
	EXPECT_LE(1, get.generation);
	free(bytes);
}

TEST_F(config, get_with_one_byte_too_little_writes_no_image)
{
	struct kapf_get_config get = { .size = sizeof(get) };
	size_t len, i;
	char *bytes = get_image(self->control, &len);

	memset(bytes, 0x5a, len);
	get.image = (uintptr_t)bytes;
	get.image_len = len - 1;
	EXPECT_EQ(-ERANGE, call(self->control, KAPF_GET_CONFIG, &get));
	EXPECT_EQ(len, get.image_len);
	for (i = 0; i < len; i++)
		ASSERT_EQ(0x5a, bytes[i]);
	EXPECT_EQ(0, call(self->control, KAPF_GET_CONFIG, &get));
	EXPECT_EQ(len, get.image_len);
	free(bytes);
}

TEST_F(config, generation_counts_changes)
{
	__u64 before = generation(self->control);
	struct kapf_set_config set = { .size = sizeof(set) };
	size_t len;
	char *bytes = image_pack(&self->image, &len);

	set.image = (uintptr_t)bytes;
	set.image_len = len;
	set.generation = before;
	ASSERT_EQ(0, call(self->control, KAPF_SET_CONFIG, &set));
	EXPECT_EQ(before + 1, set.generation);
	EXPECT_EQ(before + 1, generation(self->control));
	free(bytes);
}

TEST_F(config, stale_generation_changes_nothing)
{
	__u64 before = generation(self->control);
	struct kapf_set_config set = { .size = sizeof(set) };
	const long long off[] = { -1, 1, 1LL << 32 };
	size_t len, i;
	char *bytes;

	image_level(&self->image, "new", KAPF_LEVEL_REJECT, 1);
	bytes = image_pack(&self->image, &len);
	set.image = (uintptr_t)bytes;
	set.image_len = len;
	for (i = 0; i < ARRAY_SIZE(off); i++) {
		set.generation = before + off[i];
		EXPECT_EQ(-ESTALE, call(self->control, KAPF_SET_CONFIG, &set));
	}
	/* Whatever is wrong with it, it has to be made anew. */
	((struct kapf_config *)bytes)->magic++;
	EXPECT_EQ(-ESTALE, call(self->control, KAPF_SET_CONFIG, &set));
	EXPECT_EQ(KAPF_REASON_NONE, set.error.reason);
	free(bytes);
	EXPECT_EQ(before, generation(self->control));
	bytes = get_image(self->control, &len);
	EXPECT_EQ(NULL, find_level(bytes, "new"));
	free(bytes);
}

TEST_F(config, image_of_get_can_be_set_again)
{
	struct kapf_config_level *level;
	struct kapf_config_schema *schema;
	size_t len, again_len;
	char *bytes, *again;

	level = image_queues(&self->image, "queues", 7, 9, 3, 11);
	level->lendable_percent = 33;
	level->borrowing_limit_percent = 250;
	level->metadata_len = 5;
	memcpy(level + 1, "abcd\n", 5);
	level->record_size += 8;
	self->image.levels_len += 8;
	image_level(&self->image, "reject", KAPF_LEVEL_REJECT, 0);
	schema = image_schema(&self->image, "one", 77, "queues", "[{}]");
	schema->distinguisher = KAPF_BY_NAMESPACE;
	schema->metadata_len = 3;
	memcpy((char *)(schema + 1) + 4, "xyz", 3);
	image_schema(&self->image, "two", 78, "nowhere", "");
	self->image.head.max_mutating_requests_inflight = 40;
	SET();

	bytes = get_image(self->control, &len);
	ASSERT_EQ(0, set_bytes(self->control, bytes, len, NULL));
	again = get_image(self->control, &again_len);
	ASSERT_EQ(len, again_len);
	EXPECT_EQ(0, memcmp(bytes, again, len));

	EXPECT_EQ(40, ((struct kapf_config *)again)
		  ->max_mutating_requests_inflight);
	level = find_level(again, "queues");
	ASSERT_NE(NULL, level);
	EXPECT_EQ(KAPF_LEVEL_QUEUE, level->type);
	EXPECT_EQ(7, level->nominal_shares);
	EXPECT_EQ(9, level->queues);
	EXPECT_EQ(3, level->hand_size);
	EXPECT_EQ(11, level->queue_length_limit);
	EXPECT_EQ(33, level->lendable_percent);
	EXPECT_EQ(250, level->borrowing_limit_percent);
	ASSERT_EQ(5, level->metadata_len);
	EXPECT_EQ(0, memcmp(level + 1, "abcd\n\0\0", 8));
	schema = find_schema(again, "one");
	ASSERT_NE(NULL, schema);
	EXPECT_EQ(77, schema->precedence);
	EXPECT_EQ(KAPF_BY_NAMESPACE, schema->distinguisher);
	EXPECT_STREQ("queues", schema->level);
	EXPECT_EQ(0, schema->flags);
	ASSERT_EQ(4, schema->rules_len);
	ASSERT_EQ(3, schema->metadata_len);
	EXPECT_EQ(0, memcmp(schema + 1, "[{}]xyz", 8));
	free(bytes);
	free(again);
}

TEST_F(config, missing_level_makes_schema_dangle)
{
	struct kapf_config_schema *schema;
	size_t len;
	char *bytes;

	image_schema(&self->image, "loose", 50, "later", "[]");
	SET();
	bytes = get_image(self->control, &len);
	schema = find_schema(bytes, "loose");
	ASSERT_NE(NULL, schema);
	EXPECT_EQ(KAPF_SCHEMA_DANGLING, schema->flags);
	EXPECT_STREQ("later", schema->level);
	free(bytes);

	image_level(&self->image, "later", KAPF_LEVEL_REJECT, 1);
	SET();
	bytes = get_image(self->control, &len);
	EXPECT_EQ(0, find_schema(bytes, "loose")->flags);
	free(bytes);
}

TEST_F(config, ids_and_uids_stay_while_the_name_lives)
{
	struct kapf_config_level level;
	struct kapf_config_schema schema;
	size_t len;
	char *bytes;

	image_level(&self->image, "stay", KAPF_LEVEL_REJECT, 1);
	image_schema(&self->image, "stay", 50, "stay", "[]");
	SET();
	bytes = get_image(self->control, &len);
	level = *find_level(bytes, "stay");
	schema = *find_schema(bytes, "stay");
	free(bytes);

	/* Others come before it, and its fields change. */
	image_free(&self->image);
	image_init(&self->image);
	image_level(&self->image, "other", KAPF_LEVEL_REJECT, 1);
	image_queues(&self->image, "stay", 9, 4, 2, 5);
	image_schema(&self->image, "other", 40, "stay", "[]");
	image_schema(&self->image, "stay", 60, "other", "[1]");
	SET();
	bytes = get_image(self->control, &len);
	EXPECT_EQ(level.id, find_level(bytes, "stay")->id);
	EXPECT_EQ(0, memcmp(level.uid, find_level(bytes, "stay")->uid,
			    KAPF_UID_BYTES));
	EXPECT_EQ(schema.id, find_schema(bytes, "stay")->id);
	EXPECT_EQ(0, memcmp(schema.uid, find_schema(bytes, "stay")->uid,
			    KAPF_UID_BYTES));
	free(bytes);
}

TEST_F(config, new_names_get_new_ids_and_uids)
{
	static const __u8 zero[KAPF_UID_BYTES];
	struct kapf_config_level level;
	struct kapf_config_schema schema;
	size_t len;
	char *bytes;

	image_level(&self->image, "again", KAPF_LEVEL_REJECT, 1);
	image_schema(&self->image, "again", 50, "again", "[]");
	image_schema(&self->image, "again2", 50, "again", "[]");
	SET();
	bytes = get_image(self->control, &len);
	level = *find_level(bytes, "again");
	schema = *find_schema(bytes, "again");
	EXPECT_NE(0, memcmp(level.uid, zero, sizeof(zero)));
	EXPECT_NE(0, memcmp(schema.uid, zero, sizeof(zero)));
	EXPECT_NE(0, memcmp(schema.uid, level.uid, sizeof(zero)));
	EXPECT_NE(0, memcmp(schema.uid, find_schema(bytes, "again2")->uid,
			    sizeof(zero)));
	EXPECT_NE(schema.id, find_schema(bytes, "again2")->id);
	EXPECT_NE(0, schema.id);
	free(bytes);

	set_up_bare(self->control);
	SET();
	bytes = get_image(self->control, &len);
	EXPECT_LT(schema.id, find_schema(bytes, "again")->id);
	EXPECT_NE(level.id, find_level(bytes, "again")->id);
	EXPECT_NE(0, memcmp(level.uid, find_level(bytes, "again")->uid,
			    sizeof(zero)));
	EXPECT_NE(0, memcmp(schema.uid, find_schema(bytes, "again")->uid,
			    sizeof(zero)));
	free(bytes);
}

TEST_F(config, counters_of_a_level_outlive_a_change_of_another)
{
	__u32 schema;
	int fd;

	image_queues(&self->image, "test", 2, 1, 1, 1);
	image_schema(&self->image, "test", 50, "test", "[]");
	SET();
	schema = schema_id(self->control, "test");
	fd = open_session(1);
	ASSERT_EQ(KAPF_EXECUTE, admit(fd, 0, schema));
	ASSERT_EQ(0, finish(fd, 0));
	image_level(&self->image, "other", KAPF_LEVEL_REJECT, 1);
	SET();
	EXPECT_EQ(1, level_stats(self->control, "test").dispatched);
	ASSERT_EQ(KAPF_EXECUTE, admit(fd, 0, schema));
	EXPECT_EQ(2, level_stats(self->control, "test").dispatched);
	close(fd);
}

/* Levels of the default configuration: name and shares. */
static const struct {
	const char *name;
	__u32 shares;
	__u32 nominal;
	__u32 diluted;	/* with one more level of 10 shares */
} defaults[] = {
	{ "system",		30,  74,  71 },
	{ "node-high",		40,  98,  95 },
	{ "leader-election",	10,  25,  24 },
	{ "workload-high",	40,  98,  95 },
	{ "workload-low",	100, 245, 236 },
	{ "global-default",	20,  49,  48 },
	{ "catch-all",		5,   13,  12 },
	{ "exempt",		0,   0,   0 },
};

TEST_F(config, nominal_limits_of_the_default_levels)
{
	struct kapf_config_level *level;
	struct kapf_level_stats stats;
	size_t len, i;
	char *bytes;

	for (i = 0; i < 6; i++)
		image_queues(&self->image, defaults[i].name,
			     defaults[i].shares, 16, 4, 50);
	self->image.head.max_requests_inflight = 400;
	self->image.head.max_mutating_requests_inflight = 200;
	SET();
	bytes = get_image(self->control, &len);
	for (i = 0; i < ARRAY_SIZE(defaults); i++) {
		level = find_level(bytes, defaults[i].name);
		ASSERT_NE(NULL, level);
		EXPECT_EQ(defaults[i].nominal, level->nominal_seats);
		stats = level_stats(self->control, defaults[i].name);
		EXPECT_EQ(defaults[i].nominal, stats.nominal_seats);
		EXPECT_EQ(defaults[i].nominal, stats.current_seats);
	}
	free(bytes);

	image_queues(&self->image, "agents", 10, 16, 4, 50);
	self->image.head.max_requests_inflight = 400;
	SET();
	bytes = get_image(self->control, &len);
	EXPECT_EQ(24, find_level(bytes, "agents")->nominal_seats);
	for (i = 0; i < ARRAY_SIZE(defaults); i++) {
		level = find_level(bytes, defaults[i].name);
		EXPECT_EQ(defaults[i].diluted, level->nominal_seats);
	}
	free(bytes);
}

TEST_F(config, nominal_limits_at_the_ends)
{
	struct kapf_config_level *level;
	size_t len;
	char *bytes;

	/* The largest budget and shares: no overflow. */
	level = image_level(&self->image, "big", KAPF_LEVEL_REJECT, 0);
	level->nominal_shares = 0x7fffffff;
	level = image_level(&self->image, "as-big", KAPF_LEVEL_REJECT, 0);
	level->nominal_shares = 0x7fffffff;
	self->image.head.max_requests_inflight = 0;
	self->image.head.max_mutating_requests_inflight = 65535;
	SET();
	bytes = get_image(self->control, &len);
	EXPECT_EQ(32768, find_level(bytes, "big")->nominal_seats);
	EXPECT_EQ(32768, find_level(bytes, "as-big")->nominal_seats);
	EXPECT_EQ(1, find_level(bytes, "catch-all")->nominal_seats);
	EXPECT_EQ(0, find_level(bytes, "exempt")->nominal_seats);
	free(bytes);
}

TEST_F(config, exempt_shares_and_lendable_may_be_chosen)
{
	struct kapf_config_level *exempt = (void *)self->image.levels;
	size_t len;
	char *bytes;

	exempt->nominal_shares = 15;
	exempt->lendable_percent = 100;
	self->image.head.max_requests_inflight = 20;
	SET();
	bytes = get_image(self->control, &len);
	EXPECT_EQ(15, find_level(bytes, "exempt")->nominal_shares);
	EXPECT_EQ(100, find_level(bytes, "exempt")->lendable_percent);
	EXPECT_EQ(15, find_level(bytes, "exempt")->nominal_seats);
	EXPECT_EQ(5, find_level(bytes, "catch-all")->nominal_seats);
	free(bytes);
}

TEST_F(config, as_many_objects_as_allowed)
{
	char name[32];
	__u32 i;

	for (i = 2; i < KAPF_MAX_LEVELS; i++) {
		snprintf(name, sizeof(name), "level-%u", i);
		image_queues(&self->image, name, 1, 2, 1, 1);
	}
	for (i = 2; i < KAPF_MAX_SCHEMAS; i++) {
		snprintf(name, sizeof(name), "schema-%u", i);
		image_schema(&self->image, name, 2 + i, "level-2", "[]");
	}
	SET();
	EXPECT_NE(0, schema_id(self->control, name));
	set_up_bare(self->control);
}

TEST_F(config, adjustment_period)
{
	static const struct {
		__u32 in, out;
	} periods[] = {
		{ 0, 10000 }, { 100, 100 }, { 600000, 600000 },
	};
	size_t len, i;
	char *bytes;

	for (i = 0; i < ARRAY_SIZE(periods); i++) {
		self->image.head.adjustment_period_ms = periods[i].in;
		SET();
		bytes = get_image(self->control, &len);
		EXPECT_EQ(periods[i].out, ((struct kapf_config *)bytes)
			  ->adjustment_period_ms);
		free(bytes);
	}
}

/* metadata.generation and metadata.resourceVersion of what is called "test" */
struct versions {
	__u64 level_spec;
	__u64 level;
	__u64 schema_spec;
	__u64 schema;
};

static struct versions versions(int control)
{
	struct kapf_config_schema *schema;
	struct kapf_config_level *level;
	struct versions versions;
	size_t len;
	char *bytes = get_image(control, &len);

	level = find_level(bytes, "test");
	schema = find_schema(bytes, "test");
	if (!level || !schema)
		die("GET_CONFIG");
	versions = (struct versions){
		level->spec_generation, level->resource_version,
		schema->spec_generation, schema->resource_version,
	};
	free(bytes);
	return versions;
}

/* A change adds so much to the generations of the specs, and is the last one. */
#define CHANGES(level_spec_, level_, schema_spec_, schema_)		\
	do {								\
		struct versions now_;					\
		__u64 last_ = generation(self->control) + 1;		\
									\
		SET();							\
		now_ = versions(self->control);				\
		EXPECT_EQ(was.level_spec + (level_spec_),		\
			  now_.level_spec);			\
		EXPECT_EQ((level_) ? last_ : was.level, now_.level);	\
		EXPECT_EQ(was.schema_spec + (schema_spec_),		\
			  now_.schema_spec);			\
		EXPECT_EQ((schema_) ? last_ : was.schema, now_.schema);	\
		was = now_;						\
	} while (0)

TEST_F(config, versions_of_objects)
{
	struct kapf_config_schema *schema;
	struct kapf_config_level *level;
	struct versions was = { };
	__u32 *fields[4];
	size_t i;

	level = image_queues(&self->image, "test", 2, 4, 2, 5);
	level->metadata_len = 4;
	level->record_size += 8;
	self->image.levels_len += 8;
	image_level(&self->image, "other", KAPF_LEVEL_REJECT, 1);
	schema = image_schema(&self->image, "test", 50, "test", "[1]");
	schema->metadata_len = 4;
	CHANGES(1, true, 1, true);
	CHANGES(0, false, 0, false);

	/* Others, and the budget, are not theirs. */
	image_level(&self->image, "third", KAPF_LEVEL_REJECT, 1);
	self->image.head.adjustment_period_ms = 20000;
	CHANGES(0, false, 0, false);
	/* Metadata is not of the spec. */
	memcpy(level + 1, "meta", 4);
	CHANGES(0, true, 0, false);
	memcpy((char *)(schema + 1) + 3, "data", 4);
	CHANGES(0, false, 0, true);

	fields[0] = &level->nominal_shares;
	fields[1] = &level->lendable_percent;
	fields[2] = &level->queues;
	fields[3] = &level->queue_length_limit;
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		++*fields[i];
		CHANGES(1, true, 0, false);
	}
	level->borrowing_limit_percent = 50;
	CHANGES(1, true, 0, false);
	level->hand_size = 1;
	CHANGES(1, true, 0, false);
	schema->precedence++;
	CHANGES(0, false, 1, true);
	schema->distinguisher = KAPF_BY_USER;
	CHANGES(0, false, 1, true);
	memcpy(schema + 1, "[2]", 3);
	CHANGES(0, false, 1, true);
	memcpy(schema->level, "other\0", 6);
	CHANGES(0, false, 1, true);
	/* It is seen to dangle, which is of its status. */
	memcpy(schema->level, "loose\0", 6);
	CHANGES(0, false, 1, true);
	image_level(&self->image, "loose", KAPF_LEVEL_REJECT, 1);
	CHANGES(0, false, 0, true);
}

/* Who may do what */

TEST_F(config, read_only_control_node_cannot_set)
{
	int fd = open_node(CONTROL_NODE, O_RDONLY);
	__u64 before = generation(fd);

	EXPECT_EQ(-EPERM, set_image(fd, &self->image, NULL));
	EXPECT_EQ(before, generation(fd));
	close(fd);
}

TEST_F(config, write_only_control_node_can_set)
{
	int fd = open_node(CONTROL_NODE, O_WRONLY);

	EXPECT_EQ(0, set_image(fd, &self->image, NULL));
	close(fd);
}

TEST_F(config, submit_node_reads_the_same_image)
{
	int fd = open_session(1);
	size_t len, own_len;
	char *bytes = get_image(self->control, &len);
	char *own = get_image(fd, &own_len);

	ASSERT_EQ(len, own_len);
	EXPECT_EQ(0, memcmp(bytes, own, len));
	free(bytes);
	free(own);
	close(fd);
}

/* Sixteen changers at a time: each generation is made by exactly one. */
struct changer {
	pthread_t thread;
	int control;
	const struct image *image;
	int done;
};

static void *change(void *arg)
{
	struct changer *changer = arg;
	int i, ret;

	for (i = 0; i < 25; i++) {
		ret = set_image(changer->control, changer->image, NULL);
		if (!ret)
			changer->done++;
		else if (ret != -ESTALE)
			return (void *)(long)ret;
	}
	return NULL;
}

TEST_F(config, concurrent_changes_lose_none)
{
	struct changer changers[16];
	__u64 before = generation(self->control);
	size_t i;
	int done = 0;
	void *ret;

	for (i = 0; i < ARRAY_SIZE(changers); i++) {
		changers[i] = (struct changer){ .control = self->control,
						.image = &self->image };
		ASSERT_EQ(0, pthread_create(&changers[i].thread, NULL, change,
					    &changers[i]));
	}
	for (i = 0; i < ARRAY_SIZE(changers); i++) {
		pthread_join(changers[i].thread, &ret);
		EXPECT_EQ(NULL, ret);
		done += changers[i].done;
	}
	EXPECT_LE(1, done);
	EXPECT_EQ(before + done, generation(self->control));
}

TEST_HARNESS_MAIN
