// SPDX-License-Identifier: GPL-2.0
/*
 * What can be seen: GET_STATS, GET_REQUESTS and GET_SESSIONS, in pieces of any
 * size; and who may see it.
 */
#include <sys/stat.h>

#include "schema.h"

#define LABEL_ROOM 32

FIXTURE(view) {
	int control;
	int fd[2];
	__u64 session[2];
	__u32 schema;	/* of a level with 3 seats and 4 queues */
	__u64 attached;	/* CLOCK_REALTIME, when both had attached */
};

static __u64 real_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

FIXTURE_SETUP(view)
{
	struct kapf_attach attach = {
		.size = sizeof(attach),
		.slots = 8,
		.label_bytes = LABEL_ROOM - 8,
	};
	int i;

	self->control = open_node(CONTROL_NODE, O_RDWR);
	self->schema = set_up_queues(self->control, 3, 4, 1, 10);
	for (i = 0; i < 2; i++) {
		self->fd[i] = open_node(SUBMIT_NODE, O_RDWR);
		snprintf(attach.server, sizeof(attach.server), "server-%d", i);
		ASSERT_EQ(0, call(self->fd[i], KAPF_ATTACH, &attach));
		self->session[i] = attach.session;
	}
	self->attached = real_ns();
}

FIXTURE_TEARDOWN(view)
{
	close(self->fd[0]);
	close(self->fd[1]);
	close(self->control);
}

/* A request and its label, as far as there is room. */
struct seen {
	struct kapf_request_info info;
	char label[LABEL_ROOM];
};

/* Gather all requests that @fd shows, @step at a time. */
static __u32 get_requests(int fd, struct seen *seen, __u32 room, __u32 step)
{
	struct kapf_get_requests get = {
		.size = sizeof(get),
		.request_size = sizeof(struct kapf_request_info),
		.label_bytes = LABEL_ROOM,
	};
	__u32 nr = 0;

	do {
		get.nr = step;
		get.requests = (uintptr_t)(seen + nr);
		errno = -call(fd, KAPF_GET_REQUESTS, &get);
		if (errno || get.nr > step)
			die("GET_REQUESTS");
		nr += get.nr;
	} while (get.nr && nr + step <= room);
	return nr;
}

/* Requests: session 0 executes in slots 1 and 5, session 1 in 0 and waits in 7. */
static void fill_level(struct __test_metadata *_metadata,
		       struct _test_data_view *self, struct waiter *waiter)
{
	struct kapf_op op = request(7, self->schema);

	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd[0], 1, self->schema));
	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd[0], 5, self->schema));
	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd[1], 0, self->schema));
	op.flow_hash = 2;
	waiter_start(waiter, self->fd[1], op);
	ASSERT_TRUE(await_waiting(self->control, 1));
}

/* Requests */

TEST_F(view, no_requests)
{
	struct seen seen[1];

	EXPECT_EQ(0, get_requests(self->control, seen, 1, 1));
	EXPECT_EQ(0, get_requests(self->fd[0], seen, 1, 1));
}

TEST_F(view, requests_in_pieces_of_any_size)
{
	static const __u32 slots[] = { 1, 5, 0, 7 };
	struct waiter waiter;
	struct seen seen[16];
	__u32 step, i;

	fill_level(_metadata, self, &waiter);
	for (step = 1; step <= 8; step++) {
		memset(seen, 0xff, sizeof(seen));
		ASSERT_EQ(4, get_requests(self->control, seen, 16, step));
		for (i = 0; i < 4; i++) {
			EXPECT_EQ(self->session[i / 2], seen[i].info.session);
			EXPECT_EQ(slots[i], seen[i].info.slot);
		}
	}
	EXPECT_EQ(0, finish(self->fd[0], 1));
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&waiter));
}

TEST_F(view, submit_node_shows_its_own_session)
{
	struct waiter waiter;
	struct seen seen[16];

	fill_level(_metadata, self, &waiter);
	ASSERT_EQ(2, get_requests(self->fd[0], seen, 16, 1));
	EXPECT_EQ(self->session[0], seen[0].info.session);
	EXPECT_EQ(1, seen[0].info.slot);
	EXPECT_EQ(5, seen[1].info.slot);
	ASSERT_EQ(2, get_requests(self->fd[1], seen, 16, 3));
	EXPECT_EQ(self->session[1], seen[0].info.session);
	EXPECT_EQ(self->session[1], seen[1].info.session);
	EXPECT_EQ(7, seen[1].info.slot);
	EXPECT_EQ(0, finish(self->fd[0], 1));
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&waiter));
}

/* A cursor of the caller's making leads nowhere else. */
TEST_F(view, forged_cursor_shows_no_other_session)
{
	struct waiter waiter;
	struct seen seen[16];
	struct kapf_get_requests get = {
		.size = sizeof(get),
		.request_size = sizeof(struct kapf_request_info),
		.label_bytes = LABEL_ROOM,
		.requests = (uintptr_t)seen,
	};
	const __u64 sessions[] = { self->session[1], ~0ULL, 0 };
	const __u32 slots[] = { 0, 8, 0x80000000, ~0u };
	__u32 i, j, k;

	fill_level(_metadata, self, &waiter);
	for (i = 0; i < ARRAY_SIZE(sessions); i++) {
		for (j = 0; j < ARRAY_SIZE(slots); j++) {
			get.nr = 16;
			get.session = sessions[i];
			get.slot = slots[j];
			ASSERT_EQ(0, call(self->fd[0], KAPF_GET_REQUESTS,
					  &get));
			for (k = 0; k < get.nr; k++)
				EXPECT_EQ(self->session[0],
					  seen[k].info.session);
			get.nr = 16;
			get.session = sessions[i];
			get.slot = slots[j];
			ASSERT_EQ(0, call(self->control, KAPF_GET_REQUESTS,
					  &get));
			EXPECT_GE(4, get.nr);
		}
	}
	EXPECT_EQ(0, finish(self->fd[0], 1));
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&waiter));
}

TEST_F(view, request_that_executes)
{
	struct kapf_op op = request(3, self->schema);
	__u64 before = real_ns(), after;
	struct seen seen;

	op.initial_seats = 2;
	op.final_seats = 1;
	op.additional_latency = 7;
	op.flow_hash = 6;
	op.flags = KAPF_OP_MUTATING | KAPF_OP_WATCH;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd[0], op)));
	after = real_ns();
	ASSERT_EQ(1, get_requests(self->control, &seen, 1, 1));
	EXPECT_EQ(KAPF_REQUEST_EXECUTING, seen.info.state);
	EXPECT_EQ(level_stats(self->control, "test").id, seen.info.level);
	EXPECT_EQ(self->schema, seen.info.schema);
	EXPECT_EQ(2, seen.info.queue);
	EXPECT_EQ(2, seen.info.initial_seats);
	EXPECT_EQ(1, seen.info.final_seats);
	EXPECT_EQ(op.flags, seen.info.flags);
	EXPECT_EQ(0, seen.info.label_len);
	EXPECT_EQ(7, seen.info.additional_latency);
	EXPECT_LE(before - NSEC_PER_MSEC, seen.info.arrival);
	EXPECT_GE(after + NSEC_PER_MSEC, seen.info.start);
	EXPECT_LE(seen.info.arrival, seen.info.start);
}

TEST_F(view, request_that_waits_and_then_executes)
{
	struct waiter waiter;
	struct seen seen[4];
	__u64 arrival;

	fill_level(_metadata, self, &waiter);
	ASSERT_EQ(2, get_requests(self->fd[1], seen, 4, 2));
	EXPECT_EQ(KAPF_REQUEST_EXECUTING, seen[0].info.state);
	EXPECT_EQ(KAPF_REQUEST_WAITING, seen[1].info.state);
	EXPECT_EQ(2, seen[1].info.queue);
	EXPECT_EQ(0, seen[1].info.start);
	EXPECT_EQ(0, seen[1].info.queue_position);
	arrival = seen[1].info.arrival;
	EXPECT_GE(real_ns() + NSEC_PER_MSEC, arrival);
	EXPECT_EQ(0, finish(self->fd[0], 1));
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&waiter));
	ASSERT_EQ(2, get_requests(self->fd[1], seen, 4, 2));
	EXPECT_EQ(KAPF_REQUEST_EXECUTING, seen[1].info.state);
	EXPECT_LE(arrival, seen[1].info.start);
}

TEST_F(view, request_that_lingers)
{
	struct kapf_op op = request(3, self->schema);
	struct seen seen;

	op.final_seats = 2;
	op.additional_latency = 10 * NSEC_PER_SEC;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd[0], op)));
	ASSERT_EQ(10000, finish(self->fd[0], 3));
	ASSERT_EQ(1, get_requests(self->control, &seen, 1, 1));
	EXPECT_EQ(KAPF_REQUEST_LINGERING, seen.info.state);
	EXPECT_EQ(2, seen.info.final_seats);
}

TEST_F(view, requests_of_levels_without_queues)
{
	const __u32 schemas[] = { schema_id(self->control, "exempt"),
				  schema_id(self->control, "catch-all") };
	struct seen seen[4];
	__u32 i;

	for (i = 0; i < 2; i++)
		ASSERT_EQ(KAPF_EXECUTE, admit(self->fd[0], i, schemas[i]));
	ASSERT_EQ(2, get_requests(self->control, seen, 4, 4));
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(KAPF_REQUEST_EXECUTING, seen[i].info.state);
		EXPECT_EQ(schemas[i], seen[i].info.schema);
		EXPECT_EQ(-1, seen[i].info.queue);
	}
}

TEST_F(view, queue_positions_rise_with_the_order)
{
	struct waiter waiters[4];
	struct kapf_op op;
	struct seen seen[8];
	__u32 i;

	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd[0], 0, self->schema));
	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd[0], 1, self->schema));
	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd[0], 2, self->schema));
	/* The later, the lower the slot. */
	for (i = 0; i < 4; i++) {
		op = request(7 - i, self->schema);
		op.max_wait = 1500 * NSEC_PER_MSEC;
		waiter_start(&waiters[i], self->fd[1], op);
		ASSERT_TRUE(await_waiting(self->control, i + 1));
	}
	ASSERT_EQ(7, get_requests(self->control, seen, 8, 8));
	for (i = 3; i < 6; i++)
		EXPECT_LT(0, (__s32)(seen[i].info.queue_position -
				     seen[i + 1].info.queue_position));
	/* A server is not to learn how many others there are. */
	ASSERT_EQ(4, get_requests(self->fd[1], seen, 8, 8));
	for (i = 0; i < 4; i++)
		EXPECT_EQ(0, seen[i].info.queue_position);
	for (i = 0; i < 4; i++)
		EXPECT_EQ(KAPF_TIME_OUT, waiter_join(&waiters[i]));
}

TEST_F(view, labels)
{
	static const char label[] = "alice\0alice\0list\0/api/v1/pods and more";
	struct kapf_op op = request(0, self->schema);
	struct seen seen;

	op.label = (uintptr_t)label;
	op.label_len = 12;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd[0], op)));
	memset(&seen, 0xff, sizeof(seen));
	ASSERT_EQ(1, get_requests(self->fd[0], &seen, 1, 1));
	EXPECT_EQ(12, seen.info.label_len);
	EXPECT_EQ(0, memcmp(label, seen.label, 12));
	/* What is behind it is not what was there before. */
	EXPECT_EQ(0, seen.label[12]);
	EXPECT_EQ(0, seen.label[LABEL_ROOM - 1]);
	EXPECT_EQ(0, finish(self->fd[0], 0));

	/* Longer than the session has room for: cut, and the rest not kept. */
	op.label_len = sizeof(label);
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd[0], op)));
	ASSERT_EQ(1, get_requests(self->control, &seen, 1, 1));
	EXPECT_EQ(LABEL_ROOM - 8, seen.info.label_len);
	EXPECT_EQ(0, memcmp(label, seen.label, LABEL_ROOM - 8));
	EXPECT_EQ(0, finish(self->fd[0], 0));

	/* The next one in the slot has no label. */
	op.label_len = 0;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd[0], op)));
	ASSERT_EQ(1, get_requests(self->control, &seen, 1, 1));
	EXPECT_EQ(0, seen.info.label_len);
	EXPECT_EQ(0, seen.label[0]);
}

TEST_F(view, labels_cut_by_who_looks)
{
	static const char label[] = "abcdefghijklmnop";
	struct kapf_op op = request(0, self->schema);
	struct kapf_get_requests get = {
		.size = sizeof(get),
		.request_size = sizeof(struct kapf_request_info),
		.nr = 1,
	};
	struct seen seen;
	__u32 room;

	op.label = (uintptr_t)label;
	op.label_len = 16;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd[0], op)));
	get.requests = (uintptr_t)&seen;
	for (room = 0; room <= 16; room += 8) {
		memset(&seen, 0x5a, sizeof(seen));
		get.label_bytes = room;
		get.session = 0;
		get.slot = 0;
		get.nr = 1;
		ASSERT_EQ(0, call(self->control, KAPF_GET_REQUESTS, &get));
		ASSERT_EQ(1, get.nr);
		EXPECT_EQ(room, seen.info.label_len);
		EXPECT_EQ(0, memcmp(label, seen.label, room));
		EXPECT_EQ(0x5a, seen.label[room]);
	}
}

/* Sessions */

TEST_F(view, sessions_in_pieces)
{
	struct kapf_session_info info[3];
	struct kapf_get_sessions get = {
		.size = sizeof(get),
		.session_size = sizeof(info[0]),
	};
	__u32 step, nr;

	for (step = 1; step <= 3; step++) {
		memset(info, 0xff, sizeof(info));
		get.cursor = 0;
		for (nr = 0; nr < 3; nr += get.nr) {
			get.nr = step < 3 - nr ? step : 3 - nr;
			get.sessions = (uintptr_t)(info + nr);
			ASSERT_EQ(0, call(self->control, KAPF_GET_SESSIONS,
					  &get));
			if (!get.nr)
				break;
		}
		ASSERT_EQ(2, nr);
		EXPECT_EQ(self->session[0], info[0].session);
		EXPECT_EQ(self->session[1], info[1].session);
		EXPECT_STREQ("server-0", info[0].server);
		EXPECT_STREQ("server-1", info[1].server);
	}
}

/* The first session has one that lingers, one that executes, one that waits. */
static void one_of_each(struct _test_data_view *self, struct waiter *waiter)
{
	struct kapf_op op = request(2, self->schema);

	op.initial_seats = 2;
	op.additional_latency = 10 * NSEC_PER_SEC;
	if (KAPF_VERDICT(admit_op(self->fd[0], op)) != KAPF_EXECUTE ||
	    finish(self->fd[0], 2) != 10000 ||
	    admit(self->fd[0], 3, self->schema) != KAPF_EXECUTE)
		die("the level is not empty");
	waiter_start(waiter, self->fd[0], request(4, self->schema));
	if (!await_waiting(self->control, 1))
		die("a request does not wait");
}

TEST_F(view, session_in_detail)
{
	struct kapf_session_info info[2];
	struct kapf_get_sessions get = {
		.size = sizeof(get),
		.session_size = sizeof(info[0]),
		.nr = 2,
		.sessions = (uintptr_t)info,
	};
	struct waiter waiter;

	one_of_each(self, &waiter);
	ASSERT_EQ(0, call(self->control, KAPF_GET_SESSIONS, &get));
	ASSERT_EQ(2, get.nr);
	EXPECT_EQ(getpid(), info[0].pid);
	EXPECT_EQ(0, info[0].uid);
	EXPECT_EQ(8, info[0].slots);
	EXPECT_EQ(1, info[0].waiting_requests);
	EXPECT_EQ(1, info[0].executing_requests);
	EXPECT_EQ(1, info[0].lingering_requests);
	EXPECT_EQ(3, info[0].seats_in_use);
	EXPECT_EQ(0, info[0].reserved);
	EXPECT_GE(self->attached + NSEC_PER_MSEC, info[0].attached);
	EXPECT_LE(self->attached - 10 * NSEC_PER_SEC, info[0].attached);
	EXPECT_EQ(0, info[1].executing_requests);
	EXPECT_EQ(0, info[1].seats_in_use);
	EXPECT_EQ(0, finish(self->fd[0], 3));
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&waiter));
}

/* The value of @key in /proc/self/fdinfo; -1: it is not there. */
static long value_of(int fd, const char *key)
{
	char path[64], line[256];
	long value = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "re");
	if (!file)
		die(path);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, key, strlen(key)) &&
		    line[strlen(key)] == ':')
			value = strtol(line + strlen(key) + 1, NULL, 10);
	fclose(file);
	return value;
}

TEST_F(view, session_in_fdinfo)
{
	int fresh = open_node(SUBMIT_NODE, O_RDWR);
	struct waiter waiter;

	one_of_each(self, &waiter);
	EXPECT_EQ(self->session[0], value_of(self->fd[0], "kapf-session"));
	EXPECT_EQ(getpid(), value_of(self->fd[0], "kapf-pid"));
	EXPECT_EQ(8, value_of(self->fd[0], "kapf-slots"));
	EXPECT_EQ(1, value_of(self->fd[0], "kapf-waiting"));
	EXPECT_EQ(1, value_of(self->fd[0], "kapf-executing"));
	EXPECT_EQ(1, value_of(self->fd[0], "kapf-lingering"));
	EXPECT_EQ(3, value_of(self->fd[0], "kapf-seats-in-use"));
	EXPECT_EQ(0, value_of(self->fd[1], "kapf-executing"));
	EXPECT_EQ(-1, value_of(fresh, "kapf-session"));
	EXPECT_EQ(0, finish(self->fd[0], 3));
	EXPECT_EQ(KAPF_EXECUTE, waiter_join(&waiter));
}

/* Statistics */

TEST_F(view, statistics_that_do_not_fit_are_left_out)
{
	struct kapf_level_stats levels[4];
	struct kapf_schema_stats schemas[4];
	struct kapf_get_stats get = {
		.size = sizeof(get),
		.level_size = sizeof(levels[0]),
		.schema_size = sizeof(schemas[0]),
		.levels = (uintptr_t)levels,
		.schemas = (uintptr_t)schemas,
	};
	__u32 room;
	__u64 before = now_ns();

	for (room = 0; room <= 4; room++) {
		memset(levels, 0xff, sizeof(levels));
		memset(schemas, 0xff, sizeof(schemas));
		get.nr_levels = room;
		get.nr_schemas = room;
		ASSERT_EQ(0, call(self->control, KAPF_GET_STATS, &get));
		EXPECT_EQ(3, get.nr_levels);
		EXPECT_EQ(3, get.nr_schemas);
		EXPECT_EQ(8, get.server_seats);
		EXPECT_EQ(2, get.nr_sessions);
		EXPECT_EQ(generation(self->control), get.generation);
		EXPECT_LE(before, get.time);
		EXPECT_GE(now_ns(), get.time);
		if (room < 4) {
			EXPECT_EQ(~0u, levels[room].id);
			EXPECT_EQ(~0u, schemas[room].id);
		}
	}
	/* In the order of the configuration. */
	EXPECT_STREQ("exempt", levels[0].name);
	EXPECT_STREQ("catch-all", levels[1].name);
	EXPECT_STREQ("test", levels[2].name);
	EXPECT_EQ(self->schema, schemas[2].id);
	EXPECT_EQ(levels[2].id, schemas[2].level);
	EXPECT_EQ(4, levels[2].queues);
	EXPECT_EQ(KAPF_LEVEL_QUEUE, levels[2].type);
	EXPECT_EQ(3, levels[2].nominal_seats);
	EXPECT_EQ(3, levels[2].current_seats);
}

TEST_F(view, statistics_of_schemas)
{
	struct kapf_schema_stats one, two;
	struct waiter waiter;
	struct image image;
	__u32 other, loose;
	struct kapf_op op;

	image_init(&image);
	image_queues(&image, "test", 3, 1, 1, 1);
	image_schema(&image, "test", 100, "test", "[]");
	image_schema(&image, "other", 200, "test", "[]");
	image_schema(&image, "loose", 300, "nowhere", "[]");
	set_up(self->control, &image);
	image_free(&image);
	self->schema = schema_id(self->control, "test");
	other = schema_id(self->control, "other");
	loose = schema_id(self->control, "loose");

	op = request(0, self->schema);
	op.initial_seats = 2;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd[0], op)));
	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd[0], 1, other));
	op = request(2, other);
	op.initial_seats = 3;
	op.max_wait = 1500 * NSEC_PER_MSEC;
	waiter_start(&waiter, self->fd[0], op);
	ASSERT_TRUE(await_waiting(self->control, 1));
	ASSERT_EQ(KAPF_QUEUE_FULL, admit(self->fd[0], 3, self->schema));
	one = schema_stats(self->control, self->schema);
	two = schema_stats(self->control, other);
	EXPECT_EQ(1, one.executing_requests);
	EXPECT_EQ(2, one.seats_in_use);
	EXPECT_EQ(0, one.waiting_requests);
	EXPECT_EQ(1, one.dispatched);
	EXPECT_EQ(1, one.rejected_queue_full);
	EXPECT_EQ(1, two.executing_requests);
	EXPECT_EQ(1, two.seats_in_use);
	EXPECT_EQ(1, two.waiting_requests);
	EXPECT_EQ(3, two.waiting_seats);
	EXPECT_EQ(0, two.rejected_queue_full);
	EXPECT_EQ(KAPF_TIME_OUT, waiter_join(&waiter));
	two = schema_stats(self->control, other);
	EXPECT_EQ(0, two.waiting_requests);
	EXPECT_EQ(0, two.waiting_seats);
	EXPECT_EQ(1, two.rejected_time_out);
	EXPECT_EQ(0, schema_stats(self->control, loose).level);
	EXPECT_EQ(0, finish(self->fd[0], 0));
	EXPECT_EQ(0, finish(self->fd[0], 1));
	EXPECT_EQ(0, schema_stats(self->control, other).seats_in_use);
	EXPECT_EQ(1, schema_stats(self->control, other).dispatched);
}

/* Permissions */

TEST_F(view, modes_of_the_nodes)
{
	struct stat st;

	ASSERT_EQ(0, stat(SUBMIT_NODE, &st));
	EXPECT_EQ(S_IFCHR | 0660, st.st_mode);
	EXPECT_EQ(0, st.st_uid);
	EXPECT_EQ(0, st.st_gid);
	ASSERT_EQ(0, stat(CONTROL_NODE, &st));
	EXPECT_EQ(S_IFCHR | 0600, st.st_mode);
	EXPECT_EQ(0, st.st_uid);
	EXPECT_EQ(0, st.st_gid);
}

/* What nobody can do with the nodes, and with a submit node from root. */
static int live_as_nobody(struct _test_data_view *self, int fd)
{
	struct kapf_get_stats stats = { .size = sizeof(stats) };
	struct seen seen[4];

	if (setgid(65534) || setuid(65534))
		return 1;
	if (open(SUBMIT_NODE, O_RDWR) >= 0 || errno != EACCES)
		return 2;
	if (open(CONTROL_NODE, O_RDONLY) >= 0 || errno != EACCES)
		return 3;
	if (attach(fd, 1, 0) || admit(fd, 0, self->schema) != KAPF_EXECUTE)
		return 4;
	if (get_requests(fd, seen, 4, 4) != 1)
		return 5;
	if (call(fd, KAPF_GET_STATS, &stats) != -ENOTTY)
		return 6;
	return finish(fd, 0) ? 7 : 0;
}

TEST_F(view, another_user_with_the_submit_node)
{
	int fd = open_node(SUBMIT_NODE, O_RDWR);
	int status;
	pid_t pid;

	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd[0], 0, self->schema));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(live_as_nobody(self, fd));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFEXITED(status));
	EXPECT_EQ(0, WEXITSTATUS(status));
	close(fd);
}

/* A control node that was opened for reading may be used by whoever has it. */
TEST_F(view, another_user_with_the_control_node)
{
	int control = open_node(CONTROL_NODE, O_RDONLY);
	struct kapf_session_info info;
	struct kapf_get_sessions get = {
		.size = sizeof(get), .session_size = sizeof(info), .nr = 1,
		.sessions = (uintptr_t)&info,
	};
	struct seen seen[4];
	int status;
	pid_t pid;

	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd[0], 0, self->schema));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		if (setgid(65534) || setuid(65534) ||
		    get_requests(control, seen, 4, 4) != 1)
			_exit(1);
		if (call(control, KAPF_GET_SESSIONS, &get) || get.nr != 1)
			_exit(2);
		_exit(seats_in_use(control, "test") == 1 ? 0 : 3);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFEXITED(status));
	EXPECT_EQ(0, WEXITSTATUS(status));
	close(control);
}

TEST_HARNESS_MAIN
