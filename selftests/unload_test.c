// SPDX-License-Identifier: GPL-2.0
/*
 * The module's comings and goings: it stays while a node is open, goes when none
 * is, comes again, and takes only parameters that make sense.  Instances have
 * nothing in common.
 *
 * Skipped where the module's file is not at hand or the module is in use.
 */
#include <sys/syscall.h>
#include <sys/utsname.h>

#include "kapf_test.h"

/* How the module has to be again when a test ends, whatever became of it. */
FIXTURE(unload) {
	int module;	/* the module's file */
};

static int load(int module, const char *parameters)
{
	return syscall(SYS_finit_module, module, parameters, 0) ? -errno : 0;
}

static int unload(void)
{
	return syscall(SYS_delete_module, "kapf", O_NONBLOCK) ? -errno : 0;
}

FIXTURE_SETUP(unload)
{
	struct utsname name;
	char path[256];
	int ret;

	ASSERT_EQ(0, uname(&name));
	snprintf(path, sizeof(path), "/lib/modules/%s/extra/kapf.ko",
		 name.release);
	self->module = open(path, O_RDONLY | O_CLOEXEC);
	if (self->module < 0)
		SKIP(return, "no module at %s", path);
	ret = unload();
	if (ret == -EWOULDBLOCK)
		SKIP(return, "somebody uses the module");
	ASSERT_EQ(0, ret);
	ASSERT_EQ(0, load(self->module, ""));
}

FIXTURE_TEARDOWN(unload)
{
	if (access(SUBMIT_NODE, F_OK))
		EXPECT_EQ(0, load(self->module, ""));
	close(self->module);
}

TEST_F(unload, and_load_again)
{
	EXPECT_EQ(0, access(SUBMIT_NODE, F_OK));
	EXPECT_EQ(0, access(CONTROL_NODE, F_OK));
	EXPECT_EQ(-EEXIST, load(self->module, ""));
	EXPECT_EQ(0, unload());
	EXPECT_EQ(-1, access(SUBMIT_NODE, F_OK));
	EXPECT_EQ(-1, access(CONTROL_NODE, F_OK));
	EXPECT_EQ(-ENOENT, unload());
	EXPECT_EQ(0, load(self->module, ""));
	EXPECT_EQ(0, access(SUBMIT_NODE, F_OK));
}

/* A module that was just loaded has the mandatory objects. */
TEST_F_TIMEOUT(unload, a_hundred_times, 600)
{
	int i, fd;

	for (i = 0; i < 100; i++) {
		fd = open_session(16);
		EXPECT_EQ(-EWOULDBLOCK, unload());
		close(fd);
		ASSERT_EQ(0, unload());
		ASSERT_EQ(0, load(self->module, ""));
	}
}

TEST_F(unload, first_configuration)
{
	int control = open_node(CONTROL_NODE, O_RDONLY);
	struct kapf_config *head;
	size_t len;
	char *bytes = get_image(control, &len);

	head = (void *)bytes;
	EXPECT_EQ(1, generation(control));
	EXPECT_EQ(400, head->max_requests_inflight);
	EXPECT_EQ(200, head->max_mutating_requests_inflight);
	EXPECT_EQ(2, head->nr_levels);
	EXPECT_EQ(2, head->nr_schemas);
	ASSERT_NE(NULL, find_level(bytes, "catch-all"));
	EXPECT_EQ(600, find_level(bytes, "catch-all")->nominal_seats);
	ASSERT_NE(NULL, find_schema(bytes, "exempt"));
	EXPECT_EQ(0, find_schema(bytes, "exempt")->flags);
	free(bytes);
	close(control);
}

TEST_F(unload, not_while_a_node_is_open)
{
	int fd = open_node(CONTROL_NODE, O_RDONLY);

	EXPECT_EQ(-EWOULDBLOCK, unload());
	close(fd);
	fd = open_node(SUBMIT_NODE, O_RDWR);
	EXPECT_EQ(-EWOULDBLOCK, unload());
	ASSERT_EQ(0, attach(fd, 1, 0));
	EXPECT_EQ(-EWOULDBLOCK, unload());
	close(fd);
	EXPECT_EQ(0, unload());
}

TEST_F(unload, right_after_seats_lingered)
{
	int control = open_node(CONTROL_NODE, O_RDWR);
	struct kapf_op op = request(0, set_up_queues(control, 1, 1, 1, 1));
	int fd = open_session(1);

	op.final_seats = 1;
	op.additional_latency = 500 * NSEC_PER_MSEC;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(fd, op)));
	ASSERT_EQ(500, finish(fd, 0));
	close(control);
	close(fd);
	EXPECT_EQ(0, unload());
	/* Nor does anything happen when they would have been free. */
	sleep_ms(600);
}

/* Timers that were armed for who is gone find nothing of what was. */
TEST_F(unload, right_after_a_waiter_was_killed)
{
	int i, fd, control;
	__u32 schema;
	pid_t pid;

	for (i = 0; i < 5; i++) {
		control = open_node(CONTROL_NODE, O_RDWR);
		schema = set_up_queues(control, 0, 1, 1, 1);
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			struct kapf_op op = request(0, schema);

			close(control);
			fd = open_session(1);
			op.max_wait = 500 * NSEC_PER_MSEC;
			admit_op(fd, op);
			_exit(0);
		}
		ASSERT_TRUE(await_waiting(control, 1));
		close(control);
		kill(pid, SIGKILL);
		ASSERT_EQ(pid, waitpid(pid, NULL, 0));
		ASSERT_EQ(0, unload());
		sleep_ms(i * 150);
		ASSERT_EQ(0, load(self->module, ""));
	}
}

/*
 * What drains, the worker that looks after it and the one that adjusts limits find
 * nothing of what was, either.
 */
TEST_F_TIMEOUT(unload, while_levels_drain, 120)
{
	struct image image;
	__u32 schema;
	int i, control, fd;

	for (i = 0; i < 10; i++) {
		control = open_node(CONTROL_NODE, O_RDWR);
		image_init(&image);
		image.head.adjustment_period_ms = 100;
		image_queues(&image, "test", 1, 16, 2, 1);
		image_schema(&image, "test", 100, "test", "[]");
		set_up(control, &image);
		schema = schema_id(control, "test");
		fd = open_session(2);
		EXPECT_EQ(KAPF_EXECUTE, admit(fd, 0, schema));
		image_free(&image);
		image_init(&image);
		image.head.adjustment_period_ms = 100;
		ASSERT_EQ(0, set_image(control, &image, NULL));
		image_free(&image);
		EXPECT_EQ(KAPF_STATS_DRAINING,
			  level_stats(control, "test").flags);
		/* So that it is at work, just before, or just after. */
		sleep_ms(60 + 10 * i);
		close(control);
		close(fd);
		ASSERT_EQ(0, unload());
		sleep_ms(20);
		ASSERT_EQ(0, load(self->module, ""));
	}
}

/* Opening and closing against unloading: whoever is first, nothing breaks. */
static void *opener_main(void *arg)
{
	const bool *stop = arg;
	int fd;

	while (!__atomic_load_n(stop, __ATOMIC_RELAXED)) {
		fd = open(SUBMIT_NODE, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		attach(fd, 16, 16);
		admit(fd, 0, 1);
		close(fd);
		/* Closing takes long beside this. */
		sleep_ms(rand() % 8);
	}
	return NULL;
}

TEST_F_TIMEOUT(unload, against_open, 300)
{
	bool stop = false;
	pthread_t thread;
	int i, ret;

	ASSERT_EQ(0, pthread_create(&thread, NULL, opener_main, &stop));
	for (i = 0; i < 30; i++) {
		do {
			ret = unload();
		} while (ret == -EWOULDBLOCK);
		EXPECT_EQ(0, ret);
		EXPECT_EQ(0, load(self->module, ""));
		sleep_ms(5);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

/* Parameters */

static int open_instance(const char *kind, int number)
{
	char path[32];

	snprintf(path, sizeof(path), "/dev/%s%d", kind, number);
	return open(path, O_RDWR | O_CLOEXEC);
}

TEST_F(unload, three_instances)
{
	struct kapf_info info = { .size = sizeof(info) };
	int control[3], fd[3];
	__u32 schema;
	int i;

	ASSERT_EQ(0, unload());
	ASSERT_EQ(0, load(self->module, "instances=3"));
	for (i = 0; i < 3; i++) {
		control[i] = open_instance("kapfctl", i);
		fd[i] = open_instance("kapf", i);
		ASSERT_LE(0, control[i]);
		ASSERT_LE(0, fd[i]);
		ASSERT_EQ(0, attach(fd[i], 1, 0));
		ASSERT_EQ(0, call(fd[i], KAPF_GET_INFO, &info));
		EXPECT_EQ(i, info.instance);
		ASSERT_EQ(0, call(control[i], KAPF_GET_INFO, &info));
		EXPECT_EQ(i, info.instance);
	}
	EXPECT_EQ(-1, open_instance("kapf", 3));
	EXPECT_EQ(-1, open_instance("kapfctl", 3));

	/* What is configured and taken in one is not in another. */
	schema = set_up_queues(control[1], 1, 1, 1, 1);
	EXPECT_EQ(KAPF_EXECUTE, admit(fd[1], 0, schema));
	EXPECT_EQ(1, seats_in_use(control[1], "test"));
	EXPECT_EQ(1, generation(control[0]));
	EXPECT_EQ(0, schema_id(control[2], "test"));
	EXPECT_EQ(schema, set_up_queues(control[2], 1, 1, 1, 1));
	EXPECT_EQ(0, seats_in_use(control[2], "test"));
	EXPECT_EQ(KAPF_EXECUTE, admit(fd[2], 0, schema));
	for (i = 0; i < 3; i++) {
		close(control[i]);
		close(fd[i]);
	}
	EXPECT_EQ(0, unload());
}

TEST_F(unload, parameters_out_of_range)
{
	static const char *const bad[] = {
		"instances=0", "instances=17", "instances=4294967295",
		"instances=-1", "instances=x", "max_inflight=0",
		"max_inflight=65537", "max_sessions=0", "max_queues=0",
	};
	size_t i;
	int ret;

	ASSERT_EQ(0, unload());
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		ret = load(self->module, bad[i]);
		EXPECT_TRUE(ret == -EINVAL || ret == -ERANGE) {
			TH_LOG("%s: %d", bad[i], ret);
		}
		EXPECT_EQ(-1, access(SUBMIT_NODE, F_OK));
		EXPECT_EQ(-1, access(CONTROL_NODE, F_OK));
	}
	EXPECT_EQ(0, load(self->module, "instances=16"));
	EXPECT_EQ(0, access("/dev/kapf15", F_OK));
	EXPECT_EQ(0, access("/dev/kapfctl15", F_OK));
	EXPECT_EQ(0, unload());
}

TEST_F(unload, parameters_that_limit)
{
	struct kapf_info info = { .size = sizeof(info) };
	struct kapf_config_error error;
	struct image image;
	int control, fd[4];
	int i;

	ASSERT_EQ(0, unload());
	ASSERT_EQ(0, load(self->module,
			  "max_inflight=5 max_sessions=3 max_queues=9"));
	control = open_node(CONTROL_NODE, O_RDWR);
	ASSERT_EQ(0, call(control, KAPF_GET_INFO, &info));
	EXPECT_EQ(5, info.max_inflight);
	EXPECT_EQ(3, info.max_sessions);
	EXPECT_EQ(9, info.max_queues);
	for (i = 0; i < 4; i++)
		fd[i] = open_node(SUBMIT_NODE, O_RDWR);
	EXPECT_EQ(-EINVAL, attach(fd[0], 6, 0));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(0, attach(fd[i], 5, 0));
	EXPECT_EQ(-EDQUOT, attach(fd[3], 1, 0));
	for (i = 0; i < 4; i++)
		close(fd[i]);

	image_init(&image);
	image_queues(&image, "ten", 1, 10, 1, 1);
	EXPECT_EQ(-ENOSPC, set_image(control, &image, &error));
	EXPECT_EQ(9, error.max);
	image_free(&image);
	image_init(&image);
	image_queues(&image, "nine", 1, 9, 1, 1);
	EXPECT_EQ(0, set_image(control, &image, NULL));
	image_free(&image);
	close(control);
	EXPECT_EQ(0, unload());
}

TEST_HARNESS_MAIN
