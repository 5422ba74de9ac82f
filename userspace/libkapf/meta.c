// SPDX-License-Identifier: LGPL-2.1
/*
 * Labels and annotations: read from a manifest, and carried to the kernel and
 * back as compact JSON, {"annotations":{...},"labels":{...}}, of which a member
 * that is empty is left out, and all of it where both are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define JSON_COMPACT (JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)

/* Rules are 7 deep. */
#define MAX_DEPTH	16

/* In v1beta3 what makes 0 shares mean 0; elsewhere it has no meaning. */
#define PRESERVE_ZERO "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"

static int read_pair(const struct kapf_node *map, const char *key,
		     bool is_label, struct json_object *pairs)
{
	const struct kapf_node node = kapf_node_member(map, key);
	struct kapf_node shown = node;
	struct json_object *copy;
	char quoted[128];
	const char *value;

	shown.key = kapf_quote(quoted, sizeof(quoted), key);
	if (!kapf_is_qualified(key, strlen(key)))
		return kapf_node_refuse(&shown,
					"is no qualified name: must be [DNS-SUBDOMAIN/]NAME");
	if (!node.value)
		return kapf_node_refuse(&shown,
					"null is not accepted: must be a string");
	if (kapf_node_string(&shown, &value))
		return -EINVAL;
	if (is_label && !kapf_is_label_value(value, strlen(value)))
		return kapf_node_unlike(&shown,
					"empty or up to 63 letters, digits, -, _ and .");
	copy = json_object_new_string(value);
	if (!copy || json_object_object_add(pairs, key, copy)) {
		json_object_put(copy);
		return -ENOMEM;
	}
	return 0;
}

/* Reads a mapping of strings; *pairs stays NULL where it is empty. */
static int read_pairs(const struct kapf_node *map, bool is_label,
		      struct json_object **pairs)
{
	struct json_object_iterator it, end;
	int ret = kapf_node_map(map, NULL);

	if (ret || !map->value || !json_object_object_length(map->value))
		return ret;
	*pairs = json_object_new_object();
	if (!*pairs)
		return -ENOMEM;
	it = json_object_iter_begin(map->value);
	end = json_object_iter_end(map->value);
	for (; !json_object_iter_equal(&it, &end); json_object_iter_next(&it)) {
		ret = read_pair(map, json_object_iter_peek_name(&it), is_label,
				*pairs);
		if (ret)
			return ret;
	}
	return 0;
}

static int read_meta(const struct kapf_node *node, struct kapf_meta *meta)
{
	const struct kapf_node annotations =
		kapf_node_member(node, "annotations");
	const struct kapf_node labels = kapf_node_member(node, "labels");
	int ret = read_pairs(&annotations, false, &meta->annotations);

	return ret ? ret : read_pairs(&labels, true, &meta->labels);
}

/**
 * kapf_meta_read() - read labels and annotations
 * @object: the whole object
 * @meta: out
 *
 * Return: 0, -EINVAL or -ENOMEM; @meta is to be destroyed either way.
 */
int kapf_meta_read(const struct kapf_node *object, struct kapf_meta *meta)
{
	const struct kapf_node node = kapf_node_member(object, "metadata");
	char *json;
	int ret;

	meta->line = object->line;
	meta->object = json_object_get(object->value);
	meta->file = strdup(object->source->file);
	if (!meta->file)
		return -ENOMEM;
	ret = read_meta(&node, meta);
	if (ret)
		return ret;
	if (meta->annotations && object->source->version == KAPF_V1BETA3)
		json_object_object_del(meta->annotations, PRESERVE_ZERO);
	ret = kapf_meta_json(meta, &json);
	if (ret)
		return ret;
	if (strlen(json) > KAPF_MAX_BLOB_BYTES)
		ret = kapf_node_refuse(&node, "is %zu bytes as JSON: must be at most %d",
				       strlen(json), KAPF_MAX_BLOB_BYTES);
	free(json);
	return ret;
}

/**
 * kapf_meta_line() - where a field of an object stands in its manifest
 * @meta: of the object
 * @path: of the field, as in spec.limited.limitResponse, or spec.rules.0 for what
 *	stands in a list; "": the object
 *
 * Return: the line of its key, or where it is not there, of what it would be in;
 * 0 for an object that is not from a manifest.
 */
unsigned int kapf_meta_line(const struct kapf_meta *meta, const char *path)
{
	struct kapf_node node = { .line = meta->line, .value = meta->object };
	char key[64];

	while (*path) {
		size_t len = strcspn(path, ".");

		snprintf(key, sizeof(key), "%.*s", (int)len, path);
		if (json_object_is_type(node.value, json_type_array))
			node = kapf_node_element(&node, strtoul(key, NULL, 10));
		else
			node = kapf_node_member(&node, key);
		path += len + (path[len] == '.');
	}
	return node.line;
}

/* Does v1beta3's annotation say that 0 shares mean 0? */
bool kapf_meta_preserves_zero(const struct kapf_node *object)
{
	const struct kapf_node node = kapf_node_member(object, "metadata");
	const struct kapf_node map = kapf_node_member(&node, "annotations");

	return map.value && json_object_object_get_ex(map.value, PRESERVE_ZERO,
						      NULL);
}

static int add_pairs(struct json_object *tree, const char *key,
		     struct json_object *pairs)
{
	if (!pairs || !json_object_object_length(pairs))
		return 0;
	if (json_object_object_add(tree, key, json_object_get(pairs))) {
		json_object_put(pairs);
		return -ENOMEM;
	}
	return 0;
}

/**
 * kapf_meta_json() - metadata as the kernel stores it
 * @meta: the metadata
 * @json: out: to be freed; "" where there is none
 *
 * Return: 0 or -ENOMEM.
 */
int kapf_meta_json(const struct kapf_meta *meta, char **json)
{
	struct json_object *tree = json_object_new_object();
	const char *text = NULL;

	*json = NULL;
	if (!tree)
		return -ENOMEM;
	if (!add_pairs(tree, "annotations", meta->annotations) &&
	    !add_pairs(tree, "labels", meta->labels))
		text = json_object_to_json_string_ext(tree, JSON_COMPACT);
	if (text)
		*json = strdup(json_object_object_length(tree) ? text : "");
	json_object_put(tree);
	return *json ? 0 : -ENOMEM;
}

/**
 * kapf_json_parse() - JSON as the kernel stores it to a tree
 * @json: one value and nothing else
 * @len: of @json, in bytes
 * @tree: out
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int kapf_json_parse(const char *json, size_t len, struct json_object **tree)
{
	struct json_tokener *tokener = json_tokener_new_ex(MAX_DEPTH);
	int ret = 0;

	*tree = NULL;
	if (!tokener)
		return -ENOMEM;
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT |
					JSON_TOKENER_VALIDATE_UTF8);
	*tree = json_tokener_parse_ex(tokener, json, len);
	if (json_tokener_get_error(tokener) != json_tokener_success ||
	    json_tokener_get_parse_end(tokener) != len) {
		json_object_put(*tree);
		*tree = NULL;
		ret = -EINVAL;
	}
	json_tokener_free(tokener);
	return ret;
}

/**
 * kapf_meta_parse() - metadata from the form in which the kernel stores it
 * @json: what kapf_meta_json() made
 * @len: of @json, in bytes
 * @meta: out
 *
 * Return: 0, -EINVAL or -ENOMEM; @meta is to be destroyed either way.
 */
int kapf_meta_parse(const char *json, size_t len, struct kapf_meta *meta)
{
	static const char *const members[] = { "annotations", "labels", NULL };
	const struct kapf_source source = { .version = KAPF_V1 };
	struct kapf_node node = { .source = &source };
	int ret;

	if (!len)
		return 0;
	ret = kapf_json_parse(json, len, &node.value);
	if (ret)
		return ret;
	ret = kapf_node_map(&node, members);
	if (!ret)
		ret = read_meta(&node, meta);
	json_object_put(node.value);
	return ret;
}

/**
 * kapf_meta_autoupdate() - may the object be set to its default?
 * @meta: of the object
 *
 * As Go's ParseBool() reads it.
 *
 * Return: 1 yes, 0 no; -EINVAL: its annotation is missing or is no truth value.
 */
int kapf_meta_autoupdate(const struct kapf_meta *meta)
{
	static const char *const trues[] = {
		"1", "t", "T", "true", "TRUE", "True", NULL
	};
	static const char *const falses[] = {
		"0", "f", "F", "false", "FALSE", "False", NULL
	};
	struct json_object *value;
	const char *text;

	if (!meta->annotations ||
	    !json_object_object_get_ex(meta->annotations, KAPF_AUTOUPDATE,
				       &value))
		return -EINVAL;
	text = json_object_get_string(value);
	if (kapf_is_one_of(text, trues))
		return 1;
	return kapf_is_one_of(text, falses) ? 0 : -EINVAL;
}

/**
 * kapf_meta_set_autoupdate() - say whether the object may be set to its default
 * @meta: of the object; stays as it is where it says so
 * @flag: may it?
 *
 * Return: 0 or -ENOMEM.
 */
int kapf_meta_set_autoupdate(struct kapf_meta *meta, bool flag)
{
	struct json_object *value;

	if (kapf_meta_autoupdate(meta) == flag)
		return 0;
	if (!meta->annotations)
		meta->annotations = json_object_new_object();
	if (!meta->annotations)
		return -ENOMEM;
	value = json_object_new_string(flag ? "true" : "false");
	if (!value || json_object_object_add(meta->annotations,
					     KAPF_AUTOUPDATE, value)) {
		json_object_put(value);
		return -ENOMEM;
	}
	return 0;
}

/* Frees what @meta owns. */
void kapf_meta_destroy(struct kapf_meta *meta)
{
	json_object_put(meta->annotations);
	json_object_put(meta->labels);
	json_object_put(meta->object);
	free((char *)meta->file);
}
