// SPDX-License-Identifier: GPL-2.0
/*
 * Levels and schemas as objects of Kubernetes, as apply reads them.
 */
#include <stdio.h>
#include <json-c/json.h>

#include "kapfctl.h"

/**
 * format_uid() - a UID as text
 * @text: out
 * @uid: it
 */
void format_uid(char text[UID_ROOM], const uint8_t uid[KAPF_UID_BYTES])
{
	int i;

	for (i = 0; i < KAPF_UID_BYTES; i++)
		text += sprintf(text, i == 4 || i == 6 || i == 8 || i == 10 ?
				      "-%02x" : "%02x", uid[i]);
}

/**
 * level_object() - a level as object
 * @level: it
 */
struct json_object *level_object(const struct kapf_priority_level *level)
{
	return need(kapf_level_object(level));
}

/**
 * schema_object() - a schema as object
 * @schema: it
 */
struct json_object *schema_object(const struct kapf_flow_schema *schema)
{
	return need(kapf_schema_object(schema));
}

/**
 * list_of() - objects as a List
 * @items: a list of them, which belongs to the List from now on
 */
struct json_object *list_of(struct json_object *items)
{
	struct json_object *list = tree_map();

	tree_add(list, "apiVersion", tree_text("v1"));
	tree_add(list, "kind", tree_text("List"));
	tree_add(list, "items", items);
	return list;
}
