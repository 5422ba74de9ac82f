// SPDX-License-Identifier: GPL-2.0
/*
 * The areas, and how they read a case.
 */
#include <err.h>
#include <stdlib.h>

#include "answer.h"

const struct area areas[] = {
	{ "allocation", answer_allocation },
	{ "dealer", answer_dealer },
	{ "demand", answer_demand },
	{ "queueset", answer_queueset },
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
