// SPDX-License-Identifier: GPL-2.0
/*
 * Many at once: write(2), of which every decision comes as an event, and SUBMIT,
 * which finishes, cancels, asks and reads in one call.
 */
#include <stddef.h>
#include <sys/uio.h>

#include "kapf_test.h"

#define LABEL_BYTES	64
#define SLOTS		16

FIXTURE(batch) {
	int control;
	int fd;
	__u32 schema;	/* of a level with 4 seats that queues */
	__u32 exempt;
	char *pages;	/* two, of which the second cannot be used */
};

FIXTURE_SETUP(batch)
{
	self->control = open_node(CONTROL_NODE, O_RDWR);
	self->schema = set_up_queues(self->control, 4, 1, 1, 100);
	self->exempt = schema_id(self->control, "exempt");
	self->fd = open_node(SUBMIT_NODE, O_RDWR);
	ASSERT_EQ(0, attach(self->fd, SLOTS, LABEL_BYTES));
	self->pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->pages);
	ASSERT_EQ(0, mprotect(self->pages + 4096, 4096, PROT_NONE));
}

FIXTURE_TEARDOWN(batch)
{
	munmap(self->pages, 8192);
	close(self->fd);
	close(self->control);
}

static struct kapf_op op_for(struct _test_data_batch *self, __u32 slot)
{
	struct kapf_op op = request(slot, self->schema);

	op.user_data = 1000 + slot;
	return op;
}

static struct kapf_op plain(enum kapf_opcode opcode, __u32 slot)
{
	return (struct kapf_op){ .opcode = opcode, .slot = slot };
}

static __u64 waiting(struct _test_data_batch *self)
{
	return level_stats(self->control, "test").waiting_requests;
}

/* write */

TEST_F(batch, write_and_read)
{
	struct kapf_event events[SLOTS];
	struct kapf_op ops[6];
	int i;

	for (i = 0; i < 6; i++)
		ops[i] = op_for(self, i);
	EXPECT_EQ(6, write_ops(self->fd, ops, 6));
	EXPECT_EQ(4, seats_in_use(self->control, "test"));
	EXPECT_EQ(2, waiting(self));
	/* Granted at once, but not known to be: not to be finished yet. */
	EXPECT_EQ(-EBUSY, finish(self->fd, 0));
	EXPECT_EQ(4, read_events(self->fd, events, SLOTS));
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(i, events[i].slot);
		EXPECT_EQ(1000 + i, events[i].user_data);
		EXPECT_EQ(KAPF_EXECUTE, events[i].verdict);
		EXPECT_EQ(level_stats(self->control, "test").id,
			  events[i].level);
		EXPECT_EQ(0, events[i].wait);
	}
	for (i = 0; i < 2; i++)
		ops[i] = plain(KAPF_OP_FINISH, i);
	EXPECT_EQ(2, write_ops(self->fd, ops, 2));
	EXPECT_EQ(2, read_events(self->fd, events, SLOTS));
	EXPECT_EQ(4, events[0].slot);
	EXPECT_EQ(5, events[1].slot);
}

TEST_F(batch, write_refused)
{
	struct kapf_op ops[3];
	struct kapf_event events[3];
	int i;

	self->schema = set_up_reject(self->control, 1);
	for (i = 0; i < 3; i++)
		ops[i] = op_for(self, i);
	ops[2].schema = ~0u;
	EXPECT_EQ(3, write_ops(self->fd, ops, 3));
	EXPECT_EQ(3, read_events(self->fd, events, 3));
	EXPECT_EQ(KAPF_EXECUTE, events[0].verdict);
	EXPECT_EQ(KAPF_CONCURRENCY_LIMIT, events[1].verdict);
	EXPECT_EQ(1, events[1].detail);
	EXPECT_EQ(1001, events[1].user_data);
	EXPECT_EQ(0, events[1].wait);
	EXPECT_EQ(KAPF_RECLASSIFY, events[2].verdict);
	EXPECT_EQ(0, events[2].level);
	EXPECT_EQ(0, events[2].wait);
	EXPECT_EQ(1002, events[2].user_data);
	/* Read, so that the slots are free. */
	EXPECT_EQ(2, write_ops(self->fd, ops + 1, 2));
}

/* Decided at once by write, and taken back before it was read. */
TEST_F(batch, write_and_cancel)
{
	const __u32 schemas[] = { self->schema, self->exempt };
	const char *const levels[] = { "test", "exempt" };
	struct kapf_op ops[2];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(schemas); i++) {
		ops[0] = op_for(self, 0);
		ops[0].schema = schemas[i];
		ops[0].final_seats = 2;
		ops[0].additional_latency = NSEC_PER_SEC;
		EXPECT_EQ(1, write_ops(self->fd, ops, 1));
		EXPECT_EQ(2, seats_in_use(self->control, levels[i]));
		ops[1] = plain(KAPF_OP_CANCEL, 0);
		EXPECT_EQ(1, write_ops(self->fd, ops + 1, 1));
		EXPECT_EQ(0, seats_in_use(self->control, levels[i]));
		EXPECT_EQ(-EALREADY, write_ops(self->fd, ops + 1, 1));
		EXPECT_EQ(KAPF_CANCELLED, read_event(self->fd).verdict);
		EXPECT_EQ(-ENOENT, write_ops(self->fd, ops + 1, 1));
	}
	EXPECT_EQ(0, requests_known(self->control));
}

/* The first op that is refused ends it, and those before it count. */
TEST_F(batch, write_stops_at_the_first_bad_op)
{
	struct kapf_op ops[4];
	int i;

	for (i = 0; i < 4; i++)
		ops[i] = op_for(self, i);
	ops[2].slot = SLOTS;
	EXPECT_EQ(2, write_ops(self->fd, ops, 4));
	EXPECT_EQ(-EINVAL, write_ops(self->fd, ops + 2, 2));
	ops[2].slot = 1;
	EXPECT_EQ(-EBUSY, write_ops(self->fd, ops + 2, 2));
	EXPECT_EQ(2, seats_in_use(self->control, "test"));
	ops[2] = plain(KAPF_OP_FINISH, 5);
	EXPECT_EQ(-ENOENT, write_ops(self->fd, ops + 2, 2));
	ops[2] = plain(KAPF_OP_FINISH, SLOTS);
	EXPECT_EQ(-EINVAL, write_ops(self->fd, ops + 2, 2));
	ops[2] = plain(4, 0);
	EXPECT_EQ(-EINVAL, write_ops(self->fd, ops + 2, 2));
	EXPECT_EQ(1, write_ops(self->fd, ops + 3, 1));
	EXPECT_EQ(3, seats_in_use(self->control, "test"));
}

/* FINISH and CANCEL are an opcode and a slot, and nothing else. */
TEST_F(batch, write_fields_of_finish)
{
	const struct kapf_op good = plain(KAPF_OP_FINISH, 1);
	struct kapf_op op;
	size_t i;

	for (i = 1; i < sizeof(op); i++) {
		if (i >= offsetof(struct kapf_op, slot) &&
		    i < offsetof(struct kapf_op, schema))
			continue;
		op = good;
		((char *)&op)[i] = 1;
		EXPECT_EQ(-EINVAL, write_ops(self->fd, &op, 1));
	}
	EXPECT_EQ(-ENOENT, write_ops(self->fd, &good, 1));
}

/* Each field of an op is checked as by ADMIT. */
TEST_F(batch, write_fields_of_admit)
{
	struct kapf_op op = op_for(self, 0);

	op.initial_seats = 0;
	EXPECT_EQ(-EINVAL, write_ops(self->fd, &op, 1));
	op = op_for(self, 0);
	op.flags = 1 << 7;
	EXPECT_EQ(-EINVAL, write_ops(self->fd, &op, 1));
	op = op_for(self, 0);
	op.max_wait = KAPF_MAX_WAIT_NS + 1;
	EXPECT_EQ(-EINVAL, write_ops(self->fd, &op, 1));
	/* Nothing that is written is followed as a pointer. */
	op = op_for(self, 0);
	op.label = (uintptr_t)self->pages;
	EXPECT_EQ(-EINVAL, write_ops(self->fd, &op, 1));
	EXPECT_EQ(-ENOENT, finish(self->fd, 0));
	EXPECT_EQ(0, level_stats(self->control, "test").dispatched);
}

/* The label of the request in @slot, as the control node shows it. */
static size_t shown_label(int control, __u32 slot, char *label)
{
	struct {
		struct kapf_request_info info;
		char label[LABEL_BYTES];
	} shown[SLOTS];
	struct kapf_get_requests get = {
		.size = sizeof(get),
		.request_size = sizeof(shown[0].info),
		.label_bytes = LABEL_BYTES,
		.nr = SLOTS,
		.requests = (uintptr_t)shown,
	};
	__u32 i;

	if (call(control, KAPF_GET_REQUESTS, &get))
		die("GET_REQUESTS");
	for (i = 0; i < get.nr; i++) {
		if (shown[i].info.slot != slot)
			continue;
		memcpy(label, shown[i].label, shown[i].info.label_len);
		return shown[i].info.label_len;
	}
	return 0;
}

/* A label stands behind its op, padded to 8 bytes; what is too long is cut. */
TEST_F(batch, write_labels)
{
	struct {
		struct kapf_op op;
		char label[72];
	} long_one;
	char buf[2 * sizeof(struct kapf_op) + 8];
	struct kapf_op *second = (void *)(buf + sizeof(struct kapf_op) + 8);
	struct kapf_op *first = (void *)buf;
	char label[LABEL_BYTES];

	*first = op_for(self, 0);
	first->label_len = 5;
	memcpy(first + 1, "abcd\0xyz", 8);
	*second = op_for(self, 1);
	EXPECT_EQ(sizeof(buf), write(self->fd, buf, sizeof(buf)));
	EXPECT_EQ(5, shown_label(self->control, 0, label));
	EXPECT_EQ(0, memcmp("abcd", label, 5));
	EXPECT_EQ(0, shown_label(self->control, 1, label));

	long_one.op = op_for(self, 2);
	long_one.op.label_len = 67;
	memset(long_one.label, 'l', sizeof(long_one.label));
	EXPECT_EQ(sizeof(long_one),
		  write(self->fd, &long_one, sizeof(long_one)));
	EXPECT_EQ(LABEL_BYTES, shown_label(self->control, 2, label));
	EXPECT_EQ(0, memcmp(long_one.label, label, LABEL_BYTES));
	/* Not all there */
	EXPECT_EQ(-1, write(self->fd, &long_one, sizeof(long_one) - 1));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(batch, write_of_a_part)
{
	struct kapf_op ops[2] = { op_for(self, 0), op_for(self, 1) };

	EXPECT_EQ(0, write(self->fd, ops, 0));
	EXPECT_EQ(-1, write(self->fd, ops, sizeof(ops[0]) - 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(sizeof(ops[0]), write(self->fd, ops, sizeof(ops) - 1));
	EXPECT_EQ(1, seats_in_use(self->control, "test"));
}

TEST_F(batch, write_from_several_buffers)
{
	struct kapf_op op = op_for(self, 0);
	struct iovec iov[3] = {
		{ &op, 10 }, { (char *)&op + 10, 50 }, { (char *)&op + 60, 4 },
	};
	struct kapf_event event;
	struct iovec halves[2] = { { &event, 16 }, { (char *)&event + 16, 16 } };

	EXPECT_EQ(sizeof(op), writev(self->fd, iov, 3));
	EXPECT_EQ(sizeof(event), readv(self->fd, halves, 2));
	EXPECT_EQ(1000, event.user_data);
	EXPECT_EQ(KAPF_EXECUTE, event.verdict);
}

TEST_F(batch, write_faults)
{
	struct kapf_op *ops = (void *)(self->pages + 4096);
	struct kapf_op *label = ops - 1;

	EXPECT_EQ(-EFAULT, write_ops(self->fd, ops, 1));
	ops[-2] = op_for(self, 0);
	ops[-1] = op_for(self, 1);
	EXPECT_EQ(2, write_ops(self->fd, ops - 2, 3));
	*label = op_for(self, 2);
	label->label_len = 8;
	EXPECT_EQ(-1, write(self->fd, label, sizeof(*label) + 8));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-ENOENT, finish(self->fd, 2));
	EXPECT_EQ(2, seats_in_use(self->control, "test"));
}

TEST_F(batch, write_without_a_session)
{
	struct kapf_op op = op_for(self, 0);
	int fd = open_node(SUBMIT_NODE, O_RDWR);
	int read_only = open_node(SUBMIT_NODE, O_RDONLY);
	pid_t child;

	EXPECT_EQ(-ENOTCONN, write_ops(fd, &op, 1));
	EXPECT_EQ(-EBADF, write_ops(read_only, &op, 1));
	close(fd);
	close(read_only);
	child = fork();
	if (!child)
		_exit(write_ops(self->fd, &op, 1) != -EPERM);
	EXPECT_EQ(0, reap(child));
}

/*
 * The file as standard output of another program: what that writes is refused,
 * whatever it looks like.
 */
TEST_F(batch, file_as_somebodys_stdout)
{
	pid_t child = fork();

	if (!child) {
		dup2(self->fd, STDOUT_FILENO);
		execlp("echo", "echo", "hello, world", NULL);
		_exit(127);
	}
	EXPECT_EQ(1, WEXITSTATUS(reap(child)));
	EXPECT_EQ(0, level_stats(self->control, "test").dispatched);
	EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, 0, self->schema));
}

/* SUBMIT */

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

TEST_F(batch, submit_everything)
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
TEST_F(batch, submit_with_errors)
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
TEST_F(batch, submit_without_room_for_an_error)
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
TEST_F(batch, submit_without_room_for_events)
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

TEST_F(batch, submit_finish_that_lingers)
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

TEST_F(batch, submit_sizes)
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
TEST_F(batch, submit_faults)
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

TEST_F(batch, submit_waits_for_events)
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

TEST_F(batch, submit_interrupted)
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

TEST_F(batch, submit_without_a_session)
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

/* Most slots that a session can have, all taken, by requests in every state. */
static void fill_session(__u32 schema, __u32 exempt)
{
	static struct kapf_op ops[65536];
	struct kapf_event event;
	int fd = open_session(65536);
	__u32 i;

	for (i = 0; i < 65536; i++) {
		ops[i] = request(i, i % 4 ? schema : exempt);
		ops[i].flow_hash = i;
		ops[i].final_seats = 1;
		ops[i].additional_latency = KAPF_MAX_ADDITIONAL_LATENCY_NS;
		ops[i].max_wait = KAPF_MAX_WAIT_NS;
	}
	for (i = 0; i < 65536; i += 8192)
		if (write_ops(fd, ops + i, 8192) != 8192)
			_exit(1);
	/* Some that execute, and some that linger */
	for (i = 0; i < 2000; i++)
		if (read_events(fd, &event, 1) != 1 ||
		    event.verdict != KAPF_EXECUTE ||
		    (i % 2 && finish(fd, event.slot) != 60000))
			_exit(1);
	if (poll_now(fd) & POLLOUT)
		_exit(1);
	raise(SIGKILL);
	_exit(1);
}

TEST_F_TIMEOUT(batch, killed_with_all_slots_taken, 300)
{
	pid_t child;

	self->schema = set_up_queues(self->control, 10000, 64, 1, 1000);
	self->exempt = schema_id(self->control, "exempt");
	child = fork();
	if (!child)
		fill_session(self->schema, self->exempt);
	EXPECT_EQ(SIGKILL, reap(child));
	EXPECT_EQ(0, seats_in_use(self->control, "test"));
	EXPECT_EQ(0, seats_in_use(self->control, "exempt"));
	EXPECT_EQ(0, requests_known(self->control));
	EXPECT_EQ(65536 / 4 * 3 - 10000,
		  level_stats(self->control, "test").rejected_cancelled);
	EXPECT_EQ(10000, level_stats(self->control, "test").dispatched);
}

TEST_HARNESS_MAIN
