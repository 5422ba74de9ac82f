// SPDX-License-Identifier: GPL-2.0
/*
 * What the last client refused in each second is told.
 */
#include "answer.h"
#include "retryafter.h"

struct json_object *answer_retryafter(struct json_object *c)
{
	struct json_object *answer = json_object_new_array(), *second;
	struct kapf_retry_after ra;
	uint64_t drops;
	u32 told = 0;
	size_t i;

	kapf_retry_after_init(&ra);
	for (i = 0; i < json_object_array_length(c); i++) {
		second = json_object_array_get_idx(c, i);
		for (drops = case_u64(second, "drops"); drops; drops--)
			told = kapf_retry_after_drop(&ra, case_u64(second,
								   "second"));
		json_object_array_add(answer, json_object_new_int64(told));
	}
	return answer;
}
