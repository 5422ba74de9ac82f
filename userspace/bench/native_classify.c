// SPDX-License-Identifier: GPL-2.0
/*
 * libkapf's classification: a configuration, and requests that are matched with it.
 */
#include <stdlib.h>
#include <string.h>

#include "libkapf.h"
#include "native.h"

/**
 * struct matching - a configuration and requests
 * @config: the configuration
 * @classifier: of it
 * @requests: the requests, to which all texts belong
 * @digests: the same
 * @nr: of requests
 */
struct matching {
	struct kapf_configuration *config;
	struct kapf_classifier *classifier;
	struct json_object *requests;
	struct kapf_digest *digests;
	unsigned int nr;
};

static const char *get(struct json_object *request, const char *key)
{
	return json_object_get_string(json_object_object_get(request, key));
}

static void read_request(struct kapf_digest *digest, struct json_object *from)
{
	struct json_object *groups = json_object_object_get(from, "groups");
	size_t nr = json_object_array_length(groups);
	const char **names = calloc(nr, sizeof(*names));

	if (!names)
		fail("no memory");
	for (size_t i = 0; i < nr; i++)
		names[i] = json_object_get_string(json_object_array_get_idx(groups, i));
	*digest = (struct kapf_digest){
		.user = get(from, "user"),
		.groups = names,
		.nr_groups = nr,
		.is_resource = get(from, "resource"),
		.verb = get(from, "verb"),
		.api_group = get(from, "apiGroup"),
		.resource = get(from, "resource"),
		.subresource = get(from, "subresource"),
		.ns = get(from, "namespace"),
		.path = get(from, "path"),
	};
}

static struct kapf_configuration *configure(struct json_object *schemas)
{
	struct kapf_configuration *config = kapf_config_new();
	struct kapf_error err = {};

	if (!config || kapf_config_add_defaults(config))
		fail("no memory");
	for (size_t i = 0; i < json_object_array_length(schemas); i++) {
		struct json_object *schema =
			json_object_array_get_idx(schemas, i);
		const char *text = json_object_to_json_string(schema);

		if (kapf_config_merge(config, text, strlen(text), "set", &err))
			fail("%s", err.text);
	}
	kapf_config_nominal(config);
	return config;
}

/**
 * matching_new() - make a configuration, and read requests
 * @schemas: of the configuration, beside the default ones
 * @requests: see set_requests()
 */
struct matching *matching_new(struct json_object *schemas,
			      struct json_object *requests)
{
	struct matching *matching = calloc(1, sizeof(*matching));

	if (!matching)
		fail("no memory");
	matching->config = configure(schemas);
	matching->classifier = kapf_classifier_new(matching->config);
	matching->requests = json_object_get(requests);
	matching->nr = json_object_array_length(requests);
	matching->digests = calloc(matching->nr, sizeof(*matching->digests));
	if (!matching->classifier || !matching->digests)
		fail("no memory");
	for (unsigned int i = 0; i < matching->nr; i++)
		read_request(&matching->digests[i],
			     json_object_array_get_idx(requests, i));
	return matching;
}

/**
 * matching_run() - classify all requests, as a session does
 * @matching: from matching_new()
 *
 * Return: how many that were.
 */
unsigned int matching_run(const struct matching *matching)
{
	for (unsigned int i = 0; i < matching->nr; i++)
		if (!kapf_classifier_match(matching->classifier,
					   &matching->digests[i]))
			fail("a request without a schema");
	return matching->nr;
}

/**
 * matching_hash() - hash the flow of each request, as a session does next
 * @matching: from matching_new()
 *
 * Return: how many that were.
 */
unsigned int matching_hash(const struct matching *matching)
{
	const struct kapf_flow_schema *schema = matching->config->schemas;

	for (unsigned int i = 0; i < matching->nr; i++)
		if (!kapf_flow_hash(schema->name, NULL,
				    matching->digests[i].user))
			fail("a flow of hash 0");
	return matching->nr;
}

/**
 * matching_sum() - a number that stands for all answers
 * @matching: from matching_new()
 *
 * Return: FNV-1a of the names of the schemas, each with its NUL.
 */
uint64_t matching_sum(const struct matching *matching)
{
	uint64_t sum = 0xcbf29ce484222325;

	for (unsigned int i = 0; i < matching->nr; i++) {
		const char *name = kapf_classifier_match(matching->classifier,
							 &matching->digests[i])->name;

		do
			sum = (sum ^ (unsigned char)*name) * 0x100000001b3;
		while (*name++);
	}
	return sum;
}

/**
 * matching_free() - free it
 * @matching: from matching_new()
 */
void matching_free(struct matching *matching)
{
	for (unsigned int i = 0; i < matching->nr; i++)
		free((void *)matching->digests[i].groups);
	free(matching->digests);
	kapf_classifier_free(matching->classifier);
	kapf_config_free(matching->config);
	json_object_put(matching->requests);
	free(matching);
}
