// SPDX-License-Identifier: GPL-2.0
/*
 * The access log: a line of JSON for each request, when its answer has been sent.
 *
 * Its keys are those of a kube-apiserver's log, where that has such; of objects
 * there are UIDs, as in the answer's headers.
 */
#include <arpa/inet.h>
#include <json-c/json.h>
#include <netinet/in.h>
#include <string.h>
#include <time.h>

#include "server.h"

static void add_text(struct json_object *line, const char *key,
		     const char *text)
{
	json_object_object_add(line, key, json_object_new_string(text));
}

static void add_number(struct json_object *line, const char *key, uint64_t value)
{
	json_object_object_add(line, key, json_object_new_int64(value));
}

/* In ms, as a text with its unit. */
static void add_duration(struct json_object *line, const char *key, uint64_t ns)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu.%06llums",
		 (unsigned long long)(ns / 1000000),
		 (unsigned long long)(ns % 1000000));
	add_text(line, key, text);
}

static void add_time(struct json_object *line)
{
	struct timespec now;
	struct tm parts;
	char date[32], text[64];

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &parts);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &parts);
	snprintf(text, sizeof(text), "%s.%06ldZ", date, now.tv_nsec / 1000);
	add_text(line, "time", text);
}

static void add_client(struct json_object *line, const struct request *request)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(request->connection,
					MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const struct sockaddr_in6 *v6;
	const struct sockaddr_in *v4;
	char text[INET6_ADDRSTRLEN] = "";

	if (!info || !info->client_addr)
		return;
	v4 = (const void *)info->client_addr;
	v6 = (const void *)info->client_addr;
	if (info->client_addr->sa_family == AF_INET)
		inet_ntop(AF_INET, &v4->sin_addr, text, sizeof(text));
	else if (info->client_addr->sa_family == AF_INET6)
		inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof(text));
	add_text(line, "srcIP", text);
}

static void add_admission(struct json_object *line,
			  const struct request *request)
{
	char uid[UID_TEXT_BYTES];

	if (!request->is_classified)
		return;
	format_uid(uid, request->ticket.level_uid);
	add_text(line, "apf_pl_uid", uid);
	format_uid(uid, request->ticket.schema_uid);
	add_text(line, "apf_fs_uid", uid);
	add_number(line, "apf_iseats", request->work.initial_seats);
	add_number(line, "apf_fseats", request->work.final_seats);
	add_duration(line, "apf_additionalLatency",
		     request->work.additional_latency);
	add_duration(line, "wait", request->decided - request->submitted);
}

/**
 * access_log() - tell of a request
 * @request: is over
 */
void access_log(const struct request *request)
{
	FILE *log = request->server->log;
	struct json_object *line;

	if (!log)
		return;
	line = json_object_new_object();
	if (!line)
		return;
	add_time(line);
	add_text(line, "method", request->method ?: "");
	add_text(line, "verb", request->http ? request->http->verb : "");
	add_text(line, "URI", request->uri ?: "");
	add_text(line, "user", request->who ? request->who->user : "");
	add_client(line, request);
	add_number(line, "resp", request->is_gone ? 0 : request->reply.status);
	add_duration(line, "latency", server_now() - request->begun);
	if (request->is_long_running)
		json_object_object_add(line, "longRunning",
				       json_object_new_boolean(true));
	if (request->is_gone)
		json_object_object_add(line, "hungUp",
				       json_object_new_boolean(true));
	add_admission(line, request);
	fprintf(log, "%s\n",
		json_object_to_json_string_ext(line, JSON_C_TO_STRING_PLAIN |
					       JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(line);
}
