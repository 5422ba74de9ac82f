// SPDX-License-Identifier: GPL-2.0
/*
 * ATTACH: what may be asked for, how often, and what other calls say before it
 * and about the flags of the file.
 */
#include "kapf_test.h"

FIXTURE(attach) {
	int control;
	int fd;		/* submit node, not attached */
	struct kapf_info info;
};

FIXTURE_SETUP(attach)
{
	self->control = open_node(CONTROL_NODE, O_RDWR);
	set_up_reject(self->control, 4);
	self->fd = open_node(SUBMIT_NODE, O_RDWR);
	self->info.size = sizeof(self->info);
	ASSERT_EQ(0, call(self->fd, KAPF_GET_INFO, &self->info));
}

FIXTURE_TEARDOWN(attach)
{
	close(self->fd);
	close(self->control);
}

static __u32 sessions(int control)
{
	struct kapf_get_stats get = {
		.size = sizeof(get),
		.level_size = sizeof(struct kapf_level_stats),
		.schema_size = sizeof(struct kapf_schema_stats),
	};

	errno = -call(control, KAPF_GET_STATS, &get);
	if (errno)
		die("GET_STATS");
	return get.nr_sessions;
}

TEST_F(attach, nothing_before)
{
	struct kapf_get_config get = { .size = sizeof(get) };
	struct kapf_get_requests requests = {
		.size = sizeof(requests),
		.request_size = sizeof(struct kapf_request_info),
	};

	EXPECT_EQ(-ENOTCONN, admit(self->fd, 0, schema_id(self->control,
							  "test")));
	EXPECT_EQ(-ENOTCONN, finish(self->fd, 0));
	EXPECT_EQ(-ENOTCONN, call(self->fd, KAPF_GET_CONFIG, &get));
	EXPECT_EQ(-ENOTCONN, call(self->fd, KAPF_GET_REQUESTS, &requests));
	EXPECT_EQ(0, sessions(self->control));
	EXPECT_EQ(0, attach(self->fd, 1, 0));
	EXPECT_EQ(1, sessions(self->control));
}

TEST_F(attach, once)
{
	struct kapf_attach arg = {
		.size = sizeof(arg), .slots = 1, .server = "once",
	};

	EXPECT_EQ(0, call(self->fd, KAPF_ATTACH, &arg));
	EXPECT_EQ(-EISCONN, call(self->fd, KAPF_ATTACH, &arg));
	EXPECT_EQ(1, sessions(self->control));
	EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, 0, schema_id(self->control,
							     "test")));
	EXPECT_EQ(-EISCONN, call(self->fd, KAPF_ATTACH, &arg));
	EXPECT_EQ(1, seats_in_use(self->control, "test"));
}

TEST_F(attach, numbers_are_unique)
{
	struct kapf_attach arg = {
		.size = sizeof(arg), .slots = 1, .server = "number",
	};
	__u64 last = 0;
	int i, fd;

	for (i = 0; i < 10; i++) {
		fd = open_node(SUBMIT_NODE, O_RDWR);
		arg.session = 12345;
		ASSERT_EQ(0, call(fd, KAPF_ATTACH, &arg));
		EXPECT_LT(last, arg.session);
		last = arg.session;
		close(fd);
	}
}

TEST_F(attach, number_of_slots)
{
	const __u32 bad[] = { 0, self->info.max_inflight + 1, 0x80000000, ~0u };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		EXPECT_EQ(-EINVAL, attach(self->fd, bad[i], 0));
	EXPECT_EQ(0, sessions(self->control));
	ASSERT_EQ(0, attach(self->fd, self->info.max_inflight, 0));
	EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, self->info.max_inflight - 1,
				      schema_id(self->control, "test")));
	EXPECT_EQ(-EINVAL, admit(self->fd, self->info.max_inflight,
				 schema_id(self->control, "test")));
}

TEST_F(attach, room_for_labels)
{
	EXPECT_EQ(-EINVAL, attach(self->fd, 1, KAPF_MAX_LABEL_BYTES + 1));
	EXPECT_EQ(-EINVAL, attach(self->fd, 1, ~0u));
	EXPECT_EQ(0, attach(self->fd, 1, KAPF_MAX_LABEL_BYTES));
	EXPECT_EQ(KAPF_EXECUTE, admit(self->fd, 0, schema_id(self->control,
							     "test")));
}

TEST_F(attach, odd_room_for_labels)
{
	char label[] = "abcdefghijklm";
	struct kapf_op op = request(2, schema_id(self->control, "test"));

	ASSERT_EQ(0, attach(self->fd, 3, 13));
	op.label = (uintptr_t)label;
	op.label_len = sizeof(label);
	EXPECT_EQ(KAPF_EXECUTE, KAPF_VERDICT(admit_op(self->fd, op)));
}

TEST_F(attach, server_names)
{
	static const char *const bad[] = {
		"", "Upper", "under_score", "white space", "slash/", "\xc3\xa4",
		"quote\"", "new\nline", "a\0b",
	};
	static const char *const good[] = {
		"a", "0", "-", ".", "kube-apiserver.2",
	};
	struct kapf_attach arg = { .size = sizeof(arg), .slots = 1 };
	size_t i;
	int fd;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		memset(arg.server, 0, sizeof(arg.server));
		memcpy(arg.server, bad[i], strlen(bad[i]));
		/* Behind the NUL only zeros count as padding. */
		if (i == ARRAY_SIZE(bad) - 1)
			arg.server[2] = 'b';
		EXPECT_EQ(-EINVAL, call(self->fd, KAPF_ATTACH, &arg)) {
			TH_LOG("server \"%s\"", bad[i]);
		}
	}
	memset(arg.server, 'a', sizeof(arg.server));
	EXPECT_EQ(-EINVAL, call(self->fd, KAPF_ATTACH, &arg));
	arg.server[sizeof(arg.server) - 1] = '\0';
	EXPECT_EQ(0, call(self->fd, KAPF_ATTACH, &arg));
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		fd = open_node(SUBMIT_NODE, O_RDWR);
		memset(arg.server, 0, sizeof(arg.server));
		memcpy(arg.server, good[i], strlen(good[i]));
		EXPECT_EQ(0, call(fd, KAPF_ATTACH, &arg)) {
			TH_LOG("server \"%s\"", good[i]);
		}
		close(fd);
	}
}

/* The rules are those of server names, but that there need not be one. */
TEST_F(attach, tenant_names)
{
	struct kapf_attach arg = {
		.size = sizeof(arg), .slots = 1, .server = "tenants",
	};
	struct kapf_session_info info;
	struct kapf_get_sessions get = {
		.size = sizeof(get),
		.session_size = sizeof(info),
		.nr = 1,
		.sessions = (uintptr_t)&info,
	};

	memset(arg.tenant, 'a', sizeof(arg.tenant));
	EXPECT_EQ(-EINVAL, call(self->fd, KAPF_ATTACH, &arg));
	arg.tenant[63] = '\0';
	arg.tenant[20] = 'A';
	EXPECT_EQ(-EINVAL, call(self->fd, KAPF_ATTACH, &arg));
	arg.tenant[20] = '\0';
	EXPECT_EQ(-EINVAL, call(self->fd, KAPF_ATTACH, &arg));
	arg.tenant[20] = '-';
	EXPECT_EQ(0, call(self->fd, KAPF_ATTACH, &arg));
	ASSERT_EQ(0, call(self->control, KAPF_GET_SESSIONS, &get));
	EXPECT_STREQ(arg.tenant, info.tenant);
	EXPECT_STREQ("tenants", info.server);
}

/* Attach as another user; the exit status tells the errno. */
static int attach_as_nobody(int fd)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid) {
		if (setgid(65534) || setuid(65534))
			_exit(255);
		_exit(-attach(fd, 1, 0));
	}
	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(attach, sessions_of_one_user_are_limited)
{
	__u32 nr = self->info.max_sessions;
	int *fds = calloc(nr, sizeof(*fds));
	__u32 i;
	int fd;

	ASSERT_NE(NULL, fds);
	for (i = 0; i < nr; i++)
		fds[i] = open_session(1);
	EXPECT_EQ(-EDQUOT, attach(self->fd, 1, 0));
	EXPECT_EQ(nr, sessions(self->control));
	/* Another user has a number of their own. */
	fd = open_node(SUBMIT_NODE, O_RDWR);
	EXPECT_EQ(0, attach_as_nobody(fd));
	close(fd);
	/* One less, one more; a failed ATTACH can be tried again. */
	close(fds[0]);
	EXPECT_EQ(0, attach(self->fd, 1, 0));
	fds[0] = open_node(SUBMIT_NODE, O_RDWR);
	EXPECT_EQ(-EDQUOT, attach(fds[0], 1, 0));
	for (i = 0; i < nr; i++)
		close(fds[i]);
	EXPECT_EQ(1, sessions(self->control));
	free(fds);
}

/* While an heir keeps the file of one that has ended, its memory is not free. */
TEST_F(attach, ended_sessions_count_while_somebody_has_the_file)
{
	__u32 nr = self->info.max_sessions;
	int *fds = calloc(nr, sizeof(*fds));
	pid_t heir;
	__u32 i;

	ASSERT_NE(NULL, fds);
	for (i = 0; i < nr; i++)
		fds[i] = open_session(1);
	heir = fork();
	if (!heir) {
		sleep(60);
		_exit(0);
	}
	for (i = 0; i < nr; i++)
		close(fds[i]);
	EXPECT_EQ(0, sessions(self->control));
	EXPECT_EQ(-EDQUOT, attach(self->fd, 1, 0));
	kill_and_reap(heir);
	EXPECT_EQ(0, attach(self->fd, 1, 0));
	EXPECT_EQ(1, sessions(self->control));
	free(fds);
}

/* Opened files count for nothing before they attach. */
TEST_F(attach, open_files_are_no_sessions)
{
	__u32 nr = self->info.max_sessions + 10;
	int *fds = calloc(nr, sizeof(*fds));
	__u32 i;

	ASSERT_NE(NULL, fds);
	for (i = 0; i < nr; i++)
		fds[i] = open_node(SUBMIT_NODE, O_RDWR);
	EXPECT_EQ(0, attach(fds[nr - 1], 1, 0));
	for (i = 0; i < nr; i++)
		close(fds[i]);
	free(fds);
}

TEST_F(attach, refused_ones_are_no_sessions)
{
	__u32 i;

	for (i = 0; i < 2 * self->info.max_sessions; i++)
		ASSERT_EQ(-EINVAL, attach(self->fd, 0, 0));
	EXPECT_EQ(0, attach(self->fd, 1, 0));
}

/* Two threads attach one file: it becomes one session. */
struct attacher {
	pthread_t thread;
	pthread_barrier_t *barrier;
	int fd;
	int ret;
};

static void *attacher_main(void *arg)
{
	struct attacher *attacher = arg;

	pthread_barrier_wait(attacher->barrier);
	attacher->ret = attach(attacher->fd, 16, 0);
	return NULL;
}

TEST_F(attach, race)
{
	struct attacher attachers[2];
	pthread_barrier_t barrier;
	int i, j, fd, failed;

	pthread_barrier_init(&barrier, NULL, 2);
	for (i = 0; i < 200; i++) {
		fd = open_node(SUBMIT_NODE, O_RDWR);
		for (j = 0; j < 2; j++) {
			attachers[j].barrier = &barrier;
			attachers[j].fd = fd;
			ASSERT_EQ(0, pthread_create(&attachers[j].thread, NULL,
						    attacher_main,
						    &attachers[j]));
		}
		for (j = 0; j < 2; j++)
			pthread_join(attachers[j].thread, NULL);
		failed = attachers[0].ret ?: attachers[1].ret;
		ASSERT_EQ(-EISCONN, failed);
		ASSERT_TRUE(!attachers[0].ret || !attachers[1].ret);
		ASSERT_EQ(1, sessions(self->control));
		close(fd);
	}
	EXPECT_EQ(0, sessions(self->control));
}

TEST_HARNESS_MAIN
