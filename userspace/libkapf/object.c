// SPDX-License-Identifier: LGPL-2.1
/*
 * Kubernetes objects: what stands around a spec.  Finds the objects in the
 * documents of a manifest, also those in lists, and reads kind, apiVersion and
 * name of each.
 */
#include <stdio.h>
#include <string.h>

#include "internal.h"

#define GROUP		"flowcontrol.apiserver.k8s.io/"
#define LEVEL_KIND	"PriorityLevelConfiguration"
#define SCHEMA_KIND	"FlowSchema"
#define KINDS		SCHEMA_KIND ", " LEVEL_KIND " or a List of them"

/**
 * struct reader - a manifest on its way to objects
 * @file: its name
 * @found: the objects so far
 * @empty_list: line of a list without items; 0: none so far
 * @err: where refusals go
 */
struct reader {
	const char *file;
	struct kapf_configuration *found;
	unsigned int empty_list;
	struct kapf_error *err;
};

static int read_version(const struct kapf_node *object,
			enum kapf_api_version *version)
{
	static const char *const versions[] = {
		[KAPF_V1BETA1] = GROUP "v1beta1",
		[KAPF_V1BETA2] = GROUP "v1beta2",
		[KAPF_V1BETA3] = GROUP "v1beta3",
		[KAPF_V1] = GROUP "v1",
	};
	const struct kapf_node node = kapf_node_member(object, "apiVersion");
	const char *text;
	int ret = kapf_node_string(&node, &text);

	if (ret)
		return ret;
	for (size_t i = 0; i < KAPF_ARRAY_SIZE(versions); i++) {
		if (!strcmp(text, versions[i])) {
			*version = i;
			return 0;
		}
	}
	return kapf_node_unlike(&node, GROUP "v1, v1beta3, v1beta2 or v1beta1");
}

/*
 * Reads the name, and checks that metadata has only members that Kubernetes
 * knows; those that a server writes are accepted and ignored.
 */
static int read_name(const struct kapf_node *object, struct kapf_source *source)
{
	static const char *const members[] = {
		"name", "labels", "annotations", "namespace", "generateName",
		"uid", "resourceVersion", "generation", "creationTimestamp",
		"deletionTimestamp", "deletionGracePeriodSeconds",
		"managedFields", "selfLink", "ownerReferences", "finalizers",
		NULL
	};
	const struct kapf_node metadata = kapf_node_member(object, "metadata");
	const struct kapf_node name = kapf_node_member(&metadata, "name");
	const struct kapf_node namespace =
		kapf_node_member(&metadata, "namespace");
	const char *text;
	int ret = kapf_node_map(&metadata, NULL);

	if (!ret)
		ret = kapf_node_subdomain(&name, &text);
	if (ret)
		return ret;
	source->name = text;
	ret = kapf_node_map(&metadata, members);
	if (!ret)
		ret = kapf_node_string(&namespace, &text);
	if (!ret && *text)
		ret = kapf_node_unlike(&namespace, "empty: the object is not in a namespace");
	return ret;
}

static int refuse_twice(const struct kapf_node *object,
			const struct kapf_meta *first)
{
	return kapf_node_refuse(object, "is there twice: first at line %u",
				first->line);
}

static int read_level(const struct kapf_node *object,
		      struct kapf_configuration *found)
{
	struct kapf_priority_level level = {};
	int ret;

	kapf_name_copy(level.name, object->source->name);
	for (size_t i = 0; i < found->nr_levels; i++)
		if (!strcmp(found->levels[i].name, level.name))
			return refuse_twice(object, &found->levels[i].meta);
	ret = kapf_meta_read(object, &level.meta);
	if (!ret)
		ret = kapf_level_read(object, &level);
	if (!ret)
		ret = kapf_config_reserve(found, 1, 0);
	if (ret)
		kapf_level_destroy(&level);
	else
		found->levels[found->nr_levels++] = level;
	return ret;
}

static int read_schema(const struct kapf_node *object,
		       struct kapf_configuration *found)
{
	struct kapf_flow_schema schema = {};
	int ret;

	kapf_name_copy(schema.name, object->source->name);
	for (size_t i = 0; i < found->nr_schemas; i++)
		if (!strcmp(found->schemas[i].name, schema.name))
			return refuse_twice(object, &found->schemas[i].meta);
	ret = kapf_meta_read(object, &schema.meta);
	if (!ret)
		ret = kapf_schema_read(object, &schema);
	if (!ret)
		ret = kapf_config_reserve(found, 0, 1);
	if (ret)
		kapf_schema_destroy(&schema);
	else
		found->schemas[found->nr_schemas++] = schema;
	return ret;
}

/* A value that is part of the manifest, seen as an object of its own. */
static struct kapf_node object_node(const struct kapf_source *source,
				    struct json_object *value)
{
	return (struct kapf_node) {
		.source = source, .line = kapf_line(value), .value = value,
	};
}

static int read_kind(const struct kapf_node *object, const char **kind)
{
	const struct kapf_node node = kapf_node_member(object, "kind");

	return kapf_node_string(&node, kind);
}

static bool is_object_kind(const char *kind)
{
	return !strcmp(kind, LEVEL_KIND) || !strcmp(kind, SCHEMA_KIND);
}

/*
 * Reads one object.  @list: the list of one kind in which it stands, where kind
 * and apiVersion may be left out, or NULL.
 */
static int read_object(const struct reader *reader, struct json_object *value,
		       const struct kapf_source *list)
{
	static const char *const members[] = {
		"apiVersion", "kind", "metadata", "spec", "status", NULL
	};
	struct kapf_source source = {
		.file = reader->file, .err = reader->err,
		.version = list ? list->version : KAPF_V1,
	};
	const struct kapf_node object = object_node(&source, value);
	const struct kapf_node kind_node = kapf_node_member(&object, "kind");
	const struct kapf_node version = kapf_node_member(&object,
							  "apiVersion");
	const char *kind;
	int ret = read_kind(&object, &kind);

	if (ret)
		return ret;
	if (list && !*kind)
		kind = list->kind;
	if (!is_object_kind(kind) || (list && strcmp(kind, list->kind)))
		return kapf_node_unlike(&kind_node, list ? list->kind :
					KINDS);
	source.kind = kind;
	ret = read_name(&object, &source);
	if (!ret && (!list || version.value))
		ret = read_version(&object, &source.version);
	if (!ret)
		ret = kapf_node_map(&object, members);
	if (ret)
		return ret;
	if (!strcmp(kind, LEVEL_KIND))
		return read_level(&object, reader->found);
	return read_schema(&object, reader->found);
}

/* A List of anything is of Kubernetes' core API. */
static int check_core_version(const struct kapf_node *list)
{
	const struct kapf_node node = kapf_node_member(list, "apiVersion");
	const char *text;
	int ret = kapf_node_string(&node, &text);

	if (!ret && strcmp(text, "v1"))
		ret = kapf_node_unlike(&node, "v1");
	return ret;
}

/* Reads a List of anything (@kind NULL) or a list of one @kind. */
static int read_objects(struct reader *reader, struct json_object *value,
			const char *list_kind, const char *kind)
{
	static const char *const members[] = {
		"apiVersion", "kind", "metadata", "items", NULL
	};
	struct kapf_source source = {
		.file = reader->file, .kind = list_kind, .err = reader->err,
	};
	const struct kapf_node list = object_node(&source, value);
	const struct kapf_node items = kapf_node_member(&list, "items");
	size_t nr;
	int ret = kapf_node_map(&list, members);

	if (!ret)
		ret = kind ? read_version(&list, &source.version) :
			     check_core_version(&list);
	if (!ret)
		ret = kapf_node_list(&items, &nr);
	if (!ret && !nr)
		reader->empty_list = items.line;
	source.kind = kind;
	for (size_t i = 0; !ret && i < nr; i++) {
		const struct kapf_node item = kapf_node_element(&items, i);

		ret = kapf_node_map(&item, NULL);
		if (!ret)
			ret = read_object(reader, item.value,
					  kind ? &source : NULL);
	}
	return ret;
}

static int read_document(struct reader *reader,
			 struct json_object *document)
{
	const struct kapf_source source = {
		.file = reader->file, .err = reader->err,
	};
	const struct kapf_node node = object_node(&source, document);
	const char *kind;
	int ret = kapf_node_map(&node, NULL);

	if (!ret)
		ret = read_kind(&node, &kind);
	if (ret)
		return ret;
	if (!strcmp(kind, "List"))
		return read_objects(reader, document, kind, NULL);
	if (!strcmp(kind, LEVEL_KIND "List"))
		return read_objects(reader, document, kind, LEVEL_KIND);
	if (!strcmp(kind, SCHEMA_KIND "List"))
		return read_objects(reader, document, kind, SCHEMA_KIND);
	return read_object(reader, document, NULL);
}

/* Lists may be empty, as long as there is some object in the manifest. */
static int refuse_nothing(const struct reader *reader)
{
	if (reader->empty_list)
		kapf_error_set(reader->err, "%.200s:%u: items: is empty: must have a "
			       SCHEMA_KIND " or " LEVEL_KIND,
			       reader->file, reader->empty_list);
	else
		kapf_error_set(reader->err,
			       "%.200s:1: there is no object: must have a " KINDS,
			       reader->file);
	return -EINVAL;
}

/**
 * kapf_objects_read() - trees to objects
 * @documents: an array of trees, in which values know their line
 * @file: name of the manifest
 * @found: objects are added here, in the order of the manifest
 * @err: says why it failed; may be NULL
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int kapf_objects_read(struct json_object *documents, const char *file,
		      struct kapf_configuration *found, struct kapf_error *err)
{
	struct reader reader = {
		.file = file, .found = found, .err = err,
	};
	size_t nr = json_object_array_length(documents);

	for (size_t i = 0; i < nr; i++) {
		int ret = read_document(&reader,
					json_object_array_get_idx(documents, i));

		if (ret)
			return ret;
	}
	if (!found->nr_levels && !found->nr_schemas)
		return refuse_nothing(&reader);
	return 0;
}
