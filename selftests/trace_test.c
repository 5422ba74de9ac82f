// SPDX-License-Identifier: GPL-2.0
/*
 * Seen from outside: the tracepoints of a request's life, of the end of a session
 * and of limits that move, and what the kernel's log says.
 */
#include <sys/mount.h>
#include <sys/stat.h>

#include "kapf_test.h"

#define TRACING "/sys/kernel/tracing"

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		die(path);
	close(fd);
}

FIXTURE(trace) {
	int control;
	int fd;
	int log;	/* the kernel's, from the test's begin on */
	__u32 schema;
	__u32 level;
	char text[1 << 16];
	char line[1024];
};

FIXTURE_SETUP(trace)
{
	self->control = open_node(CONTROL_NODE, O_RDWR);
	self->schema = set_up_queues(self->control, 2, 8, 1, 1);
	self->level = level_stats(self->control, "test").id;
	self->fd = open_session(8);
	if (access(TRACING "/events", F_OK))
		ASSERT_EQ(0, mount("tracefs", TRACING, "tracefs", 0, NULL));
	write_file(TRACING "/trace", "");
	write_file(TRACING "/events/kapf/enable", "1");
	/* It comes at any time. */
	write_file(TRACING "/events/kapf/kapf_adjust/enable", "0");
	self->log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ASSERT_LE(0, self->log);
	lseek(self->log, 0, SEEK_END);
}

FIXTURE_TEARDOWN(trace)
{
	write_file(TRACING "/events/kapf/enable", "0");
	close(self->log);
	close(self->fd);
	close(self->control);
}

/*
 * The next traced line from self->line's on, or from the beginning: the event's
 * name and what follows; NULL: there is none.
 */
static void read_trace(struct _test_data_trace *self)
{
	int fd = open(TRACING "/trace", O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t got;

	while ((got = read(fd, self->text + len,
			   sizeof(self->text) - 1 - len)) > 0)
		len += got;
	self->text[len] = '\0';
	close(fd);
}

/* Cut the first line with an event off @text. */
static const char *next_event(char **text)
{
	char *begin = strstr(*text, " kapf_");
	char *end;

	if (!begin)
		return "";
	end = strchr(begin, '\n');
	*end = '\0';
	*text = end + 1;
	return begin + 1;
}

/* The number behind @key= in @line. */
static long long field(const char *line, const char *key)
{
	char pattern[32];
	const char *at;

	snprintf(pattern, sizeof(pattern), " %s=", key);
	at = strstr(line, pattern);
	return at ? strtoll(at + strlen(pattern), NULL, 10) : -1000;
}

static bool is_event(struct _test_data_trace *self, const char *line,
		     const char *name, int slot, int queue, int seats)
{
	size_t len = strlen(name);

	if (!strncmp(line, name, len) && line[len] == ':' &&
	    field(line, "slot") == slot && field(line, "queue") == queue &&
	    field(line, "seats") == seats &&
	    field(line, "level") == self->level &&
	    field(line, "schema") == self->schema)
		return true;
	fprintf(stderr, "# %s: not a %s of slot %d, queue %d, %d seats\n",
		line, name, slot, queue, seats);
	return false;
}

#define EXPECT_EVENT(...) EXPECT_TRUE(is_event(self, __VA_ARGS__))

TEST_F(trace, life_of_a_request)
{
	struct kapf_op op = request(0, self->schema);
	const char *line;
	char *text;

	op.initial_seats = 2;
	op.flow_hash = 3;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	op = request(1, self->schema);
	op.flags = KAPF_OP_NOWAIT;
	op.flow_hash = 5;
	op.max_wait = 7 * NSEC_PER_SEC;
	op.additional_latency = 20 * NSEC_PER_MSEC;
	ASSERT_EQ(KAPF_QUEUED, KAPF_VERDICT(admit_op(self->fd, op)));
	sleep_ms(10);
	ASSERT_EQ(0, finish(self->fd, 0));
	ASSERT_EQ(1, read_event(self->fd).slot);
	ASSERT_EQ(20, finish(self->fd, 1));
	ASSERT_TRUE(await_lingering(self->control, 0));

	read_trace(self);
	text = self->text;
	line = next_event(&text);
	EXPECT_EVENT(line, "kapf_dispatch", 0, 3, 2);
	EXPECT_EQ(0, field(line, "ns"));
	line = next_event(&text);
	EXPECT_EVENT(line, "kapf_enqueue", 1, 5, 1);
	EXPECT_EQ(7 * NSEC_PER_SEC, field(line, "ns"));
	line = next_event(&text);
	EXPECT_EVENT(line, "kapf_finish", 0, 3, 2);
	EXPECT_LE(10 * NSEC_PER_MSEC, field(line, "ns"));
	line = next_event(&text);
	EXPECT_EVENT(line, "kapf_release", 0, 3, 2);
	EXPECT_LE(10 * NSEC_PER_MSEC, field(line, "ns"));
	line = next_event(&text);
	EXPECT_EVENT(line, "kapf_dispatch", 1, 5, 1);
	EXPECT_LE(10 * NSEC_PER_MSEC, field(line, "ns"));
	line = next_event(&text);
	EXPECT_EVENT(line, "kapf_finish", 1, 5, 1);
	line = next_event(&text);
	EXPECT_EVENT(line, "kapf_release", 1, 5, 1);
	EXPECT_LE(20 * NSEC_PER_MSEC, field(line, "ns"));
	EXPECT_STREQ("", next_event(&text));
}

TEST_F(trace, exempt)
{
	const char *line;
	char *text;

	self->schema = schema_id(self->control, "exempt");
	self->level = level_stats(self->control, "exempt").id;
	ASSERT_EQ(KAPF_EXECUTE, admit(self->fd, 4, self->schema));
	ASSERT_EQ(0, finish(self->fd, 4));
	read_trace(self);
	text = self->text;
	line = next_event(&text);
	EXPECT_EVENT(line, "kapf_dispatch", 4, -1, 1);
	line = next_event(&text);
	EXPECT_EVENT(line, "kapf_finish", 4, -1, 1);
	line = next_event(&text);
	EXPECT_EVENT(line, "kapf_release", 4, -1, 1);
	EXPECT_STREQ("", next_event(&text));
}

TEST_F(trace, refusals)
{
	static const char *const verdicts[] = {
		"CONCURRENCY_LIMIT", "QUEUE_FULL", "TIME_OUT", "CANCELLED",
	};
	struct kapf_op op = request(0, self->schema);
	char pattern[64], *text;
	const char *line;
	size_t i;

	op.initial_seats = 2;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	op = request(1, self->schema);
	op.flags = KAPF_OP_NOWAIT | KAPF_OP_NOQUEUE;
	EXPECT_EQ(KAPF_CONCURRENCY_LIMIT, KAPF_VERDICT(admit_op(self->fd, op)));
	op.flags = KAPF_OP_NOWAIT;
	op.max_wait = 30 * NSEC_PER_MSEC;
	EXPECT_EQ(KAPF_QUEUED, KAPF_VERDICT(admit_op(self->fd, op)));
	op.slot = 2;
	EXPECT_EQ(KAPF_QUEUE_FULL, KAPF_VERDICT(admit_op(self->fd, op)));
	EXPECT_EQ(KAPF_TIME_OUT, read_event(self->fd).verdict);
	op.max_wait = 0;
	EXPECT_EQ(KAPF_QUEUED, KAPF_VERDICT(admit_op(self->fd, op)));
	EXPECT_EQ(0, cancel(self->fd, 2));

	read_trace(self);
	text = self->text;
	for (i = 0; i < ARRAY_SIZE(verdicts); i++) {
		do
			line = next_event(&text);
		while (*line && strncmp(line, "kapf_reject:", 12));
		snprintf(pattern, sizeof(pattern), " verdict=%s ", verdicts[i]);
		EXPECT_NE(NULL, strstr(line, pattern)) {
			TH_LOG("%s for %s", line, verdicts[i]);
		}
		EXPECT_EQ(i < 3 ? 1 : 0, field(line, "retry_after"));
		EXPECT_EQ(self->level, field(line, "level"));
		EXPECT_EQ(i == 0 || i == 2 ? 1 : 2, field(line, "slot"));
		if (i == 2)
			EXPECT_LE(30 * NSEC_PER_MSEC, field(line, "ns"));
	}
}

static bool is_adjustment(const char *line,
			  const struct kapf_level_stats *stats)
{
	if (!strncmp(line, "kapf_adjust:", 12) &&
	    field(line, "instance") == 0 && field(line, "level") == stats->id &&
	    field(line, "limit") == stats->current_seats &&
	    field(line, "high_watermark") == stats->demand_high_watermark &&
	    field(line, "smoothed") == (int)(stats->demand_smoothed >> 32) &&
	    field(line, "target") == (int)(stats->target_seats >> 32))
		return true;
	fprintf(stderr, "# %s: not of %s, %u seats\n", line, stats->name,
		stats->current_seats);
	return false;
}

/* Each level is told of, in the configuration's order, when limits are judged. */
TEST_F(trace, adjustments)
{
	struct kapf_op op = request(0, self->schema);
	struct kapf_level_stats stats[3];
	char *text, *image;
	size_t len, i;
	int lines = 0;

	op.initial_seats = 3;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	op = request(1, schema_id(self->control, "exempt"));
	op.initial_seats = 2;
	ASSERT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
	image = get_image(self->control, &len);
	((struct kapf_config *)image)->adjustment_period_ms =
		KAPF_MAX_ADJUSTMENT_PERIOD_MS;
	ASSERT_EQ(0, set_bytes(self->control, image, len, NULL));
	write_file(TRACING "/events/kapf/enable", "0");
	write_file(TRACING "/trace", "");
	write_file(TRACING "/events/kapf/kapf_adjust/enable", "1");
	ASSERT_EQ(0, set_bytes(self->control, image, len, NULL));

	stats[0] = level_stats(self->control, "exempt");
	stats[1] = level_stats(self->control, "catch-all");
	stats[2] = level_stats(self->control, "test");
	EXPECT_EQ(2, stats[0].demand_high_watermark);
	EXPECT_EQ(3, stats[2].demand_high_watermark);
	EXPECT_LE(3ULL << 32, stats[2].demand_smoothed);
	read_trace(self);
	text = self->text;
	for (i = 0; i < ARRAY_SIZE(stats); i++)
		EXPECT_TRUE(is_adjustment(next_event(&text), &stats[i]));
	EXPECT_STREQ("", next_event(&text));

	/* Not before 100 ms are over, but then by themselves. */
	((struct kapf_config *)image)->adjustment_period_ms = 100;
	ASSERT_EQ(0, set_bytes(self->control, image, len, NULL));
	write_file(TRACING "/trace", "");
	for (i = 0; !lines && i < 1000; i++) {
		sleep_ms(10);
		read_trace(self);
		text = self->text;
		while (*next_event(&text))
			lines++;
	}
	EXPECT_LE(3, lines);
	free(image);
}

/* The first line of the log since the test's begin that contains @text. */
static const char *logged(struct _test_data_trace *self, const char *text)
{
	ssize_t len;

	while ((len = read(self->log, self->line,
			   sizeof(self->line) - 1)) > 0) {
		self->line[len] = '\0';
		if (strstr(self->line, text))
			return strchr(self->line, ';') + 1;
	}
	return NULL;
}

static pid_t spawn_server(struct _test_data_trace *self, __u32 seats)
{
	struct kapf_op op = request(0, self->schema);
	pid_t pid = fork();
	int fd;

	if (pid)
		return pid;
	fd = open_session(2);
	op.initial_seats = seats;
	if (seats && KAPF_VERDICT(admit_op(fd, op)) != KAPF_EXECUTE)
		_exit(1);
	raise(SIGKILL);
	_exit(1);
}

/* A session that ended while it held seats is told of, any other is not. */
TEST_F(trace, session_that_held_seats)
{
	const char *line;
	char *text;

	EXPECT_EQ(SIGKILL, reap(spawn_server(self, 0)));
	EXPECT_EQ(NULL, logged(self, "kapf"));
	EXPECT_EQ(SIGKILL, reap(spawn_server(self, 2)));
	line = logged(self, "kapf");
	ASSERT_NE(NULL, line);
	EXPECT_NE(NULL, strstr(line, " of server selftest ended with 1 "));
	EXPECT_NE(NULL, strstr(line, " requests that held 2 seats"));
	EXPECT_EQ(0, strncmp(line, "kapf0: session ", 15));

	read_trace(self);
	text = self->text;
	do
		line = next_event(&text);
	while (*line && strncmp(line, "kapf_session_end:", 17));
	EXPECT_EQ(0, field(line, "requests"));
	EXPECT_EQ(0, field(line, "seats"));
	EXPECT_NE(NULL, strstr(line, " server=selftest "));
	do
		line = next_event(&text);
	while (*line && strncmp(line, "kapf_session_end:", 17));
	EXPECT_EQ(1, field(line, "requests"));
	EXPECT_EQ(2, field(line, "seats"));
}

/* Dying servers cannot fill the log. */
TEST_F(trace, log_is_limited)
{
	int i, lines = 0;

	for (i = 0; i < 100; i++)
		EXPECT_EQ(SIGKILL, reap(spawn_server(self, 1)));
	while (logged(self, "ended with"))
		lines++;
	EXPECT_LE(1, lines);
	EXPECT_GE(30, lines);
}

TEST_F(trace, eviction_is_told_of)
{
	int fd = open_session(1);
	struct kapf_evict evict = {
		.size = sizeof(evict), .session = last_session(self->control),
	};
	char wanted[128];
	const char *line;
	char *text;

	ASSERT_EQ(KAPF_EXECUTE, admit(fd, 0, self->schema));
	ASSERT_EQ(0, call(self->control, KAPF_EVICT, &evict));
	snprintf(wanted, sizeof(wanted),
		 "kapf0: session %llu of server selftest evicted by process %d (trace_test), user 0\n",
		 evict.session, getpid());
	line = logged(self, "evicted");
	ASSERT_NE(NULL, line);
	EXPECT_EQ(0, strncmp(line, wanted, strlen(wanted))) {
		TH_LOG("%s", line);
	}
	close(fd);

	/* Evicted and closed, it has ended once. */
	read_trace(self);
	text = self->text;
	do
		line = next_event(&text);
	while (*line && strncmp(line, "kapf_session_end:", 17));
	EXPECT_EQ(1, field(line, "requests"));
	EXPECT_EQ(1, field(line, "seats"));
	do
		line = next_event(&text);
	while (*line && strncmp(line, "kapf_session_end:", 17));
	EXPECT_EQ('\0', *line);
}

TEST_F(trace, configuration_is_told_of)
{
	char wanted[128];
	const char *line;

	/* The set-up has spent some of what is allowed in five seconds. */
	sleep_ms(6000);
	lseek(self->log, 0, SEEK_END);
	set_up_queues(self->control, 2, 1, 1, 1);
	snprintf(wanted, sizeof(wanted),
		 "kapf0: configuration %llu by process %d (trace_test), user 0",
		 generation(self->control), getpid());
	while ((line = logged(self, "kapf0: configuration")))
		if (!strncmp(line, wanted, strlen(wanted)))
			break;
	EXPECT_NE(NULL, line);
}

TEST_HARNESS_MAIN
