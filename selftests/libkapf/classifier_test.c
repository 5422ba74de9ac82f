// SPDX-License-Identifier: GPL-2.0
/*
 * The index of a configuration finds what comparing with each schema finds: in
 * random configurations of all sizes, for random requests.  What the latter is
 * to be, classify_test.c says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

#define REQUESTS 2000

/* Names, so that a request has some in common with some schemas. */
#define USERS		40
#define GROUPS		12
#define RESOURCES	30

/* Of so many resource rules one takes everything, in its scope. */
static unsigned int everything;

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

static void write_resource_rule(FILE *to)
{
	const unsigned int scope = below(3);

	if (!below(everything)) {
		fprintf(to, "{verbs: ['*'], apiGroups: ['*'], resources: ['*'], %s}, ",
			scope ? "namespaces: ['*']" : "clusterScope: true");
		return;
	}
	fputs("{", to);
	write_verbs(to);
	write_names(to, "apiGroups", "x", 3, "");
	write_names(to, "resources", "r", RESOURCES, "/s");
	if (scope)
		write_names(to, "namespaces", "n", 5, "");
	fprintf(to, "clusterScope: %s}, ", scope < 2 ? "true" : "false");
}

static void write_rule(FILE *to)
{
	unsigned int i;

	fputs("{subjects: [", to);
	for (i = 1 + below(2); i; i--)
		write_subject(to);
	fputs("], ", to);
	fputs("resourceRules: [", to);
	for (i = below(3); i; i--)
		write_resource_rule(to);
	fputs("], nonResourceRules: [{", to);
	write_verbs(to);
	if (below(6))
		fprintf(to, "nonResourceURLs: [/p%u/*]}]}, ", below(5));
	else
		fputs("nonResourceURLs: ['*']}]}, ", to);
}

static struct kapf_configuration *configuration_of(const char *text, size_t len)
{
	struct kapf_configuration *config = kapf_config_new();
	struct kapf_error err = {};

	if (kapf_config_merge(config, text, len, "x", &err))
		note("%s", err.text);
	kapf_config_nominal(config);
	return config;
}

/* @nr schemas beside the mandatory ones, of which some dangle */
static struct kapf_configuration *some_configuration(unsigned int nr)
{
	struct kapf_configuration *config;
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
	config = configuration_of(text, len);
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

/* Many that are small, where much depends on which schema comes first */
static void test_small(void)
{
	unsigned int i, j, wrong = 0;

	everything = 4;
	for (i = 0; i < 300; i++) {
		struct kapf_configuration *config = some_configuration(i % 25);
		struct kapf_classifier *classifier =
			kapf_classifier_new(config);

		for (j = 0; j < 200; j++)
			wrong += !try_request(config, classifier);
		kapf_classifier_free(classifier);
		kapf_config_free(config);
	}
	ok(!wrong, "classifier: 300 small configurations: %u wrong", wrong);
}

static void test_size(unsigned int size)
{
	struct kapf_configuration *config;
	struct kapf_classifier *classifier;
	unsigned int i, wrong = 0, variety = 0;
	bool *found;

	everything = 100;
	config = some_configuration(size);
	classifier = kapf_classifier_new(config);
	found = calloc(config->nr_schemas, sizeof(*found));
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
	ok(!wrong && variety > (size <= 40 ? size / 6 : 12),
	   "classifier: %zu schemas: %u requests, %u wrong, to %u schemas",
	   config->nr_schemas, REQUESTS, wrong, variety);
	free(found);
	kapf_classifier_free(classifier);
	kapf_config_free(config);
}

/* What the only schema beside the mandatory ones says of a request */
static bool is_taken(const char *spec, const struct kapf_digest *digest)
{
	char text[4096];
	int len = snprintf(text, sizeof(text), "apiVersion: " API "v1\n"
			   "kind: FlowSchema\nmetadata: {name: only}\n"
			   "spec: {matchingPrecedence: 5, " TO("catch-all")
			   ", rules: [%s]}\n", spec);
	struct kapf_configuration *config = configuration_of(text, len);
	struct kapf_classifier *classifier = kapf_classifier_new(config);
	const struct kapf_flow_schema *schema =
		kapf_classifier_match(classifier, digest);
	bool is_only = !strcmp(schema->name, "only");

	if (schema != kapf_classify(config, digest))
		note("it is not what comparing finds: %s", schema->name);
	kapf_classifier_free(classifier);
	kapf_config_free(config);
	return is_only;
}

/* Of the two users of a pair hash_key() says the same. */
static void test_collision(void)
{
	static const char *const pairs[][2] = {
		{ "alice-of-accting", "cnzsevvggjQSfdtU" },
		{ "alice-ofubewueql", "alice-ofgmcvttqq" },
	};
	unsigned int right = 0;
	char rule[512];

	for (size_t i = 0; i < SIZE(pairs); i++) {
		struct kapf_digest digest = {
			.user = pairs[i][0], .verb = "get", .path = "/a",
		};

		snprintf(rule, sizeof(rule), "{subjects: [{kind: User, user: {name: %s}}],\n"
			 "nonResourceRules: [{verbs: [get], nonResourceURLs: [/a]}]}",
			 digest.user);
		right += is_taken(rule, &digest);
		digest.user = pairs[i][1];
		right += !is_taken(rule, &digest);
	}
	ok(right == 4, "classifier: a user is not another of the same hash");
}

/* Longer than there is room for, with their subresource */
static void test_long_names(void)
{
	char rule[1024], resource[253];
	const struct kapf_digest digest = {
		.user = "u", .is_resource = true, .verb = "get",
		.resource = resource, .subresource = "status",
	};

	memset(resource, 'r', sizeof(resource) - 1);
	resource[sizeof(resource) - 1] = '\0';
	snprintf(rule, sizeof(rule), "{subjects: [{kind: User, user: {name: u}}],\n"
		 "resourceRules: [{verbs: [get], apiGroups: [''],\n"
		 "resources: ['%s/status'], clusterScope: true}]}", resource);
	ok(is_taken(rule, &digest), "classifier: a resource with a long name");
}

/* More than an index is made of: 40 schemas with 500 entries each */
static void test_many_entries(void)
{
	const struct kapf_digest digest = {
		.user = "u", .verb = "get", .path = "/37-499/x",
	};
	struct kapf_configuration *config;
	struct kapf_classifier *classifier;
	unsigned int i, j;
	char *text;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	for (i = 0; i < 40; i++) {
		fprintf(to, "---\napiVersion: " API "v1\nkind: FlowSchema\n");
		fprintf(to, "metadata: {name: s%u}\nspec: {", i);
		fprintf(to, "matchingPrecedence: 5, " TO("catch-all"));
		fputs(", rules: [{subjects: [{kind: User, user: {name: u}}],\n"
		      "nonResourceRules: [", to);
		for (j = 0; j < 500; j++)
			fprintf(to, "{verbs: [get], nonResourceURLs: [/%u-%u]}, ",
				i, j);
		fputs("]}]}\n", to);
	}
	fclose(to);
	config = configuration_of(text, len);
	classifier = kapf_classifier_new(config);
	ok(!strcmp(kapf_classifier_match(classifier, &digest)->name, "s37"),
	   "classifier: 40 schemas with 20000 entries");
	free(text);
	kapf_classifier_free(classifier);
	kapf_config_free(config);
}

void test_classifiers(void)
{
	/* Around the words of a set, and to the most */
	static const unsigned int sizes[] = {
		0, 5, 14, 15, 16, 40, 61, 62, 63, 126, 127, 300, 1000, 4094
	};

	srandom(1);
	for (size_t i = 0; i < SIZE(sizes); i++)
		test_size(sizes[i]);
	test_small();
	test_collision();
	test_long_names();
	test_many_entries();
	kapf_classifier_free(NULL);
}
