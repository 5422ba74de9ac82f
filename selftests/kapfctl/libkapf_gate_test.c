// SPDX-License-Identifier: GPL-2.0
/*
 * Gates of libkapf against a module that comes and goes, and sessions that are
 * evicted: nothing is lost, nothing is told twice, and each way is told once.
 *
 * Skipped where the module's file is not at hand or the module is in use.
 */
#include "kapf_test.h"

#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include <libkapf.h>

#define WORKERS	4

static const char *const groups[] = { "system:authenticated" };

static const struct kapf_digest digest = {
	.user = "alice", .groups = groups, .nr_groups = 1,
	.verb = "get", .path = "/x",
};

/* A level "test" of all seats but one, to which all paths go. */
static const char manifest[] =
	"{kind: PriorityLevelConfiguration, metadata: {name: test},\n"
	" apiVersion: flowcontrol.apiserver.k8s.io/v1, spec: {type: Limited,\n"
	" limited: {nominalConcurrencyShares: 100000, limitResponse:\n"
	" {type: Queue, queuing: {queues: 4, handSize: 1,\n"
	" queueLengthLimit: 50}}}}}\n"
	"---\n"
	"{kind: FlowSchema, metadata: {name: test},\n"
	" apiVersion: flowcontrol.apiserver.k8s.io/v1, spec: {\n"
	" priorityLevelConfiguration: {name: test}, matchingPrecedence: 100,\n"
	" distinguisherMethod: {type: ByUser}, rules: [{subjects: [{kind: User,\n"
	" user: {name: alice}}], nonResourceRules: [{verbs: ['*'],\n"
	" nonResourceURLs: ['*']}]}]}}\n";

/* A server, and what its gate has told it. */
struct server {
	struct kapf_gate *gate;
	unsigned int nr_fallen;
	unsigned int nr_back;
	unsigned int nr_told;
	struct kapf_gate_ticket told;
};

FIXTURE(gate) {
	int module;	/* its file */
	int control;
	struct server server;
};

static int load(int module)
{
	return syscall(SYS_finit_module, module, "", 0) ? -errno : 0;
}

/* Who has just closed a node may not be through with it. */
static int unload(void)
{
	int ret = -1;

	for (int tries = 0; ret && tries < 50; tries++) {
		ret = syscall(SYS_delete_module, "kapf", O_NONBLOCK) ?
			-errno : 0;
		if (ret)
			sleep_ms(20);
	}
	return ret;
}

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

FIXTURE_SETUP(gate)
{
	struct utsname name;
	char path[256];

	uname(&name);
	snprintf(path, sizeof(path), "/lib/modules/%s/extra/kapf.ko",
		 name.release);
	self->module = open(path, O_RDONLY | O_CLOEXEC);
	if (self->module < 0)
		SKIP(return, "no module at %s", path);
	if (unload())
		SKIP(return, "somebody uses the module");
	ASSERT_EQ(0, load(self->module));
	self->control = open_node(CONTROL_NODE, O_RDWR);
	configure(self->control, 2);
}

FIXTURE_TEARDOWN(gate)
{
	kapf_gate_close(self->server.gate);
	close(self->control);
	load(self->module);
	close(self->module);
}

static void changed(struct kapf_gate *gate, const struct kapf_error *why,
		    void *user)
{
	struct server *server = user;

	(void)gate;
	if (why)
		server->nr_fallen++;
	else
		server->nr_back++;
}

static void decided(struct kapf_gate *gate,
		    const struct kapf_gate_ticket *ticket, void *user)
{
	struct server *server = user;

	(void)gate;
	server->nr_told++;
	server->told = *ticket;
}

static int open_gate(struct server *server)
{
	const struct kapf_gate_options options = {
		.server = { .name = "test" },
		.fallback = KAPF_FALLBACK_LOCAL,
		.changed = changed,
		.user = server,
	};

	return kapf_gate_open(&server->gate, &options, NULL);
}

static int submit(struct server *server, struct kapf_gate_ticket *ticket)
{
	int ret = kapf_gate_submit(server->gate, &digest, NULL, 0, decided, server,
				   ticket);

	return ret ? ret : (int)ticket->ticket.verdict;
}

/* Pump until a count has come so far, or 10 s have gone. */
static bool pump_until(struct kapf_gate *gate, const unsigned int *count,
		       unsigned int wanted)
{
	struct pollfd poller = {
		.fd = kapf_gate_fd(gate), .events = POLLIN,
	};
	__u64 end = now_ns() + 10 * NSEC_PER_SEC;

	while (*count < wanted && now_ns() < end)
		if (poll(&poller, 1, 100) == 1)
			kapf_gate_pump(gate);
	return *count == wanted;
}

static int evict(int control)
{
	struct kapf_evict arg = {
		.size = sizeof(arg), .session = last_session(control),
	};

	return call(control, KAPF_EVICT, &arg);
}

TEST_F(gate, is_a_session_while_there_is_one)
{
	struct kapf_gate_ticket first, second, third;

	ASSERT_EQ(0, open_gate(&self->server));
	EXPECT_EQ(KAPF_EXECUTE, submit(&self->server, &first));
	EXPECT_EQ(KAPF_EXECUTE, submit(&self->server, &second));
	EXPECT_EQ(KAPF_QUEUED, submit(&self->server, &third));
	EXPECT_EQ(2, seats_in_use(self->control, "test"));
	EXPECT_EQ(0, kapf_gate_finish(self->server.gate, &first));
	EXPECT_TRUE(pump_until(self->server.gate, &self->server.nr_told, 1));
	EXPECT_EQ(KAPF_EXECUTE, self->server.told.ticket.verdict);
	EXPECT_EQ(0, kapf_gate_finish(self->server.gate, &second));
	EXPECT_EQ(0, kapf_gate_finish(self->server.gate, &self->server.told));
	EXPECT_EQ(0, seats_in_use(self->control, "test"));
	EXPECT_EQ(0, self->server.nr_fallen);
}

TEST_F(gate, begins_without_a_module)
{
	struct kapf_gate_ticket ours, theirs;

	close(self->control);
	ASSERT_EQ(0, unload());
	ASSERT_EQ(0, open_gate(&self->server));
	EXPECT_EQ(1, self->server.nr_fallen);
	EXPECT_EQ(KAPF_EXECUTE, submit(&self->server, &ours));

	ASSERT_EQ(0, load(self->module));
	self->control = open_node(CONTROL_NODE, O_RDWR);
	configure(self->control, 2);
	ASSERT_TRUE(pump_until(self->server.gate, &self->server.nr_back, 1));
	EXPECT_EQ(KAPF_EXECUTE, submit(&self->server, &theirs));
	EXPECT_EQ(1, seats_in_use(self->control, "test"));
	/* The one finishes where it began. */
	EXPECT_EQ(0, kapf_gate_finish(self->server.gate, &ours));
	EXPECT_EQ(1, seats_in_use(self->control, "test"));
	EXPECT_EQ(0, kapf_gate_finish(self->server.gate, &theirs));
	EXPECT_EQ(0, seats_in_use(self->control, "test"));
	EXPECT_EQ(1, self->server.nr_fallen);
}

TEST_F(gate, outlives_its_session)
{
	struct kapf_gate_ticket executing[2], waiting, again;

	ASSERT_EQ(0, open_gate(&self->server));
	EXPECT_EQ(KAPF_EXECUTE, submit(&self->server, &executing[0]));
	EXPECT_EQ(KAPF_EXECUTE, submit(&self->server, &executing[1]));
	EXPECT_EQ(KAPF_QUEUED, submit(&self->server, &waiting));
	ASSERT_EQ(0, evict(self->control));
	EXPECT_TRUE(pump_until(self->server.gate, &self->server.nr_told, 1));
	EXPECT_EQ(KAPF_RECLASSIFY, self->server.told.ticket.verdict);
	EXPECT_EQ(1, self->server.nr_fallen);

	/* By the same configuration, with its two seats. */
	EXPECT_EQ(KAPF_EXECUTE, submit(&self->server, &waiting));
	EXPECT_EQ(KAPF_EXECUTE, submit(&self->server, &again));
	EXPECT_EQ(0, memcmp(executing[0].ticket.level_uid,
			    again.ticket.level_uid, KAPF_UID_BYTES));
	EXPECT_EQ(0, kapf_gate_finish(self->server.gate, &executing[0]));

	/* Of the session nothing keeps the module from going. */
	close(self->control);
	EXPECT_EQ(0, unload());
	EXPECT_EQ(0, kapf_gate_finish(self->server.gate, &executing[1]));
	EXPECT_EQ(0, kapf_gate_finish(self->server.gate, &waiting));
	ASSERT_EQ(0, load(self->module));
	self->control = open_node(CONTROL_NODE, O_RDWR);
	EXPECT_TRUE(pump_until(self->server.gate, &self->server.nr_back, 1));
	EXPECT_EQ(0, kapf_gate_finish(self->server.gate, &again));
	EXPECT_EQ(1, self->server.nr_told);
	EXPECT_EQ(1, self->server.nr_fallen);
}

TEST_F(gate, tells_who_was_cancelled_of_that)
{
	struct kapf_gate_ticket executing[2], waiting;

	ASSERT_EQ(0, open_gate(&self->server));
	EXPECT_EQ(KAPF_EXECUTE, submit(&self->server, &executing[0]));
	EXPECT_EQ(KAPF_EXECUTE, submit(&self->server, &executing[1]));
	EXPECT_EQ(KAPF_QUEUED, submit(&self->server, &waiting));
	ASSERT_EQ(0, evict(self->control));
	EXPECT_EQ(0, kapf_gate_cancel(self->server.gate, &waiting));
	EXPECT_TRUE(pump_until(self->server.gate, &self->server.nr_told, 1));
	EXPECT_EQ(KAPF_CANCELLED, self->server.told.ticket.verdict);
}

/* Of one worker: asked, told, in turn. */
struct worker {
	pthread_t thread;
	struct kapf_gate *gate;
	const bool *stop;
	atomic_int told;	/* the verdict; 0: not yet */
	struct kapf_gate_ticket ticket;
	unsigned int nr_served;
	unsigned int nr_again;
	unsigned int nr_wrong;
};

static void worker_told(struct kapf_gate *gate,
			const struct kapf_gate_ticket *ticket, void *user)
{
	struct worker *worker = user;

	(void)gate;
	if (worker->told)
		worker->nr_wrong++;
	worker->ticket = *ticket;
	worker->told = ticket->ticket.verdict;
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	struct kapf_gate_ticket ticket;
	int verdict;

	while (!__atomic_load_n(worker->stop, __ATOMIC_RELAXED)) {
		worker->told = 0;
		if (kapf_gate_submit(worker->gate, &digest, NULL, 0,
				     worker_told, worker, &ticket)) {
			worker->nr_wrong++;
			break;
		}
		verdict = ticket.ticket.verdict;
		if (verdict == KAPF_QUEUED) {
			while (!worker->told)
				sched_yield();
			verdict = worker->told;
			ticket = worker->ticket;
		}
		if (verdict == KAPF_EXECUTE) {
			kapf_gate_finish(worker->gate, &ticket);
			worker->nr_served++;
		} else if (verdict == KAPF_RECLASSIFY) {
			worker->nr_again++;
		} else {
			worker->nr_wrong++;
		}
	}
	return NULL;
}

TEST_F(gate, loses_nothing_under_load)
{
	struct worker workers[WORKERS] = {};
	unsigned int served = 0;
	bool stop = false;

	ASSERT_EQ(0, open_gate(&self->server));
	for (int i = 0; i < WORKERS; i++) {
		workers[i].gate = self->server.gate;
		workers[i].stop = &stop;
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	}
	for (unsigned int i = 1; i <= 3; i++) {
		/* Some load on the session */
		for (int j = 0; j < 100; j++) {
			kapf_gate_pump(self->server.gate);
			sleep_ms(1);
		}
		EXPECT_EQ(0, evict(self->control));
		EXPECT_TRUE(pump_until(self->server.gate, &self->server.nr_fallen, i));
		EXPECT_TRUE(pump_until(self->server.gate, &self->server.nr_back, i));
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < WORKERS; i++) {
		while (pthread_tryjoin_np(workers[i].thread, NULL))
			kapf_gate_pump(self->server.gate);
		EXPECT_EQ(0, workers[i].nr_wrong);
		served += workers[i].nr_served;
	}
	EXPECT_LT(1000, served);
	EXPECT_EQ(3, self->server.nr_fallen);
	EXPECT_EQ(0, seats_in_use(self->control, "test"));
}

TEST_HARNESS_MAIN
