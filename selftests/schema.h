/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Statistics of schemas, as the test programs read them.
 */
#ifndef KAPF_TEST_SCHEMA_H
#define KAPF_TEST_SCHEMA_H

#include "kapf_test.h"

static inline struct kapf_schema_stats schema_stats(int control, __u32 id)
{
	static __thread struct kapf_schema_stats schemas[8];
	struct kapf_get_stats get = {
		.size = sizeof(get),
		.level_size = sizeof(struct kapf_level_stats),
		.schema_size = sizeof(schemas[0]),
		.nr_schemas = 8,
		.schemas = (uintptr_t)schemas,
	};
	__u32 i;

	errno = -call(control, KAPF_GET_STATS, &get);
	if (errno)
		die("GET_STATS");
	for (i = 0; i < get.nr_schemas && i < 8; i++)
		if (schemas[i].id == id)
			return schemas[i];
	errno = ENOENT;
	die("no such schema");
	return schemas[0];
}

#endif /* KAPF_TEST_SCHEMA_H */
