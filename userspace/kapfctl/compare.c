// SPDX-License-Identifier: GPL-2.0
/*
 * What has changed between two configurations.
 */
#include <string.h>
#include <json-c/json.h>

#include "kapfctl.h"

static bool same_meta(const struct kapf_meta *a, const struct kapf_meta *b)
{
	return json_object_equal(a->annotations, b->annotations) &&
	       json_object_equal(a->labels, b->labels);
}

/**
 * same_level_spec() - are the specs of two levels the same?
 * @a: the one
 * @b: the other
 */
bool same_level_spec(const struct kapf_priority_level *a,
		     const struct kapf_priority_level *b)
{
	return a->type == b->type &&
	       a->nominal_shares == b->nominal_shares &&
	       a->lendable_percent == b->lendable_percent &&
	       a->borrowing_limit_percent == b->borrowing_limit_percent &&
	       a->queues == b->queues && a->hand_size == b->hand_size &&
	       a->queue_length_limit == b->queue_length_limit;
}

static bool same_level(const struct kapf_priority_level *a,
		       const struct kapf_priority_level *b)
{
	return same_level_spec(a, b) && same_meta(&a->meta, &b->meta);
}

/**
 * same_schema_spec() - are the specs of two schemas the same?
 * @a: the one
 * @b: the other
 */
bool same_schema_spec(const struct kapf_flow_schema *a,
		      const struct kapf_flow_schema *b)
{
	return a->precedence == b->precedence &&
	       a->distinguisher == b->distinguisher &&
	       !strcmp(a->level, b->level) &&
	       !strcmp(a->rules_json, b->rules_json);
}

static bool same_schema(const struct kapf_flow_schema *a,
			const struct kapf_flow_schema *b)
{
	return same_schema_spec(a, b) && same_meta(&a->meta, &b->meta);
}

/**
 * level_change() - how a level has come to be what it is
 * @before: the configuration before
 * @level: of the configuration after
 */
enum change_kind level_change(const struct kapf_configuration *before,
			      const struct kapf_priority_level *level)
{
	const struct kapf_priority_level *old =
		kapf_config_level(before, level->name);

	if (!old)
		return CREATED;
	return same_level(old, level) ? UNCHANGED : CONFIGURED;
}

/**
 * schema_change() - how a schema has come to be what it is
 * @before: the configuration before
 * @schema: of the configuration after
 */
enum change_kind schema_change(const struct kapf_configuration *before,
			       const struct kapf_flow_schema *schema)
{
	const struct kapf_flow_schema *old =
		kapf_config_schema(before, schema->name);

	if (!old)
		return CREATED;
	return same_schema(old, schema) ? UNCHANGED : CONFIGURED;
}

/**
 * config_changed() - has anything changed?
 * @before: the configuration before
 * @after: the configuration after
 */
bool config_changed(const struct kapf_configuration *before,
		    const struct kapf_configuration *after)
{
	size_t i;

	/* Where something was removed and something added, that shows below. */
	if (before->max_requests_inflight != after->max_requests_inflight ||
	    before->max_mutating_requests_inflight !=
		    after->max_mutating_requests_inflight ||
	    period_ms(before) != period_ms(after) ||
	    before->nr_levels != after->nr_levels ||
	    before->nr_schemas != after->nr_schemas)
		return true;
	for (i = 0; i < after->nr_levels; i++)
		if (level_change(before, &after->levels[i]) != UNCHANGED)
			return true;
	for (i = 0; i < after->nr_schemas; i++)
		if (schema_change(before, &after->schemas[i]) != UNCHANGED)
			return true;
	return false;
}
