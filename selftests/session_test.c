// SPDX-License-Identifier: GPL-2.0
/*
 * How long a session lives, and whose it is: seats come back when its process
 * closes the file or dies, at once and all of them, whoever else has a copy of
 * the file; and nobody else can use it.
 */
#include "passing.h"

FIXTURE(session) {
	int control;
	__u32 schema;	/* of a level with 2 seats that queues */
};

FIXTURE_SETUP(session)
{
	self->control = open_node(CONTROL_NODE, O_RDWR);
	self->schema = set_up_queues(self->control, 2, 1, 1, 10);
}

FIXTURE_TEARDOWN(session)
{
	close(self->control);
}

/* Until somebody kills this process, or a failed test has forgotten it. */
static void pause_forever(void)
{
	signal(SIGALRM, SIG_DFL);
	alarm(60);
	for (;;)
		pause();
}

/* A process with a session of its own that holds @seats, or waits for them. */
static pid_t spawn_holder(__u32 schema, __u32 seats)
{
	pid_t pid = fork();
	__u32 slot;
	int fd;

	if (pid < 0)
		die("fork");
	if (pid)
		return pid;
	fd = open_session(seats);
	for (slot = 0; slot < seats; slot++)
		if (admit(fd, slot, schema) != KAPF_EXECUTE)
			_exit(1);
	pause_forever();
	return 0;
}

/* Nothing is executing, lingering or waiting any more. */
#define EXPECT_IDLE() do {						\
	EXPECT_EQ(0, seats_in_use(self->control, "test"));		\
	EXPECT_EQ(0, requests_known(self->control));			\
} while (0)

/* Two processes on one level */

TEST_F(session, processes_share_a_level)
{
	pid_t pid = spawn_holder(self->schema, 1);
	struct kapf_op op = request(1, self->schema);
	int fd = open_session(4);

	ASSERT_TRUE(await_seats(self->control, 1));
	EXPECT_EQ(KAPF_EXECUTE, admit(fd, 0, self->schema));
	op.flags = KAPF_OP_NOQUEUE;
	EXPECT_EQ(KAPF_CONCURRENCY_LIMIT, KAPF_VERDICT(admit_op(fd, op)));
	kill_and_reap(pid);
	EXPECT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(fd, op)));
	close(fd);
	EXPECT_IDLE();
}

TEST_F(session, finish_wakes_a_waiter_in_another_process)
{
	int fd = open_session(2);
	pid_t pid;

	ASSERT_EQ(KAPF_EXECUTE, admit(fd, 0, self->schema));
	ASSERT_EQ(KAPF_EXECUTE, admit(fd, 1, self->schema));
	pid = spawn_holder(self->schema, 1);
	ASSERT_TRUE(await_waiting(self->control, 1));
	EXPECT_EQ(0, finish(fd, 0));
	EXPECT_TRUE(await_waiting(self->control, 0));
	EXPECT_EQ(2, seats_in_use(self->control, "test"));
	EXPECT_EQ(0, finish(fd, 1));
	EXPECT_EQ(1, seats_in_use(self->control, "test"));
	kill_and_reap(pid);
	EXPECT_IDLE();
	close(fd);
}

/* Death */

TEST_F(session, killed_holder)
{
	pid_t pid;
	int i;

	for (i = 0; i < 30; i++) {
		pid = spawn_holder(self->schema, 2);
		ASSERT_TRUE(await_seats(self->control, 2));
		kill_and_reap(pid);
		EXPECT_IDLE();
	}
}

TEST_F(session, killed_waiter)
{
	__u64 cancelled;
	int fd = open_session(2);
	pid_t pid;
	int i;

	ASSERT_EQ(KAPF_EXECUTE, admit(fd, 0, self->schema));
	ASSERT_EQ(KAPF_EXECUTE, admit(fd, 1, self->schema));
	for (i = 0; i < 30; i++) {
		cancelled = level_stats(self->control, "test")
			    .rejected_cancelled;
		pid = spawn_holder(self->schema, 1);
		ASSERT_TRUE(await_waiting(self->control, 1));
		kill_and_reap(pid);
		EXPECT_EQ(0, level_stats(self->control, "test")
			  .waiting_requests);
		EXPECT_EQ(cancelled + 1, level_stats(self->control, "test")
			  .rejected_cancelled);
	}
	close(fd);
	EXPECT_IDLE();
}

TEST_F(session, killed_holder_makes_room_for_a_waiter)
{
	pid_t pid = spawn_holder(self->schema, 2);
	struct waiter waiters[2];
	int fd = open_session(2);

	ASSERT_TRUE(await_seats(self->control, 2));
	waiter_start(&waiters[0], fd, request(0, self->schema));
	waiter_start(&waiters[1], fd, request(1, self->schema));
	ASSERT_TRUE(await_waiting(self->control, 2));
	kill_and_reap(pid);
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&waiters[0]));
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&waiters[1]));
	EXPECT_EQ(2, seats_in_use(self->control, "test"));
	close(fd);
	EXPECT_IDLE();
}

/* The grant and the death of the waiter come at the same moment. */
TEST_F(session, waiter_killed_while_it_is_granted)
{
	int fd = open_session(2);
	pid_t pid;
	int i;

	ASSERT_EQ(KAPF_EXECUTE, admit(fd, 0, self->schema));
	for (i = 0; i < 200; i++) {
		ASSERT_EQ(KAPF_EXECUTE, admit(fd, 1, self->schema));
		pid = spawn_holder(self->schema, 1);
		ASSERT_TRUE(await_waiting(self->control, 1));
		if (i & 1)
			kill(pid, SIGKILL);
		ASSERT_EQ(0, finish(fd, 1));
		kill_and_reap(pid);
		ASSERT_EQ(1, seats_in_use(self->control, "test"));
		ASSERT_EQ(1, requests_known(self->control));
	}
	close(fd);
	EXPECT_IDLE();
}

TEST_F(session, killed_with_lingering_seats)
{
	struct kapf_op op = request(0, self->schema);
	int fd;
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid) {
		fd = open_session(1);
		op.final_seats = 1;
		op.additional_latency = KAPF_MAX_ADDITIONAL_LATENCY_NS;
		if (KAPF_VERDICT(admit_op(fd, op)) != KAPF_EXECUTE)
			_exit(1);
		finish(fd, 0);
		pause_forever();
	}
	ASSERT_TRUE(await_lingering(self->control, 1));
	kill_and_reap(pid);
	EXPECT_IDLE();
}

TEST_F(session, killed_with_exempt_requests)
{
	pid_t pid = spawn_holder(schema_id(self->control, "exempt"), 100);
	int tries = 10000;

	while (seats_in_use(self->control, "exempt") != 100 && tries--)
		sleep_ms(1);
	EXPECT_EQ(100, seats_in_use(self->control, "exempt"));
	kill_and_reap(pid);
	EXPECT_EQ(0, seats_in_use(self->control, "exempt"));
	EXPECT_EQ(0, level_stats(self->control, "exempt").executing_requests);
}

TEST_F(session, killed_with_ten_thousand_slots_executing)
{
	struct waiter waiter;
	int fd = open_session(1);
	pid_t pid;

	self->schema = set_up_queues(self->control, 10000, 1, 1, 1);
	pid = spawn_holder(self->schema, 10000);
	ASSERT_TRUE(await_seats(self->control, 10000));
	waiter_start(&waiter, fd, request(0, self->schema));
	ASSERT_TRUE(await_waiting(self->control, 1));
	kill_and_reap(pid);
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&waiter));
	EXPECT_EQ(1, seats_in_use(self->control, "test"));
	EXPECT_EQ(1, requests_known(self->control));
	close(fd);
	EXPECT_IDLE();
}

/* Half of the threads of a process wait when it exits. */
TEST_F(session, exit_with_threads_that_wait)
{
	struct waiter waiters[8];
	pid_t pid = fork();
	int i, fd;

	ASSERT_LE(0, pid);
	if (!pid) {
		fd = open_session(8);
		for (i = 0; i < 8; i++)
			waiter_start(&waiters[i], fd, request(i, self->schema));
		while (level_stats(self->control, "test").waiting_requests != 6)
			sleep_ms(1);
		_exit(0);
	}
	reap(pid);
	EXPECT_IDLE();
	EXPECT_EQ(6, level_stats(self->control, "test").rejected_cancelled);
	EXPECT_EQ(2, level_stats(self->control, "test").dispatched);
}

/* Copies of the file */

TEST_F(session, last_close_of_a_dup_counts)
{
	int fd = open_session(1);
	int copy = dup(fd);

	ASSERT_EQ(KAPF_EXECUTE, admit(fd, 0, self->schema));
	close(fd);
	EXPECT_EQ(1, seats_in_use(self->control, "test"));
	EXPECT_EQ(-EBUSY, admit(copy, 0, self->schema));
	EXPECT_EQ(0, finish(copy, 0));
	ASSERT_EQ(KAPF_EXECUTE, admit(copy, 0, self->schema));
	close(copy);
	EXPECT_IDLE();
}

TEST_F(session, close_gives_back_lingering_seats)
{
	struct kapf_op op = request(0, self->schema);
	int fd = open_session(1);

	op.final_seats = 2;
	op.additional_latency = KAPF_MAX_ADDITIONAL_LATENCY_NS;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(fd, op)));
	ASSERT_EQ(60000, finish(fd, 0));
	EXPECT_EQ(2, seats_in_use(self->control, "test"));
	close(fd);
	EXPECT_IDLE();
}

/* No call outlives the session: who waits is told that it has ended. */
TEST_F(session, close_while_a_thread_waits)
{
	int holder = open_session(2);
	int fd = open_session(1);
	struct waiter waiter;

	ASSERT_EQ(KAPF_EXECUTE, admit(holder, 0, self->schema));
	ASSERT_EQ(KAPF_EXECUTE, admit(holder, 1, self->schema));
	waiter_start(&waiter, fd, request(0, self->schema));
	ASSERT_TRUE(await_waiting(self->control, 1));
	close(fd);
	EXPECT_EQ(0, level_stats(self->control, "test").waiting_requests);
	EXPECT_EQ(-ESHUTDOWN, waiter_join(&waiter));
	EXPECT_EQ(1, level_stats(self->control, "test").rejected_cancelled);
	close(holder);
	EXPECT_IDLE();
}

/* A process that has a copy of all files of this one, and does nothing. */
static pid_t spawn_keeper(void)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid)
		pause_forever();
	return pid;
}

TEST_F(session, close_while_another_process_has_the_file)
{
	struct kapf_op op = request(1, self->schema);
	int fd = open_session(2);
	int copy = dup(fd);
	pid_t pid = spawn_keeper();

	op.additional_latency = KAPF_MAX_ADDITIONAL_LATENCY_NS;
	ASSERT_EQ(KAPF_EXECUTE, admit(fd, 0, self->schema));
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(fd, op)));
	ASSERT_EQ(60000, finish(fd, 1));
	close(fd);
	EXPECT_EQ(2, seats_in_use(self->control, "test"));
	EXPECT_EQ(0, finish(copy, 0));
	ASSERT_EQ(KAPF_EXECUTE, admit(copy, 0, self->schema));
	close(copy);
	EXPECT_IDLE();
	EXPECT_EQ(0, kill(pid, 0));
	kill_and_reap(pid);
}

/* Threads that are at work when the file is closed under them. */

#define ROUNDS 400

struct worker {
	pthread_t thread;
	pthread_barrier_t *barrier;
	const int *fd;
	__u32 slot;
	__u32 schema;
	int ret;
};

static void *worker_main(void *arg)
{
	struct worker *worker = arg;
	int round, ret;

	for (round = 0; round < ROUNDS; round++) {
		pthread_barrier_wait(worker->barrier);
		do {
			ret = admit(*worker->fd, worker->slot, worker->schema);
			if (ret == KAPF_EXECUTE)
				ret = finish(*worker->fd, worker->slot);
		} while (!ret);
		worker->ret = ret;
		pthread_barrier_wait(worker->barrier);
	}
	return NULL;
}

/*
 * In every other round the file lives on in a message, so that it is not its
 * release that ends the session, but the close.
 */
TEST_F_TIMEOUT(session, close_against_calls, 60)
{
	const __u32 exempt = schema_id(self->control, "exempt");
	int fd, round, sockets[2];
	pthread_barrier_t barrier;
	struct worker workers[4];
	__u32 i;

	pthread_barrier_init(&barrier, NULL, 5);
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	for (i = 0; i < 4; i++) {
		workers[i] = (struct worker){
			.barrier = &barrier, .fd = &fd, .slot = i,
			.schema = i & 1 ? self->schema : exempt,
		};
		ASSERT_EQ(0, pthread_create(&workers[i].thread, NULL,
					    worker_main, &workers[i]));
	}
	for (round = 0; round < ROUNDS; round++) {
		fd = open_session(4);
		if (round & 1)
			send_file(sockets[0], fd);
		pthread_barrier_wait(&barrier);
		usleep(round % 50 * 20);
		close(fd);
		pthread_barrier_wait(&barrier);
		for (i = 0; i < 4; i++) {
			ASSERT_TRUE(workers[i].ret == -ESHUTDOWN ||
				    workers[i].ret == -EBADF) {
				TH_LOG("ended with %d", workers[i].ret);
			}
		}
		ASSERT_EQ(0, seats_in_use(self->control, "exempt"));
		ASSERT_EQ(0, seats_in_use(self->control, "test"));
		ASSERT_EQ(0, requests_known(self->control));
		if (round & 1)
			close(receive_file(sockets[1]));
	}
	for (i = 0; i < 4; i++)
		pthread_join(workers[i].thread, NULL);
}

/* What a process that has the file, but not the session, gets; 0: all EPERM. */
static int try_foreign_session(int fd, __u32 schema)
{
	struct kapf_info info = { .size = sizeof(info) };
	struct kapf_get_config get = { .size = sizeof(get) };
	struct kapf_get_requests requests = {
		.size = sizeof(requests),
		.request_size = sizeof(struct kapf_request_info),
	};

	if (admit(fd, 0, schema) != -EPERM || admit(fd, 1, schema) != -EPERM)
		return 1;
	if (finish(fd, 0) != -EPERM || finish(fd, 1) != -EPERM)
		return 2;
	if (call(fd, KAPF_GET_CONFIG, &get) != -EPERM)
		return 3;
	if (call(fd, KAPF_GET_REQUESTS, &requests) != -EPERM)
		return 4;
	if (attach(fd, 1, 0) != -EPERM)
		return 5;
	return call(fd, KAPF_GET_INFO, &info) ? 6 : 0;
}

TEST_F(session, child_cannot_use_it_and_does_not_end_it)
{
	int fd = open_session(2);
	int status;
	pid_t pid;

	ASSERT_EQ(KAPF_EXECUTE, admit(fd, 0, self->schema));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(try_foreign_session(fd, self->schema));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFEXITED(status));
	EXPECT_EQ(0, WEXITSTATUS(status));
	/* The child has closed its copy, and died. */
	EXPECT_EQ(1, seats_in_use(self->control, "test"));
	EXPECT_EQ(0, finish(fd, 0));
	EXPECT_EQ(KAPF_EXECUTE, admit(fd, 1, self->schema));
	close(fd);
	EXPECT_IDLE();
}

/* The child outlives the process whose session it is. */
static void outlived(struct __test_metadata *_metadata,
		     struct _test_data_session *self, bool killed)
{
	pid_t *child = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct waiter waiter;
	pid_t pid, copy;
	int fd;

	ASSERT_NE(MAP_FAILED, child);
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		fd = open_session(3);
		if (admit(fd, 0, self->schema) != KAPF_EXECUTE ||
		    admit(fd, 1, self->schema) != KAPF_EXECUTE)
			_exit(1);
		copy = fork();
		if (!copy)
			pause_forever();
		*child = copy;
		waiter_start(&waiter, fd, request(2, self->schema));
		if (killed)
			pause_forever();
		while (!level_stats(self->control, "test").waiting_requests)
			sleep_ms(1);
		_exit(0);
	}
	if (killed) {
		ASSERT_TRUE(await_waiting(self->control, 1));
		kill(pid, SIGKILL);
	}
	reap(pid);
	EXPECT_IDLE();
	EXPECT_EQ(2, level_stats(self->control, "test").dispatched);
	EXPECT_EQ(1, level_stats(self->control, "test").rejected_cancelled);
	ASSERT_LT(0, *child);
	EXPECT_EQ(0, kill(*child, 0));
	/* Nor does it do any harm when the child dies at last. */
	kill(*child, SIGKILL);
	fd = open_session(1);
	EXPECT_EQ(KAPF_EXECUTE, admit(fd, 0, self->schema));
	close(fd);
}

TEST_F(session, child_outlives_the_killed)
{
	outlived(_metadata, self, true);
}

TEST_F(session, child_outlives_the_exiting)
{
	outlived(_metadata, self, false);
}

TEST_F(session, file_sent_to_another_process)
{
	int sockets[2], fd, status;
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(try_foreign_session(receive_file(sockets[1]),
					  self->schema));
	fd = open_session(2);
	ASSERT_EQ(KAPF_EXECUTE, admit(fd, 0, self->schema));
	send_file(sockets[0], fd);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFEXITED(status));
	EXPECT_EQ(0, WEXITSTATUS(status));
	EXPECT_EQ(0, finish(fd, 0));
	close(fd);
}

/* A file that is not yet a session becomes that of who attaches it. */
TEST_F(session, file_attached_by_another_process)
{
	int fd = open_node(SUBMIT_NODE, O_RDWR);
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid) {
		if (attach(fd, 1, 0) ||
		    admit(fd, 0, self->schema) != KAPF_EXECUTE)
			_exit(1);
		pause_forever();
	}
	ASSERT_TRUE(await_seats(self->control, 1));
	EXPECT_EQ(-EPERM, finish(fd, 0));
	kill_and_reap(pid);
	EXPECT_IDLE();
	EXPECT_NE(KAPF_EXECUTE, admit(fd, 0, self->schema));
	close(fd);
}

/* A process that replaces its program, with the file and without it */
static pid_t spawn_exec(__u32 schema, int descriptor_flags, bool with_dup)
{
	pid_t pid = fork();
	int fd;

	if (pid < 0)
		die("fork");
	if (pid)
		return pid;
	fd = open_session(1);
	fcntl(fd, F_SETFD, descriptor_flags);
	if (with_dup && dup(fd) < 0)
		_exit(1);
	if (admit(fd, 0, schema) != KAPF_EXECUTE)
		_exit(1);
	execl("/bin/sleep", "sleep", "60", NULL);
	_exit(1);
}

TEST_F(session, exec_that_closes_the_file)
{
	pid_t pid = spawn_exec(self->schema, FD_CLOEXEC, false);
	__u64 end = now_ns() + 10 * NSEC_PER_SEC;

	while (!level_stats(self->control, "test").dispatched &&
	       now_ns() < end)
		sleep_ms(1);
	EXPECT_TRUE(await_seats(self->control, 0));
	EXPECT_EQ(1, level_stats(self->control, "test").dispatched);
	EXPECT_EQ(0, waitpid(pid, NULL, WNOHANG));
	kill_and_reap(pid);
}

/* One descriptor is closed by the exec, another one is not. */
TEST_F(session, exec_that_keeps_a_dup)
{
	pid_t pid = spawn_exec(self->schema, FD_CLOEXEC, true);

	ASSERT_TRUE(await_seats(self->control, 1));
	sleep_ms(200);
	EXPECT_EQ(1, seats_in_use(self->control, "test"));
	EXPECT_EQ(0, waitpid(pid, NULL, WNOHANG));
	kill_and_reap(pid);
	EXPECT_IDLE();
}

TEST_F(session, exec_that_keeps_the_file)
{
	pid_t pid = spawn_exec(self->schema, 0, false);

	ASSERT_TRUE(await_seats(self->control, 1));
	sleep_ms(200);
	EXPECT_EQ(1, seats_in_use(self->control, "test"));
	EXPECT_EQ(0, waitpid(pid, NULL, WNOHANG));
	kill_and_reap(pid);
	EXPECT_IDLE();
}

TEST_HARNESS_MAIN
