// SPDX-License-Identifier: GPL-2.0
/*
 * Trees: what -o prints.  Numbers are exact to 64 bits.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>

#include "kapfctl.h"

#define PRETTY (JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | \
		JSON_C_TO_STRING_NOSLASHESCAPE)

/* tree_map() - a map, to which tree_add() adds */
struct json_object *tree_map(void)
{
	return need(json_object_new_object());
}

/* tree_list() - a list, to which tree_append() adds */
struct json_object *tree_list(void)
{
	return need(json_object_new_array());
}

/**
 * tree_add() - add a member to a map
 * @map: where
 * @key: of the member
 * @value: of the member, which belongs to @map from now on; NULL: null
 */
void tree_add(struct json_object *map, const char *key,
	      struct json_object *value)
{
	if (json_object_object_add(map, key, value))
		need(NULL);
}

/**
 * tree_append() - add an element to a list
 * @list: where
 * @value: which belongs to @list from now on
 */
void tree_append(struct json_object *list, struct json_object *value)
{
	if (json_object_array_add(list, value))
		need(NULL);
}

/* tree_text() - a string, which need not be UTF-8 until it is printed */
struct json_object *tree_text(const char *text)
{
	return need(json_object_new_string(text));
}

/* tree_number() - a number */
struct json_object *tree_number(uint64_t number)
{
	return need(json_object_new_uint64(number));
}

/* tree_bool() - true or false */
struct json_object *tree_bool(bool truth)
{
	return need(json_object_new_boolean(truth));
}

/* tree_decimal() - a number with a fraction, which is printed with these digits */
struct json_object *tree_decimal(const char *digits)
{
	return need(json_object_new_double_s(strtod(digits, NULL), digits));
}

/* tree_real() - a number that was measured, to a thousandth */
struct json_object *tree_real(double number)
{
	char digits[64];

	snprintf(digits, sizeof(digits), "%.3f", number);
	return tree_decimal(digits);
}

/* tree_seat_seconds() - work or virtual time, of which @work has 10^8 a unit */
struct json_object *tree_seat_seconds(uint64_t work)
{
	char text[32];

	snprintf(text, sizeof(text), "%ju.%08ju",
		 (uintmax_t)(work / SEAT_SECOND),
		 (uintmax_t)(work % SEAT_SECOND));
	return tree_decimal(text);
}

/* tree_time() - a point in time, @ns after 1970; 0: null, has not come */
struct json_object *tree_time(uint64_t ns)
{
	char text[TIME_ROOM];

	if (!ns)
		return NULL;
	format_time(text, ns);
	return tree_text(text);
}

/*
 * JSON, which is to be YAML as well, since apply reads it so: what YAML allows
 * nowhere, or takes for the end of a line, is escaped.  That json-c has escaped
 * what is below U+0020 leaves the white space between values.
 */
static void print_json(struct json_object *tree)
{
	char *text = make_valid(json_object_to_json_string_ext(tree, PRETTY));
	const char *json;
	uint32_t code;
	size_t len;

	for (json = text; *json; json += len) {
		len = decode(json, &code);
		if (is_printable(code) && code != 0x2028 && code != 0x2029 &&
		    code != 0xfeff && code != 0xfffe && code != 0xffff)
			fwrite(json, 1, len, stdout);
		else if (code == '\n')
			putchar('\n');
		else
			printf("\\u%04x", code);
	}
	putchar('\n');
	free(text);
}

/**
 * tree_print() - print a tree in the format of -o, and free it
 * @tree: it
 */
void tree_print(struct json_object *tree)
{
	if (!strcmp(output_format, "yaml"))
		yaml_write(tree, stdout);
	else
		print_json(tree);
	json_object_put(tree);
}
