// SPDX-License-Identifier: GPL-2.0
/*
 * One request's way through the server, as libmicrohttpd brings it: its line, its
 * headers, its body, its end.
 *
 * Once its headers are there it has to be admitted; its body is read after that,
 * so that what waits takes little memory.  A request that is refused is answered
 * when all of it has been read, for an answer to less ends the connection.
 */
#include <stdlib.h>
#include <string.h>

#include "duration.h"
#include "server.h"
#include "status.h"

#define MAX_BODY_BYTES		(3 << 20) /* as a kube-apiserver */
#define MAX_DISCARDED_BYTES	(2 * MAX_BODY_BYTES)

void *request_come(void *data, const char *uri,
		   struct MHD_Connection *connection)
{
	struct request *request = calloc(1, sizeof(*request));
	const enum MHD_ConnectionInfoType what =
		MHD_CONNECTION_INFO_SOCKET_CONTEXT;

	if (!request)
		return NULL;
	request->server = data;
	request->connection = connection;
	request->visitor =
		MHD_get_connection_info(connection, what)->socket_context;
	request->uri = strdup(uri);
	request->begun = server_now();
	request->server->nr_requests++;
	/* An idle connection had its time; the request has its own. */
	server_be_patient(data, request->visitor);
	server_hurry(data, request->visitor);
	return request;
}

static const char *header_of(const struct request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND,
					   name);
}

static void fail(struct request *request, unsigned int code,
		 const char *message)
{
	const struct status status = { .code = code };

	status_reply(&request->reply, &status, "%s", message);
}

/* A quarter of the time that the client gives the whole; not that of a watch. */
static bool set_max_wait(struct request *request)
{
	const char *text = MHD_lookup_connection_value(request->connection,
						       MHD_GET_ARGUMENT_KIND,
						       "timeout");
	uint64_t timeout = 0;

	request->max_wait = KAPF_DEFAULT_WAIT_NS;
	if (!text || !*text || !strcmp(request->http->verb, "watch"))
		return true;
	if (!duration_parse(&timeout, text)) {
		fail(request, MHD_HTTP_BAD_REQUEST,
		     "the timeout in the URL is no duration, as 30s is");
		return false;
	}
	if (timeout)
		request->max_wait = timeout / 4 < KAPF_MAX_WAIT_NS ?
					    timeout / 4 : KAPF_MAX_WAIT_NS;
	return true;
}

/* As the headers say. */
static unsigned long long body_length(const struct request *request)
{
	const char *length = header_of(request, MHD_HTTP_HEADER_CONTENT_LENGTH);

	return length ? strtoull(length, NULL, 10) : 0;
}

/*
 * Return: whether what is too large is to be answered before it has come, which
 * ends the connection: who is still sending then may not see the answer, but a
 * client that has asked whether it shall send is not.
 */
static bool is_answered_early(const struct request *request)
{
	return request->reply.status == MHD_HTTP_CONTENT_TOO_LARGE &&
	       (header_of(request, MHD_HTTP_HEADER_EXPECT) ||
		body_length(request) > MAX_DISCARDED_BYTES);
}

/* Return: whether it is worth being admitted; else it has been answered. */
static bool understand(struct request *request)
{
	struct kapf_error err;

	if (body_length(request) > MAX_BODY_BYTES) {
		fail(request, MHD_HTTP_CONTENT_TOO_LARGE,
		     "Request entity too large: limit is 3145728");
		return false;
	}
	request->who = identity_of(request->server->identities,
				   header_of(request,
					     MHD_HTTP_HEADER_AUTHORIZATION));
	if (!request->who) {
		fail(request, MHD_HTTP_UNAUTHORIZED, "Unauthorized");
		return false;
	}
	if (!request->uri ||
	    kapf_http_request_parse(&request->http, request->method,
				    request->uri, &err) < 0) {
		fail(request, MHD_HTTP_BAD_REQUEST,
		     request->uri ? err.text : "not enough memory");
		return false;
	}
	return set_max_wait(request);
}

/* What it costs: the store holds nothing that would make a list wide. */
static void estimate(struct request *request)
{
	const struct kapf_store nothing = {};

	kapf_http_request_digest(request->http, &request->digest);
	request->digest.user = request->who->user;
	request->digest.groups = request->who->groups;
	request->digest.nr_groups = request->who->nr_groups;
	kapf_work_estimate(&request->work, request->http, &nothing, 0,
			   KAPF_LIST_BY_SIZE);
}

static enum MHD_Result send_reply(struct request *request)
{
	struct reply *reply = &request->reply;
	struct MHD_Response *response;
	char uid[UID_TEXT_BYTES];
	enum MHD_Result ret;
	size_t i;

	response = MHD_create_response_from_buffer(reply->length, reply->body,
						   MHD_RESPMEM_MUST_FREE);
	if (!response)
		return MHD_NO;
	reply->body = NULL;
	if (reply->content_type)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
					reply->content_type);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL,
				"no-cache, private");
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	for (i = 0; i < reply->nr_headers; i++)
		MHD_add_response_header(response, reply->headers[i].name,
					reply->headers[i].value);
	if (request->is_classified) {
		format_uid(uid, request->ticket.schema_uid);
		MHD_add_response_header(response, "X-Kubernetes-PF-FlowSchema-UID",
					uid);
		format_uid(uid, request->ticket.level_uid);
		MHD_add_response_header(response,
					"X-Kubernetes-PF-PriorityLevel-UID", uid);
	}
	if (request->server->is_stopping)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION,
					"close");
	ret = MHD_queue_response(request->connection, reply->status, response);
	MHD_destroy_response(response);
	return ret;
}

static enum MHD_Result begin(struct request *request, const char *method)
{
	request->method = method;
	request->state = REQUEST_READING;
	if (!understand(request))
		return is_answered_early(request) ? send_reply(request) :
						    MHD_YES;
	estimate(request);
	if (kapf_http_request_is_long_running(request->http)) {
		request->is_long_running = true;
		request->server->nr_long_running++;
		return MHD_YES;
	}
	admission_ask(request);
	return MHD_YES;
}

/* Return: false where memory is short. */
static bool keep(struct request *request, const char *part, size_t len)
{
	size_t room = request->room ? request->room : 1024;
	char *body;

	while (room < request->length + len + 1)
		room *= 2;
	if (room != request->room) {
		body = realloc(request->body, room);
		if (!body)
			return false;
		request->body = body;
		request->room = room;
	}
	memcpy(request->body + request->length, part, len);
	request->body[request->length + len] = '\0';
	return true;
}

static enum MHD_Result read_body(struct request *request, const char *part,
				 size_t len)
{
	if (!request->reply.status &&
	    request->length + len > MAX_BODY_BYTES)
		fail(request, MHD_HTTP_CONTENT_TOO_LARGE,
		     "Request entity too large: limit is 3145728");
	if (request->length + len > MAX_DISCARDED_BYTES)
		return MHD_NO;
	if (!request->reply.status && !keep(request, part, len))
		fail(request, MHD_HTTP_INTERNAL_SERVER_ERROR,
		     "not enough memory");
	request->length += len;
	return MHD_YES;
}

static void serve(struct request *request)
{
	const char *accept = header_of(request, MHD_HTTP_HEADER_ACCEPT);
	const char *type = header_of(request, MHD_HTTP_HEADER_CONTENT_TYPE);
	const char *query = strchr(request->uri, '?');
	const struct call call = {
		.method = request->method,
		.path = request->http->path,
		.query = query ? query + 1 : "",
		.accept = accept ?: "",
		.content_type = type ?: "",
		.body = request->body ?: "",
		.length = request->length,
		.user = request->who->user,
		.groups = request->who->groups,
		.nr_groups = request->who->nr_groups,
	};

	answer(request->server, &call, &request->reply);
}

enum MHD_Result request_handle(void *data, struct MHD_Connection *connection,
			       const char *url, const char *method,
			       const char *version, const char *upload,
			       size_t *upload_len, void **context)
{
	struct request *request = *context;
	size_t len = *upload_len;

	(void)data;
	(void)connection;
	(void)url;
	(void)version;
	if (!request || request->is_gone)
		return MHD_NO;
	*upload_len = 0;
	switch (request->state) {
	case REQUEST_NEW:
		return begin(request, method);
	case REQUEST_WAITING:
		return MHD_YES;
	case REQUEST_DECIDED:
		/* As if the headers had just come. */
		request->state = REQUEST_READING;
		return MHD_YES;
	case REQUEST_READING:
		break;
	}
	if (len)
		return read_body(request, upload, len);
	if (!request->reply.status)
		serve(request);
	return send_reply(request);
}

void request_gone(void *data, struct MHD_Connection *connection,
		  void **context, enum MHD_RequestTerminationCode code)
{
	struct request *request = *context;
	struct server *server = data;

	(void)connection;
	(void)code;
	*context = NULL;
	if (!request)
		return;
	admission_end(request);
	access_log(request);
	server->nr_requests--;
	server->nr_long_running -= request->is_long_running;
	server_be_patient(server, request->visitor);
	server_hurry(server, request->visitor);
	kapf_http_request_free(request->http);
	free(request->reply.body);
	free(request->body);
	free(request->uri);
	free(request);
}
