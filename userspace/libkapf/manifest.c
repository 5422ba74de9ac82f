// SPDX-License-Identifier: LGPL-2.1
/*
 * Manifests as text: turns YAML, and JSON as a part of it, into one json-c tree
 * for each document, in which every value and every key knows its line.  Plain
 * scalars mean what they mean to Kubernetes (YAML 1.1: yes is true, 010 is 8).
 *
 * Text comes from anybody, so that nothing in it may cost more than its length:
 * depth, anchors and what aliases add are bounded, and an alias shares the
 * value of its anchor instead of copying it.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "internal.h"

/* A FlowSchema in a List is 12 deep. */
#define MAX_DEPTH	64
#define MAX_ANCHORS	1024
#define MAX_ADDED	(1024 * 1024)
#define MAX_TEXT	KAPF_MAX_IMAGE_BYTES

/* 2^53: below, a double has room for every whole number */
#define MAX_EXACT	9007199254740992.0

/* UTF-8 byte order mark */
#define BOM		"\xef\xbb\xbf"

/**
 * struct anchor - a value that an alias can stand for
 * @name: of the anchor
 * @value: what it names
 * @size: nodes in @value and bytes in their scalars
 */
struct anchor {
	char *name;
	struct json_object *value;
	size_t size;
};

/**
 * struct builder - a text on its way to trees
 * @parser: yields its events
 * @file: its name
 * @err: where refusals go
 * @anchors: of the present document, in the order of the text
 * @nr_anchors: how many
 * @size: nodes so far and bytes in their scalars, those of aliases included
 * @added: the part of @size that aliases added
 */
struct builder {
	yaml_parser_t parser;
	const char *file;
	struct kapf_error *err;
	struct anchor anchors[MAX_ANCHORS];
	size_t nr_anchors;
	size_t size;
	size_t added;
};

static int build(struct builder *b, yaml_event_t *event, unsigned int depth,
		 struct json_object **value);

static size_t line_of(const yaml_event_t *event)
{
	return event->start_mark.line + 1;
}

static int __printf(3, 4) refuse(const struct builder *b, size_t line,
				 const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	kapf_error_set(b->err, "%.200s:%zu: %s", b->file, line, text);
	return -EINVAL;
}

/* The reader knows only the offset of what is not UTF-8 or not printable. */
static size_t line_of_offset(const char *text, size_t len, size_t offset)
{
	size_t line = 1;

	for (size_t i = 0; i < offset && i < len; i++)
		line += text[i] == '\n';
	return line;
}

static int refuse_syntax(struct builder *b)
{
	const yaml_parser_t *p = &b->parser;
	const char *text = (const char *)p->input.string.start;
	size_t line = p->problem_mark.line + 1;

	if (p->error == YAML_MEMORY_ERROR)
		return -ENOMEM;
	if (p->error == YAML_READER_ERROR)
		line = line_of_offset(text, p->input.string.end -
				      p->input.string.start, p->problem_offset);
	return refuse(b, line, "not valid YAML: %s%s%s",
		      p->context ? p->context : "", p->context ? ", " : "",
		      p->problem);
}

static int next(struct builder *b, yaml_event_t *event)
{
	return yaml_parser_parse(&b->parser, event) ? 0 : refuse_syntax(b);
}

/* 1_000, 0x10, 0o17, 0b1, 010 */
static bool resolve_int(const char *text, struct json_object **value)
{
	const char *digits = text + strspn(text, "+-");
	bool negative = *text == '-';
	unsigned long long number;
	int base = 10;
	char *end;

	if (digits > text + 1)
		return false;
	if (digits[0] == '0' && digits[1]) {
		base = 8;
		digits++;
		if (strchr("xX", *digits))
			base = 16;
		else if (strchr("bB", *digits))
			base = 2;
		digits += strspn(digits, "xXbBoO") == 1;
	}
	if (!strchr("0123456789abcdefABCDEF", *digits) || !*digits)
		return false;
	errno = 0;
	number = strtoull(digits, &end, base);
	if (*end || errno || number > (unsigned long long)INT64_MAX + negative)
		return false;
	*value = json_object_new_int64(negative ? -number : number);
	return true;
}

/* A number without a fraction is an int, however it is written: 1e3, 30.0 */
static bool resolve_float(const char *text, struct json_object **value)
{
	double number;
	char *end;

	if (text[strspn(text, "0123456789.eE+-")])
		return false;
	number = strtod(text, &end);
	if (end == text || *end)
		return false;
	if (number > -MAX_EXACT && number < MAX_EXACT &&
	    number == (int64_t)number)
		*value = json_object_new_int64(number);
	else
		*value = json_object_new_double(number);
	return true;
}

static bool resolve_number(const char *text, struct json_object **value)
{
	char plain[64];
	size_t len = 0;

	if (!strchr("0123456789+-.", *text) || strlen(text) >= sizeof(plain))
		return false;
	for (; *text; text++)
		if (*text != '_')
			plain[len++] = *text;
	plain[len] = '\0';
	return resolve_int(plain, value) || resolve_float(plain, value);
}

static bool is_one_of(const char *text, const char *const *words)
{
	while (*words && strcmp(text, *words))
		words++;
	return *words;
}

static bool is_null(const char *text)
{
	static const char *const nulls[] = {
		"", "~", "null", "Null", "NULL", NULL
	};

	return is_one_of(text, nulls);
}

/* What a scalar without quotes and tag means, if not null. */
static struct json_object *resolve(const char *text, size_t len)
{
	static const char *const trues[] = {
		"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE",
		"on", "On", "ON", NULL
	};
	static const char *const falses[] = {
		"n", "N", "no", "No", "NO", "false", "False", "FALSE",
		"off", "Off", "OFF", NULL
	};
	struct json_object *value = NULL;

	if (is_one_of(text, trues))
		return json_object_new_boolean(1);
	if (is_one_of(text, falses))
		return json_object_new_boolean(0);
	if (resolve_number(text, &value))
		return value;
	return json_object_new_string_len(text, len);
}

static int build_scalar(struct builder *b, const yaml_event_t *event,
			struct json_object **value)
{
	const char *text = (const char *)event->data.scalar.value;
	const char *tag = (const char *)event->data.scalar.tag;
	size_t len = event->data.scalar.length;
	char quoted[128];

	if (strlen(text) != len)
		return refuse(b, line_of(event), "a string holds a NUL");
	if (tag && strcmp(tag, YAML_STR_TAG) && strcmp(tag, "!"))
		return refuse(b, line_of(event),
			      "tag %s is not accepted: must be !!str",
			      kapf_quote(quoted, sizeof(quoted), tag));
	b->size += len;
	if (!event->data.scalar.plain_implicit)
		*value = json_object_new_string_len(text, len);
	else if (!is_null(text))
		*value = resolve(text, len);
	else
		return 0;
	return *value ? 0 : -ENOMEM;
}

static int build_list(struct builder *b, yaml_event_t *event,
		      unsigned int depth, struct json_object **value)
{
	int ret;

	if (event->data.sequence_start.tag)
		return refuse(b, line_of(event), "a tag on a list");
	*value = json_object_new_array();
	if (!*value)
		return -ENOMEM;
	for (;;) {
		struct json_object *element;
		yaml_event_t inner;

		ret = next(b, &inner);
		if (ret)
			return ret;
		if (inner.type == YAML_SEQUENCE_END_EVENT) {
			yaml_event_delete(&inner);
			return 0;
		}
		ret = build(b, &inner, depth, &element);
		if (ret)
			return ret;
		if (json_object_array_add(*value, element)) {
			json_object_put(element);
			return -ENOMEM;
		}
	}
}

/* Takes @event, and with it the key that begins there. */
static int build_key(struct builder *b, yaml_event_t *event,
		     struct json_object *map, struct json_object **name)
{
	size_t line = line_of(event);
	char quoted[128];
	int ret;

	if (event->type == YAML_SCALAR_EVENT &&
	    event->data.scalar.plain_implicit &&
	    !strcmp((const char *)event->data.scalar.value, "<<")) {
		yaml_event_delete(event);
		return refuse(b, line, "merge key << is not supported");
	}
	ret = build(b, event, MAX_DEPTH - 1, name);
	if (ret)
		return ret;
	if (!json_object_is_type(*name, json_type_string)) {
		json_object_put(*name);
		return refuse(b, line,
			      "a key is not a string: put it between quotes");
	}
	if (json_object_object_get_ex(map, json_object_get_string(*name),
				      NULL)) {
		kapf_quote(quoted, sizeof(quoted),
			   json_object_get_string(*name));
		json_object_put(*name);
		return refuse(b, line, "key %s is there twice", quoted);
	}
	return 0;
}

/* Takes @event, and with it the key and the value that begin there. */
static int build_member(struct builder *b, yaml_event_t *event,
			unsigned int depth, struct json_object *map)
{
	struct json_object *name, *member;
	yaml_event_t inner;
	const char *key;
	int ret;

	ret = build_key(b, event, map, &name);
	if (ret)
		return ret;
	key = json_object_get_string(name);
	if (json_object_object_add(kapf_keys(map), key, name)) {
		json_object_put(name);
		return -ENOMEM;
	}
	ret = next(b, &inner);
	if (!ret)
		ret = build(b, &inner, depth, &member);
	if (!ret && json_object_object_add(map, key, member)) {
		json_object_put(member);
		ret = -ENOMEM;
	}
	return ret;
}

static void put_keys(struct json_object *map, void *keys)
{
	(void)map;
	json_object_put(keys);
}

static int build_map(struct builder *b, yaml_event_t *event, unsigned int depth,
		     struct json_object **value)
{
	struct json_object *keys;
	int ret;

	if (event->data.mapping_start.tag)
		return refuse(b, line_of(event), "a tag on a mapping");
	*value = json_object_new_object();
	keys = *value ? json_object_new_object() : NULL;
	if (!keys)
		return -ENOMEM;
	json_object_set_userdata(*value, keys, put_keys);
	for (;;) {
		yaml_event_t inner;

		ret = next(b, &inner);
		if (ret)
			return ret;
		if (inner.type == YAML_MAPPING_END_EVENT) {
			yaml_event_delete(&inner);
			return 0;
		}
		ret = build_member(b, &inner, depth, *value);
		if (ret)
			return ret;
	}
}

static int build_alias(struct builder *b, const yaml_event_t *event,
		       struct json_object **value)
{
	const char *name = (const char *)event->data.alias.anchor;

	for (size_t i = b->nr_anchors; i-- > 0;) {
		const struct anchor *anchor = &b->anchors[i];

		if (strcmp(anchor->name, name))
			continue;
		b->size += anchor->size;
		b->added += anchor->size;
		if (b->added > MAX_ADDED)
			return refuse(b, line_of(event),
				      "aliases make more than %d bytes of this",
				      MAX_ADDED);
		*value = json_object_get(anchor->value);
		return 0;
	}
	return refuse(b, line_of(event),
		      "alias *%.100s has no anchor that ends before it", name);
}

static int add_anchor(struct builder *b, const yaml_event_t *event,
		      const yaml_char_t *name, struct json_object *value,
		      size_t size)
{
	struct anchor *anchor = &b->anchors[b->nr_anchors];

	if (!name)
		return 0;
	if (b->nr_anchors == MAX_ANCHORS)
		return refuse(b, line_of(event),
			      "a document has at most %d anchors", MAX_ANCHORS);
	anchor->name = strdup((const char *)name);
	if (!anchor->name)
		return -ENOMEM;
	anchor->value = json_object_get(value);
	anchor->size = size;
	b->nr_anchors++;
	return 0;
}

static void drop_anchors(struct builder *b)
{
	while (b->nr_anchors) {
		struct anchor *anchor = &b->anchors[--b->nr_anchors];

		free(anchor->name);
		json_object_put(anchor->value);
	}
}

static int build_collection(struct builder *b, yaml_event_t *event,
			    unsigned int depth, struct json_object **value)
{
	if (depth == MAX_DEPTH)
		return refuse(b, line_of(event), "is nested deeper than %d",
			      MAX_DEPTH);
	if (event->type == YAML_SEQUENCE_START_EVENT)
		return build_list(b, event, depth + 1, value);
	return build_map(b, event, depth + 1, value);
}

/* Takes @event, and with it the value that begins there. */
static int build(struct builder *b, yaml_event_t *event, unsigned int depth,
		 struct json_object **value)
{
	const yaml_char_t *name = NULL;
	size_t size = b->size++;
	int ret;

	*value = NULL;
	switch (event->type) {
	case YAML_ALIAS_EVENT:
		ret = build_alias(b, event, value);
		goto out;
	case YAML_SCALAR_EVENT:
		name = event->data.scalar.anchor;
		ret = build_scalar(b, event, value);
		break;
	case YAML_SEQUENCE_START_EVENT:
		name = event->data.sequence_start.anchor;
		ret = build_collection(b, event, depth, value);
		break;
	default:
		name = event->data.mapping_start.anchor;
		ret = build_collection(b, event, depth, value);
		break;
	}
	if (!ret && *value)
		kapf_line_set(*value, line_of(event));
	if (!ret)
		ret = add_anchor(b, event, name, *value, b->size - size);
out:
	yaml_event_delete(event);
	if (ret) {
		json_object_put(*value);
		*value = NULL;
	}
	return ret;
}

static int build_documents(struct builder *b, struct json_object *documents)
{
	struct json_object *document;
	yaml_event_t event;
	int ret;

	for (;;) {
		yaml_event_type_t type;

		ret = next(b, &event);
		if (ret)
			return ret;
		type = event.type;
		yaml_event_delete(&event);
		if (type == YAML_STREAM_END_EVENT)
			return 0;
		if (type != YAML_DOCUMENT_START_EVENT)
			continue;
		ret = next(b, &event);
		if (!ret)
			ret = build(b, &event, 0, &document);
		if (ret)
			return ret;
		drop_anchors(b);
		if (document && json_object_array_add(documents, document)) {
			json_object_put(document);
			return -ENOMEM;
		}
	}
}

static bool utf16_unit(const char *text, const char *end, unsigned int *unit)
{
	char digits[5] = "", *stop;

	if (end - text < 6 || text[0] != '\\' || text[1] != 'u')
		return false;
	memcpy(digits, text + 2, 4);
	*unit = strtoul(digits, &stop, 16);
	return stop == digits + 4 && digits[0] != '-' && digits[0] != '+';
}

/*
 * JSON writes characters beyond the basic plane as two escapes, which are not
 * allowed in YAML; the character itself is, in both.
 */
static size_t join_surrogates(char *text, size_t len)
{
	const char *from = text, *end = text + len;
	char *to = text;

	while (from < end) {
		unsigned int high, low, code;

		if (*from != '\\' || end - from == 1) {
			*to++ = *from++;
		} else if (utf16_unit(from, end, &high) && high >> 10 == 0x36 &&
			   utf16_unit(from + 6, end, &low) &&
			   low >> 10 == 0x37) {
			code = 0x10000 + ((high & 0x3ff) << 10) + (low & 0x3ff);
			*to++ = 0xf0 | code >> 18;
			*to++ = 0x80 | (code >> 12 & 0x3f);
			*to++ = 0x80 | (code >> 6 & 0x3f);
			*to++ = 0x80 | (code & 0x3f);
			from += 12;
		} else {
			*to++ = *from++;
			*to++ = *from++;
		}
	}
	return to - text;
}

static bool is_json(const char *text, size_t len)
{
	size_t i = 0;

	while (i < len && strchr(" \t\r\n", text[i]) && text[i])
		i++;
	return i < len && strchr("{[", text[i]) && text[i];
}

/**
 * kapf_manifest_parse() - text to trees
 * @text: YAML or JSON
 * @len: of @text, in bytes
 * @file: its name in messages
 * @documents: out: an array of the documents that are not empty
 * @err: says why it failed; may be NULL
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int kapf_manifest_parse(const char *text, size_t len, const char *file,
			struct json_object **documents, struct kapf_error *err)
{
	struct builder *b = calloc(1, sizeof(*b));
	char *copy = malloc(len + 1);
	int ret = -ENOMEM;

	*documents = json_object_new_array();
	if (!b || !copy || !*documents || !yaml_parser_initialize(&b->parser))
		goto out;
	b->file = file;
	b->err = err;
	if (len >= strlen(BOM) && !memcmp(text, BOM, strlen(BOM))) {
		text += strlen(BOM);
		len -= strlen(BOM);
	}
	memcpy(copy, text, len);
	if (is_json(copy, len))
		len = join_surrogates(copy, len);
	yaml_parser_set_encoding(&b->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&b->parser, (unsigned char *)copy, len);
	ret = len > MAX_TEXT ?
		refuse(b, 1, "is longer than %d bytes", MAX_TEXT) :
		build_documents(b, *documents);
	drop_anchors(b);
	yaml_parser_delete(&b->parser);
out:
	free(copy);
	free(b);
	if (ret) {
		json_object_put(*documents);
		*documents = NULL;
	}
	return ret;
}
