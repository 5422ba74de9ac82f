// SPDX-License-Identifier: GPL-2.0
/*
 * Trees as YAML.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>
#include <yaml.h>

#include "kapfctl.h"

static void print_value(yaml_emitter_t *to, struct json_object *value);

/*
 * Takes @event, if it could be made.  What cannot be written shows at the end of
 * the program.
 */
static void emit(yaml_emitter_t *to, yaml_event_t *event, int made)
{
	if (!made || (!yaml_emitter_emit(to, event) &&
		      to->error == YAML_MEMORY_ERROR))
		need(NULL);
}

/*
 * Does a text mean itself without quotes?  Not what begins as a number may, nor
 * the words of YAML 1.1; what else is special, the emitter knows.
 */
static bool is_plain(const char *text)
{
	static const char *const words[] = {
		"y", "n", "yes", "no", "on", "off", "true", "false", "null",
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcasecmp(text, words[i]))
			return false;
	return (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z');
}

static void print_scalar(yaml_emitter_t *to, const char *text, bool is_plain)
{
	char *valid = make_valid(text);
	yaml_event_t event;

	emit(to, &event, yaml_scalar_event_initialize(&event, NULL, NULL,
						      (yaml_char_t *)valid,
						      strlen(valid), is_plain, 1,
						      YAML_ANY_SCALAR_STYLE));
	free(valid);
}

static void print_list(yaml_emitter_t *to, struct json_object *list)
{
	size_t i, nr = json_object_array_length(list);
	yaml_event_t event;

	emit(to, &event,
	     yaml_sequence_start_event_initialize(&event, NULL, NULL, 1,
						  YAML_BLOCK_SEQUENCE_STYLE));
	for (i = 0; i < nr; i++)
		print_value(to, json_object_array_get_idx(list, i));
	emit(to, &event, yaml_sequence_end_event_initialize(&event));
}

static void print_map(yaml_emitter_t *to, struct json_object *map)
{
	struct json_object_iterator it = json_object_iter_begin(map);
	struct json_object_iterator end = json_object_iter_end(map);
	yaml_event_t event;

	emit(to, &event,
	     yaml_mapping_start_event_initialize(&event, NULL, NULL, 1,
						 YAML_BLOCK_MAPPING_STYLE));
	for (; !json_object_iter_equal(&it, &end); json_object_iter_next(&it)) {
		const char *name = json_object_iter_peek_name(&it);

		print_scalar(to, name, is_plain(name));
		print_value(to, json_object_iter_peek_value(&it));
	}
	emit(to, &event, yaml_mapping_end_event_initialize(&event));
}

static void print_value(yaml_emitter_t *to, struct json_object *value)
{
	const char *text;

	switch (json_object_get_type(value)) {
	case json_type_object:
		print_map(to, value);
		break;
	case json_type_array:
		print_list(to, value);
		break;
	case json_type_string:
		text = json_object_get_string(value);
		print_scalar(to, text, is_plain(text));
		break;
	default:
		text = json_object_get_string(value);
		print_scalar(to, text ? text : "null", true);
		break;
	}
}

/**
 * yaml_write() - write a tree
 * @tree: it
 * @to: where
 */
void yaml_write(struct json_object *tree, FILE *to)
{
	yaml_emitter_t emitter;
	yaml_event_t event;

	if (!yaml_emitter_initialize(&emitter))
		need(NULL);
	yaml_emitter_set_output_file(&emitter, to);
	yaml_emitter_set_unicode(&emitter, 1);
	yaml_emitter_set_width(&emitter, -1);
	emit(&emitter, &event,
	     yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
	emit(&emitter, &event,
	     yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1));
	print_value(&emitter, tree);
	emit(&emitter, &event, yaml_document_end_event_initialize(&event, 1));
	emit(&emitter, &event, yaml_stream_end_event_initialize(&event));
	yaml_emitter_delete(&emitter);
}
