// SPDX-License-Identifier: GPL-2.0
/*
 * A FlowSchema's rules in words, and values of rules and of requests.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>

#include "kapfctl.h"

static const char *text_of(struct json_object *map, const char *name)
{
	return json_object_get_string(json_object_object_get(map, name));
}

static void write_value(FILE *to, struct json_object *value, size_t most);

static void write_list(FILE *to, struct json_object *list, size_t most)
{
	size_t i, nr = json_object_array_length(list);

	for (i = 0; i < nr && i < most; i++) {
		if (i)
			fputs(", ", to);
		write_value(to, json_object_array_get_idx(list, i), most);
	}
	if (i < nr)
		fprintf(to, " and %zu more", nr - i);
}

/* A subject of a rule: beside its kind it has one member, with its name. */
static void write_subject(FILE *to, struct json_object *subject)
{
	json_object_object_foreach(subject, key, value) {
		const char *ns;

		if (!json_object_is_type(value, json_type_object)) {
			fprintf(to, "%s ", json_object_get_string(value));
			continue;
		}
		(void)key;
		ns = text_of(value, "namespace");
		fprintf(to, "%s%s%s", ns ? ns : "", ns ? "/" : "",
			text_of(value, "name"));
	}
}

/* Who makes a request. */
static void write_who(FILE *to, struct json_object *who, size_t most)
{
	const char *tenant = text_of(who, "tenant");

	fprintf(to, "User %s of ", text_of(who, "user"));
	write_list(to, json_object_object_get(who, "groups"), most);
	if (tenant)
		fprintf(to, ", tenant %s", tenant);
}

static void write_value(FILE *to, struct json_object *value, size_t most)
{
	const char *text;

	switch (json_object_get_type(value)) {
	case json_type_array:
		write_list(to, value, most);
		break;
	case json_type_object:
		if (json_object_object_get(value, "kind"))
			write_subject(to, value);
		else
			write_who(to, value, most);
		break;
	case json_type_null:
		fputs(NONE, to);
		break;
	default:
		text = json_object_get_string(value);
		fputs(*text ? text : "\"\"", to);
	}
}

/**
 * in_words() - a value as people write it
 * @value: a string, a flag, a list, a subject of a rule, or who makes a request;
 *	NULL: nothing
 * @most: elements of a list that are shown
 *
 * Return: to be freed, never NULL; nothing in it commands a terminal.
 */
char *in_words(struct json_object *value, size_t most)
{
	char *words = NULL, *printable;
	size_t len;
	FILE *to = need(open_memstream(&words, &len));

	write_value(to, value, most);
	if (fclose(to))
		need(NULL);
	printable = make_printable(words, "");
	free(words);
	return printable;
}

static bool is_star(struct json_object *list)
{
	return json_object_array_length(list) == 1 &&
	       !strcmp(json_object_get_string(json_object_array_get_idx(list, 0)),
		       "*");
}

/* A member of a rule: a list, or all that there is. */
static void print_member(struct json_object *rule, const char *name,
			 const char *all, const char *some)
{
	struct json_object *list = json_object_object_get(rule, name);
	char *words;

	if (is_star(list)) {
		printf("%s", all);
		return;
	}
	words = in_words(list, SIZE_MAX);
	printf("%s%s", some, words);
	free(words);
}

static void print_resource_rule(struct json_object *rule)
{
	bool namespaces = json_object_object_get(rule, "namespaces");
	bool cluster = json_object_object_get(rule, "clusterScope");

	printf("    ");
	print_member(rule, "verbs", "any verb", "");
	printf(" of ");
	print_member(rule, "resources", "any resource", "");
	printf(" of ");
	print_member(rule, "apiGroups", "any API group", "API group ");
	if (namespaces) {
		printf(", ");
		print_member(rule, "namespaces", "in any namespace",
			     "in namespace ");
	}
	if (cluster)
		printf("%s", namespaces ? ", and without one" :
					  ", without a namespace");
	printf("\n");
}

static void print_path_rule(struct json_object *rule)
{
	printf("    ");
	print_member(rule, "verbs", "any verb", "");
	printf(" of ");
	print_member(rule, "nonResourceURLs", "any path", "path ");
	printf("\n");
}

static void print_each(struct json_object *rule, const char *name,
		       void (*print)(struct json_object *rule))
{
	struct json_object *list = json_object_object_get(rule, name);
	size_t i, nr = list ? json_object_array_length(list) : 0;

	for (i = 0; i < nr; i++)
		print(json_object_array_get_idx(list, i));
}

/**
 * print_rules() - print the rules of a schema in words
 * @rules: spec.rules in their canonical form
 */
void print_rules(struct json_object *rules)
{
	size_t i, nr = json_object_array_length(rules);

	for (i = 0; i < nr; i++) {
		struct json_object *rule = json_object_array_get_idx(rules, i);
		char *who = in_words(json_object_object_get(rule, "subjects"),
				     SIZE_MAX);

		printf("  %s:\n", who);
		free(who);
		print_each(rule, "resourceRules", print_resource_rule);
		print_each(rule, "nonResourceRules", print_path_rule);
	}
}
