// SPDX-License-Identifier: GPL-2.0

#include "answer.h"
#include "wants.h"

/* Some ns, the demand then, ns, demand, ..., ns. */
static void live(struct wants *wants, struct json_object *period,
		 uint64_t *now)
{
	size_t i, length = json_object_array_length(period);

	for (i = 0; i < length; i++) {
		struct json_object *x = json_object_array_get_idx(period, i);

		if (i % 2)
			wants_seats(wants, json_object_get_uint64(x), *now);
		else
			*now += json_object_get_uint64(x);
	}
	wants_end_period(wants, *now);
}

static struct json_object *result(const struct kapf_demand *demand)
{
	struct json_object *r = json_object_new_object();

	json_object_object_add(r, "high_watermark",
			       json_object_new_uint64(demand->high_watermark));
	json_object_object_add(r, "average",
			       json_object_new_uint64(demand->average));
	json_object_object_add(r, "deviation",
			       json_object_new_uint64(demand->deviation));
	json_object_object_add(r, "smoothed",
			       json_object_new_uint64(demand->smoothed));
	return r;
}

struct json_object *answer_demand(struct json_object *c)
{
	struct json_object *periods = case_get(c, "periods");
	struct json_object *answer = json_object_new_array();
	size_t i, nr_periods = json_object_array_length(periods);
	struct wants wants;
	uint64_t now = 1000000000;

	wants_begin(&wants, now);
	for (i = 0; i < nr_periods; i++) {
		live(&wants, json_object_array_get_idx(periods, i), &now);
		json_object_array_add(answer, result(&wants.demand));
	}
	return answer;
}
