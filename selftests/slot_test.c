// SPDX-License-Identifier: GPL-2.0
/*
 * The slots of a session: what ADMIT and FINISH say to each state, by the thread
 * that brought the slot there and by another, how seats linger, and that two
 * threads which want one slot at once never both get it.
 */
#include "kapf_test.h"

FIXTURE(slot) {
	int control;
	int fd;
	__u32 schema;	/* of a level with 2 seats that queues */
};

FIXTURE_SETUP(slot)
{
	self->control = open_node(CONTROL_NODE, O_RDWR);
	self->schema = set_up_queues(self->control, 2, 1, 1, 10);
	self->fd = open_session(8);
}

FIXTURE_TEARDOWN(slot)
{
	close(self->fd);
	close(self->control);
}

struct finisher {
	int fd;
	unsigned long slot;
	int ret;
};

static void *finisher_main(void *arg)
{
	struct finisher *finisher = arg;

	finisher->ret = finish(finisher->fd, finisher->slot);
	return NULL;
}

/* FINISH by a thread that has nothing to do with the slot. */
static int finish_elsewhere(int fd, unsigned long slot)
{
	struct finisher finisher = { .fd = fd, .slot = slot };
	pthread_t thread;

	errno = pthread_create(&thread, NULL, finisher_main, &finisher);
	if (errno)
		die("pthread_create");
	pthread_join(thread, NULL);
	return finisher.ret;
}

static int admit_elsewhere(int fd, __u32 slot, __u32 schema)
{
	struct waiter waiter;

	waiter_start(&waiter, fd, request(slot, schema));
	return waiter_join(&waiter);
}

TEST_F(slot, free)
{
	EXPECT_EQ(-ENOENT, finish(self->fd, 0));
	EXPECT_EQ(-ENOENT, finish_elsewhere(self->fd, 0));
	EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, 0, self->schema));
	EXPECT_EQ(0, finish(self->fd, 0));
	EXPECT_EQ(-ENOENT, finish(self->fd, 0));
	EXPECT_EQ(KAPF_EXECUTE, admit_elsewhere(self->fd, 0, self->schema));
	EXPECT_EQ(0, finish_elsewhere(self->fd, 0));
	EXPECT_EQ(-ENOENT, finish_elsewhere(self->fd, 0));
	EXPECT_EQ(-ENOENT, finish(self->fd, 7));
	EXPECT_EQ(-EINVAL, finish(self->fd, 8));
	EXPECT_EQ(-EINVAL, admit(self->fd, 8, self->schema));
}

TEST_F(slot, executing)
{
	EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, 0, self->schema));
	EXPECT_EQ(-EBUSY, admit(self->fd, 0, self->schema));
	EXPECT_EQ(-EBUSY, admit_elsewhere(self->fd, 0, self->schema));
	/* A schema that is gone, or another level, makes no difference. */
	EXPECT_EQ(-EBUSY, admit(self->fd, 0, ~0u));
	EXPECT_EQ(-EBUSY, admit(self->fd, 0, schema_id(self->control,
						       "exempt")));
	EXPECT_EQ(1, seats_in_use(self->control, "test"));
	EXPECT_EQ(0, seats_in_use(self->control, "exempt"));
	EXPECT_EQ(0, finish_elsewhere(self->fd, 0));
	EXPECT_EQ(0, seats_in_use(self->control, "test"));
}

TEST_F(slot, executing_exempt)
{
	__u32 exempt = schema_id(self->control, "exempt");

	EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, 0, exempt));
	EXPECT_EQ(-EBUSY, admit(self->fd, 0, exempt));
	EXPECT_EQ(-EBUSY, admit_elsewhere(self->fd, 0, exempt));
	EXPECT_EQ(-EBUSY, admit(self->fd, 0, self->schema));
	EXPECT_EQ(1, seats_in_use(self->control, "exempt"));
	EXPECT_EQ(0, finish_elsewhere(self->fd, 0));
	EXPECT_EQ(-ENOENT, finish(self->fd, 0));
	EXPECT_EQ(0, seats_in_use(self->control, "exempt"));
}

TEST_F(slot, waiting)
{
	struct waiter waiter;

	EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, 0, self->schema));
	EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, 1, self->schema));
	waiter_start(&waiter, self->fd, request(2, self->schema));
	ASSERT_TRUE(await_waiting(self->control, 1));
	EXPECT_EQ(-EBUSY, admit(self->fd, 2, self->schema));
	EXPECT_EQ(-EBUSY, admit_elsewhere(self->fd, 2, self->schema));
	EXPECT_EQ(-EBUSY, finish(self->fd, 2));
	EXPECT_EQ(-EBUSY, finish_elsewhere(self->fd, 2));
	EXPECT_EQ(1, level_stats(self->control, "test").waiting_requests);
	EXPECT_EQ(0, finish(self->fd, 0));
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&waiter));
	EXPECT_EQ(0, finish(self->fd, 2));
}

TEST_F(slot, lingering)
{
	struct kapf_op op = request(0, self->schema);
	__u64 begin;

	op.final_seats = 1;
	op.additional_latency = 600 * NSEC_PER_MSEC;
	EXPECT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	begin = now_ns();
	EXPECT_EQ(600, finish(self->fd, 0));
	EXPECT_EQ(-EBUSY, admit(self->fd, 0, self->schema));
	EXPECT_EQ(-EBUSY, admit_elsewhere(self->fd, 0, self->schema));
	EXPECT_EQ(-ENOENT, finish(self->fd, 0));
	EXPECT_EQ(-ENOENT, finish_elsewhere(self->fd, 0));
	EXPECT_EQ(1, seats_in_use(self->control, "test"));
	EXPECT_EQ(1, level_stats(self->control, "test").lingering_requests);
	EXPECT_EQ(0, level_stats(self->control, "test").executing_requests);
	ASSERT_TRUE(await_seats(self->control, 0));
	EXPECT_LE(600 * NSEC_PER_MSEC, now_ns() - begin);
	EXPECT_GE(1500 * NSEC_PER_MSEC, now_ns() - begin);
	EXPECT_EQ(0, level_stats(self->control, "test").lingering_requests);
	EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, 0, self->schema));
}

TEST_F(slot, lingering_is_rounded_up)
{
	static const struct {
		__u64 latency;
		int ms;
	} cases[] = {
		{ 1, 1 }, { 999999, 1 }, { 1000000, 1 }, { 1000001, 2 },
		{ 59999000001ULL, 60000 }, { 60000000000ULL, 60000 },
	};
	struct kapf_op op;
	size_t i;

	set_up_queues(self->control, 100, 1, 1, 1);
	self->schema = schema_id(self->control, "test");
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		op = request(i, self->schema);
		op.final_seats = 1;
		op.additional_latency = cases[i].latency;
		EXPECT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
		EXPECT_EQ(cases[i].ms, finish(self->fd, i));
	}
}

/* Lingering seats end in order of their time, not of their FINISH. */
TEST_F(slot, many_linger)
{
	const __u32 latency_ms[] = { 700, 500, 100, 300, 900, 200 };
	struct kapf_op op;
	__u64 begin;
	__u32 i, left;

	self->schema = set_up_queues(self->control, 6, 1, 1, 1);
	for (i = 0; i < 6; i++) {
		op = request(i, self->schema);
		op.final_seats = 1;
		op.additional_latency = latency_ms[i] * NSEC_PER_MSEC;
		ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	}
	for (i = 0; i < 6; i++)
		EXPECT_EQ(latency_ms[i], finish(self->fd, i));
	begin = now_ns();
	EXPECT_EQ(6, seats_in_use(self->control, "test"));
	/* Halfway between 500 and 700 ms two of them are left. */
	sleep_ms(600);
	left = seats_in_use(self->control, "test");
	if (now_ns() - begin < 650 * NSEC_PER_MSEC)
		EXPECT_EQ(2, left);
	EXPECT_TRUE(await_seats(self->control, 0));
	EXPECT_LE(890 * NSEC_PER_MSEC, now_ns() - begin);
	EXPECT_GE(2000 * NSEC_PER_MSEC, now_ns() - begin);
}

/* Seats that have lingered go to whoever waits, without a FINISH. */
TEST_F(slot, waiter_gets_seats_that_lingered)
{
	struct kapf_op op = request(0, self->schema);
	struct waiter waiter;

	op.initial_seats = 2;
	op.final_seats = 2;
	op.additional_latency = 600 * NSEC_PER_MSEC;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	ASSERT_EQ(600, finish(self->fd, 0));
	waiter_start(&waiter, self->fd, request(1, self->schema));
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&waiter));
	EXPECT_LE(200 * NSEC_PER_MSEC, waiter.waited);
	EXPECT_GE(1500 * NSEC_PER_MSEC, waiter.waited);
}

/* Additional latency without final seats holds the initial ones as well. */
TEST_F(slot, initial_seats_linger_too)
{
	struct kapf_op op = request(0, self->schema);

	op.initial_seats = 2;
	op.additional_latency = 200 * NSEC_PER_MSEC;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	EXPECT_EQ(200, finish(self->fd, 0));
	EXPECT_EQ(2, seats_in_use(self->control, "test"));
	EXPECT_TRUE(await_seats(self->control, 0));
}

TEST_F(slot, slots_of_two_sessions_are_apart)
{
	int other = open_session(8);

	EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, 0, self->schema));
	EXPECT_EQ(-ENOENT, finish(other, 0));
	EXPECT_EQ(KAPF_EXECUTE, admit(other, 0, self->schema));
	EXPECT_EQ(2, seats_in_use(self->control, "test"));
	EXPECT_EQ(0, finish(self->fd, 0));
	EXPECT_EQ(0, finish(other, 0));
	close(other);
}

/* Races */

#define ROUNDS 2000

/* What two threads do to one slot at the same moment, round by round. */
struct race {
	int fd;
	__u32 schema;
	pthread_barrier_t barrier;
	int ret[2];
};

struct racer {
	struct race *race;
	int (*act)(struct race *race);
	int index;
	pthread_t thread;
};

static int act_admit(struct race *race)
{
	return admit(race->fd, 0, race->schema);
}

static int act_finish(struct race *race)
{
	return finish(race->fd, 0);
}

static void *racer_main(void *arg)
{
	struct racer *racer = arg;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&racer->race->barrier);
		racer->race->ret[racer->index] = racer->act(racer->race);
		pthread_barrier_wait(&racer->race->barrier);
	}
	return NULL;
}

static void race_start(struct race *race, struct racer racers[2])
{
	int i;

	pthread_barrier_init(&race->barrier, NULL, 3);
	for (i = 0; i < 2; i++) {
		racers[i].race = race;
		racers[i].index = i;
		errno = pthread_create(&racers[i].thread, NULL, racer_main,
				       &racers[i]);
		if (errno)
			die("pthread_create");
	}
}

static void race_round(struct race *race)
{
	pthread_barrier_wait(&race->barrier);
	pthread_barrier_wait(&race->barrier);
}

static void race_end(struct racer racers[2])
{
	pthread_join(racers[0].thread, NULL);
	pthread_join(racers[1].thread, NULL);
}

TEST_F(slot, one_of_two_admits_wins)
{
	struct race race = { .fd = self->fd, .schema = self->schema };
	struct racer racers[2] = {
		{ .act = act_admit }, { .act = act_admit },
	};
	int i, won, busy;

	race_start(&race, racers);
	for (i = 0; i < ROUNDS; i++) {
		race_round(&race);
		won = (race.ret[0] == KAPF_EXECUTE) +
		      (race.ret[1] == KAPF_EXECUTE);
		busy = (race.ret[0] == -EBUSY) + (race.ret[1] == -EBUSY);
		ASSERT_EQ(1, won);
		ASSERT_EQ(1, busy);
		ASSERT_EQ(0, finish(self->fd, 0));
	}
	race_end(racers);
	EXPECT_EQ(0, requests_known(self->control));
	EXPECT_EQ(0, seats_in_use(self->control, "test"));
	EXPECT_EQ(ROUNDS, level_stats(self->control, "test").dispatched);
}

TEST_F(slot, one_of_two_finishes_wins)
{
	struct race race = { .fd = self->fd, .schema = self->schema };
	struct racer racers[2] = {
		{ .act = act_finish }, { .act = act_finish },
	};
	int i, loser;

	race_start(&race, racers);
	for (i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 0, self->schema));
		race_round(&race);
		ASSERT_TRUE(!race.ret[0] || !race.ret[1]);
		loser = race.ret[0] ?: race.ret[1];
		ASSERT_TRUE(loser == -ENOENT || loser == -EBUSY);
	}
	race_end(racers);
	EXPECT_EQ(0, requests_known(self->control));
	EXPECT_EQ(0, seats_in_use(self->control, "test"));
}

/* Whichever order ADMIT and FINISH come in, what is left is one of two. */
TEST_F(slot, admit_against_finish)
{
	struct race race = { .fd = self->fd, .schema = self->schema };
	struct racer racers[2] = {
		{ .act = act_admit }, { .act = act_finish },
	};
	__u32 executing;
	int i;

	race_start(&race, racers);
	for (i = 0; i < ROUNDS; i++) {
		if (i & 1)
			ASSERT_EQ(KAPF_EXECUTE,
				  admit(self->fd, 0, self->schema));
		race_round(&race);
		if (i & 1) {
			ASSERT_EQ(0, race.ret[1]);
			ASSERT_TRUE(race.ret[0] == KAPF_EXECUTE ||
				    race.ret[0] == -EBUSY);
			executing = race.ret[0] == KAPF_EXECUTE;
		} else {
			ASSERT_EQ(KAPF_EXECUTE, race.ret[0]);
			ASSERT_TRUE(!race.ret[1] || race.ret[1] == -ENOENT ||
				    race.ret[1] == -EBUSY);
			executing = race.ret[1] != 0;
		}
		ASSERT_EQ(executing, seats_in_use(self->control, "test"));
		ASSERT_EQ(executing ? 0 : -ENOENT, finish(self->fd, 0));
	}
	race_end(racers);
	EXPECT_EQ(0, requests_known(self->control));
}

/* As many threads as slots, each busy on its own, on two seats. */
struct worker {
	pthread_t thread;
	int fd;
	__u32 slot;
	__u32 schema;
	int failed;
};

static void *worker_main(void *arg)
{
	struct worker *worker = arg;
	int i;

	for (i = 0; i < 300; i++) {
		if (admit(worker->fd, worker->slot, worker->schema) !=
		    KAPF_EXECUTE || finish(worker->fd, worker->slot))
			worker->failed++;
	}
	return NULL;
}

TEST_F(slot, all_slots_at_once)
{
	struct worker workers[8];
	struct kapf_level_stats stats;
	__u32 i;

	for (i = 0; i < 8; i++) {
		workers[i] = (struct worker){ .fd = self->fd, .slot = i,
					      .schema = self->schema };
		ASSERT_EQ(0, pthread_create(&workers[i].thread, NULL,
					    worker_main, &workers[i]));
	}
	for (i = 0; i < 8; i++) {
		pthread_join(workers[i].thread, NULL);
		EXPECT_EQ(0, workers[i].failed);
	}
	stats = level_stats(self->control, "test");
	EXPECT_EQ(8 * 300, stats.dispatched);
	EXPECT_EQ(0, stats.seats_in_use);
	EXPECT_EQ(0, stats.waiting_requests);
	EXPECT_EQ(0, stats.active_queues);
}

TEST_HARNESS_MAIN
