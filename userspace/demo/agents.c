// SPDX-License-Identifier: GPL-2.0
/*
 * kapf-demo-agents: the agents of one ServiceAccount, all restarted at once.
 *
 * An agent that starts LISTs ciliumendpoints in all namespaces.  It does what it
 * can to get an answer:
 *
 * - when its server dies, it turns to the next one at once; when it has found
 *   none alive, it tries again after a pause that doubles;
 * - when it is told to come back later (429), it stays away for Retry-After,
 *   and for a random time on top, of which the bound doubles each time;
 * - when it would have to come back later than GIVE_UP after its start, it gives
 *   up: its LIST is lost.
 *
 * What became of them is printed as one JSON object.
 */
#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "array_size.h"
#include "client.h"
#include "help.h"
#include "timing.h"

#define GIVE_UP_NS	(25 * SEC_NS)
#define CONNECT_NS	(1 * SEC_NS) /* to be connected before they start */
#define SILENCE_NS	(20 * SEC_NS) /* longer than a request can wait */
#define FIRST_PAUSE_NS	(250 * MSEC_NS)
#define MOST_DOUBLINGS	3
#define STACK_BYTES	(64 * 1024)
#define MOST_AGENTS	10000

static const char *const groups[] = {
	"system:serviceaccounts",
	"system:serviceaccounts:d8-cni-cilium",
	"system:authenticated",
};

/**
 * struct agent - one agent
 * @thread: that it is
 * @client: its connection
 * @seed: of its random numbers
 * @served: its LIST has been answered
 * @attempts: requests sent
 * @broken: those that no server answered, as it was dead, died or failed
 * @broken_in_row: the same, since the last answer
 * @rejected: requests answered with 429
 * @reasons: the same, by enum kapf_verdict
 */
struct agent {
	pthread_t thread;
	struct client client;
	unsigned int seed;
	bool served;
	unsigned int attempts;
	unsigned int broken;
	unsigned int broken_in_row;
	unsigned int rejected;
	unsigned int reasons[KAPF_RECLASSIFY];
};

static const struct kapf_digest request = {
	.user = "system:serviceaccount:d8-cni-cilium:agent",
	.groups = groups,
	.nr_groups = ARRAY_SIZE(groups),
	.is_resource = true,
	.verb = "list",
	.api_group = "cilium.io",
	.api_version = "v2",
	.resource = "ciliumendpoints",
};

static struct samples latency = { .lock = PTHREAD_MUTEX_INITIALIZER };
static uint64_t restart; /* when */

static uint64_t doubled(uint64_t ns, unsigned int times)
{
	return ns << (times < MOST_DOUBLINGS ? times : MOST_DOUBLINGS);
}

/* How long to stay away after a 429. */
static uint64_t polite_pause(struct agent *agent, unsigned int retry_after)
{
	const uint64_t asked = retry_after * SEC_NS;
	const double random = (double)rand_r(&agent->seed) / RAND_MAX;

	return asked + doubled(asked, agent->rejected - 1) * random;
}

/* How long to wait when a server was found dead: each gets its turn first. */
static uint64_t search_pause(const struct agent *agent)
{
	const unsigned int servers = agent->client.nr;

	if (agent->broken_in_row % servers)
		return 0;
	return doubled(FIRST_PAUSE_NS, agent->broken_in_row / servers - 1);
}

/* One request.  If it fails: how long to wait before the next. */
static bool try_list(struct agent *agent, uint64_t *pause)
{
	struct wire_status_line answer;

	agent->attempts++;
	if (client_call(&agent->client, &request, &answer) ||
	    answer.status == WIRE_SERVER_ERROR) {
		agent->broken++;
		agent->broken_in_row++;
		*pause = search_pause(agent);
		return false;
	}
	agent->broken_in_row = 0;
	if (answer.status == WIRE_OK)
		return true;
	agent->rejected++;
	agent->reasons[answer.verdict]++;
	*pause = polite_pause(agent, answer.retry_after);
	return false;
}

static void *run_agent(void *arg)
{
	struct agent *agent = arg;
	uint64_t pause;

	client_connect(&agent->client);
	sleep_until_ns(restart);
	while (!try_list(agent, &pause)) {
		if (now_ns() + pause > restart + GIVE_UP_NS)
			return NULL;
		sleep_until_ns(now_ns() + pause);
	}
	samples_add(&latency, now_ns() - restart);
	agent->served = true;
	client_close(&agent->client);
	return NULL;
}

static void print_result(const struct agent *agents, unsigned int nr)
{
	unsigned int served = 0, attempts = 0, broken = 0, rejected = 0;
	unsigned int reasons[KAPF_RECLASSIFY] = { };
	unsigned int i, v;

	for (i = 0; i < nr; i++) {
		served += agents[i].served;
		attempts += agents[i].attempts;
		broken += agents[i].broken;
		rejected += agents[i].rejected;
		for (v = 0; v < KAPF_RECLASSIFY; v++)
			reasons[v] += agents[i].reasons[v];
	}
	printf("{");
	samples_print(&latency, "list");
	printf("\"list_served\": %u, ", served);
	printf("\"list_lost\": %u, ", nr - served);
	printf("\"list_retries\": %u, ", attempts - nr);
	printf("\"list_broken\": %u, ", broken);
	printf("\"list_rejections\": %u, ", rejected);
	printf("\"list_rejections_queue_full\": %u, ",
	       reasons[KAPF_QUEUE_FULL]);
	printf("\"list_rejections_concurrency_limit\": %u, ",
	       reasons[KAPF_CONCURRENCY_LIMIT]);
	printf("\"list_rejections_time_out\": %u}\n",
	       reasons[KAPF_TIME_OUT]);
}

static const char help[] =
"usage: kapf-demo-agents NUMBER SOCKET...\n"
"\n"
"Starts so many agents at once, which LIST from the servers at these sockets, and\n"
"prints what became of them.\n";

int main(int argc, char **argv)
{
	unsigned int i, nr = 0;
	struct agent *agents;
	pthread_attr_t attr;
	char *end = "?";

	help_if_asked(argc, argv, help);
	if (argc > 2)
		nr = strtoul(argv[1], &end, 10);
	if (*end || nr > MOST_AGENTS) {
		fprintf(stderr, "%sNUMBER is 0 to %d.\n", help, MOST_AGENTS);
		return 2;
	}
	agents = calloc(nr, sizeof(*agents));
	if (!agents)
		err(1, "agents");
	restart = now_ns() + CONNECT_NS;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (i = 0; i < nr; i++) {
		client_init(&agents[i].client, argv + 2, argc - 2, i,
			    SILENCE_NS);
		agents[i].seed = i;
		errno = pthread_create(&agents[i].thread, &attr, run_agent,
				       &agents[i]);
		if (errno)
			err(1, "thread");
	}
	for (i = 0; i < nr; i++)
		pthread_join(agents[i].thread, NULL);
	print_result(agents, nr);
	return 0;
}
