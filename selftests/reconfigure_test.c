// SPDX-License-Identifier: GPL-2.0
/*
 * A new configuration while requests wait, execute and linger: what becomes of
 * them, of levels and queues that are gone, and of limits.  What becomes of
 * schemas is rebind_test.c's.
 *
 * There are nine seats: catch-all has five, "test" and "other" two each, and
 * nobody lends.
 */
#include <sys/resource.h>

#include "kapf_test.h"

#define SEATS 9

FIXTURE(reconfigure) {
	int control;
	int fd;
	struct image with;	/* with level and schema "test" */
	struct image without;
	__u32 schema;
	__u32 level;		/* id */
	struct waiter waiter;	/* in slot 2 */
};

static void image_other(struct image *image)
{
	image_init(image);
	image_queues(image, "other", 2, 2, 1, 10);
	image_schema(image, "other", 200, "other", "[]");
	image->head.max_requests_inflight = SEATS;
}

/* Level "test" as it is to be, and its schema; returns the level. */
static struct kapf_config_level *image_test(struct image *image, __u32 seats,
					    __u32 queues)
{
	struct kapf_config_level *level;

	image_other(image);
	image_schema(image, "test", 100, "test", "[]");
	level = image_queues(image, "test", seats, queues, 1, 10);
	image->head.max_requests_inflight = seats + 7;
	return level;
}

FIXTURE_SETUP(reconfigure)
{
	self->control = open_node(CONTROL_NODE, O_RDWR);
	image_test(&self->with, 2, 4);
	image_other(&self->without);
	set_up(self->control, &self->with);
	self->schema = schema_id(self->control, "test");
	self->level = level_stats(self->control, "test").id;
	self->fd = open_session(16);
}

FIXTURE_TEARDOWN(reconfigure)
{
	image_free(&self->with);
	image_free(&self->without);
	close(self->fd);
	close(self->control);
}

#define SET(image) ASSERT_EQ(0, set_image(self->control, image, NULL))

/* Level "test" with other seats and queues; 0 queues: it refuses. */
static int set_test(int control, __u32 seats, __u32 queues)
{
	struct kapf_config_level *level;
	struct image image;
	int ret;

	level = image_test(&image, seats, queues);
	if (!queues) {
		level->type = KAPF_LEVEL_REJECT;
		level->hand_size = 0;
		level->queue_length_limit = 0;
	}
	ret = set_image(control, &image, NULL);
	image_free(&image);
	return ret;
}

static __u32 read_queues(int control, struct kapf_queue_info *queues,
			 __u32 room)
{
	struct kapf_get_queues get = {
		.size = sizeof(get),
		.queue_size = sizeof(*queues),
	};
	__u32 nr = 0;

	do {
		get.queues = (uintptr_t)(queues + nr);
		get.nr = room - nr;
		if (call(control, KAPF_GET_QUEUES, &get))
			die("GET_QUEUES");
		nr += get.nr;
	} while (get.nr);
	return nr;
}

/* How many queues GET_QUEUES shows of a level. */
static __u32 queues_of(int control, __u32 level)
{
	struct kapf_queue_info queues[64];
	__u32 i, nr = 0, all = read_queues(control, queues, 64);

	for (i = 0; i < all; i++)
		nr += queues[i].level == level;
	return nr;
}

/* Is the level gone, within 10 s, from the statistics and the queues? */
static bool await_gone(int control, __u32 level)
{
	__u64 end = now_ns() + 10 * NSEC_PER_SEC;
	struct kapf_level_stats stats;

	while (find_level_stats(control, "test", &stats)) {
		if (now_ns() > end)
			return false;
		sleep_ms(10);
	}
	return !queues_of(control, level);
}

static bool await_queues(int control, __u32 level, __u32 nr)
{
	__u64 end = now_ns() + 10 * NSEC_PER_SEC;

	while (queues_of(control, level) != nr) {
		if (now_ns() > end)
			return false;
		sleep_ms(10);
	}
	return true;
}

static struct kapf_op flow_request(__u32 slot, __u32 schema, __u64 flow)
{
	struct kapf_op op = request(slot, schema);

	op.flow_hash = flow;
	op.max_wait = KAPF_MAX_WAIT_NS;
	return op;
}

/* The verdict; with a hand of one, flow N goes to queue N. */
static int admit_flow(int fd, __u32 slot, __u32 schema, __u64 flow)
{
	struct kapf_op op = flow_request(slot, schema, flow);
	int ret;

	op.flags = KAPF_OP_NOWAIT;
	ret = admit_op(fd, op);
	return ret < 0 ? ret : KAPF_VERDICT(ret);
}

/* Slot 0 executes, 1 lingers or, if @linger is 0, executes, 2 waits. */
static bool occupy(struct _test_data_reconfigure *self, __u64 linger)
{
	struct kapf_op op = request(1, self->schema);

	if (admit(self->fd, 0, self->schema) != KAPF_EXECUTE)
		return false;
	op.additional_latency = linger;
	if (KAPF_VERDICT(admit_op(self->fd, op)) != KAPF_EXECUTE)
		return false;
	if (linger && finish(self->fd, 1) <= 0)
		return false;
	waiter_start(&self->waiter, self->fd,
		     flow_request(2, self->schema, 0));
	return await_waiting(self->control, 1);
}

TEST_F(reconfigure, vanished_level_serves_whom_it_has)
{
	struct kapf_level_stats stats;

	ASSERT_TRUE(occupy(self, 5 * NSEC_PER_SEC));
	SET(&self->without);
	EXPECT_EQ(KAPF_RECLASSIFY, admit(self->fd, 3, self->schema));
	stats = level_stats(self->control, "test");
	EXPECT_EQ(self->level, stats.id);
	EXPECT_EQ(KAPF_STATS_DRAINING, stats.flags);
	EXPECT_EQ(0, level_stats(self->control, "other").flags);
	EXPECT_EQ(1, stats.executing_requests);
	EXPECT_EQ(1, stats.lingering_requests);
	EXPECT_EQ(1, stats.waiting_requests);
	EXPECT_EQ(2, stats.seats_in_use);
	EXPECT_EQ(4, queues_of(self->control, self->level));

	ASSERT_EQ(0, finish(self->fd, 0));
	ASSERT_EQ(KAPF_EXECUTE, waiter_join(&self->waiter));
	EXPECT_TRUE(await_lingering(self->control, 0));
	/* It is looked at every 100 ms. */
	sleep_ms(300);
	EXPECT_EQ(1, level_stats(self->control, "test").executing_requests);
	ASSERT_EQ(0, finish(self->fd, 2));
	EXPECT_TRUE(await_gone(self->control, self->level));
}

TEST_F(reconfigure, vanished_level_times_out_who_waits)
{
	struct kapf_op op = flow_request(2, self->schema, 0);

	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 0, self->schema));
	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 1, self->schema));
	op.max_wait = 500 * NSEC_PER_MSEC;
	waiter_start(&self->waiter, self->fd, op);
	ASSERT_TRUE(await_waiting(self->control, 1));
	SET(&self->without);
	EXPECT_EQ(KAPF_TIME_OUT, waiter_join(&self->waiter));
	EXPECT_EQ(1, level_stats(self->control, "test").rejected_time_out);
	EXPECT_EQ(0, finish(self->fd, 0));
	EXPECT_EQ(0, finish(self->fd, 1));
	EXPECT_TRUE(await_gone(self->control, self->level));
}

TEST_F(reconfigure, idle_level_is_gone_at_once)
{
	struct kapf_level_stats stats;

	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 0, self->schema));
	ASSERT_EQ(0, finish(self->fd, 0));
	SET(&self->without);
	EXPECT_FALSE(find_level_stats(self->control, "test", &stats));
	EXPECT_EQ(0, queues_of(self->control, self->level));
}

TEST_F(reconfigure, draining_level_keeps_its_shares)
{
	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 0, self->schema));
	SET(&self->without);
	sleep_ms(300);
	EXPECT_EQ(2, level_stats(self->control, "test").nominal_seats);
	EXPECT_EQ(2, level_stats(self->control, "other").nominal_seats);
	EXPECT_EQ(2, level_stats(self->control, "other").current_seats);
	EXPECT_EQ(5, level_stats(self->control, "catch-all").nominal_seats);
	ASSERT_EQ(0, finish(self->fd, 0));
	ASSERT_TRUE(await_gone(self->control, self->level));
	/* 9 * 2 / 7 and 9 * 5 / 7, rounded up */
	EXPECT_EQ(3, level_stats(self->control, "other").nominal_seats);
	EXPECT_EQ(3, level_stats(self->control, "other").current_seats);
	EXPECT_EQ(7, level_stats(self->control, "catch-all").nominal_seats);
}

TEST_F(reconfigure, level_that_returns_resumes)
{
	struct kapf_config_level before;
	size_t len;
	char *bytes = get_image(self->control, &len);

	before = *find_level(bytes, "test");
	free(bytes);
	ASSERT_TRUE(occupy(self, 0));
	SET(&self->without);
	bytes = get_image(self->control, &len);
	EXPECT_EQ(NULL, find_level(bytes, "test"));
	free(bytes);
	SET(&self->with);
	bytes = get_image(self->control, &len);
	ASSERT_NE(NULL, find_level(bytes, "test"));
	EXPECT_EQ(before.id, find_level(bytes, "test")->id);
	EXPECT_EQ(0, memcmp(before.uid, find_level(bytes, "test")->uid,
			    KAPF_UID_BYTES));
	free(bytes);
	EXPECT_EQ(0, level_stats(self->control, "test").flags);
	EXPECT_EQ(2, level_stats(self->control, "test").seats_in_use);
	EXPECT_EQ(2, level_stats(self->control, "test").dispatched);

	/* Those from before take its seats from those from now. */
	self->schema = schema_id(self->control, "test");
	EXPECT_EQ(0, finish(self->fd, 0));
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&self->waiter));
	waiter_start(&self->waiter, self->fd,
		     flow_request(3, self->schema, 1));
	ASSERT_TRUE(await_waiting(self->control, 1));
	EXPECT_EQ(0, finish(self->fd, 1));
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&self->waiter));
	EXPECT_EQ(4, level_stats(self->control, "test").dispatched);
	EXPECT_EQ(0, finish(self->fd, 2));
	EXPECT_EQ(0, finish(self->fd, 3));
	/* It stays. */
	sleep_ms(300);
	EXPECT_EQ(self->level, level_stats(self->control, "test").id);
}

TEST_F(reconfigure, level_that_returns_too_late_is_another)
{
	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 0, self->schema));
	SET(&self->without);
	ASSERT_EQ(0, finish(self->fd, 0));
	ASSERT_TRUE(await_gone(self->control, self->level));
	SET(&self->with);
	EXPECT_LT(self->level, level_stats(self->control, "test").id);
	EXPECT_EQ(0, level_stats(self->control, "test").dispatched);
}

TEST_F(reconfigure, session_that_ends_in_a_draining_level)
{
	struct kapf_op op = request(0, self->schema);
	int fd = open_session(3);

	/* One lingers for a minute, one executes, one waits. */
	op.additional_latency = KAPF_MAX_ADDITIONAL_LATENCY_NS;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(fd, op)));
	ASSERT_EQ(60000, finish(fd, 0));
	ASSERT_EQ(KAPF_EXECUTE, admit(fd, 1, self->schema));
	ASSERT_EQ(KAPF_QUEUED, admit_flow(fd, 2, self->schema, 0));
	SET(&self->without);
	EXPECT_EQ(1, level_stats(self->control, "test").lingering_requests);
	EXPECT_EQ(1, level_stats(self->control, "test").executing_requests);
	EXPECT_EQ(1, level_stats(self->control, "test").waiting_requests);
	close(fd);
	EXPECT_TRUE(await_gone(self->control, self->level));
}

TEST_F(reconfigure, process_that_is_killed_in_a_draining_level)
{
	pid_t pid = fork();
	int fd;

	ASSERT_LE(0, pid);
	if (!pid) {
		fd = open_session(3);
		admit(fd, 0, self->schema);
		admit(fd, 1, self->schema);
		admit_op(fd, flow_request(2, self->schema, 0));
		_exit(0);
	}
	ASSERT_TRUE(await_waiting(self->control, 1));
	SET(&self->without);
	EXPECT_EQ(2, level_stats(self->control, "test").seats_in_use);
	kill_and_reap(pid);
	EXPECT_TRUE(await_gone(self->control, self->level));
}

/* Queues */

/* The requests of slots 2 to 5 wait, one in each of four queues. */
static bool fill_queues(struct _test_data_reconfigure *self)
{
	__u32 i;

	if (admit(self->fd, 0, self->schema) != KAPF_EXECUTE ||
	    admit(self->fd, 1, self->schema) != KAPF_EXECUTE)
		return false;
	for (i = 0; i < 4; i++)
		if (admit_flow(self->fd, 2 + i, self->schema, i) != KAPF_QUEUED)
			return false;
	return true;
}

/* One after the other is served. */
static int serve(struct _test_data_reconfigure *self, int nr)
{
	struct kapf_event event;
	int i, ret = finish(self->fd, 0);

	for (i = 0; !ret && i < nr; i++) {
		event = read_event(self->fd);
		if (event.verdict != KAPF_EXECUTE ||
		    event.level != self->level)
			return -EPROTO;
		ret = finish(self->fd, event.slot);
	}
	return ret ?: finish(self->fd, 1);
}

TEST_F(reconfigure, surplus_queues_serve_whom_they_have)
{
	struct kapf_queue_info queues[8];
	__u32 i, nr;

	ASSERT_TRUE(fill_queues(self));
	ASSERT_EQ(0, set_test(self->control, 2, 1));
	EXPECT_EQ(4, queues_of(self->control, self->level));
	EXPECT_EQ(1, level_stats(self->control, "test").queues);
	EXPECT_EQ(4, level_stats(self->control, "test").waiting_requests);
	EXPECT_EQ(4, level_stats(self->control, "test").active_queues);
	/* Whatever their flow, new ones go to the queue that is left. */
	for (i = 0; i < 4; i++)
		ASSERT_EQ(KAPF_QUEUED,
			  admit_flow(self->fd, 6 + i, self->schema, i));
	nr = read_queues(self->control, queues, ARRAY_SIZE(queues));
	for (i = 0; i < nr; i++)
		if (queues[i].level == self->level)
			EXPECT_EQ(queues[i].queue ? 1 : 5,
				  queues[i].waiting_requests);
	for (i = 0; i < 4; i++)
		EXPECT_EQ(0, cancel(self->fd, 6 + i));
	for (i = 0; i < 4; i++)
		EXPECT_EQ(KAPF_CANCELLED, read_event(self->fd).verdict);
	EXPECT_EQ(0, serve(self, 4));
	EXPECT_TRUE(await_queues(self->control, self->level, 1));
}

TEST_F(reconfigure, idle_surplus_queues_are_gone_at_once)
{
	ASSERT_EQ(0, set_test(self->control, 2, 1));
	EXPECT_EQ(1, queues_of(self->control, self->level));
}

/* The last queues are kept for those that came from them. */
TEST_F(reconfigure, surplus_queue_stays_while_its_request_executes)
{
	ASSERT_EQ(KAPF_EXECUTE, admit_flow(self->fd, 0, self->schema, 2));
	ASSERT_EQ(0, set_test(self->control, 2, 1));
	sleep_ms(300);
	EXPECT_EQ(3, queues_of(self->control, self->level));
	EXPECT_EQ(0, finish(self->fd, 0));
	EXPECT_TRUE(await_queues(self->control, self->level, 1));
}

TEST_F(reconfigure, more_queues)
{
	__u32 i;

	ASSERT_TRUE(fill_queues(self));
	ASSERT_EQ(0, set_test(self->control, 2, 16));
	EXPECT_EQ(16, queues_of(self->control, self->level));
	EXPECT_EQ(4, level_stats(self->control, "test").active_queues);
	for (i = 4; i < 10; i++)
		ASSERT_EQ(KAPF_QUEUED,
			  admit_flow(self->fd, 2 + i, self->schema, i));
	EXPECT_EQ(10, level_stats(self->control, "test").active_queues);
	for (i = 4; i < 10; i++) {
		EXPECT_EQ(0, cancel(self->fd, 2 + i));
		EXPECT_EQ(KAPF_CANCELLED, read_event(self->fd).verdict);
	}
	EXPECT_EQ(0, serve(self, 4));
}

TEST_F(reconfigure, level_that_refuses_serves_who_waits)
{
	ASSERT_TRUE(fill_queues(self));
	ASSERT_EQ(0, set_test(self->control, 2, 0));
	EXPECT_EQ(KAPF_LEVEL_REJECT, level_stats(self->control, "test").type);
	EXPECT_EQ(4, level_stats(self->control, "test").waiting_requests);
	EXPECT_EQ(4, queues_of(self->control, self->level));
	EXPECT_EQ(KAPF_CONCURRENCY_LIMIT, admit(self->fd, 6, self->schema));
	EXPECT_EQ(0, serve(self, 4));
	EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, 6, self->schema));
	EXPECT_EQ(0, finish(self->fd, 6));
	EXPECT_TRUE(await_queues(self->control, self->level, 0));
}

TEST_F(reconfigure, level_that_queues_again)
{
	ASSERT_TRUE(fill_queues(self));
	ASSERT_EQ(0, set_test(self->control, 2, 0));
	ASSERT_EQ(0, set_test(self->control, 2, 4));
	EXPECT_EQ(4, level_stats(self->control, "test").waiting_requests);
	EXPECT_EQ(4, level_stats(self->control, "test").active_queues);
	ASSERT_EQ(KAPF_QUEUED, admit_flow(self->fd, 6, self->schema, 3));
	EXPECT_EQ(0, serve(self, 5));
	sleep_ms(300);
	EXPECT_EQ(4, queues_of(self->control, self->level));
}

/* Limits */

TEST_F(reconfigure, higher_limit_seats_at_once)
{
	ASSERT_TRUE(occupy(self, 0));
	ASSERT_EQ(0, set_test(self->control, 3, 4));
	/* Nobody finishes, and no period of 10 s ends. */
	EXPECT_EQ(3, level_stats(self->control, "test").seats_in_use);
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&self->waiter));
}

TEST_F(reconfigure, lower_limit_lets_nobody_in_until_there_is_room)
{
	__u32 i;

	ASSERT_EQ(0, set_test(self->control, 4, 4));
	for (i = 4; i < 8; i++)
		ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, i, self->schema));
	ASSERT_EQ(0, set_test(self->control, 2, 4));
	EXPECT_EQ(2, level_stats(self->control, "test").current_seats);
	EXPECT_EQ(4, level_stats(self->control, "test").seats_in_use);
	waiter_start(&self->waiter, self->fd,
		     flow_request(2, self->schema, 0));
	ASSERT_TRUE(await_waiting(self->control, 1));
	EXPECT_EQ(0, finish(self->fd, 4));
	EXPECT_EQ(1, level_stats(self->control, "test").waiting_requests);
	EXPECT_EQ(0, finish(self->fd, 5));
	EXPECT_EQ(1, level_stats(self->control, "test").waiting_requests);
	EXPECT_EQ(0, finish(self->fd, 6));
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&self->waiter));
	EXPECT_EQ(2, level_stats(self->control, "test").seats_in_use);
}

/**
 * struct changer - a thread that replaces the configuration, or the mode, again
 *	and again
 * @thread: it
 * @control: the node
 * @image: what with; NULL: it is the mode, and in the end it is that of before
 * @changes: how often; even
 * @mean: how long that took on average, ns; 0 at first
 * @done: it has ended
 */
struct changer {
	pthread_t thread;
	int control;
	const struct image *image;
	__u32 changes;
	__u64 mean;
	bool done;
};

static void *changer_main(void *arg)
{
	struct changer *changer = arg;
	struct kapf_set_config set = { .size = sizeof(set) };
	__u64 begin, all = 0;
	char *bytes = NULL;
	size_t len = 0;
	__u32 i;

	if (changer->image)
		bytes = image_pack(changer->image, &len);
	set.image = (uintptr_t)bytes;
	set.image_len = len;
	set.generation = generation(changer->control);
	for (i = 1; i <= changer->changes; i++) {
		begin = now_ns();
		if (bytes ? call(changer->control, KAPF_SET_CONFIG, &set) :
			    set_mode(changer->control, i % 2 ?
				     KAPF_MODE_OFF : KAPF_MODE_ENFORCE))
			die("SET_CONFIG or SET_MODE");
		all += now_ns() - begin;
		__atomic_store_n(&changer->mean, all / i, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&changer->done, true, __ATOMIC_RELAXED);
	free(bytes);
	return NULL;
}

/* How often this thread has gone to sleep */
static long sleeps(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_THREAD, &usage))
		die("getrusage");
	return usage.ru_nvcsw;
}

/*
 * How many changes out of 30, one right after the other, does @what wait for? It
 * sleeps then, and takes half as long as a change, or longer.
 */
static __u32 changes_waited_for(struct __test_metadata *_metadata,
				struct _test_data_reconfigure *self,
				const struct image *image,
				bool (*what)(struct _test_data_reconfigure *))
{
	struct changer changer = {
		.control = self->control,
		.image = image,
		.changes = 30,
	};
	__u64 begin, took, mean;
	__u32 nr = 0, waited = 0;
	long before;

	errno = pthread_create(&changer.thread, NULL, changer_main, &changer);
	if (errno)
		die("pthread_create");
	while (!__atomic_load_n(&changer.done, __ATOMIC_RELAXED)) {
		before = sleeps();
		begin = now_ns();
		EXPECT_TRUE(what(self));
		took = now_ns() - begin;
		mean = __atomic_load_n(&changer.mean, __ATOMIC_RELAXED);
		waited += mean && took > mean / 2 && sleeps() > before;
		nr++;
	}
	pthread_join(changer.thread, NULL);
	TH_LOG("a change took %llu us on average; %u of %u waited",
	       changer.mean / 1000, waited, nr);
	return waited;
}

static bool admit_and_finish(struct _test_data_reconfigure *self)
{
	return admit(self->fd, 0, self->schema) == KAPF_EXECUTE &&
	       !finish(self->fd, 0);
}

TEST_F(reconfigure, requests_do_not_wait_for_a_change)
{
	EXPECT_GT(10, changes_waited_for(_metadata, self, &self->with,
					 admit_and_finish));
}

/* A change waits for others, but they do not wait with it. */
static bool look(struct _test_data_reconfigure *self)
{
	return generation(self->fd) && !level_stats(self->control, "test").flags;
}

TEST_F(reconfigure, who_looks_does_not_wait_for_a_change)
{
	EXPECT_GT(10, changes_waited_for(_metadata, self, &self->with, look));
}

TEST_F(reconfigure, who_looks_does_not_wait_for_a_change_of_mode)
{
	EXPECT_GT(10, changes_waited_for(_metadata, self, NULL, look));
}

TEST_HARNESS_MAIN
