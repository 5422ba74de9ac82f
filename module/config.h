/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KAPF_CONFIG_H
#define KAPF_CONFIG_H

#include <linux/rbtree.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <linux/kapf.h>

#include "instance.h"
#include "level.h"

/**
 * struct kapf_active_config - a configuration in force
 * @generation: counts the changes
 * @max_requests_inflight: part of ServerCL
 * @max_mutating_requests_inflight: the other part
 * @adjustment_period_ms: of the limits
 * @nr_levels: how many
 * @nr_schemas: how many
 * @levels: in the order of the image
 * @schemas: in the order of the image
 * @by_index: schemas by the low bits of their id
 *
 * Immutable once published.  Levels and schemas live on in the next one, as
 * long as their names do, and longer while they have requests.
 */
struct kapf_active_config {
	u64 generation;
	u32 max_requests_inflight;
	u32 max_mutating_requests_inflight;
	u32 adjustment_period_ms;
	u32 nr_levels;
	u32 nr_schemas;
	struct kapf_level *levels[KAPF_MAX_LEVELS];
	struct kapf_schema *schemas[KAPF_MAX_SCHEMAS];
	struct kapf_schema *by_index[KAPF_MAX_SCHEMAS];
};

static inline u32 kapf_server_seats(const struct kapf_active_config *config)
{
	return config->max_requests_inflight +
	       config->max_mutating_requests_inflight;
}

/* The schema of this id; NULL: it is gone or never was. */
static inline struct kapf_schema *
kapf_config_schema(const struct kapf_active_config *config, u32 id)
{
	struct kapf_schema *schema = config->by_index[id % KAPF_MAX_SCHEMAS];

	return schema && schema->id == id ? schema : NULL;
}

/* config.c: what is in force */
int kapf_config_init(struct kapf_instance *instance);
void kapf_config_destroy(struct kapf_instance *instance);
int kapf_config_get(struct kapf_instance *instance,
		    struct kapf_get_config *get);
int kapf_config_set(struct kapf_instance *instance,
		    struct kapf_set_config *set);
struct kapf_active_config *kapf_config_locked(struct kapf_instance *instance);

/* change.c: how it is replaced */
int kapf_config_replace(struct kapf_instance *instance, u64 generation,
			const void *image, size_t len,
			struct kapf_config_error *error);

/* image.c: the form in which a configuration travels */

/**
 * struct kapf_image_name - the name of a record
 * @node: among those of its kind
 * @name: the record's
 */
struct kapf_image_name {
	struct rb_node node;
	const char *name;
};

/**
 * struct kapf_image - an image that has been checked
 * @head: of the image
 * @levels: its level records
 * @schemas: its schema records
 * @levels_by_name: tree of @level_names
 * @schemas_by_name: tree of @schema_names
 * @level_names: of @levels
 * @schema_names: of @schemas
 */
struct kapf_image {
	const struct kapf_config *head;
	const struct kapf_config_level *levels[KAPF_MAX_LEVELS];
	const struct kapf_config_schema *schemas[KAPF_MAX_SCHEMAS];
	struct rb_root levels_by_name;
	struct rb_root schemas_by_name;
	struct kapf_image_name level_names[KAPF_MAX_LEVELS];
	struct kapf_image_name schema_names[KAPF_MAX_SCHEMAS];
};

int kapf_image_check(struct kapf_image *image, const void *data, size_t len,
		     struct kapf_config_error *error);
int kapf_image_find_level(const struct kapf_image *image, const char *name);
int kapf_image_find_schema(const struct kapf_image *image, const char *name);
int kapf_image_refuse(struct kapf_config_error *error, enum kapf_field field,
		      enum kapf_reason reason);
void *kapf_image_builtin(size_t *len);

#endif /* KAPF_CONFIG_H */
