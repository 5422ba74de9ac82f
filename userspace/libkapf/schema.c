// SPDX-License-Identifier: LGPL-2.1
/*
 * FlowSchemas: spec from a tree, with the defaults and checks of Kubernetes.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define DEFAULT_PRECEDENCE	1000
#define MAX_PRECEDENCE		10000

static int read_precedence(const struct kapf_node *spec,
			   struct kapf_flow_schema *schema)
{
	const struct kapf_node node =
		kapf_node_member(spec, "matchingPrecedence");
	int64_t precedence = 0;
	int ret = kapf_node_number(&node, 0, MAX_PRECEDENCE, &precedence);

	if (ret)
		return ret;
	if (precedence == 1 && strcmp(schema->name, KAPF_NAME_EXEMPT))
		return kapf_node_refuse(&node, "1 is only for the FlowSchema %s: must be 2 to %d",
					KAPF_NAME_EXEMPT, MAX_PRECEDENCE);
	schema->precedence = precedence ? precedence : DEFAULT_PRECEDENCE;
	return 0;
}

static int read_distinguisher(const struct kapf_node *spec,
			      struct kapf_flow_schema *schema)
{
	static const char *const members[] = { "type", NULL };
	const struct kapf_node method =
		kapf_node_member(spec, "distinguisherMethod");
	const struct kapf_node type = kapf_node_member(&method, "type");
	const char *text;
	int ret = kapf_node_map(&method, members);

	schema->distinguisher = KAPF_BY_NONE;
	if (ret || !method.value)
		return ret;
	ret = kapf_node_string(&type, &text);
	if (ret)
		return ret;
	if (!strcmp(text, "ByUser"))
		schema->distinguisher = KAPF_BY_USER;
	else if (!strcmp(text, "ByNamespace"))
		schema->distinguisher = KAPF_BY_NAMESPACE;
	else
		return kapf_node_unlike(&type, "ByUser or ByNamespace");
	return 0;
}

static int read_level_name(const struct kapf_node *spec,
			   struct kapf_flow_schema *schema)
{
	static const char *const members[] = { "name", NULL };
	const struct kapf_node level =
		kapf_node_member(spec, "priorityLevelConfiguration");
	const struct kapf_node name = kapf_node_member(&level, "name");
	const char *text;
	int ret = kapf_node_map(&level, members);

	if (!ret)
		ret = kapf_node_subdomain(&name, &text);
	if (ret)
		return ret;
	kapf_name_copy(schema->level, text);
	return 0;
}

static int read_rules(const struct kapf_node *spec,
		      struct kapf_flow_schema *schema)
{
	const struct kapf_node node = kapf_node_member(spec, "rules");
	int ret = kapf_rules_read(&node, &schema->rules);

	if (ret)
		return ret;
	schema->rules_json = kapf_rules_json(schema->rules);
	if (!schema->rules_json)
		return -ENOMEM;
	if (strlen(schema->rules_json) > KAPF_MAX_BLOB_BYTES)
		return kapf_node_refuse(&node, "are %zu bytes as JSON: at most %d are accepted",
					strlen(schema->rules_json),
					KAPF_MAX_BLOB_BYTES);
	return 0;
}

static int check_mandatory(const struct kapf_node *spec,
			   const struct kapf_flow_schema *schema)
{
	static const char why[] =
		"the spec of this mandatory object cannot be changed";
	const struct kapf_default_schema *fixed =
		kapf_mandatory_schema(schema->name);
	const struct kapf_node precedence =
		kapf_node_member(spec, "matchingPrecedence");
	const struct kapf_node level =
		kapf_node_member(spec, "priorityLevelConfiguration");
	const struct kapf_node method =
		kapf_node_member(spec, "distinguisherMethod");
	const struct kapf_node rules = kapf_node_member(spec, "rules");

	if (!fixed)
		return 0;
	if (schema->precedence != fixed->precedence)
		return kapf_node_refuse(&precedence, "%u is not %u: %s",
					schema->precedence, fixed->precedence,
					why);
	if (strcmp(schema->level, fixed->level))
		return kapf_node_refuse(&level, "\"%.100s\" is not \"%s\": %s",
					schema->level, fixed->level, why);
	if (schema->distinguisher != fixed->distinguisher)
		return kapf_node_refuse(&method, "must %s: %s",
					fixed->distinguisher == KAPF_BY_USER ?
					"have type ByUser" : "not be there",
					why);
	if (strcmp(schema->rules_json, fixed->rules))
		return kapf_node_refuse(&rules, "are not %s: %s", fixed->rules,
					why);
	return 0;
}

/**
 * kapf_schema_read() - spec of a FlowSchema
 * @object: the whole object
 * @schema: in: zero but for its name and metadata; out
 *
 * Return: 0, -EINVAL or -ENOMEM; @schema is to be destroyed either way.
 */
int kapf_schema_read(const struct kapf_node *object,
		     struct kapf_flow_schema *schema)
{
	static const char *const members[] = {
		"priorityLevelConfiguration", "matchingPrecedence",
		"distinguisherMethod", "rules", NULL
	};
	const struct kapf_node spec = kapf_node_member(object, "spec");
	int ret = kapf_node_map(&spec, members);

	if (!ret)
		ret = read_level_name(&spec, schema);
	if (!ret)
		ret = read_precedence(&spec, schema);
	if (!ret)
		ret = read_distinguisher(&spec, schema);
	if (!ret)
		ret = read_rules(&spec, schema);
	return ret ? ret : check_mandatory(&spec, schema);
}

/* Frees what @schema owns. */
void kapf_schema_destroy(struct kapf_flow_schema *schema)
{
	free(schema->rules_json);
	kapf_rules_free(schema->rules);
	kapf_meta_destroy(&schema->meta);
}
