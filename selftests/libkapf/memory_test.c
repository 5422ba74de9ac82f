// SPDX-License-Identifier: GPL-2.0
/*
 * What happens when memory runs out: everything is done over and over, each
 * time with one more allocation that succeeds before one fails.  Whatever fails
 * must say so and leave nothing behind; the linker puts these functions in the
 * place of those that libkapf calls.
 */
#include <stdio.h>
#include <stdlib.h>
#include <yaml.h>

#include "test.h"

static unsigned long nr_left; /* allocations until one fails; 0: none does */

static bool fails(void)
{
	return nr_left && !--nr_left;
}

typeof(malloc) __real_malloc, __wrap_malloc;
typeof(calloc) __real_calloc, __wrap_calloc;
typeof(realloc) __real_realloc, __wrap_realloc;
typeof(reallocarray) __real_reallocarray, __wrap_reallocarray;
typeof(strdup) __real_strdup, __wrap_strdup;
typeof(strndup) __real_strndup, __wrap_strndup;
typeof(open_memstream) __real_open_memstream, __wrap_open_memstream;
typeof(json_object_new_object) __real_json_object_new_object, __wrap_json_object_new_object;
typeof(json_object_new_array) __real_json_object_new_array, __wrap_json_object_new_array;
typeof(json_object_new_string) __real_json_object_new_string, __wrap_json_object_new_string;
typeof(json_object_new_string_len) __real_json_object_new_string_len;
typeof(json_object_new_string_len) __wrap_json_object_new_string_len;
typeof(json_object_new_int64) __real_json_object_new_int64, __wrap_json_object_new_int64;
typeof(json_object_new_boolean) __real_json_object_new_boolean, __wrap_json_object_new_boolean;
typeof(json_object_object_add) __real_json_object_object_add, __wrap_json_object_object_add;
typeof(json_object_array_add) __real_json_object_array_add, __wrap_json_object_array_add;
typeof(json_object_to_json_string_ext) __real_json_object_to_json_string_ext;
typeof(json_object_to_json_string_ext) __wrap_json_object_to_json_string_ext;
typeof(json_tokener_new_ex) __real_json_tokener_new_ex, __wrap_json_tokener_new_ex;
typeof(yaml_parser_initialize) __real_yaml_parser_initialize, __wrap_yaml_parser_initialize;

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t nr, size_t size)
{
	return fails() ? NULL : __real_calloc(nr, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return fails() ? NULL : __real_realloc(old, size);
}

void *__wrap_reallocarray(void *old, size_t nr, size_t size)
{
	return fails() ? NULL : __real_reallocarray(old, nr, size);
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t len)
{
	return fails() ? NULL : __real_strndup(text, len);
}

FILE *__wrap_open_memstream(char **to, size_t *len)
{
	return fails() ? NULL : __real_open_memstream(to, len);
}

struct json_object *__wrap_json_object_new_object(void)
{
	return fails() ? NULL : __real_json_object_new_object();
}

struct json_object *__wrap_json_object_new_array(void)
{
	return fails() ? NULL : __real_json_object_new_array();
}

struct json_object *__wrap_json_object_new_string(const char *text)
{
	return fails() ? NULL : __real_json_object_new_string(text);
}

struct json_object *__wrap_json_object_new_string_len(const char *text, int len)
{
	return fails() ? NULL : __real_json_object_new_string_len(text, len);
}

struct json_object *__wrap_json_object_new_int64(int64_t number)
{
	return fails() ? NULL : __real_json_object_new_int64(number);
}

struct json_object *__wrap_json_object_new_boolean(int flag)
{
	return fails() ? NULL : __real_json_object_new_boolean(flag);
}

int __wrap_json_object_object_add(struct json_object *map, const char *key,
				  struct json_object *value)
{
	return fails() ? -1 : __real_json_object_object_add(map, key, value);
}

int __wrap_json_object_array_add(struct json_object *list,
				 struct json_object *value)
{
	return fails() ? -1 : __real_json_object_array_add(list, value);
}

const char *__wrap_json_object_to_json_string_ext(struct json_object *tree,
						  int flags)
{
	return fails() ? NULL :
		__real_json_object_to_json_string_ext(tree, flags);
}

struct json_tokener *__wrap_json_tokener_new_ex(int depth)
{
	return fails() ? NULL : __real_json_tokener_new_ex(depth);
}

int __wrap_yaml_parser_initialize(yaml_parser_t *parser)
{
	return fails() ? 0 : __real_yaml_parser_initialize(parser);
}

#define RULES \
	"rules: [{subjects: [{kind: User, user: {name: u}}], " \
	"resourceRules: [{verbs: [get], apiGroups: [''], resources: [r], " \
	"clusterScope: true}], " \
	"nonResourceRules: [{verbs: [get], nonResourceURLs: [/]}]}]"

/* So many that an index is made of them */
#define MORE(name)	SCHEMA("name: " name, TO("x") ", " RULES)

static const char manifest[] =
	LEVEL("name: x, labels: {a: &a b, c: *a}", "lendablePercent: 5, ")
	SCHEMA("name: x, annotations: {c: d}", TO("x") ", " RULES)
	MORE("a") MORE("b") MORE("c") MORE("d") MORE("e") MORE("f");

static int write_objects(const struct kapf_configuration *config)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < config->nr_levels; i++) {
		struct json_object *object =
			kapf_level_object(&config->levels[i]);

		ret = object ? 0 : -ENOMEM;
		json_object_put(object);
	}
	for (i = 0; !ret && i < config->nr_schemas; i++) {
		struct json_object *object =
			kapf_schema_object(&config->schemas[i]);

		ret = object ? 0 : -ENOMEM;
		json_object_put(object);
	}
	return ret;
}

/* Does everything once; returns the first failure. */
static int do_all(void)
{
	struct kapf_configuration *config = kapf_config_new(), *back = NULL;
	struct kapf_classifier *classifier = NULL;
	struct kapf_http_request *request = NULL;
	void *image = NULL;
	size_t len;
	int ret = config ? 0 : -ENOMEM;

	if (!ret)
		ret = kapf_config_add_defaults(config);
	if (!ret)
		ret = merge(config, manifest, NULL);
	if (!ret)
		ret = kapf_config_maintain(config);
	if (!ret)
		ret = kapf_image_encode(config, &image, &len, NULL);
	if (!ret)
		ret = kapf_image_decode(image, len, &back, NULL);
	if (!ret)
		ret = write_objects(back);
	if (!ret) {
		classifier = kapf_classifier_new(back);
		ret = classifier ? 0 : -ENOMEM;
	}
	if (!ret)
		ret = kapf_http_request_parse(&request, "GET", "/", NULL);
	kapf_http_request_free(request);
	free(image);
	kapf_classifier_free(classifier);
	kapf_config_free(back);
	kapf_config_free(config);
	return ret;
}

void test_memory(void)
{
	unsigned long nr = 0;
	bool fine = true;
	int ret;

	do {
		nr_left = ++nr;
		ret = do_all();
		if (!nr_left && ret != -ENOMEM) {
			note("allocation %lu: %d", nr, ret);
			fine = false;
		}
	} while (!nr_left);
	nr_left = 0;
	ok(fine && !ret && nr > 100, "memory: each of %lu allocations fails",
	   nr - 1);
}
