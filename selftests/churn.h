/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The clients of churn_test.c: threads that make requests in each of the three
 * ways, and keep account of what becomes of them.
 */
#ifndef CHURN_H
#define CHURN_H

#include <sys/prctl.h>

#include "kapf_test.h"

#define PROCESSES	8
#define THREADS		8	/* of each */
#define SCHEMAS		16
#define SLOTS		32	/* of a session */
#define BATCH		16

/* Most requests of a process: of four threads one, of the others one in each slot. */
#define IN_FLIGHT	(4 + 4 * SLOTS)

/* How long a request waits at most, and its seats linger. */
#define MAX_WAIT_MS	30
#define MAX_LATENCY_MS	20

/* Tokens: what comes back with an event must be one of these. */
#define TOKEN		(0x70ULL << 56)

/**
 * struct counts - what a process has seen
 * @tokens: requests made
 * @verdicts: how they were decided, by enum kapf_verdict
 * @interrupted: likewise: by a signal
 * @busy: requests that came while the slot still lingered; they are no tokens
 * @strays: events that nobody waited for
 * @lost: requests that were not decided on in time
 * @errors: calls that failed in a way that they must not
 */
struct counts {
	__u64 tokens;
	__u64 verdicts[8];
	__u64 interrupted;
	__u64 busy;
	__u64 strays;
	__u64 lost;
	__u64 errors;
};

/* What all processes share. */
struct shared {
	bool stop;
	__u32 schemas[SCHEMAS];	/* ids, the last known ones */
	struct counts counts[PROCESSES];
};

static struct shared *shared;

/**
 * struct client - a thread that makes requests
 * @random: state of its chance
 * @counts: of its process
 * @fd: of its session
 * @first: the first of its slots
 * @number: of its last token
 * @tokens: by slot: the token that is not decided on yet; 0: none
 * @executing: by slot
 */
struct client {
	__u64 random;
	struct counts *counts;
	int fd;
	__u32 first;
	__u64 number;
	__u64 tokens[SLOTS];
	bool executing[SLOTS];
};

static __u32 any(__u64 *random, __u32 below)
{
	*random = *random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (*random >> 33) % below;
}

static bool one_in(__u64 *random, __u32 n)
{
	return !any(random, n);
}

static void count(__u64 *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

static bool stopped(void)
{
	return __atomic_load_n(&shared->stop, __ATOMIC_RELAXED);
}

static struct kapf_op any_op(struct client *client, __u32 slot)
{
	__u64 *random = &client->random;
	__u32 schema = __atomic_load_n(&shared->schemas[any(random, SCHEMAS)],
				       __ATOMIC_RELAXED);
	struct kapf_op op = request(slot, schema);

	op.initial_seats = 1 + any(random, one_in(random, 8) ? 8 : 2);
	op.final_seats = any(random, 3);
	op.flow_hash = any(random, 1000);
	op.max_wait = (1 + any(random, MAX_WAIT_MS)) * NSEC_PER_MSEC;
	if (one_in(random, 4))
		op.additional_latency = any(random, MAX_LATENCY_MS) *
					NSEC_PER_MSEC;
	if (one_in(random, 16))
		op.flags = KAPF_OP_NOQUEUE;
	op.user_data = TOKEN | ++client->number;
	return op;
}

/* A call that has to work; where it need not, @but is the other answer. */
static void expect(struct client *client, const char *what, int ret, int but)
{
	if (ret >= 0 || ret == -but || ret == -EINTR)
		return;
	fprintf(stderr, "# %s: %s\n", what, strerror(-ret));
	count(&client->counts->errors);
}

static void hold(struct client *client)
{
	if (one_in(&client->random, 2))
		usleep(any(&client->random, 2000));
}

/*
 * Those who wait in ADMIT share a session, and cancel each other.
 */
static void *blocking_main(void *arg)
{
	struct client *client = arg;
	__u64 *random = &client->random;
	__u32 slot;
	int ret;

	while (!stopped()) {
		slot = client->first + any(random, 4);
		ret = admit_op(client->fd, any_op(client, slot));
		if (ret == -EBUSY) {
			count(&client->counts->busy);
			usleep(1000);
			continue;
		}
		count(&client->counts->tokens);
		if (ret == -EINTR)
			count(&client->counts->interrupted);
		else if (ret < 0)
			expect(client, "ADMIT", ret, 0);
		else
			count(&client->counts->verdicts[KAPF_VERDICT(ret)]);
		if (ret >= 0 && KAPF_VERDICT(ret) == KAPF_EXECUTE) {
			hold(client);
			expect(client, "FINISH", finish(client->fd, slot), 0);
		}
		if (one_in(random, 64))
			cancel(client->fd, any(random, SLOTS));
	}
	return NULL;
}

/* Those who do not wait: what the kernel says of their requests */

static void decided(struct client *client, __u32 slot, __u64 token,
		    __u32 verdict)
{
	if (slot >= SLOTS || !token || client->tokens[slot] != token ||
	    verdict >= KAPF_QUEUED) {
		fprintf(stderr, "# slot %u: token %llx: verdict %u\n", slot,
			token, verdict);
		count(&client->counts->strays);
		return;
	}
	client->tokens[slot] = 0;
	client->executing[slot] = verdict == KAPF_EXECUTE;
	count(&client->counts->verdicts[verdict]);
}

static void take_events(struct client *client, const struct kapf_event *events,
			int nr)
{
	int i;

	for (i = 0; i < nr; i++) {
		const struct kapf_event *event = &events[i];

		if (event->verdict != KAPF_ERROR) {
			decided(client, event->slot, event->user_data,
				event->verdict);
		} else if (event->detail == EBUSY) {
			/* It still lingers. */
			client->tokens[event->slot] = 0;
			__atomic_fetch_sub(&client->counts->tokens, 1,
					   __ATOMIC_RELAXED);
			count(&client->counts->busy);
		} else {
			/* A CANCEL that came too late */
			expect(client, "SUBMIT", -event->detail, EALREADY);
		}
	}
}

static bool undecided(const struct client *client)
{
	int i;

	for (i = 0; i < SLOTS; i++)
		if (client->tokens[i])
			return true;
	return false;
}

static void read_all(struct client *client)
{
	struct kapf_event events[BATCH];
	int nr = read(client->fd, events, sizeof(events));

	if (nr > 0)
		take_events(client, events, nr / sizeof(events[0]));
	else if (nr < 0)
		expect(client, "read", -errno, EAGAIN);
}

/* What is not decided on now is lost; what executes, ends. */
static void *end(struct client *client)
{
	__u64 until = now_ns() + 20 * NSEC_PER_SEC;
	int i;

	while (undecided(client) && now_ns() < until) {
		read_all(client);
		usleep(1000);
	}
	for (i = 0; i < SLOTS; i++) {
		if (client->tokens[i])
			count(&client->counts->lost);
		if (client->executing[i])
			expect(client, "FINISH", finish(client->fd, i), 0);
	}
	return NULL;
}

static void admit_one(struct client *client, __u32 slot)
{
	struct kapf_op op = any_op(client, slot);
	int ret = admit_op(client->fd, op);

	if (ret == -EBUSY) {
		count(&client->counts->busy);
		return;
	}
	count(&client->counts->tokens);
	client->tokens[slot] = op.user_data;
	if (ret < 0)
		expect(client, "ADMIT", ret, 0);
	else if (KAPF_VERDICT(ret) != KAPF_QUEUED)
		decided(client, slot, op.user_data, KAPF_VERDICT(ret));
}

static void *event_main(void *arg)
{
	struct client *client = arg;
	__u32 slot;

	while (!stopped()) {
		slot = any(&client->random, SLOTS);
		if (client->executing[slot]) {
			client->executing[slot] = false;
			expect(client, "FINISH", finish(client->fd, slot), 0);
		} else if (!client->tokens[slot]) {
			admit_one(client, slot);
		} else if (one_in(&client->random, 64)) {
			expect(client, "CANCEL", cancel(client->fd, slot),
			       EALREADY);
		}
		read_all(client);
		hold(client);
	}
	return end(client);
}

static void submit_batch(struct client *client)
{
	struct kapf_finish finished[SLOTS];
	struct kapf_op ops[SLOTS];
	__u32 cancelled[SLOTS];
	struct kapf_event events[3 * SLOTS];
	struct kapf_submit submit = {
		.size = sizeof(submit),
		.op_size = sizeof(ops[0]),
		.event_size = sizeof(events[0]),
		.nr_events = ARRAY_SIZE(events),
		.finish = (uintptr_t)finished,
		.cancel = (uintptr_t)cancelled,
		.ops = (uintptr_t)ops,
		.events = (uintptr_t)events,
		.min_complete = any(&client->random, 8),
		.timeout = any(&client->random, 5) * NSEC_PER_MSEC,
	};
	__u32 i, slot, nr_finish, nr_ops;
	int ret;

	for (slot = 0; slot < SLOTS; slot++) {
		if (client->executing[slot])
			finished[submit.nr_finish++] =
				(struct kapf_finish){ .slot = slot };
		else if (client->tokens[slot] && one_in(&client->random, 64))
			cancelled[submit.nr_cancel++] = slot;
		else if (!client->tokens[slot] && one_in(&client->random, 2))
			ops[submit.nr_ops++] = any_op(client, slot);
	}
	nr_finish = submit.nr_finish;
	nr_ops = submit.nr_ops;
	ret = call(client->fd, KAPF_SUBMIT, &submit);
	expect(client, "SUBMIT", ret, 0);
	if (ret < 0)
		return;
	if (submit.nr_finish > nr_finish || submit.nr_ops > nr_ops)
		count(&client->counts->errors);
	for (i = 0; i < submit.nr_finish; i++)
		client->executing[finished[i].slot] = false;
	for (i = 0; i < submit.nr_ops; i++) {
		count(&client->counts->tokens);
		client->tokens[ops[i].slot] = ops[i].user_data;
	}
	take_events(client, events, submit.nr_events);
}

static void *batch_main(void *arg)
{
	struct client *client = arg;

	while (!stopped()) {
		submit_batch(client);
		hold(client);
	}
	return end(client);
}

static int open_nonblocking(void)
{
	int fd = open_session(SLOTS);

	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

static pid_t spawn(int number, __u64 seed)
{
	void *(*const mains[])(void *) = {
		blocking_main, blocking_main, event_main, batch_main,
	};
	static struct client clients[THREADS];
	pthread_t threads[THREADS];
	pid_t pid = fork();
	int i, fd;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Let who configures have its turn. */
	errno = 0;
	nice(10);
	if (errno)
		die("nice");
	fd = open_session(SLOTS);
	for (i = 0; i < THREADS; i++) {
		clients[i].random = seed + i;
		clients[i].counts = &shared->counts[number];
		clients[i].first = 4 * i;
		clients[i].fd = i % 4 < 2 ? fd : open_nonblocking();
		errno = pthread_create(&threads[i], NULL, mains[i % 4],
				       &clients[i]);
		if (errno)
			die("pthread_create");
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	_exit(0);
}

#endif /* CHURN_H */
