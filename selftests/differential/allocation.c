// SPDX-License-Identifier: GPL-2.0

#include <err.h>
#include <stdlib.h>

#include "allocation.h"
#include "answer.h"

/* Of a level, in a list of all levels'. */
static struct json_object *field(struct json_object *c, const char *key,
				 size_t level)
{
	return json_object_array_get_idx(case_get(c, key), level);
}

static uint64_t number(struct json_object *c, const char *key, size_t level)
{
	return json_object_get_uint64(field(c, key, level));
}

/* The configured levels, of which the first is exempt, without demand. */
static struct kapf_allocation *configure(struct json_object *c, size_t nr)
{
	struct kapf_allocation *levels = calloc(nr, sizeof(*levels));
	uint64_t server = case_u64(c, "server"), sum = 0;
	size_t i;

	if (!levels)
		err(1, "calloc");
	for (i = 0; i < nr; i++)
		sum += number(c, "shares", i);
	for (i = 0; i < nr; i++) {
		struct json_object *borrowing = field(c, "borrowing", i);
		u32 nominal = kapf_nominal_limit(server, number(c, "shares", i),
						 sum);

		kapf_limits_init(&levels[i].limits, server, nominal,
				 number(c, "lendable", i),
				 borrowing ? json_object_get_uint64(borrowing) :
					     KAPF_BORROWING_UNSET);
		levels[i].current_limit = kapf_initial_limit(&levels[i].limits);
		levels[i].exempt = !i;
	}
	return levels;
}

static void show_limits(struct json_object *answer,
			const struct kapf_allocation *levels, size_t nr)
{
	struct json_object *nominal = json_object_new_array();
	struct json_object *min = json_object_new_array();
	struct json_object *max = json_object_new_array();
	size_t i;

	for (i = 0; i < nr; i++) {
		const struct kapf_limits *limits = &levels[i].limits;

		json_object_array_add(nominal,
				      json_object_new_int64(limits->nominal));
		json_object_array_add(min, json_object_new_int64(limits->min));
		json_object_array_add(max, json_object_new_int64(limits->max));
	}
	json_object_object_add(answer, "nominal", nominal);
	json_object_object_add(answer, "min", min);
	json_object_object_add(answer, "max", max);
}

static struct json_object *divide(struct kapf_allocation *levels, size_t nr)
{
	struct json_object *o = json_object_new_object();
	struct json_object *list = json_object_new_array();
	u64 fair_prop = kapf_allocate(levels, nr);
	size_t i;

	for (i = 0; i < nr; i++)
		json_object_array_add(list,
				      json_object_new_int64(levels[i].current_limit));
	json_object_object_add(o, "current", list);
	json_object_object_add(o, "fair_prop",
			       json_object_new_uint64(fair_prop));
	return o;
}

struct json_object *answer_allocation(struct json_object *c)
{
	struct json_object *answer = json_object_new_object();
	size_t i, nr = json_object_array_length(case_get(c, "shares"));
	struct kapf_allocation *levels = configure(c, nr);

	show_limits(answer, levels, nr);
	json_object_object_add(answer, "new", divide(levels, nr));
	for (i = 0; i < nr; i++) {
		levels[i].high_watermark = number(c, "watermark", i);
		levels[i].smoothed = number(c, "smoothed", i);
	}
	json_object_object_add(answer, "later", divide(levels, nr));
	free(levels);
	return answer;
}
