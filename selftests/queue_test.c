// SPDX-License-Identifier: GPL-2.0
/*
 * Order: who is next among those that wait, how many may wait, what GET_QUEUES
 * says of it, and that flows which ask for more than their part get no more than
 * it.
 *
 * With a hand of one card a flow's queue is its hash modulo the number of
 * queues, so that a test can place each flow.
 */
#include "kapf_test.h"

FIXTURE(queue) {
	int control;
	int fd;
	__u32 schema;
};

FIXTURE_SETUP(queue)
{
	self->control = open_node(CONTROL_NODE, O_RDWR);
	self->fd = open_session(1024);
}

FIXTURE_TEARDOWN(queue)
{
	close(self->fd);
	close(self->control);
}

static struct kapf_op flow_request(struct _test_data_queue *self, __u32 slot,
				   __u64 flow)
{
	struct kapf_op op = request(slot, self->schema);

	op.flow_hash = flow;
	op.max_wait = KAPF_MAX_WAIT_NS;
	return op;
}

static int admit_flow(struct _test_data_queue *self, __u32 slot, __u64 flow)
{
	int ret = admit_op(self->fd, flow_request(self, slot, flow));

	return ret < 0 ? ret : KAPF_VERDICT(ret);
}

/**
 * struct crowd - threads that wait, each with a slot of its own
 * @waiters: they
 * @nr: how many
 * @lock: of what follows
 * @order: slots in the order in which they were granted
 * @granted: how many of those
 */
struct crowd {
	struct member {
		struct waiter waiter;
		struct crowd *crowd;
		pthread_t thread;
	} members[128];
	__u32 nr;
	pthread_mutex_t lock;
	__u32 order[128];
	__u32 granted;
};

static void *member_main(void *arg)
{
	struct member *member = arg;
	struct crowd *crowd = member->crowd;

	waiter_main(&member->waiter);
	if (member->waiter.ret < 0 ||
	    KAPF_VERDICT(member->waiter.ret) != KAPF_EXECUTE)
		return NULL;
	pthread_mutex_lock(&crowd->lock);
	crowd->order[crowd->granted++] = member->waiter.op.slot;
	pthread_mutex_unlock(&crowd->lock);
	return NULL;
}

/* One more waits; returns when it does. */
static void crowd_add(struct crowd *crowd, int control, int fd,
		      struct kapf_op op)
{
	struct member *member = &crowd->members[crowd->nr++];

	member->crowd = crowd;
	member->waiter.fd = fd;
	member->waiter.op = op;
	errno = pthread_create(&member->thread, NULL, member_main, member);
	if (errno)
		die("pthread_create");
	if (!await_waiting(control, crowd->nr))
		die("a request does not wait");
}

static __u32 crowd_granted(struct crowd *crowd)
{
	__u32 granted;

	pthread_mutex_lock(&crowd->lock);
	granted = crowd->granted;
	pthread_mutex_unlock(&crowd->lock);
	return granted;
}

/*
 * Finish the holder in @slot, then each that is granted after it, when it has
 * been served for @ms.
 */
static void crowd_drain(struct crowd *crowd, int fd, __u32 slot,
			unsigned int ms)
{
	__u32 i;

	for (i = 0; i < crowd->nr; i++) {
		sleep_ms(ms);
		if (finish(fd, slot))
			die("finish");
		while (crowd_granted(crowd) == i)
			sched_yield();
		slot = crowd->order[i];
	}
	finish(fd, slot);
	for (i = 0; i < crowd->nr; i++)
		pthread_join(crowd->members[i].thread, NULL);
}

TEST_F(queue, first_in_first_out)
{
	static struct crowd crowd = { .lock = PTHREAD_MUTEX_INITIALIZER };
	__u32 i;

	self->schema = set_up_queues(self->control, 1, 1, 1, 100);
	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 0, self->schema));
	for (i = 1; i <= 20; i++)
		crowd_add(&crowd, self->control, self->fd,
			  flow_request(self, i * 8 % 21, i));
	crowd_drain(&crowd, self->fd, 0, 0);
	for (i = 1; i <= 20; i++)
		EXPECT_EQ(i * 8 % 21, crowd.order[i - 1]);
	EXPECT_EQ(0, requests_known(self->control));
	EXPECT_EQ(0, seats_in_use(self->control, "test"));
}

/*
 * Two flows with equal work take turns, although all of the one came before all
 * of the other.  Having come earlier is worth something: two queues are active
 * until the other flow comes, so that half of this time is work of the first one.
 * And service times differ a little; with so long ones it is a turn or two.
 */
TEST_F(queue, flows_take_turns)
{
	static struct crowd crowd = { .lock = PTHREAD_MUTEX_INITIALIZER };
	__u64 started, head_start = 0;
	int lead = 0, most;
	__u32 i;

	self->schema = set_up_queues(self->control, 1, 4, 1, 100);
	ASSERT_EQ(KAPF_EXECUTE, admit_flow(self, 0, 2));
	started = now_ns();
	for (i = 0; i < 32; i++) {
		if (i == 16)
			head_start = now_ns() - started;
		crowd_add(&crowd, self->control, self->fd,
			  flow_request(self, 1 + i, i / 16));
	}
	most = 5 + head_start / 2 / (20 * NSEC_PER_MSEC);
	EXPECT_EQ(2, level_stats(self->control, "test").active_queues);
	crowd_drain(&crowd, self->fd, 0, 20);
	for (i = 0; i < 32; i++) {
		lead += crowd.order[i] <= 16 ? 1 : -1;
		EXPECT_GE(most, abs(lead)) {
			TH_LOG("after %u grants", i + 1);
		}
	}
	EXPECT_EQ(0, lead);
}

/*
 * What the servers of a flow, killed while they execute or while their seats
 * linger, have not held of their additional latency the flow does not pay for:
 * it is next, having come first.
 */
TEST_F(queue, killed_servers_leave_no_debt)
{
	static struct crowd crowd = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct kapf_op op;
	pid_t pid;
	__u32 i;

	self->schema = set_up_queues(self->control, 4, 3, 1, 100);
	/* As long as this executes the queue keeps its accounts. */
	ASSERT_EQ(KAPF_EXECUTE, admit_flow(self, 100, 0));
	for (i = 0; i < 2; i++) {
		pid = fork();
		if (!pid) {
			self->fd = open_session(1);
			op = flow_request(self, 0, 0);
			op.final_seats = 3;
			op.additional_latency = 60 * NSEC_PER_SEC;
			if (KAPF_VERDICT(admit_op(self->fd, op)) == KAPF_EXECUTE &&
			    (!i || finish(self->fd, 0) > 0))
				raise(SIGKILL);
			_exit(1);
		}
		EXPECT_TRUE(WIFSIGNALED(reap(pid)));
	}
	for (i = 101; i < 104; i++)
		ASSERT_EQ(KAPF_EXECUTE, admit_flow(self, i, 2));
	sleep_ms(20);
	crowd_add(&crowd, self->control, self->fd, flow_request(self, 0, 0));
	crowd_add(&crowd, self->control, self->fd, flow_request(self, 1, 1));
	crowd_drain(&crowd, self->fd, 103, 0);
	EXPECT_EQ(0, crowd.order[0]);
	EXPECT_EQ(1, crowd.order[1]);
}

/* Nobody else waits: one flow may have the level to itself. */
TEST_F(queue, single_flow_uses_all_seats)
{
	__u32 slot;

	self->schema = set_up_queues(self->control, 8, 4, 1, 1);
	for (slot = 0; slot < 8; slot++)
		EXPECT_EQ(KAPF_EXECUTE, admit_flow(self, slot, 1));
}

/* A burst */

TEST_F(queue, burst_of_all_seats_and_queues)
{
	static struct crowd crowd = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct kapf_level_stats stats;
	__u32 i;

	self->schema = set_up_queues(self->control, 4, 8, 1, 10);
	for (i = 0; i < 4; i++)
		ASSERT_EQ(KAPF_EXECUTE, admit_flow(self, 100 + i, i));
	for (i = 0; i < 80; i++)
		crowd_add(&crowd, self->control, self->fd,
			  flow_request(self, i, i));
	stats = level_stats(self->control, "test");
	EXPECT_EQ(80, stats.waiting_requests);
	EXPECT_EQ(8, stats.active_queues);
	EXPECT_EQ(8, stats.queues);
	EXPECT_EQ(0, stats.rejected_queue_full);
	/* That was all: whichever queue the next one would go to is full. */
	for (i = 0; i < 8; i++)
		EXPECT_EQ(KAPF_QUEUE_FULL, admit_flow(self, 200, i));
	for (i = 101; i < 104; i++)
		EXPECT_EQ(0, finish(self->fd, i));
	while (crowd_granted(&crowd) < 3)
		sched_yield();
	for (i = 0; i < 3; i++)
		EXPECT_EQ(0, finish(self->fd, crowd.order[i]));
	/* Those three finishes have let three more in. */
	while (crowd_granted(&crowd) < 6)
		sched_yield();
	for (i = 3; i < 80; i++) {
		while (crowd_granted(&crowd) <= i)
			sched_yield();
		EXPECT_EQ(0, finish(self->fd, crowd.order[i]));
	}
	EXPECT_EQ(0, finish(self->fd, 100));
	for (i = 0; i < 80; i++)
		pthread_join(crowd.members[i].thread, NULL);
	EXPECT_EQ(0, requests_known(self->control));
	EXPECT_EQ(84, level_stats(self->control, "test").dispatched);
}

/* A hand of several cards evades the queues that are full. */
TEST_F(queue, hand_evades_full_queues)
{
	static struct crowd crowd = { .lock = PTHREAD_MUTEX_INITIALIZER };
	__u32 i;

	self->schema = set_up_queues(self->control, 1, 8, 8, 5);
	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 100, self->schema));
	/* One flow whose hand is all queues fills all of them, evenly. */
	for (i = 0; i < 40; i++) {
		crowd_add(&crowd, self->control, self->fd,
			  flow_request(self, i, 12345));
		if (i == 7)
			EXPECT_EQ(8, level_stats(self->control, "test")
				  .active_queues);
	}
	EXPECT_EQ(KAPF_QUEUE_FULL, admit_flow(self, 101, 12345));
	crowd_drain(&crowd, self->fd, 100, 0);
	EXPECT_EQ(41, level_stats(self->control, "test").dispatched);
}

/* As long as a seat is free a queue takes more than its length. */
TEST_F(queue, length_does_not_count_while_seats_are_free)
{
	static struct crowd crowd = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct kapf_op wide;
	__u32 i;

	self->schema = set_up_queues(self->control, 4, 1, 1, 1);
	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 0, self->schema));
	wide = flow_request(self, 1, 0);
	wide.initial_seats = 4;
	crowd_add(&crowd, self->control, self->fd, wide);
	crowd_add(&crowd, self->control, self->fd, flow_request(self, 2, 0));
	crowd_add(&crowd, self->control, self->fd, flow_request(self, 3, 0));
	EXPECT_EQ(3, level_stats(self->control, "test").waiting_requests);
	EXPECT_EQ(0, finish(self->fd, 0));
	while (!crowd_granted(&crowd))
		sched_yield();
	EXPECT_EQ(2, level_stats(self->control, "test").waiting_requests);
	EXPECT_EQ(4, seats_in_use(self->control, "test"));
	/* Now no seat is free, and the queue is full indeed. */
	EXPECT_EQ(KAPF_QUEUE_FULL, admit_flow(self, 4, 0));
	EXPECT_EQ(0, finish(self->fd, 1));
	for (i = 0; i < 3; i++)
		pthread_join(crowd.members[i].thread, NULL);
	EXPECT_EQ(3, crowd.granted);
}

/* Seen from outside */

/* Read all, in pieces of @step. */
static __u32 read_queues(int control, struct kapf_queue_info *queues,
			 __u32 room, __u32 step)
{
	struct kapf_get_queues get = {
		.size = sizeof(get),
		.queue_size = sizeof(*queues),
	};
	__u32 nr = 0;

	do {
		get.nr = step < room - nr ? step : room - nr;
		get.queues = (uintptr_t)(queues + nr);
		if (call(control, KAPF_GET_QUEUES, &get))
			die("GET_QUEUES");
		nr += get.nr;
	} while (get.nr && nr < room);
	if (get.generation != generation(control))
		die("generation");
	return nr;
}

TEST_F(queue, seen_from_outside)
{
	const __u64 seat_second = 100000000;
	struct kapf_queue_info queues[9];
	struct kapf_op op;
	__u32 level, nr, step, i;

	self->schema = set_up_queues(self->control, 2, 8, 1, 10);
	level = level_stats(self->control, "test").id;
	op = request(0, self->schema);
	op.flow_hash = 3;
	op.initial_seats = 2;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	for (i = 1; i < 4; i++) {
		op = request(i, self->schema);
		op.flags = KAPF_OP_NOWAIT;
		op.flow_hash = 5;
		op.initial_seats = i % 2 + 1;
		op.final_seats = 2;
		op.additional_latency = 2 * NSEC_PER_SEC;
		ASSERT_EQ(KAPF_QUEUED, KAPF_VERDICT(admit_op(self->fd, op)));
	}
	for (step = 1; step <= 9; step++) {
		memset(queues, 0xff, sizeof(queues));
		nr = read_queues(self->control, queues, 9, step);
		ASSERT_EQ(8, nr);
		for (i = 0; i < nr; i++) {
			EXPECT_EQ(level, queues[i].level);
			EXPECT_EQ(i, queues[i].queue);
			EXPECT_EQ(i == 3, queues[i].executing_requests);
			EXPECT_EQ(i == 3 ? 2 : 0, queues[i].seats_in_use);
			EXPECT_EQ(i == 5 ? 3 : 0, queues[i].waiting_requests);
			EXPECT_EQ(i == 5 ? 5 : 0,
				  queues[i].waiting_initial_seats);
			EXPECT_EQ(i == 5 ? 6 : 0, queues[i].waiting_seats);
		}
	}
	/* Each is taken to execute for 3 ms, then lingers with 2 seats. */
	EXPECT_EQ(5 * seat_second * 3 / 1000 + 3 * 2 * 2 * seat_second,
		  queues[5].waiting_work);
	EXPECT_EQ(0, queues[3].waiting_work);
	/* What executes has been charged to its queue, from R = 0 on. */
	EXPECT_EQ(2 * seat_second * 3 / 1000, queues[3].next_dispatch_r);
}

/* Fairness */

#define FLOWS		10
#define MODEST		3	/* threads of a flow: two execute, one waits */
#define GREEDY		(50 * MODEST)
#define SERVICE_MS	10
#define RUN_MS		6000

enum phase { WARM_UP, COUNT, STOP };

/* A thread that keeps asking for one flow until the time is over. */
struct client {
	pthread_t thread;
	int fd;
	struct kapf_op op;
	const enum phase *phase;
	__u64 held;	/* its seat, ns */
	__u64 longest;	/* of a single service */
	int failed;
};

static void *client_main(void *arg)
{
	struct client *client = arg;
	enum phase phase;
	__u64 begin, service;
	int ret;

	for (;;) {
		ret = admit_op(client->fd, client->op);
		if (ret < 0 || KAPF_VERDICT(ret) != KAPF_EXECUTE) {
			client->failed++;
			break;
		}
		/* Who waited at the end is no longer counted, nor served. */
		phase = __atomic_load_n(client->phase, __ATOMIC_RELAXED);
		if (phase == STOP)
			break;
		begin = now_ns();
		sleep_ms(SERVICE_MS);
		service = now_ns() - begin;
		if (phase == COUNT) {
			client->held += service;
			if (client->longest < service)
				client->longest = service;
		}
		finish(client->fd, client->op.slot);
	}
	finish(client->fd, client->op.slot);
	return NULL;
}

/*
 * Flow 0 asks for fifty times as much as each of nine others, which always have
 * a request waiting.  Each of the ten has to get a tenth of the seat-time, but
 * for a twentieth, and for a single service: on a machine that is short of time
 * one may be long, and is made up for by those that follow.
 */
TEST_F_TIMEOUT(queue, greedy_flow_gets_its_part_and_no_more, 60)
{
	static struct client clients[GREEDY + MODEST * (FLOWS - 1)];
	enum phase phase = WARM_UP;
	__u64 held[FLOWS] = { 0 }, total = 0, longest = 0, part, slack;
	__u32 i, flow;

	self->schema = set_up_queues(self->control, 2, 20, 1, 200);
	for (i = 0; i < ARRAY_SIZE(clients); i++) {
		flow = i < GREEDY ? 0 : 1 + (i - GREEDY) % (FLOWS - 1);
		clients[i].fd = self->fd;
		clients[i].op = flow_request(self, i, flow);
		clients[i].phase = &phase;
		ASSERT_EQ(0, pthread_create(&clients[i].thread, NULL,
					    client_main, &clients[i]));
	}
	sleep_ms(1000);
	__atomic_store_n(&phase, COUNT, __ATOMIC_RELAXED);
	sleep_ms(RUN_MS);
	__atomic_store_n(&phase, STOP, __ATOMIC_RELAXED);
	for (i = 0; i < ARRAY_SIZE(clients); i++) {
		flow = clients[i].op.flow_hash;
		pthread_join(clients[i].thread, NULL);
		EXPECT_EQ(0, clients[i].failed);
		held[flow] += clients[i].held;
		total += clients[i].held;
		if (longest < clients[i].longest)
			longest = clients[i].longest;
	}
	part = total / FLOWS;
	slack = part / 10 + longest;
	for (flow = 0; flow < FLOWS; flow++) {
		EXPECT_LE(part, held[flow] + slack);
		EXPECT_GE(part + slack, held[flow]);
		TH_LOG("flow %u: %llu of %llu ms", flow,
		       held[flow] / NSEC_PER_MSEC, total / NSEC_PER_MSEC);
	}
}

TEST_HARNESS_MAIN
