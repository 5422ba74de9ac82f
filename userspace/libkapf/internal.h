/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * What the files of libkapf's configuration half know of each other.  Data
 * goes one way: manifest.c makes trees out of text, node.c gives typed access to
 * them, object.c, level.c, schema.c and rules.c make objects, config.c puts the
 * objects together, image.c carries them to the kernel and back.
 */
#ifndef KAPF_INTERNAL_H
#define KAPF_INTERNAL_H

#include <errno.h>
#include <json-c/json.h>
#include <string.h>

#include "inspect.h"
#include "libkapf.h"

#ifndef __printf
#define __printf(a, b) __attribute__((__format__(printf, a, b)))
#endif

#define KAPF_ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#define KAPF_NAME_EXEMPT	"exempt"
#define KAPF_NAME_CATCH_ALL	"catch-all"

#define KAPF_AUTOUPDATE		"apf.kubernetes.io/autoupdate-spec"

/* Kubernetes' fields of this type are signed. */
#define KAPF_MAX_INT32		INT32_MAX

/* Copies a name that is known to be a DNS-1123 subdomain. */
static inline void kapf_name_copy(char *to, const char *name)
{
	memcpy(to, name, strlen(name) + 1);
}

/* error.c */
void kapf_error_set(struct kapf_error *err, const char *format, ...)
	__printf(2, 3);

/* manifest.c */
int kapf_manifest_parse(const char *text, size_t len, const char *file,
			struct json_object **documents, struct kapf_error *err);

/**
 * enum kapf_api_version - of flowcontrol.apiserver.k8s.io
 * @KAPF_V1BETA1: names shares assuredConcurrencyShares
 * @KAPF_V1BETA2: the same
 * @KAPF_V1BETA3: nominalConcurrencyShares, of which 0 is the default
 * @KAPF_V1: 0 shares are 0
 */
enum kapf_api_version {
	KAPF_V1BETA1,
	KAPF_V1BETA2,
	KAPF_V1BETA3,
	KAPF_V1,
};

/**
 * struct kapf_source - where the nodes of an object come from
 * @file: name of the manifest; NULL: not from a manifest
 * @kind: of the object; NULL as long as it is not known
 * @name: of the object; NULL as long as it is not known
 * @version: in which it is written
 * @err: where refusals go; may be NULL
 */
struct kapf_source {
	const char *file;
	const char *kind;
	const char *name;
	enum kapf_api_version version;
	struct kapf_error *err;
};

/**
 * struct kapf_node - one place in the tree of an object
 * @source: the object
 * @parent: mapping or list that it is in; NULL: the object itself
 * @key: its name there; NULL: an element of a list
 * @index: its index there
 * @line: of its key or of itself in a list; of @parent if it is not there
 * @value: what stands there; NULL: nothing, or null
 */
struct kapf_node {
	const struct kapf_source *source;
	const struct kapf_node *parent;
	const char *key;
	size_t index;
	unsigned int line;
	struct json_object *value;
};

/* node.c */
struct json_object *kapf_keys(struct json_object *map);
void kapf_line_set(struct json_object *value, unsigned int line);
unsigned int kapf_line(struct json_object *value);
struct kapf_node kapf_node_member(const struct kapf_node *map, const char *key);
struct kapf_node kapf_node_element(const struct kapf_node *list, size_t index);
int kapf_node_refuse(const struct kapf_node *node, const char *format, ...)
	__printf(2, 3);
int kapf_node_unlike(const struct kapf_node *node, const char *wanted);
int kapf_node_map(const struct kapf_node *node, const char *const *members);
int kapf_node_list(const struct kapf_node *node, size_t *nr);
int kapf_node_string(const struct kapf_node *node, const char **string);
int kapf_node_subdomain(const struct kapf_node *node, const char **name);
int kapf_node_number(const struct kapf_node *node, int64_t min, int64_t max,
		     int64_t *number);
int kapf_node_bool(const struct kapf_node *node, bool *flag);

/* validate.c */
bool kapf_is_subdomain(const char *name);
bool kapf_is_label(const char *name);
bool kapf_is_qualified(const char *key, size_t len);
bool kapf_is_label_value(const char *value, size_t len);
#define KAPF_VERBS \
	"\"*\", get, list, watch, create, update, patch, delete, " \
	"deletecollection or proxy"
bool kapf_is_one_of(const char *text, const char *const *list);
bool kapf_is_verb(const char *verb);
const char *kapf_url_fault(const char *url);
uint32_t kapf_max_hand(uint32_t queues);

/* rules.c */

/**
 * struct kapf_strings - a list of strings
 * @at: the strings
 * @nr: how many
 */
struct kapf_strings {
	const char **at;
	size_t nr;
};

/**
 * struct kapf_resource_rule - a set of requests for resources
 * @verbs: or "*"
 * @api_groups: or "*"
 * @resources: RESOURCE or RESOURCE/SUBRESOURCE, or "*"
 * @namespaces: or "*"
 * @cluster_scope: requests without a namespace belong to it
 */
struct kapf_resource_rule {
	struct kapf_strings verbs;
	struct kapf_strings api_groups;
	struct kapf_strings resources;
	struct kapf_strings namespaces;
	bool cluster_scope;
};

/**
 * struct kapf_path_rule - a set of requests for paths
 * @verbs: or "*"
 * @urls: nonResourceURLs
 */
struct kapf_path_rule {
	struct kapf_strings verbs;
	struct kapf_strings urls;
};

/**
 * struct kapf_rule - PolicyRulesWithSubjects
 * @subjects: one of these
 * @nr_subjects: how many
 * @resource_rules: and one of these, or
 * @nr_resource_rules: how many
 * @path_rules: one of these has to match
 * @nr_path_rules: how many
 */
struct kapf_rule {
	struct kapf_subject *subjects;
	size_t nr_subjects;
	struct kapf_resource_rule *resource_rules;
	size_t nr_resource_rules;
	struct kapf_path_rule *path_rules;
	size_t nr_path_rules;
};

/**
 * struct kapf_rules - the rules of a FlowSchema
 * @tree: that they were read from, to which all strings belong
 * @rules: one of these has to match
 * @nr: how many
 */
struct kapf_rules {
	struct json_object *tree;
	struct kapf_rule *rules;
	size_t nr;
};

int kapf_rules_read(const struct kapf_node *node, struct kapf_rules **rules);
int kapf_rules_parse(const char *json, size_t len, struct kapf_rules **rules,
		     struct kapf_error *err);
char *kapf_rules_json(const struct kapf_rules *rules);
void kapf_rules_free(struct kapf_rules *rules);

/* classify.c */
#define KAPF_ACCOUNT_PREFIX "system:serviceaccount:"
bool kapf_schema_matches(const struct kapf_flow_schema *schema,
			 const struct kapf_digest *digest);
bool kapf_is_star(const struct kapf_strings *strings);
bool kapf_is_account(const struct kapf_subject *subject, const char *user);
bool kapf_url_covers(const char *url, const char *path);

/* level.c */
int kapf_level_read(const struct kapf_node *object,
		    struct kapf_priority_level *level);
void kapf_level_destroy(struct kapf_priority_level *level);

/* schema.c */
int kapf_schema_read(const struct kapf_node *object,
		     struct kapf_flow_schema *schema);
void kapf_schema_destroy(struct kapf_flow_schema *schema);

/* meta.c */
int kapf_meta_read(const struct kapf_node *object, struct kapf_meta *meta);
bool kapf_meta_preserves_zero(const struct kapf_node *object);
int kapf_meta_json(const struct kapf_meta *meta, char **json);
int kapf_meta_parse(const char *json, size_t len, struct kapf_meta *meta);
int kapf_meta_set_autoupdate(struct kapf_meta *meta, bool flag);
void kapf_meta_destroy(struct kapf_meta *meta);
int kapf_json_parse(const char *json, size_t len, struct json_object **tree);

/* object.c */
int kapf_objects_read(struct json_object *documents, const char *file,
		      struct kapf_configuration *found, struct kapf_error *err);

/* default.c */

/**
 * struct kapf_default_schema - a FlowSchema that Kubernetes brings along
 * @name: of the object
 * @level: name of its priority level
 * @precedence: matchingPrecedence
 * @distinguisher: enum kapf_distinguisher
 * @rules: in their canonical form
 */
struct kapf_default_schema {
	const char *name;
	const char *level;
	uint32_t precedence;
	enum kapf_distinguisher distinguisher;
	const char *rules;
};

const struct kapf_default_schema *kapf_mandatory_schema(const char *name);
int kapf_config_add_mandatory(struct kapf_configuration *config);

/* config.c */
int kapf_config_reserve(struct kapf_configuration *config, size_t nr_levels,
			size_t nr_schemas);
void kapf_config_put_level(struct kapf_configuration *config,
			   const struct kapf_priority_level *level);
void kapf_config_put_schema(struct kapf_configuration *config,
			    const struct kapf_flow_schema *schema);
void kapf_config_sort(struct kapf_configuration *config);

/* selector.c */
bool kapf_parse_int64(const char *text, size_t len, int64_t *number);
bool kapf_is_label_selector(const char *selector);
bool kapf_field_selector_value(const char *selector, const char *field,
			       char *value, bool *found);

/* image.c */
int kapf_image_encode(const struct kapf_configuration *config, void **image,
		      size_t *len, struct kapf_error *err);
int kapf_image_decode(const void *image, size_t len,
		      struct kapf_configuration **config,
		      struct kapf_error *err);

/* refusal.c */
void kapf_refusal_describe(const struct kapf_configuration *config,
			   const struct kapf_config_error *refusal,
			   struct kapf_error *err);

#endif /* KAPF_INTERNAL_H */
