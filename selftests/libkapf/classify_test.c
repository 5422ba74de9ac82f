// SPDX-License-Identifier: GPL-2.0
/*
 * Classification: which requests each part of a rule matches, the order in
 * which schemas are tried, and the identity of flows.
 */
#include <stdio.h>

#include "test.h"

#define ANYBODY	"subjects: [{kind: User, user: {name: '*'}}]"
#define FOR(subject) \
	"{subjects: [{" subject "}], resourceRules: [{verbs: ['*'], " \
	"apiGroups: ['*'], resources: ['*'], clusterScope: true, " \
	"namespaces: ['*']}]}"
#define FOR_USER(name)	FOR("kind: User, user: {name: " name "}")
#define FOR_GROUP(name)	FOR("kind: Group, group: {name: " name "}")
#define FOR_ACCOUNT(name) \
	FOR("kind: ServiceAccount, " \
	    "serviceAccount: {namespace: ns, name: " name "}")
#define RESOURCE(verbs, groups, resources, scope) \
	"{" ANYBODY ", resourceRules: [{verbs: [" verbs "], apiGroups: [" \
	groups "], resources: [" resources "], " scope "}]}"
#define URLS(urls) \
	"{" ANYBODY ", nonResourceRules: [{verbs: [get], nonResourceURLs: [" \
	urls "]}]}"

#define USER(name)	{ .user = (name), .is_resource = true, .verb = "get" }
#define GROUPS(...) \
	{ .user = "u", .is_resource = true, \
	  .groups = (const char *const[]){ __VA_ARGS__ }, \
	  .nr_groups = sizeof((const char *const[]){ __VA_ARGS__ }) / \
		       sizeof(char *) }
#define TENANT(name)	{ .user = "u", .is_resource = true, .tenant = (name) }
#define GET(path_)	{ .verb = "get", .path = (path_) }
#define PODS(...) \
	{ .is_resource = true, .verb = "list", .resource = "pods", __VA_ARGS__ }

static const struct {
	const char *rule;
	struct kapf_digest digest;
	bool matches;
} tries[] = {
	{ FOR_USER("u"), USER("u"), true },
	{ FOR_USER("u"), USER("U"), false },
	{ FOR_USER("u"), USER(NULL), false },
	{ FOR_USER("'*'"), USER(NULL), true },
	{ FOR_GROUP("g"), GROUPS("f", "g"), true },
	{ FOR_GROUP("g"), GROUPS("f", "gg"), false },
	{ FOR_GROUP("g"), USER("g"), false },
	{ FOR_GROUP("'*'"), USER("u"), true },
	{ FOR_GROUP("'kapf:tenant:t'"), TENANT("t"), true },
	{ FOR_GROUP("'kapf:tenant:t'"), TENANT("tt"), false },
	{ FOR_GROUP("'kapf:tenant:'"), TENANT(""), false },
	{ FOR_GROUP("'kapf:tenant:t'"), USER("u"), false },
	{ FOR_GROUP("'kapf:tenant:t'"), GROUPS("kapf:tenant:t"), false },
	{ FOR_USER("'kapf:tenant:t'"), USER("kapf:tenant:t"), true },
	{ FOR_ACCOUNT("s"), USER("system:serviceaccount:ns:s"), true },
	{ FOR_ACCOUNT("s"), USER("system:serviceaccount:ns:st"), false },
	{ FOR_ACCOUNT("s"), USER("system:serviceaccount:nst:s"), false },
	{ FOR_ACCOUNT("s"), USER("serviceaccount:ns:s"), false },
	{ FOR_ACCOUNT("'*'"), USER("system:serviceaccount:ns:s"), true },
	{ FOR_ACCOUNT("'*'"), USER("system:serviceaccount:nst:s"), false },
	{ FOR_ACCOUNT("'*'"), USER("system:serviceaccount:ns"), false },
	{ FOR_USER("u"), GET("/"), false },

	{ RESOURCE("list, get", "''", "pods", "namespaces: [a]"),
	  PODS(.ns = "a"), true },
	{ RESOURCE("get", "''", "pods", "namespaces: [a]"),
	  PODS(.ns = "a"), false },
	{ RESOURCE("'*'", "apps, ''", "pods", "namespaces: [a]"),
	  PODS(.ns = "a", .api_group = ""), true },
	{ RESOURCE("'*'", "apps", "pods", "namespaces: [a]"),
	  PODS(.ns = "a"), false },
	{ RESOURCE("'*'", "'*'", "pods", "namespaces: [a]"),
	  PODS(.ns = "a", .api_group = "g"), true },
	{ RESOURCE("'*'", "'*'", "pod", "namespaces: [a]"),
	  PODS(.ns = "a"), false },
	{ RESOURCE("'*'", "'*'", "pods/log", "namespaces: [a]"),
	  PODS(.ns = "a"), false },
	{ RESOURCE("'*'", "'*'", "pods", "namespaces: [a]"),
	  PODS(.ns = "a", .subresource = "log"), false },
	{ RESOURCE("'*'", "'*'", "pods/log", "namespaces: [a]"),
	  PODS(.ns = "a", .subresource = "log"), true },
	{ RESOURCE("'*'", "'*'", "pods/*", "namespaces: [a]"),
	  PODS(.ns = "a", .subresource = "log"), false },
	{ RESOURCE("'*'", "'*'", "'*'", "namespaces: [a]"),
	  PODS(.ns = "a", .subresource = "log"), true },
	{ RESOURCE("'*'", "'*'", "'*'", "namespaces: [a, b]"),
	  PODS(.ns = "b"), true },
	{ RESOURCE("'*'", "'*'", "'*'", "namespaces: [a]"),
	  PODS(.ns = "b"), false },
	{ RESOURCE("'*'", "'*'", "'*'", "namespaces: ['*']"),
	  PODS(.ns = "b"), true },
	{ RESOURCE("'*'", "'*'", "'*'", "namespaces: ['*']"),
	  PODS(.ns = ""), false },
	{ RESOURCE("'*'", "'*'", "'*'", "clusterScope: true"),
	  PODS(.ns = NULL), true },
	{ RESOURCE("'*'", "'*'", "'*'", "clusterScope: true"),
	  PODS(.ns = "a"), false },

	{ URLS("/healthz"), GET("/healthz"), true },
	{ URLS("/healthz"), GET("/healthz/etcd"), true },
	{ URLS("/healthz"), GET("/healthzz"), false },
	{ URLS("/healthz"), GET("/health"), false },
	{ URLS("/healthz"), GET(NULL), false },
	{ URLS("/a/*"), GET("/a/b/c"), true },
	{ URLS("/a/*"), GET("/a/"), true },
	{ URLS("/a/*"), GET("/a"), false },
	{ URLS("/a/*"), GET("/ab"), false },
	{ URLS("/a/*"), GET("/a/*"), true },
	{ URLS("/a/*"), GET("/a/*b"), true },
	{ URLS("/a/"), GET("/a/b"), true },
	{ URLS("/a/"), GET("/a"), false },
	{ URLS("/"), GET("/a"), true },
	{ URLS("'*'"), GET(""), true },
	{ URLS("/x, /y"), GET("/y"), true },
	{ URLS("'*'"), { .verb = "post", .path = "/" }, false },
	{ URLS("'*'"), USER("u"), false },
};

static void try_rule(const char *rule, const struct kapf_digest *digest,
		     bool matches)
{
	struct kapf_configuration *config = kapf_config_new();
	const char *wanted = matches ? "x" : "catch-all";
	struct kapf_error err = {};
	const char *found;
	char text[1024];
	int ret;

	snprintf(text, sizeof(text),
		 SCHEMA("name: x", TO("exempt") ", rules: [%s]"), rule);
	ret = merge(config, text, &err);
	kapf_config_nominal(config);
	found = kapf_classify(config, digest)->name;
	ok(!ret && !strcmp(found, wanted), "classify: %s %s %s", wanted, rule,
	   err.text);
	kapf_config_free(config);
}

static void test_rules(void)
{
	for (size_t i = 0; i < SIZE(tries); i++)
		try_rule(tries[i].rule, &tries[i].digest, tries[i].matches);
}

#define OF(kind, member, name) \
	"{kind: " kind ", " member ": {name: '" name "'}}"
#define OF_USER(name)	OF("User", "user", name)
#define OF_GROUP(name)	OF("Group", "group", name)
#define ON_RESOURCE(subject, verb, group, resource, scope) \
	"{subjects: [" subject "], resourceRules: [{verbs: ['" verb "'], " \
	"apiGroups: ['" group "'], resources: ['" resource "'], " scope "}]}"
#define ON_PATH(subject, verb, url) \
	"{subjects: [" subject "], nonResourceRules: [{verbs: ['" verb "'], " \
	"nonResourceURLs: ['" url "']}]}"
#define IN(namespace)	"namespaces: ['" namespace "']"
#define CLUSTER		"clusterScope: true"

static const char *const good_groups[] = { "g1", "g2" };

#define GOOD_USER \
	.user = "u", .groups = good_groups, .nr_groups = 2, .verb = "get"
#define GOOD_RESOURCE \
	GOOD_USER, .is_resource = true, .api_group = "group", \
	.api_version = "v1", .resource = "things", .name = "eman"

static const struct kapf_digest namespaced = { GOOD_RESOURCE, .ns = "ns" };
static const struct kapf_digest cluster_wide = { GOOD_RESOURCE, .ns = "" };
static const struct kapf_digest of_path = { GOOD_USER, .path = "/openapi/v2" };

/*
 * What Kubernetes' own match_test.go says of whole rules: each part of one that
 * matches made to match all, then to match something else.
 */
struct literal {
	const char *rule;
	bool matches;
};

static const struct literal namespaced_literals[] = {
	{ ON_RESOURCE(OF_USER("u"), "get", "group", "things", IN("ns")), true },
	{ ON_RESOURCE(OF_GROUP("g1"),
		      "get", "group", "things", IN("ns")), true },
	{ ON_RESOURCE(OF_GROUP("g2"),
		      "get", "group", "things", IN("ns")), true },
	{ ON_RESOURCE(OF_USER("*"), "get", "group", "things", IN("ns")), true },
	{ ON_RESOURCE(OF_GROUP("*"),
		      "get", "group", "things", IN("ns")), true },
	{ ON_RESOURCE(OF_USER("u"), "*", "group", "things", IN("ns")), true },
	{ ON_RESOURCE(OF_USER("u"), "get", "*", "things", IN("ns")), true },
	{ ON_RESOURCE(OF_USER("u"), "get", "group", "*", IN("ns")), true },
	{ ON_RESOURCE(OF_USER("u"), "get", "group", "things", IN("*")), true },
	{ ON_RESOURCE(OF_USER("bad"),
		      "get", "group", "things", IN("ns")), false },
	{ ON_RESOURCE(OF_GROUP("bad"),
		      "get", "group", "things", IN("ns")), false },
	{ ON_RESOURCE(OF_USER("u"),
		      "list", "group", "things", IN("ns")), false },
	{ ON_RESOURCE(OF_USER("u"), "get", "bad", "things", IN("ns")), false },
	{ ON_RESOURCE(OF_USER("u"), "get", "group", "bad", IN("ns")), false },
	{ ON_RESOURCE(OF_USER("u"),
		      "get", "group", "things", IN("bad")), false },
};

static const struct literal cluster_wide_literals[] = {
	{ ON_RESOURCE(OF_USER("u"), "get", "group", "things", CLUSTER), true },
	{ ON_RESOURCE(OF_USER("u"), "*", "group", "things", CLUSTER), true },
	{ ON_RESOURCE(OF_USER("u"), "get", "*", "things", CLUSTER), true },
	{ ON_RESOURCE(OF_USER("u"), "get", "group", "*", CLUSTER), true },
	{ ON_RESOURCE(OF_USER("u"),
		      "list", "group", "things", CLUSTER), false },
	{ ON_RESOURCE(OF_USER("u"), "get", "bad", "things", CLUSTER), false },
	{ ON_RESOURCE(OF_USER("u"), "get", "group", "bad", CLUSTER), false },
	{ ON_RESOURCE(OF_USER("u"),
		      "get", "group", "things", IN("ns")), false },
};

static const struct literal path_literals[] = {
	{ ON_PATH(OF_USER("u"), "get", "/openapi/v2"), true },
	{ ON_PATH(OF_USER("u"), "*", "/openapi/v2"), true },
	{ ON_PATH(OF_USER("u"), "get", "*"), true },
	{ ON_PATH(OF_USER("u"), "list", "/openapi/v2"), false },
	{ ON_PATH(OF_USER("u"), "get", "/closedapi/v2"), false },
};

static void try_literals(const struct literal *literals, size_t nr,
			 const struct kapf_digest *digest)
{
	for (size_t i = 0; i < nr; i++)
		try_rule(literals[i].rule, digest, literals[i].matches);
}

static void test_literals(void)
{
	try_literals(namespaced_literals, SIZE(namespaced_literals),
		     &namespaced);
	try_literals(cluster_wide_literals, SIZE(cluster_wide_literals),
		     &cluster_wide);
	try_literals(path_literals, SIZE(path_literals), &of_path);
}

/* What the mandatory schemas match, likewise */
static const struct {
	const char *schema;
	const char *group;
	bool is_resource;
} mandatory[] = {
	{ "exempt", "system:masters", true },
	{ "exempt", "system:masters", false },
	{ "catch-all", "nogroup", true },
	{ "catch-all", "nogroup", false },
};

static void test_mandatory(void)
{
	struct kapf_configuration *config = kapf_config_new();

	kapf_config_nominal(config);
	for (size_t i = 0; i < SIZE(mandatory); i++) {
		const char *const groups[] = {
			"system:authenticated", mandatory[i].group,
		};
		const struct kapf_digest digest = {
			.user = "nobody", .groups = groups, .nr_groups = 2,
			.is_resource = mandatory[i].is_resource,
			.verb = "frobulate", .path = "/foo/bar",
			.api_group = "nogroup", .resource = "nons",
			.ns = "nospace",
		};
		const char *found = kapf_classify(config, &digest)->name;

		ok(!strcmp(found, mandatory[i].schema),
		   "classify: mandatory schemas %zu: %s", i, found);
	}
	kapf_config_free(config);
}

#define AT(name, precedence, level) \
	SCHEMA("name: " name, "matchingPrecedence: " precedence ", " TO(level) \
	       ", rules: [" URLS("'*'") "]")

static void test_order(void)
{
	static const struct {
		const char *what;
		const char *text;
		const char *first;
	} orders[] = {
		{ "lower precedence first",
		  AT("a", "20", "exempt") AT("b", "19", "exempt"), "b" },
		{ "10 after 9",
		  AT("a", "10", "exempt") AT("b", "9", "exempt"), "b" },
		{ "ties by name",
		  AT("b", "20", "exempt") AT("a", "20", "exempt")
		  AT("c", "20", "exempt"), "a" },
		{ "ties by octets",
		  AT("b", "20", "exempt") AT("a.b", "20", "exempt")
		  AT("a-b", "20", "exempt"), "a-b" },
		{ "dangling ones match nothing",
		  AT("a", "9", "none") AT("b", "10", "exempt"), "b" },
		{ "nothing matches", AT("a", "9", "none"), "catch-all" },
	};
	const struct kapf_digest digest = GET("/");

	for (size_t i = 0; i < SIZE(orders); i++) {
		struct kapf_configuration *config = kapf_config_new();
		int ret = merge(config, orders[i].text, NULL);
		const char *found;

		kapf_config_nominal(config);
		found = kapf_classify(config, &digest)->name;
		ok(!ret && !strcmp(found, orders[i].first),
		   "classify: %s: %s", orders[i].what, found);
		kapf_config_free(config);
	}
}

static const char *const strangers[] = { "system:unauthenticated" };
static const char *const nodes[] = { "system:nodes" };

static const char *const part_names[] = {
	[KAPF_PART_NONE] = "matches",
	[KAPF_PART_LEVEL] = "level",
	[KAPF_PART_RULES] = "rules",
	[KAPF_PART_SUBJECTS] = "subjects",
	[KAPF_PART_RESOURCE_RULES] = "resourceRules",
	[KAPF_PART_PATH_RULES] = "pathRules",
	[KAPF_PART_VERBS] = "verbs",
	[KAPF_PART_API_GROUPS] = "apiGroups",
	[KAPF_PART_RESOURCES] = "resources",
	[KAPF_PART_CLUSTER_SCOPE] = "clusterScope",
	[KAPF_PART_NAMESPACES] = "namespaces",
	[KAPF_PART_URLS] = "urls",
};

#define MAX_STEPS	12

/**
 * struct steps - of an explanation
 * @text: schema, rule, subject and entry, and what fails there
 * @nr: how many
 */
struct steps {
	char text[MAX_STEPS][64];
	size_t nr;
};

static void add_step(const struct kapf_flow_schema *schema,
		     const struct kapf_match *match, void *user)
{
	struct steps *steps = user;

	if (steps->nr < MAX_STEPS)
		snprintf(steps->text[steps->nr++], sizeof(steps->text[0]),
			 "%.20s %zu %zu %zu %s", schema->name, match->rule,
			 match->subject, match->entry, part_names[match->part]);
}

static bool are_steps(const struct steps *steps, const char *const *wanted)
{
	for (size_t i = 0; i < steps->nr; i++)
		if (!wanted[i] || strcmp(steps->text[i], wanted[i]))
			return false;
	return !wanted[steps->nr];
}

#define ENTRY(verb, group, resource, scope) \
	"{verbs: ['" verb "'], apiGroups: ['" group "'], resources: ['" \
	resource "'], " scope "}"

/* The last: four rules, of which the third has four ways to match. */
static const char many_ways[] =
	SCHEMA("name: a", "matchingPrecedence: 3, " TO("none") ", rules: ["
	       URLS("'*'") "]")
	SCHEMA("name: b", "matchingPrecedence: 4, " TO("exempt"))
	SCHEMA("name: c", "matchingPrecedence: 5, " TO("exempt") ", rules: ["
	       FOR_USER("x") ", " URLS("/a, /b") ", {subjects: ["
	       OF_USER("x") ", " OF_USER("u") "], resourceRules: ["
	       ENTRY("get", "*", "*", CLUSTER) ", "
	       ENTRY("list", "apps", "*", CLUSTER) ", "
	       ENTRY("list", "", "nodes", CLUSTER) ", "
	       ENTRY("list", "", "pods", IN("n")) "]}, "
	       ON_PATH(OF_USER("u"), "delete", "*") "]");

static const char *const of_g[] = { "g", "system:authenticated" };

#define U_LISTS(namespace) \
	{ .user = "u", .groups = of_g, .nr_groups = 2, .is_resource = true, \
	  .verb = "list", .resource = "pods", .ns = (namespace) }

static const struct {
	const char *what;
	struct kapf_digest digest;
	const char *steps[MAX_STEPS + 1];
} explanations[] = {
	{ "the last way that is left", U_LISTS("n"),
	  { "exempt 0 0 0 subjects", "a 0 0 0 level", "b 0 0 0 rules",
	    "c 0 0 0 subjects", "c 1 0 0 resourceRules", "c 2 1 0 verbs",
	    "c 2 1 1 apiGroups", "c 2 1 2 resources", "c 2 1 3 matches" } },
	{ "another namespace", U_LISTS("m"),
	  { "exempt 0 0 0 subjects", "a 0 0 0 level", "b 0 0 0 rules",
	    "c 0 0 0 subjects", "c 1 0 0 resourceRules", "c 2 1 0 verbs",
	    "c 2 1 1 apiGroups", "c 2 1 2 resources", "c 2 1 3 namespaces",
	    "c 3 0 0 resourceRules", "catch-all 0 1 0 matches" } },
	{ "no namespace", U_LISTS(""),
	  { "exempt 0 0 0 subjects", "a 0 0 0 level", "b 0 0 0 rules",
	    "c 0 0 0 subjects", "c 1 0 0 resourceRules", "c 2 1 0 verbs",
	    "c 2 1 1 apiGroups", "c 2 1 2 resources", "c 2 1 3 clusterScope",
	    "c 3 0 0 resourceRules", "catch-all 0 1 0 matches" } },
	{ "a path, and nothing matches",
	  { .user = "u", .groups = of_g, .nr_groups = 1, .verb = "get",
	    .path = "/c" },
	  { "exempt 0 0 0 subjects", "a 0 0 0 level", "b 0 0 0 rules",
	    "c 0 0 0 subjects", "c 1 0 0 urls", "c 2 1 0 pathRules",
	    "c 3 0 0 verbs", "catch-all 0 0 0 subjects" } },
};

static void test_explanations(void)
{
	struct kapf_configuration *config = kapf_config_new();
	struct kapf_error err = {};
	int ret = merge(config, many_ways, &err);

	kapf_config_nominal(config);
	for (size_t i = 0; i < SIZE(explanations); i++) {
		const struct kapf_digest *digest = &explanations[i].digest;
		const struct kapf_flow_schema *schema;
		struct steps steps = { .nr = 0 };

		schema = kapf_explain(config, digest, add_step, &steps);
		ok(!ret && schema == kapf_classify(config, digest) &&
		   are_steps(&steps, explanations[i].steps), "explain: %s: %s",
		   explanations[i].what, err.text);
		for (size_t j = 0; j < steps.nr; j++)
			note("%s", steps.text[j]);
	}
	kapf_config_free(config);
}

/* Requests of the components that the default schemas are made for */
static const struct {
	const char *schema;
	const char *level;
	struct kapf_digest digest;
} requests[] = {
	{ "exempt", "exempt",
	  GROUPS("system:authenticated", "system:masters") },
	{ "probes", "exempt",
	  { .verb = "get", .path = "/livez/ping", .groups = strangers,
	    .nr_groups = 1 } },
	{ "system-leader-election", "leader-election",
	  { .user = "system:kube-scheduler", .is_resource = true,
	    .verb = "update", .api_group = "coordination.k8s.io",
	    .resource = "leases", .ns = "kube-system" } },
	{ "kube-scheduler", "workload-high", USER("system:kube-scheduler") },
	{ "system-node-high", "node-high",
	  { .groups = nodes, .nr_groups = 1, .is_resource = true,
	    .verb = "patch", .resource = "nodes", .subresource = "status" } },
	{ "system-nodes", "system",
	  { .groups = nodes, .nr_groups = 1, .is_resource = true,
	    .verb = "get", .resource = "secrets", .ns = "a" } },
	{ "kube-system-service-accounts", "workload-high",
	  USER("system:serviceaccount:kube-system:coredns") },
	{ "service-accounts", "workload-low",
	  GROUPS("system:serviceaccounts", "system:authenticated") },
	{ "global-default", "global-default", GROUPS("system:authenticated") },
	{ "catch-all", "catch-all", USER("of no group") },
};

static void test_defaults(void)
{
	struct kapf_configuration *config = kapf_config_new();

	kapf_config_add_defaults(config);
	kapf_config_nominal(config);
	for (size_t i = 0; i < SIZE(requests); i++) {
		const struct kapf_flow_schema *schema =
			kapf_classify(config, &requests[i].digest);

		ok(!strcmp(schema->name, requests[i].schema) &&
		   !strcmp(schema->level, requests[i].level),
		   "classify: default schema %s", schema->name);
	}
	kapf_config_free(config);
}

static void test_flows(void)
{
	/* by Python's hashlib */
	static const struct {
		const char *schema;
		const char *distinguisher;
		uint64_t hash;
	} hashes[] = {
		{ "catch-all", "system:anonymous", 0x919c670075b79ead },
		{ "service-accounts", "system:serviceaccount:ci:runner-7",
		  0xc24995b3479204dc },
		{ "exempt", "", 0xffa9e4a2537c0600 },
		{ "ocr-pipeline", "\xc3\xbcn\xc3\xaf", 0x5e4348e62a4f381b },
	};
	static const struct kapf_digest digest = {
		.user = "u", .ns = "n",
	};
	static const struct kapf_digest nobody = {};
	struct kapf_flow_schema schema = { .distinguisher = KAPF_BY_NONE };

	for (size_t i = 0; i < SIZE(hashes); i++)
		ok(kapf_flow_hash(hashes[i].schema, NULL,
				  hashes[i].distinguisher) ==
		   hashes[i].hash, "flow: hash of %s, %s", hashes[i].schema,
		   hashes[i].distinguisher);
	ok(kapf_flow_hash("catch-all", "", "system:anonymous") ==
	   hashes[0].hash, "flow: of no tenant");
	ok(kapf_flow_hash("catch-all", "blue", "system:anonymous") ==
	   0xecc1b592b704d1e9, "flow: of a tenant");
	ok(!*kapf_flow_distinguisher(&schema, &digest), "flow: one for all");
	schema.distinguisher = KAPF_BY_USER;
	ok(!strcmp(kapf_flow_distinguisher(&schema, &digest), "u") &&
	   !*kapf_flow_distinguisher(&schema, &nobody), "flow: by user");
	schema.distinguisher = KAPF_BY_NAMESPACE;
	ok(!strcmp(kapf_flow_distinguisher(&schema, &digest), "n") &&
	   !*kapf_flow_distinguisher(&schema, &nobody), "flow: by namespace");
}

void test_classification(void)
{
	test_rules();
	test_literals();
	test_mandatory();
	test_order();
	test_explanations();
	test_defaults();
	test_flows();
}
