// SPDX-License-Identifier: GPL-2.0
/*
 * write(2): many ops in one call, of which every decision comes as an event.
 */
#include <stddef.h>
#include <sys/uio.h>

#include "batch.h"

TEST_F(batch, and_read)
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

TEST_F(batch, refused)
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
TEST_F(batch, and_cancel)
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
TEST_F(batch, stops_at_the_first_bad_op)
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
TEST_F(batch, fields_of_finish)
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
TEST_F(batch, fields_of_admit)
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
TEST_F(batch, labels)
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

TEST_F(batch, of_a_part)
{
	struct kapf_op ops[2] = { op_for(self, 0), op_for(self, 1) };

	EXPECT_EQ(0, write(self->fd, ops, 0));
	EXPECT_EQ(-1, write(self->fd, ops, sizeof(ops[0]) - 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(sizeof(ops[0]), write(self->fd, ops, sizeof(ops) - 1));
	EXPECT_EQ(1, seats_in_use(self->control, "test"));
}

TEST_F(batch, from_several_buffers)
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

TEST_F(batch, faults)
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

TEST_F(batch, without_a_session)
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
