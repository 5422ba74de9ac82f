/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The server: one thread with one event loop.  A request goes from request.c
 * (what has come) to admission.c (may it be served?), to answer.c (by whom), and
 * into the access log.
 */
#ifndef APISERVER_SERVER_H
#define APISERVER_SERVER_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/queue.h>
#include "call.h"
#include "identity.h"
#include "libkapf.h"

#define NSEC_PER_SEC 1000000000ULL
#define UID_TEXT_BYTES 37

/**
 * struct visitor - a connection
 * @link: among those that have to hurry
 * @fd: its socket
 * @hurries: its client is awaited: for a request, or to take an answer
 * @deadline: until when, CLOCK_MONOTONIC
 */
struct visitor {
	TAILQ_ENTRY(visitor) link;
	int fd;
	bool hurries;
	uint64_t deadline;
};

TAILQ_HEAD(visitor_list, visitor);

/**
 * enum request_state - how far a request is
 * @REQUEST_NEW: its line has been read, maybe its headers
 * @REQUEST_WAITING: for seats; the connection is suspended
 * @REQUEST_DECIDED: the connection has been resumed
 * @REQUEST_READING: its body is read
 */
enum request_state {
	REQUEST_NEW,
	REQUEST_WAITING,
	REQUEST_DECIDED,
	REQUEST_READING,
};

/**
 * struct request - an HTTP request, until its answer has been sent
 * @link: among those that wait
 * @server: that it was made to
 * @connection: that it came on
 * @visitor: likewise
 * @state: how far it is
 * @method: of HTTP
 * @uri: as it came
 * @http: what it is; NULL where that cannot be said
 * @who: asks; NULL where that is not known
 * @digest: what is classified
 * @work: what it costs
 * @ticket: of its admission
 * @is_classified: @ticket says by which objects
 * @executes: it holds seats
 * @is_long_running: it is served without admission
 * @is_gone: its client hung up while it waited
 * @begun: when it came, CLOCK_MONOTONIC
 * @submitted: when it was submitted; 0: not at all
 * @decided: when that was decided
 * @max_wait: ns that it may wait from @submitted on
 * @body: what has come of it, and a NUL
 * @length: of @body, whether it is kept or not
 * @room: at @body
 * @reply: the answer; its status is 0 until there is one
 */
struct request {
	TAILQ_ENTRY(request) link;
	struct server *server;
	struct MHD_Connection *connection;
	struct visitor *visitor;
	enum request_state state;
	const char *method;
	char *uri;
	struct kapf_http_request *http;
	const struct identity *who;
	struct kapf_digest digest;
	struct kapf_work work;
	struct kapf_ticket ticket;
	bool is_classified;
	bool executes;
	bool is_long_running;
	bool is_gone;
	uint64_t begun;
	uint64_t submitted;
	uint64_t decided;
	uint64_t max_wait;
	char *body;
	size_t length;
	size_t room;
	struct reply reply;
};

TAILQ_HEAD(request_list, request);

/**
 * struct server - all there is
 * @host: name or number where it listens
 * @port: likewise
 * @kapf: as what it is known to the kernel
 * @identities: who is known
 * @log: access log, or NULL
 * @session: with the kernel
 * @daemon: that speaks HTTP
 * @poll: what the loop waits for
 * @hurried: visitors, by deadline
 * @waiting: requests that wait
 * @nr_requests: requests that have come and are not answered
 * @nr_long_running: of these, how many are served without admission
 * @is_stopping: no more are taken
 * @has_lost_session: none can be admitted any more
 */
struct server {
	const char *host;
	const char *port;
	struct kapf_server kapf;
	struct identities *identities;
	FILE *log;
	struct kapf_session *session;
	struct MHD_Daemon *daemon;
	int poll;
	struct visitor_list hurried;
	struct request_list waiting;
	size_t nr_requests;
	size_t nr_long_running;
	bool is_stopping;
	bool has_lost_session;
};

/* server.c */
uint64_t server_now(void);
void server_hurry(struct server *server, struct visitor *visitor);
void server_be_patient(struct server *server, struct visitor *visitor);
int server_run(struct server *server);

/* request.c: what libmicrohttpd calls; their data is the server */
void *request_come(void *data, const char *uri,
		   struct MHD_Connection *connection);
enum MHD_Result request_handle(void *data, struct MHD_Connection *connection,
			       const char *url, const char *method,
			       const char *version, const char *upload,
			       size_t *upload_len, void **context);
void request_gone(void *data, struct MHD_Connection *connection,
		  void **context, enum MHD_RequestTerminationCode code);

/* admission.c */
void admission_ask(struct request *request);
void admission_cancel(struct request *request);
void admission_end(struct request *request);
void admission_pump(struct server *server);
void format_uid(char text[UID_TEXT_BYTES], const uint8_t uid[KAPF_UID_BYTES]);

/* answer.c */
void answer(const struct server *server, const struct call *call,
	    struct reply *reply);

/* access_log.c */
void access_log(const struct request *request);

#endif /* APISERVER_SERVER_H */
