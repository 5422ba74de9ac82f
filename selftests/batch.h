/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of batches share: a session with labels, a level of four seats
 * that queues, and two pages of memory of which the second cannot be used.
 */
#ifndef BATCH_H
#define BATCH_H

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

static inline struct kapf_op op_for(struct _test_data_batch *self, __u32 slot)
{
	struct kapf_op op = request(slot, self->schema);

	op.user_data = 1000 + slot;
	return op;
}

static inline struct kapf_op plain(enum kapf_opcode opcode, __u32 slot)
{
	return (struct kapf_op){ .opcode = opcode, .slot = slot };
}

static inline __u64 waiting(struct _test_data_batch *self)
{
	return level_stats(self->control, "test").waiting_requests;
}

#endif /* BATCH_H */
