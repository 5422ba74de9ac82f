// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions of libkapf against the module: slots that are shared by threads or
 * linger, configurations that change under a server, signals.
 */
#include "kapf_test.h"

#include <grp.h>

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

static int open_server(struct kapf_session **session, const char *node,
		       const char *name, unsigned int slots,
		       struct kapf_error *err)
{
	const struct kapf_server server = {
		.node = node, .name = name, .slots = slots,
	};

	return kapf_session_open(session, &server, err);
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
	ASSERT_EQ(0, open_server(&self->session, NULL, "library",
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
	ASSERT_EQ(0, open_server(&self->session, NULL, "library",
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

/* Whoever waits for a slot, or for a seat, learns that there will be none. */
TEST_F(session, evicted)
{
	struct kapf_work work = { .initial_seats = 100 };
	__u64 number = last_session(self->control);
	struct kapf_evict evicted;
	struct kapf_error err;
	struct admitter second;

	ASSERT_EQ(0, kapf_admit(self->session, &digest, &work, 0,
				&self->ticket));
	admitter_start(&second, self->session, 0);
	sleep_ms(100);
	EXPECT_EQ(0, kapf_evict(self->control, number, &evicted, &err));
	EXPECT_EQ(1, evicted.requests);
	EXPECT_EQ(100, evicted.seats);
	EXPECT_EQ(variant->slots == 1 ? 0 : 1, evicted.waiting);
	EXPECT_EQ(-ESHUTDOWN, kapf_finish(self->session, &self->ticket));
	pthread_join(second.thread, NULL);
	EXPECT_EQ(-ESHUTDOWN, second.ret);
	EXPECT_LT(second.waited, 5000 * MSEC);
	EXPECT_EQ(-ENOENT, kapf_evict(self->control, number, NULL, &err));
	EXPECT_NE(NULL, strstr(err.text, "there is none of this number"));
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

/* Requests whose decision comes by a callback */

struct decisions {
	struct kapf_ticket tickets[8];
	size_t nr;
};

static void decided(struct kapf_session *session,
		    const struct kapf_ticket *ticket, void *user)
{
	struct decisions *decisions = user;

	(void)session;
	if (decisions->nr == ARRAY_SIZE(decisions->tickets))
		die("too many decisions");
	decisions->tickets[decisions->nr++] = *ticket;
}

FIXTURE(async)
{
	int control;
	int fd;
	struct kapf_session *session;
	struct kapf_ticket tickets[3];
	struct decisions decisions;
};

/* The level "test" has 2 seats, of 2 x 1000 / 1005 and rounded up. */
FIXTURE_SETUP(async)
{
	size_t i;

	self->control = open_node(CONTROL_NODE, O_RDWR);
	set_up_bare(self->control);
	configure(self->control, 2);
	ASSERT_EQ(0, open_server(&self->session, NULL, "async", 3, NULL));
	self->fd = kapf_session_fd(self->session);
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, kapf_submit(self->session, &digest, NULL, 0,
					 decided, &self->decisions,
					 &self->tickets[i]));
		ASSERT_EQ(KAPF_EXECUTE, self->tickets[i].verdict);
	}
	ASSERT_EQ(0, kapf_submit(self->session, &digest, NULL, 0, decided,
				 &self->decisions, &self->tickets[2]));
	ASSERT_EQ(KAPF_QUEUED, self->tickets[2].verdict);
}

FIXTURE_TEARDOWN(async)
{
	kapf_session_close(self->session);
	close(self->control);
}

TEST_F(async, told_of_the_grant)
{
	struct kapf_ticket *granted = &self->decisions.tickets[0];

	EXPECT_EQ(0, poll_now(self->fd) & POLLIN);
	EXPECT_EQ(0, kapf_pump(self->session));
	EXPECT_EQ(0, kapf_finish(self->session, &self->tickets[0]));
	EXPECT_EQ(POLLIN, poll_now(self->fd) & POLLIN);
	EXPECT_EQ(1, kapf_pump(self->session));
	EXPECT_EQ(0, kapf_pump(self->session));
	ASSERT_EQ(1, self->decisions.nr);
	EXPECT_EQ(KAPF_EXECUTE, granted->verdict);
	EXPECT_EQ(self->tickets[2].slot, granted->slot);
	EXPECT_TRUE(is_uid_of(self->control, granted, "test"));
	EXPECT_EQ(0, kapf_finish(self->session, granted));
	EXPECT_EQ(0, kapf_finish(self->session, &self->tickets[1]));
	EXPECT_EQ(0, seats_in_use(self->control, "test"));
}

/* All three slots are taken, until one is finished or refused. */
TEST_F(async, no_slot_is_left)
{
	struct kapf_ticket ticket;

	EXPECT_EQ(-EBUSY, kapf_submit(self->session, &digest, NULL, 0, decided,
				      &self->decisions, &ticket));
	EXPECT_EQ(0, kapf_cancel(self->session, &self->tickets[2]));
	EXPECT_EQ(-EALREADY, kapf_cancel(self->session, &self->tickets[2]));
	EXPECT_EQ(1, kapf_pump(self->session));
	ASSERT_EQ(1, self->decisions.nr);
	EXPECT_EQ(KAPF_CANCELLED, self->decisions.tickets[0].verdict);
	EXPECT_EQ(0, kapf_submit(self->session, &digest, NULL, MSEC, decided,
				 &self->decisions, &ticket));
	EXPECT_EQ(KAPF_QUEUED, ticket.verdict);
	EXPECT_EQ(self->tickets[2].slot, ticket.slot);
}

/* All slots are taken, and nobody will ever be told of the third. */
TEST_F(async, evicted)
{
	struct kapf_ticket ticket;

	EXPECT_EQ(0, kapf_evict(self->control, last_session(self->control),
				NULL, NULL));
	EXPECT_EQ(POLLHUP, poll_now(self->fd) & POLLHUP);
	EXPECT_EQ(-ESHUTDOWN, kapf_pump(self->session));
	EXPECT_EQ(-ESHUTDOWN, kapf_submit(self->session, &digest, NULL, 0,
					  decided, &self->decisions, &ticket));
	EXPECT_EQ(-ESHUTDOWN, kapf_admit(self->session, &digest, NULL, MSEC,
					 &ticket));
	EXPECT_EQ(0, self->decisions.nr);
}

TEST_F(async, told_of_the_time_out)
{
	struct pollfd poller = { .fd = self->fd, .events = POLLIN };
	struct kapf_ticket ticket;

	EXPECT_EQ(0, kapf_cancel(self->session, &self->tickets[2]));
	EXPECT_EQ(1, kapf_pump(self->session));
	EXPECT_EQ(0, kapf_submit(self->session, &digest, NULL, 20 * MSEC,
				 decided, &self->decisions, &ticket));
	EXPECT_EQ(1, poll(&poller, 1, 10000));
	EXPECT_EQ(1, kapf_pump(self->session));
	ASSERT_EQ(2, self->decisions.nr);
	EXPECT_EQ(KAPF_TIME_OUT, self->decisions.tickets[1].verdict);
	EXPECT_EQ(1, self->decisions.tickets[1].retry_after);
}

/* Waiting and being told of it go together in one session. */
TEST_F(async, beside_one_that_waits)
{
	struct kapf_ticket ticket;

	EXPECT_EQ(0, kapf_cancel(self->session, &self->tickets[2]));
	EXPECT_EQ(1, kapf_pump(self->session));
	EXPECT_EQ(0, kapf_admit(self->session, &digest, NULL, 10 * MSEC,
				&ticket));
	EXPECT_EQ(KAPF_TIME_OUT, ticket.verdict);
	EXPECT_EQ(0, kapf_finish(self->session, &self->tickets[0]));
	EXPECT_EQ(0, kapf_admit(self->session, &digest, NULL, 0, &ticket));
	EXPECT_EQ(KAPF_EXECUTE, ticket.verdict);
	EXPECT_EQ(0, kapf_pump(self->session));
}

/* A callback that goes on with the session: finish, and submit anew. */
static void relay(struct kapf_session *session,
		  const struct kapf_ticket *ticket, void *user)
{
	struct kapf_ticket next;
	int *left = user;

	if (ticket->verdict != KAPF_EXECUTE ||
	    kapf_finish(session, ticket) ||
	    (--*left && (kapf_submit(session, &digest, NULL, 0, relay, user,
				     &next) ||
			 next.verdict != KAPF_EXECUTE ||
			 kapf_finish(session, &next))))
		die("relay");
}

TEST_F(async, callback_uses_the_session)
{
	int left = 2;

	EXPECT_EQ(0, kapf_cancel(self->session, &self->tickets[2]));
	EXPECT_EQ(1, kapf_pump(self->session));
	EXPECT_EQ(0, kapf_submit(self->session, &digest, NULL, 0, relay, &left,
				 &self->tickets[2]));
	EXPECT_EQ(KAPF_QUEUED, self->tickets[2].verdict);
	EXPECT_EQ(0, kapf_finish(self->session, &self->tickets[0]));
	EXPECT_EQ(1, kapf_pump(self->session));
	EXPECT_EQ(1, left);
	EXPECT_EQ(0, kapf_finish(self->session, &self->tickets[1]));
	EXPECT_EQ(0, seats_in_use(self->control, "test"));
}

TEST_F(async, belongs_to_its_process)
{
	pid_t child = fork();

	if (!child)
		_exit(kapf_pump(self->session) != -EPERM ||
		      kapf_cancel(self->session, &self->tickets[2]) != -EPERM);
	EXPECT_EQ(0, reap(child));
}

/* Tenants */

/* The schema "test" of a tenant's servers, one flow for each user. */
static const char tenant_manifest[] =
	"{kind: FlowSchema, metadata: {name: test},\n"
	" apiVersion: flowcontrol.apiserver.k8s.io/v1, spec: {\n"
	" priorityLevelConfiguration: {name: test}, matchingPrecedence: 100,\n"
	" distinguisherMethod: {type: ByUser}, rules: [{subjects: [{kind: Group,\n"
	" group: {name: 'kapf:tenant:blue'}}], resourceRules: [{verbs: ['*'],\n"
	" apiGroups: ['*'], resources: ['*'], namespaces: ['*']}]}]}}\n";

TEST(tenants_have_groups_of_their_own)
{
	static const char *const tenants[] = { NULL, "blue", "red" };
	static const char *const claimed[] = {
		"system:authenticated", "kapf:tenant:blue",
	};
	struct kapf_digest claiming = digest;
	struct kapf_configuration *config;
	struct kapf_server server = { .name = "web", .slots = 1 };
	int control = open_node(CONTROL_NODE, O_RDWR);
	struct kapf_session *session;
	struct kapf_ticket ticket;
	struct kapf_error err;
	size_t i;

	set_up_bare(control);
	configure(control, 100);
	ASSERT_EQ(0, kapf_config_read(&config, control, NULL));
	ASSERT_EQ(0, kapf_config_merge(config, tenant_manifest,
				       strlen(tenant_manifest), "tenant",
				       &err));
	ASSERT_EQ(0, kapf_config_write(config, control, &err));
	kapf_config_free(config);
	claiming.groups = claimed;
	claiming.nr_groups = ARRAY_SIZE(claimed);
	for (i = 0; i < ARRAY_SIZE(tenants); i++) {
		server.tenant = tenants[i];
		ASSERT_EQ(0, kapf_session_open(&session, &server, &err));
		ASSERT_EQ(0, kapf_admit(session, &claiming, NULL, 0, &ticket));
		EXPECT_EQ(i == 1, is_uid_of(control, &ticket, "test"));
		kapf_session_close(session);
	}
	server.tenant = "Blue";
	EXPECT_EQ(-EINVAL, kapf_session_open(&session, &server, &err));
	EXPECT_NE(NULL, strstr(err.text, "of tenant \"Blue\""));
	close(control);
}

/* As a user who is in no group; in another process, to which it may happen. */
static void open_as_stranger(void)
{
	static const char reason[] =
		"no permission to open it: must be in the group kapf, as installed, or root";
	struct kapf_session *session;
	struct kapf_error err;

	if (setgroups(0, NULL) || setgid(65534) || setuid(65534))
		_exit(1);
	if (open_server(&session, NULL, "a", 1, &err) != -EACCES)
		_exit(2);
	_exit(strstr(err.text, reason) ? 0 : 3);
}

TEST(opening_says_who_may)
{
	int status;
	pid_t child = fork();

	if (!child)
		open_as_stranger();
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
}

TEST(opening_says_why_it_fails)
{
	struct kapf_session *session;
	struct kapf_error err;
	char name[100];

	EXPECT_EQ(-ENOENT, open_server(&session, "/dev/none", "a", 1, &err));
	EXPECT_STREQ("/dev/none is not there: is the module kapf loaded?",
		     err.text);
	EXPECT_EQ(-EISDIR, open_server(&session, "/", "a", 1, &err));
	EXPECT_STREQ("/: Is a directory", err.text);
	EXPECT_EQ(-ENOTTY, open_server(&session, "/dev/null", "a", 1, &err));
	EXPECT_NE(NULL, strstr(err.text, "not a node of kapf"));

	EXPECT_EQ(-EINVAL, open_server(&session, NULL, "Web", 1, &err));
	EXPECT_NE(NULL, strstr(err.text, "server \"Web\""));
	EXPECT_EQ(-EINVAL, open_server(&session, NULL, NULL, 1, &err));
	EXPECT_NE(NULL, strstr(err.text, "server \"\""));
	memset(name, 'a', sizeof(name));
	name[64] = '\0';
	EXPECT_EQ(-EINVAL, open_server(&session, NULL, name, 1, &err));
	EXPECT_EQ(-EINVAL, open_server(&session, NULL, "web", ~0u, &err));
	EXPECT_NE(NULL, strstr(err.text, "4294967295 slots"));
	EXPECT_NE(NULL, strstr(err.text,
			       "slots are 1 to max_inflight of the module"));
	EXPECT_EQ(-ENOTTY, open_server(&session, KAPF_CONTROL_NODE, "web", 1,
				       &err));
	EXPECT_NE(NULL, strstr(err.text, "a submit node: " KAPF_SUBMIT_NODE));

	name[63] = '\0';
	ASSERT_EQ(0, open_server(&session, NULL, name, 1, &err));
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
		ret = open_server(&sessions[nr], NULL, "web", 1, &err);
		nr += !ret;
	}
	EXPECT_EQ(-EDQUOT, ret);
	EXPECT_NE(NULL, strstr(err.text, "max_sessions of the module kapf"));
	while (nr)
		kapf_session_close(sessions[--nr]);
}

TEST_HARNESS_MAIN
