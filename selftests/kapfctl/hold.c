// SPDX-License-Identifier: GPL-2.0
/*
 * hold SERVER[/TENANT] USER VERB COUNT [MS [WATCHERS]]: a server that admits COUNT
 * requests of one user at once, which wait for MS, or as long as they may, and
 * concern so many watchers, and holds them until its stdin ends.
 *
 * The requests are for the pod "x,y" of the namespace "ns".  Prints a line with
 * the verdict for each as it comes, and at the end "finished" for each that it
 * could finish.
 */
#include <pthread.h>
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
	.api_group = "apps",
	.api_version = "v1",
	.resource = "pods",
	.subresource = "status",
	.ns = "ns",
	.name = "x,y",
	.path = "/apis/apps/v1/namespaces/ns/pods/x,y/status",
};

static struct kapf_session *session;
static uint64_t max_wait = KAPF_MAX_WAIT_NS;
static struct kapf_work work;

/* Closed, that is locked, until the input ends. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *hold(void *unused)
{
	struct kapf_ticket ticket;
	int ret;

	(void)unused;
	ret = kapf_admit(session, &digest, &work, max_wait, &ticket);
	if (ret < 0)
		printf("error %s\n", strerror(-ret));
	else
		printf("verdict %d\n", ticket.verdict);
	fflush(stdout);
	if (ret < 0 || ticket.verdict != KAPF_EXECUTE)
		return NULL;

	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	if (kapf_finish(session, &ticket) >= 0)
		printf("finished\n");
	return NULL;
}

int main(int argc, char **argv)
{
	struct kapf_server server = {};
	struct kapf_error err;
	pthread_t *threads;
	int i, count;

	if (argc < 5 || argc > 7) {
		fprintf(stderr,
			"usage: hold SERVER[/TENANT] USER VERB COUNT [MS [WATCHERS]]\n");
		return 2;
	}
	server.name = strsep(&argv[1], "/");
	server.tenant = argv[1];
	digest.user = argv[2];
	digest.verb = argv[3];
	count = atoi(argv[4]);
	if (argc > 5)
		max_wait = atoi(argv[5]) * 1000000ULL;
	if (argc > 6)
		work = (struct kapf_work){
			.counts_watchers = true,
			.watchers = atoi(argv[6]),
		};
	if (kapf_session_open(&session, &server, &err) < 0) {
		fprintf(stderr, "hold: %s\n", err.text);
		return 1;
	}
	threads = calloc(count, sizeof(*threads));
	if (!threads)
		return 1;

	pthread_mutex_lock(&gate);
	for (i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, hold, NULL))
			return 1;
	while (getchar() != EOF)
		;
	pthread_mutex_unlock(&gate);
	for (i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	kapf_session_close(session);
	return 0;
}
