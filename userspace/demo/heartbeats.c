// SPDX-License-Identifier: GPL-2.0
/*
 * kapf-demo-heartbeats: the small requests that a cluster lives by.
 *
 * Twenty kubelets say that their nodes are alive: each renews the lease of its
 * node, and every tenth time patches the node's status instead.  The controller
 * manager and the scheduler renew the leases by which they are the leaders.
 * All of them begin a beat every PERIOD, and one that is not answered within
 * DEADLINE, by whichever server, is missed.  (In a cluster both are about ten
 * times as long.)
 *
 * Runs until SIGTERM, then prints what became of the beats as one JSON object.
 */
#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include "client.h"
#include "help.h"
#include "timing.h"

#define PERIOD_NS	(200 * MSEC_NS)
#define DEADLINE_NS	(1 * SEC_NS)
#define PAUSE_NS	(10 * MSEC_NS) /* before the next server is tried */
#define STATUS_EVERY	10
#define KUBELETS	20
#define STACK_BYTES	(64 * 1024)

#define LEASES "coordination.k8s.io"

/**
 * struct tally - what became of the beats of one kind
 * @name: of the kind
 * @latency: of those that were answered in time
 * @missed: how many were not
 */
struct tally {
	const char *name;
	struct samples latency;
	atomic_uint missed;
};

static struct tally heartbeats = {
	.name = "heartbeat",
	.latency.lock = PTHREAD_MUTEX_INITIALIZER,
};

static struct tally renewals = {
	.name = "lease",
	.latency.lock = PTHREAD_MUTEX_INITIALIZER,
};

/**
 * struct sender - one kubelet or controller
 * @thread: that it is
 * @client: its connection
 * @tally: where its beats are counted
 * @user: its name
 * @node: name of its node; "" for a controller
 * @phase: ns from the begin of a period to its beat
 */
struct sender {
	pthread_t thread;
	struct client client;
	struct tally *tally;
	char user[64];
	char node[32];
	uint64_t phase;
};

static atomic_bool stop;

static struct kapf_digest kubelet_beat(const struct sender *sender,
				       unsigned int count)
{
	static const char *const groups[] = {
		"system:nodes", "system:authenticated",
	};
	const bool status = count % STATUS_EVERY == STATUS_EVERY - 1;

	return (struct kapf_digest){
		.user = sender->user,
		.groups = groups,
		.nr_groups = 2,
		.is_resource = true,
		.verb = status ? "patch" : "update",
		.api_group = status ? "" : LEASES,
		.api_version = "v1",
		.resource = status ? "nodes" : "leases",
		.subresource = status ? "status" : "",
		.ns = status ? "" : "kube-node-lease",
		.name = sender->node,
	};
}

static struct kapf_digest controller_beat(const struct sender *sender)
{
	static const char *const groups[] = { "system:authenticated" };

	return (struct kapf_digest){
		.user = sender->user,
		.groups = groups,
		.nr_groups = 1,
		.is_resource = true,
		.verb = "update",
		.api_group = LEASES,
		.api_version = "v1",
		.resource = "leases",
		.ns = "kube-system",
		.name = sender->user + strlen("system:"),
	};
}

static void beat(struct sender *sender, const struct kapf_digest *digest)
{
	const uint64_t begin = now_ns();
	struct wire_status_line answer;

	while (client_call(&sender->client, digest, &answer) ||
	       answer.status != WIRE_OK) {
		sleep_until_ns(now_ns() + PAUSE_NS);
		if (now_ns() > begin + DEADLINE_NS)
			break;
	}
	if (now_ns() > begin + DEADLINE_NS)
		sender->tally->missed++;
	else
		samples_add(&sender->tally->latency, now_ns() - begin);
}

static void *run_sender(void *arg)
{
	struct sender *sender = arg;
	uint64_t due = now_ns() + sender->phase;
	unsigned int count;

	for (count = 0; !stop; count++) {
		struct kapf_digest digest = *sender->node ?
			kubelet_beat(sender, count) : controller_beat(sender);

		sleep_until_ns(due);
		beat(sender, &digest);
		/* A beat that took longer than a period delays the next. */
		due = due + PERIOD_NS > now_ns() ? due + PERIOD_NS : now_ns();
	}
	client_close(&sender->client);
	return NULL;
}

static void describe(struct sender *sender, unsigned int i)
{
	sender->phase = i * PERIOD_NS / (KUBELETS + 2);
	if (i < KUBELETS) {
		sender->tally = &heartbeats;
		snprintf(sender->node, sizeof(sender->node), "n%u", i);
		snprintf(sender->user, sizeof(sender->user), "system:node:%s",
			 sender->node);
	} else {
		sender->tally = &renewals;
		strcpy(sender->user, i == KUBELETS ?
		       "system:kube-controller-manager" :
		       "system:kube-scheduler");
	}
}

static void print_tally(struct tally *tally)
{
	samples_print(&tally->latency, tally->name);
	printf("\"%s_served\": %zu, ", tally->name, tally->latency.nr);
	printf("\"%s_missed\": %u", tally->name, tally->missed);
}

static const char help[] =
"usage: kapf-demo-heartbeats SOCKET...\n"
"\n"
"Sends the heartbeats of 20 nodes and the lease renewals of two controllers to\n"
"the servers at these sockets, until SIGTERM; then prints what became of them.\n";

int main(int argc, char **argv)
{
	static struct sender senders[KUBELETS + 2];
	const unsigned int nr = KUBELETS + 2;
	pthread_attr_t attr;
	sigset_t terminate;
	unsigned int i;
	int signal;

	help_if_asked(argc, argv, help);
	if (argc < 2 || argv[1][0] == '-') {
		fputs(help, stderr);
		return 2;
	}
	sigemptyset(&terminate);
	sigaddset(&terminate, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &terminate, NULL);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (i = 0; i < nr; i++) {
		describe(&senders[i], i);
		client_init(&senders[i].client, argv + 1, argc - 1, i,
			    DEADLINE_NS);
		errno = pthread_create(&senders[i].thread, &attr, run_sender,
				       &senders[i]);
		if (errno)
			err(1, "thread");
	}
	sigwait(&terminate, &signal);
	stop = true;
	for (i = 0; i < nr; i++)
		pthread_join(senders[i].thread, NULL);
	printf("{");
	print_tally(&heartbeats);
	printf(", ");
	print_tally(&renewals);
	printf("}\n");
	return 0;
}
