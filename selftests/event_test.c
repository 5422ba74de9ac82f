// SPDX-License-Identifier: GPL-2.0
/*
 * Not sleeping for a decision: KAPF_OP_NOWAIT and O_NONBLOCK, the events that
 * follow, CANCEL in each state of a slot, by the thread that submitted and by
 * another, and reading.
 */
#include "event.h"

static void *cancel_main(void *arg)
{
	int *args = arg;

	args[2] = cancel(args[0], args[1]);
	return NULL;
}

/* CANCEL by a thread that has nothing to do with the slot. */
static int cancel_elsewhere(int fd, __u32 slot)
{
	int args[3] = { fd, slot };
	pthread_t thread;

	errno = pthread_create(&thread, NULL, cancel_main, args);
	if (errno)
		die("pthread_create");
	pthread_join(thread, NULL);
	return args[2];
}

static __u32 level_id(int control, const char *name)
{
	return level_stats(control, name).id;
}

/* What is decided at once makes no event. */
TEST_F(event, decided_at_once)
{
	struct kapf_op op = nowait(2, self->schema);
	struct kapf_event event;

	fill(self);
	EXPECT_EQ(KAPF_EXECUTE, admit_nowait(self->fd, 3, self->exempt));
	op.flags |= KAPF_OP_NOQUEUE;
	EXPECT_EQ(KAPF_CONCURRENCY_LIMIT, KAPF_VERDICT(admit_op(self->fd, op)));
	EXPECT_EQ(KAPF_RECLASSIFY, admit_nowait(self->fd, 2, ~0u));
	EXPECT_EQ(0, poll_now(self->fd) & POLLIN);
	EXPECT_EQ(-EAGAIN, read_events(self->fd, &event, 1));
	EXPECT_EQ(0, finish(self->fd, 0));
	EXPECT_EQ(0, finish(self->fd, 3));
}

TEST_F(event, granted_later)
{
	struct kapf_event event;
	__u64 begin = now_ns();

	fill(self);
	EXPECT_EQ(KAPF_QUEUED, admit_nowait(self->fd, 2, self->schema));
	EXPECT_EQ(1, level_stats(self->control, "test").waiting_requests);
	EXPECT_EQ(-EAGAIN, read_events(self->fd, &event, 1));
	sleep_ms(20);
	EXPECT_EQ(0, finish(self->fd, 0));

	/* Its seats are its own from now on, but it is not known yet. */
	EXPECT_EQ(2, seats_in_use(self->control, "test"));
	EXPECT_EQ(-EBUSY, finish(self->fd, 2));
	EXPECT_EQ(-EBUSY, admit(self->fd, 2, self->schema));
	EXPECT_EQ(POLLIN, poll_now(self->fd) & POLLIN);

	event = read_event(self->fd);
	EXPECT_EQ(0xfeed0002, event.user_data);
	EXPECT_EQ(2, event.slot);
	EXPECT_EQ(level_id(self->control, "test"), event.level);
	EXPECT_EQ(KAPF_EXECUTE, event.verdict);
	EXPECT_EQ(0, event.detail);
	EXPECT_EQ(KAPF_EVENT_STALE, event.flags);
	EXPECT_LE(20 * NSEC_PER_MSEC, event.wait);
	EXPECT_GE(now_ns() - begin, event.wait);
	EXPECT_EQ(0, poll_now(self->fd) & POLLIN);
	EXPECT_EQ(-EAGAIN, read_events(self->fd, &event, 1));
	EXPECT_EQ(0, finish(self->fd, 2));
	EXPECT_EQ(0, finish(self->fd, 1));
	EXPECT_EQ(0, requests_known(self->control));
}

TEST_F(event, timed_out)
{
	struct kapf_op op = nowait(2, self->schema);
	struct kapf_event event;

	fill(self);
	op.max_wait = 30 * NSEC_PER_MSEC;
	EXPECT_EQ(KAPF_QUEUED, KAPF_VERDICT(admit_op(self->fd, op)));
	event = read_event(self->fd);
	EXPECT_EQ(KAPF_TIME_OUT, event.verdict);
	EXPECT_EQ(2, event.slot);
	EXPECT_EQ(level_id(self->control, "test"), event.level);
	EXPECT_EQ(level_stats(self->control, "test").retry_after, event.detail);
	EXPECT_LE(30 * NSEC_PER_MSEC, event.wait);
	EXPECT_EQ(-ENOENT, finish(self->fd, 2));
	EXPECT_EQ(KAPF_QUEUED, admit_nowait(self->fd, 2, self->schema));
}

/* A refused slot is free when its event has been read, and not before. */
TEST_F(event, refused_and_unread)
{
	struct kapf_op op = nowait(2, self->schema);
	struct pollfd poller = { .fd = self->fd, .events = POLLIN };

	fill(self);
	op.max_wait = 1;
	EXPECT_EQ(KAPF_QUEUED, KAPF_VERDICT(admit_op(self->fd, op)));
	ASSERT_EQ(1, poll(&poller, 1, 10000));
	EXPECT_EQ(-EBUSY, admit(self->fd, 2, self->schema));
	EXPECT_EQ(-ENOENT, finish(self->fd, 2));
	EXPECT_EQ(-EALREADY, cancel(self->fd, 2));
	EXPECT_EQ(-EALREADY, cancel_elsewhere(self->fd, 2));
	EXPECT_EQ(KAPF_TIME_OUT, read_event(self->fd).verdict);
	EXPECT_EQ(-ENOENT, cancel(self->fd, 2));
	EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, 2, self->exempt));
}

TEST_F(event, nonblocking_file)
{
	int flags = fcntl(self->fd, F_GETFL);

	fill(self);
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, flags | O_NONBLOCK));
	EXPECT_EQ(KAPF_QUEUED, admit(self->fd, 2, self->schema));
	EXPECT_EQ(0, finish(self->fd, 0));
	EXPECT_EQ(2, read_event(self->fd).slot);
	EXPECT_EQ(0, finish(self->fd, 2));
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, flags));
	EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, 2, self->schema));
}

/* STALE tells of rules that the session did not know when it asked. */
TEST_F(event, stale)
{
	size_t len;

	fill(self);
	free(get_image(self->fd, &len));
	EXPECT_EQ(KAPF_QUEUED, admit_op(self->fd, nowait(2, self->schema)));
	EXPECT_EQ(0, cancel(self->fd, 2));
	EXPECT_EQ(0, read_event(self->fd).flags);
}

/* CANCEL */

TEST_F(event, cancel_waiting)
{
	struct kapf_event event;

	fill(self);
	EXPECT_EQ(KAPF_QUEUED, admit_nowait(self->fd, 2, self->schema));
	EXPECT_EQ(KAPF_QUEUED, admit_nowait(self->fd, 3, self->schema));
	EXPECT_EQ(0, cancel(self->fd, 2));
	EXPECT_EQ(-EALREADY, cancel(self->fd, 2));
	EXPECT_EQ(0, cancel_elsewhere(self->fd, 3));
	EXPECT_EQ(-EALREADY, cancel_elsewhere(self->fd, 3));
	EXPECT_EQ(0, level_stats(self->control, "test").waiting_requests);
	EXPECT_EQ(2, level_stats(self->control, "test").rejected_cancelled);
	event = read_event(self->fd);
	EXPECT_EQ(KAPF_CANCELLED, event.verdict);
	EXPECT_EQ(2, event.slot);
	EXPECT_EQ(0xfeed0002, event.user_data);
	EXPECT_EQ(0, event.detail);
	EXPECT_EQ(3, read_event(self->fd).slot);
	EXPECT_EQ(-ENOENT, cancel(self->fd, 2));
}

/* Granted, but its session does not know: the seats come back. */
TEST_F(event, cancel_granted)
{
	struct kapf_event event;
	struct kapf_op op = nowait(2, self->schema);

	fill(self);
	op.additional_latency = 10 * NSEC_PER_SEC;
	op.final_seats = 2;
	EXPECT_EQ(KAPF_QUEUED, KAPF_VERDICT(admit_op(self->fd, op)));
	EXPECT_EQ(KAPF_QUEUED, admit_nowait(self->fd, 3, self->schema));
	EXPECT_EQ(0, finish(self->fd, 0));
	EXPECT_EQ(0, finish(self->fd, 1));
	EXPECT_EQ(2, seats_in_use(self->control, "test"));
	EXPECT_EQ(0, cancel_elsewhere(self->fd, 2));
	EXPECT_EQ(-EALREADY, cancel(self->fd, 2));
	/* They do not linger, and the next one gets its part of them. */
	EXPECT_EQ(1, seats_in_use(self->control, "test"));
	EXPECT_EQ(0, level_stats(self->control, "test").lingering_requests);
	EXPECT_EQ(0, level_stats(self->control, "test").rejected_cancelled);
	event = read_event(self->fd);
	EXPECT_EQ(2, event.slot);
	EXPECT_EQ(KAPF_CANCELLED, event.verdict);
	EXPECT_EQ(level_id(self->control, "test"), event.level);
	event = read_event(self->fd);
	EXPECT_EQ(3, event.slot);
	EXPECT_EQ(KAPF_EXECUTE, event.verdict);
	EXPECT_EQ(-ENOENT, finish(self->fd, 2));
	EXPECT_EQ(0, finish(self->fd, 3));
	EXPECT_EQ(0, seats_in_use(self->control, "test"));
	EXPECT_EQ(0, requests_known(self->control));
}

TEST_F(event, cancel_executing_and_lingering)
{
	struct kapf_op op = request(0, self->schema);

	op.additional_latency = 10 * NSEC_PER_SEC;
	op.final_seats = 1;
	EXPECT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	EXPECT_EQ(-EALREADY, cancel(self->fd, 0));
	EXPECT_EQ(-EALREADY, cancel_elsewhere(self->fd, 0));
	EXPECT_EQ(10000, finish(self->fd, 0));
	EXPECT_EQ(-ENOENT, cancel(self->fd, 0));
	EXPECT_EQ(-ENOENT, cancel_elsewhere(self->fd, 0));
	EXPECT_EQ(1, seats_in_use(self->control, "test"));
}

TEST_F(event, cancel_nothing)
{
	EXPECT_EQ(-ENOENT, cancel(self->fd, 0));
	EXPECT_EQ(-ENOENT, cancel(self->fd, 7));
	EXPECT_EQ(-EINVAL, cancel(self->fd, 8));
	EXPECT_EQ(-EINVAL, cancel(self->fd, ~0ul));
}

/* Who sleeps in ADMIT gets it as the call's value. */
TEST_F(event, cancel_a_sleeper)
{
	struct waiter waiter;
	struct kapf_event event;

	fill(self);
	waiter_start(&waiter, self->fd, request(2, self->schema));
	ASSERT_TRUE(await_waiting(self->control, 1));
	EXPECT_EQ(0, cancel(self->fd, 2));
	EXPECT_EQ(KAPF_CANCELLED, waiter_join(&waiter));
	EXPECT_EQ(1, level_stats(self->control, "test").rejected_cancelled);
	EXPECT_EQ(-ENOENT, cancel(self->fd, 2));
	EXPECT_EQ(-EAGAIN, read_events(self->fd, &event, 1));
	EXPECT_EQ(0, level_stats(self->control, "test").waiting_requests);
}

struct canceller {
	int fd;
	bool stop;
	__u64 cancelled;
};

static void *canceller_main(void *arg)
{
	struct canceller *canceller = arg;

	while (!__atomic_load_n(&canceller->stop, __ATOMIC_RELAXED))
		canceller->cancelled += !cancel(canceller->fd, 2);
	return NULL;
}

/*
 * CANCEL races with the grant, which another thread causes: each request is
 * either granted or cancelled, for whoever waits, sleeping or not.
 */
TEST_F(event, cancel_races_with_the_grant)
{
	struct canceller canceller = { .fd = self->fd };
	__u64 granted = 0, cancelled = 0;
	struct waiter waiter;
	pthread_t thread;
	int verdict, i;

	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 1, self->schema));
	ASSERT_EQ(0, pthread_create(&thread, NULL, canceller_main, &canceller));
	for (i = 0; i < 2000; i++) {
		ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 0, self->schema));
		if (i % 2) {
			waiter_start(&waiter, self->fd,
				     request(2, self->schema));
			EXPECT_EQ(0, finish(self->fd, 0));
			verdict = waiter_join(&waiter);
		} else {
			verdict = admit_nowait(self->fd, 2, self->schema);
			EXPECT_EQ(0, finish(self->fd, 0));
			if (verdict == KAPF_QUEUED)
				verdict = read_event(self->fd).verdict;
		}
		granted += verdict == KAPF_EXECUTE;
		cancelled += verdict == KAPF_CANCELLED;
		if (verdict == KAPF_EXECUTE)
			EXPECT_EQ(0, finish(self->fd, 2));
	}
	__atomic_store_n(&canceller.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	EXPECT_EQ(2000, granted + cancelled);
	EXPECT_EQ(canceller.cancelled, cancelled);
	EXPECT_EQ(0, finish(self->fd, 1));
	EXPECT_EQ(0, seats_in_use(self->control, "test"));
	EXPECT_EQ(0, requests_known(self->control));
	TH_LOG("%llu granted, %llu cancelled", granted, cancelled);
}

/* Reading */

TEST_F(event, oldest_first)
{
	struct kapf_event events[8];
	int i;

	self->schema = set_up_queues(self->control, 5, 1, 1, 10);
	for (i = 7; i >= 0; i--)
		EXPECT_EQ(i >= 3 ? KAPF_EXECUTE : KAPF_QUEUED,
			  admit_nowait(self->fd, i, self->schema));
	EXPECT_EQ(0, finish(self->fd, 7));
	EXPECT_EQ(0, finish(self->fd, 6));
	EXPECT_EQ(1, read_events(self->fd, events, 1));
	EXPECT_EQ(0, finish(self->fd, 5));
	EXPECT_EQ(2, read_events(self->fd, events + 1, 7));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(2 - i, events[i].slot);
}

TEST_F(event, sizes_of_read)
{
	char buf[2 * sizeof(struct kapf_event) - 1];
	__u32 slot;

	EXPECT_EQ(-1, read(self->fd, buf, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, read(self->fd, buf, sizeof(struct kapf_event) - 1));
	EXPECT_EQ(EINVAL, errno);
	fill(self);
	for (slot = 2; slot < 4; slot++) {
		EXPECT_EQ(KAPF_QUEUED, admit_nowait(self->fd, slot,
						    self->schema));
		EXPECT_EQ(0, cancel(self->fd, slot));
	}
	EXPECT_EQ(sizeof(struct kapf_event), read(self->fd, buf, sizeof(buf)));
	EXPECT_EQ(sizeof(struct kapf_event), read(self->fd, buf, sizeof(buf)));
}

/* An event whose copy faults is not lost, nor is its slot free. */
TEST_F(event, fault_while_reading)
{
	struct kapf_event *events;
	char *pages;
	__u32 slot;

	pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, pages);
	ASSERT_EQ(0, mprotect(pages + 4096, 4096, PROT_NONE));
	fill(self);
	for (slot = 2; slot < 6; slot++) {
		EXPECT_EQ(KAPF_QUEUED, admit_nowait(self->fd, slot,
						    self->schema));
		EXPECT_EQ(0, cancel(self->fd, slot));
	}
	EXPECT_EQ(-EFAULT, read_events(self->fd, (void *)(pages + 4096), 4));
	EXPECT_EQ(-EFAULT, read_events(self->fd, (void *)(pages + 4096 - 16),
				       4));
	EXPECT_EQ(-EBUSY, admit(self->fd, 2, self->exempt));
	/* In the middle of a batch: what came before counts. */
	events = (void *)(pages + 4096 - 48);
	EXPECT_EQ(1, read_events(self->fd, events, 4));
	EXPECT_EQ(2, events[0].slot);
	EXPECT_EQ(3, read_event(self->fd).slot);
	EXPECT_EQ(4, read_event(self->fd).slot);
	EXPECT_EQ(5, read_event(self->fd).slot);
	for (slot = 2; slot < 6; slot++)
		EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, slot, self->exempt));
}

static void *reader_main(void *arg)
{
	struct kapf_event event;
	long *args = arg;

	args[1] = read(args[0], &event, sizeof(event));
	args[2] = args[1] < 0 ? -errno : (long)event.slot;
	return NULL;
}

/* read() sleeps until there is something, or the session ends. */
TEST_F(event, sleeping_reader)
{
	long args[3] = { self->fd };
	pthread_t thread;

	fill(self);
	EXPECT_EQ(KAPF_QUEUED, admit_nowait(self->fd, 2, self->schema));
	ASSERT_EQ(0, pthread_create(&thread, NULL, reader_main, args));
	sleep_ms(50);
	EXPECT_EQ(0, finish(self->fd, 1));
	pthread_join(thread, NULL);
	EXPECT_EQ(sizeof(struct kapf_event), args[1]);
	EXPECT_EQ(2, args[2]);
}

static void interrupt(int sig)
{
	(void)sig;
}

TEST_F(event, interrupted_reader)
{
	struct sigaction action = { .sa_handler = interrupt };
	struct kapf_event event;

	fill(self);
	EXPECT_EQ(KAPF_QUEUED, admit_nowait(self->fd, 2, self->schema));
	ASSERT_EQ(0, sigaction(SIGALRM, &action, NULL));
	alarm(1);
	EXPECT_EQ(-1, read(self->fd, &event, sizeof(event)));
	EXPECT_EQ(EINTR, errno);
	/* It still waits: the signal was not for it. */
	EXPECT_EQ(1, level_stats(self->control, "test").waiting_requests);
}

/*
 * The session ends while an heir has the file: readers and pollers are told, and
 * nothing that was granted but not read is lost.
 */
TEST_F(event, end_of_the_session)
{
	struct kapf_event event;
	int pipes[2];
	pid_t child, heir;
	char byte;

	ASSERT_EQ(0, pipe(pipes));
	child = fork();
	if (!child) {
		self->fd = open_session(8);
		fill(self);
		if (admit_nowait(self->fd, 2, self->schema) != KAPF_QUEUED ||
		    admit_nowait(self->fd, 3, self->schema) != KAPF_QUEUED ||
		    finish(self->fd, 0))
			_exit(1);
		heir = fork();
		if (!heir) {
			while (poll_now(self->fd) == POLLERR &&
			       seats_in_use(self->control, "test"))
				sched_yield();
			byte = read_events(self->fd, &event, 1) == -EPERM &&
			       !seats_in_use(self->control, "test");
			if (write(pipes[1], &byte, 1) != 1)
				die("write");
			_exit(0);
		}
		_exit(0);
	}
	EXPECT_EQ(0, reap(child));
	EXPECT_EQ(1, read(pipes[0], &byte, 1));
	EXPECT_EQ(1, byte);
	EXPECT_EQ(0, seats_in_use(self->control, "test"));
	EXPECT_EQ(0, requests_known(self->control));
	close(pipes[0]);
	close(pipes[1]);
}

/* A server that dies with grants unread, and with requests waiting. */
TEST_F(event, killed_with_events_unread)
{
	pid_t child;
	__u32 slot;
	int i;

	for (i = 0; i < 20; i++) {
		child = fork();
		if (!child) {
			self->fd = open_session(8);
			fill(self);
			for (slot = 2; slot < 8; slot++)
				admit_nowait(self->fd, slot, self->schema);
			finish(self->fd, 0);
			cancel(self->fd, 7);
			raise(SIGKILL);
		}
		EXPECT_EQ(SIGKILL, reap(child));
		EXPECT_EQ(0, seats_in_use(self->control, "test"));
		EXPECT_EQ(0, level_stats(self->control, "test")
			  .waiting_requests);
	}
}

TEST_HARNESS_MAIN
