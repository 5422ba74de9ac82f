// SPDX-License-Identifier: GPL-2.0
/*
 * The flow control API over a configuration in memory.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flowcontrol.h"
#include "libkapf.h"
#include "libkapf_config.h"
#include "test.h"

#define V1 "/apis/flowcontrol.apiserver.k8s.io/v1"

/* The default objects, of which one schema has lost its level. */
static int read_config(void *data, struct kapf_configuration **config,
		       struct kapf_error *err)
{
	if (data) {
		strcpy(err->text, data);
		return -ENODEV;
	}
	*config = kapf_config_new();
	kapf_config_add_defaults(*config);
	kapf_config_remove_level(*config, "leader-election");
	(*config)->generation = 77;
	return 0;
}

static struct reply ask(const char *method, const char *path, const char *query)
{
	const struct flowcontrol flowcontrol = { .read = read_config };
	const struct call call = {
		.method = method, .path = path, .query = query,
		.accept = "", .content_type = "", .body = "", .user = "u",
	};
	struct reply reply = {};

	if (!discovery_answer(&call, &reply))
		flowcontrol_answer(&flowcontrol, &call, &reply);
	return reply;
}

/* The text at @pointer (RFC 6901) in the body; frees what was there before. */
static const char *at(const struct reply *reply, const char *pointer)
{
	static char text[512];
	struct json_object *tree = json_tokener_parse(reply->body ?: "");
	struct json_object *value = NULL;

	if (json_pointer_get(tree, pointer, &value))
		strcpy(text, "nothing");
	else
		snprintf(text, sizeof(text), "%s",
			 json_object_get_string(value));
	json_object_put(tree);
	return text;
}

static const struct {
	const char *method;
	const char *path;
	const char *query;
	unsigned int status;
	const char *pointer;
	const char *wanted;
} asked[] = {
	{ "GET", "/api", "", 200, "/versions", "[ ]" },
	{ "GET", "/apis", "", 200, "/groups/0/preferredVersion/version", "v1" },
	{ "GET", "/apis/", "", 200, "/kind", "APIGroupList" },
	{ "GET", V1, "", 200, "/resources/0/verbs", "[ \"get\", \"list\" ]" },
	{ "GET", V1, "", 200, "/resources/3/name",
	  "prioritylevelconfigurations/status" },
	{ "POST", "/apis", "", 405, "/reason", "MethodNotAllowed" },
	{ "GET", V1 "/flowschemas", "", 200, "/kind", "FlowSchemaList" },
	{ "GET", V1 "/flowschemas", "", 200, "/metadata/resourceVersion",
	  "77" },
	{ "GET", V1 "/flowschemas", "limit=500", 200, "/items/0/metadata/name",
	  "catch-all" },
	{ "GET", V1 "/flowschemas", "", 200, "/items/0/kind", "nothing" },
	{ "GET", V1 "/prioritylevelconfigurations", "", 200,
	  "/items/1/spec/exempt/lendablePercent", "0" },
	{ "GET", V1 "/flowschemas", "watch=1", 400, "/reason", "BadRequest" },
	{ "GET", V1 "/flowschemas", "labelSelector=a%3Db", 400, "/status",
	  "Failure" },
	{ "GET", V1 "/flowschemas/exempt", "", 200, "/status/conditions/0/status",
	  "False" },
	{ "GET", V1 "/flowschemas/system-leader-election/status", "", 200,
	  "/status/conditions/0/status", "True" },
	{ "GET", V1 "/flowschemas/exempt", "", 200, "/kind", "FlowSchema" },
	{ "GET", V1 "/prioritylevelconfigurations/system", "", 200, "/status",
	  "{ }" },
	{ "GET", V1 "/flowschemas/system", "", 404, "/details/kind",
	  "flowschemas" },
	{ "DELETE", V1 "/flowschemas/exempt", "", 405, "/code", "405" },
};

static void test_other_paths(void)
{
	static const char *const paths[] = {
		"/", "/api/v1", "/apix", V1 "/flowschemasx", V1 "/flowschemas/",
		V1 "/flowschemas/exempt/scale", V1 "beta3/flowschemas",
	};
	struct reply reply;
	size_t i;

	for (i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		reply = ask("GET", paths[i], "");
		ok(!reply.status && !reply.body, "%s is not answered", paths[i]);
		free(reply.body);
	}
}

void test_flowcontrol(void)
{
	const struct flowcontrol gone = {
		.read = read_config, .data = "no device",
	};
	const struct call call = {
		.method = "GET", .path = V1 "/flowschemas", .query = "",
	};
	struct reply reply = {};
	size_t i;

	for (i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
		struct reply got = ask(asked[i].method, asked[i].path,
				       asked[i].query);

		same(asked[i].path, at(&got, asked[i].pointer),
		     asked[i].wanted);
		ok(got.status == asked[i].status, "%s: %u", asked[i].path,
		   got.status);
		free(got.body);
	}
	test_other_paths();
	ok(flowcontrol_answer(&gone, &call, &reply) && reply.status == 503,
	   "without a device: 503");
	same("which says why", at(&reply, "/message"), "no device");
	free(reply.body);
}
