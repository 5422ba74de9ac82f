// SPDX-License-Identifier: GPL-2.0
/*
 * The manners of the interface, call by call: memory that may not be used,
 * structures of other sizes, reserved fields, numbers just outside their range,
 * and calls that a node does not know.  Whatever is refused changes nothing.
 */
#include <stddef.h>

#include "kapf_test.h"

/* Calls whose argument begins with its size, one row for each node. */
static const struct sized_call {
	const char *name;
	unsigned long cmd;
	__u32 size;
	bool control;
	__u32 reserved;	/* offset of a field that must be zero; 0: none */
} calls[] = {
	{ "GET_INFO", KAPF_GET_INFO, sizeof(struct kapf_info), false,
	  offsetof(struct kapf_info, reserved) },
	{ "GET_INFO", KAPF_GET_INFO, sizeof(struct kapf_info), true,
	  offsetof(struct kapf_info, reserved) },
	{ "ATTACH", KAPF_ATTACH, sizeof(struct kapf_attach), false,
	  offsetof(struct kapf_attach, reserved) },
	{ "GET_CONFIG", KAPF_GET_CONFIG, sizeof(struct kapf_get_config), false,
	  0 },
	{ "GET_CONFIG", KAPF_GET_CONFIG, sizeof(struct kapf_get_config), true,
	  0 },
	{ "SET_CONFIG", KAPF_SET_CONFIG, sizeof(struct kapf_set_config), true,
	  0 },
	{ "SET_MODE", KAPF_SET_MODE, sizeof(struct kapf_set_mode), true, 0 },
	{ "GET_STATS", KAPF_GET_STATS, sizeof(struct kapf_get_stats), true,
	  offsetof(struct kapf_get_stats, reserved) },
	{ "GET_REQUESTS", KAPF_GET_REQUESTS, sizeof(struct kapf_get_requests),
	  false, offsetof(struct kapf_get_requests, reserved) },
	{ "GET_REQUESTS", KAPF_GET_REQUESTS, sizeof(struct kapf_get_requests),
	  true, offsetof(struct kapf_get_requests, reserved) },
	{ "GET_SESSIONS", KAPF_GET_SESSIONS, sizeof(struct kapf_get_sessions),
	  true, offsetof(struct kapf_get_sessions, reserved) },
	{ "GET_QUEUES", KAPF_GET_QUEUES, sizeof(struct kapf_get_queues), true,
	  offsetof(struct kapf_get_queues, reserved) },
	{ "EVICT", KAPF_EVICT, sizeof(struct kapf_evict), true,
	  offsetof(struct kapf_evict, reserved) },
	{ "GET_HISTOGRAMS", KAPF_GET_HISTOGRAMS,
	  sizeof(struct kapf_get_histograms), true,
	  offsetof(struct kapf_get_histograms, reserved) },
	{ "SUBMIT", KAPF_SUBMIT, sizeof(struct kapf_submit), false, 0 },
};

FIXTURE(abi) {
	int control;
	int fd;		/* submit node, attached */
	int fresh;	/* submit node, for ATTACH and EVICT */
	char *page;	/* readable, writable, and nothing behind it */
	char *image;	/* a good one */
	size_t image_len;
	char room[1 << 16];
};

FIXTURE_SETUP(abi)
{
	self->control = open_node(CONTROL_NODE, O_RDWR);
	set_up_reject(self->control, 100);
	self->fd = open_session(4);
	self->fresh = open_node(SUBMIT_NODE, O_RDWR);
	self->image = get_image(self->control, &self->image_len);
	self->page = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->page);
	ASSERT_EQ(0, munmap(self->page + 4096, 4096));
}

FIXTURE_TEARDOWN(abi)
{
	free(self->image);
	close(self->fresh);
	close(self->fd);
	close(self->control);
}

/* A good argument for @call, as the node of self takes it. */
static void fill(const struct sized_call *call, struct _test_data_abi *self,
		 void *arg)
{
	*(__u32 *)arg = call->size;
	if (call->cmd == KAPF_ATTACH) {
		((struct kapf_attach *)arg)->slots = 1;
		((struct kapf_attach *)arg)->server[0] = 'a';
	} else if (call->cmd == KAPF_GET_CONFIG) {
		((struct kapf_get_config *)arg)->image = (uintptr_t)self->room;
		((struct kapf_get_config *)arg)->image_len = sizeof(self->room);
	} else if (call->cmd == KAPF_SET_CONFIG) {
		struct kapf_set_config *set = arg;

		set->image = (uintptr_t)self->image;
		set->image_len = self->image_len;
		set->generation = generation(self->control);
	} else if (call->cmd == KAPF_SET_MODE) {
		((struct kapf_set_mode *)arg)->mode = KAPF_MODE_ENFORCE;
	} else if (call->cmd == KAPF_GET_STATS) {
		((struct kapf_get_stats *)arg)->level_size =
			sizeof(struct kapf_level_stats);
		((struct kapf_get_stats *)arg)->schema_size =
			sizeof(struct kapf_schema_stats);
	} else if (call->cmd == KAPF_GET_REQUESTS) {
		((struct kapf_get_requests *)arg)->request_size =
			sizeof(struct kapf_request_info);
	} else if (call->cmd == KAPF_GET_SESSIONS) {
		((struct kapf_get_sessions *)arg)->session_size =
			sizeof(struct kapf_session_info);
	} else if (call->cmd == KAPF_GET_QUEUES) {
		((struct kapf_get_queues *)arg)->queue_size =
			sizeof(struct kapf_queue_info);
	} else if (call->cmd == KAPF_EVICT) {
		close(self->fresh);
		self->fresh = open_session(1);
		((struct kapf_evict *)arg)->session =
			last_session(self->control);
	} else if (call->cmd == KAPF_GET_HISTOGRAMS) {
		((struct kapf_get_histograms *)arg)->histogram_size =
			sizeof(struct kapf_histogram_info);
	} else if (call->cmd == KAPF_SUBMIT) {
		((struct kapf_submit *)arg)->op_size = sizeof(struct kapf_op);
		((struct kapf_submit *)arg)->event_size =
			sizeof(struct kapf_event);
	}
}

/* Put a good argument into @buf; returns the node to make the call on. */
static int prepare(struct _test_data_abi *self, const struct sized_call *call,
		   void *buf, size_t size)
{
	memset(buf, 0, size);
	fill(call, self, buf);
	if (call->control)
		return self->control;
	if (call->cmd != KAPF_ATTACH)
		return self->fd;
	close(self->fresh);
	self->fresh = open_node(SUBMIT_NODE, O_RDWR);
	return self->fresh;
}

#define END_OF_CALLS (calls + ARRAY_SIZE(calls))

TEST_F(abi, good_arguments)
{
	const struct sized_call *row;
	char buf[256];
	int fd;

	for (row = calls; row < END_OF_CALLS; row++) {
		fd = prepare(self, row, buf, sizeof(buf));
		EXPECT_EQ(0, call(fd, row->cmd, buf)) {
			TH_LOG("%s", row->name);
		}
	}
}

TEST_F(abi, bad_pointers)
{
	void *const bad[] = {
		NULL, (void *)16, self->page + 4096, (void *)-1L,
		(void *)-4096L, (void *)(1UL << 63), (void *)(1UL << 47),
	};
	const struct sized_call *row;
	char buf[256];
	size_t i;
	int fd;

	for (row = calls; row < END_OF_CALLS; row++) {
		fd = prepare(self, row, buf, sizeof(buf));
		for (i = 0; i < ARRAY_SIZE(bad); i++) {
			EXPECT_EQ(-EFAULT, call(fd, row->cmd, bad[i])) {
				TH_LOG("%s at %p", row->name, bad[i]);
			}
		}
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		EXPECT_EQ(-EFAULT, call(self->fd, KAPF_ADMIT, bad[i]));
	EXPECT_EQ(-ENOENT, finish(self->fd, 0));
}

/* The structure begins on the page, and ends where nothing is. */
TEST_F(abi, half_mapped)
{
	const struct sized_call *row;
	struct kapf_op op = request(0, schema_id(self->control, "test"));
	char buf[256];
	__u32 cut;
	int fd;

	for (row = calls; row < END_OF_CALLS; row++) {
		fd = prepare(self, row, buf, sizeof(buf));
		for (cut = 4; cut < row->size; cut += 4) {
			memcpy(self->page + 4096 - cut, buf, cut);
			EXPECT_EQ(-EFAULT, call(fd, row->cmd,
						self->page + 4096 - cut)) {
				TH_LOG("%s after %u bytes", row->name, cut);
			}
		}
	}
	for (cut = 1; cut < sizeof(op); cut++) {
		memcpy(self->page + 4096 - cut, &op, cut);
		EXPECT_EQ(-EFAULT, call(self->fd, KAPF_ADMIT,
					self->page + 4096 - cut));
	}
	EXPECT_EQ(-ENOENT, finish(self->fd, 0));
	EXPECT_EQ(0, seats_in_use(self->control, "test"));
	memcpy(self->page + 4096 - sizeof(op), &op, sizeof(op));
	EXPECT_EQ(KAPF_EXECUTE,
		  KAPF_VERDICT(call(self->fd, KAPF_ADMIT,
				    self->page + 4096 - sizeof(op))));
}

TEST_F(abi, read_only_memory)
{
	const struct sized_call *row;
	struct kapf_op op = request(0, schema_id(self->control, "test"));
	char buf[256];
	int fd;

	for (row = calls; row < END_OF_CALLS; row++) {
		fd = prepare(self, row, buf, sizeof(buf));
		mprotect(self->page, 4096, PROT_READ | PROT_WRITE);
		memcpy(self->page, buf, sizeof(buf));
		mprotect(self->page, 4096, PROT_READ);
		EXPECT_EQ(-EFAULT, call(fd, row->cmd, self->page)) {
			TH_LOG("%s", row->name);
		}
		/* An ATTACH that cannot say its number has not happened. */
		if (row->cmd == KAPF_ATTACH)
			EXPECT_EQ(0, call(fd, row->cmd, buf));
	}
	/* ADMIT writes nothing. */
	mprotect(self->page, 4096, PROT_READ | PROT_WRITE);
	memcpy(self->page, &op, sizeof(op));
	mprotect(self->page, 4096, PROT_READ);
	EXPECT_EQ(KAPF_EXECUTE,
		  KAPF_VERDICT(call(self->fd, KAPF_ADMIT, self->page)));
}

/* What a structure points to cannot be written, or read. */
TEST_F(abi, memory_pointed_to)
{
	struct kapf_get_config get = {
		.size = sizeof(get), .image_len = sizeof(self->room),
	};
	struct kapf_set_config set = {
		.size = sizeof(set), .image_len = self->image_len,
		.generation = generation(self->control),
	};
	struct kapf_get_stats stats = {
		.size = sizeof(stats), .nr_levels = 1,
		.level_size = sizeof(struct kapf_level_stats),
		.schema_size = sizeof(struct kapf_schema_stats),
	};
	struct kapf_get_requests requests = {
		.size = sizeof(requests), .nr = 1,
		.request_size = sizeof(struct kapf_request_info),
	}, again;
	struct kapf_get_sessions sessions = {
		.size = sizeof(sessions), .nr = 1,
		.session_size = sizeof(struct kapf_session_info),
	};
	__u64 bad[] = { 0, (uintptr_t)self->page + 4096,
			(uintptr_t)self->page + 4096 - 8,
			(uintptr_t)self->page, ~0ULL - 4095 };
	size_t i;

	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 0,
				      schema_id(self->control, "test")));
	mprotect(self->page, 4096, PROT_READ);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		get.image = bad[i];
		EXPECT_EQ(-EFAULT, call(self->fd, KAPF_GET_CONFIG, &get));
		EXPECT_EQ(-EFAULT, call(self->control, KAPF_GET_CONFIG, &get));
		stats.levels = bad[i];
		EXPECT_EQ(-EFAULT, call(self->control, KAPF_GET_STATS, &stats));
		stats.levels = 0;
		stats.nr_levels = 0;
		stats.schemas = bad[i];
		stats.nr_schemas = 1;
		EXPECT_EQ(-EFAULT, call(self->control, KAPF_GET_STATS, &stats));
		stats.nr_levels = 1;
		stats.nr_schemas = 0;
		requests.requests = bad[i];
		again = requests;
		EXPECT_EQ(-EFAULT, call(self->fd, KAPF_GET_REQUESTS, &again));
		again = requests;
		EXPECT_EQ(-EFAULT, call(self->control, KAPF_GET_REQUESTS,
					&again));
		sessions.sessions = bad[i];
		sessions.cursor = 0;
		sessions.nr = 1;
		EXPECT_EQ(-EFAULT, call(self->control, KAPF_GET_SESSIONS,
					&sessions));
	}
	EXPECT_EQ(0, finish(self->fd, 0));
	for (i = 0; i < 3; i++) {
		set.image = bad[i];
		EXPECT_EQ(-EFAULT, call(self->control, KAPF_SET_CONFIG, &set));
	}
	EXPECT_EQ(set.generation, generation(self->control));
}

TEST_F(abi, size_too_small)
{
	const __u32 off[] = { 1, 4, 8 };
	const struct sized_call *row;
	char buf[256];
	size_t i;
	int fd;

	for (row = calls; row < END_OF_CALLS; row++) {
		fd = prepare(self, row, buf, sizeof(buf));
		for (i = 0; i < ARRAY_SIZE(off); i++) {
			*(__u32 *)buf = row->size - off[i];
			EXPECT_EQ(-EINVAL, call(fd, row->cmd, buf)) {
				TH_LOG("%s %u", row->name, *(__u32 *)buf);
			}
		}
		for (i = 0; i < 5; i++) {
			*(__u32 *)buf = i;
			EXPECT_EQ(-EINVAL, call(fd, row->cmd, buf));
		}
	}
}

TEST_F(abi, size_larger)
{
	const struct sized_call *row;
	char buf[512];
	int fd;

	for (row = calls; row < END_OF_CALLS; row++) {
		fd = prepare(self, row, buf, sizeof(buf));
		*(__u32 *)buf = sizeof(buf);
		buf[row->size] = 1;
		EXPECT_EQ(-E2BIG, call(fd, row->cmd, buf)) {
			TH_LOG("%s", row->name);
		}
		buf[row->size] = 0;
		buf[sizeof(buf) - 1] = 1;
		EXPECT_EQ(-E2BIG, call(fd, row->cmd, buf));
		buf[sizeof(buf) - 1] = 0;
		EXPECT_EQ(0, call(fd, row->cmd, buf)) {
			TH_LOG("%s", row->name);
		}
	}
}

TEST_F(abi, size_beyond_memory)
{
	const struct sized_call *row;
	char buf[256];
	int fd, ret;

	for (row = calls; row < END_OF_CALLS; row++) {
		fd = prepare(self, row, buf, sizeof(buf));
		memcpy(self->page + 4096 - row->size, buf, row->size);
		*(__u32 *)(self->page + 4096 - row->size) = row->size + 1;
		EXPECT_EQ(-EFAULT, call(fd, row->cmd,
					self->page + 4096 - row->size));
		*(__u32 *)(self->page + 4096 - row->size) = ~0u;
		ret = call(fd, row->cmd, self->page + 4096 - row->size);
		EXPECT_TRUE(ret == -EFAULT || ret == -E2BIG);
	}
}

TEST_F(abi, reserved_fields)
{
	const struct sized_call *row;
	char buf[256];
	int fd;

	for (row = calls; row < END_OF_CALLS; row++) {
		fd = prepare(self, row, buf, sizeof(buf));
		if (!row->reserved)
			continue;
		*(__u32 *)(buf + row->reserved) = 1;
		EXPECT_EQ(-EINVAL, call(fd, row->cmd, buf)) {
			TH_LOG("%s", row->name);
		}
		*(__u32 *)(buf + row->reserved) = 0x80000000;
		EXPECT_EQ(-EINVAL, call(fd, row->cmd, buf));
		*(__u32 *)(buf + row->reserved) = 0;
		EXPECT_EQ(0, call(fd, row->cmd, buf));
	}
}

TEST_F(abi, element_sizes)
{
	struct kapf_get_stats stats = {
		.size = sizeof(stats),
		.level_size = sizeof(struct kapf_level_stats),
		.schema_size = sizeof(struct kapf_schema_stats) - 8,
	};
	struct kapf_get_requests requests = {
		.size = sizeof(requests),
		.request_size = sizeof(struct kapf_request_info) - 8,
	};
	struct kapf_get_sessions sessions = {
		.size = sizeof(sessions),
		.session_size = sizeof(struct kapf_session_info) - 8,
	};
	struct kapf_get_queues queues = {
		.size = sizeof(queues),
		.queue_size = sizeof(struct kapf_queue_info) - 8,
	};
	const __u32 bad[] = { 1, 4, 7, 12, KAPF_MAX_LABEL_BYTES + 8, ~0u - 7 };
	size_t i;

	EXPECT_EQ(-EINVAL, call(self->control, KAPF_GET_STATS, &stats));
	stats.schema_size += 8;
	stats.level_size -= 8;
	EXPECT_EQ(-EINVAL, call(self->control, KAPF_GET_STATS, &stats));
	stats.level_size = 0;
	EXPECT_EQ(-EINVAL, call(self->control, KAPF_GET_STATS, &stats));
	EXPECT_EQ(-EINVAL, call(self->control, KAPF_GET_REQUESTS, &requests));
	EXPECT_EQ(-EINVAL, call(self->fd, KAPF_GET_REQUESTS, &requests));
	requests.request_size += 8;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		requests.label_bytes = bad[i];
		EXPECT_EQ(-EINVAL, call(self->control, KAPF_GET_REQUESTS,
					&requests));
	}
	EXPECT_EQ(-EINVAL, call(self->control, KAPF_GET_SESSIONS, &sessions));
	EXPECT_EQ(-EINVAL, call(self->control, KAPF_GET_QUEUES, &queues));

	/* Up to 64 KiB, and no longer. */
	queues.queue_size = 65536;
	EXPECT_EQ(0, call(self->control, KAPF_GET_QUEUES, &queues));
	queues.queue_size += 8;
	EXPECT_EQ(-EINVAL, call(self->control, KAPF_GET_QUEUES, &queues));
	sessions.session_size = 65536;
	requests.label_bytes = 0;
	requests.request_size = 65536;
	stats.level_size = 65536;
	stats.schema_size = 65536;
	EXPECT_EQ(0, call(self->control, KAPF_GET_SESSIONS, &sessions));
	EXPECT_EQ(0, call(self->control, KAPF_GET_REQUESTS, &requests));
	EXPECT_EQ(0, call(self->control, KAPF_GET_STATS, &stats));
	sessions.session_size += 8;
	requests.request_size += 8;
	stats.level_size += 8;
	EXPECT_EQ(-EINVAL, call(self->control, KAPF_GET_SESSIONS, &sessions));
	EXPECT_EQ(-EINVAL, call(self->control, KAPF_GET_REQUESTS, &requests));
	EXPECT_EQ(-EINVAL, call(self->control, KAPF_GET_STATS, &stats));
	stats.level_size -= 8;
	stats.schema_size += 8;
	EXPECT_EQ(-EINVAL, call(self->control, KAPF_GET_STATS, &stats));
}

/* Calls that a node does not know */

TEST_F(abi, calls_of_the_other_node)
{
	const struct sized_call *row;
	char buf[256];

	for (row = calls; row < END_OF_CALLS; row++) {
		prepare(self, row, buf, sizeof(buf));
		if (row->cmd == KAPF_ATTACH)
			EXPECT_EQ(-ENOTTY, call(self->control, row->cmd, buf));
		if (row->cmd == KAPF_SET_CONFIG ||
		    row->cmd == KAPF_SET_MODE || row->cmd == KAPF_EVICT ||
		    row->cmd == KAPF_GET_STATS || row->cmd == KAPF_GET_SESSIONS)
			EXPECT_EQ(-ENOTTY, call(self->fd, row->cmd, buf));
	}
	EXPECT_EQ(-ENOTTY, admit(self->control, 0, 1));
	EXPECT_EQ(-ENOTTY, finish(self->control, 0));
}

TEST_F(abi, unknown_calls)
{
	const unsigned long known[] = {
		KAPF_GET_INFO, KAPF_ATTACH, KAPF_FINISH, KAPF_CANCEL,
		KAPF_SUBMIT, KAPF_GET_CONFIG, KAPF_SET_CONFIG, KAPF_SET_MODE,
		KAPF_GET_STATS, KAPF_GET_REQUESTS, KAPF_GET_SESSIONS,
		KAPF_GET_QUEUES, KAPF_EVICT,
		KAPF_SUBMIT, KAPF_GET_CONFIG, KAPF_SET_CONFIG, KAPF_GET_STATS,
		KAPF_GET_REQUESTS, KAPF_GET_SESSIONS, KAPF_GET_QUEUES,
		KAPF_GET_HISTOGRAMS,
	};
	struct kapf_op op = request(0, schema_id(self->control, "test"));
	char buf[256] = "";
	unsigned long cmd;
	size_t nr, i;

	for (nr = 0; nr < 256; nr++) {
		cmd = _IO(KAPF_IOC_TYPE, nr);
		for (i = 0; i < ARRAY_SIZE(known) && known[i] != cmd; i++)
			;
		if (i < ARRAY_SIZE(known))
			continue;
		EXPECT_EQ(-ENOTTY, call(self->fd, cmd, buf));
		EXPECT_EQ(-ENOTTY, call(self->control, cmd, buf));
	}
	EXPECT_EQ(-ENOTTY, call(self->fd, _IO(0x12, 0x00), buf));
	/* An op of another size is not taken for one of this. */
	for (i = 0; i < 128; i += 8)
		if (i != sizeof(op))
			EXPECT_EQ(-ENOTTY, call(self->fd, _IOC(_IOC_WRITE,
							       KAPF_IOC_TYPE,
							       0x02, i), &op));
	EXPECT_EQ(0, seats_in_use(self->control, "test"));
}

TEST_F(abi, no_read_no_write_no_map)
{
	const int fds[] = { self->fd, self->control };
	char byte = 0;
	size_t i;

	EXPECT_EQ(-1, read(self->control, &byte, 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, write(self->control, &byte, 1));
	EXPECT_EQ(EINVAL, errno);
	for (i = 0; i < ARRAY_SIZE(fds); i++) {
		EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ, MAP_SHARED,
					   fds[i], 0));
		EXPECT_EQ(ENODEV, errno);
	}
}

/* The fields of ADMIT */

/* ADMIT with @field set to @value. */
#define ADMIT_WITH(field, value) ({					\
	struct kapf_op op__ = request(0, schema);			\
	int ret__;							\
									\
	op__.field = (value);						\
	ret__ = admit_op(self->fd, op__);				\
	ret__ < 0 ? ret__ : KAPF_VERDICT(ret__);			\
})

#define EXPECT_BAD(field, value)					\
	EXPECT_EQ(-EINVAL, ADMIT_WITH(field, value))

#define EXPECT_GOOD(field, value) do {					\
	EXPECT_EQ(KAPF_EXECUTE, ADMIT_WITH(field, value));		\
	EXPECT_EQ(0, finish(self->fd, 0));				\
} while (0)

TEST_F(abi, fields_of_admit)
{
	__u32 schema = schema_id(self->control, "test");

	EXPECT_BAD(opcode, 0);
	EXPECT_BAD(opcode, KAPF_OP_FINISH);
	EXPECT_BAD(opcode, KAPF_OP_CANCEL);
	EXPECT_BAD(opcode, 255);
	EXPECT_BAD(flags, 1 << 4);
	EXPECT_BAD(flags, 1 << 5);
	EXPECT_BAD(flags, 1 << 6);
	EXPECT_BAD(flags, 1 << 7);
	EXPECT_BAD(flags, 0xff);
	EXPECT_BAD(initial_seats, 0);
	EXPECT_BAD(initial_seats, KAPF_MAX_WIDTH + 1);
	EXPECT_BAD(initial_seats, 0xffff);
	EXPECT_BAD(final_seats, KAPF_MAX_WIDTH + 1);
	EXPECT_BAD(final_seats, 0xffff);
	EXPECT_BAD(slot, 4);
	EXPECT_BAD(slot, ~0u);
	EXPECT_BAD(parent, 1);
	EXPECT_BAD(parent, 1u << 31);
	EXPECT_BAD(additional_latency, KAPF_MAX_ADDITIONAL_LATENCY_NS + 1);
	EXPECT_BAD(additional_latency, ~0ULL);
	EXPECT_BAD(max_wait, KAPF_MAX_WAIT_NS + 1);
	EXPECT_BAD(max_wait, ~0ULL);
	EXPECT_EQ(-ENOENT, finish(self->fd, 0));
	EXPECT_EQ(0, level_stats(self->control, "test").dispatched);

	EXPECT_GOOD(flags, KAPF_OP_MUTATING | KAPF_OP_WATCH | KAPF_OP_NOWAIT |
		    KAPF_OP_NOQUEUE);
	EXPECT_GOOD(initial_seats, KAPF_MAX_WIDTH);
	EXPECT_GOOD(final_seats, KAPF_MAX_WIDTH);
	EXPECT_GOOD(max_wait, KAPF_MAX_WAIT_NS);
	EXPECT_GOOD(max_wait, 1);
	EXPECT_GOOD(watch_count, 0);
	EXPECT_GOOD(watch_count, KAPF_WATCH_COUNT_UNKNOWN - 1);
	EXPECT_GOOD(flow_hash, ~0ULL);
	EXPECT_GOOD(label, ~0ULL);	/* not read, as label_len is 0 */
	EXPECT_GOOD(user_data, ~0ULL);
	EXPECT_EQ(KAPF_EXECUTE, ADMIT_WITH(additional_latency,
					   KAPF_MAX_ADDITIONAL_LATENCY_NS));
}

TEST_F(abi, memory_of_the_label)
{
	struct kapf_op op = request(0, schema_id(self->control, "test"));
	int fd = open_node(SUBMIT_NODE, O_RDWR);

	ASSERT_EQ(0, attach(fd, 1, 64));
	op.label_len = 64;
	op.label = (uintptr_t)self->page + 4096;
	EXPECT_EQ(-EFAULT, admit_op(fd, op));
	op.label = (uintptr_t)self->page + 4096 - 63;
	EXPECT_EQ(-EFAULT, admit_op(fd, op));
	op.label = 0;
	EXPECT_EQ(-EFAULT, admit_op(fd, op));
	EXPECT_EQ(-ENOENT, finish(fd, 0));
	EXPECT_EQ(0, seats_in_use(self->control, "test"));
	/* Only what there is room for is read. */
	op.label_len = 0xffff;
	op.label = (uintptr_t)self->page + 4096 - 64;
	EXPECT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(fd, op)));
	close(fd);
}

TEST_F(abi, slot_of_finish)
{
	const unsigned long slots[] = { 4, 0x7fffffff, 0xffffffff, 1UL << 32,
					(1UL << 32) + 1, ~0UL };
	size_t i;

	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 0,
				      schema_id(self->control, "test")));
	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 1,
				      schema_id(self->control, "test")));
	for (i = 0; i < ARRAY_SIZE(slots); i++) {
		EXPECT_EQ(-EINVAL, finish(self->fd, slots[i])) {
			TH_LOG("slot %#lx", slots[i]);
		}
	}
	EXPECT_EQ(2, seats_in_use(self->control, "test"));
}

TEST_HARNESS_MAIN
