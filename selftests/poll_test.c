// SPDX-License-Identifier: GPL-2.0
/*
 * Polling for events, for free slots and for another configuration: what is said,
 * and that who sleeps is woken.
 */
#include <sys/epoll.h>

#include "event.h"

TEST_F(event, poll_without_a_session)
{
	int fd = open_node(SUBMIT_NODE, O_RDWR);
	struct kapf_event event;
	pid_t child;

	EXPECT_EQ(POLLERR, poll_now(fd));
	EXPECT_EQ(-ENOTCONN, read_events(fd, &event, 1));
	EXPECT_EQ(-ENOTCONN, cancel(fd, 0));
	close(fd);
	child = fork();
	if (!child)
		_exit(poll_now(self->fd) != POLLERR ||
		      read_events(self->fd, &event, 1) != -EPERM ||
		      cancel(self->fd, 0) != -EPERM);
	EXPECT_EQ(0, reap(child));
}

/* POLLOUT: a slot is free. */
TEST_F(event, poll_for_a_slot)
{
	struct pollfd poller = { .fd = self->fd, .events = POLLOUT };
	struct kapf_op op = request(0, self->exempt);
	__u32 slot;

	EXPECT_EQ(POLLOUT, poll_now(self->fd) & POLLOUT);
	for (slot = 0; slot < 8; slot++) {
		EXPECT_EQ(POLLOUT, poll_now(self->fd) & POLLOUT);
		EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, slot, self->exempt));
	}
	EXPECT_EQ(0, poll_now(self->fd) & POLLOUT);
	EXPECT_EQ(0, finish(self->fd, 5));
	EXPECT_EQ(POLLOUT, poll_now(self->fd) & POLLOUT);

	/* One that lingers is not free; its end wakes who polls. */
	op.slot = 5;
	op.additional_latency = 100 * NSEC_PER_MSEC;
	EXPECT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	EXPECT_EQ(100, finish(self->fd, 5));
	EXPECT_EQ(0, poll_now(self->fd) & POLLOUT);
	EXPECT_EQ(1, poll(&poller, 1, 10000));
	EXPECT_EQ(POLLOUT, poller.revents);
	EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, 5, self->exempt));
}

static void *late_finish_main(void *arg)
{
	sleep_ms(50);
	finish(*(int *)arg, 3);
	return NULL;
}

TEST_F(event, finish_wakes_who_polls_for_a_slot)
{
	struct pollfd poller = { .fd = self->fd, .events = POLLOUT };
	pthread_t thread;
	__u32 slot;

	for (slot = 0; slot < 8; slot++)
		EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, slot, self->exempt));
	ASSERT_EQ(0, pthread_create(&thread, NULL, late_finish_main,
				    &self->fd));
	EXPECT_EQ(1, poll(&poller, 1, 10000));
	EXPECT_EQ(POLLOUT, poller.revents);
	pthread_join(thread, NULL);
}

/* POLLPRI: the configuration is another one than was read last. */
TEST_F(event, poll_for_a_configuration)
{
	struct pollfd poller = { .fd = self->fd, .events = POLLPRI };
	size_t len;
	pid_t child;

	EXPECT_EQ(POLLPRI, poll_now(self->fd) & POLLPRI);
	free(get_image(self->fd, &len));
	EXPECT_EQ(0, poll_now(self->fd) & POLLPRI);
	child = fork();
	if (!child) {
		sleep_ms(50);
		set_up_queues(self->control, 3, 1, 1, 10);
		_exit(0);
	}
	EXPECT_EQ(1, poll(&poller, 1, 10000));
	EXPECT_EQ(POLLPRI, poller.revents);
	EXPECT_EQ(0, reap(child));
	free(get_image(self->fd, &len));
	EXPECT_EQ(0, poll_now(self->fd) & POLLPRI);
}

/* A change that is refused is no reason to forget an earlier one. */
TEST_F(event, poll_for_a_configuration_that_stays)
{
	__u32 *refusals = mmap(NULL, sizeof(*refusals), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct image image;
	__u32 forgotten = 0;
	pid_t child;

	ASSERT_NE(MAP_FAILED, refusals);
	set_up_queues(self->control, 3, 1, 1, 10);
	child = fork();
	if (!child) {
		image_init(&image);
		image.head.max_requests_inflight = 0;
		while (set_image(self->control, &image, NULL) == -EINVAL)
			__atomic_fetch_add(refusals, 1, __ATOMIC_RELAXED);
		_exit(1);
	}
	while (__atomic_load_n(refusals, __ATOMIC_RELAXED) < 100)
		forgotten += !(poll_now(self->fd) & POLLPRI);
	EXPECT_EQ(0, forgotten);
	kill_and_reap(child);
	munmap(refusals, sizeof(*refusals));
}

/* Who has asked in vain for a slot is told when one is free. */
TEST_F(event, epoll_edge_of_a_slot)
{
	struct epoll_event interest = { .events = EPOLLOUT | EPOLLET };
	struct epoll_event got;
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	int fd = open_session(1);

	ASSERT_LE(0, epoll);
	ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &interest));
	EXPECT_EQ(1, epoll_wait(epoll, &got, 1, 0));
	EXPECT_EQ(KAPF_EXECUTE, admit(fd, 0, self->exempt));
	EXPECT_EQ(-EBUSY, admit(fd, 0, self->exempt));
	EXPECT_EQ(0, epoll_wait(epoll, &got, 1, 0));
	EXPECT_EQ(0, finish(fd, 0));
	EXPECT_EQ(1, epoll_wait(epoll, &got, 1, 10000));
	close(fd);
	close(epoll);
}

/**
 * struct poller - a thread that polls for events again and again
 * @fd: where
 * @stop: no more
 * @found: polls that found one
 */
struct poller {
	int fd;
	bool stop;
	__u64 found;
};

static void *poller_main(void *arg)
{
	struct poller *poller = arg;
	struct pollfd pollfd = { .fd = poller->fd, .events = POLLIN };

	while (!__atomic_load_n(&poller->stop, __ATOMIC_RELAXED))
		if (poll(&pollfd, 1, 20000) == 1)
			__atomic_fetch_add(&poller->found, 1,
					   __ATOMIC_RELAXED);
	return NULL;
}

/* Does it find events, which are there, within five seconds? */
static bool still_finds(struct poller *poller)
{
	__u64 before = __atomic_load_n(&poller->found, __ATOMIC_RELAXED);
	__u64 begin = now_ns();

	/* The first one may have been on its way. */
	while (__atomic_load_n(&poller->found, __ATOMIC_RELAXED) < before + 2)
		if (now_ns() - begin > 5 * NSEC_PER_SEC)
			return false;
	return true;
}

/*
 * One takes a single event of many, at the moment at which another looks whether
 * there are any: that one must not sleep while the rest is there.
 */
TEST_F_TIMEOUT(event, rest_of_what_somebody_reads, 300)
{
	static struct kapf_event events[256];
	struct poller poller;
	pthread_t thread;
	__u32 slot;
	int i;

	close(self->fd);
	self->fd = open_session(256);
	self->schema = set_up_queues(self->control, 2, 1, 1, 1000);
	poller = (struct poller){ .fd = self->fd };
	fill(self);
	ASSERT_EQ(0, pthread_create(&thread, NULL, poller_main, &poller));
	for (i = 0; i < 300; i++) {
		for (slot = 2; slot < 256; slot++)
			ASSERT_EQ(KAPF_QUEUED, admit_nowait(self->fd, slot,
							    self->schema));
		for (slot = 2; slot < 256; slot++)
			ASSERT_EQ(0, cancel(self->fd, slot));
		ASSERT_EQ(1, read_events(self->fd, events, 1));
		ASSERT_TRUE(still_finds(&poller)) {
			TH_LOG("in round %d", i);
		}
		ASSERT_EQ(253, read_events(self->fd, events, 256));
	}
	__atomic_store_n(&poller.stop, true, __ATOMIC_RELAXED);
	ASSERT_EQ(KAPF_QUEUED, admit_nowait(self->fd, 2, self->schema));
	EXPECT_EQ(0, cancel(self->fd, 2));
	pthread_join(thread, NULL);
}

/* Edge triggered: one notice for each time that events begin to be there. */
TEST_F(event, epoll_edges)
{
	struct epoll_event interest = { .events = EPOLLIN | EPOLLET };
	struct kapf_event events[4];
	struct epoll_event got;
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	ASSERT_LE(0, epoll);
	ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_ADD, self->fd, &interest));
	fill(self);
	EXPECT_EQ(KAPF_QUEUED, admit_nowait(self->fd, 2, self->schema));
	EXPECT_EQ(KAPF_QUEUED, admit_nowait(self->fd, 3, self->schema));
	EXPECT_EQ(0, epoll_wait(epoll, &got, 1, 0));
	EXPECT_EQ(0, finish(self->fd, 0));
	EXPECT_EQ(1, epoll_wait(epoll, &got, 1, 10000));
	EXPECT_EQ(EPOLLIN, got.events);
	EXPECT_EQ(0, epoll_wait(epoll, &got, 1, 0));
	EXPECT_EQ(0, finish(self->fd, 1));
	EXPECT_EQ(2, read_events(self->fd, events, 4));
	EXPECT_EQ(-EAGAIN, read_events(self->fd, events, 4));
	EXPECT_EQ(KAPF_QUEUED, admit_nowait(self->fd, 0, self->schema));
	EXPECT_EQ(0, finish(self->fd, 2));
	EXPECT_EQ(1, epoll_wait(epoll, &got, 1, 10000));
	EXPECT_EQ(1, read_events(self->fd, events, 4));
	close(epoll);
}

/* Return: whether it was told of the session's end */
static void *exclusive_main(void *arg)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLEXCLUSIVE };
	int epoll = epoll_create1(0);
	bool told;

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, *(int *)arg, &event))
		die("EPOLL_CTL_ADD");
	told = epoll_wait(epoll, &event, 1, 10000) == 1 &&
	       event.events & EPOLLHUP;
	close(epoll);
	return (void *)(uintptr_t)told;
}

/* It ends with the owner's last descriptor, but the file lives on. */
TEST_F(event, the_end_wakes_exclusive_pollers_too)
{
	pthread_t threads[3];
	pid_t heir = fork();
	void *told;
	int i;

	if (!heir) {
		pause();
		_exit(0);
	}
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, exclusive_main,
					    &self->fd));
	sleep_ms(200);
	close(self->fd);
	for (i = 0; i < 3; i++) {
		pthread_join(threads[i], &told);
		EXPECT_EQ(true, (uintptr_t)told);
	}
	kill_and_reap(heir);
	self->fd = open_session(8);
}

TEST_HARNESS_MAIN
