// SPDX-License-Identifier: GPL-2.0
/*
 * SUBMIT with more elements than the module takes at a time: what is wrong, or
 * cannot be told, at the border of a chunk and within one; what comes from other
 * threads and changes of mode meanwhile.
 */
#include "chunk.h"

/* Places in a batch: first, within and last of a chunk */
static const __u32 places[] = { 0, 1, 7, 15, 16, 17, 31, 32, BATCH - 1 };

/* Note events of requests; false: one that was told before, or that nobody asked. */
static bool note(const struct kapf_event *events, __u32 nr, bool *told)
{
	bool good = true;
	__u32 i;

	for (i = 0; i < nr; i++) {
		if (events[i].slot >= BATCH || told[events[i].slot] ||
		    events[i].user_data != USER_DATA + events[i].slot) {
			good = false;
			continue;
		}
		told[events[i].slot] = true;
	}
	return good;
}

/* Bytes that there are for events. */
static const __u32 rooms[] = {
	0, 8, 31, 32, 33, 64, 15 * 32, 15 * 32 + 31, 16 * 32, 16 * 32 + 1,
	16 * 32 + 24, 17 * 32, 31 * 32 + 16, 32 * 32, 32 * 32 + 8, 39 * 32 + 31,
	40 * 32,
};

static void events_fault(struct __test_metadata *_metadata,
			 struct _test_data_chunk *self, struct kapf_op *ops,
			 __u32 room)
{
	struct kapf_event *events = (void *)(self->pages + PAGE - room);
	struct kapf_event copies[BATCH], rest[BATCH];
	bool told[BATCH] = { };
	__u32 nr = BATCH;
	int ret;

	EXPECT_EQ(BATCH, submit_ops(self->fd, ops, BATCH, events, &nr));
	EXPECT_EQ(room / sizeof(*events), nr);
	/* They need not be aligned. */
	memcpy(copies, events, nr * sizeof(*events));
	EXPECT_TRUE(note(copies, nr, told));
	ret = read_events(self->fd, rest, BATCH);
	if (nr < BATCH) {
		ASSERT_EQ(BATCH - (int)nr, ret);
		EXPECT_TRUE(note(rest, ret, told));
	} else {
		EXPECT_EQ(-EAGAIN, ret);
	}
}

/* Each request is told of once: in the call, or by the next read. */
TEST_F(chunk, events_fault)
{
	struct kapf_op ops[BATCH];
	size_t i;

	fill_ops(ops, self->schema);
	for (i = 0; i < ARRAY_SIZE(rooms); i++) {
		events_fault(_metadata, self, ops, rooms[i]);
		EXPECT_EQ(BATCH, seats_in_use(self->control, "test"));
		EXPECT_EQ(BATCH, finish_batch(self->fd));
		EXPECT_TRUE(nothing_left(self->control));
	}
}

TEST_F(chunk, events_fault_of_a_mixture)
{
	struct kapf_op ops[BATCH];
	size_t i;

	fill_ops(ops, self->schema);
	for (i = 0; i < BATCH; i += 5)
		ops[i].schema = self->exempt;
	ops[20].schema = 12345; /* RECLASSIFY */
	ops[35].schema = 12345;
	for (i = 0; i < ARRAY_SIZE(rooms); i++) {
		events_fault(_metadata, self, ops, rooms[i]);
		EXPECT_EQ(BATCH - 2, finish_batch(self->fd));
		EXPECT_TRUE(nothing_left(self->control));
		EXPECT_EQ(0, seats_in_use(self->control, "exempt"));
	}
}

/* Until it is told, it can be cancelled and cannot be finished. */
TEST_F(chunk, not_told_of)
{
	struct kapf_event *bad = (void *)(self->pages + PAGE - 32);
	struct kapf_event events[BATCH];
	struct kapf_finish finishes[2] = { { .slot = 0 }, { .slot = 1 } };
	struct kapf_op ops[BATCH];
	__u32 nr = BATCH;

	fill_ops(ops, self->schema);
	EXPECT_EQ(BATCH, submit_ops(self->fd, ops, BATCH, bad, &nr));
	EXPECT_EQ(1, nr);
	EXPECT_EQ(POLLIN, poll_now(self->fd) & POLLIN);
	EXPECT_EQ(-EALREADY, cancel(self->fd, 0));
	EXPECT_EQ(0, cancel(self->fd, 2));
	EXPECT_EQ(BATCH - 1, seats_in_use(self->control, "test"));
	nr = 1;
	EXPECT_EQ(2, submit_finishes(self->fd, finishes, 2, events, &nr));
	ASSERT_EQ(1, nr);
	EXPECT_EQ(KAPF_ERROR, events[0].verdict);
	EXPECT_EQ(EBUSY, events[0].detail);
	EXPECT_EQ(1, events[0].slot);
	ASSERT_EQ(BATCH - 1, read_events(self->fd, events, BATCH));
	EXPECT_EQ(KAPF_EXECUTE, events[0].verdict);
	EXPECT_EQ(KAPF_CANCELLED, events[1].verdict);
	EXPECT_EQ(BATCH - 2, finish_batch(self->fd));
	EXPECT_TRUE(nothing_left(self->control));
}

/* Make the element at @place one that is refused with this error. */
static void spoil(struct kapf_op *ops, __u32 place, int error)
{
	switch (error) {
	case EINVAL:
		ops[place].initial_seats = 0;
		break;
	case EBUSY:
		/* With the first one, it is the one after it that is refused. */
		ops[place].slot = ops[place ? place - 1 : 1].slot;
		break;
	}
}

static void refused_op(struct __test_metadata *_metadata,
		       struct _test_data_chunk *self, __u32 place, int error)
{
	struct kapf_event events[BATCH];
	struct kapf_op ops[BATCH];
	__u32 i, refused = place;
	__u32 nr = BATCH;

	if (!place && error == EBUSY)
		refused = 1;
	fill_ops(ops, self->schema);
	spoil(ops, place, error);
	EXPECT_EQ(BATCH, submit_ops(self->fd, ops, BATCH, events, &nr));
	ASSERT_EQ(BATCH, nr);
	for (i = 0; i < BATCH; i++) {
		EXPECT_EQ(USER_DATA + i, events[i].user_data);
		EXPECT_EQ(ops[i].slot, events[i].slot);
		EXPECT_EQ(i == refused ? KAPF_ERROR : KAPF_EXECUTE,
			  events[i].verdict);
		EXPECT_EQ(i == refused ? error : 0, events[i].detail);
	}
	EXPECT_EQ(BATCH - 1, seats_in_use(self->control, "test"));
	EXPECT_EQ(BATCH - 1, finish_batch(self->fd));
	EXPECT_TRUE(nothing_left(self->control));
}

/* What is refused stops none of the others, and is told of in its turn. */
TEST_F(chunk, refused_ops)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		refused_op(_metadata, self, places[i], EINVAL);
		refused_op(_metadata, self, places[i], EBUSY);
	}
}

/* Without room for the error nothing from there on is taken. */
TEST_F(chunk, refused_ops_without_room)
{
	struct kapf_event events[BATCH];
	struct kapf_op ops[BATCH];
	__u32 nr, place;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		place = places[i];
		nr = 0;
		fill_ops(ops, self->schema);
		spoil(ops, place, EINVAL);
		EXPECT_EQ(place ? (int)place : -EINVAL,
			  submit_ops(self->fd, ops, BATCH, NULL, &nr));
		EXPECT_EQ(place, seats_in_use(self->control, "test"));
		if (place) {
			EXPECT_EQ((int)place,
				  read_events(self->fd, events, BATCH));
			EXPECT_EQ(USER_DATA + place - 1,
				  events[place - 1].user_data);
		}
		EXPECT_EQ((int)place, finish_batch(self->fd));
		EXPECT_TRUE(nothing_left(self->control));
	}
}

/*
 * Of an op that cannot be fetched nobody knows which request it was: the call ends
 * there, and nothing is told of it.
 */
TEST_F(chunk, unreadable_ops)
{
	struct kapf_event events[BATCH];
	struct kapf_op ops[BATCH], *bad;
	__u32 nr, place;
	size_t i;

	fill_ops(ops, self->schema);
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		place = places[i];
		/* Half of one is there, which is not enough. */
		bad = (void *)(self->pages + PAGE - place * sizeof(*ops) -
			       sizeof(*ops) / 2);
		memcpy(bad, ops, place * sizeof(*ops) + sizeof(*ops) / 2);
		nr = BATCH;
		EXPECT_EQ(place ? (int)place : -EFAULT,
			  submit_ops(self->fd, bad, BATCH, events, &nr));
		ASSERT_EQ(place, nr);
		EXPECT_EQ((int)place, finish_batch(self->fd));
		EXPECT_TRUE(nothing_left(self->control));
	}
}

static void fill_finishes(struct kapf_finish *finishes)
{
	__u32 i;

	for (i = 0; i < BATCH; i++)
		finishes[i] = (struct kapf_finish){ .slot = i };
}

static void execute_all(struct _test_data_chunk *self, struct kapf_op *ops)
{
	struct kapf_event events[BATCH];
	__u32 nr = BATCH;

	if (submit_ops(self->fd, ops, BATCH, events, &nr) != BATCH ||
	    nr != BATCH)
		die("not all of the batch executes");
}

static void refused_finish(struct __test_metadata *_metadata,
			   struct _test_data_chunk *self,
			   struct kapf_finish wrong, __u32 place, int error)
{
	struct kapf_finish finishes[BATCH];
	struct kapf_event event = { };
	struct kapf_op ops[BATCH];
	__u32 nr = 0;

	fill_ops(ops, self->schema);
	execute_all(self, ops);
	fill_finishes(finishes);
	finishes[place] = wrong;
	/* Without room it stops there. */
	EXPECT_EQ(place ? (int)place : -error,
		  submit_finishes(self->fd, finishes, BATCH, NULL, &nr));
	EXPECT_EQ(BATCH - place, seats_in_use(self->control, "test"));
	nr = 1;
	EXPECT_EQ(BATCH - (int)place,
		  submit_finishes(self->fd, finishes + place, BATCH - place,
				  &event, &nr));
	ASSERT_EQ(1, nr);
	EXPECT_EQ(KAPF_ERROR, event.verdict);
	EXPECT_EQ(error, event.detail);
	EXPECT_EQ(KAPF_EVENT_FINISH, event.flags);
	EXPECT_EQ(wrong.slot, event.slot);
	EXPECT_EQ(0, event.user_data);
	EXPECT_EQ(0, finish(self->fd, place));
	EXPECT_TRUE(nothing_left(self->control));
}

TEST_F(chunk, refused_finishes)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		__u32 place = places[i];
		struct kapf_finish twice = {
			.slot = place ? place - 1 : SLOTS - 1,
		};

		refused_finish(_metadata, self, twice, place, ENOENT);
		refused_finish(_metadata, self,
			       (struct kapf_finish){ .slot = SLOTS }, place,
			       EINVAL);
		refused_finish(_metadata, self,
			       (struct kapf_finish){ .slot = place,
						     .lingers = 1 },
			       place, EINVAL);
	}
}

TEST_F(chunk, unreadable_finishes)
{
	struct kapf_finish finishes[BATCH], *bad;
	struct kapf_event event;
	struct kapf_op ops[BATCH];
	size_t i, size;
	__u32 nr;

	fill_ops(ops, self->schema);
	fill_finishes(finishes);
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		size = places[i] * sizeof(*finishes) + sizeof(finishes->slot);
		bad = (void *)(self->pages + PAGE - size);
		memcpy(bad, finishes, size);
		execute_all(self, ops);
		nr = 1;
		EXPECT_EQ(places[i] ? (int)places[i] : -EFAULT,
			  submit_finishes(self->fd, bad, BATCH, &event, &nr));
		EXPECT_EQ(0, nr);
		EXPECT_EQ(BATCH - (int)places[i], finish_batch(self->fd));
		EXPECT_TRUE(nothing_left(self->control));
	}
}

/* Every third one keeps its seats, each for another time. */
static __u32 lingers_for(__u32 i)
{
	return i % 3 ? 0 : 50000 + i;
}

static void execute_lingering(struct _test_data_chunk *self)
{
	struct kapf_op ops[BATCH];
	__u32 i;

	fill_ops(ops, self->schema);
	for (i = 0; i < BATCH; i++)
		ops[i].additional_latency = lingers_for(i) * NSEC_PER_MSEC;
	execute_all(self, ops);
}

TEST_F(chunk, lingers)
{
	struct kapf_finish finishes[BATCH];
	__u32 i, lingering = 0;
	__u32 nr = 0;

	execute_lingering(self);
	fill_finishes(finishes);
	EXPECT_EQ(BATCH,
		  submit_finishes(self->fd, finishes, BATCH, NULL, &nr));
	for (i = 0; i < BATCH; i++) {
		EXPECT_EQ(i, finishes[i].slot);
		EXPECT_EQ(lingers_for(i), finishes[i].lingers);
		lingering += !!lingers_for(i);
	}
	EXPECT_EQ(lingering,
		  level_stats(self->control, "test").lingering_requests);
	EXPECT_EQ(lingering, seats_in_use(self->control, "test"));
}

/* What is finished is told where it can be, whatever comes before. */
TEST_F(chunk, lingers_that_cannot_be_told)
{
	struct kapf_finish *finishes;
	int taken, i;
	__u32 nr = 0;

	ASSERT_EQ(0, mprotect(self->pages + PAGE, PAGE,
			      PROT_READ | PROT_WRITE));
	/* Four are before the border of the pages. */
	finishes = (void *)(self->pages + PAGE - 4 * sizeof(*finishes));
	execute_lingering(self);
	fill_finishes(finishes);
	ASSERT_EQ(0, mprotect(self->pages, PAGE, PROT_READ));
	taken = submit_finishes(self->fd, finishes, BATCH, NULL, &nr);
	EXPECT_LT(0, taken);
	for (i = 0; i < BATCH; i++) {
		EXPECT_EQ(i < taken && i >= 4 ? lingers_for(i) : 0,
			  finishes[i].lingers);
		EXPECT_EQ(i < taken ? -ENOENT : (int)lingers_for(i),
			  finish(self->fd, i));
	}
	EXPECT_EQ(0, level_stats(self->control, "test").executing_requests);
}

/* The oldest events come first, however little room there is. */
TEST_F(chunk, order_of_events)
{
	struct kapf_event events[BATCH];
	struct kapf_op ops[BATCH];
	__u64 asked = 0, told = 0;
	__u32 i, round, nr;

	for (round = 0; round < 200; round++) {
		__u32 asks = round * 7 % 24;

		for (i = 0; i < asks; i++) {
			/* Those told of were finished long ago. */
			ops[i] = request((asked + i) % SLOTS, self->schema);
			ops[i].user_data = asked + i;
		}
		/* More than what is asked for, less, or just as much */
		nr = round % 3 == 2 ? asks : round * 11 % 26;
		if (asked + asks - told > SLOTS)
			asks = 0;
		ASSERT_EQ((int)asks,
			  submit_ops(self->fd, ops, asks, events, &nr));
		asked += asks;
		for (i = 0; i < nr; i++, told++) {
			EXPECT_EQ(told, events[i].user_data);
			EXPECT_EQ(KAPF_EXECUTE, events[i].verdict);
			EXPECT_EQ(0, finish(self->fd, events[i].slot));
		}
	}
	EXPECT_LT(1000, told);
	while (read_events(self->fd, events, 1) == 1) {
		EXPECT_EQ(told++, events[0].user_data);
		EXPECT_EQ(0, finish(self->fd, events[0].slot));
	}
	EXPECT_EQ(asked, told);
	EXPECT_TRUE(nothing_left(self->control));
}

/* Those of one batch come in its order, even if some are not told of directly. */
TEST_F(chunk, order_of_a_mixture)
{
	struct kapf_event events[BATCH];
	struct kapf_op ops[BATCH];
	__u32 k, nr;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		fill_ops(ops, self->schema);
		ops[places[i]].schema = 12345; /* RECLASSIFY */
		nr = BATCH;
		ASSERT_EQ(BATCH,
			  submit_ops(self->fd, ops, BATCH, events, &nr));
		ASSERT_EQ(BATCH, nr);
		for (k = 0; k < BATCH; k++)
			EXPECT_EQ(USER_DATA + k, events[k].user_data);
		EXPECT_EQ(KAPF_RECLASSIFY, events[places[i]].verdict);
		EXPECT_EQ(BATCH - 1, finish_batch(self->fd));
	}
	EXPECT_TRUE(nothing_left(self->control));
}

/* Batches that are told of directly do not keep back what others have decided. */
TEST_F(chunk, none_starves)
{
	struct kapf_op wide = request(BATCH, self->schema);
	struct kapf_event events[BATCH];
	struct kapf_op ops[BATCH];
	int round;
	__u32 nr;

	wide.initial_seats = SEATS;
	for (round = 0; round < 3; round++) {
		ASSERT_EQ(KAPF_EXECUTE,
			  KAPF_VERDICT(admit_op(self->fd, wide)));
		fill_ops(ops, self->schema);
		ops[0].slot = BATCH + 1;
		ops[0].user_data = USER_DATA + BATCH + 1;
		nr = 0;
		EXPECT_EQ(1, submit_ops(self->fd, ops, 1, events, &nr));
		EXPECT_EQ(1, level_stats(self->control,
					 "test").waiting_requests);
		/* Now it executes, of which nobody has been told. */
		EXPECT_EQ(0, finish(self->fd, BATCH));
		fill_ops(ops, self->schema);
		nr = BATCH;
		EXPECT_EQ(BATCH,
			  submit_ops(self->fd, ops, BATCH, events, &nr));
		ASSERT_EQ(BATCH, nr);
		EXPECT_EQ(USER_DATA + BATCH + 1, events[0].user_data);
		ASSERT_EQ(1, read_events(self->fd, events, BATCH));
		EXPECT_EQ(USER_DATA + BATCH - 1, events[0].user_data);
		EXPECT_EQ(0, finish(self->fd, BATCH + 1));
		EXPECT_EQ(BATCH, finish_batch(self->fd));
		EXPECT_TRUE(nothing_left(self->control));
	}
}

TEST_HARNESS_MAIN
