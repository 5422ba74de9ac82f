// SPDX-License-Identifier: GPL-2.0
/*
 * Memory cgroups: what a session needs is charged to the server's group when it
 * attaches, and from then on a server whose group has nothing left can still
 * admit, wait and finish.
 */
#include <sys/stat.h>

#include "kapf_test.h"

#define CGROUPS	"/sys/fs/cgroup"
#define CGROUP	CGROUPS "/kapf-memory-test"

FIXTURE(memory) {
	int control;
	__u32 schema;	/* of a level with 1 seat that queues */
};

static long long read_number(const char *path)
{
	long long value = -1;
	FILE *file = fopen(path, "r");

	if (!file || fscanf(file, "%lld", &value) != 1)
		die(path);
	fclose(file);
	return value;
}

static int write_number(const char *path, long long value)
{
	FILE *file = fopen(path, "w");

	if (!file)
		return -1;
	fprintf(file, "%lld\n", value);
	return fclose(file);
}

FIXTURE_SETUP(memory)
{
	rmdir(CGROUP);
	if (mkdir(CGROUP, 0755) || access(CGROUP "/memory.max", W_OK))
		SKIP(return, "no memory cgroup at %s", CGROUPS);
	self->control = open_node(CONTROL_NODE, O_RDWR);
	self->schema = set_up_queues(self->control, 1, 1, 1, 10);
}

FIXTURE_TEARDOWN(memory)
{
	close(self->control);
	EXPECT_EQ(0, rmdir(CGROUP));
}

/* A process in the group that waits for a byte before it goes on. */
struct member {
	pid_t pid;
	int go;		/* write end */
};

static struct member spawn_member(int (*run)(struct _test_data_memory *, int),
				  struct _test_data_memory *self)
{
	struct member member;
	int ends[2];

	if (pipe(ends))
		die("pipe");
	member.go = ends[1];
	member.pid = fork();
	if (member.pid < 0)
		die("fork");
	if (!member.pid) {
		close(ends[1]);
		if (write_number(CGROUP "/cgroup.procs", getpid()))
			_exit(99);
		_exit(run(self, ends[0]));
	}
	close(ends[0]);
	return member;
}

/* Let it go on to its end. */
static int member_end(struct member *member)
{
	int status;

	if (write(member->go, "", 1) != 1)
		die("write");
	if (waitpid(member->pid, &status, 0) != member->pid)
		die("waitpid");
	close(member->go);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void wait_for_byte(int from)
{
	char byte;

	if (read(from, &byte, 1) != 1)
		_exit(98);
}

/* Attach with room for everything, then say so by a seat. */
static int attach_largest(struct _test_data_memory *self, int from)
{
	struct kapf_info info = { .size = sizeof(info) };
	int fd = open_node(SUBMIT_NODE, O_RDWR);

	if (call(fd, KAPF_GET_INFO, &info))
		return 1;
	wait_for_byte(from);
	if (attach(fd, info.max_inflight, 64) ||
	    admit(fd, 0, self->schema) != KAPF_EXECUTE)
		return 2;
	wait_for_byte(from);
	return 0;
}

/* Does the group come to be charged with less? */
static bool await_less_memory(long long bytes)
{
	int i;

	for (i = 0; i < 500; i++) {
		if (read_number(CGROUP "/memory.current") < bytes)
			return true;
		sleep_ms(20);
	}
	return false;
}

TEST_F(memory, attach_is_charged_to_its_group)
{
	struct kapf_info info = { .size = sizeof(info) };
	struct member member;
	long long before, after;

	ASSERT_EQ(0, call(self->control, KAPF_GET_INFO, &info));
	member = spawn_member(attach_largest, self);
	sleep_ms(500);
	before = read_number(CGROUP "/memory.current");
	ASSERT_EQ(1, write(member.go, "", 1));
	ASSERT_TRUE(await_seats(self->control, 1));
	after = read_number(CGROUP "/memory.current");
	/* At the very least its labels. */
	EXPECT_LE(before + 64LL * info.max_inflight, after);
	EXPECT_EQ(0, member_end(&member));
	/* And given back; the kernel may hold on to some pages for a while. */
	EXPECT_TRUE(await_less_memory(before + 64LL * info.max_inflight / 8));
}

#define BUSY_ROUNDS 2000

/*
 * Two threads share the one seat of the level, so that each admission of this
 * one waits for a finish of the other.
 */
static void *alternate(void *arg)
{
	struct waiter *one = arg;
	int i;

	for (i = 0; i < BUSY_ROUNDS; i++) {
		one->ret = admit_op(one->fd, one->op);
		if (one->ret < 0 || KAPF_VERDICT(one->ret) != KAPF_EXECUTE ||
		    finish(one->fd, one->op.slot))
			return one;
	}
	return NULL;
}

/* Everything is there before the group is full: session, threads, stacks. */
static int serve(struct _test_data_memory *self, int from)
{
	static char label[64] = "user\0verb";
	struct waiter waiters[2];
	struct kapf_op op;
	int fd = open_node(SUBMIT_NODE, O_RDWR);
	void *failed = NULL;
	int i;

	if (attach(fd, 64, sizeof(label)) ||
	    admit(fd, 63, self->schema) != KAPF_EXECUTE)
		return 1;
	for (i = 0; i < 2; i++) {
		op = request(i, self->schema);
		op.label = (uintptr_t)label;
		op.label_len = sizeof(label);
		op.max_wait = KAPF_MAX_WAIT_NS;
		waiters[i].fd = fd;
		waiters[i].op = op;
		if (pthread_create(&waiters[i].thread, NULL, alternate,
				   &waiters[i]))
			return 2;
	}
	wait_for_byte(from);
	if (finish(fd, 63))
		return 3;
	for (i = 0; i < 2 && !failed; i++)
		pthread_join(waiters[i].thread, &failed);
	return failed ? 4 : 0;
}

TEST_F(memory, server_at_its_limit_still_admits)
{
	struct member member = spawn_member(serve, self);
	long long full;

	ASSERT_TRUE(await_seats(self->control, 1));
	ASSERT_TRUE(await_waiting(self->control, 2));
	/* No more than it has now, and nothing to be had by swapping. */
	do {
		full = read_number(CGROUP "/memory.current");
		ASSERT_EQ(0, write_number(CGROUP "/memory.max", full));
	} while (full != read_number(CGROUP "/memory.current"));
	EXPECT_EQ(0, member_end(&member));
	EXPECT_EQ(0, seats_in_use(self->control, "test"));
	EXPECT_EQ(2 * BUSY_ROUNDS + 1,
		  level_stats(self->control, "test").dispatched);
}

/*
 * Who asks for more than the group has is told so, rather than killed, and
 * nothing is left.
 */
static int attach_too_much(struct _test_data_memory *self, int from)
{
	struct kapf_info info = { .size = sizeof(info) };
	int fd = open_node(SUBMIT_NODE, O_RDWR);
	int ret;

	(void)self;
	if (call(fd, KAPF_GET_INFO, &info))
		return 1;
	wait_for_byte(from);
	ret = attach(fd, info.max_inflight, KAPF_MAX_LABEL_BYTES);
	if (ret != -ENOMEM)
		return 2;
	/* It can be tried again with less. */
	return attach(fd, 1, 0) ? 3 : 0;
}

TEST_F(memory, attach_beyond_the_limit)
{
	struct kapf_get_stats get = {
		.size = sizeof(get),
		.level_size = sizeof(struct kapf_level_stats),
		.schema_size = sizeof(struct kapf_schema_stats),
	};
	struct member member;

	ASSERT_EQ(0, write_number(CGROUP "/memory.max", 16 << 20));
	member = spawn_member(attach_too_much, self);
	EXPECT_EQ(0, member_end(&member));
	ASSERT_EQ(0, call(self->control, KAPF_GET_STATS, &get));
	EXPECT_EQ(0, get.nr_sessions);
}

TEST_HARNESS_MAIN
