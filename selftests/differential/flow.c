// SPDX-License-Identifier: GPL-2.0

#include "answer.h"

struct json_object *answer_flow(struct json_object *c)
{
	return json_object_new_uint64(kapf_flow_hash(case_text(c, "schema"), NULL,
						     case_text(c, "distinguisher")));
}
