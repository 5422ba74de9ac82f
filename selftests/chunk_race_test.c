// SPDX-License-Identifier: GPL-2.0
/*
 * SUBMIT while other threads work on the same slots, and while the mode changes:
 * nothing is lost, and nobody is told what was not asked.
 */
#include "chunk.h"
#include "missing.h"
#include "schema.h"

/**
 * struct storm - threads that work on the slots of one session
 * @test: what they share
 * @stop: that it is enough
 * @alien: events that tell of nobody's request
 */
struct storm {
	struct _test_data_chunk *test;
	bool stop;
	__u32 alien;
};

static struct kapf_op random_op(struct storm *storm, __u64 *state)
{
	struct kapf_op op = request(random_below(state, SLOTS),
				    storm->test->schema);

	if (!random_below(state, 6))
		op.schema = storm->test->exempt;
	op.initial_seats = 1 + random_below(state, 6);
	if (!random_below(state, 10))
		op.additional_latency = 1 + random_below(state, 1000000);
	if (!random_below(state, 4))
		op.max_wait = 1 + random_below(state, 2000000);
	op.flow_hash = random_below(state, 100);
	op.user_data = USER_DATA + op.slot;
	return op;
}

/* Take notice of events, and finish what executes, but for some. */
static void settle(struct storm *storm, __u64 *state,
		   const struct kapf_event *events, int nr)
{
	int i;

	for (i = 0; i < nr; i++) {
		const struct kapf_event *event = &events[i];
		bool of_finish = event->verdict == KAPF_ERROR &&
				 event->flags & KAPF_EVENT_FINISH;

		if (event->user_data !=
		    (of_finish ? 0 : USER_DATA + event->slot))
			__atomic_fetch_add(&storm->alien, 1, __ATOMIC_RELAXED);
		if (event->verdict == KAPF_EXECUTE && random_below(state, 4))
			finish(storm->test->fd, event->slot);
	}
}

/* Batches, of which some cannot be told of. */
static void *submits(void *arg)
{
	struct storm *storm = arg;
	struct kapf_finish finishes[CHUNK];
	struct kapf_event events[2 * BATCH];
	struct kapf_op ops[BATCH];
	__u64 state = 1;
	__u32 i, nr;

	while (!__atomic_load_n(&storm->stop, __ATOMIC_RELAXED)) {
		struct kapf_submit step = submission();
		char *end = storm->test->pages + PAGE;

		for (i = 0; i < CHUNK; i++)
			finishes[i] = (struct kapf_finish){
				.slot = random_below(&state, SLOTS),
			};
		for (i = 0; i < BATCH; i++)
			ops[i] = random_op(storm, &state);
		step.finish = (uintptr_t)finishes;
		step.nr_finish = random_below(&state, CHUNK + 1);
		step.ops = (uintptr_t)ops;
		step.nr_ops = BATCH;
		nr = random_below(&state, 2 * BATCH + 1);
		if (random_below(&state, 2)) {
			submit(storm->test->fd, step, (void *)
			       (end - random_below(&state, BATCH * 32)), &nr);
		} else {
			submit(storm->test->fd, step, events, &nr);
			settle(storm, &state, events, nr);
		}
	}
	return NULL;
}

/* Whatever slot it is, and whoever asked. */
static void *meddles(void *arg)
{
	struct storm *storm = arg;
	struct kapf_event events[BATCH];
	int fd = storm->test->fd;
	__u64 state = 2;
	struct kapf_op op;

	while (!__atomic_load_n(&storm->stop, __ATOMIC_RELAXED)) {
		op = random_op(storm, &state);
		switch (random_below(&state, 4)) {
		case 0:
			finish(fd, op.slot);
			break;
		case 1:
			cancel(fd, op.slot);
			break;
		case 2:
			op.max_wait = 100000;
			admit_op(fd, op);
			break;
		case 3:
			settle(storm, &state, events,
			       read(fd, events, sizeof(events)) /
			       (int)sizeof(events[0]));
			break;
		}
	}
	return NULL;
}

/* All that is asked for ends, as every slot can be used again. */
static void expect_calm(struct __test_metadata *_metadata,
			struct _test_data_chunk *self)
{
	__u64 end = now_ns() + 10 * NSEC_PER_SEC;
	struct kapf_schema_stats stats;
	struct kapf_event events[SLOTS];
	__u32 i;

	/* Who executes makes room for who waits. */
	do {
		read_events(self->fd, events, SLOTS);
		for (i = 0; i < SLOTS; i++)
			finish(self->fd, i);
	} while (requests_known(self->control) && now_ns() < end);
	EXPECT_EQ(-EAGAIN, read_events(self->fd, events, SLOTS));
	EXPECT_TRUE(nothing_left(self->control));
	sleep_ms(2); /* for those of the exempt level */
	EXPECT_EQ(0, seats_in_use(self->control, "exempt"));
	stats = schema_stats(self->control, self->schema);
	EXPECT_EQ(0, stats.executing_requests);
	EXPECT_EQ(0, stats.waiting_requests);
	EXPECT_EQ(0, stats.seats_in_use);
	EXPECT_EQ(0, stats.waiting_seats);
	for (i = 0; i < SLOTS; i++)
		EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, i, self->schema));
	EXPECT_EQ(SLOTS, seats_in_use(self->control, "test"));
	for (i = 0; i < SLOTS; i++)
		EXPECT_EQ(0, finish(self->fd, i));
	EXPECT_TRUE(nothing_left(self->control));
}

TEST_F(chunk, storm)
{
	struct storm storm = { .test = self };
	pthread_t threads[3];
	int i;

	/* For read(); ADMIT does not wait, either. */
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, O_NONBLOCK));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL,
					    i ? meddles : submits, &storm));
	sleep_ms(2000);
	__atomic_store_n(&storm.stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	EXPECT_EQ(0, storm.alien);
	EXPECT_LT(1000, level_stats(self->control, "test").dispatched);
	expect_calm(_metadata, self);
}

/**
 * struct teller - a thread in a SUBMIT that tells of a request
 * @thread: it
 * @fd: of the session
 * @op: the request
 * @events: where to tell
 * @nr_events: room there; out: how many came
 * @ret: requests taken, or an error
 */
struct teller {
	pthread_t thread;
	int fd;
	struct kapf_op op;
	struct kapf_event *events;
	__u32 nr_events;
	int ret;
};

static void *teller_main(void *arg)
{
	struct teller *teller = arg;

	teller->ret = submit_ops(teller->fd, &teller->op, 1, teller->events,
				 &teller->nr_events);
	return NULL;
}

/*
 * While a batch tells of a request, others finish it, and have one wait in its
 * slot that executes then.  What comes is an event of the first one.
 */
TEST_F(chunk, another_one_in_the_slot)
{
	struct kapf_op wide = request(1, self->schema);
	struct teller teller = {
		.fd = self->fd,
		.op = request(0, self->schema),
		.nr_events = 1,
	};
	struct kapf_event event;
	struct waiter waiter;
	int faults;

	teller.events = missing_page(&faults);
	teller.op.user_data = USER_DATA;
	wide.initial_seats = SEATS;
	ASSERT_EQ(0, pthread_create(&teller.thread, NULL, teller_main,
				    &teller));
	ASSERT_TRUE(page_touched(faults));
	EXPECT_EQ(0, finish(self->fd, 0));
	EXPECT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, wide)));
	waiter_start(&waiter, self->fd, request(0, self->schema));
	ASSERT_TRUE(await_waiting(self->control, 1));
	EXPECT_EQ(0, finish(self->fd, 1));
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&waiter));

	ASSERT_EQ(0, mprotect(teller.events, PAGE, PROT_NONE));
	close(faults);
	pthread_join(teller.thread, NULL);
	EXPECT_EQ(1, teller.ret);
	EXPECT_EQ(0, teller.nr_events);
	event = read_event(self->fd);
	EXPECT_EQ(USER_DATA, event.user_data);
	EXPECT_EQ(0, event.slot);
	EXPECT_EQ(KAPF_EXECUTE, event.verdict);
	EXPECT_EQ(0, finish(self->fd, 0));
	EXPECT_TRUE(nothing_left(self->control));
	munmap(teller.events, PAGE);
}

static void finish_by_submit(struct __test_metadata *_metadata, int fd, __u32 nr)
{
	struct kapf_finish finishes[BATCH];
	__u32 i, nr_events = 0;

	for (i = 0; i < nr; i++)
		finishes[i] = (struct kapf_finish){ .slot = i };
	EXPECT_EQ((int)nr, submit_finishes(fd, finishes, nr, NULL, &nr_events));
	for (i = 0; i < nr; i++)
		EXPECT_EQ(0, finishes[i].lingers);
}

/* All execute; of three seats each, 33 would and 7 would wait. */
TEST_F(chunk, observed)
{
	struct kapf_level_stats stats;
	struct kapf_event events[BATCH];
	struct kapf_op ops[BATCH];
	__u32 i, nr = BATCH;

	ASSERT_EQ(0, set_mode(self->control, KAPF_MODE_OBSERVE));
	fill_ops(ops, self->schema);
	for (i = 0; i < BATCH; i++)
		ops[i].initial_seats = 3;
	ASSERT_EQ(BATCH, submit_ops(self->fd, ops, BATCH, events, &nr));
	ASSERT_EQ(BATCH, nr);
	for (i = 0; i < BATCH; i++) {
		EXPECT_EQ(USER_DATA + i, events[i].user_data);
		EXPECT_EQ(KAPF_EXECUTE, events[i].verdict);
		EXPECT_EQ(0, events[i].wait);
	}
	stats = level_stats(self->control, "test");
	EXPECT_EQ(BATCH, stats.passing_requests);
	EXPECT_EQ(BATCH, stats.executing_requests);
	EXPECT_EQ(BATCH, stats.dispatched);
	EXPECT_EQ(99, stats.seats_in_use);
	EXPECT_EQ(7, stats.waiting_requests);
	EXPECT_EQ(33, stats.observed.dispatched);
	finish_by_submit(_metadata, self->fd, BATCH);
	EXPECT_TRUE(nothing_left(self->control));
}

/* The 25 in flight that the configuration allows execute. */
TEST_F(chunk, switched_off)
{
	struct kapf_event events[BATCH];
	struct kapf_op ops[BATCH];
	__u32 i, nr = BATCH;

	fill_ops(ops, set_up_queues(self->control, 20, 1, 1, 10));
	ASSERT_EQ(0, set_mode(self->control, KAPF_MODE_OFF));
	ASSERT_EQ(BATCH, submit_ops(self->fd, ops, BATCH, events, &nr));
	ASSERT_EQ(BATCH, nr);
	for (i = 0; i < BATCH; i++) {
		EXPECT_EQ(USER_DATA + i, events[i].user_data);
		EXPECT_EQ(i < 25 ? KAPF_EXECUTE : KAPF_CONCURRENCY_LIMIT,
			  events[i].verdict);
		EXPECT_EQ(i < 25 ? 0 : 1, events[i].detail);
	}
	EXPECT_EQ(25, level_stats(self->control, "test").passing_requests);
	EXPECT_EQ(0, seats_in_use(self->control, "test"));
	finish_by_submit(_metadata, self->fd, 25);
	EXPECT_TRUE(nothing_left(self->control));
}

static void *changes_modes(void *arg)
{
	struct storm *storm = arg;
	__u32 mode = KAPF_MODE_ENFORCE;

	while (!__atomic_load_n(&storm->stop, __ATOMIC_RELAXED)) {
		mode = mode % KAPF_MODE_OFF + 1;
		if (set_mode(storm->test->control, mode))
			die("SET_MODE");
	}
	return NULL;
}

/* All that was asked is decided, whatever the mode was. */
TEST_F(chunk, modes_change)
{
	struct storm storm = { .test = self };
	struct kapf_event events[BATCH];
	__u64 end, asked = 0, executed = 0;
	struct kapf_level_stats stats;
	struct kapf_op ops[BATCH];
	pthread_t thread;
	__u32 i, nr;

	ASSERT_EQ(0, pthread_create(&thread, NULL, changes_modes, &storm));
	fill_ops(ops, self->schema);
	for (i = 0; i < BATCH; i++)
		ops[i].initial_seats = 4;
	for (end = now_ns() + NSEC_PER_SEC; now_ns() < end;) {
		__u32 told = 0;

		nr = BATCH;
		ASSERT_EQ(BATCH,
			  submit_ops(self->fd, ops, BATCH, events, &nr));
		asked += BATCH;
		for (;;) {
			for (i = 0; i < nr; i++) {
				EXPECT_EQ(USER_DATA + events[i].slot,
					  events[i].user_data);
				EXPECT_EQ(KAPF_EXECUTE, events[i].verdict);
				EXPECT_EQ(0, finish(self->fd, events[i].slot));
			}
			told += nr;
			if (told == BATCH)
				break;
			events[0] = read_event(self->fd);
			nr = 1;
		}
		executed += told;
	}
	__atomic_store_n(&storm.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	ASSERT_EQ(0, set_mode(self->control, KAPF_MODE_ENFORCE));
	EXPECT_LT(1000, asked);
	EXPECT_EQ(asked, executed);
	stats = level_stats(self->control, "test");
	EXPECT_EQ(asked, stats.dispatched);
	EXPECT_EQ(asked, schema_stats(self->control, self->schema).dispatched);
	EXPECT_LT(0, stats.observed.dispatched);
	expect_calm(_metadata, self);
}

TEST_HARNESS_MAIN
