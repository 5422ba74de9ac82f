// SPDX-License-Identifier: GPL-2.0
/*
 * kapfctl explain: why a request goes to its FlowSchema: what each schema before
 * it asks for that the request is not, as the classification itself tells, and
 * what becomes of the request there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>

#include "kapfctl.h"

/* Of a long list, so many elements are shown in the table. */
#define MAX_SHOWN 8

/* Room for spec.rules[N].nonResourceRules[N].nonResourceURLs. */
#define FIELD_ROOM 128

/* Parts of rules, as manifests have them. */
static const char *const part_names[] = {
	[KAPF_PART_LEVEL] = "priorityLevelConfiguration",
	[KAPF_PART_RULES] = "rules",
	[KAPF_PART_SUBJECTS] = "subjects",
	[KAPF_PART_RESOURCE_RULES] = "resourceRules",
	[KAPF_PART_PATH_RULES] = "nonResourceRules",
	[KAPF_PART_VERBS] = "verbs",
	[KAPF_PART_API_GROUPS] = "apiGroups",
	[KAPF_PART_RESOURCES] = "resources",
	[KAPF_PART_CLUSTER_SCOPE] = "clusterScope",
	[KAPF_PART_NAMESPACES] = "namespaces",
	[KAPF_PART_URLS] = "nonResourceURLs",
};

/**
 * struct explanation - on its way
 * @inquiry: that is explained
 * @comparisons: for -o; else NULL
 * @table: else
 */
struct explanation {
	const struct inquiry *inquiry;
	struct json_object *comparisons;
	struct libscols_table *table;
};

/**
 * struct comparison - of a request with one way to match a schema
 * @schema: which
 * @match: with what result
 * @field: that fails, or the rule that matches, as in kubectl explain
 * @wanted: what stands there in the schema; NULL: nothing
 * @found: what the request has there; NULL: nothing
 */
struct comparison {
	const struct kapf_flow_schema *schema;
	const struct kapf_match *match;
	char field[FIELD_ROOM];
	struct json_object *wanted;
	struct json_object *found;
};

/* "resourceRules", or what goes for a path */
static const char *entries_name(const struct kapf_http_request *request)
{
	return part_names[request->is_resource ? KAPF_PART_RESOURCE_RULES :
						 KAPF_PART_PATH_RULES];
}

static void write_field(struct comparison *comparison,
			const struct kapf_http_request *request)
{
	const struct kapf_match *match = comparison->match;
	char *field = comparison->field;

	if (match->part == KAPF_PART_LEVEL || match->part == KAPF_PART_RULES)
		snprintf(field, FIELD_ROOM, "spec.%s", part_names[match->part]);
	else if (match->part == KAPF_PART_NONE)
		snprintf(field, FIELD_ROOM, "spec.rules[%zu].%s[%zu]",
			 match->rule, entries_name(request), match->entry);
	else if (match->part < KAPF_PART_VERBS)
		snprintf(field, FIELD_ROOM, "spec.rules[%zu].%s", match->rule,
			 part_names[match->part]);
	else
		snprintf(field, FIELD_ROOM, "spec.rules[%zu].%s[%zu].%s",
			 match->rule, entries_name(request), match->entry,
			 part_names[match->part]);
}

/* A member, or an element of a list that is a member; NULL: none. */
static struct json_object *member(struct json_object *map, const char *name)
{
	return json_object_object_get(map, name);
}

static struct json_object *element(struct json_object *map, const char *name,
				   size_t index)
{
	return json_object_array_get_idx(member(map, name), index);
}

/* What the schema has where the comparison ended: where all is alike, who. */
static struct json_object *wanted(const struct kapf_flow_schema *schema,
				  const struct kapf_match *match,
				  const struct kapf_http_request *request)
{
	struct json_object *rules, *rule, *wanted = NULL;

	if (match->part == KAPF_PART_LEVEL)
		return tree_text(schema->level);
	if (match->part == KAPF_PART_CLUSTER_SCOPE)
		return tree_bool(false);
	rules = need(json_tokener_parse(schema->rules_json));
	rule = json_object_array_get_idx(rules, match->rule);
	if (match->part == KAPF_PART_NONE)
		wanted = element(rule, part_names[KAPF_PART_SUBJECTS],
				 match->subject);
	else if (match->part < KAPF_PART_VERBS)
		wanted = member(rule, part_names[match->part]);
	else
		wanted = member(element(rule, entries_name(request),
					match->entry),
				part_names[match->part]);
	wanted = json_object_get(wanted);
	json_object_put(rules);
	return wanted;
}

static struct json_object *who(const struct kapf_digest *digest)
{
	struct json_object *who = tree_map(), *groups = tree_list();
	size_t i;

	for (i = 0; i < digest->nr_groups; i++)
		tree_append(groups, tree_text(digest->groups[i]));
	tree_add(who, "user", tree_text(digest->user));
	tree_add(who, "groups", groups);
	tree_add(who, "tenant",
		 digest->tenant ? tree_text(digest->tenant) : NULL);
	return who;
}

static struct json_object *resource(const struct kapf_http_request *request)
{
	char *text;
	struct json_object *tree;

	if (asprintf(&text, "%s%s%s", request->resource,
		     *request->subresource ? "/" : "",
		     request->subresource) < 0)
		need(NULL);
	tree = tree_text(text);
	free(text);
	return tree;
}

/* What the request has there. */
static struct json_object *found(const struct inquiry *inquiry,
				 enum kapf_part part)
{
	const struct kapf_http_request *request = inquiry->request;

	switch (part) {
	case KAPF_PART_SUBJECTS:
		return who(&inquiry->digest);
	case KAPF_PART_RESOURCE_RULES:
	case KAPF_PART_RESOURCES:
		return resource(request);
	case KAPF_PART_PATH_RULES:
	case KAPF_PART_URLS:
		return tree_text(request->path);
	case KAPF_PART_VERBS:
		return tree_text(request->verb);
	case KAPF_PART_API_GROUPS:
		return tree_text(request->api_group);
	case KAPF_PART_CLUSTER_SCOPE:
	case KAPF_PART_NAMESPACES:
		return tree_text(request->ns);
	default:
		return NULL;
	}
}

static struct json_object *
comparison_tree(const struct comparison *comparison)
{
	struct json_object *tree = tree_map();

	tree_add(tree, "flow_schema", tree_text(comparison->schema->name));
	tree_add(tree, "matching_precedence",
		 tree_number(comparison->schema->precedence));
	tree_add(tree, "matches",
		 tree_bool(comparison->match->part == KAPF_PART_NONE));
	tree_add(tree, "field", tree_text(comparison->field));
	tree_add(tree, "schema", comparison->wanted);
	tree_add(tree, "request", comparison->found);
	return tree;
}

static void add_row(struct libscols_table *table,
		    const struct comparison *comparison)
{
	char *wanted = in_words(comparison->wanted, MAX_SHOWN);
	char *found = in_words(comparison->found, MAX_SHOWN);
	char precedence[16];

	snprintf(precedence, sizeof(precedence), "%u",
		 comparison->schema->precedence);
	table_row(table, comparison->schema->name, precedence,
		  comparison->match->part == KAPF_PART_NONE ? "matches" :
							      "fails",
		  comparison->field, wanted, found);
	free(found);
	free(wanted);
}

static void add_comparison(const struct kapf_flow_schema *schema,
			   const struct kapf_match *match, void *user)
{
	struct explanation *explanation = user;
	const struct inquiry *inquiry = explanation->inquiry;
	struct comparison comparison = { .schema = schema, .match = match };

	write_field(&comparison, inquiry->request);
	comparison.wanted = wanted(schema, match, inquiry->request);
	comparison.found = found(inquiry, match->part);
	if (explanation->comparisons) {
		tree_append(explanation->comparisons, comparison_tree(&comparison));
		return;
	}
	add_row(explanation->table, &comparison);
	json_object_put(comparison.wanted);
	json_object_put(comparison.found);
}

static void explain(const struct kapf_configuration *config,
		    const struct inquiry *inquiry)
{
	static const char *const columns[] = {
		"FLOWSCHEMA", "PRECEDENCE", "RESULT", "FIELD", "SCHEMA",
		"REQUEST", NULL
	};
	struct explanation explanation = {
		.inquiry = inquiry,
		.comparisons = output_format ? tree_list() : NULL,
		.table = output_format ? NULL : table_new(columns),
	};
	struct json_object *tree;
	struct answer answer;

	answer_find(&answer, config, inquiry, add_comparison, &explanation);
	if (output_format) {
		tree = answer_tree(&answer);
		tree_add(tree, "comparisons", explanation.comparisons);
		tree_print(tree);
		return;
	}
	table_print(explanation.table);
	printf("\n");
	answer_print(&answer);
}

static int explain_main(int argc, char **argv)
{
	return ask(&explain_command, argc, argv, explain);
}

const struct command explain_command = {
	.name = "explain",
	.summary = "say why a request gets its schema, and no other",
	.help =
"usage: kapfctl explain REQUEST WHO [STORE] [-f PATH]... [--defaults] [-o json]\n"
INQUIRY_SYNOPSIS
"\n"
"Compares a request with each FlowSchema, in the order in which they are tried,\n"
"and shows what the first part of each of its rules that fails has in the schema\n"
"and in the request, down to the rule that matches.  Then says what classify\n"
"says.\n"
"\n"
INQUIRY_HELP
"\n"
"With -o, an object: " ANSWER_KEYS ",\n"
"and comparisons, a list of flow_schema, matching_precedence, matches, field,\n"
"schema (what stands in that field; of a match: the subject) and request (what is\n"
"compared with it: text, or user, groups and tenant; null: nothing).\n",
	.formats = "json",
	.brief = INQUIRY_BRIEF,
	.options = inquiry_options,
	.main = explain_main,
};
