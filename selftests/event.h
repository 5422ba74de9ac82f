/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of requests that nobody sleeps for share: a level of two seats
 * that queues, and requests that tell their slot in the user data.
 */
#ifndef EVENT_H
#define EVENT_H

#include "kapf_test.h"

FIXTURE(event) {
	int control;
	int fd;
	__u32 schema;	/* of a level with 2 seats that queues */
	__u32 exempt;
};

FIXTURE_SETUP(event)
{
	self->control = open_node(CONTROL_NODE, O_RDWR);
	self->schema = set_up_queues(self->control, 2, 1, 1, 10);
	self->exempt = schema_id(self->control, "exempt");
	self->fd = open_session(8);
}

FIXTURE_TEARDOWN(event)
{
	close(self->fd);
	close(self->control);
}

/* A request that does not wait, with user data that tells its slot. */
static inline struct kapf_op nowait(__u32 slot, __u32 schema)
{
	struct kapf_op op = request(slot, schema);

	op.flags = KAPF_OP_NOWAIT;
	op.user_data = 0xfeed0000 + slot;
	return op;
}

static inline int admit_nowait(int fd, __u32 slot, __u32 schema)
{
	int ret = admit_op(fd, nowait(slot, schema));

	return ret < 0 ? ret : KAPF_VERDICT(ret);
}

static inline void fill(struct _test_data_event *self)
{
	if (admit_nowait(self->fd, 0, self->schema) != KAPF_EXECUTE ||
	    admit_nowait(self->fd, 1, self->schema) != KAPF_EXECUTE)
		die("the level is not empty");
}

#endif /* EVENT_H */
