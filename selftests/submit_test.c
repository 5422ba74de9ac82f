// SPDX-License-Identifier: GPL-2.0
/*
 * SUBMIT: finish, cancel, ask and read in one call.
 */
#include "batch.h"

static struct kapf_submit submission(void)
{
	return (struct kapf_submit){
		.size = sizeof(struct kapf_submit),
		.op_size = sizeof(struct kapf_op),
		.event_size = sizeof(struct kapf_event),
	};
}

static int submit_ops(int fd, struct kapf_op *ops, __u32 nr,
		      struct kapf_event *events, __u32 room)
{
	struct kapf_submit submit = submission();
	int ret;

	submit.ops = (uintptr_t)ops;
	submit.nr_ops = nr;
	submit.events = (uintptr_t)events;
	submit.nr_events = room;
	ret = call(fd, KAPF_SUBMIT, &submit);
	if (!ret && submit.nr_ops != nr)
		die("SUBMIT did not take all");
	return ret ?: (int)submit.nr_events;
}

TEST_F(batch, everything)
{
	struct kapf_finish finishes[2] = { { .slot = 0 }, { .slot = 1 } };
	struct kapf_submit submit = submission();
	struct kapf_event events[SLOTS];
	__u32 cancels[1] = { 4 };
	struct kapf_op ops[6];
	int i;

	for (i = 0; i < 6; i++)
		ops[i] = op_for(self, i);
	EXPECT_EQ(4, submit_ops(self->fd, ops, 6, events, SLOTS));
	EXPECT_EQ(2, waiting(self));

	for (i = 0; i < 2; i++)
		ops[i] = op_for(self, 6 + i);
	submit.finish = (uintptr_t)finishes;
	submit.nr_finish = 2;
	submit.cancel = (uintptr_t)cancels;
	submit.nr_cancel = 1;
	submit.ops = (uintptr_t)ops;
	submit.nr_ops = 2;
	submit.events = (uintptr_t)events;
	submit.nr_events = SLOTS;
	EXPECT_EQ(0, call(self->fd, KAPF_SUBMIT, &submit));
	EXPECT_EQ(2, submit.nr_finish);
	EXPECT_EQ(1, submit.nr_cancel);
	EXPECT_EQ(2, submit.nr_ops);
	/* 4 and 5 had their turn by the finishes; 4 is taken back: 6 gets in. */
	ASSERT_EQ(3, submit.nr_events);
	EXPECT_EQ(4, events[0].slot);
	EXPECT_EQ(KAPF_CANCELLED, events[0].verdict);
	EXPECT_EQ(5, events[1].slot);
	EXPECT_EQ(KAPF_EXECUTE, events[1].verdict);
	EXPECT_EQ(6, events[2].slot);
	EXPECT_EQ(KAPF_EXECUTE, events[2].verdict);
	EXPECT_EQ(1, waiting(self));
}

/* What is refused becomes an event of its own, and does not stop the rest. */
TEST_F(batch, with_errors)
{
	struct kapf_finish finishes[3] = {
		{ .slot = 9 }, { .slot = SLOTS }, { .slot = 0, .lingers = 1 },
	};
	struct kapf_submit submit = submission();
	struct kapf_event events[SLOTS];
	__u32 cancels[2] = { 0, 77 };
	const struct {
		__u32 slot;
		__u16 error;
		__u32 flags;
		__u64 user_data;
	} wanted[] = {
		{ 9, ENOENT, KAPF_EVENT_FINISH, 0 },
		{ SLOTS, EINVAL, KAPF_EVENT_FINISH, 0 },
		{ 0, EINVAL, KAPF_EVENT_FINISH, 0 },
		{ 0, EALREADY, KAPF_EVENT_CANCEL, 0 },
		{ 77, EINVAL, KAPF_EVENT_CANCEL, 0 },
		{ 0, EBUSY, 0, 1000 },
		{ 1, EINVAL, 0, 1001 },
		{ 2, EFAULT, 0, 1002 },
	};
	struct kapf_op ops[4];
	size_t i;

	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 0, self->schema));
	for (i = 0; i < 4; i++)
		ops[i] = op_for(self, i);
	ops[1].opcode = KAPF_OP_FINISH;
	ops[2].label_len = 1;
	submit.finish = (uintptr_t)finishes;
	submit.nr_finish = 3;
	submit.cancel = (uintptr_t)cancels;
	submit.nr_cancel = 2;
	submit.ops = (uintptr_t)ops;
	submit.nr_ops = 4;
	submit.events = (uintptr_t)events;
	submit.nr_events = SLOTS;
	EXPECT_EQ(0, call(self->fd, KAPF_SUBMIT, &submit));
	EXPECT_EQ(3, submit.nr_finish);
	EXPECT_EQ(2, submit.nr_cancel);
	EXPECT_EQ(4, submit.nr_ops);
	ASSERT_EQ(ARRAY_SIZE(wanted) + 1, submit.nr_events);
	for (i = 0; i < ARRAY_SIZE(wanted); i++) {
		EXPECT_EQ(KAPF_ERROR, events[i].verdict);
		EXPECT_EQ(wanted[i].slot, events[i].slot);
		EXPECT_EQ(wanted[i].error, events[i].detail);
		EXPECT_EQ(wanted[i].flags, events[i].flags);
		EXPECT_EQ(wanted[i].user_data, events[i].user_data);
		EXPECT_EQ(0, events[i].wait);
	}
	EXPECT_EQ(KAPF_EXECUTE, events[i].verdict);
	EXPECT_EQ(3, events[i].slot);
	EXPECT_EQ(0, finish(self->fd, 0));
	EXPECT_EQ(0, finish(self->fd, 3));
	EXPECT_EQ(0, seats_in_use(self->control, "test"));
}

/* Without room for an error it stops before the element, which is not lost. */
TEST_F(batch, without_room_for_an_error)
{
	struct kapf_submit submit = submission();
	struct kapf_event event;
	struct kapf_op ops[4];
	int i;

	for (i = 0; i < 4; i++)
		ops[i] = op_for(self, i);
	ops[1].slot = SLOTS;
	ops[2].slot = SLOTS + 1;
	submit.ops = (uintptr_t)ops;
	submit.nr_ops = 4;
	submit.events = (uintptr_t)&event;
	submit.nr_events = 1;
	EXPECT_EQ(0, call(self->fd, KAPF_SUBMIT, &submit));
	EXPECT_EQ(2, submit.nr_ops);
	EXPECT_EQ(1, submit.nr_events);
	EXPECT_EQ(SLOTS, event.slot);
	EXPECT_EQ(KAPF_ERROR, event.verdict);
	/* Nothing taken: then it is the call that fails. */
	submit.ops = (uintptr_t)(ops + 2);
	submit.nr_ops = 2;
	submit.nr_events = 0;
	EXPECT_EQ(-EINVAL, call(self->fd, KAPF_SUBMIT, &submit));
	EXPECT_EQ(2, submit.nr_ops);
	EXPECT_EQ(0, read_event(self->fd).slot);
}

/* Events for which there is no room wait for the next call. */
TEST_F(batch, without_room_for_events)
{
	struct kapf_event events[2];
	struct kapf_op ops[4];
	int i;

	for (i = 0; i < 4; i++)
		ops[i] = op_for(self, i);
	EXPECT_EQ(0, submit_ops(self->fd, ops, 4, NULL, 0));
	EXPECT_EQ(POLLIN, poll_now(self->fd) & POLLIN);
	EXPECT_EQ(2, submit_ops(self->fd, NULL, 0, events, 2));
	EXPECT_EQ(0, events[0].slot);
	EXPECT_EQ(1, events[1].slot);
	EXPECT_EQ(2, read_events(self->fd, events, 2));
	EXPECT_EQ(2, events[0].slot);
	EXPECT_EQ(0, poll_now(self->fd) & POLLIN);
}

TEST_F(batch, finish_that_lingers)
{
	struct kapf_finish finishes[2] = { { .slot = 0 }, { .slot = 1 } };
	struct kapf_submit submit = submission();
	struct kapf_op op = op_for(self, 0);

	op.additional_latency = 1500000;
	op.final_seats = 1;
	EXPECT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, 1, self->schema));
	submit.finish = (uintptr_t)finishes;
	submit.nr_finish = 2;
	EXPECT_EQ(0, call(self->fd, KAPF_SUBMIT, &submit));
	EXPECT_EQ(2, submit.nr_finish);
	EXPECT_EQ(2, finishes[0].lingers);
	EXPECT_EQ(0, finishes[1].lingers);
}

TEST_F(batch, sizes)
{
	struct kapf_submit submit = submission();

	submit.op_size--;
	EXPECT_EQ(-EINVAL, call(self->fd, KAPF_SUBMIT, &submit));
	submit.op_size += 8;
	EXPECT_EQ(-EINVAL, call(self->fd, KAPF_SUBMIT, &submit));
	submit = submission();
	submit.event_size += 8;
	EXPECT_EQ(-EINVAL, call(self->fd, KAPF_SUBMIT, &submit));
	submit.event_size = 0;
	EXPECT_EQ(-EINVAL, call(self->fd, KAPF_SUBMIT, &submit));
	submit = submission();
	submit.min_complete = 1;
	EXPECT_EQ(-EINVAL, call(self->fd, KAPF_SUBMIT, &submit));
	submit = submission();
	submit.size = sizeof(submit) - 8;
	EXPECT_EQ(-EINVAL, call(self->fd, KAPF_SUBMIT, &submit));
	submit = submission();
	EXPECT_EQ(0, call(self->fd, KAPF_SUBMIT, &submit));
	EXPECT_EQ(-ENOTTY, call(self->control, KAPF_SUBMIT, &submit));
}

/* What was done before a fault counts; where nothing was, it is the error. */
TEST_F(batch, faults)
{
	struct kapf_finish *finishes = (void *)(self->pages + 4096);
	struct kapf_op *ops = (void *)(self->pages + 4096);
	__u32 *cancels = (void *)(self->pages + 4096);
	struct kapf_submit submit = submission();
	struct kapf_event *events = (void *)(self->pages + 4096);

	submit.ops = (uintptr_t)ops;
	submit.nr_ops = 1;
	EXPECT_EQ(-EFAULT, call(self->fd, KAPF_SUBMIT, &submit));
	ops[-1] = op_for(self, 0);
	submit.ops = (uintptr_t)(ops - 1);
	submit.nr_ops = 2;
	EXPECT_EQ(0, call(self->fd, KAPF_SUBMIT, &submit));
	EXPECT_EQ(1, submit.nr_ops);
	submit = submission();
	submit.finish = (uintptr_t)finishes;
	submit.nr_finish = 1;
	EXPECT_EQ(-EFAULT, call(self->fd, KAPF_SUBMIT, &submit));
	submit = submission();
	submit.cancel = (uintptr_t)cancels;
	submit.nr_cancel = 1;
	EXPECT_EQ(-EFAULT, call(self->fd, KAPF_SUBMIT, &submit));
	submit = submission();
	submit.events = (uintptr_t)events;
	submit.nr_events = 1;
	EXPECT_EQ(-EFAULT, call(self->fd, KAPF_SUBMIT, &submit));
	submit.events = ~0ULL << 32;
	EXPECT_EQ(-EFAULT, call(self->fd, KAPF_SUBMIT, &submit));

	/* The event is still there. */
	EXPECT_EQ(0, read_event(self->fd).slot);
	/* Finished is finished, though the answer finds no room. */
	ops[-1] = op_for(self, 1);
	ops[-1].additional_latency = NSEC_PER_MSEC;
	EXPECT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, ops[-1])));
	submit = submission();
	finishes = (void *)self->pages;
	finishes[0] = (struct kapf_finish){ .slot = 1 };
	ASSERT_EQ(0, mprotect(self->pages, 4096, PROT_READ));
	submit.finish = (uintptr_t)finishes;
	submit.nr_finish = 1;
	EXPECT_EQ(0, call(self->fd, KAPF_SUBMIT, &submit));
	EXPECT_EQ(1, submit.nr_finish);
	EXPECT_EQ(-ENOENT, finish(self->fd, 1));
}

TEST_F(batch, waits_for_events)
{
	struct kapf_submit submit = submission();
	struct kapf_event events[4];
	struct kapf_op ops[6];
	__u64 begin;
	int i;

	for (i = 0; i < 6; i++) {
		ops[i] = op_for(self, i);
		if (i == 4)
			ops[i].max_wait = 50 * NSEC_PER_MSEC;
	}
	EXPECT_EQ(4, submit_ops(self->fd, ops, 6, events, 4));
	submit.events = (uintptr_t)events;
	submit.nr_events = 4;
	submit.min_complete = 1;
	submit.timeout = KAPF_FOREVER;
	EXPECT_EQ(0, call(self->fd, KAPF_SUBMIT, &submit));
	ASSERT_EQ(1, submit.nr_events);
	EXPECT_EQ(4, events[0].slot);
	EXPECT_EQ(KAPF_TIME_OUT, events[0].verdict);

	/* Two do not come, so that the time runs out. */
	submit.nr_events = 4;
	submit.min_complete = 2;
	submit.timeout = 40 * NSEC_PER_MSEC;
	begin = now_ns();
	EXPECT_EQ(0, finish(self->fd, 0));
	EXPECT_EQ(0, call(self->fd, KAPF_SUBMIT, &submit));
	EXPECT_LE(40 * NSEC_PER_MSEC, now_ns() - begin);
	EXPECT_EQ(1, submit.nr_events);
	EXPECT_EQ(5, events[0].slot);
	submit.nr_events = 4;
	submit.timeout = 0;
	EXPECT_EQ(0, call(self->fd, KAPF_SUBMIT, &submit));
	EXPECT_EQ(0, submit.nr_events);
}

static void interrupt(int sig)
{
	(void)sig;
}

TEST_F(batch, interrupted)
{
	struct sigaction action = { .sa_handler = interrupt };
	struct kapf_submit submit = submission();
	struct kapf_op op = op_for(self, 0);
	struct kapf_event events[2];

	ASSERT_EQ(0, sigaction(SIGALRM, &action, NULL));
	submit.events = (uintptr_t)events;
	submit.nr_events = 2;
	submit.min_complete = 2;
	submit.timeout = KAPF_FOREVER;
	alarm(1);
	EXPECT_EQ(-EINTR, call(self->fd, KAPF_SUBMIT, &submit));
	submit.ops = (uintptr_t)&op;
	submit.nr_ops = 1;
	alarm(1);
	EXPECT_EQ(0, call(self->fd, KAPF_SUBMIT, &submit));
	EXPECT_EQ(1, submit.nr_ops);
	EXPECT_EQ(1, submit.nr_events);
}

TEST_F(batch, without_a_session)
{
	struct kapf_submit submit = submission();
	int fd = open_node(SUBMIT_NODE, O_RDWR);
	pid_t child;

	EXPECT_EQ(-ENOTCONN, call(fd, KAPF_SUBMIT, &submit));
	close(fd);
	child = fork();
	if (!child)
		_exit(call(self->fd, KAPF_SUBMIT, &submit) != -EPERM);
	EXPECT_EQ(0, reap(child));
}

/*
 * Threads that write, threads that read and finish: every request is decided
 * once, and its slot used again.
 */
#define ROUNDS 4000

struct flood {
	int fd;
	__u32 schema;
	__u32 first;	/* of four slots */
	__u64 executed;
	__u64 refused;
};

static void *flood_main(void *arg)
{
	struct flood *flood = arg;
	struct kapf_submit submit = submission();
	struct kapf_event events[SLOTS];
	struct kapf_op ops[4];
	__u32 i;

	for (flood->executed = 0; flood->executed < ROUNDS;) {
		for (i = 0; i < 4; i++) {
			ops[i] = request(flood->first + i, flood->schema);
			ops[i].max_wait = 1 + 1000 * i;
		}
		/* Of slots that others have not finished yet: -EBUSY. */
		if (write_ops(flood->fd, ops, 4) < 0)
			sched_yield();
		submit.events = (uintptr_t)events;
		submit.nr_events = SLOTS;
		if (call(flood->fd, KAPF_SUBMIT, &submit))
			die("SUBMIT");
		for (i = 0; i < submit.nr_events; i++) {
			if (events[i].verdict != KAPF_EXECUTE) {
				flood->refused++;
				continue;
			}
			flood->executed++;
			if (finish(flood->fd, events[i].slot))
				die("finish");
		}
	}
	return NULL;
}

TEST_F(batch, flood_by_several_threads)
{
	struct flood floods[4];
	struct kapf_event event;
	pthread_t threads[4];
	__u64 executed = 0;
	int i, ret;

	for (i = 0; i < 4; i++) {
		floods[i] = (struct flood){
			.fd = self->fd,
			.schema = self->schema,
			.first = 4 * i,
		};
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, flood_main,
					    &floods[i]));
	}
	for (i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		executed += floods[i].executed;
	}
	while ((ret = read_events(self->fd, &event, 1)) > 0 || waiting(self)) {
		if (ret > 0 && event.verdict == KAPF_EXECUTE) {
			executed++;
			EXPECT_EQ(0, finish(self->fd, event.slot));
		}
	}
	EXPECT_EQ(0, seats_in_use(self->control, "test"));
	EXPECT_EQ(0, requests_known(self->control));
	EXPECT_EQ(executed, level_stats(self->control, "test").dispatched);
	for (i = 0; i < SLOTS; i++)
		EXPECT_EQ(-ENOENT, finish(self->fd, i));
}

TEST_HARNESS_MAIN
