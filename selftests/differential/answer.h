/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kapf's answers to cases of the differential tests and of recorded vectors.
 *
 * A case and its answer are JSON; each area is a file of its name.  A case that
 * lacks something ends the program: it is a fault of the test.
 */
#ifndef DIFFERENTIAL_ANSWER_H
#define DIFFERENTIAL_ANSWER_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "libkapf.h"

/* Each: a new object. */
struct json_object *answer_allocation(struct json_object *c);
struct json_object *answer_classify(struct json_object *c);
struct json_object *answer_dealer(struct json_object *c);
struct json_object *answer_demand(struct json_object *c);
struct json_object *answer_estimate(struct json_object *c);
struct json_object *answer_flow(struct json_object *c);
struct json_object *answer_queueset(struct json_object *c);
struct json_object *answer_request_info(struct json_object *c);
struct json_object *answer_retryafter(struct json_object *c);

/**
 * struct area - what can be answered
 * @name: of the area, of its file here, and of its vectors
 * @answer: to a case
 */
struct area {
	const char *name;
	struct json_object *(*answer)(struct json_object *c);
};

extern const struct area areas[]; /* ends with a NULL name */

struct json_object *case_get(struct json_object *c, const char *key);
uint64_t case_u64(struct json_object *c, const char *key);
bool case_bool(struct json_object *c, const char *key);
const char *case_text(struct json_object *c, const char *key);
struct kapf_http_request *case_request(struct json_object *c);
struct json_object *answer_text(const char *text);

#endif /* DIFFERENTIAL_ANSWER_H */
