/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of borrowing share: two levels that may lend each other seats,
 * a session for each, and periods that end when a test says so.
 */
#ifndef BORROW_H
#define BORROW_H

#include "kapf_test.h"

#define SEAT		(1ULL << 32)	/* as the statistics count demand */
#define SLOTS		64

/* Longer than any test takes. */
#define LONG_PERIOD_MS	KAPF_MAX_ADJUSTMENT_PERIOD_MS

enum { FIRST, SECOND, NR };

static const char *const names[NR] = { "first", "second" };

/* What a level lends and borrows, in percent of its nominal limit. */
struct terms {
	__u32 lendable;
	__u32 borrowing;
};

/*
 * A server of 24 seats and two levels of 12 each; catch-all has the one that
 * comes of rounding up.
 */
FIXTURE(borrow) {
	int control;
	struct image image;
	__u32 exempt;
	__u32 schemas[NR];
	int fds[NR];	/* a session for each level */
};

FIXTURE_SETUP(borrow)
{
	int i;

	self->control = open_node(CONTROL_NODE, O_RDWR);
	image_init(&self->image);
	for (i = 0; i < NR; i++) {
		image_queues(&self->image, names[i], 100, 10, 2, 50);
		image_schema(&self->image, names[i], 100 + i, names[i], "[]");
		self->fds[i] = open_session(SLOTS);
	}
	self->image.head.max_requests_inflight = 24;
}

FIXTURE_TEARDOWN(borrow)
{
	int i;

	for (i = 0; i < NR; i++)
		close(self->fds[i]);
	image_free(&self->image);
	close(self->control);
}

/* End the period: set the configuration again. */
static inline void adjust(struct _test_data_borrow *self)
{
	errno = -set_image(self->control, &self->image, NULL);
	if (errno)
		die("SET_CONFIG");
}

static inline struct kapf_config_level *record(struct _test_data_borrow *self,
					       int i)
{
	/* Behind exempt and catch-all; none has metadata. */
	return (struct kapf_config_level *)self->image.levels + 2 + i;
}

static inline void begin(struct _test_data_borrow *self, struct terms first,
			 struct terms second, __u32 period_ms)
{
	const struct terms terms[NR] = { first, second };
	int i;

	for (i = 0; i < NR; i++) {
		record(self, i)->lendable_percent = terms[i].lendable;
		record(self, i)->borrowing_limit_percent = terms[i].borrowing;
	}
	self->image.head.adjustment_period_ms = period_ms;
	set_up(self->control, &self->image);
	for (i = 0; i < NR; i++)
		self->schemas[i] = schema_id(self->control, names[i]);
	self->exempt = schema_id(self->control, "exempt");
}

static inline struct kapf_level_stats stats(struct _test_data_borrow *self,
					    int i)
{
	return level_stats(self->control, names[i]);
}

static inline __u32 limit(struct _test_data_borrow *self, int i)
{
	return stats(self, i).current_seats;
}

/* Requests in slots from @slot on, which execute or wait until drop(). */
static inline void ask(struct _test_data_borrow *self, int i, __u32 schema,
		       __u32 slot, __u32 nr, __u32 seats)
{
	struct kapf_op op = request(slot, schema);
	int ret;

	op.flags = KAPF_OP_NOWAIT;
	op.initial_seats = seats;
	op.max_wait = KAPF_MAX_WAIT_NS;
	for (; nr; nr--, op.slot++) {
		ret = admit_op(self->fds[i], op);
		if (KAPF_VERDICT(ret) != KAPF_EXECUTE &&
		    KAPF_VERDICT(ret) != KAPF_QUEUED)
			die("a request was refused");
	}
}

static inline void want(struct _test_data_borrow *self, int i, __u32 nr)
{
	ask(self, i, self->schemas[i], 0, nr, 1);
}

/* All requests of a session. */
static inline void drop(struct _test_data_borrow *self, int i)
{
	close(self->fds[i]);
	self->fds[i] = open_session(SLOTS);
}

#endif /* BORROW_H */
