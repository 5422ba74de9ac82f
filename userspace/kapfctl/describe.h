/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KAPFCTL_DESCRIBE_H
#define KAPFCTL_DESCRIBE_H

#include "kapfctl.h"

/* describe.c */
void say(int indent, const char *label, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* refusals.c */

/* Why requests were refused, as kube-apiserver's metrics name it. */
enum reason {
	QUEUE_FULL,
	CONCURRENCY_LIMIT,
	TIME_OUT,
	CANCELLED,
	NR_REASONS,
};

/**
 * struct refusals - requests that were refused
 * @level: statistics of the level that refused them
 * @nr: for each reason, how many
 * @observed: how many would have been, in mode observe
 */
struct refusals {
	const struct kapf_level_stats *level;
	uint64_t nr[NR_REASONS];
	uint64_t observed[NR_REASONS];
};

struct refusals level_refusals(const struct kapf_level_stats *stats);
struct refusals schema_refusals(const struct state *state,
				const struct kapf_schema_stats *stats);
void print_refusals(const struct refusals *refusals);
struct json_object *refusals_tree(const struct refusals *refusals);

#endif /* KAPFCTL_DESCRIBE_H */
