// SPDX-License-Identifier: GPL-2.0
/*
 * EVICT: a session is ended from outside.  Whatever its process is doing, all that
 * it holds is free when the call returns, all that sleeps for it wakes up, and
 * however the call meets the session's own end, each of the two is done once.
 */
#include <sys/epoll.h>

#include "passing.h"

FIXTURE(evict) {
	int control;
	__u32 schema;	/* of a level with 2 seats that queues */
	int fd;		/* a session, */
	__u64 number;	/* its number */
};

FIXTURE_SETUP(evict)
{
	self->control = open_node(CONTROL_NODE, O_RDWR);
	self->schema = set_up_queues(self->control, 2, 1, 1, 10);
	self->fd = open_session(4);
	self->number = last_session(self->control);
}

FIXTURE_TEARDOWN(evict)
{
	close(self->fd);
	close(self->control);
}

static int evict(int control, __u64 session)
{
	struct kapf_evict arg = { .size = sizeof(arg), .session = session };

	return call(control, KAPF_EVICT, &arg);
}

/* The same, and what came back. */
#define EXPECT_EVICTS(nr_requests, nr_seats, nr_waiting) do {		\
	struct kapf_evict _evict = {					\
		.size = sizeof(_evict), .session = self->number,	\
	};								\
									\
	EXPECT_EQ(0, call(self->control, KAPF_EVICT, &_evict));		\
	EXPECT_EQ(nr_requests, _evict.requests);			\
	EXPECT_EQ(nr_seats, _evict.seats);				\
	EXPECT_EQ(nr_waiting, _evict.waiting);				\
} while (0)

/* Nothing is executing, lingering or waiting any more. */
#define EXPECT_IDLE() do {						\
	EXPECT_EQ(0, seats_in_use(self->control, "test"));		\
	EXPECT_EQ(0, seats_in_use(self->control, "exempt"));		\
	EXPECT_EQ(0, requests_known(self->control));			\
} while (0)

/* A session of this process that takes both seats. */
static int take_both_seats(__u32 schema)
{
	int fd = open_session(2);

	if (admit(fd, 0, schema) != KAPF_EXECUTE ||
	    admit(fd, 1, schema) != KAPF_EXECUTE)
		die("the level is not empty");
	return fd;
}

TEST_F(evict, gives_seats_back)
{
	struct kapf_op wide = request(0, schema_id(self->control, "exempt"));

	wide.initial_seats = 7;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, wide)));
	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 1, self->schema));
	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 2, self->schema));
	ASSERT_EQ(2, seats_in_use(self->control, "test"));
	EXPECT_EVICTS(3, 9, 0);
	EXPECT_IDLE();
}

TEST_F(evict, gives_lingering_seats_back)
{
	struct kapf_op op = request(0, self->schema);

	op.final_seats = 2;
	op.additional_latency = KAPF_MAX_ADDITIONAL_LATENCY_NS;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	ASSERT_EQ(60000, finish(self->fd, 0));
	ASSERT_EQ(2, seats_in_use(self->control, "test"));
	EXPECT_EVICTS(1, 2, 0);
	EXPECT_IDLE();
}

TEST_F(evict, makes_room_for_others)
{
	struct waiter waiter;
	int other = open_session(1);

	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 0, self->schema));
	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 1, self->schema));
	waiter_start(&waiter, other, request(0, self->schema));
	ASSERT_TRUE(await_waiting(self->control, 1));
	EXPECT_EVICTS(2, 2, 0);
	EXPECT_EQ(1, seats_in_use(self->control, "test"));
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&waiter));
	EXPECT_EQ(0, finish(other, 0));
	close(other);
}

/* All that there is to call, after the end. */
TEST_F(evict, leaves_nothing_to_be_used)
{
	struct kapf_get_config config = { .size = sizeof(config) };
	struct kapf_info info = { .size = sizeof(info) };
	struct kapf_op op = request(3, self->schema);
	struct kapf_submit submit = {
		.size = sizeof(submit), .op_size = sizeof(struct kapf_op),
		.event_size = sizeof(struct kapf_event),
		.nr_ops = 1, .ops = (uintptr_t)&op,
	};
	struct kapf_event event;

	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 0, self->schema));
	EXPECT_EVICTS(1, 1, 0);
	EXPECT_EQ(-ESHUTDOWN, admit(self->fd, 0, self->schema));
	EXPECT_EQ(-ESHUTDOWN, admit(self->fd, 1, self->schema));
	EXPECT_EQ(-ESHUTDOWN, finish(self->fd, 0));
	EXPECT_EQ(-ESHUTDOWN, cancel(self->fd, 0));
	EXPECT_EQ(-ESHUTDOWN, call(self->fd, KAPF_SUBMIT, &submit));
	EXPECT_EQ(-ESHUTDOWN, write_ops(self->fd, &op, 1));
	EXPECT_EQ(-ESHUTDOWN, read_events(self->fd, &event, 1));
	EXPECT_EQ(-ESHUTDOWN, call(self->fd, KAPF_GET_CONFIG, &config));
	EXPECT_EQ(-ESHUTDOWN, attach(self->fd, 1, 0));
	EXPECT_EQ(0, call(self->fd, KAPF_GET_INFO, &info));
	EXPECT_EQ(POLLHUP | POLLERR, poll_now(self->fd));
	EXPECT_IDLE();

	/* Another session is another one. */
	close(self->fd);
	self->fd = open_session(1);
	EXPECT_NE(self->number, last_session(self->control));
	EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, 0, self->schema));
	EXPECT_EQ(0, finish(self->fd, 0));
}

TEST_F(evict, needs_a_session)
{
	int reader = open_node(CONTROL_NODE, O_RDONLY);
	int other = open_session(1);
	__u64 closed = last_session(self->control);

	close(other);
	EXPECT_EQ(-ENOENT, evict(self->control, 0));
	EXPECT_EQ(-ENOENT, evict(self->control, self->number - 1));
	EXPECT_EQ(-ENOENT, evict(self->control, closed));
	EXPECT_EQ(-ENOENT, evict(self->control, ~0ULL));
	EXPECT_EQ(-EPERM, evict(reader, self->number));
	EXPECT_EQ(-ENOTTY, evict(self->fd, self->number));
	/* Nothing has happened so far. */
	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 0, self->schema));
	EXPECT_EVICTS(1, 1, 0);
	EXPECT_EQ(-ENOENT, evict(self->control, self->number));
	close(reader);
}

/* Sleepers */

TEST_F(evict, wakes_who_waits_in_admit)
{
	int holder = take_both_seats(self->schema);
	struct kapf_op op = request(2, self->schema);
	struct waiter waiters[2];

	op.flags = KAPF_OP_NOWAIT;
	waiter_start(&waiters[0], self->fd, request(0, self->schema));
	waiter_start(&waiters[1], self->fd, request(1, self->schema));
	ASSERT_TRUE(await_waiting(self->control, 2));
	ASSERT_EQ(KAPF_QUEUED, KAPF_VERDICT(admit_op(self->fd, op)));
	EXPECT_EVICTS(0, 0, 3);
	EXPECT_EQ(0, level_stats(self->control, "test").waiting_requests);
	EXPECT_EQ(3, level_stats(self->control, "test").rejected_cancelled);
	EXPECT_EQ(2, seats_in_use(self->control, "test"));
	EXPECT_EQ(-ESHUTDOWN, waiter_join(&waiters[0]));
	EXPECT_EQ(-ESHUTDOWN, waiter_join(&waiters[1]));
	/* The others do not notice. */
	EXPECT_EQ(0, finish(holder, 0));
	EXPECT_EQ(0, finish(holder, 1));
	close(holder);
	EXPECT_IDLE();
}

/**
 * struct sleeper - a thread that sleeps for events
 * @thread: it
 * @call: in which it sleeps
 * @fd: of the session
 * @ret: what the call returned
 */
struct sleeper {
	pthread_t thread;
	int (*call)(int fd);
	int fd;
	int ret;
};

static int sleep_in_read(int fd)
{
	struct kapf_event event;

	return read(fd, &event, sizeof(event)) < 0 ? -errno : 0;
}

static int sleep_in_submit(int fd)
{
	struct kapf_event event;
	struct kapf_submit submit = {
		.size = sizeof(submit), .op_size = sizeof(struct kapf_op),
		.event_size = sizeof(event), .events = (uintptr_t)&event,
		.nr_events = 1, .min_complete = 1, .timeout = KAPF_FOREVER,
	};

	return call(fd, KAPF_SUBMIT, &submit);
}

static int sleep_in_poll(int fd)
{
	struct pollfd poller = { .fd = fd, .events = POLLIN };

	return poll(&poller, 1, 10000) < 0 ? -errno : poller.revents;
}

static int sleep_in_epoll(int fd)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int ret, epoll = epoll_create1(0);

	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		die("epoll");
	ret = epoll_wait(epoll, &event, 1, 10000);
	close(epoll);
	return ret == 1 ? (int)event.events : -ETIME;
}

static void *sleeper_main(void *arg)
{
	struct sleeper *sleeper = arg;

	sleeper->ret = sleeper->call(sleeper->fd);
	return NULL;
}

TEST_F(evict, wakes_who_waits_for_events)
{
	struct sleeper sleepers[] = {
		{ .call = sleep_in_read }, { .call = sleep_in_submit },
		{ .call = sleep_in_poll }, { .call = sleep_in_epoll },
		{ .call = sleep_in_read }, { .call = sleep_in_poll },
	};
	struct sleeper *sleeper, *end = sleepers + ARRAY_SIZE(sleepers);

	for (sleeper = sleepers; sleeper < end; sleeper++) {
		sleeper->fd = self->fd;
		ASSERT_EQ(0, pthread_create(&sleeper->thread, NULL,
					    sleeper_main, sleeper));
	}
	sleep_ms(50);
	EXPECT_EVICTS(0, 0, 0);
	for (sleeper = sleepers; sleeper < end; sleeper++) {
		pthread_join(sleeper->thread, NULL);
		EXPECT_EQ(sleeper->call == sleep_in_poll ||
			  sleeper->call == sleep_in_epoll ?
			  POLLHUP | POLLERR : -ESHUTDOWN, sleeper->ret);
	}
}

/* Decisions that nobody has read: a grant and a refusal. */
TEST_F(evict, takes_what_is_granted_and_unread)
{
	struct kapf_op ops[2] = {
		request(0, self->schema), request(1, self->schema + 1000),
	};
	struct kapf_event events[2];

	ASSERT_EQ(2, write_ops(self->fd, ops, 2));
	ASSERT_TRUE(poll_now(self->fd) & POLLIN);
	EXPECT_EVICTS(1, 1, 0);
	EXPECT_IDLE();
	EXPECT_EQ(-ESHUTDOWN, read_events(self->fd, events, 2));
	EXPECT_EQ(POLLHUP | POLLERR, poll_now(self->fd));
}

/* Other processes */

/* A process that takes both seats, stops, and then says how FINISH ends. */
static pid_t spawn_stopped(__u32 schema)
{
	pid_t pid = fork();
	int fd;

	if (pid < 0)
		die("fork");
	if (pid)
		return pid;
	fd = take_both_seats(schema);
	raise(SIGSTOP);
	_exit(-finish(fd, 0));
}

TEST_F(evict, of_a_process_that_is_stopped)
{
	pid_t pid = spawn_stopped(self->schema);
	int status;

	ASSERT_EQ(pid, waitpid(pid, &status, WUNTRACED));
	ASSERT_TRUE(WIFSTOPPED(status));
	ASSERT_EQ(2, seats_in_use(self->control, "test"));
	self->number = last_session(self->control);
	EXPECT_EVICTS(2, 2, 0);
	EXPECT_IDLE();
	/* It is there, and has no session any more. */
	EXPECT_EQ(0, waitpid(pid, &status, WUNTRACED | WNOHANG));
	EXPECT_EQ(-ENOENT, evict(self->control, self->number));
	kill(pid, SIGCONT);
	status = reap(pid);
	EXPECT_TRUE(WIFEXITED(status));
	EXPECT_EQ(ESHUTDOWN, WEXITSTATUS(status));
}

/* Everybody at once */

#define ROUNDS 100

/**
 * struct worker - a thread that makes requests until the session has ended
 * @thread: it
 * @barrier: before and after each round
 * @work: one request, from beginning to end
 * @fd: of the session
 * @slot: that it uses
 * @schema: that it uses
 * @ret: how the last request ended
 */
struct worker {
	pthread_t thread;
	pthread_barrier_t *barrier;
	int (*work)(const struct worker *worker);
	const int *fd;
	__u32 slot;
	__u32 schema;
	int ret;
};

static int work_and_finish(const struct worker *worker)
{
	int ret = admit(*worker->fd, worker->slot, worker->schema);

	return ret == KAPF_EXECUTE ? finish(*worker->fd, worker->slot) : ret;
}

static int work_and_linger(const struct worker *worker)
{
	struct kapf_op op = request(worker->slot, worker->schema);
	int ret;

	op.additional_latency = 100000;
	ret = admit_op(*worker->fd, op);
	if (ret == -EBUSY)
		return 0; /* it lingers */
	if (ret >= 0)
		ret = finish(*worker->fd, worker->slot);
	return ret < 0 ? ret : 0;
}

/* Cancel what waits, and read what became of it. */
static int work_and_cancel(const struct worker *worker)
{
	struct kapf_op op = request(worker->slot, worker->schema);
	struct kapf_event event;
	int ret;

	op.flags = KAPF_OP_NOWAIT;
	ret = admit_op(*worker->fd, op);
	if (ret >= 0 && KAPF_VERDICT(ret) == KAPF_EXECUTE)
		return finish(*worker->fd, worker->slot);
	if (ret < 0)
		return ret;
	cancel(*worker->fd, worker->slot);
	if (read(*worker->fd, &event, sizeof(event)) < 0)
		return -errno;
	return event.verdict == KAPF_EXECUTE ?
	       finish(*worker->fd, worker->slot) : 0;
}

static void *worker_main(void *arg)
{
	struct worker *worker = arg;
	int round;

	for (round = 0; round < ROUNDS; round++) {
		pthread_barrier_wait(worker->barrier);
		do {
			worker->ret = worker->work(worker);
		} while (!worker->ret);
		pthread_barrier_wait(worker->barrier);
	}
	return NULL;
}

TEST_F_TIMEOUT(evict, against_calls, 120)
{
	struct worker workers[] = {
		{ .work = work_and_finish },
		{ .work = work_and_finish, .schema = self->schema },
		{ .work = work_and_linger, .schema = self->schema },
		{ .work = work_and_cancel, .schema = self->schema },
	};
	const __u32 exempt = schema_id(self->control, "exempt");
	pthread_barrier_t barrier;
	int fd, round;
	__u32 i;

	pthread_barrier_init(&barrier, NULL, ARRAY_SIZE(workers) + 1);
	for (i = 0; i < ARRAY_SIZE(workers); i++) {
		workers[i].barrier = &barrier;
		workers[i].fd = &fd;
		workers[i].slot = i;
		workers[i].schema = workers[i].schema ?: exempt;
		ASSERT_EQ(0, pthread_create(&workers[i].thread, NULL,
					    worker_main, &workers[i]));
	}
	for (round = 0; round < ROUNDS; round++) {
		fd = open_session(ARRAY_SIZE(workers));
		self->number = last_session(self->control);
		pthread_barrier_wait(&barrier);
		usleep(round % 50 * 20);
		ASSERT_EQ(0, evict(self->control, self->number));
		ASSERT_EQ(0, seats_in_use(self->control, "exempt"));
		ASSERT_EQ(0, seats_in_use(self->control, "test"));
		ASSERT_EQ(0, requests_known(self->control));
		pthread_barrier_wait(&barrier);
		for (i = 0; i < ARRAY_SIZE(workers); i++) {
			ASSERT_EQ(-ESHUTDOWN, workers[i].ret) {
				TH_LOG("worker %u", i);
			}
		}
		close(fd);
	}
	for (i = 0; i < ARRAY_SIZE(workers); i++)
		pthread_join(workers[i].thread, NULL);
}

/**
 * struct rival - a thread that ends a session, too
 * @thread: it
 * @barrier: before
 * @control: node
 * @fd: of the session; -1: end it by its number
 * @number: of the session
 * @ret: what that returned
 * @left: seats that were in use thereafter
 */
struct rival {
	pthread_t thread;
	pthread_barrier_t barrier;
	int control;
	int fd;
	__u64 number;
	int ret;
	__u64 left;
};

static void *rival_main(void *arg)
{
	struct rival *rival = arg;

	pthread_barrier_wait(&rival->barrier);
	rival->ret = rival->fd < 0 ? evict(rival->control, rival->number) :
				     close(rival->fd);
	rival->left = seats_in_use(rival->control, "test");
	return NULL;
}

/* A session with one request that executes and one that lingers. */
static int open_busy_session(__u32 schema)
{
	struct kapf_op op = request(1, schema);
	int fd = open_session(2);

	op.additional_latency = KAPF_MAX_ADDITIONAL_LATENCY_NS;
	if (admit(fd, 0, schema) != KAPF_EXECUTE ||
	    KAPF_VERDICT(admit_op(fd, op)) != KAPF_EXECUTE ||
	    finish(fd, 1) != 60000)
		die("the level is not empty");
	return fd;
}

/* Evict a busy session while the rival ends it; whoever says so has done it. */
static void race(struct __test_metadata *_metadata,
		 struct _test_data_evict *self, struct rival *rival,
		 unsigned int delay)
{
	int ret;

	rival->control = self->control;
	rival->number = last_session(self->control);
	pthread_barrier_init(&rival->barrier, NULL, 2);
	ASSERT_EQ(0, pthread_create(&rival->thread, NULL, rival_main, rival));
	pthread_barrier_wait(&rival->barrier);
	usleep(delay);
	ret = evict(self->control, rival->number);
	if (!ret)
		ASSERT_EQ(0, seats_in_use(self->control, "test"));
	pthread_join(rival->thread, NULL);
	pthread_barrier_destroy(&rival->barrier);
	ASSERT_TRUE(!ret || ret == -ENOENT) {
		TH_LOG("EVICT: %d", ret);
	}
	if (rival->fd >= 0 || !rival->ret)
		ASSERT_EQ(0, rival->left);
	/* Of two, one alone. */
	if (rival->fd < 0)
		ASSERT_EQ(-ENOENT, ret + rival->ret);
	ASSERT_EQ(0, requests_known(self->control));
}

TEST_F_TIMEOUT(evict, against_evict, 120)
{
	struct rival rival = { .fd = -1 };
	int fd, round;

	for (round = 0; round < ROUNDS; round++) {
		fd = open_busy_session(self->schema);
		race(_metadata, self, &rival, round % 20);
		close(fd);
	}
}

/*
 * In every other round the file lives on in a message, so that it is not its
 * release that ends the session, but the close.
 */
TEST_F_TIMEOUT(evict, against_close, 120)
{
	struct rival rival;
	int round, sockets[2];

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	for (round = 0; round < ROUNDS; round++) {
		rival.fd = open_busy_session(self->schema);
		if (round & 1)
			send_file(sockets[0], rival.fd);
		race(_metadata, self, &rival, round % 20);
		if (round & 1)
			close(receive_file(sockets[1]));
	}
}

/* Its memory may go the moment that it has ended. */
TEST_F_TIMEOUT(evict, against_kill, 120)
{
	int ret, round;
	pid_t pid;

	for (round = 0; round < ROUNDS; round++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			take_both_seats(self->schema);
			for (;;)
				pause();
		}
		ASSERT_TRUE(await_seats(self->control, 2));
		self->number = last_session(self->control);
		kill(pid, SIGKILL);
		usleep(round % 20 * 10);
		ret = evict(self->control, self->number);
		ASSERT_TRUE(!ret || ret == -ENOENT);
		if (!ret)
			ASSERT_EQ(0, seats_in_use(self->control, "test"));
		reap(pid);
		ASSERT_EQ(0, requests_known(self->control));
		ASSERT_EQ(-ENOENT, evict(self->control, self->number));
	}
}

TEST_HARNESS_MAIN
