// SPDX-License-Identifier: GPL-2.0
/*
 * The areas, and how they read a case.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"

const struct area areas[] = {
	{ "allocation", answer_allocation },
	{ "classify", answer_classify },
	{ "dealer", answer_dealer },
	{ "demand", answer_demand },
	{ "estimate", answer_estimate },
	{ "flow", answer_flow },
	{ "queueset", answer_queueset },
	{ "request_info", answer_request_info },
	{ "retryafter", answer_retryafter },
	{ }
};

struct json_object *case_get(struct json_object *c, const char *key)
{
	struct json_object *value;

	if (!json_object_object_get_ex(c, key, &value))
		errx(1, "a case without %s: %s", key,
		     json_object_to_json_string(c));
	return value;
}

uint64_t case_u64(struct json_object *c, const char *key)
{
	return json_object_get_uint64(case_get(c, key));
}

bool case_bool(struct json_object *c, const char *key)
{
	return json_object_get_boolean(case_get(c, key));
}

const char *case_text(struct json_object *c, const char *key)
{
	return json_object_get_string(case_get(c, key));
}

/* The request of a case, to be freed; NULL: kapf refuses it. */
struct kapf_http_request *case_request(struct json_object *c)
{
	struct kapf_http_request *request = NULL;
	struct kapf_error err = {};
	int ret = kapf_http_request_parse(&request, case_text(c, "method"),
					  case_text(c, "url"), &err);

	if (ret && !*err.text)
		errx(1, "refused without a word: %s",
		     json_object_to_json_string(c));
	return request;
}

/* What JSON cannot carry is shown as %XX: octets that are no ASCII; and %. */
struct json_object *answer_text(const char *text)
{
	char *shown = malloc(3 * strlen(text) + 1), *to = shown;
	struct json_object *string;

	for (; *text; text++) {
		unsigned char c = *text;

		if (c < ' ' || c >= 0x7f || c == '%')
			to += sprintf(to, "%%%02x", c);
		else
			*to++ = c;
	}
	string = json_object_new_string_len(shown, to - shown);
	free(shown);
	return string;
}
