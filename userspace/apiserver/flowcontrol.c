// SPDX-License-Identifier: GPL-2.0
/*
 * FlowSchemas and PriorityLevelConfigurations, got and listed.
 */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flowcontrol.h"
#include "libkapf.h"
#include "libkapf_config.h"
#include "status.h"

#define GROUP "flowcontrol.apiserver.k8s.io"
#define PREFIX "/apis/" GROUP "/v1/"

/**
 * struct target - what a path is about
 * @is_level: PriorityLevelConfigurations, else FlowSchemas
 * @resource: their name in a path
 * @name: of one; "": all of them
 */
struct target {
	bool is_level;
	const char *resource;
	char name[KAPF_NAME_BYTES];
};

/* Takes [/NAME[/status]] after a resource; the status comes with the object. */
static bool take_name(struct target *target, const char *rest)
{
	size_t len;

	if (!*rest)
		return true;
	len = strcspn(++rest, "/");
	if (!len || len >= sizeof(target->name) ||
	    (rest[len] && strcmp(rest + len, "/status")))
		return false;
	memcpy(target->name, rest, len);
	return true;
}

/* Return: whether @path is about objects. */
static bool take_path(struct target *target, const char *path)
{
	static const char *const resources[] = {
		"flowschemas", "prioritylevelconfigurations",
	};
	size_t i, len;

	if (strncmp(path, PREFIX, strlen(PREFIX)))
		return false;
	path += strlen(PREFIX);
	for (i = 0; i < 2; i++) {
		len = strlen(resources[i]);
		if (strncmp(path, resources[i], len) ||
		    (path[len] && path[len] != '/'))
			continue;
		target->is_level = i;
		target->resource = resources[i];
		return take_name(target, path + len);
	}
	return false;
}

/* Adds @value, or frees what it cannot be added to; all may be NULL. */
static struct json_object *with(struct json_object *map, const char *key,
				struct json_object *value)
{
	if (map && value && !json_object_object_add(map, key, value))
		return map;
	json_object_put(value);
	json_object_put(map);
	return NULL;
}

static struct json_object *with_text(struct json_object *map, const char *key,
				     const char *text)
{
	return with(map, key, json_object_new_string(text));
}

/* A status whose one condition says whether the level of @schema is missing. */
static struct json_object *schema_status(const struct kapf_flow_schema *schema)
{
	struct json_object *condition = json_object_new_object();
	struct json_object *conditions = json_object_new_array();
	char message[KAPF_NAME_BYTES + 64];

	snprintf(message, sizeof(message), "priority level \"%s\" %s",
		 schema->level, schema->dangling ? "does not exist" : "exists");
	condition = with_text(condition, "type", "Dangling");
	condition = with_text(condition, "status",
			      schema->dangling ? "True" : "False");
	condition = with_text(condition, "reason",
			      schema->dangling ? "NotFound" : "Found");
	condition = with_text(condition, "message", message);
	if (!conditions || !condition ||
	    json_object_array_add(conditions, condition)) {
		json_object_put(condition);
		json_object_put(conditions);
		return NULL;
	}
	return with(json_object_new_object(), "conditions", conditions);
}

static struct json_object *level_object(const struct kapf_priority_level *level)
{
	return with(kapf_level_object(level), "status",
		    json_object_new_object());
}

static struct json_object *schema_object(const struct kapf_flow_schema *schema)
{
	return with(kapf_schema_object(schema), "status",
		    schema_status(schema));
}

static int compare_names(const void *a, const void *b)
{
	const struct kapf_flow_schema *left = a, *right = b;

	return strcmp(left->name, right->name);
}

/* What stands in a list of one kind need not say it. */
static bool append(struct json_object *items, struct json_object *item)
{
	if (!item)
		return false;
	json_object_object_del(item, "kind");
	json_object_object_del(item, "apiVersion");
	if (!json_object_array_add(items, item))
		return true;
	json_object_put(item);
	return false;
}

/* By name, as the objects of any resource are listed. */
static struct json_object *make_items(const struct target *target,
				      struct kapf_configuration *config)
{
	size_t nr = target->is_level ? config->nr_levels : config->nr_schemas;
	struct json_object *items = json_object_new_array();
	size_t i;

	qsort(config->schemas, config->nr_schemas, sizeof(*config->schemas),
	      compare_names);
	for (i = 0; items && i < nr; i++) {
		if (append(items, target->is_level ?
			   level_object(&config->levels[i]) :
			   schema_object(&config->schemas[i])))
			continue;
		json_object_put(items);
		items = NULL;
	}
	return items;
}

static void reply_list(const struct target *target,
		       struct kapf_configuration *config, struct reply *reply)
{
	struct json_object *list = json_object_new_object();
	char version[24];

	snprintf(version, sizeof(version), "%ju",
		 (uintmax_t)config->generation);
	list = with_text(list, "kind", target->is_level ?
			 "PriorityLevelConfigurationList" : "FlowSchemaList");
	list = with_text(list, "apiVersion", GROUP "/v1");
	list = with(list, "metadata",
		    with_text(json_object_new_object(), "resourceVersion",
			      version));
	list = with(list, "items", make_items(target, config));
	reply_json(reply, 200, list);
	json_object_put(list);
}

static void reply_object(const struct target *target,
			 const struct kapf_configuration *config,
			 struct reply *reply)
{
	const struct kapf_priority_level *level =
		kapf_config_level(config, target->name);
	const struct kapf_flow_schema *schema =
		kapf_config_schema(config, target->name);
	const struct status missing = {
		.code = 404, .name = target->name, .group = GROUP,
		.kind = target->resource,
	};
	struct json_object *object;

	if (target->is_level ? !level : !schema) {
		status_reply(reply, &missing, "%s." GROUP " \"%s\" not found",
			     target->resource, target->name);
		return;
	}
	object = target->is_level ? level_object(level) :
				    schema_object(schema);
	reply_json(reply, 200, object);
	json_object_put(object);
}

/* Selectors and watches are not there: better no answer than a wrong one. */
static bool asks_for_more(const char *query)
{
	return strstr(query, "Selector=") || strstr(query, "watch=");
}

bool flowcontrol_answer(const struct flowcontrol *flowcontrol,
			const struct call *call, struct reply *reply)
{
	static const struct status not_allowed = { .code = 405 };
	static const struct status bad = { .code = 400 };
	static const struct status unavailable = { .code = 503 };
	struct kapf_configuration *config;
	struct target target = {};
	struct kapf_error err;

	if (!take_path(&target, call->path))
		return false;
	if (strcmp(call->method, "GET") && strcmp(call->method, "HEAD")) {
		status_reply(reply, &not_allowed,
			     "%s is not supported here: GET is", call->method);
		reply_header(reply, "Allow", "GET, HEAD");
	} else if (!*target.name && asks_for_more(call->query)) {
		status_reply(reply, &bad,
			     "selectors and watch are not supported");
	} else if (flowcontrol->read(flowcontrol->data, &config, &err)) {
		status_reply(reply, &unavailable, "%s", err.text);
	} else {
		kapf_config_nominal(config);
		if (*target.name)
			reply_object(&target, config, reply);
		else
			reply_list(&target, config, reply);
		kapf_config_free(config);
	}
	return true;
}
