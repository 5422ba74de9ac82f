// SPDX-License-Identifier: GPL-2.0
/*
 * EVICT while a call is under way that has found the session alive: whatever the
 * call does after the end leaves nothing in the level.
 */
#include "missing.h"

static void evict_last(int control)
{
	struct kapf_evict evict = {
		.size = sizeof(evict), .session = last_session(control),
	};

	errno = -call(control, KAPF_EVICT, &evict);
	if (errno)
		die("EVICT");
}

/*
 * Calls that sleep until a page of their argument is there
 */

FIXTURE(faulting) {
	int control;
	int fd;
	int faults;		/* of the page, told by userfaultfd */
	struct kapf_op *op;	/* the page */
	struct kapf_op asked;	/* what is to be there */
};

FIXTURE_SETUP(faulting)
{
	self->control = open_node(CONTROL_NODE, O_RDWR);
	self->asked = request(0, set_up_queues(self->control, 2, 1, 1, 10));
	self->fd = open_session(1);
	self->op = missing_page(&self->faults);
}

FIXTURE_TEARDOWN(faulting)
{
	close(self->faults);
	munmap(self->op, PAGE);
	close(self->fd);
	close(self->control);
}

FIXTURE_VARIANT(faulting) {
	int (*call)(struct _test_data_faulting *self);
};

static int call_admit(struct _test_data_faulting *self)
{
	return call(self->fd, KAPF_ADMIT, self->op);
}

static int call_write(struct _test_data_faulting *self)
{
	return write_ops(self->fd, self->op, 1);
}

static int call_submit(struct _test_data_faulting *self)
{
	struct kapf_event event;
	struct kapf_submit submit = {
		.size = sizeof(submit), .op_size = sizeof(struct kapf_op),
		.event_size = sizeof(event), .events = (uintptr_t)&event,
		.nr_events = 1, .ops = (uintptr_t)self->op, .nr_ops = 1,
	};
	int ret = call(self->fd, KAPF_SUBMIT, &submit);

	return ret || !submit.nr_events || event.verdict != KAPF_ERROR ?
	       ret : -(int)event.detail;
}

FIXTURE_VARIANT_ADD(faulting, admit)	{ .call = call_admit };
FIXTURE_VARIANT_ADD(faulting, write)	{ .call = call_write };
FIXTURE_VARIANT_ADD(faulting, submit)	{ .call = call_submit };

/**
 * struct caller - a thread in a call
 * @thread: it
 * @call: which one
 * @self: with what
 * @ret: what that returned
 */
struct caller {
	pthread_t thread;
	int (*call)(struct _test_data_faulting *self);
	struct _test_data_faulting *self;
	int ret;
};

static void *caller_main(void *arg)
{
	struct caller *caller = arg;

	caller->ret = caller->call(caller->self);
	return NULL;
}

/* The request comes after the end. */
TEST_F(faulting, seats_nobody)
{
	struct caller caller = { .call = variant->call, .self = self };
	char page[PAGE] = "";
	struct uffdio_copy copy = {
		.dst = (uintptr_t)self->op, .src = (uintptr_t)page, .len = PAGE,
	};

	memcpy(page, &self->asked, sizeof(self->asked));
	ASSERT_EQ(0, pthread_create(&caller.thread, NULL, caller_main,
				    &caller));
	ASSERT_TRUE(page_touched(self->faults));
	evict_last(self->control);
	ASSERT_EQ(0, ioctl(self->faults, UFFDIO_COPY, &copy));
	ASSERT_EQ(0, pthread_join(caller.thread, NULL));
	EXPECT_EQ(-ESHUTDOWN, caller.ret);
	EXPECT_EQ(0, seats_in_use(self->control, "test"));
	EXPECT_EQ(0, requests_known(self->control));
}

/*
 * FINISH, from the last slot to the first, while EVICT goes from the first to the
 * last
 */

#define SLOTS	32768
#define ROUNDS	10

/**
 * struct finisher - a thread that finishes the requests of a session
 * @thread: it
 * @control: node
 * @fd: of the session, whose slots all execute
 * @nr: so many it has finished
 * @ret: what the last FINISH returned
 */
struct finisher {
	pthread_t thread;
	int control;
	int fd;
	__u32 nr;
	int ret;
};

static void *finisher_main(void *arg)
{
	struct finisher *finisher = arg;
	__u32 slot = SLOTS;

	/* It begins when EVICT does. */
	while (seats_in_use(finisher->control, "exempt") == SLOTS)
		;
	do {
		finisher->ret = finish(finisher->fd, --slot);
		finisher->nr += finisher->ret > 0;
	} while (slot && finisher->ret > 0);
	return NULL;
}

/* A session whose requests are all exempt, executing, and to linger for long. */
static int open_full_session(int control)
{
	struct kapf_op op = request(0, schema_id(control, "exempt"));
	int fd = open_session(SLOTS);

	op.additional_latency = KAPF_MAX_ADDITIONAL_LATENCY_NS;
	for (; op.slot < SLOTS; op.slot++)
		if (KAPF_VERDICT(admit_op(fd, op)) != KAPF_EXECUTE)
			die("ADMIT");
	return fd;
}

/* What lingered after the end would do so for a minute, and outlive its slot. */
TEST(finish_leaves_nothing_that_lingers)
{
	int round, control = open_node(CONTROL_NODE, O_RDWR);
	struct finisher finisher = { .control = control };

	set_up_bare(control);
	for (round = 0; round < ROUNDS; round++) {
		finisher.fd = open_full_session(control);
		ASSERT_EQ(0, pthread_create(&finisher.thread, NULL,
					    finisher_main, &finisher));
		evict_last(control);
		pthread_join(finisher.thread, NULL);
		ASSERT_EQ(0, seats_in_use(control, "exempt"));
		EXPECT_EQ(-ESHUTDOWN, finisher.ret);
		EXPECT_EQ(0, finisher.nr);
		close(finisher.fd);
	}
	close(control);
}

TEST_HARNESS_MAIN
