/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of large batches share: batches of several of the chunks of 16
 * elements that the module takes them in, of which each element is one request.
 */
#ifndef CHUNK_H
#define CHUNK_H

#include "kapf_test.h"

/* Two and a half chunks */
#define BATCH		40
#define CHUNK		16
#define SEATS		100
#define SLOTS		64
#define PAGE 4096

/* Marks user data, so that nothing else can be taken for it. */
#define USER_DATA	0xfeed000000000000ULL

FIXTURE(chunk) {
	int control;
	int fd;
	__u32 schema;	/* of a level with SEATS seats that queues */
	__u32 exempt;
	char *pages;	/* two, of which the second cannot be used */
};

FIXTURE_SETUP(chunk)
{
	self->control = open_node(CONTROL_NODE, O_RDWR);
	self->schema = set_up_queues(self->control, SEATS, 8, 2, 100);
	self->exempt = schema_id(self->control, "exempt");
	self->fd = open_session(SLOTS);
	self->pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->pages);
	ASSERT_EQ(0, mprotect(self->pages + PAGE, PAGE, PROT_NONE));
}

FIXTURE_TEARDOWN(chunk)
{
	set_mode(self->control, KAPF_MODE_ENFORCE);
	munmap(self->pages, 2 * PAGE);
	close(self->fd);
	close(self->control);
}

static inline struct kapf_submit submission(void)
{
	return (struct kapf_submit){
		.size = sizeof(struct kapf_submit),
		.op_size = sizeof(struct kapf_op),
		.event_size = sizeof(struct kapf_event),
	};
}

static inline void fill_ops(struct kapf_op *ops, __u32 schema)
{
	__u32 i;

	for (i = 0; i < BATCH; i++) {
		ops[i] = request(i, schema);
		ops[i].user_data = USER_DATA + i;
	}
}

/*
 * SUBMIT, with room for @nr_events; out: how many came.  Return: how many elements
 * were taken, or a negative errno.
 */
static inline int submit(int fd, struct kapf_submit submit,
			 struct kapf_event *events, __u32 *nr_events)
{
	int ret;

	submit.events = (uintptr_t)events;
	submit.nr_events = *nr_events;
	ret = call(fd, KAPF_SUBMIT, &submit);
	*nr_events = ret ? 0 : submit.nr_events;
	return ret ?: (int)(submit.nr_finish + submit.nr_ops);
}

static inline int submit_ops(int fd, struct kapf_op *ops, __u32 nr,
			     struct kapf_event *events, __u32 *nr_events)
{
	struct kapf_submit ask = submission();

	ask.ops = (uintptr_t)ops;
	ask.nr_ops = nr;
	return submit(fd, ask, events, nr_events);
}

static inline int submit_finishes(int fd, struct kapf_finish *finishes,
				  __u32 nr, struct kapf_event *events,
				  __u32 *nr_events)
{
	struct kapf_submit end = submission();

	end.finish = (uintptr_t)finishes;
	end.nr_finish = nr;
	return submit(fd, end, events, nr_events);
}

static inline __u32 random_below(__u64 *state, __u32 bound)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (*state >> 33) % bound;
}

/* Finish those of the first BATCH slots that execute: how many. */
static inline int finish_batch(int fd)
{
	int finished = 0;
	__u32 i;

	for (i = 0; i < BATCH; i++)
		finished += finish(fd, i) >= 0;
	return finished;
}

/* The level is as if nobody had ever come. */
static inline bool nothing_left(int control)
{
	struct kapf_level_stats stats = level_stats(control, "test");

	return !stats.seats_in_use && !stats.executing_requests &&
	       !stats.waiting_requests && !stats.lingering_requests &&
	       !stats.passing_requests && !stats.waiting_seats;
}

#endif /* CHUNK_H */
