// SPDX-License-Identifier: GPL-2.0
/*
 * Every call, failed at each allocation and at each copy from and to the user in
 * turn, until it meets none of them any more; and those that take much memory,
 * when there are no pages left, from each of them on.  Each failure is told, and
 * leaves everything as it was, so that the same call does it when it is made again.
 *
 * In kernels that were built to look for faults; in others there is nothing to
 * test.
 */
#include "fault.h"

#define MORE	2	/* sessions */

FIXTURE(fault) {
	struct faults faults;
	int control;
	int fd;
	__u32 schema;	/* of a level with 2 seats that queues */
	int other;	/* session of a step */
	__u64 evicted;	/* its number */
	int more[MORE];	/* sessions of a step */
	char room[1 << 16];
};

FIXTURE_SETUP(fault)
{
	if (!faults_open(&self->faults))
		SKIP(return, "this kernel does not inject faults");
	self->control = self->faults.control;
	self->schema = set_up_queues(self->control, 2, 2, 1, 10);
	self->fd = open_node(SUBMIT_NODE, O_RDWR);
	ASSERT_EQ(0, attach(self->fd, 8, 64));
}

FIXTURE_TEARDOWN(fault)
{
	if (self->fd)
		close(self->fd);
	faults_close(&self->faults);
}

/* The calls */

static int info(struct _test_data_fault *self)
{
	struct kapf_info info = { .size = sizeof(info) };

	return call(self->fd, KAPF_GET_INFO, &info);
}

static int open_file(struct _test_data_fault *self)
{
	self->other = open(SUBMIT_NODE, O_RDWR | O_CLOEXEC);
	return self->other < 0 ? -errno : 0;
}

static void open_surely(struct _test_data_fault *self)
{
	self->other = open_node(SUBMIT_NODE, O_RDWR);
}

static void close_other(struct _test_data_fault *self)
{
	if (self->other >= 0)
		close(self->other);
}

static int attach_other(struct _test_data_fault *self)
{
	return attach(self->other, 8, 64);
}

/* Big enough not to come from what a kernel keeps ready. */
static int attach_many_slots(struct _test_data_fault *self)
{
	return attach(self->other, 512, 300);
}

static void enforce(struct _test_data_fault *self)
{
	errno = -set_mode(self->control, KAPF_MODE_ENFORCE);
	if (errno)
		die("SET_MODE");
}

static int observe(struct _test_data_fault *self)
{
	return set_mode(self->control, KAPF_MODE_OBSERVE);
}

static void open_observed(struct _test_data_fault *self)
{
	errno = -observe(self);
	if (errno)
		die("SET_MODE");
	open_surely(self);
}

static void close_observed(struct _test_data_fault *self)
{
	if (!attach(self->other, 1, 0) &&
	    (admit(self->other, 0, self->schema) != KAPF_EXECUTE ||
	     finish(self->other, 0)))
		die("a session that was attached late");
	close(self->other);
	enforce(self);
}

static int get_stats(struct _test_data_fault *self)
{
	struct kapf_get_stats get = {
		.size = sizeof(get),
		.level_size = sizeof(struct kapf_level_stats),
		.schema_size = sizeof(struct kapf_schema_stats),
		.nr_levels = 2,
		.nr_schemas = 2,
		.levels = (uintptr_t)self->room,
		.schemas = (uintptr_t)self->room + sizeof(self->room) / 2,
	};

	return call(self->control, KAPF_GET_STATS, &get);
}

static int get_requests(struct _test_data_fault *self)
{
	struct kapf_get_requests get = {
		.size = sizeof(get),
		.request_size = sizeof(struct kapf_request_info),
		.nr = 8,
		.requests = (uintptr_t)self->room,
	};

	return call(self->control, KAPF_GET_REQUESTS, &get);
}

static int get_own_requests(struct _test_data_fault *self)
{
	struct kapf_get_requests get = {
		.size = sizeof(get),
		.request_size = sizeof(struct kapf_request_info),
		.nr = 8,
		.requests = (uintptr_t)self->room,
	};

	return call(self->fd, KAPF_GET_REQUESTS, &get);
}

static int get_sessions(struct _test_data_fault *self)
{
	struct kapf_get_sessions get = {
		.size = sizeof(get),
		.session_size = sizeof(struct kapf_session_info),
		.nr = 4,
		.sessions = (uintptr_t)self->room,
	};

	return call(self->control, KAPF_GET_SESSIONS, &get);
}

static int get_queues(struct _test_data_fault *self)
{
	struct kapf_get_queues get = {
		.size = sizeof(get),
		.queue_size = sizeof(struct kapf_queue_info),
		.nr = 4,
		.queues = (uintptr_t)self->room,
	};

	return call(self->control, KAPF_GET_QUEUES, &get);
}

static int get_histograms(struct _test_data_fault *self)
{
	struct kapf_get_histograms get = {
		.size = sizeof(get),
		.histogram_size = sizeof(struct kapf_histogram_info),
		.nr = 200,
		.histograms = (uintptr_t)self->room,
	};

	return call(self->control, KAPF_GET_HISTOGRAMS, &get);
}

/* A request with a label */
static struct kapf_op labelled(struct _test_data_fault *self, __u32 slot)
{
	struct kapf_op op = request(slot, self->schema);

	op.flags = KAPF_OP_NOWAIT;
	op.label = (uintptr_t)"alice";
	op.label_len = sizeof("alice");
	return op;
}

static int admit_labelled(struct _test_data_fault *self)
{
	return admit_op(self->fd, labelled(self, 0));
}

static void hold_seats(struct _test_data_fault *self)
{
	__u32 slot;

	for (slot = 4; slot < 6; slot++)
		if (admit(self->fd, slot, self->schema) != KAPF_EXECUTE)
			die("the level is not empty");
}

/* Whatever there is in a slot, to its end; and the slot is free indeed. */
static void empty_slots(struct _test_data_fault *self)
{
	struct kapf_event event;
	__u32 slot;

	for (slot = 0; slot < 8; slot++)
		cancel(self->fd, slot);
	while (read_events(self->fd, &event, 1) > 0)
		;
	for (slot = 0; slot < 8; slot++)
		finish(self->fd, slot);
	if (requests_known(self->control))
		die("a request is left");
	for (slot = 0; slot < 8; slot++)
		if (finish(self->fd, slot) != -ENOENT)
			die("a slot is not free");
}

static void admit_first(struct _test_data_fault *self)
{
	if (admit(self->fd, 0, self->schema) != KAPF_EXECUTE)
		die("the level is not empty");
}

static void queue_one(struct _test_data_fault *self)
{
	hold_seats(self);
	if (KAPF_VERDICT(admit_labelled(self)) != KAPF_QUEUED)
		die("nothing is queued");
}

static void queue_and_grant_one(struct _test_data_fault *self)
{
	queue_one(self);
	if (finish(self->fd, 4))
		die("finish");
}

/* Sessions that no mode has made room for. */
static void attach_more(struct _test_data_fault *self)
{
	int i;

	for (i = 0; i < MORE; i++)
		self->more[i] = open_session(4);
}

/* Whichever mode it is, all sessions can be used in it. */
static void use_more(struct _test_data_fault *self)
{
	int i;

	for (i = 0; i < MORE; i++) {
		if (admit(self->more[i], 3, self->schema) != KAPF_EXECUTE ||
		    finish(self->more[i], 3))
			die("a session of the mode before");
		close(self->more[i]);
	}
	enforce(self);
	empty_slots(self);
}

/* One whose shadow waits is among them. */
static void observe_three(struct _test_data_fault *self)
{
	errno = -observe(self);
	if (errno)
		die("SET_MODE");
	hold_seats(self);
	admit_first(self);
}

static int set_enforce(struct _test_data_fault *self)
{
	return set_mode(self->control, KAPF_MODE_ENFORCE);
}

static int set_off(struct _test_data_fault *self)
{
	return set_mode(self->control, KAPF_MODE_OFF);
}

static void enforce_and_empty(struct _test_data_fault *self)
{
	enforce(self);
	empty_slots(self);
}

/* Another session has one of the seats, and waits for more. */
static void attach_victim(struct _test_data_fault *self)
{
	struct kapf_op op = request(1, self->schema);

	op.initial_seats = 2;
	self->other = open_session(2);
	self->evicted = last_session(self->control);
	if (admit(self->other, 0, self->schema) != KAPF_EXECUTE ||
	    write_ops(self->other, &op, 1) != 1)
		die("the level is not empty");
}

static int evict(struct _test_data_fault *self)
{
	struct kapf_evict arg = {
		.size = sizeof(arg),
		.session = self->evicted,
	};

	return call(self->control, KAPF_EVICT, &arg);
}

static int finish_first(struct _test_data_fault *self)
{
	return finish(self->fd, 0);
}

static int finish_holder(struct _test_data_fault *self)
{
	return finish(self->fd, 4);
}

static int cancel_first(struct _test_data_fault *self)
{
	return cancel(self->fd, 0);
}

static int read_one(struct _test_data_fault *self)
{
	struct kapf_event event;
	ssize_t ret = read(self->fd, &event, sizeof(event));

	return ret < 0 ? -errno : 0;
}

static int write_one(struct _test_data_fault *self)
{
	struct {
		struct kapf_op op;
		char label[8];
	} op = { .op = labelled(self, 0), .label = "alice" };

	op.op.label = 0;
	return write(self->fd, &op, sizeof(op)) < 0 ? -errno : 0;
}

/* Of each kind one, all of which can be taken; what was not taken has not been. */
static int submit(struct _test_data_fault *self)
{
	struct kapf_finish finished = { .slot = 4 };
	struct kapf_op op = labelled(self, 1);
	struct kapf_event events[8];
	__u32 cancelled = 0;
	struct kapf_submit arg = {
		.size = sizeof(arg),
		.op_size = sizeof(op),
		.event_size = sizeof(events[0]),
		.nr_finish = 1,
		.nr_cancel = 1,
		.nr_ops = 1,
		.nr_events = 8,
		.finish = (uintptr_t)&finished,
		.cancel = (uintptr_t)&cancelled,
		.ops = (uintptr_t)&op,
		.events = (uintptr_t)events,
	};

	return call(self->fd, KAPF_SUBMIT, &arg);
}

static void admit_lingering(struct _test_data_fault *self)
{
	struct kapf_op op = request(0, self->schema);

	op.additional_latency = NSEC_PER_MSEC;
	if (KAPF_VERDICT(admit_op(self->fd, op)) != KAPF_EXECUTE)
		die("the level is not empty");
}

/* One that lingers, which is told of, and one that is refused, as well. */
static int submit_told(struct _test_data_fault *self)
{
	struct kapf_finish finished[2] = { { .slot = 0 }, { .slot = 7 } };
	struct kapf_event event;
	struct kapf_submit arg = {
		.size = sizeof(arg),
		.op_size = sizeof(struct kapf_op),
		.event_size = sizeof(event),
		.nr_finish = 2,
		.nr_events = 1,
		.finish = (uintptr_t)finished,
		.events = (uintptr_t)&event,
	};

	return call(self->fd, KAPF_SUBMIT, &arg);
}

static void end_lingering(struct _test_data_fault *self)
{
	finish(self->fd, 0);
	if (!await_lingering(self->control, 0))
		die("seats linger for ever");
	empty_slots(self);
}

static const struct step steps[] = {
	{ "GET_INFO", NULL, info, NULL, COPY },
	{ "open", NULL, open_file, close_other, MEMORY },
	{ "ATTACH", open_surely, attach_other, close_other,
	  COPY | MEMORY | ANSWERS },
	{ "ATTACH, many slots", open_surely, attach_many_slots, close_other,
	  COPY | PAGES | ANSWERS },
	{ "ATTACH, observed", open_observed, attach_other, close_observed,
	  COPY | MEMORY | ANSWERS },
	{ "ATTACH, many slots, observed", open_observed, attach_many_slots,
	  close_observed, COPY | PAGES | ANSWERS },
	{ "SET_MODE, observe", attach_more, observe, use_more,
	  COPY | MEMORY | ANSWERS },
	{ "SET_MODE, enforce", observe_three, set_enforce, enforce_and_empty,
	  COPY | ANSWERS },
	{ "SET_MODE, off", queue_one, set_off, enforce_and_empty,
	  COPY | ANSWERS },
	{ "EVICT", attach_victim, evict, close_other, COPY | ANSWERS },
	{ "GET_STATS", NULL, get_stats, NULL, COPY | MEMORY },
	{ "GET_REQUESTS", queue_one, get_requests, empty_slots, COPY | PAGES },
	{ "GET_REQUESTS, own", queue_one, get_own_requests, empty_slots,
	  COPY | PAGES },
	{ "GET_SESSIONS", NULL, get_sessions, NULL, COPY },
	{ "GET_QUEUES", NULL, get_queues, NULL, COPY | PAGES },
	{ "GET_HISTOGRAMS", NULL, get_histograms, NULL, COPY | PAGES },
	{ "ADMIT", NULL, admit_labelled, empty_slots, COPY },
	{ "ADMIT, queued", hold_seats, admit_labelled, empty_slots, COPY },
	/* What comes by value cannot fail. */
	{ "FINISH", admit_first, finish_first, empty_slots, 0 },
	{ "FINISH that dispatches", queue_one, finish_holder, empty_slots, 0 },
	{ "CANCEL", queue_one, cancel_first, empty_slots, 0 },
	{ "read", queue_and_grant_one, read_one, empty_slots, COPY },
	{ "write", NULL, write_one, empty_slots, COPY },
	{ "write, queued", hold_seats, write_one, empty_slots, COPY },
	{ "SUBMIT", queue_one, submit, empty_slots, COPY | ANSWERS },
	{ "SUBMIT that tells", admit_lingering, submit_told, end_lingering,
	  COPY | ANSWERS },
};

TEST_F_TIMEOUT(fault, every_call, 600)
{
	EXPECT_TRUE(walk_steps(self, &self->faults, steps, ARRAY_SIZE(steps)));
}

TEST_HARNESS_MAIN
