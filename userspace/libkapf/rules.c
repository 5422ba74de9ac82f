// SPDX-License-Identifier: LGPL-2.1
/*
 * The rules of a FlowSchema: from a tree, checked as Kubernetes checks them,
 * into plain arrays that are matched without looking at the tree again; and as
 * text in the canonical form that struct kapf_config_schema defines, so that
 * equal rules are equal bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/*
 * Checks that @node is a list, and makes room for @nr elements.  Does nothing
 * where @ret says that something has failed before.
 */
static void *make_room(const struct kapf_node *node, size_t element_size,
		       size_t *nr, int *ret)
{
	void *room;

	if (!*ret)
		*ret = kapf_node_list(node, nr);
	if (*ret || !*nr)
		return NULL;
	room = calloc(*nr, element_size);
	if (!room) {
		*nr = 0;
		*ret = -ENOMEM;
	}
	return room;
}

static bool has_star(const struct kapf_strings *strings)
{
	for (size_t i = 0; i < strings->nr; i++)
		if (!strcmp(strings->at[i], "*"))
			return true;
	return false;
}

/* Reads a list of strings, in which "*" may only stand alone. */
static int read_strings(const struct kapf_node *list,
			struct kapf_strings *strings)
{
	int ret = 0;

	strings->at = make_room(list, sizeof(*strings->at), &strings->nr, &ret);
	for (size_t i = 0; !ret && i < strings->nr; i++) {
		const struct kapf_node node = kapf_node_element(list, i);

		ret = kapf_node_string(&node, &strings->at[i]);
	}
	if (!ret && strings->nr > 1 && has_star(strings))
		ret = kapf_node_refuse(list, "\"*\" must stand alone");
	return ret;
}

static int read_some_strings(const struct kapf_node *list,
			     struct kapf_strings *strings)
{
	int ret = read_strings(list, strings);

	if (!ret && !strings->nr)
		ret = kapf_node_refuse(list, "must have at least one element");
	return ret;
}

static int read_verbs(const struct kapf_node *rule, struct kapf_strings *verbs)
{
	const struct kapf_node list = kapf_node_member(rule, "verbs");
	int ret = read_some_strings(&list, verbs);

	if (ret || has_star(verbs))
		return ret;
	for (size_t i = 0; i < verbs->nr; i++) {
		const struct kapf_node node = kapf_node_element(&list, i);

		if (!kapf_is_verb(verbs->at[i]))
			return kapf_node_unlike(&node, KAPF_VERBS);
	}
	return 0;
}

static int read_namespaces(const struct kapf_node *rule,
			   struct kapf_resource_rule *to)
{
	const struct kapf_node list = kapf_node_member(rule, "namespaces");
	int ret = read_strings(&list, &to->namespaces);

	if (ret)
		return ret;
	if (!to->namespaces.nr && !to->cluster_scope)
		return kapf_node_refuse(&list, "is empty: must not be unless clusterScope is true");
	if (has_star(&to->namespaces))
		return 0;
	for (size_t i = 0; i < to->namespaces.nr; i++) {
		const struct kapf_node node = kapf_node_element(&list, i);

		if (!kapf_is_label(to->namespaces.at[i]))
			return kapf_node_unlike(&node,
						"\"*\" or a DNS-1123 label");
	}
	return 0;
}

static int read_resource_rule(const struct kapf_node *rule,
			      struct kapf_resource_rule *to)
{
	static const char *const members[] = {
		"verbs", "apiGroups", "resources", "clusterScope", "namespaces",
		NULL
	};
	const struct kapf_node groups = kapf_node_member(rule, "apiGroups");
	const struct kapf_node resources = kapf_node_member(rule, "resources");
	const struct kapf_node scope = kapf_node_member(rule, "clusterScope");
	int ret = kapf_node_map(rule, members);

	if (!ret)
		ret = read_verbs(rule, &to->verbs);
	if (!ret)
		ret = read_some_strings(&groups, &to->api_groups);
	if (!ret)
		ret = read_some_strings(&resources, &to->resources);
	if (!ret)
		ret = kapf_node_bool(&scope, &to->cluster_scope);
	return ret ? ret : read_namespaces(rule, to);
}

static int read_path_rule(const struct kapf_node *rule,
			  struct kapf_path_rule *to)
{
	static const char *const members[] = {
		"verbs", "nonResourceURLs", NULL
	};
	const struct kapf_node list = kapf_node_member(rule, "nonResourceURLs");
	int ret = kapf_node_map(rule, members);

	if (!ret)
		ret = read_verbs(rule, &to->verbs);
	if (!ret)
		ret = read_some_strings(&list, &to->urls);
	if (ret || has_star(&to->urls))
		return ret;
	for (size_t i = 0; i < to->urls.nr; i++) {
		const struct kapf_node node = kapf_node_element(&list, i);
		const char *fault = kapf_url_fault(to->urls.at[i]);
		char url[128];

		if (fault)
			return kapf_node_refuse(&node, "%s %s",
						kapf_quote(url, sizeof(url),
							   to->urls.at[i]),
						fault);
	}
	return 0;
}

/* What a subject of each kind is written with. */
static const struct {
	const char *kind;
	const char *member;
} subject_kinds[] = {
	[KAPF_USER] = { "User", "user" },
	[KAPF_GROUP] = { "Group", "group" },
	[KAPF_SERVICE_ACCOUNT] = { "ServiceAccount", "serviceAccount" },
};

static int read_service_account(const struct kapf_node *account,
				struct kapf_subject *to)
{
	static const char *const members[] = { "namespace", "name", NULL };
	const struct kapf_node namespace =
		kapf_node_member(account, "namespace");
	const struct kapf_node name = kapf_node_member(account, "name");
	int ret = kapf_node_map(account, members);

	if (!ret)
		ret = kapf_node_string(&namespace, &to->ns);
	if (!ret)
		ret = kapf_node_string(&name, &to->name);
	if (ret)
		return ret;
	if (!kapf_is_label(to->ns))
		return kapf_node_unlike(&namespace, "a DNS-1123 label");
	if (strcmp(to->name, "*") && !kapf_is_subdomain(to->name))
		return kapf_node_unlike(&name,
					"\"*\" or a DNS-1123 subdomain");
	return 0;
}

static int read_named(const struct kapf_node *named, struct kapf_subject *to)
{
	static const char *const members[] = { "name", NULL };
	const struct kapf_node name = kapf_node_member(named, "name");
	int ret = kapf_node_map(named, members);

	if (!ret)
		ret = kapf_node_string(&name, &to->name);
	if (!ret && !*to->name)
		ret = kapf_node_unlike(&name, "\"*\" or a name");
	return ret;
}

static int read_subject(const struct kapf_node *subject,
			struct kapf_subject *to)
{
	static const char *const members[] = {
		"kind", "user", "group", "serviceAccount", NULL
	};
	const struct kapf_node kind_node = kapf_node_member(subject, "kind");
	const size_t nr = KAPF_ARRAY_SIZE(subject_kinds);
	struct kapf_node member = {};
	const char *text;
	size_t kind = 0;
	int ret = kapf_node_map(subject, members);

	if (!ret)
		ret = kapf_node_string(&kind_node, &text);
	if (ret)
		return ret;
	while (kind < nr && strcmp(text, subject_kinds[kind].kind))
		kind++;
	if (kind == nr)
		return kapf_node_unlike(&kind_node,
					"User, Group or ServiceAccount");
	for (size_t i = 0; i < nr; i++) {
		member = kapf_node_member(subject, subject_kinds[i].member);
		if (i != kind && member.value)
			return kapf_node_refuse(&member, "must not be there: kind is %s",
						text);
	}
	member = kapf_node_member(subject, subject_kinds[kind].member);
	if (!member.value)
		return kapf_node_refuse(&member, "is missing: kind is %s",
					text);
	to->kind = kind;
	to->line = subject->line;
	if (kind == KAPF_SERVICE_ACCOUNT)
		return read_service_account(&member, to);
	return read_named(&member, to);
}

static int read_rule(const struct kapf_node *rule, struct kapf_rule *to)
{
	static const char *const members[] = {
		"subjects", "resourceRules", "nonResourceRules", NULL
	};
	const struct kapf_node subjects = kapf_node_member(rule, "subjects");
	const struct kapf_node resources =
		kapf_node_member(rule, "resourceRules");
	const struct kapf_node paths =
		kapf_node_member(rule, "nonResourceRules");
	struct kapf_node node;
	int ret = kapf_node_map(rule, members);

	to->subjects = make_room(&subjects, sizeof(*to->subjects),
				 &to->nr_subjects, &ret);
	for (size_t i = 0; !ret && i < to->nr_subjects; i++) {
		node = kapf_node_element(&subjects, i);
		ret = read_subject(&node, &to->subjects[i]);
	}
	to->resource_rules = make_room(&resources, sizeof(*to->resource_rules),
				       &to->nr_resource_rules, &ret);
	for (size_t i = 0; !ret && i < to->nr_resource_rules; i++) {
		node = kapf_node_element(&resources, i);
		ret = read_resource_rule(&node, &to->resource_rules[i]);
	}
	to->path_rules = make_room(&paths, sizeof(*to->path_rules),
				   &to->nr_path_rules, &ret);
	for (size_t i = 0; !ret && i < to->nr_path_rules; i++) {
		node = kapf_node_element(&paths, i);
		ret = read_path_rule(&node, &to->path_rules[i]);
	}
	if (ret)
		return ret;
	if (!to->nr_subjects)
		return kapf_node_refuse(&subjects,
					"must have at least one element");
	if (!to->nr_resource_rules && !to->nr_path_rules)
		return kapf_node_refuse(rule, "must have resourceRules or nonResourceRules");
	return 0;
}

/**
 * kapf_rules_read() - rules from a tree
 * @node: the list of rules; its tree is kept
 * @rules: out
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int kapf_rules_read(const struct kapf_node *node, struct kapf_rules **rules)
{
	struct kapf_rules *read = calloc(1, sizeof(*read));
	int ret = 0;

	if (!read)
		return -ENOMEM;
	read->tree = json_object_get(node->value);
	read->rules = make_room(node, sizeof(*read->rules), &read->nr, &ret);
	for (size_t i = 0; !ret && i < read->nr; i++) {
		const struct kapf_node rule = kapf_node_element(node, i);

		ret = read_rule(&rule, &read->rules[i]);
	}
	if (ret) {
		kapf_rules_free(read);
		return ret;
	}
	*rules = read;
	return 0;
}

/**
 * kapf_rules_parse() - rules from their canonical form
 * @json: what kapf_rules_json() made
 * @len: of @json, in bytes
 * @rules: out
 * @err: says why it failed; may be NULL
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int kapf_rules_parse(const char *json, size_t len, struct kapf_rules **rules,
		     struct kapf_error *err)
{
	const struct kapf_source source = { .version = KAPF_V1, .err = err };
	const struct kapf_node spec = { .source = &source };
	struct kapf_node node = {
		.source = &source, .parent = &spec, .key = "rules",
	};
	int ret = kapf_json_parse(json, len, &node.value);

	if (ret == -EINVAL)
		kapf_error_set(err, "rules: not valid JSON");
	if (!ret)
		ret = kapf_rules_read(&node, rules);
	json_object_put(node.value);
	return ret;
}

static void write_string(FILE *to, const char *text)
{
	static const char escapes[] = {
		['"'] = '"', ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f',
		['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't',
	};

	fputc('"', to);
	for (; *text; text++) {
		unsigned char c = *text;

		if (c < sizeof(escapes) && escapes[c])
			fprintf(to, "\\%c", escapes[c]);
		else if (c < 0x20)
			fprintf(to, "\\u%04x", c);
		else
			fputc(c, to);
	}
	fputc('"', to);
}

static void write_member(FILE *to, const char *name, const char *text)
{
	fprintf(to, "\"%s\":", name);
	write_string(to, text);
}

static void write_strings(FILE *to, const char *name,
			  const struct kapf_strings *strings)
{
	fprintf(to, "\"%s\":[", name);
	for (size_t i = 0; i < strings->nr; i++) {
		if (i)
			fputc(',', to);
		write_string(to, strings->at[i]);
	}
	fputc(']', to);
}

static void write_subject(FILE *to, const struct kapf_subject *subject)
{
	fputc('{', to);
	write_member(to, "kind", subject_kinds[subject->kind].kind);
	fprintf(to, ",\"%s\":{", subject_kinds[subject->kind].member);
	if (subject->kind == KAPF_SERVICE_ACCOUNT) {
		write_member(to, "namespace", subject->ns);
		fputc(',', to);
	}
	write_member(to, "name", subject->name);
	fputs("}}", to);
}

static void write_resource_rule(FILE *to, const struct kapf_resource_rule *rule)
{
	fputc('{', to);
	write_strings(to, "verbs", &rule->verbs);
	fputc(',', to);
	write_strings(to, "apiGroups", &rule->api_groups);
	fputc(',', to);
	write_strings(to, "resources", &rule->resources);
	if (rule->cluster_scope)
		fputs(",\"clusterScope\":true", to);
	if (rule->namespaces.nr) {
		fputc(',', to);
		write_strings(to, "namespaces", &rule->namespaces);
	}
	fputc('}', to);
}

static void write_path_rule(FILE *to, const struct kapf_path_rule *rule)
{
	fputc('{', to);
	write_strings(to, "verbs", &rule->verbs);
	fputc(',', to);
	write_strings(to, "nonResourceURLs", &rule->urls);
	fputc('}', to);
}

static void write_rule(FILE *to, const struct kapf_rule *rule)
{
	fputs("{\"subjects\":[", to);
	for (size_t i = 0; i < rule->nr_subjects; i++) {
		fputs(i ? "," : "", to);
		write_subject(to, &rule->subjects[i]);
	}
	fputs(rule->nr_resource_rules ? "],\"resourceRules\":[" : "", to);
	for (size_t i = 0; i < rule->nr_resource_rules; i++) {
		fputs(i ? "," : "", to);
		write_resource_rule(to, &rule->resource_rules[i]);
	}
	fputs(rule->nr_path_rules ? "],\"nonResourceRules\":[" : "", to);
	for (size_t i = 0; i < rule->nr_path_rules; i++) {
		fputs(i ? "," : "", to);
		write_path_rule(to, &rule->path_rules[i]);
	}
	fputs("]}", to);
}

/**
 * kapf_rules_json() - rules in their canonical form
 * @rules: the rules
 *
 * Return: to be freed; NULL when memory is short.
 */
char *kapf_rules_json(const struct kapf_rules *rules)
{
	char *json = NULL;
	size_t len;
	FILE *to = open_memstream(&json, &len);
	bool failed;

	if (!to)
		return NULL;
	fputc('[', to);
	for (size_t i = 0; i < rules->nr; i++) {
		fputs(i ? "," : "", to);
		write_rule(to, &rules->rules[i]);
	}
	fputc(']', to);
	failed = ferror(to);
	failed |= fclose(to);
	if (failed) {
		free(json);
		return NULL;
	}
	return json;
}

static void free_rule(struct kapf_rule *rule)
{
	for (size_t i = 0; i < rule->nr_resource_rules; i++) {
		struct kapf_resource_rule *resource = &rule->resource_rules[i];

		free(resource->verbs.at);
		free(resource->api_groups.at);
		free(resource->resources.at);
		free(resource->namespaces.at);
	}
	for (size_t i = 0; i < rule->nr_path_rules; i++) {
		free(rule->path_rules[i].verbs.at);
		free(rule->path_rules[i].urls.at);
	}
	free(rule->subjects);
	free(rule->resource_rules);
	free(rule->path_rules);
}

/* Frees @rules, which may be NULL. */
void kapf_rules_free(struct kapf_rules *rules)
{
	if (!rules)
		return;
	for (size_t i = 0; i < rules->nr; i++)
		free_rule(&rules->rules[i]);
	free(rules->rules);
	json_object_put(rules->tree);
	free(rules);
}

/**
 * kapf_schema_subject() - the subjects of a schema, one after the other
 * @schema: the schema
 * @index: from 0, through all of its rules
 *
 * Return: NULL at the end.
 */
const struct kapf_subject *
kapf_schema_subject(const struct kapf_flow_schema *schema, size_t index)
{
	for (size_t i = 0; i < schema->rules->nr; i++) {
		const struct kapf_rule *rule = &schema->rules->rules[i];

		if (index < rule->nr_subjects)
			return &rule->subjects[index];
		index -= rule->nr_subjects;
	}
	return NULL;
}
