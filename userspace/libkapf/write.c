// SPDX-License-Identifier: LGPL-2.1
/*
 * Levels and schemas as objects of Kubernetes, as kapf_config_merge() reads them.
 */
#include <stdio.h>

#include "internal.h"

#define UID_ROOM 37 /* a UID as text, and a NUL */

/*
 * Adds @value, which is NULL where memory was short, and belongs to @map from
 * now on.  Return: false when memory is short; @value is freed then.
 */
static bool add(struct json_object *map, const char *key,
		struct json_object *value)
{
	if (value && !json_object_object_add(map, key, value))
		return true;
	json_object_put(value);
	return false;
}

static bool add_text(struct json_object *map, const char *key, const char *text)
{
	return add(map, key, json_object_new_string(text));
}

static bool add_number(struct json_object *map, const char *key,
		       uint64_t number)
{
	return add(map, key, json_object_new_int64(number));
}

/* What has no pairs lacks them. */
static bool add_pairs(struct json_object *map, const char *key,
		      struct json_object *pairs)
{
	return !pairs || add(map, key, json_object_get(pairs));
}

/* @map, if what was to be added to it is there, else NULL. */
static struct json_object *finish(struct json_object *map, bool complete)
{
	if (complete)
		return map;
	json_object_put(map);
	return NULL;
}

/* A map of one member that is a text. */
static struct json_object *map_of(const char *key, const char *text)
{
	struct json_object *map = json_object_new_object();

	return finish(map, map && add_text(map, key, text));
}

static void format_uid(char text[UID_ROOM], const uint8_t uid[KAPF_UID_BYTES])
{
	for (size_t i = 0; i < KAPF_UID_BYTES; i++)
		text += sprintf(text, i == 4 || i == 6 || i == 8 || i == 10 ?
				      "-%02x" : "%02x", uid[i]);
}

/* What the kernel knows of an object, and what has not been there yet lacks. */
static bool add_identity(struct json_object *metadata,
			 const uint8_t uid[KAPF_UID_BYTES],
			 uint64_t spec_generation, uint64_t resource_version)
{
	char id[UID_ROOM], version[24];

	if (!spec_generation)
		return true;
	format_uid(id, uid);
	/* A string, so that nobody reckons with it. */
	snprintf(version, sizeof(version), "%ju", (uintmax_t)resource_version);
	return add_text(metadata, "uid", id) &&
	       add_number(metadata, "generation", spec_generation) &&
	       add_text(metadata, "resourceVersion", version);
}

/* Takes @metadata and @spec, of which either may be NULL for want of memory. */
static struct json_object *make_object(const char *kind,
				       struct json_object *metadata,
				       struct json_object *spec)
{
	struct json_object *object = json_object_new_object();
	bool complete = object &&
		add_text(object, "apiVersion",
			 "flowcontrol.apiserver.k8s.io/v1") &&
		add_text(object, "kind", kind);

	if (!complete) {
		json_object_put(metadata);
		json_object_put(spec);
		return finish(object, false);
	}
	complete = add(object, "metadata", metadata);
	return finish(object, add(object, "spec", spec) && complete);
}

static struct json_object *make_queuing(const struct kapf_priority_level *level)
{
	struct json_object *queuing = json_object_new_object();

	return finish(queuing, queuing &&
		      add_number(queuing, "queues", level->queues) &&
		      add_number(queuing, "handSize", level->hand_size) &&
		      add_number(queuing, "queueLengthLimit",
				 level->queue_length_limit));
}

static struct json_object *
make_limit_response(const struct kapf_priority_level *level)
{
	struct json_object *response;

	if (level->type != KAPF_LEVEL_QUEUE)
		return map_of("type", "Reject");
	response = map_of("type", "Queue");
	return finish(response, response &&
		      add(response, "queuing", make_queuing(level)));
}

static struct json_object *make_limits(const struct kapf_priority_level *level)
{
	struct json_object *limits = json_object_new_object();
	bool complete = limits &&
		add_number(limits, "nominalConcurrencyShares",
			   level->nominal_shares) &&
		add_number(limits, "lendablePercent", level->lendable_percent);

	if (level->type == KAPF_LEVEL_EXEMPT)
		return finish(limits, complete);
	if (complete &&
	    level->borrowing_limit_percent != KAPF_BORROWING_UNLIMITED)
		complete = add_number(limits, "borrowingLimitPercent",
				      level->borrowing_limit_percent);
	return finish(limits, complete &&
		      add(limits, "limitResponse", make_limit_response(level)));
}

static struct json_object *
make_level_spec(const struct kapf_priority_level *level)
{
	bool is_exempt = level->type == KAPF_LEVEL_EXEMPT;
	struct json_object *spec = map_of("type",
					  is_exempt ? "Exempt" : "Limited");

	return finish(spec, spec && add(spec, is_exempt ? "exempt" : "limited",
					make_limits(level)));
}

static struct json_object *make_metadata(const char *name,
					 const uint8_t uid[KAPF_UID_BYTES],
					 uint64_t spec_generation,
					 uint64_t resource_version,
					 const struct kapf_meta *meta)
{
	struct json_object *metadata = map_of("name", name);

	return finish(metadata, metadata &&
		      add_identity(metadata, uid, spec_generation,
				   resource_version) &&
		      add_pairs(metadata, "labels", meta->labels) &&
		      add_pairs(metadata, "annotations", meta->annotations));
}

struct json_object *
kapf_level_object(const struct kapf_priority_level *level)
{
	return make_object("PriorityLevelConfiguration",
			   make_metadata(level->name, level->uid,
					 level->spec_generation,
					 level->resource_version, &level->meta),
			   make_level_spec(level));
}

static struct json_object *
make_schema_spec(const struct kapf_flow_schema *schema)
{
	struct json_object *spec = json_object_new_object(), *rules;
	bool complete = spec &&
		add(spec, "priorityLevelConfiguration",
		    map_of("name", schema->level)) &&
		add_number(spec, "matchingPrecedence", schema->precedence);

	if (complete && schema->distinguisher != KAPF_BY_NONE)
		complete = add(spec, "distinguisherMethod",
			       map_of("type",
				      schema->distinguisher == KAPF_BY_USER ?
				      "ByUser" : "ByNamespace"));
	if (complete)
		complete = !kapf_json_parse(schema->rules_json,
					    strlen(schema->rules_json),
					    &rules) &&
			   add(spec, "rules", rules);
	return finish(spec, complete);
}

struct json_object *kapf_schema_object(const struct kapf_flow_schema *schema)
{
	return make_object("FlowSchema",
			   make_metadata(schema->name, schema->uid,
					 schema->spec_generation,
					 schema->resource_version,
					 &schema->meta),
			   make_schema_spec(schema));
}
