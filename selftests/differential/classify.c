// SPDX-License-Identifier: GPL-2.0

#include <err.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "internal.h"

#define MAX_GROUPS 16

static void merge_file(struct kapf_configuration *config, const char *path)
{
	struct kapf_error error = {};
	char text[16384];
	FILE *file = fopen(path, "r");
	size_t len;

	if (!file)
		err(1, "%s", path);
	len = fread(text, 1, sizeof(text), file);
	if (len == sizeof(text) || ferror(file))
		errx(1, "%s: cannot be read, or is too long", path);
	fclose(file);
	if (kapf_config_merge(config, text, len, path, &error))
		errx(1, "%s", error.text);
}

/* The mandatory objects; with the default ones; with the repository's, too */
static struct kapf_configuration *make_set(const char *name)
{
	struct kapf_configuration *config = kapf_config_new();
	glob_t files = {};
	size_t i;

	if (!config)
		errx(1, "out of memory");
	if (strcmp(name, "mandatory") && kapf_config_add_defaults(config))
		errx(1, "out of memory");
	if (!strcmp(name, "manifests") &&
	    glob(MANIFESTS "/*.yaml", 0, NULL, &files))
		errx(1, "no manifests in " MANIFESTS);
	for (i = 0; i < files.gl_pathc; i++)
		merge_file(config, files.gl_pathv[i]);
	globfree(&files);
	return config;
}

static const struct kapf_configuration *find_set(const char *name)
{
	static const char *const names[] = {
		"mandatory", "defaults", "manifests"
	};
	static struct kapf_configuration *sets[KAPF_ARRAY_SIZE(names)];
	size_t i = 0;

	while (strcmp(name, names[i]))
		if (++i == KAPF_ARRAY_SIZE(names))
			errx(1, "no set %s", name);
	if (!sets[i])
		sets[i] = make_set(name);
	return sets[i];
}

static void read_schema(struct kapf_flow_schema *schema, struct json_object *c)
{
	const char *method = case_text(c, "distinguisher");
	const char *rules = json_object_to_json_string(case_get(c, "rules"));
	struct kapf_error error = {};

	kapf_name_copy(schema->name, case_text(c, "name"));
	kapf_name_copy(schema->level, case_text(c, "level"));
	schema->precedence = case_u64(c, "precedence");
	schema->distinguisher = !strcmp(method, "ByUser") ? KAPF_BY_USER :
				*method ? KAPF_BY_NAMESPACE : KAPF_BY_NONE;
	if (kapf_rules_parse(rules, strlen(rules), &schema->rules, &error))
		errx(1, "%s: %s", rules, error.text);
}

/* The set's schemas and those of the case, which alone are to be freed. */
static void add_schemas(struct kapf_configuration *config,
			struct json_object *list)
{
	size_t nr = json_object_array_length(list), i;
	struct kapf_flow_schema *schemas = calloc(config->nr_schemas + nr,
						  sizeof(*schemas));

	if (!schemas)
		errx(1, "out of memory");
	for (i = 0; i < nr; i++)
		read_schema(&schemas[i], json_object_array_get_idx(list, i));
	memcpy(schemas + nr, config->schemas,
	       config->nr_schemas * sizeof(*schemas));
	config->schemas = schemas;
	config->nr_schemas += nr;
	kapf_config_sort(config);
	kapf_config_nominal(config);
}

static void free_schemas(struct kapf_configuration *config)
{
	size_t i;

	/* Those of the set have their rules as text, too. */
	for (i = 0; i < config->nr_schemas; i++)
		if (!config->schemas[i].rules_json)
			kapf_schema_destroy(&config->schemas[i]);
	free(config->schemas);
}

static void add_answer(struct json_object *answer,
		       const struct kapf_configuration *config,
		       const struct kapf_digest *digest)
{
	struct kapf_classifier *classifier = kapf_classifier_new(config);
	const struct kapf_flow_schema *schema = kapf_classify(config, digest);
	const char *distinguisher = kapf_flow_distinguisher(schema, digest);

	if (!classifier)
		errx(1, "out of memory");
	if (kapf_classifier_match(classifier, digest) != schema)
		json_object_object_add(answer, "classifier",
				       json_object_new_string("disagrees"));
	kapf_classifier_free(classifier);
	json_object_object_add(answer, "schema",
			       json_object_new_string(schema->name));
	json_object_object_add(answer, "level",
			       json_object_new_string(schema->level));
	if (*distinguisher)
		json_object_object_add(answer, "distinguisher",
				       answer_text(distinguisher));
}

struct json_object *answer_classify(struct json_object *c)
{
	struct kapf_configuration config = *find_set(case_text(c, "set"));
	struct json_object *answer = json_object_new_object();
	struct json_object *groups = case_get(c, "groups");
	struct kapf_http_request *request = case_request(c);
	size_t nr = json_object_array_length(groups), i;
	const char *names[MAX_GROUPS];
	struct kapf_digest digest = {
		.user = case_text(c, "user"), .groups = names, .nr_groups = nr
	};

	if (!request) {
		json_object_object_add(answer, "error",
				       json_object_new_boolean(true));
		return answer;
	}
	if (nr > MAX_GROUPS)
		errx(1, "%zu groups", nr);
	for (i = 0; i < nr; i++)
		names[i] = json_object_get_string(json_object_array_get_idx(groups, i));
	kapf_http_request_digest(request, &digest);
	add_schemas(&config, case_get(c, "schemas"));
	add_answer(answer, &config, &digest);
	free_schemas(&config);
	kapf_http_request_free(request);
	return answer;
}
