// SPDX-License-Identifier: GPL-2.0
/*
 * kapf-demo-server: a small API server that asks kapf before it serves.
 *
 * All that a server has to do to cooperate is in this file: open a session once
 * (main), and for each request say what it is, ask to be admitted, serve it or
 * answer 429, and say that it is done (serve).  Which FlowSchema and priority
 * level a request belongs to, and that two other servers draw on the same
 * seats, is none of its concern.  Nor does it have to clean up: when it dies,
 * its seats are free.
 *
 * kapf_admit() waits while the request is queued, so each connection has a
 * thread of its own.
 */
#include <err.h>
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "help.h"
#include "objects.h"
#include "wire.h"

#define SLOTS		512 /* requests in flight; more wait for one to end */
#define BACKLOG		512
#define STACK_BYTES	(128 * 1024)
#define HEAP_STEP	(8 * 1024 * 1024)

static struct kapf_session *session; /* NULL: serve without admission */

static int answer(int fd, const struct kapf_digest *digest)
{
	if (!strcmp(digest->verb, "list"))
		return objects_list(fd);
	return objects_write(fd);
}

/* Returns 0, or -1 when the client is gone. */
static int serve(int fd, const struct kapf_digest *digest)
{
	struct wire_status_line line = { .status = WIRE_SERVER_ERROR };
	struct kapf_ticket ticket;
	int ret;

	if (!session)
		return answer(fd, digest);
	if (kapf_admit(session, digest, NULL, 0, &ticket) < 0)
		return wire_send_status(fd, &line);
	if (ticket.verdict != KAPF_EXECUTE) {
		line.status = WIRE_TOO_MANY_REQUESTS;
		line.retry_after = ticket.retry_after;
		line.verdict = ticket.verdict;
		return wire_send_status(fd, &line);
	}
	ret = answer(fd, digest);
	kapf_finish(session, &ticket);
	return ret;
}

static void *serve_connection(void *arg)
{
	struct wire_request request;
	int fd = (intptr_t)arg;

	while (!wire_recv_request(fd, &request))
		if (serve(fd, &request.digest))
			break;
	close(fd);
	return NULL;
}

static int listen_on(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(address.sun_path))
		errx(1, "%s: a socket's path has at most %zu characters", path,
		     sizeof(address.sun_path) - 1);
	strcpy(address.sun_path, path);
	unlink(path);
	if (fd < 0 ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(fd, BACKLOG))
		err(1, "%s", path);
	return fd;
}

static void accept_forever(int listener)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	for (;;) {
		intptr_t fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		pthread_t thread;

		if (fd < 0)
			err(1, "accept");
		errno = pthread_create(&thread, &attr, serve_connection,
				       (void *)fd);
		if (errno)
			err(1, "thread");
	}
}

/*
 * All threads share one heap of 4 KiB pages.  As with other servers, it grows to
 * what the requests in flight have needed at most, and does not shrink.
 */
static void set_up_heap(void)
{
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, HEAP_STEP);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
	mallopt(M_TOP_PAD, HEAP_STEP);
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
}

static const char help[] =
"usage: kapf-demo-server [--admission] NAME SOCKET\n"
"\n"
"Serves LISTs and heartbeats at a socket; with --admission only when kapf admits\n"
"them to the server of this name.\n";

int main(int argc, char **argv)
{
	bool admission = argc == 4 && !strcmp(argv[1], "--admission");
	struct kapf_server server = { .slots = SLOTS };
	struct kapf_error error;

	help_if_asked(argc, argv, help);
	if (!admission && argc != 3) {
		fputs(help, stderr);
		return 2;
	}
	set_up_heap();
	server.name = argv[argc - 2];
	if (admission && kapf_session_open(&session, &server, &error))
		errx(1, "%s", error.text);
	accept_forever(listen_on(argv[argc - 1]));
}
