// SPDX-License-Identifier: GPL-2.0
/*
 * The event loop: HTTP, the kernel's decisions, clients that hang up while they
 * wait, clients that take too long, and the signals that end it.
 */
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "server.h"

#define MAX_CONNECTIONS	20000
#define OTHER_FILES	64
#define CONNECTION_BYTES 12288 /* line and headers of a request have to fit */
#define MAX_EVENTS	256

/* What a client may take to send a request, or to take an answer. */
#define HURRY_NS	(30 * NSEC_PER_SEC)
/* What the last requests may take when it stops: they may wait for a minute. */
#define STOP_NS		(65 * NSEC_PER_SEC)

/* What an event is of, if not of a request. */
static char of_http, of_session, of_signals;

uint64_t server_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

void server_hurry(struct server *server, struct visitor *visitor)
{
	if (visitor->hurries)
		return;
	visitor->hurries = true;
	visitor->deadline = server_now() + HURRY_NS;
	TAILQ_INSERT_TAIL(&server->hurried, visitor, link);
}

void server_be_patient(struct server *server, struct visitor *visitor)
{
	if (!visitor->hurries)
		return;
	visitor->hurries = false;
	TAILQ_REMOVE(&server->hurried, visitor, link);
}

static void visit(void *data, struct MHD_Connection *connection, void **context,
		  enum MHD_ConnectionNotificationCode code)
{
	const enum MHD_ConnectionInfoType what =
		MHD_CONNECTION_INFO_CONNECTION_FD;
	struct visitor *visitor = *context;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		visitor = calloc(1, sizeof(*visitor));
		if (!visitor)
			abort();
		visitor->fd = MHD_get_connection_info(connection, what)->connect_fd;
		*context = visitor;
		server_hurry(data, visitor);
	} else {
		server_be_patient(data, visitor);
		free(visitor);
	}
}

/* The library closes what it finds shut down. */
static void send_away_late(struct server *server)
{
	uint64_t now = server_now();
	struct visitor *first;

	while ((first = TAILQ_FIRST(&server->hurried)) &&
	       first->deadline <= now) {
		server_be_patient(server, first);
		shutdown(first->fd, SHUT_RDWR);
	}
}

static bool watch(struct server *server, int fd, void *what)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = what };

	return !epoll_ctl(server->poll, EPOLL_CTL_ADD, fd, &event);
}

/* Return: how many connections there are files for. */
static unsigned int connections(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 512;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_cur < MAX_CONNECTIONS + OTHER_FILES ?
		       limit.rlim_cur - OTHER_FILES : MAX_CONNECTIONS;
}

static void start_http(struct server *server, const struct addrinfo *at)
{
	unsigned int flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME;

	if (at->ai_family == AF_INET6)
		flags |= MHD_USE_IPv6;
	server->daemon = MHD_start_daemon(flags, 0, NULL, NULL,
					  request_handle, server,
					  MHD_OPTION_SOCK_ADDR, at->ai_addr,
					  MHD_OPTION_CONNECTION_LIMIT,
					  connections(),
					  MHD_OPTION_CONNECTION_MEMORY_LIMIT,
					  (size_t)CONNECTION_BYTES,
					  MHD_OPTION_STRICT_FOR_CLIENT, 1,
					  MHD_OPTION_NOTIFY_CONNECTION, visit,
					  server,
					  MHD_OPTION_URI_LOG_CALLBACK,
					  request_come, server,
					  MHD_OPTION_NOTIFY_COMPLETED,
					  request_gone, server,
					  MHD_OPTION_END);
}

static bool listen_http(struct server *server)
{
	const struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
	};
	struct addrinfo *found = NULL;
	int ret;

	ret = getaddrinfo(*server->host ? server->host : NULL, server->port,
			  &hints, &found);
	if (ret) {
		fprintf(stderr, "kapf-apiserver: %s:%s: %s\n", server->host,
			server->port, gai_strerror(ret));
		return false;
	}
	errno = 0;
	start_http(server, found);
	freeaddrinfo(found);
	if (!server->daemon)
		fprintf(stderr, "kapf-apiserver: cannot listen at %s:%s: %s\n",
			server->host, server->port, strerror(errno));
	return server->daemon;
}

/* Say where: who asked for port 0 does not know. */
static void announce(const struct server *server)
{
	const enum MHD_DaemonInfoType what = MHD_DAEMON_INFO_BIND_PORT;

	fprintf(stderr, "kapf-apiserver: serving at http://%s:%u\n",
		*server->host ? server->host : "*",
		MHD_get_daemon_info(server->daemon, what)->port);
}

/* Return: a file that is readable when the server is to stop; -1 on failure. */
static int watch_signals(void)
{
	sigset_t ends;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	return signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Return: how long epoll may wait, in ms. */
static int patience(const struct server *server, uint64_t end)
{
	const struct visitor *first = TAILQ_FIRST(&server->hurried);
	uint64_t now = server_now(), until = end;
	MHD_UNSIGNED_LONG_LONG http;
	int ms;

	if (first)
		until = sooner(until, first->deadline);
	if (MHD_get_timeout(server->daemon, &http) == MHD_YES)
		until = sooner(until, now + http * 1000000);
	if (until <= now)
		return 0;
	ms = sooner((until - now) / 1000000 + 1, 3600000);
	return ms;
}

/* Wait, and look at what has happened.  Return: whether a signal has come. */
static bool look(struct server *server, int signals, uint64_t end)
{
	struct epoll_event events[MAX_EVENTS];
	struct signalfd_siginfo signal;
	struct request *request;
	bool ends = false;
	int i, nr;

	nr = epoll_wait(server->poll, events, MAX_EVENTS, patience(server, end));
	for (i = 0; i < nr; i++) {
		if (events[i].data.ptr == &of_signals) {
			ends = read(signals, &signal, sizeof(signal)) > 0;
		} else if (events[i].data.ptr == &of_session) {
			admission_pump(server);
		} else if (events[i].data.ptr != &of_http) {
			/* None is freed before MHD_run(). */
			request = events[i].data.ptr;
			if (request->state == REQUEST_WAITING)
				admission_cancel(request);
		}
	}
	admission_pump(server);
	send_away_late(server);
	MHD_run(server->daemon);
	if (server->log)
		fflush(server->log);
	return ends;
}

/* Return: the socket that has listened, which takes no more connections. */
static int stop_listening(struct server *server)
{
	server->is_stopping = true;
	fprintf(stderr,
		"kapf-apiserver: stopping; %zu requests are not answered yet, %zu of them long-running\n",
		server->nr_requests, server->nr_long_running);
	return MHD_quiesce_daemon(server->daemon);
}

/* The library cannot end what is suspended. */
static void cancel_all(struct server *server)
{
	struct request *request;

	for (request = TAILQ_FIRST(&server->waiting); request;
	     request = TAILQ_NEXT(request, link))
		admission_cancel(request);
	admission_pump(server);
}

static void loop(struct server *server, int signals)
{
	uint64_t end = UINT64_MAX;
	int listener = -1;

	for (;;) {
		bool asked = look(server, signals, end);

		if (!server->is_stopping && (asked || server->has_lost_session)) {
			listener = stop_listening(server);
			end = server_now() + STOP_NS;
		} else if (asked || server_now() >= end) {
			break;
		}
		if (server->is_stopping && !server->nr_requests)
			break;
	}
	cancel_all(server);
	MHD_run(server->daemon);
	MHD_stop_daemon(server->daemon);
	if (listener >= 0)
		close(listener);
}

/**
 * server_run() - serve until a signal, or the end of the session
 * @server: host, port, kapf, identities and log are set, the rest is zero
 *
 * Return: exit status.
 */
int server_run(struct server *server)
{
	const enum MHD_DaemonInfoType what = MHD_DAEMON_INFO_EPOLL_FD;
	struct kapf_error err;
	int signals, ret = 1;

	TAILQ_INIT(&server->hurried);
	TAILQ_INIT(&server->waiting);
	signals = watch_signals();
	if (kapf_session_open(&server->session, &server->kapf, &err) < 0) {
		fprintf(stderr, "kapf-apiserver: %s\n", err.text);
		return 1;
	}
	server->poll = epoll_create1(EPOLL_CLOEXEC);
	if (!listen_http(server))
		goto close;
	if (!watch(server, signals, &of_signals) ||
	    !watch(server, kapf_session_fd(server->session), &of_session) ||
	    !watch(server, MHD_get_daemon_info(server->daemon, what)->epoll_fd,
		   &of_http)) {
		fprintf(stderr, "kapf-apiserver: %s\n", strerror(errno));
		MHD_stop_daemon(server->daemon);
		goto close;
	}
	announce(server);
	loop(server, signals);
	ret = server->has_lost_session;
	if (ret)
		fputs("kapf-apiserver: the session with kapf has ended\n", stderr);
close:
	kapf_session_close(server->session);
	close(server->poll);
	close(signals);
	return ret;
}
