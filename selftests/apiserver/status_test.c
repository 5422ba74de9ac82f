// SPDX-License-Identifier: GPL-2.0
/*
 * Answers and Status objects, as clients of Kubernetes know them.
 */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "status.h"
#include "test.h"

void test_replies(void)
{
	struct json_object *object = json_object_new_string("a/b");
	char longer[2 * REPLY_VALUE_BYTES];
	struct reply reply = {};
	int i;

	reply_text(&reply, 200, "ok");
	same("a text", reply.body, "ok");
	same("its type", reply.content_type, "text/plain; charset=utf-8");
	ok(reply.length == 2, "its length");
	reply_json(&reply, 201, object);
	same("an object instead, with slashes as they are", reply.body,
	     "\"a/b\"");
	same("its type", reply.content_type, "application/json");
	ok(reply.status == 201, "its status");
	reply_json(&reply, 200, NULL);
	ok(reply.status == 500 && !reply.body && !reply.length &&
	   !reply.content_type, "no object: 500 without a body");

	reply_header(&reply, "Warning", "%s", "a\r\nX-Evil: b\x7f\t\xc3\xa9");
	same("a header cannot begin another one", reply.headers[0].value,
	     "a??X-Evil: b??\xc3\xa9");
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	reply_header(&reply, "Location", "%s", longer);
	ok(strlen(reply.headers[1].value) == REPLY_VALUE_BYTES - 1,
	   "what is too long is cut");
	for (i = 0; i < REPLY_HEADERS; i++)
		reply_header(&reply, "Allow", "%d", i);
	ok(reply.nr_headers == REPLY_HEADERS, "too many are left out");
	same("the last that fits", reply.headers[REPLY_HEADERS - 1].value, "3");
	json_object_put(object);
}

#define HEAD "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"

static const struct {
	const char *what;
	struct status status;
	const char *message;
	const char *wanted;
} statuses[] = {
	{
		"a failure", { .code = 401 }, "Unauthorized",
		HEAD
		"\"status\":\"Failure\",\"message\":\"Unauthorized\",\"reason\":\"Unauthorized\",\"code\":401}",
	}, {
		"a reason of its own", { .code = 409, .reason = "AlreadyExists" }, "",
		HEAD
		"\"status\":\"Failure\",\"reason\":\"AlreadyExists\",\"code\":409}",
	}, {
		"an unusual code", { .code = 431 }, "a \"quote\"\n",
		HEAD
		"\"status\":\"Failure\",\"message\":\"a \\\"quote\\\"\\n\",\"code\":431}",
	}, {
		"about an object",
		{ .code = 404, .name = "a", .group = "g", .kind = "flowschemas" },
		"flowschemas.g \"a\" not found",
		HEAD
		"\"status\":\"Failure\",\"message\":\"flowschemas.g \\\"a\\\" not found\",\"reason\":\"NotFound\",\"details\":{\"name\":\"a\",\"group\":\"g\",\"kind\":\"flowschemas\"},\"code\":404}",
	}, {
		"a success", { .code = 200, .name = "a", .uid = "1-2" }, "",
		HEAD
		"\"status\":\"Success\",\"details\":{\"name\":\"a\",\"uid\":\"1-2\"}}",
	},
};

static void test_causes(void)
{
	static const struct status_cause causes[] = {
		{ "FieldValueInvalid", "is bad", "spec.a" },
		{ .message = "is worse" },
	};
	const struct status status = {
		.code = 422, .causes = causes, .nr_causes = 2,
	};
	struct reply reply = {};

	status_reply(&reply, &status, "%s", "x");
	same("with causes", reply.body,
	     HEAD
	     "\"status\":\"Failure\",\"message\":\"x\",\"reason\":\"Invalid\",\"details\":{\"causes\":[{\"reason\":\"FieldValueInvalid\",\"message\":\"is bad\",\"field\":\"spec.a\"},{\"message\":\"is worse\"}]},\"code\":422}");
	free(reply.body);
}

void test_statuses(void)
{
	const struct status busy = { .code = 429, .retry_after = 7 };
	struct reply reply = {};
	size_t i;

	for (i = 0; i < sizeof(statuses) / sizeof(*statuses); i++) {
		status_reply(&reply, &statuses[i].status, "%s",
			     statuses[i].message);
		same(statuses[i].what, reply.body, statuses[i].wanted);
		ok(reply.status == statuses[i].status.code, "its code");
	}
	ok(!reply.nr_headers, "no further header");
	status_reply(&reply, &busy, "later");
	same("to come back later", reply.body,
	     HEAD
	     "\"status\":\"Failure\",\"message\":\"later\",\"reason\":\"TooManyRequests\",\"details\":{\"retryAfterSeconds\":7},\"code\":429}");
	ok(reply.nr_headers == 1, "one further header");
	same("Retry-After", reply.headers[0].name, "Retry-After");
	same("which says when", reply.headers[0].value, "7");
	free(reply.body);
	test_causes();
}
