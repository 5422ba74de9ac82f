// SPDX-License-Identifier: GPL-2.0
/*
 * Levels and schemas as objects of Kubernetes, as apply reads them.
 */
#include <stdio.h>
#include <string.h>
#include <json-c/json.h>

#include "kapfctl.h"

/**
 * format_uid() - a UID as text
 * @text: out
 * @uid: it
 */
void format_uid(char text[UID_ROOM], const uint8_t uid[KAPF_UID_BYTES])
{
	int i;

	for (i = 0; i < KAPF_UID_BYTES; i++)
		text += sprintf(text, i == 4 || i == 6 || i == 8 || i == 10 ?
				      "-%02x" : "%02x", uid[i]);
}

/* A map of one member. */
static struct json_object *map_of(const char *key, struct json_object *value)
{
	struct json_object *map = tree_map();

	tree_add(map, key, value);
	return map;
}

static void add_pairs(struct json_object *map, const char *key,
		      struct json_object *pairs)
{
	if (pairs)
		tree_add(map, key, json_object_get(pairs));
}

/* What the kernel knows of an object, and what has not been there yet lacks. */
static void add_identity(struct json_object *metadata,
			 const uint8_t uid[KAPF_UID_BYTES],
			 uint64_t spec_generation, uint64_t resource_version)
{
	char text[UID_ROOM];

	if (!spec_generation)
		return;
	format_uid(text, uid);
	tree_add(metadata, "uid", tree_text(text));
	tree_add(metadata, "generation", tree_number(spec_generation));
	/* A string, so that nobody reckons with it. */
	snprintf(text, sizeof(text), "%ju", (uintmax_t)resource_version);
	tree_add(metadata, "resourceVersion", tree_text(text));
}

/* All but the spec; what add_identity() adds is in @metadata, with the name. */
static struct json_object *object(const char *kind,
				  struct json_object *metadata,
				  const struct kapf_meta *meta)
{
	struct json_object *object = tree_map();

	add_pairs(metadata, "labels", meta->labels);
	add_pairs(metadata, "annotations", meta->annotations);
	tree_add(object, "apiVersion", tree_text(API_GROUP "/v1"));
	tree_add(object, "kind", tree_text(kind));
	tree_add(object, "metadata", metadata);
	return object;
}

static struct json_object *
limit_response(const struct kapf_priority_level *level)
{
	struct json_object *response, *queuing;

	if (level->type != KAPF_LEVEL_QUEUE)
		return map_of("type", tree_text("Reject"));
	queuing = tree_map();
	tree_add(queuing, "queues", tree_number(level->queues));
	tree_add(queuing, "handSize", tree_number(level->hand_size));
	tree_add(queuing, "queueLengthLimit",
		 tree_number(level->queue_length_limit));
	response = map_of("type", tree_text("Queue"));
	tree_add(response, "queuing", queuing);
	return response;
}

static struct json_object *level_spec(const struct kapf_priority_level *level)
{
	bool is_exempt = level->type == KAPF_LEVEL_EXEMPT;
	struct json_object *spec = tree_map(), *limits = tree_map();

	tree_add(limits, "nominalConcurrencyShares",
		 tree_number(level->nominal_shares));
	tree_add(limits, "lendablePercent",
		 tree_number(level->lendable_percent));
	if (!is_exempt) {
		if (level->borrowing_limit_percent != KAPF_BORROWING_UNLIMITED)
			tree_add(limits, "borrowingLimitPercent",
				 tree_number(level->borrowing_limit_percent));
		tree_add(limits, "limitResponse", limit_response(level));
	}
	tree_add(spec, "type", tree_text(is_exempt ? "Exempt" : "Limited"));
	tree_add(spec, is_exempt ? "exempt" : "limited", limits);
	return spec;
}

/**
 * level_object() - a level as object
 * @level: it
 */
struct json_object *level_object(const struct kapf_priority_level *level)
{
	struct json_object *metadata = map_of("name", tree_text(level->name));
	struct json_object *tree;

	add_identity(metadata, level->uid, level->spec_generation,
		     level->resource_version);
	tree = object("PriorityLevelConfiguration", metadata, &level->meta);
	tree_add(tree, "spec", level_spec(level));
	return tree;
}

static struct json_object *schema_spec(const struct kapf_flow_schema *schema)
{
	struct json_object *spec = tree_map(), *rules;

	tree_add(spec, "priorityLevelConfiguration",
		 map_of("name", tree_text(schema->level)));
	tree_add(spec, "matchingPrecedence", tree_number(schema->precedence));
	if (schema->distinguisher != KAPF_BY_NONE)
		tree_add(spec, "distinguisherMethod",
			 map_of("type",
				tree_text(schema->distinguisher ==
						  KAPF_BY_USER ?
						  "ByUser" : "ByNamespace")));
	rules = need(json_tokener_parse(schema->rules_json));
	tree_add(spec, "rules", rules);
	return spec;
}

/**
 * schema_object() - a schema as object
 * @schema: it
 */
struct json_object *schema_object(const struct kapf_flow_schema *schema)
{
	struct json_object *metadata = map_of("name", tree_text(schema->name));
	struct json_object *tree;

	add_identity(metadata, schema->uid, schema->spec_generation,
		     schema->resource_version);
	tree = object("FlowSchema", metadata, &schema->meta);
	tree_add(tree, "spec", schema_spec(schema));
	return tree;
}

/**
 * list_of() - objects as a List
 * @items: a list of them, which belongs to the List from now on
 */
struct json_object *list_of(struct json_object *items)
{
	struct json_object *list = tree_map();

	tree_add(list, "apiVersion", tree_text("v1"));
	tree_add(list, "kind", tree_text("List"));
	tree_add(list, "items", items);
	return list;
}
