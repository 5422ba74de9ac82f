// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions whose process loses the file in unusual ways, while somebody else,
 * the heir, has a copy of it: closed by a process that shares the table of open
 * files, closed while ATTACH is under way.  And requests of exempt levels, which
 * nobody counts in one place, counted while they move between CPUs.
 */
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "kapf_test.h"

FIXTURE(orphan) {
	int control;
	__u32 schema;	/* of a level with 2 seats that queues */
};

FIXTURE_SETUP(orphan)
{
	self->control = open_node(CONTROL_NODE, O_RDWR);
	self->schema = set_up_queues(self->control, 2, 1, 1, 10);
}

FIXTURE_TEARDOWN(orphan)
{
	close(self->control);
}

/* A process that keeps what it has open for a minute, or until it is killed. */
static pid_t spawn_heir(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	sleep(60);
	_exit(0);
}

/* Like fork(), but with one table of open files for both. */
static pid_t fork_sharing_files(void)
{
	return syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL,
		       NULL);
}

static __u32 nr_sessions(int control)
{
	struct kapf_get_stats get = {
		.size = sizeof(get),
		.level_size = sizeof(struct kapf_level_stats),
		.schema_size = sizeof(struct kapf_schema_stats),
	};

	if (call(control, KAPF_GET_STATS, &get))
		die("GET_STATS");
	return get.nr_sessions;
}

TEST_F(orphan, closed_by_who_shares_the_table)
{
	int fd = open_session(1);
	pid_t heir, sharer;

	ASSERT_EQ(KAPF_EXECUTE, admit(fd, 0, self->schema));
	heir = spawn_heir();
	sharer = fork_sharing_files();
	if (!sharer) {
		close(fd);
		_exit(0);
	}
	ASSERT_EQ(sharer, waitpid(sharer, NULL, 0));
	EXPECT_EQ(0, seats_in_use(self->control, "test"));
	EXPECT_EQ(0, nr_sessions(self->control));
	EXPECT_EQ(-1, fcntl(fd, F_GETFD));
	kill_and_reap(heir);
}

/* The owner of a session, which dies and leaves an heir and a sharer. */
static void die_as_owner(__u32 schema, pid_t *left)
{
	int fd = open_session(1);
	pid_t sharer;

	if (admit(fd, 0, schema) != KAPF_EXECUTE)
		die("admit");
	left[0] = spawn_heir();
	sharer = fork_sharing_files();
	if (!sharer) {
		sleep(60);
		_exit(0);
	}
	left[1] = sharer;
	raise(SIGKILL);
}

TEST_F(orphan, table_outlives_its_process)
{
	pid_t *left = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t owner;

	ASSERT_NE(MAP_FAILED, left);
	owner = fork();
	if (!owner)
		die_as_owner(self->schema, left);
	ASSERT_EQ(owner, waitpid(owner, NULL, 0));
	EXPECT_EQ(1, seats_in_use(self->control, "test"));
	kill(left[1], SIGKILL);
	EXPECT_TRUE(await_seats(self->control, 0));
	EXPECT_EQ(0, nr_sessions(self->control));
	kill(left[0], SIGKILL);
	munmap(left, 4096);
}

struct attacher {
	int fd;
	__u32 slots;
	int ret;
};

static void *attacher_main(void *arg)
{
	struct attacher *attacher = arg;

	attacher->ret = attach(attacher->fd, attacher->slots,
			       KAPF_MAX_LABEL_BYTES);
	return NULL;
}

/* How long it takes to attach undisturbed, in us. */
static __u64 time_attaching(struct attacher *attacher)
{
	__u64 begin = now_ns();

	attacher->fd = open_node(SUBMIT_NODE, O_RDWR);
	attacher_main(attacher);
	close(attacher->fd);
	if (attacher->ret)
		die("attach");
	return (now_ns() - begin) / 1000;
}

TEST_F_TIMEOUT(orphan, closed_while_it_attaches, 60)
{
	struct attacher attacher = { .slots = 512 };
	pthread_t thread;
	pid_t heir;
	__u64 us;
	int round;

	/* So many that it takes a while, however fast the kernel is. */
	do {
		attacher.slots *= 2;
		us = time_attaching(&attacher);
	} while (us < 10000 && attacher.slots < 65536);
	for (round = 0; round < 20; round++) {
		attacher.fd = open_node(SUBMIT_NODE, O_RDWR);
		heir = spawn_heir();
		ASSERT_EQ(0, pthread_create(&thread, NULL, attacher_main,
					    &attacher));
		usleep(us * round / 20);
		close(attacher.fd);
		pthread_join(thread, NULL);
		EXPECT_TRUE(attacher.ret == 0 || attacher.ret == -EBADF ||
			    attacher.ret == -ESHUTDOWN) {
			TH_LOG("ATTACH: %d", attacher.ret);
		}
		EXPECT_EQ(0, nr_sessions(self->control));
		kill_and_reap(heir);
	}
}

static void move_to_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

struct mover {
	pthread_t thread;
	int fd;
	__u32 slot;
	__u32 schema;
	atomic_bool *stop;
};

static void *mover_main(void *arg)
{
	struct mover *mover = arg;

	while (!*mover->stop) {
		move_to_cpu(mover->slot % 2);
		if (KAPF_VERDICT(admit(mover->fd, mover->slot,
				       mover->schema)) != KAPF_EXECUTE)
			die("admit");
		move_to_cpu((mover->slot + 1) % 2);
		if (finish(mover->fd, mover->slot))
			die("finish");
	}
	return NULL;
}

TEST_F(orphan, exempt_requests_that_move)
{
	const __u64 end = now_ns() + 3 * NSEC_PER_SEC;
	atomic_bool stop = false;
	struct mover movers[4];
	int fd = open_session(4);
	__u32 i;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "needs two CPUs");
	for (i = 0; i < 4; i++) {
		movers[i] = (struct mover){
			.fd = fd, .slot = i, .stop = &stop,
			.schema = schema_id(self->control, "exempt"),
		};
		ASSERT_EQ(0, pthread_create(&movers[i].thread, NULL,
					    mover_main, &movers[i]));
	}
	while (now_ns() < end) {
		struct kapf_level_stats stats = level_stats(self->control,
							    "exempt");

		/* Those that come meanwhile may be in; none below zero. */
		ASSERT_GT(1u << 31, stats.executing_requests);
		ASSERT_GT(1u << 31, stats.lingering_requests);
		ASSERT_GT(1u << 31, stats.seats_in_use);
	}
	stop = true;
	for (i = 0; i < 4; i++)
		pthread_join(movers[i].thread, NULL);
	EXPECT_EQ(0, level_stats(self->control, "exempt").executing_requests);
	EXPECT_EQ(0, seats_in_use(self->control, "exempt"));
	close(fd);
}

TEST_HARNESS_MAIN
