// SPDX-License-Identifier: LGPL-2.1
/*
 * Typed access to the tree of an object.  A node knows its way up to the
 * object, so that whoever finds a fault can say FILE:LINE, object, field and
 * value in one call.  null counts as absent, as in Kubernetes; what is absent
 * leaves the caller's value, the default, as it is.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

/*
 * The userdata of a value is its line.  That of a mapping is another mapping, of
 * its keys to these as values, whose userdata are their lines; its own line is
 * the userdata of that.  NULL and 0 where the tree is not from a manifest.
 */
struct json_object *kapf_keys(struct json_object *map)
{
	return json_object_is_type(map, json_type_object) ?
		json_object_get_userdata(map) : NULL;
}

static struct json_object *line_holder(struct json_object *value)
{
	struct json_object *keys = kapf_keys(value);

	return keys ? keys : value;
}

void kapf_line_set(struct json_object *value, unsigned int line)
{
	json_object_set_userdata(line_holder(value), (void *)(uintptr_t)line,
				 NULL);
}

unsigned int kapf_line(struct json_object *value)
{
	return (uintptr_t)json_object_get_userdata(line_holder(value));
}

struct kapf_node kapf_node_member(const struct kapf_node *map, const char *key)
{
	struct kapf_node member = {
		.source = map->source, .parent = map, .key = key,
		.line = map->line,
	};
	struct json_object *name;

	json_object_object_get_ex(map->value, key, &member.value);
	if (json_object_object_get_ex(kapf_keys(map->value), key, &name))
		member.line = kapf_line(name);
	return member;
}

struct kapf_node kapf_node_element(const struct kapf_node *list, size_t index)
{
	struct json_object *value =
		json_object_array_get_idx(list->value, index);

	return (struct kapf_node) {
		.source = list->source, .parent = list, .index = index,
		.line = value ? kapf_line(value) : list->line, .value = value,
	};
}

/* Writes the path of @node, as in spec.rules[0].subjects[1].kind. */
static size_t write_path(const struct kapf_node *node, char *path, size_t size)
{
	size_t used;

	path[0] = '\0';
	if (!node->parent)
		return 0;
	used = write_path(node->parent, path, size);
	if (node->key)
		used += snprintf(path + used, size - used, "%s%s",
				 used ? "." : "", node->key);
	else
		used += snprintf(path + used, size - used, "[%zu]", node->index);
	return used < size ? used : size - 1;
}

/**
 * kapf_node_refuse() - say what is wrong with a node
 * @node: at which the fault is
 * @format: of what follows the path
 *
 * Return: -EINVAL.
 */
int kapf_node_refuse(const struct kapf_node *node, const char *format, ...)
{
	const struct kapf_source *source = node->source;
	char place[256] = "", object[320] = "", path[256], text[512];
	char name[KAPF_NAME_BYTES + 16];
	size_t used;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (source->file)
		snprintf(place, sizeof(place), "%.200s:%u: ", source->file,
			 node->line);
	if (source->kind && source->name)
		snprintf(object, sizeof(object), "%s %s: ", source->kind,
			 kapf_quote(name, sizeof(name), source->name));
	else if (source->kind)
		snprintf(object, sizeof(object), "%s: ", source->kind);
	used = write_path(node, path, sizeof(path));
	kapf_error_set(source->err, "%s%s%s%s%s", place, object, path,
		       used ? ": " : "", text);
	return -EINVAL;
}

/* Writes what stands at @node, as a message shows it. */
static const char *write_value(const struct kapf_node *node, char *text,
			       size_t size)
{
	switch (json_object_get_type(node->value)) {
	case json_type_null:
		return "null";
	case json_type_object:
		return "a mapping";
	case json_type_array:
		return "a list";
	case json_type_string:
		return kapf_quote(text, size,
				  json_object_get_string(node->value));
	case json_type_double:
		snprintf(text, size, "%.15g",
			 json_object_get_double(node->value));
		return text;
	default:
		return json_object_get_string(node->value);
	}
}

/**
 * kapf_node_unlike() - refuse a value
 * @node: where it stands
 * @wanted: what would be accepted
 *
 * Return: -EINVAL.
 */
int kapf_node_unlike(const struct kapf_node *node, const char *wanted)
{
	char value[128];

	if (!node->value && node->key)
		return kapf_node_refuse(node, "is missing: must be %s", wanted);
	return kapf_node_refuse(node, "%s is not accepted: must be %s",
				write_value(node, value, sizeof(value)),
				wanted);
}

static int refuse_member(const struct kapf_node *map, const char *key,
			 const char *const *members)
{
	const struct kapf_node member = kapf_node_member(map, key);
	struct kapf_node at = *map;
	char quoted[128], known[256];
	size_t used = 0;

	for (; *members && used < sizeof(known); members++)
		used += snprintf(known + used, sizeof(known) - used, "%s%s",
				 used ? ", " : "", *members);
	/* At the mapping's path, but the member's line */
	at.line = member.line;
	return kapf_node_refuse(&at, "unknown field %s: must be one of %s",
				kapf_quote(quoted, sizeof(quoted), key), known);
}

/**
 * kapf_node_map() - check that a node is absent or a mapping
 * @node: the node
 * @members: names of all that it may have, NULL at the end; NULL: any
 *
 * Return: 0 or -EINVAL.
 */
int kapf_node_map(const struct kapf_node *node, const char *const *members)
{
	struct json_object_iterator it, end;

	if (!node->value && node->key)
		return 0;
	if (!json_object_is_type(node->value, json_type_object))
		return kapf_node_unlike(node, "a mapping");
	if (!members)
		return 0;
	it = json_object_iter_begin(node->value);
	end = json_object_iter_end(node->value);
	for (; !json_object_iter_equal(&it, &end); json_object_iter_next(&it)) {
		const char *key = json_object_iter_peek_name(&it);
		size_t i = 0;

		while (members[i] && strcmp(members[i], key))
			i++;
		if (!members[i])
			return refuse_member(node, key, members);
	}
	return 0;
}

/**
 * kapf_node_list() - check that a node is absent or a list
 * @node: the node
 * @nr: out: number of elements
 *
 * Return: 0 or -EINVAL.
 */
int kapf_node_list(const struct kapf_node *node, size_t *nr)
{
	*nr = 0;
	if (!node->value)
		return 0;
	if (!json_object_is_type(node->value, json_type_array))
		return kapf_node_unlike(node, "a list");
	*nr = json_object_array_length(node->value);
	return 0;
}

/**
 * kapf_node_string() - the string at a node
 * @node: the node
 * @string: out: part of the tree; "" where it is absent
 *
 * Return: 0 or -EINVAL.
 */
int kapf_node_string(const struct kapf_node *node, const char **string)
{
	*string = "";
	if (!node->value && node->key)
		return 0;
	if (!json_object_is_type(node->value, json_type_string))
		return kapf_node_unlike(node, "a string");
	*string = json_object_get_string(node->value);
	return 0;
}

/**
 * kapf_node_subdomain() - the name of an object at a node
 * @node: the node
 * @name: out: part of the tree
 *
 * Return: 0; -EINVAL, also where it is absent.
 */
int kapf_node_subdomain(const struct kapf_node *node, const char **name)
{
	int ret = kapf_node_string(node, name);

	if (!ret && !kapf_is_subdomain(*name))
		ret = kapf_node_unlike(node, "a DNS-1123 subdomain");
	return ret;
}

/**
 * kapf_node_number() - the whole number at a node
 * @node: the node
 * @min: least that is accepted
 * @max: largest that is accepted
 * @number: in: the default; out: the number
 *
 * Return: 0 or -EINVAL.
 */
int kapf_node_number(const struct kapf_node *node, int64_t min, int64_t max,
		     int64_t *number)
{
	char wanted[64];
	int64_t found;

	if (!node->value)
		return 0;
	snprintf(wanted, sizeof(wanted), "a whole number from %lld to %lld",
		 (long long)min, (long long)max);
	if (!json_object_is_type(node->value, json_type_int))
		return kapf_node_unlike(node, wanted);
	found = json_object_get_int64(node->value);
	if (found < min || found > max)
		return kapf_node_unlike(node, wanted);
	*number = found;
	return 0;
}

/**
 * kapf_node_bool() - the truth value at a node
 * @node: the node
 * @flag: in: the default; out: the value
 *
 * Return: 0 or -EINVAL.
 */
int kapf_node_bool(const struct kapf_node *node, bool *flag)
{
	if (!node->value)
		return 0;
	if (!json_object_is_type(node->value, json_type_boolean))
		return kapf_node_unlike(node, "true or false");
	*flag = json_object_get_boolean(node->value);
	return 0;
}
