// SPDX-License-Identifier: GPL-2.0
/*
 * What drains takes room as what is configured does: where there is none left a
 * configuration is refused, and changes nothing.
 */
#include "kapf_test.h"

#define SLOTS 256

FIXTURE(room) {
	int control;
	int fd;
	struct image image;
};

FIXTURE_SETUP(room)
{
	self->control = open_node(CONTROL_NODE, O_RDWR);
	self->fd = open_session(SLOTS);
	set_up_bare(self->control);
	image_init(&self->image);
}

FIXTURE_TEARDOWN(room)
{
	image_free(&self->image);
	close(self->fd);
	close(self->control);
}

static void begin_anew(struct _test_data_room *self)
{
	image_free(&self->image);
	image_init(&self->image);
}

/* Configuration and draining objects, to be compared */
struct state {
	char *image;
	size_t len;
	struct kapf_get_stats stats;
};

static void state_get(struct state *state, int control)
{
	state->image = get_image(control, &state->len);
	memset(&state->stats, 0, sizeof(state->stats));
	state->stats.size = sizeof(state->stats);
	state->stats.level_size = sizeof(struct kapf_level_stats);
	state->stats.schema_size = sizeof(struct kapf_schema_stats);
	errno = -call(control, KAPF_GET_STATS, &state->stats);
	if (errno)
		die("GET_STATS");
	state->stats.time = 0;
}

/* One that needs @value of @max is refused, and leaves everything as it is. */
static void refused(struct __test_metadata *_metadata,
		    struct _test_data_room *self, __u32 field, __u64 value,
		    __u64 max)
{
	struct kapf_config_error error;
	struct state before, after;

	state_get(&before, self->control);
	EXPECT_EQ(-ENOSPC, set_image(self->control, &self->image, &error));
	EXPECT_EQ(KAPF_OBJECT_IMAGE, error.object);
	EXPECT_EQ(field, error.field);
	EXPECT_EQ(KAPF_REASON_LIMIT, error.reason);
	EXPECT_EQ(value, error.value);
	EXPECT_EQ(max, error.max);
	state_get(&after, self->control);
	EXPECT_EQ(0, memcmp(&before.stats, &after.stats, sizeof(after.stats)));
	ASSERT_EQ(before.len, after.len);
	EXPECT_EQ(0, memcmp(before.image, after.image, after.len));
	free(before.image);
	free(after.image);
}

#define REFUSED(field, value, max) \
	refused(_metadata, self, KAPF_FIELD_##field, value, max)
#define SET() ASSERT_EQ(0, set_image(self->control, &self->image, NULL))

static void add_levels(struct image *image, const char *prefix, __u32 nr)
{
	char name[32];
	__u32 i;

	for (i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "%s-%u", prefix, i);
		image_level(image, name, KAPF_LEVEL_REJECT, 1);
	}
}

static void add_schemas(struct image *image, const char *prefix, __u32 nr,
			const char *level)
{
	char name[32];
	__u32 i;

	for (i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "%s-%u", prefix, i);
		image_schema(image, name, 100, level, "[]");
	}
}

static bool await_draining(int control, __u32 levels, __u32 schemas)
{
	__u64 end = now_ns() + 10 * NSEC_PER_SEC;
	struct state state;

	do {
		sleep_ms(10);
		state_get(&state, control);
		free(state.image);
		if (state.stats.nr_levels == levels &&
		    state.stats.nr_schemas == schemas)
			return true;
	} while (now_ns() < end);
	return false;
}

/* A request in each of @nr levels that go then. */
static bool fill_levels(struct _test_data_room *self, __u32 nr)
{
	char name[32];
	__u32 i;

	add_levels(&self->image, "old", nr);
	for (i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "old-%u", i);
		image_schema(&self->image, name, 100, name, "[]");
	}
	if (set_image(self->control, &self->image, NULL))
		return false;
	for (i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "old-%u", i);
		if (admit(self->fd, i, schema_id(self->control, name)) !=
		    KAPF_EXECUTE)
			return false;
	}
	begin_anew(self);
	return !set_image(self->control, &self->image, NULL);
}

TEST_F(room, levels)
{
	__u32 i;

	ASSERT_TRUE(fill_levels(self, 100));
	add_levels(&self->image, "new", 155);
	REFUSED(NR_LEVELS, 257, KAPF_MAX_LEVELS);
	begin_anew(self);
	add_levels(&self->image, "new", 154);
	SET();
	/* One that is there again is counted once. */
	add_levels(&self->image, "old", 1);
	SET();
	add_levels(&self->image, "newer", 1);
	REFUSED(NR_LEVELS, 257, KAPF_MAX_LEVELS);
	for (i = 0; i < 100; i++)
		EXPECT_EQ(0, finish(self->fd, i));
	EXPECT_TRUE(await_draining(self->control, 157, 2));
	SET();
}

/* As many as can be drain, and as many are configured: they get their seats. */
TEST_F(room, levels_that_are_all_replaced)
{
	add_levels(&self->image, "new", 154);
	ASSERT_TRUE(fill_levels(self, 100));
	add_levels(&self->image, "newer", 154);
	SET();
	EXPECT_TRUE(await_draining(self->control, 256, 102));
	begin_anew(self);
	add_levels(&self->image, "newest", 254);
	REFUSED(NR_LEVELS, 356, KAPF_MAX_LEVELS);
}

TEST_F(room, queues)
{
	struct kapf_info info = { .size = sizeof(info) };
	struct kapf_config_level *level;
	struct kapf_op op;
	__u32 max, old;

	ASSERT_EQ(0, call(self->control, KAPF_GET_INFO, &info));
	max = info.max_queues;
	old = max / 2;
	image_queues(&self->image, "test", 1, old, 1, 1);
	image_schema(&self->image, "test", 100, "test", "[]");
	SET();
	/* It comes from the last queue, so that all are kept. */
	op = request(0, schema_id(self->control, "test"));
	op.flow_hash = old - 1;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));

	begin_anew(self);
	level = image_queues(&self->image, "test", 1, 1, 1, 1);
	SET();
	image_queues(&self->image, "new", 1, max - old + 1, 1, 1);
	REFUSED(QUEUES, max + 1, max);
	/* What is configured and has surplus ones needs no more than these. */
	level->queues = old / 2;
	REFUSED(QUEUES, max + 1, max);

	begin_anew(self);
	SET();
	level = image_queues(&self->image, "new", 1, max - old + 1, 1, 1);
	REFUSED(QUEUES, max + 1, max);
	/* One that resumes with fewer needs as many as before. */
	image_queues(&self->image, "test", 1, 1, 1, 1);
	REFUSED(QUEUES, max + 1, max);
	level->queues--;
	SET();
	image_queues(&self->image, "more", 1, 1, 1, 1);
	REFUSED(QUEUES, max + 1, max);
	EXPECT_EQ(0, finish(self->fd, 0));
	sleep_ms(300);
	SET();
}

TEST_F(room, schemas)
{
	char name[32];
	__u32 i;

	image_level(&self->image, "test", KAPF_LEVEL_REJECT, 10);
	add_schemas(&self->image, "old", 10, "test");
	SET();
	for (i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "old-%u", i);
		ASSERT_EQ(KAPF_EXECUTE,
			  admit(self->fd, i, schema_id(self->control, name)));
	}
	begin_anew(self);
	SET();
	add_schemas(&self->image, "new", KAPF_MAX_SCHEMAS - 12, "catch-all");
	SET();
	add_schemas(&self->image, "newer", 1, "catch-all");
	REFUSED(NR_SCHEMAS, KAPF_MAX_SCHEMAS + 1, KAPF_MAX_SCHEMAS);
	for (i = 0; i < 10; i++)
		EXPECT_EQ(0, finish(self->fd, i));
	EXPECT_TRUE(await_draining(self->control, 2, KAPF_MAX_SCHEMAS - 10));
	SET();
}

TEST_HARNESS_MAIN
