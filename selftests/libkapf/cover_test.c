// SPDX-License-Identifier: GPL-2.0
/*
 * What two schemas have in common: examples, and rules and requests at random, of
 * which classification has the last word.
 */
#include <stdio.h>
#include <stdlib.h>

#include "test.h"

#define ALL		"verbs: ['*'], apiGroups: ['*'], resources: ['*'], " \
			"clusterScope: true, namespaces: ['*']"
#define FOR(subjects, rules) \
	"{subjects: [" subjects "], resourceRules: [" rules "]}"
#define ANYTHING(subjects)	FOR(subjects, "{" ALL "}")
#define USER(name)	"{kind: User, user: {name: '" name "'}}"
#define GROUP(name)	"{kind: Group, group: {name: '" name "'}}"
#define ACCOUNT(ns, name) \
	"{kind: ServiceAccount, serviceAccount: {namespace: '" ns \
	"', name: '" name "'}}"
#define ANYBODY		USER("*")
#define PODS(verbs, groups, resources, scope) \
	FOR(ANYBODY, "{verbs: [" verbs "], apiGroups: [" groups \
	    "], resources: [" resources "], " scope "}")
#define URLS(verbs, urls) \
	"{subjects: [" ANYBODY "], nonResourceRules: [{verbs: [" verbs \
	"], nonResourceURLs: [" urls "]}]}"
#define GET(urls)	URLS("get", urls)
#define VERBS \
	"get, list, watch, create, update, patch, delete, deletecollection, proxy"
#define EVERYBODY	GROUP("system:authenticated") ", " \
			GROUP("system:unauthenticated")

/* What is there between two schemas; each has what stands after it, too. */
enum { COVERS, CATCHES, OVERLAPS, NOTHING };

static const char *const relations[] = {
	[COVERS] = "covers", [CATCHES] = "catches", [OVERLAPS] = "overlaps",
	[NOTHING] = "has nothing of",
};

static const struct {
	const char *rules;
	int relation;
	const char *other;
} tries[] = {
	{ ANYTHING(USER("u")), COVERS, ANYTHING(USER("u")) },
	{ ANYTHING(USER("u")), NOTHING, ANYTHING(USER("v")) },
	{ ANYTHING(USER("u")), OVERLAPS, ANYTHING(USER("*")) },
	{ ANYTHING(USER("u")), OVERLAPS, ANYTHING(USER("u") ", " USER("v")) },
	{ ANYTHING(USER("*")), COVERS, ANYTHING(GROUP("g")) },
	{ ANYTHING(GROUP("*")), COVERS, ANYTHING(USER("*")) },
	{ ANYTHING(GROUP("*")), COVERS, ANYTHING(ACCOUNT("n", "*")) },
	{ ANYTHING(GROUP("g")), COVERS, ANYTHING(GROUP("g")) },
	{ ANYTHING(GROUP("g")), OVERLAPS, ANYTHING(GROUP("h")) },
	{ ANYTHING(GROUP("g")), OVERLAPS, ANYTHING(USER("g")) },
	{ ANYTHING(USER("u")) ", " ANYTHING(USER("v")), COVERS,
	  ANYTHING(USER("u") ", " USER("v")) },
	{ ANYTHING(ACCOUNT("n", "*")), COVERS, ANYTHING(ACCOUNT("n", "a")) },
	{ ANYTHING(ACCOUNT("n", "a")), OVERLAPS, ANYTHING(ACCOUNT("n", "*")) },
	{ ANYTHING(ACCOUNT("n", "*")), NOTHING, ANYTHING(ACCOUNT("nn", "a")) },
	{ ANYTHING(ACCOUNT("n", "a")), COVERS,
	  ANYTHING(USER("system:serviceaccount:n:a")) },
	{ ANYTHING(USER("system:serviceaccount:n:a")), COVERS,
	  ANYTHING(ACCOUNT("n", "a")) },
	{ ANYTHING(USER("system:serviceaccount:n:")), OVERLAPS,
	  ANYTHING(ACCOUNT("n", "*")) },

	/* By the groups of authenticators */
	{ ANYTHING(GROUP("system:serviceaccounts")), CATCHES,
	  ANYTHING(ACCOUNT("n", "a")) },
	{ ANYTHING(GROUP("system:serviceaccounts")), CATCHES,
	  ANYTHING(GROUP("system:serviceaccounts:n")) },
	{ ANYTHING(GROUP("system:serviceaccounts:n")), CATCHES,
	  ANYTHING(ACCOUNT("n", "*")) },
	{ ANYTHING(ACCOUNT("n", "*")), CATCHES,
	  ANYTHING(GROUP("system:serviceaccounts:n")) },
	{ ANYTHING(GROUP("system:serviceaccounts:n")), NOTHING,
	  ANYTHING(ACCOUNT("m", "*")) },
	{ ANYTHING(GROUP("system:serviceaccounts")), NOTHING,
	  ANYTHING(USER("u")) },
	{ ANYTHING(GROUP("system:serviceaccounts")), NOTHING,
	  ANYTHING(GROUP("g")) },
	{ ANYTHING(GROUP("g")), NOTHING, ANYTHING(ACCOUNT("n", "*")) },
	{ ANYTHING(GROUP("g")), NOTHING, ANYTHING(GROUP("system:nodes")) },
	{ ANYTHING(GROUP("kapf:tenant:t")), OVERLAPS,
	  ANYTHING(ACCOUNT("n", "*")) },
	{ ANYTHING(GROUP("kapf:tenant:t")), OVERLAPS, ANYTHING(GROUP("g")) },
	{ ANYTHING(GROUP("system:nodes")), CATCHES,
	  ANYTHING(USER("system:node:a")) },
	{ ANYTHING(GROUP("system:nodes")), NOTHING,
	  ANYTHING(ACCOUNT("n", "*")) },
	{ ANYTHING(GROUP("system:authenticated")), CATCHES,
	  ANYTHING(GROUP("g")) },
	{ ANYTHING(GROUP("system:authenticated")), CATCHES,
	  ANYTHING(ACCOUNT("n", "*")) },
	{ ANYTHING(GROUP("system:authenticated")), NOTHING,
	  ANYTHING(USER("system:anonymous")) },
	{ ANYTHING(GROUP("system:authenticated")), NOTHING,
	  ANYTHING(GROUP("system:unauthenticated")) },
	{ ANYTHING(GROUP("system:unauthenticated")), CATCHES,
	  ANYTHING(USER("system:anonymous")) },
	{ ANYTHING(GROUP("system:authenticated")), OVERLAPS, ANYTHING(ANYBODY) },
	{ ANYTHING(EVERYBODY), CATCHES, ANYTHING(ANYBODY) },
	{ ANYTHING(EVERYBODY), CATCHES, ANYTHING(GROUP("kapf:tenant:t")) },
	{ ANYTHING(GROUP("system:authenticated")), OVERLAPS,
	  ANYTHING(GROUP("kapf:tenant:t")) },
	{ ANYTHING(GROUP("kapf:tenant:t")), COVERS,
	  ANYTHING(GROUP("kapf:tenant:t")) },
	{ ANYTHING(GROUP("kapf:tenant:t")), NOTHING,
	  ANYTHING(GROUP("kapf:tenant:u")) },

	{ ANYTHING(ANYBODY), COVERS, PODS("get", "''", "p", "namespaces: [a]") },
	{ ANYTHING(ANYBODY), NOTHING, GET("/") },
	{ PODS("get", "'*'", "'*'", "namespaces: [a]"), NOTHING,
	  PODS("list", "'*'", "'*'", "namespaces: [a]") },
	{ PODS("'*'", "g", "'*'", "namespaces: [a]"), NOTHING,
	  PODS("'*'", "''", "'*'", "namespaces: [a]") },
	{ PODS("'*'", "'*'", "p, q", "namespaces: [a]"), COVERS,
	  PODS("'*'", "'*'", "q", "namespaces: [a]") },
	{ PODS("'*'", "'*'", "p", "namespaces: [a]"), NOTHING,
	  PODS("'*'", "'*'", "p/log", "namespaces: [a]") },
	{ PODS("'*'", "'*'", "p", "namespaces: [a, b]"), COVERS,
	  PODS("'*'", "'*'", "p", "namespaces: [b]") },
	{ PODS("'*'", "'*'", "p", "namespaces: ['*']"), OVERLAPS,
	  PODS("'*'", "'*'", "p", "namespaces: ['*'], clusterScope: true") },
	{ PODS("'*'", "'*'", "p", "namespaces: ['*']"), NOTHING,
	  PODS("'*'", "'*'", "p", "clusterScope: true") },
	{ PODS("'*'", "'*'", "p", "clusterScope: true"), COVERS,
	  PODS("'*'", "'*'", "p", "clusterScope: true") },
	/* By several rules together */
	{ PODS("get", "'*'", "p, q", "namespaces: ['*']") ", "
	  PODS("list", "'*'", "p, q", "namespaces: ['*']"), COVERS,
	  PODS("get, list", "'*'", "p, q", "namespaces: [a, b]") },
	{ PODS("get", "'*'", "'*'", "namespaces: ['*']") ", "
	  PODS("get", "'*'", "p", "clusterScope: true"), COVERS,
	  PODS("get", "'*'", "p", "clusterScope: true, namespaces: [a]") },
	{ PODS("get", "'*'", "p, q", "namespaces: ['*']") ", "
	  PODS("list", "'*'", "p", "namespaces: ['*']"), OVERLAPS,
	  PODS("get, list", "'*'", "p, q", "namespaces: [a, b]") },
	/* All verbs that there are, but a request may have one that is not. */
	{ PODS(VERBS, "'*'", "p", "namespaces: ['*']"),
	  OVERLAPS, PODS("'*'", "'*'", "p", "namespaces: ['*']") },

	{ GET("'*'"), COVERS, GET("/a") },
	{ GET("/a"), OVERLAPS, URLS("'*'", "/a") },
	{ GET("/a"), NOTHING, URLS("delete", "/a") },
	{ GET("/a"), COVERS, GET("/a, /a/, /a/*, /a/b") },
	{ GET("/a/*"), OVERLAPS, GET("/a") },
	{ GET("/a/"), COVERS, GET("/a/*") },
	{ GET("/a"), NOTHING, GET("/ab") },
	{ GET("/ab"), NOTHING, GET("/a/b") },
	{ GET("/*"), COVERS, GET("/a") },
	{ GET("/"), COVERS, GET("/*, /a/b") },
	{ GET("/*"), OVERLAPS, GET("'*'") },
	{ GET("/a/b"), OVERLAPS, GET("/a") },
	{ GET("/a, /b"), COVERS, GET("/b, /a") },
};

static struct kapf_configuration *two_schemas(const char *rules,
					      const char *other)
{
	struct kapf_configuration *config = kapf_config_new();
	struct kapf_error err = {};
	char *text;

	if (asprintf(&text, SCHEMA("name: a", TO("catch-all")
				   ", matchingPrecedence: 500, rules: [%s]")
		     SCHEMA("name: b", TO("catch-all")
			    ", matchingPrecedence: 600, rules: [%s]"),
		     rules, other) < 0)
		abort();
	if (merge(config, text, &err)) {
		note("%s", err.text);
		abort();
	}
	kapf_config_nominal(config);
	free(text);
	return config;
}

static bool are_related(const struct kapf_flow_schema *a,
			const struct kapf_flow_schema *b, int relation)
{
	return kapf_schema_covers(a, b) == (relation <= COVERS) &&
	       kapf_schema_catches(a, b, NULL) == (relation <= CATCHES) &&
	       kapf_schemas_overlap(a, b) == (relation <= OVERLAPS) &&
	       kapf_schemas_overlap(b, a) == (relation <= OVERLAPS);
}

static void test_examples(void)
{
	for (size_t i = 0; i < SIZE(tries); i++) {
		struct kapf_configuration *config =
			two_schemas(tries[i].rules, tries[i].other);

		ok(are_related(kapf_config_schema(config, "a"),
			       kapf_config_schema(config, "b"),
			       tries[i].relation), "cover: %s %s %s",
		   tries[i].rules, relations[tries[i].relation],
		   tries[i].other);
		kapf_config_free(config);
	}
}

/*
 * ---------------------------------------------------------------------------
 * At random
 */

#define ROUNDS	2000
#define REQUESTS 300

static const char *const verbs[] = { "get", "list" };
static const char *const resources[] = { "p", "q" };
static const char *const namespaces[] = { "a", "b" };
static const char *const urls[] = { "/", "/*", "/a", "/a/", "/a/*", "/ab" };
static const char *const paths[] = { "/", "/a", "/a/", "/a/b", "/ab", "/b" };

static const char *const subjects[] = {
	ANYBODY, USER("u"), USER("system:anonymous"),
	USER("system:serviceaccount:a:s"), USER("system:node:n"), GROUP("g"),
	GROUP("*"), GROUP("kapf:tenant:t"), GROUP("system:serviceaccounts"),
	GROUP("system:serviceaccounts:a"), GROUP("system:nodes"),
	GROUP("system:authenticated"), GROUP("system:unauthenticated"),
	ACCOUNT("a", "*"), ACCOUNT("a", "s"), ACCOUNT("b", "s"),
};

/* Of users, the groups that they have by their name, and that nobody else has */
static const struct {
	const char *user;
	const char *groups[3];
	size_t nr;
} users[] = {
	{ "u", { "system:authenticated" }, 1 },
	{ "v", { "system:authenticated" }, 1 },
	{ "system:anonymous", { "system:unauthenticated" }, 1 },
	{ "system:node:n", { "system:authenticated", "system:nodes" }, 2 },
	{ "system:serviceaccount:a:s",
	  { "system:authenticated", "system:serviceaccounts",
	    "system:serviceaccounts:a" }, 3 },
	{ "system:serviceaccount:a:t",
	  { "system:authenticated", "system:serviceaccounts",
	    "system:serviceaccounts:a" }, 3 },
	{ "system:serviceaccount:b:s",
	  { "system:authenticated", "system:serviceaccounts",
	    "system:serviceaccounts:b" }, 3 },
};

static unsigned int below(unsigned int limit)
{
	return (unsigned int)random() % limit;
}

static void write_words(FILE *to, const char *key, const char *const *words,
			unsigned int nr)
{
	unsigned int i, some = below(1u << nr);

	fprintf(to, "%s: [", key);
	if (!some)
		fputs("'*'", to);
	for (i = 0; i < nr; i++)
		if (some & (1u << i))
			fprintf(to, "'%s', ", words[i]);
	fputs("], ", to);
}

static void write_box(FILE *to, bool for_paths)
{
	fputc('{', to);
	write_words(to, "verbs", verbs, SIZE(verbs));
	if (for_paths) {
		write_words(to, "nonResourceURLs", urls, SIZE(urls));
	} else {
		unsigned int scope = below(3);

		write_words(to, "resources", resources, SIZE(resources));
		fputs("apiGroups: ['*'], ", to);
		if (scope)
			write_words(to, "namespaces", namespaces,
				    SIZE(namespaces));
		if (scope < 2)
			fputs("clusterScope: true", to);
	}
	fputs("}, ", to);
}

static char *some_rules(void)
{
	char *text;
	size_t len;
	FILE *to = open_memstream(&text, &len);
	unsigned int rules = 1 + below(2), boxes, i;

	while (rules--) {
		bool for_paths = !below(3);

		fputs("{subjects: [", to);
		for (i = 1 + below(2); i; i--)
			fprintf(to, "%s, ", subjects[below(SIZE(subjects))]);
		fprintf(to, "], %s: [",
			for_paths ? "nonResourceRules" : "resourceRules");
		for (boxes = 1 + below(3); boxes; boxes--)
			write_box(to, for_paths);
		fputs("]}, ", to);
	}
	fclose(to);
	return text;
}

/* With the groups of authenticators, or with any */
static void some_digest(struct kapf_digest *digest, const char *groups[4],
			bool by_name)
{
	const unsigned int user = below(SIZE(users));
	const unsigned int other = by_name ? user : below(SIZE(users));

	*digest = (struct kapf_digest) {
		.user = users[user].user, .groups = groups,
		.is_resource = below(3), .verb = below(9) ? verbs[below(2)] : "",
		.resource = below(9) ? resources[below(2)] : "r",
		.ns = below(2) ? namespaces[below(2)] : "",
		.path = paths[below(SIZE(paths))],
		.tenant = below(2) ? "t" : NULL,
		.nr_groups = by_name || below(4) ? users[other].nr : 0,
	};
	memcpy(groups, users[other].groups, sizeof(users[other].groups));
	/* Those whose groups go by their names are in no others. */
	if (below(2) && (!by_name || strncmp(digest->user, "system:", 7)))
		groups[digest->nr_groups++] = "g";
}

static bool matches(struct kapf_configuration *config, const char *name,
		    const struct kapf_digest *digest)
{
	const char *other = *name == 'a' ? "b" : "a";
	bool was = kapf_config_schema(config, other)->dangling, found;

	kapf_config_schema(config, other)->dangling = true;
	found = !strcmp(kapf_classify(config, digest)->name, name);
	kapf_config_schema(config, other)->dangling = was;
	return found;
}

/* How often each was so, lest nothing be tested. */
static unsigned int covered, caught, apart, missed;

static bool is_refuted(struct kapf_configuration *config, bool by_name)
{
	const struct kapf_flow_schema *a = kapf_config_schema(config, "a");
	const struct kapf_flow_schema *b = kapf_config_schema(config, "b");
	bool covers = by_name ? kapf_schema_catches(a, b, NULL) :
				kapf_schema_covers(a, b);
	bool overlaps = kapf_schemas_overlap(a, b);
	unsigned int nr_a = 0, nr_both = 0, nr_b = 0;
	const char *groups[4];
	struct kapf_digest digest;

	for (unsigned int i = 0; i < REQUESTS; i++) {
		bool in_a, in_b;

		some_digest(&digest, groups, by_name);
		in_a = matches(config, "a", &digest);
		in_b = matches(config, "b", &digest);
		nr_a += in_a;
		nr_b += in_b;
		nr_both += in_a && in_b;
	}
	*(by_name ? &caught : &covered) += covers && nr_b;
	apart += by_name && !overlaps && nr_a && nr_b;
	missed += by_name && !covers && nr_b && nr_both == nr_b;
	return (covers && nr_both < nr_b) || (by_name && !overlaps && nr_both);
}

static void test_random(void)
{
	unsigned int refuted = 0;

	srandom(1);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		char *rules = some_rules(), *other = some_rules();
		struct kapf_configuration *config = two_schemas(rules, other);

		if (is_refuted(config, false) || is_refuted(config, true)) {
			note("%s\n# %s", rules, other);
			refuted++;
		}
		kapf_config_free(config);
		free(rules);
		free(other);
	}
	ok(!refuted && covered > ROUNDS / 40 && caught > covered &&
	   apart > ROUNDS / 40,
	   "cover: %u pairs, %u cover, %u catch, %u have nothing in common, %u may do so unseen",
	   ROUNDS, covered, caught, apart, missed);
}

/* What is caught of one subject, and what is asked of a schema without rules */
static void test_subjects(void)
{
	struct kapf_configuration *config =
		two_schemas(ANYTHING(GROUP("system:serviceaccounts")),
			    ANYTHING(USER("u") ", " ACCOUNT("n", "a")) ", "
			    ANYTHING(GROUP("g")));
	struct kapf_flow_schema *a = kapf_config_schema(config, "a");
	struct kapf_flow_schema *b = kapf_config_schema(config, "b");
	const struct kapf_subject *subject;

	subject = kapf_schema_subject(b, 0);
	ok(!strcmp(subject->name, "u") && !kapf_schema_catches(a, b, subject),
	   "cover: not the first subject");
	subject = kapf_schema_subject(b, 1);
	ok(!strcmp(subject->name, "a") && kapf_schema_catches(a, b, subject),
	   "cover: the second");
	ok(!strcmp(kapf_schema_subject(b, 2)->name, "g") &&
	   !kapf_schema_subject(b, 3), "cover: of all rules");
	kapf_config_free(config);

	config = two_schemas(ANYTHING(ANYBODY), "");
	a = kapf_config_schema(config, "a");
	b = kapf_config_schema(config, "b");
	ok(!kapf_schema_covers(a, b) && !kapf_schema_covers(b, a) &&
	   !kapf_schema_catches(a, b, NULL) && !kapf_schemas_overlap(a, b),
	   "cover: no rules");
	kapf_config_free(config);
}

void test_covers(void)
{
	test_examples();
	test_subjects();
	test_random();
}
