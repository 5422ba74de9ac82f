// SPDX-License-Identifier: GPL-2.0
/*
 * The same ways in through io_uring, which polls before it may wait.
 */
#include <liburing.h>

#include "kapf_test.h"

FIXTURE(uring) {
	struct io_uring ring;
	int control;
	int fd;
	__u32 schema;
};

FIXTURE_SETUP(uring)
{
	size_t len;

	self->control = open_node(CONTROL_NODE, O_RDWR);
	self->schema = set_up_queues(self->control, 2, 1, 1, 10);
	self->fd = open_session(2);
	/* Then there is no POLLPRI any more, which is always an answer. */
	free(get_image(self->fd, &len));
	ASSERT_EQ(0, io_uring_queue_init(8, &self->ring, 0));
}

FIXTURE_TEARDOWN(uring)
{
	io_uring_queue_exit(&self->ring);
	close(self->fd);
	close(self->control);
}

/* Return: what the next request submitted comes to; -ETIME: nothing */
static int await(struct io_uring *ring)
{
	struct __kernel_timespec patience = { .tv_sec = 20 };
	struct io_uring_cqe *cqe;
	int ret;

	ret = io_uring_wait_cqe_timeout(ring, &cqe, &patience);
	if (ret)
		return ret;
	ret = cqe->res;
	io_uring_cqe_seen(ring, cqe);
	return ret;
}

static int ring_write(struct io_uring *ring, int fd, const struct kapf_op *op)
{
	io_uring_prep_write(io_uring_get_sqe(ring), fd, op, sizeof(*op), 0);
	io_uring_submit(ring);
	return await(ring);
}

static void ring_poll(struct io_uring *ring, int fd, unsigned int events)
{
	io_uring_prep_poll_add(io_uring_get_sqe(ring), fd, events);
	io_uring_submit(ring);
}

/* With all slots taken there is no POLLOUT; this write is what frees one. */
TEST_F(uring, finish_while_all_slots_are_taken)
{
	struct kapf_op op = { .opcode = KAPF_OP_FINISH };

	EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, 0, self->schema));
	EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, 1, self->schema));
	EXPECT_EQ(0, poll_now(self->fd));
	EXPECT_EQ(sizeof(op), ring_write(&self->ring, self->fd, &op));
	EXPECT_EQ(1, seats_in_use(self->control, "test"));
}

TEST_F(uring, admit_and_read_the_event)
{
	struct kapf_op op = request(0, self->schema);
	struct kapf_event event = { };

	/* Nothing is there yet: it waits. */
	io_uring_prep_read(io_uring_get_sqe(&self->ring), self->fd, &event,
			   sizeof(event), 0);
	io_uring_submit(&self->ring);
	op.user_data = 42;
	EXPECT_EQ(1, write_ops(self->fd, &op, 1));
	EXPECT_EQ(sizeof(event), await(&self->ring));
	EXPECT_EQ(KAPF_EXECUTE, event.verdict);
	EXPECT_EQ(42, event.user_data);
}

TEST_F(uring, poll_for_another_configuration)
{
	ring_poll(&self->ring, self->fd, POLLPRI);
	set_up_queues(self->control, 3, 1, 1, 10);
	EXPECT_EQ(POLLPRI, await(&self->ring));
}

TEST_F(uring, poll_for_the_end)
{
	ring_poll(&self->ring, self->fd, POLLIN);
	/* The file stays open in the ring. */
	close(self->fd);
	EXPECT_EQ(POLLHUP | POLLERR,
		  await(&self->ring) & (POLLHUP | POLLERR));
	self->fd = open_session(2);
}

TEST_HARNESS_MAIN
