// SPDX-License-Identifier: GPL-2.0

#include "answer.h"

struct json_object *answer_estimate(struct json_object *c)
{
	const struct kapf_store store = {
		.is_known = case_bool(c, "known"),
		.is_stale = case_bool(c, "stale"),
		.objects = case_u64(c, "objects"),
		.object_bytes = case_u64(c, "object_bytes"),
		.reports_progress = case_bool(c, "reports_progress"),
		.watchers = case_u64(c, "watchers"),
	};
	struct json_object *answer = json_object_new_object();
	struct kapf_http_request *request = case_request(c);
	enum kapf_list_cost cost = KAPF_LIST_BY_SIZE;
	struct kapf_work work = {};

	if (case_bool(c, "by_count"))
		cost = KAPF_LIST_BY_COUNT;
	if (request)
		kapf_work_estimate(&work, request, &store,
				   case_u64(c, "max_seats"), cost);
	kapf_http_request_free(request);
	json_object_object_add(answer, "initial_seats",
			       json_object_new_int64(work.initial_seats));
	json_object_object_add(answer, "final_seats",
			       json_object_new_int64(work.final_seats));
	json_object_object_add(answer, "additional_latency",
			       json_object_new_uint64(work.additional_latency));
	return answer;
}
