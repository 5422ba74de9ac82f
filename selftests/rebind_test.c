// SPDX-License-Identifier: GPL-2.0
/*
 * What becomes of schemas and their counts when the configuration changes while
 * they have requests: they change, go to another level, lose theirs, are gone.
 *
 * "test" and "other" are levels of two seats each; no limit moves.
 */
#include "kapf_test.h"

FIXTURE(rebind) {
	int control;
	int fd;
	__u32 schema;
	__u32 test;	/* ids of the levels */
	__u32 other;
	struct waiter waiter;
};

/* Schema "test" leads to @level; NULL: there is none.  @levels: both, or "other" */
static int bind_schema(int control, const char *level, __u32 precedence,
		       bool levels)
{
	struct image image;
	int ret;

	image_init(&image);
	image_queues(&image, "other", 2, 2, 1, 10);
	if (levels)
		image_queues(&image, "test", 2, 2, 1, 10);
	image_schema(&image, "other", 200, "other", "[]");
	if (level)
		image_schema(&image, "test", precedence, level, "[]");
	image.head.max_requests_inflight = 9;
	ret = set_image(control, &image, NULL);
	image_free(&image);
	return ret;
}

#define BIND(level)	ASSERT_EQ(0, bind_schema(self->control, level, 100, true))

FIXTURE_SETUP(rebind)
{
	self->control = open_node(CONTROL_NODE, O_RDWR);
	set_up_bare(self->control);
	BIND("test");
	self->schema = schema_id(self->control, "test");
	self->test = level_stats(self->control, "test").id;
	self->other = level_stats(self->control, "other").id;
	self->fd = open_session(16);
}

FIXTURE_TEARDOWN(rebind)
{
	close(self->fd);
	close(self->control);
}

/* The elements of a schema, in their order; @room of them; returns how many. */
static __u32 elements(int control, __u32 id, struct kapf_schema_stats *found,
		      __u32 room)
{
	static struct kapf_schema_stats schemas[16];
	struct kapf_get_stats get = {
		.size = sizeof(get),
		.level_size = sizeof(struct kapf_level_stats),
		.schema_size = sizeof(schemas[0]),
		.nr_schemas = ARRAY_SIZE(schemas),
		.schemas = (uintptr_t)schemas,
	};
	__u32 i, nr = 0;

	errno = -call(control, KAPF_GET_STATS, &get);
	if (errno)
		die("GET_STATS");
	for (i = 0; i < get.nr_schemas; i++) {
		if (schemas[i].id != id)
			continue;
		if (nr < room)
			found[nr] = schemas[i];
		nr++;
	}
	return nr;
}

static bool await_elements(int control, __u32 id, __u32 nr)
{
	__u64 end = now_ns() + 10 * NSEC_PER_SEC;

	while (elements(control, id, NULL, 0) != nr) {
		if (now_ns() > end)
			return false;
		sleep_ms(10);
	}
	return true;
}

/* Slots 0 and 1 execute, 2 waits. */
static bool occupy(struct _test_data_rebind *self)
{
	struct kapf_op op = request(2, self->schema);

	if (admit(self->fd, 0, self->schema) != KAPF_EXECUTE ||
	    admit(self->fd, 1, self->schema) != KAPF_EXECUTE)
		return false;
	op.max_wait = KAPF_MAX_WAIT_NS;
	waiter_start(&self->waiter, self->fd, op);
	return await_waiting(self->control, 1);
}

static bool serve(struct _test_data_rebind *self)
{
	return !finish(self->fd, 0) &&
	       waiter_join(&self->waiter) == KAPF_EXECUTE &&
	       !finish(self->fd, 1) && !finish(self->fd, 2);
}

TEST_F(rebind, precedence_changes_nothing_but_the_order)
{
	struct kapf_schema_stats schema;

	ASSERT_TRUE(occupy(self));
	ASSERT_EQ(0, bind_schema(self->control, "test", 5000, true));
	EXPECT_EQ(self->schema, schema_id(self->control, "test"));
	ASSERT_EQ(1, elements(self->control, self->schema, &schema, 1));
	EXPECT_EQ(0, schema.flags);
	EXPECT_EQ(2, schema.dispatched);
	EXPECT_EQ(2, schema.seats_in_use);
	EXPECT_EQ(1, schema.waiting_requests);
	EXPECT_TRUE(serve(self));
	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 3, self->schema));
	ASSERT_EQ(1, elements(self->control, self->schema, &schema, 1));
	EXPECT_EQ(4, schema.dispatched);
	EXPECT_EQ(1, schema.seats_in_use);
}

/* Whoever came before is the old level's, whoever comes after the new one's. */
TEST_F(rebind, schema_goes_to_another_level)
{
	struct kapf_schema_stats schemas[2];

	ASSERT_TRUE(occupy(self));
	BIND("other");
	EXPECT_EQ(self->schema, schema_id(self->control, "test"));
	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 3, self->schema));
	ASSERT_EQ(2, elements(self->control, self->schema, schemas, 2));
	EXPECT_EQ(self->other, schemas[0].level);
	EXPECT_EQ(0, schemas[0].flags);
	EXPECT_EQ(1, schemas[0].dispatched);
	EXPECT_EQ(1, schemas[0].seats_in_use);
	EXPECT_EQ(1, schemas[0].executing_requests);
	EXPECT_EQ(0, schemas[0].waiting_requests);
	EXPECT_EQ(self->test, schemas[1].level);
	EXPECT_EQ(KAPF_STATS_DRAINING, schemas[1].flags);
	EXPECT_STREQ("test", schemas[1].name);
	EXPECT_EQ(2, schemas[1].dispatched);
	EXPECT_EQ(2, schemas[1].seats_in_use);
	EXPECT_EQ(2, schemas[1].executing_requests);
	EXPECT_EQ(1, schemas[1].waiting_requests);
	EXPECT_EQ(1, schemas[1].waiting_seats);
	EXPECT_EQ(2, seats_in_use(self->control, "test"));
	EXPECT_EQ(1, seats_in_use(self->control, "other"));
	EXPECT_EQ(0, level_stats(self->control, "test").flags);

	EXPECT_TRUE(serve(self));
	EXPECT_EQ(3, level_stats(self->control, "test").dispatched);
	EXPECT_TRUE(await_elements(self->control, self->schema, 1));
	ASSERT_EQ(1, elements(self->control, self->schema, schemas, 1));
	EXPECT_EQ(self->other, schemas[0].level);
	EXPECT_EQ(1, schemas[0].seats_in_use);
	EXPECT_EQ(0, finish(self->fd, 3));
}

TEST_F(rebind, schema_comes_back_to_its_level)
{
	struct kapf_schema_stats schemas[3];

	ASSERT_TRUE(occupy(self));
	BIND("other");
	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 3, self->schema));
	BIND("test");
	EXPECT_EQ(self->schema, schema_id(self->control, "test"));
	ASSERT_EQ(3, elements(self->control, self->schema, schemas, 3));
	EXPECT_EQ(self->test, schemas[0].level);
	EXPECT_EQ(0, schemas[0].dispatched);
	EXPECT_EQ(2, schemas[1].seats_in_use);
	EXPECT_EQ(1, schemas[2].seats_in_use);
	EXPECT_TRUE(serve(self));
	EXPECT_TRUE(await_elements(self->control, self->schema, 2));
	EXPECT_EQ(0, finish(self->fd, 3));
	EXPECT_TRUE(await_elements(self->control, self->schema, 1));
	EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, 4, self->schema));
	EXPECT_EQ(4, level_stats(self->control, "test").dispatched);
	EXPECT_EQ(1, level_stats(self->control, "other").dispatched);
}

/* What cancels finds the level that the request waits in. */
TEST_F(rebind, cancelling_in_the_old_level)
{
	ASSERT_TRUE(occupy(self));
	BIND("other");
	EXPECT_EQ(0, cancel(self->fd, 2));
	EXPECT_EQ(KAPF_CANCELLED, waiter_join(&self->waiter));
	EXPECT_EQ(1, level_stats(self->control, "test").rejected_cancelled);
	EXPECT_EQ(0, level_stats(self->control, "other").rejected_cancelled);
	EXPECT_EQ(0, finish(self->fd, 0));
	EXPECT_EQ(0, finish(self->fd, 1));
	EXPECT_TRUE(await_elements(self->control, self->schema, 1));
}

TEST_F(rebind, schema_that_is_gone)
{
	struct kapf_schema_stats schema;

	ASSERT_TRUE(occupy(self));
	BIND(NULL);
	EXPECT_EQ(KAPF_RECLASSIFY, admit(self->fd, 3, self->schema));
	ASSERT_EQ(1, elements(self->control, self->schema, &schema, 1));
	EXPECT_EQ(KAPF_STATS_DRAINING, schema.flags);
	EXPECT_EQ(2, schema.executing_requests);
	EXPECT_TRUE(serve(self));
	EXPECT_TRUE(await_elements(self->control, self->schema, 0));
	EXPECT_EQ(3, level_stats(self->control, "test").dispatched);
}

/* It is a new one then, whose id is another. */
TEST_F(rebind, schema_that_is_gone_and_comes_again)
{
	struct kapf_schema_stats schema;
	__u32 again;

	ASSERT_TRUE(occupy(self));
	BIND(NULL);
	BIND("test");
	again = schema_id(self->control, "test");
	EXPECT_NE(self->schema, again);
	EXPECT_EQ(KAPF_RECLASSIFY, admit(self->fd, 3, self->schema));
	ASSERT_EQ(1, elements(self->control, self->schema, &schema, 1));
	EXPECT_EQ(KAPF_STATS_DRAINING, schema.flags);
	ASSERT_EQ(1, elements(self->control, again, &schema, 1));
	EXPECT_EQ(0, schema.flags);
	EXPECT_EQ(0, schema.dispatched);
	EXPECT_TRUE(serve(self));
	EXPECT_TRUE(await_elements(self->control, self->schema, 0));
	EXPECT_EQ(1, elements(self->control, again, NULL, 0));
}

TEST_F(rebind, schema_that_lost_its_level)
{
	struct kapf_schema_stats schemas[2];
	size_t len;
	char *bytes;

	ASSERT_TRUE(occupy(self));
	ASSERT_EQ(0, bind_schema(self->control, "test", 100, false));
	bytes = get_image(self->control, &len);
	EXPECT_EQ(KAPF_SCHEMA_DANGLING, find_schema(bytes, "test")->flags);
	EXPECT_EQ(self->schema, find_schema(bytes, "test")->id);
	free(bytes);
	EXPECT_EQ(KAPF_RECLASSIFY, admit(self->fd, 3, self->schema));
	ASSERT_EQ(2, elements(self->control, self->schema, schemas, 2));
	EXPECT_EQ(0, schemas[0].level);
	EXPECT_EQ(0, schemas[0].dispatched);
	EXPECT_EQ(self->test, schemas[1].level);
	EXPECT_EQ(2, schemas[1].seats_in_use);
	EXPECT_EQ(KAPF_STATS_DRAINING, schemas[1].flags);

	BIND("test");
	EXPECT_EQ(self->schema, schema_id(self->control, "test"));
	EXPECT_EQ(self->test, level_stats(self->control, "test").id);
	EXPECT_TRUE(serve(self));
	EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, 3, self->schema));
	EXPECT_TRUE(await_elements(self->control, self->schema, 1));
	ASSERT_EQ(1, elements(self->control, self->schema, schemas, 1));
	EXPECT_EQ(self->test, schemas[0].level);
	EXPECT_EQ(1, schemas[0].dispatched);
	EXPECT_EQ(4, level_stats(self->control, "test").dispatched);
}

/* No lock is taken, no level waits for it: its own counts keep it. */
TEST_F(rebind, exempt_schema_that_is_gone)
{
	struct kapf_schema_stats schema;
	struct kapf_op op;
	__u32 id;

	BIND("exempt");
	id = schema_id(self->control, "test");
	EXPECT_EQ(self->schema, id);
	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 0, id));
	op = request(1, id);
	op.initial_seats = 7;
	op.additional_latency = 5 * NSEC_PER_SEC;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	BIND(NULL);
	EXPECT_EQ(KAPF_RECLASSIFY, admit(self->fd, 2, id));
	ASSERT_EQ(1, elements(self->control, id, &schema, 1));
	EXPECT_EQ(KAPF_STATS_DRAINING, schema.flags);
	EXPECT_EQ(2, schema.executing_requests);
	EXPECT_EQ(8, schema.seats_in_use);
	ASSERT_EQ(5000, finish(self->fd, 1));
	ASSERT_EQ(0, finish(self->fd, 0));
	sleep_ms(300);
	ASSERT_EQ(1, elements(self->control, id, &schema, 1));
	EXPECT_EQ(0, schema.executing_requests);
	EXPECT_EQ(7, schema.seats_in_use);
	EXPECT_TRUE(await_elements(self->control, id, 0));
	EXPECT_EQ(0, seats_in_use(self->control, "exempt"));
}

TEST_F(rebind, session_that_ends_in_draining_schemas)
{
	int fd = open_session(3);
	struct kapf_op op;

	op = request(0, self->schema);
	op.additional_latency = KAPF_MAX_ADDITIONAL_LATENCY_NS;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(fd, op)));
	ASSERT_EQ(60000, finish(fd, 0));
	BIND("exempt");
	op.slot = 1;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(fd, op)));
	ASSERT_EQ(60000, finish(fd, 1));
	BIND("other");
	ASSERT_EQ(KAPF_EXECUTE, admit(fd, 2, self->schema));
	BIND(NULL);
	EXPECT_EQ(3, elements(self->control, self->schema, NULL, 0));
	close(fd);
	EXPECT_TRUE(await_elements(self->control, self->schema, 0));
	EXPECT_EQ(0, seats_in_use(self->control, "exempt"));
}

TEST_HARNESS_MAIN
