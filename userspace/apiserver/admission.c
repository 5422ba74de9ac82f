// SPDX-License-Identifier: GPL-2.0
/*
 * Admission: what a request has to wait for before it is served.
 *
 * While one waits its connection is suspended, so that it costs neither a thread
 * nor a look; only that its client hangs up is to be seen, for the place in the
 * queue is another's then.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#include "server.h"
#include "status.h"

void format_uid(char text[UID_TEXT_BYTES], const uint8_t uid[KAPF_UID_BYTES])
{
	char *to = text;
	int i;

	for (i = 0; i < KAPF_UID_BYTES; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*to++ = '-';
		to += sprintf(to, "%02x", uid[i]);
	}
}

static void watch_client(struct request *request)
{
	struct epoll_event event = {
		.events = EPOLLRDHUP | EPOLLONESHOT,
		.data.ptr = request,
	};

	/* Without it, it waits in vain: no harm but to itself. */
	epoll_ctl(request->server->poll, EPOLL_CTL_ADD, request->visitor->fd,
		  &event);
}

static void refuse(struct request *request, unsigned int code,
		   unsigned int retry_after, const char *message)
{
	const struct status status = {
		.code = code, .retry_after = retry_after,
	};

	status_reply(&request->reply, &status, "%s", message);
}

/* There is no decision, as the kernel cannot be asked. */
static void refuse_failed(struct request *request, int error)
{
	if (error == -EBUSY)
		refuse(request, MHD_HTTP_TOO_MANY_REQUESTS, 1,
		       "Too many requests, please try again later.");
	else
		refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE, 1,
		       "Requests cannot be admitted at the moment.");
}

static void take_decision(struct request *request)
{
	const struct kapf_ticket *ticket = &request->ticket;

	request->decided = server_now();
	request->is_classified = true;
	request->executes = ticket->verdict == KAPF_EXECUTE;
	if (!request->executes)
		refuse(request, MHD_HTTP_TOO_MANY_REQUESTS, ticket->retry_after,
		       "Too many requests, please try again later.");
}

static void resume(struct request *request)
{
	struct server *server = request->server;

	TAILQ_REMOVE(&server->waiting, request, link);
	epoll_ctl(server->poll, EPOLL_CTL_DEL, request->visitor->fd, NULL);
	request->state = REQUEST_DECIDED;
	server_hurry(server, request->visitor);
	MHD_resume_connection(request->connection);
}

static int submit(struct request *request, kapf_decided_fn *decided)
{
	uint64_t waited = server_now() - request->submitted;
	uint64_t max_wait = waited < request->max_wait ?
				    request->max_wait - waited : 1;

	return kapf_submit(request->server->session, &request->digest,
			   &request->work, max_wait, decided, request,
			   &request->ticket);
}

static void decided(struct kapf_session *session,
		    const struct kapf_ticket *ticket, void *user)
{
	struct request *request = user;
	int ret;

	(void)session;
	request->ticket = *ticket;
	if (ticket->verdict == KAPF_RECLASSIFY && !request->is_gone) {
		ret = submit(request, decided);
		if (!ret && request->ticket.verdict == KAPF_QUEUED)
			return;
		if (ret < 0) {
			refuse_failed(request, ret);
			resume(request);
			return;
		}
	}
	take_decision(request);
	resume(request);
}

/**
 * admission_ask() - ask for the seats that a request needs
 * @request: with a digest; it waits then, executes, or has been answered
 */
void admission_ask(struct request *request)
{
	struct server *server = request->server;
	int ret;

	request->submitted = server_now();
	if (server->has_lost_session) {
		refuse_failed(request, -ESHUTDOWN);
		return;
	}
	ret = submit(request, decided);
	if (ret < 0) {
		refuse_failed(request, ret);
		return;
	}
	if (request->ticket.verdict != KAPF_QUEUED) {
		take_decision(request);
		return;
	}
	request->state = REQUEST_WAITING;
	TAILQ_INSERT_TAIL(&server->waiting, request, link);
	server_be_patient(server, request->visitor);
	MHD_suspend_connection(request->connection);
	watch_client(request);
}

/**
 * admission_cancel() - the client of a request that waits has hung up
 * @request: is told of by admission_pump()
 *
 * It may have been granted its seats meanwhile; then they are given back as it
 * ends.
 */
void admission_cancel(struct request *request)
{
	request->is_gone = true;
	kapf_cancel(request->server->session, &request->ticket);
}

/**
 * admission_end() - give back what a request has
 * @request: has been answered, or never will be
 */
void admission_end(struct request *request)
{
	if (request->executes)
		kapf_finish(request->server->session, &request->ticket);
	request->executes = false;
}

/* Whoever waits would do so for ever. */
static void lose_session(struct server *server)
{
	struct request *request;

	server->has_lost_session = true;
	while ((request = TAILQ_FIRST(&server->waiting))) {
		request->decided = server_now();
		refuse_failed(request, -ESHUTDOWN);
		resume(request);
	}
}

/**
 * admission_pump() - see what has been decided
 * @server: of which requests wait
 */
void admission_pump(struct server *server)
{
	if (!server->has_lost_session &&
	    kapf_pump(server->session) == -ESHUTDOWN)
		lose_session(server);
}
