// SPDX-License-Identifier: LGPL-2.1
/*
 * The objects that Kubernetes brings along: the mandatory ones, without which
 * there is no configuration, and the suggested ones.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define GROUP(name) \
	"{\"kind\":\"Group\",\"group\":{\"name\":\"" name "\"}}"
#define USER(name) \
	"{\"kind\":\"User\",\"user\":{\"name\":\"" name "\"}}"
#define SERVICE_ACCOUNTS(ns) \
	"{\"kind\":\"ServiceAccount\",\"serviceAccount\":{\"namespace\":\"" ns \
	"\",\"name\":\"*\"}}"
#define EVERYBODY \
	GROUP("system:unauthenticated") "," GROUP("system:authenticated")

#define NAMESPACED	"\"namespaces\":[\"*\"]"
#define EVERY_SCOPE	"\"clusterScope\":true," NAMESPACED
#define RESOURCES(verbs, groups, resources, scope) \
	"{\"verbs\":[" verbs "],\"apiGroups\":[" groups "],\"resources\":[" \
	resources "]," scope "}"
#define PATHS(verbs, urls) \
	"{\"verbs\":[" verbs "],\"nonResourceURLs\":[" urls "]}"
#define RULE(subjects, rules)	"[{\"subjects\":[" subjects "]," rules "}]"
#define EVERYTHING(subjects) \
	RULE(subjects, "\"resourceRules\":[" \
	     RESOURCES("\"*\"", "\"*\"", "\"*\"", EVERY_SCOPE) \
	     "],\"nonResourceRules\":[" PATHS("\"*\"", "\"*\"") "]")

static const struct kapf_default_schema mandatory_schemas[] = {
	{ KAPF_NAME_EXEMPT, KAPF_NAME_EXEMPT, 1, KAPF_BY_NONE,
	  EVERYTHING(GROUP("system:masters")) },
	{ KAPF_NAME_CATCH_ALL, KAPF_NAME_CATCH_ALL, 10000, KAPF_BY_USER,
	  EVERYTHING(EVERYBODY) },
};

static const struct kapf_default_schema suggested_schemas[] = {
	{ "probes", KAPF_NAME_EXEMPT, 2, KAPF_BY_NONE,
	  RULE(EVERYBODY, "\"nonResourceRules\":["
	       PATHS("\"get\"", "\"/healthz\",\"/readyz\",\"/livez\"") "]") },
	{ "system-leader-election", "leader-election", 100, KAPF_BY_USER,
	  RULE(USER("system:kube-controller-manager") ","
	       USER("system:kube-scheduler") ","
	       SERVICE_ACCOUNTS("kube-system"),
	       "\"resourceRules\":["
	       RESOURCES("\"get\",\"create\",\"update\"",
			 "\"coordination.k8s.io\"", "\"leases\"", NAMESPACED)
	       "]") },
	{ "system-node-high", "node-high", 400, KAPF_BY_USER,
	  RULE(GROUP("system:nodes"), "\"resourceRules\":["
	       RESOURCES("\"*\"", "\"\"", "\"nodes\",\"nodes/status\"",
			 EVERY_SCOPE) ","
	       RESOURCES("\"*\"", "\"coordination.k8s.io\"", "\"leases\"",
			 NAMESPACED) "]") },
	{ "system-nodes", "system", 500, KAPF_BY_USER,
	  EVERYTHING(GROUP("system:nodes")) },
	{ "kube-controller-manager", "workload-high", 800, KAPF_BY_NAMESPACE,
	  EVERYTHING(USER("system:kube-controller-manager")) },
	{ "kube-scheduler", "workload-high", 800, KAPF_BY_NAMESPACE,
	  EVERYTHING(USER("system:kube-scheduler")) },
	{ "kube-system-service-accounts", "workload-high", 900,
	  KAPF_BY_NAMESPACE, EVERYTHING(SERVICE_ACCOUNTS("kube-system")) },
	{ "service-accounts", "workload-low", 9000, KAPF_BY_USER,
	  EVERYTHING(GROUP("system:serviceaccounts")) },
	{ "global-default", "global-default", 9900, KAPF_BY_USER,
	  EVERYTHING(EVERYBODY) },
};

/* Columns: shares, lendable %, queues, hand size, queue length limit. */
static const struct default_level {
	const char *name;
	enum kapf_level_type type;
	uint32_t nominal_shares;
	uint32_t lendable_percent;
	uint32_t queues;
	uint32_t hand_size;
	uint32_t queue_length_limit;
} mandatory_levels[] = {
	{ KAPF_NAME_CATCH_ALL,	KAPF_LEVEL_REJECT,   5,  0,   0, 0,  0 },
	{ KAPF_NAME_EXEMPT,	KAPF_LEVEL_EXEMPT,   0,  0,   0, 0,  0 },
}, suggested_levels[] = {
	{ "global-default",	KAPF_LEVEL_QUEUE,   20, 50, 128, 6, 50 },
	{ "leader-election",	KAPF_LEVEL_QUEUE,   10,  0,  16, 4, 50 },
	{ "node-high",		KAPF_LEVEL_QUEUE,   40, 25,  64, 6, 50 },
	{ "system",		KAPF_LEVEL_QUEUE,   30, 33,  64, 6, 50 },
	{ "workload-high",	KAPF_LEVEL_QUEUE,   40, 50, 128, 6, 50 },
	{ "workload-low",	KAPF_LEVEL_QUEUE,  100, 90, 128, 6, 50 },
};

/**
 * kapf_mandatory_schema() - find a mandatory FlowSchema
 * @name: of the schema
 *
 * Return: NULL where @name is not that of a mandatory one.
 */
const struct kapf_default_schema *kapf_mandatory_schema(const char *name)
{
	for (size_t i = 0; i < KAPF_ARRAY_SIZE(mandatory_schemas); i++)
		if (!strcmp(name, mandatory_schemas[i].name))
			return &mandatory_schemas[i];
	return NULL;
}

bool kapf_is_mandatory(const char *name)
{
	return kapf_mandatory_schema(name);
}

static int put_level(struct kapf_configuration *config,
		     const struct default_level *from)
{
	const struct kapf_priority_level *old =
		kapf_config_level(config, from->name);
	struct kapf_priority_level level = {
		.type = from->type,
		.nominal_shares = from->nominal_shares,
		.lendable_percent = from->lendable_percent,
		.borrowing_limit_percent = KAPF_BORROWING_UNLIMITED,
		.queues = from->queues,
		.hand_size = from->hand_size,
		.queue_length_limit = from->queue_length_limit,
	};

	if (old && !kapf_meta_autoupdate(&old->meta))
		return 0;
	kapf_name_copy(level.name, from->name);
	if (kapf_meta_set_autoupdate(&level.meta, true) ||
	    kapf_config_reserve(config, 1, 0)) {
		kapf_level_destroy(&level);
		return -ENOMEM;
	}
	kapf_config_put_level(config, &level);
	return 0;
}

static int put_schema(struct kapf_configuration *config,
		      const struct kapf_default_schema *from)
{
	const struct kapf_flow_schema *old =
		kapf_config_schema(config, from->name);
	struct kapf_flow_schema schema = {
		.precedence = from->precedence,
		.distinguisher = from->distinguisher,
	};
	int ret;

	if (old && !kapf_meta_autoupdate(&old->meta))
		return 0;
	kapf_name_copy(schema.name, from->name);
	kapf_name_copy(schema.level, from->level);
	schema.rules_json = strdup(from->rules);
	ret = schema.rules_json ?
		kapf_meta_set_autoupdate(&schema.meta, true) : -ENOMEM;
	if (!ret)
		ret = kapf_rules_parse(from->rules, strlen(from->rules),
				       &schema.rules, NULL);
	if (!ret)
		ret = kapf_config_reserve(config, 0, 1);
	if (ret) {
		kapf_schema_destroy(&schema);
		return ret;
	}
	kapf_config_put_schema(config, &schema);
	return 0;
}

/**
 * kapf_config_add_mandatory() - add the mandatory objects
 * @config: that does not have them
 *
 * Return: 0 or -ENOMEM.
 */
int kapf_config_add_mandatory(struct kapf_configuration *config)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < KAPF_ARRAY_SIZE(mandatory_levels); i++)
		ret = put_level(config, &mandatory_levels[i]);
	for (size_t i = 0; !ret && i < KAPF_ARRAY_SIZE(mandatory_schemas); i++)
		ret = put_schema(config, &mandatory_schemas[i]);
	if (!ret)
		kapf_config_sort(config);
	return ret;
}

int kapf_config_add_defaults(struct kapf_configuration *config)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < KAPF_ARRAY_SIZE(suggested_levels); i++)
		ret = put_level(config, &suggested_levels[i]);
	for (size_t i = 0; !ret && i < KAPF_ARRAY_SIZE(suggested_schemas); i++)
		ret = put_schema(config, &suggested_schemas[i]);
	kapf_config_sort(config);
	return ret;
}
