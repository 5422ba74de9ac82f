// SPDX-License-Identifier: GPL-2.0

#include "answer.h"

static void add_text(struct json_object *answer, const char *key,
		     const char *text)
{
	if (*text)
		json_object_object_add(answer, key, answer_text(text));
}

static void add_flag(struct json_object *answer, const char *key, bool flag)
{
	if (flag)
		json_object_object_add(answer, key,
				       json_object_new_boolean(true));
}

static void add_parts(struct json_object *answer,
		      const struct kapf_http_request *request)
{
	struct json_object *parts = json_object_new_array();

	for (size_t i = 0; i < request->nr_parts; i++)
		json_object_array_add(parts, answer_text(request->parts[i]));
	json_object_object_add(answer, "parts", parts);
}

struct json_object *answer_request_info(struct json_object *c)
{
	struct json_object *answer = json_object_new_object();
	struct kapf_http_request *request = case_request(c);

	add_flag(answer, "error", !request);
	if (!request)
		return answer;
	add_flag(answer, "is_resource", request->is_resource);
	add_flag(answer, "is_long_running",
		 kapf_http_request_is_long_running(request));
	add_text(answer, "path", request->path);
	add_text(answer, "verb", request->verb);
	add_text(answer, "api_prefix", request->api_prefix);
	add_text(answer, "api_group", request->api_group);
	add_text(answer, "api_version", request->api_version);
	add_text(answer, "namespace", request->ns);
	add_text(answer, "resource", request->resource);
	add_text(answer, "subresource", request->subresource);
	add_text(answer, "name", request->name);
	add_text(answer, "field_selector", request->field_selector);
	add_text(answer, "label_selector", request->label_selector);
	if (request->nr_parts)
		add_parts(answer, request);
	kapf_http_request_free(request);
	return answer;
}
