// SPDX-License-Identifier: GPL-2.0
/*
 * Discovery: which APIs there are, and which resources in them.  There is no
 * other API than flow control's, not even the core API.
 */
#include <string.h>

#include "flowcontrol.h"
#include "status.h"

#define GROUP "flowcontrol.apiserver.k8s.io"
#define VERSIONS \
	"\"name\":\"flowcontrol.apiserver.k8s.io\",\"versions\":[{\"groupVersion\":\"flowcontrol.apiserver.k8s.io/v1\",\"version\":\"v1\"}],\"preferredVersion\":{\"groupVersion\":\"flowcontrol.apiserver.k8s.io/v1\",\"version\":\"v1\"}"
#define SCHEMAS \
	"{\"name\":\"flowschemas\",\"singularName\":\"flowschema\",\"namespaced\":false,\"kind\":\"FlowSchema\",\"verbs\":[\"get\",\"list\"]},"
#define SCHEMA_STATUS \
	"{\"name\":\"flowschemas/status\",\"singularName\":\"\",\"namespaced\":false,\"kind\":\"FlowSchema\",\"verbs\":[\"get\"]}"
#define LEVELS \
	"{\"name\":\"prioritylevelconfigurations\",\"singularName\":\"prioritylevelconfiguration\",\"namespaced\":false,\"kind\":\"PriorityLevelConfiguration\",\"verbs\":[\"get\",\"list\"]},"
#define LEVEL_STATUS \
	"{\"name\":\"prioritylevelconfigurations/status\",\"singularName\":\"\",\"namespaced\":false,\"kind\":\"PriorityLevelConfiguration\",\"verbs\":[\"get\"]}"
#define RESOURCES \
	"{\"kind\":\"APIResourceList\",\"apiVersion\":\"v1\",\"groupVersion\":\"flowcontrol.apiserver.k8s.io/v1\",\"resources\":["

static const struct {
	const char *path;
	const char *answer;
} pages[] = {
	{
		"/api",
		"{\"kind\":\"APIVersions\",\"versions\":[],\"serverAddressByClientCIDRs\":[]}",
	}, {
		"/apis",
		"{\"kind\":\"APIGroupList\",\"apiVersion\":\"v1\",\"groups\":[{" VERSIONS "}]}",
	}, {
		"/apis/" GROUP,
		"{\"kind\":\"APIGroup\",\"apiVersion\":\"v1\"," VERSIONS "}",
	}, {
		"/apis/" GROUP "/v1",
		RESOURCES SCHEMAS SCHEMA_STATUS "," LEVELS LEVEL_STATUS "]}",
	},
};

/* Clients may end these paths with a slash. */
static bool is_page(const char *path, const char *page)
{
	size_t len = strlen(page);

	return !strncmp(path, page, len) &&
	       (!path[len] || !strcmp(path + len, "/"));
}

bool discovery_answer(const struct call *call, struct reply *reply)
{
	static const struct status not_allowed = { .code = 405 };
	size_t i;

	for (i = 0; i < sizeof(pages) / sizeof(*pages); i++) {
		if (!is_page(call->path, pages[i].path))
			continue;
		if (strcmp(call->method, "GET") && strcmp(call->method, "HEAD")) {
			status_reply(reply, &not_allowed,
				     "%s is not supported here: GET is",
				     call->method);
			reply_header(reply, "Allow", "GET, HEAD");
			return true;
		}
		reply_text(reply, 200, pages[i].answer);
		reply->content_type = reply->body ? "application/json" : NULL;
		return true;
	}
	return false;
}
