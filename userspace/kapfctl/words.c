// SPDX-License-Identifier: GPL-2.0
/*
 * Values of a FlowSchema's rules, and of requests, in words, for tables.
 */
#include <stdio.h>
#include <stdlib.h>
#include <json-c/json.h>

#include "kapfctl.h"

/* Of a long list, so many elements are shown. */
#define MAX_SHOWN 8

static const char *text_of(struct json_object *map, const char *name)
{
	return json_object_get_string(json_object_object_get(map, name));
}

static void write_value(FILE *to, struct json_object *value);

static void write_list(FILE *to, struct json_object *list)
{
	size_t i, nr = json_object_array_length(list);

	for (i = 0; i < nr && i < MAX_SHOWN; i++) {
		if (i)
			fputs(", ", to);
		write_value(to, json_object_array_get_idx(list, i));
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
static void write_who(FILE *to, struct json_object *who)
{
	const char *tenant = text_of(who, "tenant");

	fprintf(to, "User %s of ", text_of(who, "user"));
	write_list(to, json_object_object_get(who, "groups"));
	if (tenant)
		fprintf(to, ", tenant %s", tenant);
}

static void write_value(FILE *to, struct json_object *value)
{
	const char *text;

	switch (json_object_get_type(value)) {
	case json_type_array:
		write_list(to, value);
		break;
	case json_type_object:
		if (json_object_object_get(value, "kind"))
			write_subject(to, value);
		else
			write_who(to, value);
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
 *
 * Return: to be freed, never NULL.
 */
char *in_words(struct json_object *value)
{
	char *words = NULL;
	size_t len;
	FILE *to = need(open_memstream(&words, &len));

	write_value(to, value);
	if (fclose(to))
		need(NULL);
	return words;
}
