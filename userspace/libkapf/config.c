// SPDX-License-Identifier: LGPL-2.1
/*
 * Configurations: objects that belong together, in the order in which they are
 * looked at, and what follows from all of them at once.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define DEFAULT_REQUESTS_INFLIGHT		400
#define DEFAULT_MUTATING_REQUESTS_INFLIGHT	200

struct kapf_configuration *kapf_config_new(void)
{
	struct kapf_configuration *config = calloc(1, sizeof(*config));

	if (!config)
		return NULL;
	config->max_requests_inflight = DEFAULT_REQUESTS_INFLIGHT;
	config->max_mutating_requests_inflight =
		DEFAULT_MUTATING_REQUESTS_INFLIGHT;
	if (kapf_config_add_mandatory(config)) {
		kapf_config_free(config);
		return NULL;
	}
	return config;
}

static void destroy_objects(struct kapf_configuration *config)
{
	for (size_t i = 0; i < config->nr_levels; i++)
		kapf_level_destroy(&config->levels[i]);
	for (size_t i = 0; i < config->nr_schemas; i++)
		kapf_schema_destroy(&config->schemas[i]);
	free(config->levels);
	free(config->schemas);
}

void kapf_config_free(struct kapf_configuration *config)
{
	if (!config)
		return;
	destroy_objects(config);
	free(config);
}

/* Not by bsearch(): while objects are put, they are not sorted. */
struct kapf_priority_level *
kapf_config_level(const struct kapf_configuration *config, const char *name)
{
	for (size_t i = 0; i < config->nr_levels; i++)
		if (!strcmp(config->levels[i].name, name))
			return &config->levels[i];
	return NULL;
}

struct kapf_flow_schema *
kapf_config_schema(const struct kapf_configuration *config, const char *name)
{
	for (size_t i = 0; i < config->nr_schemas; i++)
		if (!strcmp(config->schemas[i].name, name))
			return &config->schemas[i];
	return NULL;
}

/**
 * kapf_config_reserve() - make room, so that objects can be put without failing
 * @config: where
 * @nr_levels: how many more
 * @nr_schemas: how many more
 *
 * Return: 0 or -ENOMEM.
 */
int kapf_config_reserve(struct kapf_configuration *config, size_t nr_levels,
			size_t nr_schemas)
{
	struct kapf_priority_level *levels;
	struct kapf_flow_schema *schemas;

	nr_levels += config->nr_levels;
	nr_schemas += config->nr_schemas;
	levels = reallocarray(config->levels, nr_levels + 1, sizeof(*levels));
	if (!levels)
		return -ENOMEM;
	config->levels = levels;
	schemas = reallocarray(config->schemas, nr_schemas + 1,
			       sizeof(*schemas));
	if (!schemas)
		return -ENOMEM;
	config->schemas = schemas;
	return 0;
}

/**
 * kapf_config_put_level() - add a level, or replace the one of its name
 * @config: where room has been reserved; to be sorted afterwards
 * @level: is taken over; what the device knows of the old one stays
 */
void kapf_config_put_level(struct kapf_configuration *config,
			   const struct kapf_priority_level *level)
{
	struct kapf_priority_level *old =
		kapf_config_level(config, level->name);
	struct kapf_priority_level new = *level;

	if (!old) {
		config->levels[config->nr_levels++] = new;
		return;
	}
	new.id = old->id;
	memcpy(new.uid, old->uid, sizeof(new.uid));
	new.spec_generation = old->spec_generation;
	new.resource_version = old->resource_version;
	kapf_level_destroy(old);
	*old = new;
}

/**
 * kapf_config_put_schema() - add a schema, or replace the one of its name
 * @config: where room has been reserved; to be sorted afterwards
 * @schema: is taken over; what the device knows of the old one stays
 */
void kapf_config_put_schema(struct kapf_configuration *config,
			    const struct kapf_flow_schema *schema)
{
	struct kapf_flow_schema *old = kapf_config_schema(config, schema->name);
	struct kapf_flow_schema new = *schema;

	if (!old) {
		config->schemas[config->nr_schemas++] = new;
		return;
	}
	new.id = old->id;
	memcpy(new.uid, old->uid, sizeof(new.uid));
	new.spec_generation = old->spec_generation;
	new.resource_version = old->resource_version;
	kapf_schema_destroy(old);
	*old = new;
}

int kapf_config_remove_level(struct kapf_configuration *config,
			     const char *name)
{
	struct kapf_priority_level *level = kapf_config_level(config, name);

	if (!level)
		return -ENOENT;
	kapf_level_destroy(level);
	memmove(level, level + 1, (char *)(config->levels + config->nr_levels) -
				  (char *)(level + 1));
	config->nr_levels--;
	return 0;
}

int kapf_config_remove_schema(struct kapf_configuration *config,
			      const char *name)
{
	struct kapf_flow_schema *schema = kapf_config_schema(config, name);

	if (!schema)
		return -ENOENT;
	kapf_schema_destroy(schema);
	memmove(schema, schema + 1,
		(char *)(config->schemas + config->nr_schemas) -
		(char *)(schema + 1));
	config->nr_schemas--;
	return 0;
}

static int compare_levels(const void *a, const void *b)
{
	const struct kapf_priority_level *left = a, *right = b;

	return strcmp(left->name, right->name);
}

static int compare_schemas(const void *a, const void *b)
{
	const struct kapf_flow_schema *left = a, *right = b;

	if (left->precedence != right->precedence)
		return left->precedence < right->precedence ? -1 : 1;
	return strcmp(left->name, right->name);
}

/* Puts the objects of @config into their order. */
void kapf_config_sort(struct kapf_configuration *config)
{
	qsort(config->levels, config->nr_levels, sizeof(*config->levels),
	      compare_levels);
	qsort(config->schemas, config->nr_schemas, sizeof(*config->schemas),
	      compare_schemas);
}

static int refuse(struct kapf_error *err, const struct kapf_meta *meta,
		  const char *kind, const char *name, int max)
{
	kapf_error_set(err, "%.200s:%u: %s \"%s\": is one too many: must be at most %d",
		       meta->file, meta->line, kind, name, max);
	return -EINVAL;
}

/* Checks that @config will not have too many objects with those of @found. */
static int check_numbers(const struct kapf_configuration *config,
			 const struct kapf_configuration *found,
			 struct kapf_error *err)
{
	size_t nr_levels = config->nr_levels, nr_schemas = config->nr_schemas;

	for (size_t i = 0; i < found->nr_levels; i++) {
		const struct kapf_priority_level *level = &found->levels[i];

		if (!kapf_config_level(config, level->name) &&
		    ++nr_levels > KAPF_MAX_LEVELS)
			return refuse(err, &level->meta,
				      "PriorityLevelConfiguration", level->name,
				      KAPF_MAX_LEVELS);
	}
	for (size_t i = 0; i < found->nr_schemas; i++) {
		const struct kapf_flow_schema *schema = &found->schemas[i];

		if (!kapf_config_schema(config, schema->name) &&
		    ++nr_schemas > KAPF_MAX_SCHEMAS)
			return refuse(err, &schema->meta, "FlowSchema",
				      schema->name, KAPF_MAX_SCHEMAS);
	}
	return 0;
}

int kapf_config_merge(struct kapf_configuration *config, const char *text,
		      size_t len, const char *file, struct kapf_error *err)
{
	struct kapf_configuration found = {};
	struct json_object *documents;
	int ret;

	ret = kapf_manifest_parse(text, len, file, &documents, err);
	if (!ret)
		ret = kapf_objects_read(documents, file, &found, err);
	if (!ret)
		ret = check_numbers(config, &found, err);
	if (!ret)
		ret = kapf_config_reserve(config, found.nr_levels,
					  found.nr_schemas);
	json_object_put(documents);
	if (ret == -ENOMEM)
		kapf_error_set(err, "%.200s:1: out of memory", file);
	if (ret) {
		destroy_objects(&found);
		return ret;
	}
	for (size_t i = 0; i < found.nr_levels; i++)
		kapf_config_put_level(config, &found.levels[i]);
	for (size_t i = 0; i < found.nr_schemas; i++)
		kapf_config_put_schema(config, &found.schemas[i]);
	free(found.levels);
	free(found.schemas);
	kapf_config_sort(config);
	return 0;
}

void kapf_config_nominal(struct kapf_configuration *config)
{
	uint64_t seats = (uint64_t)config->max_requests_inflight +
			 config->max_mutating_requests_inflight;
	uint64_t sum = 0;

	for (size_t i = 0; i < config->nr_levels; i++)
		sum += config->levels[i].nominal_shares;
	for (size_t i = 0; i < config->nr_levels; i++) {
		struct kapf_priority_level *level = &config->levels[i];
		uint64_t product = seats * level->nominal_shares;

		level->nominal_seats = sum ? product / sum +
					     (product % sum != 0) : 0;
	}
	for (size_t i = 0; i < config->nr_schemas; i++) {
		struct kapf_flow_schema *schema = &config->schemas[i];

		schema->dangling = !kapf_config_level(config, schema->level);
	}
}
