// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions of libkapf against the module: slots that are shared by threads or
 * linger, configurations that change under a server, signals.
 */
#include "kapf_test.h"

#include <libkapf.h>

#define MSEC NSEC_PER_MSEC

static const char *const groups[] = { "system:authenticated" };

static const struct kapf_digest digest = {
	.user = "alice",
	.groups = groups,
	.nr_groups = 1,
	.is_resource = true,
	.verb = "update",
	.api_group = "apps",
	.api_version = "v1",
	.resource = "deployments",
	.ns = "default",
	.name = "web",
	.path = "/apis/apps/v1/namespaces/default/deployments/web",
};

/* A level "test" of nearly all seats, and a schema "test" of alice. */
static const char manifest[] =
	"{kind: PriorityLevelConfiguration, metadata: {name: test},\n"
	" apiVersion: flowcontrol.apiserver.k8s.io/v1, spec: {type: Limited,\n"
	" limited: {nominalConcurrencyShares: 1000, limitResponse: {type: Queue,\n"
	" queuing: {queues: 4, handSize: 1, queueLengthLimit: 50}}}}}\n"
	"---\n"
	"{kind: FlowSchema, metadata: {name: test},\n"
	" apiVersion: flowcontrol.apiserver.k8s.io/v1, spec: {\n"
	" priorityLevelConfiguration: {name: test}, matchingPrecedence: 100,\n"
	" distinguisherMethod: {type: ByUser}, rules: [{subjects: [{kind: User,\n"
	" user: {name: alice}}], resourceRules: [{verbs: ['*'],\n"
	" apiGroups: ['*'], resources: ['*'], namespaces: ['*']}]}]}}\n";

/* Merge the manifest into the configuration, with so many seats in all. */
static void configure(int control, unsigned int seats)
{
	struct kapf_configuration *config;
	struct kapf_error err;

	errno = -kapf_config_read(&config, control, &err);
	if (errno)
		die(err.text);
	config->max_requests_inflight = seats;
	config->max_mutating_requests_inflight = 0;
	errno = -kapf_config_merge(config, manifest, strlen(manifest), "test",
				   &err);
	if (!errno)
		errno = -kapf_config_write(config, control, &err);
	if (errno)
		die(err.text);
	kapf_config_free(config);
}

static bool is_uid_of(int control, const struct kapf_ticket *ticket,
		      const char *name)
{
	size_t len;
	char *bytes = get_image(control, &len);
	bool same = !memcmp(find_schema(bytes, name)->uid, ticket->schema_uid,
			    KAPF_UID_BYTES) &&
		    !memcmp(find_level(bytes, name)->uid, ticket->level_uid,
			    KAPF_UID_BYTES);

	free(bytes);
	return same;
}

FIXTURE(session)
{
	int control;
	struct kapf_session *session;
	struct kapf_ticket ticket;
};

FIXTURE_VARIANT(session)
{
	unsigned int slots;
};

FIXTURE_VARIANT_ADD(session, one_slot)
{
	.slots = 1,
};

FIXTURE_VARIANT_ADD(session, all_slots)
{
	.slots = 0,
};

FIXTURE_SETUP(session)
{
	self->control = open_node(CONTROL_NODE, O_RDWR);
	set_up_bare(self->control);
	configure(self->control, 100);
	ASSERT_EQ(0, kapf_session_open(&self->session, NULL, "library",
				       variant->slots, NULL));
}

FIXTURE_TEARDOWN(session)
{
	kapf_session_close(self->session);
	close(self->control);
}

TEST_F(session, admits_and_finishes)
{
	ASSERT_EQ(0, kapf_admit(self->session, &digest, NULL, 0,
				&self->ticket));
	EXPECT_EQ(KAPF_EXECUTE, self->ticket.verdict);
	EXPECT_EQ(0, self->ticket.retry_after);
	EXPECT_TRUE(is_uid_of(self->control, &self->ticket, "test"));
	EXPECT_EQ(1, seats_in_use(self->control, "test"));
	EXPECT_EQ(0, kapf_finish(self->session, &self->ticket));
	EXPECT_EQ(0, seats_in_use(self->control, "test"));
	EXPECT_EQ(-ENOENT, kapf_finish(self->session, &self->ticket));
}

TEST_F(session, labels_a_request)
{
	static const char label[] =
		"alice\0alice\0update\0"
		"/apis/apps/v1/namespaces/default/deployments/web\0"
		"default\0web\0apps/v1\0deployments\0";
	struct {
		struct kapf_request_info info;
		char label[512];
	} request;
	struct kapf_get_requests get = {
		.size = sizeof(get),
		.request_size = sizeof(request.info),
		.label_bytes = sizeof(request.label),
		.nr = 1,
		.requests = (uintptr_t)&request,
	};

	ASSERT_EQ(0, kapf_admit(self->session, &digest, NULL, 0,
				&self->ticket));
	ASSERT_EQ(0, call(self->control, KAPF_GET_REQUESTS, &get));
	ASSERT_EQ(1, get.nr);
	EXPECT_EQ(KAPF_OP_MUTATING, request.info.flags);
	ASSERT_EQ(sizeof(label), request.info.label_len);
	EXPECT_EQ(0, memcmp(label, request.label, sizeof(label)));
}

TEST_F(session, refuses_too_wide_a_request)
{
	struct kapf_work work = { .initial_seats = 65537 };

	EXPECT_EQ(-EINVAL, kapf_admit(self->session, &digest, &work, 0,
				      &self->ticket));
	work = (struct kapf_work){ .final_seats = KAPF_MAX_WIDTH + 1 };
	EXPECT_EQ(-EINVAL, kapf_admit(self->session, &digest, &work, 0,
				      &self->ticket));
}

TEST_F(session, follows_a_new_configuration)
{
	configure(self->control, 200);
	ASSERT_EQ(0, kapf_admit(self->session, &digest, NULL, 0,
				&self->ticket));
	EXPECT_EQ(0, kapf_finish(self->session, &self->ticket));

	/* The schema that the session knows is gone. */
	set_up_bare(self->control);
	ASSERT_EQ(0, kapf_admit(self->session, &digest, NULL, 0,
				&self->ticket));
	EXPECT_EQ(KAPF_EXECUTE, self->ticket.verdict);
	EXPECT_TRUE(is_uid_of(self->control, &self->ticket, "catch-all"));
	EXPECT_EQ(0, kapf_finish(self->session, &self->ticket));

	/* One that would have matched first has come. */
	configure(self->control, 100);
	ASSERT_EQ(0, kapf_admit(self->session, &digest, NULL, 0,
				&self->ticket));
	EXPECT_TRUE(is_uid_of(self->control, &self->ticket, "catch-all"));
	EXPECT_EQ(0, kapf_finish(self->session, &self->ticket));
	ASSERT_EQ(0, kapf_admit(self->session, &digest, NULL, 0,
				&self->ticket));
	EXPECT_TRUE(is_uid_of(self->control, &self->ticket, "test"));
}

/*
 * The session takes alice for catch-all's, which is full now; by the new
 * configuration she has a level with room.
 */
TEST_F(session, refused_by_rules_of_the_past)
{
	__u32 schema, seat;
	int fd;

	set_up_bare(self->control);
	kapf_session_close(self->session);
	ASSERT_EQ(0, kapf_session_open(&self->session, NULL, "library",
				       variant->slots, NULL));
	configure(self->control, 100);
	fd = open_session(8);
	schema = schema_id(self->control, "catch-all");
	for (seat = 0; seat < 8; seat++)
		if (KAPF_VERDICT(admit(fd, seat, schema)) != KAPF_EXECUTE)
			break;
	ASSERT_GT(8, seat);
	ASSERT_EQ(0, kapf_admit(self->session, &digest, NULL, 0,
				&self->ticket));
	ASSERT_EQ(KAPF_EXECUTE, self->ticket.verdict);
	EXPECT_TRUE(is_uid_of(self->control, &self->ticket, "test"));
	EXPECT_LE(0, kapf_finish(self->session, &self->ticket));
	close(fd);
}

TEST_F(session, lingers)
{
	struct kapf_work work = {
		.final_seats = 2,
		.additional_latency = 300 * MSEC,
	};
	struct kapf_ticket next;
	__u64 begin;
	int ms;

	ASSERT_EQ(0, kapf_admit(self->session, &digest, &work, 0,
				&self->ticket));
	begin = now_ns();
	ms = kapf_finish(self->session, &self->ticket);
	EXPECT_EQ(300, ms);
	EXPECT_EQ(2, seats_in_use(self->control, "test"));
	ASSERT_EQ(0, kapf_admit(self->session, &digest, NULL, 0, &next));
	EXPECT_EQ(KAPF_EXECUTE, next.verdict);
	/* A lone slot has to be waited for, of many another one is taken. */
	EXPECT_EQ(variant->slots == 1, self->ticket.slot == next.slot);
	EXPECT_EQ(variant->slots == 1, now_ns() - begin >= 300 * MSEC);
}

/* A thread in kapf_admit(). */
struct admitter {
	pthread_t thread;
	struct kapf_session *session;
	__u64 max_wait;
	struct kapf_ticket ticket;
	int ret;
	__u64 waited;
};

static void *admitter_main(void *arg)
{
	struct admitter *admitter = arg;
	__u64 begin = now_ns();

	admitter->ret = kapf_admit(admitter->session, &digest, NULL,
				   admitter->max_wait, &admitter->ticket);
	admitter->waited = now_ns() - begin;
	return NULL;
}

static void admitter_start(struct admitter *admitter,
			   struct kapf_session *session, __u64 max_wait)
{
	admitter->session = session;
	admitter->max_wait = max_wait;
	errno = pthread_create(&admitter->thread, NULL, admitter_main,
			       admitter);
	if (errno)
		die("pthread_create");
}

TEST_F(session, waits_for_a_slot_or_a_seat)
{
	/* With one slot the second waits for it, else for a seat of 100. */
	struct kapf_work work = { .initial_seats = 100 };
	struct admitter second;

	ASSERT_EQ(0, kapf_admit(self->session, &digest, &work, 0,
				&self->ticket));
	admitter_start(&second, self->session, 0);
	sleep_ms(100);
	EXPECT_EQ(0, kapf_finish(self->session, &self->ticket));
	pthread_join(second.thread, NULL);
	EXPECT_EQ(0, second.ret);
	EXPECT_EQ(KAPF_EXECUTE, second.ticket.verdict);
	EXPECT_GE(second.waited, 50 * MSEC);
}

static void ignore(int signal)
{
	(void)signal;
}

TEST_F(session, waits_no_longer_than_it_may)
{
	struct kapf_work work = { .initial_seats = 100 };
	struct sigaction action = { .sa_handler = ignore };
	struct admitter second;
	int i;

	sigaction(SIGUSR1, &action, NULL);
	ASSERT_EQ(0, kapf_admit(self->session, &digest, &work, 0,
				&self->ticket));
	admitter_start(&second, self->session, 300 * MSEC);
	for (i = 0; i < 10; i++) {
		sleep_ms(20);
		pthread_kill(second.thread, SIGUSR1);
	}
	pthread_join(second.thread, NULL);
	EXPECT_EQ(0, second.ret);
	EXPECT_EQ(KAPF_TIME_OUT, second.ticket.verdict);
	EXPECT_GE(second.ticket.retry_after, 1);
	EXPECT_TRUE(is_uid_of(self->control, &second.ticket, "test"));
	EXPECT_GE(second.waited, 300 * MSEC);
	EXPECT_LT(second.waited, 2000 * MSEC);
}

#define NR_THREADS 16
#define NR_ROUNDS 50

static void *serve(void *arg)
{
	struct kapf_session *session = arg;
	struct kapf_work work = {
		.final_seats = 1,
		.additional_latency = MSEC,
	};
	struct kapf_ticket ticket;
	intptr_t faults = 0;
	int i;

	for (i = 0; i < NR_ROUNDS; i++)
		if (kapf_admit(session, &digest, i % 2 ? &work : NULL, 0,
			       &ticket) ||
		    ticket.verdict != KAPF_EXECUTE ||
		    kapf_finish(session, &ticket) < 0)
			faults++;
	return (void *)faults;
}

TEST_F(session, is_shared_by_threads)
{
	pthread_t threads[NR_THREADS];
	void *faults;
	int i;

	for (i = 0; i < NR_THREADS; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, serve,
					    self->session));
	for (i = 0; i < NR_THREADS; i++) {
		pthread_join(threads[i], &faults);
		EXPECT_EQ(NULL, faults);
	}
	EXPECT_EQ(NR_THREADS * NR_ROUNDS,
		  level_stats(self->control, "test").dispatched);
}

TEST_F(session, belongs_to_its_process)
{
	int status;
	pid_t child = fork();

	if (!child)
		_exit(kapf_admit(self->session, &digest, NULL, 0,
				 &self->ticket) == -EPERM ? 0 : 1);
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, kapf_admit(self->session, &digest, NULL, 0,
				&self->ticket));
}

TEST(opening_says_why_it_fails)
{
	struct kapf_session *session;
	struct kapf_error err;
	char name[100];

	EXPECT_EQ(-ENOENT, kapf_session_open(&session, "/dev/none", "a", 1,
					     &err));
	EXPECT_STREQ("/dev/none: No such file or directory", err.text);
	EXPECT_EQ(-ENOTTY, kapf_session_open(&session, "/dev/null", "a", 1,
					     &err));
	EXPECT_NE(NULL, strstr(err.text, "not a node of kapf"));

	EXPECT_EQ(-EINVAL, kapf_session_open(&session, NULL, "Web", 1, &err));
	EXPECT_NE(NULL, strstr(err.text, "server \"Web\""));
	memset(name, 'a', sizeof(name));
	name[64] = '\0';
	EXPECT_EQ(-EINVAL, kapf_session_open(&session, NULL, name, 1, &err));
	EXPECT_EQ(-EINVAL, kapf_session_open(&session, NULL, "web", ~0u,
					     &err));
	EXPECT_NE(NULL, strstr(err.text, "4294967295 slots"));
	EXPECT_NE(NULL, strstr(err.text,
			       "slots are 1 to max_inflight of the module"));
	EXPECT_EQ(-ENOTTY, kapf_session_open(&session, KAPF_CONTROL_NODE, "web",
					     1, &err));
	EXPECT_NE(NULL, strstr(err.text, "a submit node: " KAPF_SUBMIT_NODE));

	name[63] = '\0';
	ASSERT_EQ(0, kapf_session_open(&session, NULL, name, 1, &err));
	kapf_session_close(session);
	kapf_session_close(NULL);
}

TEST(too_many_sessions_name_the_limit)
{
	struct kapf_session *sessions[1000];
	struct kapf_error err;
	size_t nr = 0;
	int ret = 0;

	while (!ret && nr < ARRAY_SIZE(sessions)) {
		ret = kapf_session_open(&sessions[nr], NULL, "web", 1, &err);
		nr += !ret;
	}
	EXPECT_EQ(-EDQUOT, ret);
	EXPECT_NE(NULL, strstr(err.text, "max_sessions of the module kapf"));
	while (nr)
		kapf_session_close(sessions[--nr]);
}

TEST_HARNESS_MAIN
