// SPDX-License-Identifier: GPL-2.0
/*
 * Metrics over HTTP.
 *
 * The control node is opened for each answer: between two of them the module can
 * be unloaded, and another one loaded.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>
#include <microhttpd.h>

#include "metrics.h"

/*
 * Who is slow, or says nothing, shall not hold up the others: the connection that
 * was made first gives way when there are too many.  The library would let the
 * newest wait instead, so its limit is the greater.
 */
#define MAX_VISITORS 64
#define MAX_CONNECTIONS 128
#define TIMEOUT_S 30

#define TEXT "text/plain; charset=utf-8"
#define METRICS "text/plain; version=0.0.4; charset=utf-8"

/**
 * struct visitor - a connection
 * @link: among those that are welcome, the first of which came first
 * @fd: its socket
 * @is_welcome: it has not had to give way
 */
struct visitor {
	TAILQ_ENTRY(visitor) link;
	int fd;
	bool is_welcome;
};

/* Of the one thread that the library has. */
static TAILQ_HEAD(visitor_list, visitor) visitors = TAILQ_HEAD_INITIALIZER(visitors);
static unsigned int nr_visitors;

static void send_away(struct visitor *visitor)
{
	TAILQ_REMOVE(&visitors, visitor, link);
	visitor->is_welcome = false;
	nr_visitors--;
}

/* The library closes what it finds shut down. */
static void welcome(struct visitor *visitor)
{
	struct visitor *first = TAILQ_FIRST(&visitors);

	if (nr_visitors == MAX_VISITORS) {
		send_away(first);
		shutdown(first->fd, SHUT_RDWR);
	}
	TAILQ_INSERT_TAIL(&visitors, visitor, link);
	visitor->is_welcome = true;
	nr_visitors++;
}

static int socket_of(struct MHD_Connection *connection)
{
	const enum MHD_ConnectionInfoType what =
		MHD_CONNECTION_INFO_CONNECTION_FD;

	return MHD_get_connection_info(connection, what)->connect_fd;
}

static void visit(void *data, struct MHD_Connection *connection, void **context,
		  enum MHD_ConnectionNotificationCode code)
{
	struct visitor *visitor = *context;

	(void)data;
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		visitor = need(calloc(1, sizeof(*visitor)));
		visitor->fd = socket_of(connection);
		welcome(visitor);
		*context = visitor;
	} else {
		if (visitor->is_welcome)
			send_away(visitor);
		free(visitor);
	}
}

static enum MHD_Result reply(struct MHD_Connection *connection,
			     unsigned int status, const char *type,
			     struct MHD_Response *response)
{
	enum MHD_Result ret = MHD_NO;

	if (!response)
		return ret;
	if (MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
				    type) == MHD_YES &&
	    (status != MHD_HTTP_METHOD_NOT_ALLOWED ||
	     MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW,
				     "GET, HEAD") == MHD_YES))
		ret = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return ret;
}

static enum MHD_Result say(struct MHD_Connection *connection,
			   unsigned int status, const char *text)
{
	return reply(connection, status, TEXT,
		     MHD_create_response_from_buffer(strlen(text),
						     (void *)text,
						     MHD_RESPMEM_PERSISTENT));
}

/* Return: the metrics, and how long they are; NULL after a complaint. */
static char *read_metrics(size_t *len)
{
	struct gathering gathering;
	char *text = NULL;
	FILE *to;
	int fd;

	fd = open_control(O_RDONLY);
	if (fd < 0)
		return NULL;
	if (!gather(&gathering, fd)) {
		to = need(open_memstream(&text, len));
		write_metrics(to, &gathering);
		if (fclose(to))
			need(NULL);
	}
	free_gathering(&gathering);
	close(fd);
	return text;
}

static enum MHD_Result answer(void *data, struct MHD_Connection *connection,
			      const char *path, const char *method,
			      const char *version, const char *upload,
			      size_t *upload_len, void **request)
{
	static char begun;
	char *text;
	size_t len;

	(void)data, (void)version, (void)upload;
	/* A reply to less than the whole request would end the connection. */
	if (!*request || *upload_len) {
		*request = &begun;
		*upload_len = 0;
		return MHD_YES;
	}
	if (strcmp(method, MHD_HTTP_METHOD_GET) &&
	    strcmp(method, MHD_HTTP_METHOD_HEAD))
		return say(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
			   "Only GET and HEAD.\n");
	if (!strcmp(path, "/"))
		return say(connection, MHD_HTTP_OK,
			   "kapfctl metrics: they are at /metrics\n");
	if (strcmp(path, "/metrics"))
		return say(connection, MHD_HTTP_NOT_FOUND,
			   "Only /metrics is here.\n");
	text = read_metrics(&len);
	if (!text)
		return say(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
			   "The control node cannot be read; kapfctl has said why on its stderr.\n");
	return reply(connection, MHD_HTTP_OK, METRICS,
		     MHD_create_response_from_buffer(len, text,
						     MHD_RESPMEM_MUST_FREE));
}

/* Say where: who asked for port 0 does not know. */
static void announce(int fd)
{
	struct sockaddr_storage at;
	socklen_t len = sizeof(at);
	char host[64], port[8];

	if (getsockname(fd, (struct sockaddr *)&at, &len) ||
	    getnameinfo((struct sockaddr *)&at, len, host, sizeof(host), port,
			sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV))
		return;
	fprintf(stderr, "kapfctl: metrics are at http://%s%s%s:%s/metrics\n",
		at.ss_family == AF_INET6 ? "[" : "", host,
		at.ss_family == AF_INET6 ? "]" : "", port);
}

/**
 * serve_metrics() - answer requests for metrics until SIGTERM or SIGINT
 * @listener: socket that listens
 *
 * Return: exit status.
 */
int serve_metrics(int listener)
{
	struct MHD_Daemon *daemon;
	sigset_t ends;
	int signal;

	/* Before the daemon has a thread, which is not to get them either. */
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	/* Without its log, which says what is wrong with requests. */
	daemon = MHD_start_daemon(MHD_USE_AUTO_INTERNAL_THREAD, 0, NULL, NULL,
				  answer, NULL,
				  MHD_OPTION_LISTEN_SOCKET, listener,
				  MHD_OPTION_CONNECTION_LIMIT, MAX_CONNECTIONS,
				  MHD_OPTION_CONNECTION_TIMEOUT, TIMEOUT_S,
				  MHD_OPTION_NOTIFY_CONNECTION, visit, NULL,
				  MHD_OPTION_END);
	if (!daemon) {
		complain("cannot serve HTTP: %s", strerror(errno));
		close(listener);
		return REFUSED;
	}
	announce(listener);
	sigwait(&ends, &signal);
	MHD_stop_daemon(daemon);
	return DONE;
}

/**
 * struct address - where to listen
 * @host: name or number; "": all addresses of this machine
 * @port: number
 */
struct address {
	char *host;
	char *port;
};

/* Cut HOST:PORT, [HOST]:PORT or :PORT into two. */
static bool cut_address(struct address *address, char *text)
{
	char *colon = strrchr(text, ':'), *end;
	unsigned long port;

	if (!colon)
		return false;
	*address = (struct address){ .host = text, .port = colon + 1 };
	*colon = '\0';
	port = strtoul(address->port, &end, 10);
	if (*address->port < '0' || *address->port > '9' || *end ||
	    port > 65535)
		return false;
	if (*text == '[' && colon[-1] == ']' && colon - text > 2) {
		address->host++;
		colon[-1] = '\0';
		return true;
	}
	return !strpbrk(text, ":[]");
}

static int try_listen(const struct addrinfo *at)
{
	const int yes = 1, no = 0;
	int fd;

	fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	/* Of all addresses, those of IPv4 too. */
	if (at->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
	if (!bind(fd, at->ai_addr, at->ai_addrlen) && !listen(fd, SOMAXCONN))
		return fd;
	close(fd);
	return -1;
}

/* Return: a socket; or -1, and in @why the reason. */
static int listen_host(const char *host, const char *port, const char **why)
{
	const struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
	};
	struct addrinfo *found = NULL, *at;
	int ret, fd = -1;

	ret = getaddrinfo(host, port, &hints, &found);
	if (ret) {
		*why = gai_strerror(ret);
		return -1;
	}
	for (at = found; at && fd < 0; at = at->ai_next)
		fd = try_listen(at);
	if (fd < 0)
		*why = strerror(errno);
	freeaddrinfo(found);
	return fd;
}

/**
 * listen_at() - listen at an address that the command line gives, or end the
 *	program as wrongly typed
 * @command: whose option it is
 * @address: of the option
 *
 * Return: a socket, or -1 after a complaint.
 */
int listen_at(const struct command *command, const char *address)
{
	char *text = need(strdup(address));
	struct address parts;
	const char *why;
	int fd;

	if (!cut_address(&parts, text))
		exit(usage_error(command,
				 "--listen \"%s\" is not accepted: must be HOST:PORT, [HOST]:PORT or :PORT, as in localhost:9101",
				 address));
	fd = listen_host(*parts.host ? parts.host : "::", parts.port, &why);
	if (fd < 0 && !*parts.host)
		fd = listen_host("0.0.0.0", parts.port, &why);
	if (fd < 0)
		complain("cannot listen at %s: %s", address, why);
	free(text);
	return fd;
}
