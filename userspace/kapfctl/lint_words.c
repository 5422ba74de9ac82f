// SPDX-License-Identifier: GPL-2.0
/*
 * What kapfctl lint says of the words in resourceRules and nonResourceRules: of
 * those that no request ever has.
 *
 * A request names its resource as its URL does, in lower case and the plural, its
 * group without a version, and the core group by "".  Which resources there are,
 * only a cluster knows, so of a word in the singular it is told where the group is
 * one of Kubernetes' own.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>

#include "lint.h"

#define UPPER	"ABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* What is written for a resource: the name of its kind, or kubectl's for short */
static const struct name {
	const char *written;
	const char *plural;
} names[] = {
	{ "certificatesigningrequest", "certificatesigningrequests" },
	{ "clusterrole", "clusterroles" },
	{ "clusterrolebinding", "clusterrolebindings" },
	{ "cm", "configmaps" },
	{ "configmap", "configmaps" },
	{ "controllerrevision", "controllerrevisions" },
	{ "crd", "customresourcedefinitions" },
	{ "cronjob", "cronjobs" },
	{ "customresourcedefinition", "customresourcedefinitions" },
	{ "daemonset", "daemonsets" },
	{ "deploy", "deployments" },
	{ "deployment", "deployments" },
	{ "ds", "daemonsets" },
	{ "endpoint", "endpoints" },
	{ "endpointslice", "endpointslices" },
	{ "event", "events" },
	{ "flowschema", "flowschemas" },
	{ "horizontalpodautoscaler", "horizontalpodautoscalers" },
	{ "hpa", "horizontalpodautoscalers" },
	{ "ingress", "ingresses" },
	{ "job", "jobs" },
	{ "lease", "leases" },
	{ "limitrange", "limitranges" },
	{ "namespace", "namespaces" },
	{ "networkpolicy", "networkpolicies" },
	{ "node", "nodes" },
	{ "persistentvolume", "persistentvolumes" },
	{ "persistentvolumeclaim", "persistentvolumeclaims" },
	{ "pod", "pods" },
	{ "poddisruptionbudget", "poddisruptionbudgets" },
	{ "priorityclass", "priorityclasses" },
	{ "prioritylevelconfiguration", "prioritylevelconfigurations" },
	{ "pv", "persistentvolumes" },
	{ "pvc", "persistentvolumeclaims" },
	{ "replicaset", "replicasets" },
	{ "replicationcontroller", "replicationcontrollers" },
	{ "resourcequota", "resourcequotas" },
	{ "role", "roles" },
	{ "rolebinding", "rolebindings" },
	{ "secret", "secrets" },
	{ "service", "services" },
	{ "serviceaccount", "serviceaccounts" },
	{ "statefulset", "statefulsets" },
	{ "storageclass", "storageclasses" },
	{ "subjectaccessreview", "subjectaccessreviews" },
	{ "svc", "services" },
	{ "tokenreview", "tokenreviews" },
	{ "volumeattachment", "volumeattachments" },
	{ NULL, NULL }
};

/**
 * struct words - one list of a rule
 * @lint: where findings go
 * @severity: of them
 * @schema: of the rule
 * @path: of the list, as of kapf_meta_line()
 * @field: its name
 * @list: it
 */
struct words {
	struct lint *lint;
	enum severity severity;
	const struct kapf_flow_schema *schema;
	char path[96];
	const char *field;
	struct json_object *list;
};

static size_t count(struct json_object *list)
{
	return list ? json_object_array_length(list) : 0;
}

static const char *word(struct json_object *list, size_t i)
{
	return json_object_get_string(json_object_array_get_idx(list, i));
}

static struct words words_of(struct lint *lint,
			     const struct kapf_flow_schema *schema,
			     const char *path, struct json_object *rule,
			     const char *field)
{
	struct words words = {
		.lint = lint, .severity = ERROR, .schema = schema,
		.field = field,
		.list = json_object_object_get(rule, field),
	};

	snprintf(words.path, sizeof(words.path), "%s.%s", path, field);
	return words;
}

/* Says that the request never has the word at @i, for this reason. */
static void report_word(const struct words *words, size_t i,
			const char *change, const char *reason,
			const char *instead)
{
	const char *text = word(words->list, i);
	char path[sizeof(words->path) + 32], quoted[KAPF_NAME_BYTES];

	snprintf(path, sizeof(path), "%s.%zu", words->path, i);
	report(words->lint, words->severity, schema_place(words->schema, path),
	       "A word that no request has matches nothing: the requests that were meant go to the schemas behind this one.",
	       change, "%s has %s, which no request has: %s%s", words->field,
	       kapf_quote(quoted, sizeof(quoted), text), reason, instead);
}

/*
 * ---------------------------------------------------------------------------
 * Groups
 */

/* As v1, v2beta1 */
static bool is_version(const char *text)
{
	size_t digits = strspn(text + (*text == 'v'), "0123456789");

	if (*text != 'v' || !digits)
		return false;
	text += 1 + digits;
	if (!*text)
		return true;
	if (!strncmp(text, "alpha", 5))
		text += 5;
	else if (!strncmp(text, "beta", 4))
		text += 4;
	else
		return false;
	return *text && !text[strspn(text, "0123456789")];
}

static void check_group(const struct words *words, size_t i)
{
	static const char core[] = "Say \"\", which is the core group.";
	static const char group[] =
		"Say the group alone, as in apps; \"\" is the core group.";
	const char *text = word(words->list, i);

	if (!strcmp(text, "core"))
		report_word(words, i, core, "the core group has no name", "");
	else if (is_version(text))
		report_word(words, i, group,
			    "that is a version, and a rule is for all of them",
			    "");
	else if (strchr(text, '/'))
		report_word(words, i, group,
			    "a group has no version, a rule is for all of them",
			    "");
	else if (strpbrk(text, UPPER))
		report_word(words, i, "Write it in lower case.",
			    "groups are in lower case", "");
	else if (strchr(text, '*') && strcmp(text, "*"))
		report_word(words, i, "Name the groups, or say \"*\".",
			    "a * stands for all only on its own", "");
}

/* Kubernetes' own, or all; also one that is not written as it should be */
static bool is_builtin_group(const char *text)
{
	static const char own[] = ".k8s.io";
	size_t len = strcspn(text, "/");

	return !memchr(text, '.', len) ||
	       (len >= strlen(own) &&
		!strncmp(text + len - strlen(own), own, strlen(own)));
}

/* Where the names of metrics stand for resources; people give these names. */
static bool is_metrics_group(const char *text)
{
	return strstr(text, "metrics.k8s.io");
}

static bool any_group(struct json_object *groups, bool (*is)(const char *text))
{
	size_t i;

	for (i = 0; i < count(groups); i++)
		if (is(word(groups, i)))
			return true;
	return false;
}

/*
 * ---------------------------------------------------------------------------
 * Resources
 */

static const char *plural_of(const char *written, size_t len)
{
	const struct name *name = names;

	while (name->written && (strlen(name->written) != len ||
				 strncmp(name->written, written, len)))
		name++;
	return name->plural;
}

static void check_resource(const struct words *words, size_t i,
			   struct json_object *groups)
{
	const char *text = word(words->list, i);
	const char *plural = plural_of(text, strcspn(text, "/"));

	if (!strcmp(text, "*"))
		return;
	if (strchr(text, '*'))
		report_word(words, i,
			    "Name the resources, as in pods and pods/status, or say \"*\", which has the subresources, too.",
			    "a * stands for all only on its own", "");
	else if (any_group(groups, is_metrics_group))
		return;
	else if (strpbrk(text, UPPER))
		report_word(words, i,
			    "Write it in lower case and the plural, as in pods.",
			    "names of resources are in lower case", "");
	else if (strchr(text, '.'))
		report_word(words, i,
			    "Say the resource alone, as in deployments, and its group in apiGroups.",
			    "a resource has its group in apiGroups", "");
	else if (plural && any_group(groups, is_builtin_group))
		report_word(words, i, "Write the plural.", "requests say ", plural);
}

/*
 * ---------------------------------------------------------------------------
 * Rules
 */

static void check_resource_rule(struct lint *lint,
				const struct kapf_flow_schema *schema,
				const char *path, struct json_object *rule)
{
	struct words groups = words_of(lint, schema, path, rule, "apiGroups");
	struct words resources =
		words_of(lint, schema, path, rule, "resources");
	size_t i;

	for (i = 0; i < count(groups.list); i++)
		check_group(&groups, i);
	for (i = 0; i < count(resources.list); i++)
		check_resource(&resources, i, groups.list);
}

/*
 * The verb of a request for a path is its method in lower case.  Other verbs are
 * mostly there by habit, beside get, and nothing is missing.
 */
static void check_path_rule(struct lint *lint,
			    const struct kapf_flow_schema *schema,
			    const char *path, struct json_object *rule)
{
	static const char *const methods[] = { "*", "get", "patch", "delete" };
	struct words verbs = words_of(lint, schema, path, rule, "verbs");
	size_t i, j;

	verbs.severity = WARNING;
	for (i = 0; i < count(verbs.list); i++) {
		for (j = 0; j < 4; j++)
			if (!strcmp(word(verbs.list, i), methods[j]))
				break;
		if (j == 4)
			report_word(&verbs, i,
				    "Remove it; \"*\" has the methods that are no such verb, as post.",
				    "the verb of a request for a path is its method, as get",
				    "");
	}
}

static void check_rules(struct lint *lint, const struct kapf_flow_schema *schema,
			struct json_object *all, const char *field,
			void (*check)(struct lint *lint,
				      const struct kapf_flow_schema *schema,
				      const char *path,
				      struct json_object *rule))
{
	struct json_object *list;
	char path[64];
	size_t i, j;

	for (i = 0; i < count(all); i++) {
		list = json_object_object_get(json_object_array_get_idx(all, i),
					      field);
		for (j = 0; j < count(list); j++) {
			snprintf(path, sizeof(path), "spec.rules.%zu.%s.%zu",
				 i, field, j);
			check(lint, schema, path,
			      json_object_array_get_idx(list, j));
		}
	}
}

void find_no_match(struct lint *lint)
{
	const struct kapf_flow_schema *schema = lint->config->schemas;
	struct json_object *rules;
	size_t i;

	for (i = 0; i < lint->config->nr_schemas; i++, schema++) {
		if (!is_own(schema))
			continue;
		rules = need(json_tokener_parse(schema->rules_json));
		check_rules(lint, schema, rules, "resourceRules",
			    check_resource_rule);
		check_rules(lint, schema, rules, "nonResourceRules",
			    check_path_rule);
		json_object_put(rules);
	}
}
