// SPDX-License-Identifier: GPL-2.0
/*
 * Status objects, of the version v1 that all of Kubernetes' APIs share.
 */
#include <json-c/json.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "status.h"

static const struct {
	unsigned int code;
	const char *reason;
} reasons[] = {
	{ 400, "BadRequest" },
	{ 401, "Unauthorized" },
	{ 403, "Forbidden" },
	{ 404, "NotFound" },
	{ 405, "MethodNotAllowed" },
	{ 406, "NotAcceptable" },
	{ 409, "Conflict" },
	{ 410, "Gone" },
	{ 413, "RequestEntityTooLarge" },
	{ 415, "UnsupportedMediaType" },
	{ 422, "Invalid" },
	{ 429, "TooManyRequests" },
	{ 500, "InternalError" },
	{ 503, "ServiceUnavailable" },
	{ 504, "Timeout" },
};

const char *status_reason(unsigned int code)
{
	size_t i;

	for (i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		if (reasons[i].code == code)
			return reasons[i].reason;
	return "";
}

/* Return: whether @value, which may be NULL for want of memory, is there now. */
static bool add(struct json_object *to, const char *key,
		struct json_object *value)
{
	if (value && !json_object_object_add(to, key, value))
		return true;
	json_object_put(value);
	return false;
}

/* What is empty is not there. */
static bool add_text(struct json_object *to, const char *key, const char *text)
{
	return !text || !*text || add(to, key, json_object_new_string(text));
}

static struct json_object *make_cause(const struct status_cause *cause)
{
	struct json_object *object = json_object_new_object();

	if (object && add_text(object, "reason", cause->reason) &&
	    add_text(object, "message", cause->message) &&
	    add_text(object, "field", cause->field))
		return object;
	json_object_put(object);
	return NULL;
}

static struct json_object *make_causes(const struct status *status)
{
	struct json_object *array = json_object_new_array(), *cause;
	size_t i;

	for (i = 0; array && i < status->nr_causes; i++) {
		cause = make_cause(&status->causes[i]);
		if (cause && !json_object_array_add(array, cause))
			continue;
		json_object_put(cause);
		json_object_put(array);
		return NULL;
	}
	return array;
}

static struct json_object *make_details(const struct status *status)
{
	struct json_object *details = json_object_new_object();

	if (details && add_text(details, "name", status->name) &&
	    add_text(details, "group", status->group) &&
	    add_text(details, "kind", status->kind) &&
	    add_text(details, "uid", status->uid) &&
	    (!status->nr_causes ||
	     add(details, "causes", make_causes(status))) &&
	    (!status->retry_after ||
	     add(details, "retryAfterSeconds",
		 json_object_new_int64(status->retry_after))))
		return details;
	json_object_put(details);
	return NULL;
}

/* Details say what there is to say; a Status without any has none. */
static bool add_details(struct json_object *to, const struct status *status)
{
	struct json_object *details = make_details(status);

	if (details && !json_object_object_length(details)) {
		json_object_put(details);
		return true;
	}
	return add(to, "details", details);
}

static struct json_object *make_status(const struct status *status,
				       const char *message)
{
	const char *reason = status->reason ?: status_reason(status->code);
	struct json_object *object = json_object_new_object();

	if (object && add_text(object, "kind", "Status") &&
	    add_text(object, "apiVersion", "v1") &&
	    add(object, "metadata", json_object_new_object()) &&
	    add_text(object, "status",
		     status->code < 400 ? "Success" : "Failure") &&
	    add_text(object, "message", message) &&
	    add_text(object, "reason", reason) &&
	    add_details(object, status) &&
	    (status->code < 400 ||
	     add(object, "code", json_object_new_int64(status->code))))
		return object;
	json_object_put(object);
	return NULL;
}

void status_reply(struct reply *reply, const struct status *status,
		  const char *format, ...)
{
	struct json_object *object = NULL;
	char *message = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&message, format, args) >= 0)
		object = make_status(status, message);
	va_end(args);
	reply_json(reply, status->code, object);
	if (status->retry_after)
		reply_header(reply, "Retry-After", "%u", status->retry_after);
	json_object_put(object);
	free(message);
}
