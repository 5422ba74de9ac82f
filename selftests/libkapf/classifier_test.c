// SPDX-License-Identifier: GPL-2.0
/*
 * The index of a configuration finds what comparing with each schema finds: in
 * random configurations of all sizes, for random requests.  What the latter is
 * to be, classify_test.c says.
 */
#include <stdio.h>
#include <stdlib.h>

#include "test.h"

#define REQUESTS 2000

/* Names, so that a request has some in common with some schemas. */
#define USERS		40
#define GROUPS		12
#define RESOURCES	30

static unsigned int below(unsigned int limit)
{
	return (unsigned int)random() % limit;
}

static void write_subject(FILE *to)
{
	const unsigned int nr = below(USERS);

	switch (below(7)) {
	case 0:
		fprintf(to, "{kind: User, user: {name: 'u%u'}}, ", nr);
		break;
	case 1:
		fprintf(to, "{kind: User, user: {name: 'system:serviceaccount:n%u:a'}}, ",
			nr % 5);
		break;
	case 2:
		fprintf(to, "{kind: Group, group: {name: 'kapf:tenant:t%u'}}, ",
			nr % 3);
		break;
	case 3:
		fprintf(to, "{kind: ServiceAccount, ");
		fprintf(to, "serviceAccount: {namespace: n%u, name: '%s'}}, ",
			nr % 5, nr % 3 ? "a" : "*");
		break;
	case 4:
		fprintf(to, "{kind: %s}, ", nr % 2 ?
			"User, user: {name: '*'}" : "Group, group: {name: '*'}");
		break;
	default:
		fprintf(to, "{kind: Group, group: {name: 'g%u'}}, ",
			nr % GROUPS);
	}
}

/* A few of @nr names, or now and then all there are. */
static void write_names(FILE *to, const char *key, const char *prefix,
			unsigned int nr, const char *suffix)
{
	unsigned int i;

	fprintf(to, "%s: [", key);
	if (!below(6))
		fputs("'*'", to);
	else
		for (i = 1 + below(2); i; i--)
			fprintf(to, "'%s%u%s', ", prefix, below(nr),
				below(3) ? "" : suffix);
	fputs("], ", to);
}

static void write_verbs(FILE *to)
{
	static const char *const verbs[] = {
		"'*'", "get", "list, watch", "create, update", "delete, get"
	};

	fprintf(to, "verbs: [%s], ", verbs[below(SIZE(verbs))]);
}

static void write_rule(FILE *to)
{
	unsigned int i;

	fputs("{subjects: [", to);
	for (i = 1 + below(2); i; i--)
		write_subject(to);
	fputs("], ", to);
	if (below(4)) {
		fputs("resourceRules: [{", to);
		write_verbs(to);
		write_names(to, "apiGroups", "x", 3, "");
		write_names(to, "resources", "r", RESOURCES, "/s");
		if (below(3))
			write_names(to, "namespaces", "n", 5, "");
		fputs("clusterScope: true}], ", to);
	}
	fputs("nonResourceRules: [{", to);
	write_verbs(to);
	fprintf(to, "nonResourceURLs: [/p%u/*]}]}, ", below(5));
}

/* @nr schemas beside the mandatory ones, of which some dangle */
static struct kapf_configuration *some_configuration(unsigned int nr)
{
	struct kapf_configuration *config = kapf_config_new();
	struct kapf_error err = {};
	unsigned int i, rules;
	char *text;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	for (i = 0; i < nr; i++) {
		fprintf(to, "---\napiVersion: " API "v1\nkind: FlowSchema\n");
		fprintf(to, "metadata: {name: s%u}\nspec: {", i);
		fprintf(to, "matchingPrecedence: %u, ", 2 + below(9000));
		fprintf(to, TO("%s") ", rules: [",
			below(9) ? "catch-all" : "missing");
		for (rules = below(4); rules; rules--)
			write_rule(to);
		fputs("]}\n", to);
	}
	fclose(to);
	if (kapf_config_merge(config, text, len, "x", &err))
		note("%s", err.text);
	kapf_config_nominal(config);
	free(text);
	return config;
}

static const char *some_name(char room[40], const char *format,
			     unsigned int nr)
{
	/* One more than there are: nobody's name */
	snprintf(room, 40, format, below(nr + 1));
	return room;
}

/* Return: the schema that the index finds; NULL: it is not the right one. */
static const struct kapf_flow_schema *
try_request(const struct kapf_configuration *config,
	    const struct kapf_classifier *classifier)
{
	static const char *const verbs[] = {
		"get", "list", "watch", "create", "update", "delete", "head", ""
	};
	char user[40], group[2][40], resource[40], ns[40], path[40], tenant[40];
	char api_group[40];
	const char *const groups[] = {
		some_name(group[0], "g%u", GROUPS),
		some_name(group[1], "g%u", GROUPS),
	};
	const struct kapf_digest digest = {
		.user = below(9) ? some_name(user, below(3) ? "u%u" :
					     "system:serviceaccount:n%u:a",
					     USERS) : NULL,
		.groups = groups,
		.nr_groups = below(3),
		.is_resource = below(4),
		.verb = verbs[below(SIZE(verbs))],
		.api_group = below(3) ? some_name(api_group, "x%u", 3) : NULL,
		.resource = some_name(resource, "r%u", RESOURCES),
		.subresource = below(3) ? NULL : "s",
		.ns = below(3) ? some_name(ns, "n%u", 5) : "",
		.path = some_name(path, "/p%u/x", 5),
		.tenant = below(3) ? NULL : some_name(tenant, "t%u", 3),
	};
	const struct kapf_flow_schema *schema =
		kapf_classifier_match(classifier, &digest);

	return schema == kapf_classify(config, &digest) ? schema : NULL;
}

static void test_size(unsigned int size)
{
	struct kapf_configuration *config = some_configuration(size);
	struct kapf_classifier *classifier = kapf_classifier_new(config);
	bool *found = calloc(config->nr_schemas, sizeof(*found));
	unsigned int i, wrong = 0, variety = 0;

	for (i = 0; i < REQUESTS; i++) {
		const struct kapf_flow_schema *schema =
			try_request(config, classifier);

		if (schema)
			found[schema - config->schemas] = true;
		else
			wrong++;
	}
	for (i = 0; i < config->nr_schemas; i++)
		variety += found[i];
	ok(!wrong && variety > (size < 40 ? size / 6 : 12),
	   "classifier: %zu schemas: %u requests, %u wrong, to %u schemas",
	   config->nr_schemas, REQUESTS, wrong, variety);
	free(found);
	kapf_classifier_free(classifier);
	kapf_config_free(config);
}

void test_classifiers(void)
{
	/* Around the least that has an index, and the words of a set, to the most */
	static const unsigned int sizes[] = {
		0, 5, 14, 15, 16, 40, 61, 62, 63, 126, 127, 300, 1000, 4094
	};

	srandom(1);
	for (size_t i = 0; i < SIZE(sizes); i++)
		test_size(sizes[i]);
	kapf_classifier_free(NULL);
}
