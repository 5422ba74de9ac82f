// SPDX-License-Identifier: GPL-2.0
/*
 * Signals: they take a waiting request out of its queue, which is counted and
 * lets others in; and however a signal and a grant meet, either there is no seat
 * and the call says so, or there is one and the caller has it.
 */
#include "kapf_test.h"

FIXTURE(signals) {
	int control;
	int fd;
	__u32 schema;	/* of a level with 2 seats that queues */
};

static void ignore(int signal)
{
	(void)signal;
}

FIXTURE_SETUP(signals)
{
	struct sigaction action = { .sa_handler = ignore };

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	action.sa_flags = SA_RESTART;
	ASSERT_EQ(0, sigaction(SIGUSR2, &action, NULL));
	self->control = open_node(CONTROL_NODE, O_RDWR);
	self->schema = set_up_queues(self->control, 2, 4, 1, 100);
	self->fd = open_session(256);
}

FIXTURE_TEARDOWN(signals)
{
	close(self->fd);
	close(self->control);
}

static void take_both_seats(struct __test_metadata *_metadata,
			    struct _test_data_signals *self)
{
	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 0, self->schema));
	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 1, self->schema));
}

static void interrupted_by(struct __test_metadata *_metadata,
			   struct _test_data_signals *self, int signal)
{
	struct kapf_level_stats stats;
	struct waiter waiter;

	take_both_seats(_metadata, self);
	waiter_start(&waiter, self->fd, request(2, self->schema));
	ASSERT_TRUE(await_waiting(self->control, 1));
	pthread_kill(waiter.thread, signal);
	EXPECT_EQ(-EINTR, waiter_join(&waiter));
	stats = level_stats(self->control, "test");
	EXPECT_EQ(0, stats.waiting_requests);
	EXPECT_EQ(0, stats.waiting_seats);
	EXPECT_EQ(0, stats.active_queues);
	EXPECT_EQ(1, stats.rejected_cancelled);
	EXPECT_EQ(0, stats.rejected_time_out);
	EXPECT_EQ(2, stats.dispatched);
	/* The slot is free, and its queue as if nothing had been. */
	EXPECT_EQ(-ENOENT, finish(self->fd, 2));
	EXPECT_EQ(0, finish(self->fd, 0));
	EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, 2, self->schema));
}

TEST_F(signals, interrupt_a_wait)
{
	interrupted_by(_metadata, self, SIGUSR1);
}

/* Also with SA_RESTART: only the caller knows what is left of max_wait. */
TEST_F(signals, interrupt_a_wait_that_would_restart)
{
	interrupted_by(_metadata, self, SIGUSR2);
}

TEST_F(signals, ignored_ones_do_not_interrupt)
{
	struct waiter waiter;

	signal(SIGUSR1, SIG_IGN);
	take_both_seats(_metadata, self);
	waiter_start(&waiter, self->fd, request(2, self->schema));
	ASSERT_TRUE(await_waiting(self->control, 1));
	pthread_kill(waiter.thread, SIGUSR1);
	sleep_ms(50);
	EXPECT_EQ(1, level_stats(self->control, "test").waiting_requests);
	EXPECT_EQ(0, finish(self->fd, 0));
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&waiter));
}

/* A pending signal does not keep a request from a seat that is free. */
TEST_F(signals, pending_one_and_a_free_seat)
{
	sigset_t set, old;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	ASSERT_EQ(0, pthread_sigmask(SIG_BLOCK, &set, &old));
	raise(SIGUSR1);
	EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, 0, self->schema));
	ASSERT_EQ(0, pthread_sigmask(SIG_SETMASK, &old, NULL));
	EXPECT_EQ(0, finish(self->fd, 0));
}

/* One of the middle of a queue leaves; the others keep their order. */
TEST_F(signals, others_go_on)
{
	struct waiter waiters[5];
	int i;

	take_both_seats(_metadata, self);
	for (i = 0; i < 5; i++) {
		waiter_start(&waiters[i], self->fd,
			     request(2 + i, self->schema));
		ASSERT_TRUE(await_waiting(self->control, i + 1));
	}
	pthread_kill(waiters[2].thread, SIGUSR1);
	EXPECT_EQ(-EINTR, waiter_join(&waiters[2]));
	EXPECT_EQ(4, level_stats(self->control, "test").waiting_requests);
	for (i = 0; i < 5; i++) {
		if (i == 2)
			continue;
		EXPECT_EQ(0, finish(self->fd, i == 0 ? 0 : i == 3 ? 3 : 1 + i));
		EXPECT_EQ(KAPF_EXECUTE, waiter_join(&waiters[i]));
	}
	EXPECT_EQ(0, level_stats(self->control, "test").waiting_requests);
}

/* The one that others wait behind leaves, and they need no other event. */
TEST_F(signals, cancelled_wide_request_lets_others_in)
{
	struct kapf_op op = request(1, self->schema);
	struct waiter waiters[2];

	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 0, self->schema));
	op.initial_seats = 2;
	waiter_start(&waiters[0], self->fd, op);
	ASSERT_TRUE(await_waiting(self->control, 1));
	waiter_start(&waiters[1], self->fd, request(2, self->schema));
	ASSERT_TRUE(await_waiting(self->control, 2));
	pthread_kill(waiters[0].thread, SIGUSR1);
	EXPECT_EQ(-EINTR, waiter_join(&waiters[0]));
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&waiters[1]));
	EXPECT_GE(2 * NSEC_PER_SEC, waiters[1].waited);
	EXPECT_EQ(2, seats_in_use(self->control, "test"));
}

/* Races */

#define ROUNDS 1500

/**
 * struct duel - a thread that asks, again and again, and one that interrupts it
 * @fd: of the session
 * @schema: of a level whose seats are taken when a round begins
 * @begin: all threads begin a round
 * @end: all threads have ended it
 * @asker: the one that asks, in slot 2
 * @ret: what it got
 */
struct duel {
	int fd;
	__u32 schema;
	pthread_barrier_t begin;
	pthread_barrier_t end;
	pthread_t asker;
	int ret;
};

static void *asker_main(void *arg)
{
	struct duel *duel = arg;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&duel->begin);
		duel->ret = admit(duel->fd, 2, duel->schema);
		pthread_barrier_wait(&duel->end);
	}
	return NULL;
}

/* Some delay, of no time at all to about what a wait takes to begin. */
static void spin(unsigned int n)
{
	while (n--)
		sched_getcpu();
}

static void *interrupter_main(void *arg)
{
	struct duel *duel = arg;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&duel->begin);
		spin(i % 97 * 8);
		pthread_kill(duel->asker, SIGUSR1);
		pthread_barrier_wait(&duel->end);
	}
	return NULL;
}

TEST_F_TIMEOUT(signals, race_with_the_grant, 60)
{
	struct duel duel = { .fd = self->fd, .schema = self->schema };
	int i, executed = 0, interrupted = 0;
	pthread_t interrupter;

	pthread_barrier_init(&duel.begin, NULL, 3);
	pthread_barrier_init(&duel.end, NULL, 3);
	ASSERT_EQ(0, pthread_create(&duel.asker, NULL, asker_main, &duel));
	ASSERT_EQ(0, pthread_create(&interrupter, NULL, interrupter_main,
				    &duel));
	for (i = 0; i < ROUNDS; i++) {
		take_both_seats(_metadata, self);
		pthread_barrier_wait(&duel.begin);
		spin(i % 89 * 8);
		ASSERT_EQ(0, finish(self->fd, 0));
		pthread_barrier_wait(&duel.end);
		if (duel.ret == KAPF_EXECUTE) {
			executed++;
			ASSERT_EQ(2, seats_in_use(self->control, "test"));
			ASSERT_EQ(0, finish(self->fd, 2));
		} else {
			interrupted++;
			ASSERT_EQ(-EINTR, duel.ret);
			ASSERT_EQ(-ENOENT, finish(self->fd, 2));
		}
		ASSERT_EQ(1, seats_in_use(self->control, "test"));
		ASSERT_EQ(1, requests_known(self->control));
		ASSERT_EQ(0, finish(self->fd, 1));
	}
	pthread_join(duel.asker, NULL);
	pthread_join(interrupter, NULL);
	EXPECT_EQ(0, seats_in_use(self->control, "test"));
	EXPECT_EQ(interrupted, level_stats(self->control, "test")
		  .rejected_cancelled);
	EXPECT_LE(1, executed);
	TH_LOG("%d executed, %d interrupted", executed, interrupted);
}

/* Many threads under a rain of signals, each on its own slot. */
struct worker {
	pthread_t thread;
	int fd;
	__u32 slot;
	__u32 schema;
	const bool *stop;
	int executed;
	int interrupted;
	int failed;
};

static void *worker_main(void *arg)
{
	struct worker *worker = arg;
	int ret;

	while (!__atomic_load_n(worker->stop, __ATOMIC_RELAXED)) {
		ret = admit(worker->fd, worker->slot, worker->schema);
		if (ret == -EINTR)
			worker->interrupted++;
		else if (ret == KAPF_EXECUTE &&
			 !finish(worker->fd, worker->slot))
			worker->executed++;
		else
			worker->failed++;
	}
	return NULL;
}

TEST_F_TIMEOUT(signals, rain, 60)
{
	struct worker workers[12];
	int executed = 0, interrupted = 0;
	bool stop = false;
	__u64 end;
	__u32 i;

	for (i = 0; i < ARRAY_SIZE(workers); i++) {
		workers[i] = (struct worker){ .fd = self->fd, .slot = i,
					      .schema = self->schema,
					      .stop = &stop };
		ASSERT_EQ(0, pthread_create(&workers[i].thread, NULL,
					    worker_main, &workers[i]));
	}
	end = now_ns() + 3 * NSEC_PER_SEC;
	for (i = 0; now_ns() < end; i++)
		pthread_kill(workers[i % ARRAY_SIZE(workers)].thread, SIGUSR1);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < ARRAY_SIZE(workers); i++) {
		pthread_join(workers[i].thread, NULL);
		EXPECT_EQ(0, workers[i].failed);
		executed += workers[i].executed;
		interrupted += workers[i].interrupted;
	}
	EXPECT_EQ(0, seats_in_use(self->control, "test"));
	EXPECT_EQ(0, requests_known(self->control));
	EXPECT_EQ(executed, level_stats(self->control, "test").dispatched);
	EXPECT_EQ(interrupted, level_stats(self->control, "test")
		  .rejected_cancelled);
	EXPECT_LE(1, executed);
	EXPECT_LE(1, interrupted);
	TH_LOG("%d executed, %d interrupted", executed, interrupted);
}

TEST_HARNESS_MAIN
