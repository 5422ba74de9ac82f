// SPDX-License-Identifier: GPL-2.0
/*
 * load USER THREADS SERVICE PAUSE: a server, load, whose threads each admit a
 * request of the user, serve it for SERVICE ms, finish it, and pause for PAUSE ms,
 * again and again until stdin ends.  Prints then how many were seated and how many
 * refused.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libkapf.h"

static const char *const groups[] = { "system:authenticated" };
static struct kapf_digest digest = {
	.groups = groups,
	.nr_groups = 1,
	.is_resource = true,
	.verb = "list",
	.api_version = "v1",
	.resource = "pods",
	.ns = "ns",
	.path = "/api/v1/namespaces/ns/pods",
};

static struct kapf_session *session;
static unsigned int service, pause_between;
static atomic_bool stop;
static atomic_uint seated, refused;

static void *work(void *unused)
{
	struct kapf_ticket ticket;

	(void)unused;
	while (!stop) {
		if (kapf_admit(session, &digest, NULL, 0, &ticket) < 0)
			break;
		if (ticket.verdict == KAPF_EXECUTE) {
			usleep(service * 1000);
			kapf_finish(session, &ticket);
			seated++;
		} else {
			refused++;
		}
		usleep(pause_between * 1000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct kapf_server server = { .name = "load" };
	struct kapf_error err;
	pthread_t *threads;
	int i, count;

	if (argc != 5) {
		fprintf(stderr, "usage: load USER THREADS SERVICE PAUSE\n");
		return 2;
	}
	digest.user = argv[1];
	count = atoi(argv[2]);
	server.slots = count;
	service = atoi(argv[3]);
	pause_between = atoi(argv[4]);
	if (kapf_session_open(&session, &server, &err) < 0) {
		fprintf(stderr, "load: %s\n", err.text);
		return 1;
	}
	threads = calloc(count, sizeof(*threads));
	if (!threads)
		return 1;
	for (i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, work, NULL))
			return 1;
	while (getchar() != EOF)
		;
	stop = true;
	for (i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	kapf_session_close(session);
	printf("seated %u refused %u\n", seated, refused);
	return 0;
}
