// SPDX-License-Identifier: GPL-2.0
/*
 * Who answers what.
 */
#include <json-c/json.h>
#include <string.h>

#include "flowcontrol.h"
#include "libkapf_config.h"
#include "server.h"
#include "status.h"

/* The release of Kubernetes whose flow control this is. */
#define KUBE_MAJOR "1"
#define KUBE_MINOR "37"
#define KUBE_VERSION "v1.37.2+kapf-" KAPF_VERSION

static bool is_get(const struct call *call)
{
	return !strcmp(call->method, MHD_HTTP_METHOD_GET) ||
	       !strcmp(call->method, MHD_HTTP_METHOD_HEAD);
}

static void answer_version(const struct server *server, struct reply *reply)
{
	static const struct {
		const char *key;
		const char *value;
	} parts[] = {
		{ "major", KUBE_MAJOR },
		{ "minor", KUBE_MINOR },
		{ "gitVersion", KUBE_VERSION },
		{ "gitCommit", "" },
		{ "gitTreeState", "" },
		{ "buildDate", "" },
		{ "goVersion", "" },
		{ "compiler", "gcc" },
		{ "platform", "linux/amd64" },
	};
	struct json_object *version = json_object_new_object();
	size_t i;

	(void)server;
	for (i = 0; version && i < sizeof(parts) / sizeof(*parts); i++)
		json_object_object_add(version, parts[i].key,
				       json_object_new_string(parts[i].value));
	reply_json(reply, MHD_HTTP_OK, version);
	json_object_put(version);
}

/* It lives as long as it answers at all. */
static void answer_live(const struct server *server, struct reply *reply)
{
	(void)server;
	reply_text(reply, MHD_HTTP_OK, "ok");
}

/* It is of use as long as it takes requests and can have them admitted. */
static void answer_ready(const struct server *server, struct reply *reply)
{
	if (server->is_stopping)
		reply_text(reply, MHD_HTTP_SERVICE_UNAVAILABLE,
			   "[-]shutdown failed: the server is stopping\n");
	else if (server->has_lost_session)
		reply_text(reply, MHD_HTTP_SERVICE_UNAVAILABLE,
			   "[-]kapf failed: the session has ended\n");
	else
		reply_text(reply, MHD_HTTP_OK, "ok");
}

static const struct {
	const char *path;
	void (*answer)(const struct server *server, struct reply *reply);
} pages[] = {
	{ "/version", answer_version },
	{ "/livez", answer_live },
	{ "/healthz", answer_ready },
	{ "/readyz", answer_ready },
};

static void answer_page(const struct server *server, const struct call *call,
			struct reply *reply, size_t page)
{
	static const struct status not_allowed = {
		.code = MHD_HTTP_METHOD_NOT_ALLOWED,
	};

	if (is_get(call)) {
		pages[page].answer(server, reply);
		return;
	}
	status_reply(reply, &not_allowed, "%s is not supported here: GET is",
		     call->method);
	reply_header(reply, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
}

/*
 * In a session of its own: the kernel takes what it has handed over to one as known
 * there, but those that admit go by what libkapf has read.
 */
static int read_config(void *data, struct kapf_configuration **config,
		       struct kapf_error *err)
{
	struct kapf_server reader = *(const struct kapf_server *)data;
	struct kapf_session *session;
	int ret;

	reader.slots = 1;
	ret = kapf_session_open(&session, &reader, err);
	if (ret < 0)
		return ret;
	ret = kapf_config_read(config, kapf_session_fd(session), err);
	kapf_session_close(session);
	return ret;
}

/**
 * answer() - answer a request that has been admitted
 * @server: that is asked
 * @call: the request
 * @reply: out
 */
void answer(const struct server *server, const struct call *call,
	    struct reply *reply)
{
	const struct flowcontrol flowcontrol = {
		.read = read_config, .data = (void *)&server->kapf,
	};
	static const struct status not_found = {
		.code = MHD_HTTP_NOT_FOUND,
	};
	size_t i;

	for (i = 0; i < sizeof(pages) / sizeof(*pages); i++)
		if (!strcmp(call->path, pages[i].path)) {
			answer_page(server, call, reply, i);
			return;
		}
	if (discovery_answer(call, reply) ||
	    flowcontrol_answer(&flowcontrol, call, reply))
		return;
	status_reply(reply, &not_found,
		     "the server could not find the requested resource");
}
