// SPDX-License-Identifier: GPL-2.0
/*
 * The rules by which Kubernetes validates both kinds of objects, all of them: a
 * row each, with a manifest just inside and one just outside, and what the
 * refusal names.  The directory cases has more of what lies around them.
 *
 * Where a number has to be at least 1, 0 is as good as none and means the default.
 */
#include <stdio.h>

#include "test.h"

#define NAME_50		"aaaaaaaaa.aaaaaaaaa.aaaaaaaaa.aaaaaaaaa.aaaaaaaaa."
#define LONG_NAME(end) \
	"name: " NAME_50 NAME_50 NAME_50 NAME_50 NAME_50 end

/* Where a manifest of one line for each has them */
#define METADATA	"4"
#define SPEC		"5"

#define X		"name: x"
#define SCHEMA_X	"FlowSchema \"x\""
#define LEVEL_X		"PriorityLevelConfiguration \"x\""
#define EXEMPT		"name: exempt"
#define LEVEL_EXEMPT	"PriorityLevelConfiguration \"exempt\""
#define CATCH_ALL	"name: catch-all"
#define LEVEL_CATCH_ALL	"PriorityLevelConfiguration \"catch-all\""

#define LEVEL_SPEC(metadata, spec) \
	OBJECT("PriorityLevelConfiguration", metadata, spec)
#define LIMITED(members)	LEVEL(X, members)
#define RESPONSE(members) \
	LEVEL_SPEC(X, "type: Limited, limited: {limitResponse: {" members "}}")
#define QUEUING(members)	RESPONSE("type: Queue, queuing: {" members "}")
#define AT_RESPONSE		"spec.limited.limitResponse"
#define AT_QUEUING		AT_RESPONSE ".queuing"

#define SPEC_OF_X(members)	SCHEMA(X, TO("z") members)
#define RULE(members)		SPEC_OF_X(", rules: [{" members "}]")
#define GROUP			"{kind: Group, group: {name: g}}"
#define ROOT			"{verbs: [get], nonResourceURLs: [/]}"
#define SUBJECT(members) \
	RULE("subjects: [{" members "}], nonResourceRules: [" ROOT "]")
#define ACCOUNT(members) \
	SUBJECT("kind: ServiceAccount, serviceAccount: {" members "}")
#define RESOURCE(verbs, groups, resources, scope) \
	RULE("subjects: [" GROUP "], resourceRules: [{verbs: [" verbs "], " \
	     "apiGroups: [" groups "], resources: [" resources "], " scope "}]")
#define PATHS(verbs, urls) \
	RULE("subjects: [" GROUP "], nonResourceRules: [{verbs: [" verbs "], " \
	     "nonResourceURLs: [" urls "]}]")
#define VERBS(verbs)		PATHS(verbs, "/")
#define URLS(urls)		PATHS("get", urls)
#define NAMESPACES(scope)	RESOURCE("get", "''", "pods", scope)
#define AT_SUBJECT		"spec.rules[0].subjects[0]"
#define AT_RESOURCE		"spec.rules[0].resourceRules[0]"
#define AT_PATHS		"spec.rules[0].nonResourceRules[0]"

#define ALL_RULES(group) \
	"rules: [{subjects: [{kind: Group, group: {name: '" group "'}}], " \
	"resourceRules: [{verbs: ['*'], apiGroups: ['*'], resources: ['*'], " \
	"clusterScope: true, namespaces: ['*']}], " \
	"nonResourceRules: [{verbs: ['*'], nonResourceURLs: ['*']}]}]"
#define SCHEMA_EXEMPT(precedence, group) \
	SCHEMA(EXEMPT, "matchingPrecedence: " precedence ", " TO("exempt") \
	       ", " ALL_RULES(group))

/*
 * @line, @object, @field, @value: what the refusal of @outside begins with, of
 * which @value may say what is wrong where there is none
 */
static const struct row {
	const char *rule;
	const char *inside;
	const char *outside;
	const char *line;
	const char *object;
	const char *field;
	const char *value;
} rows[] = {
	{ "a schema's name is a DNS-1123 subdomain",
	  SCHEMA("name: a-0.b", TO("z")), SCHEMA("name: a_0.b", TO("z")),
	  METADATA, "FlowSchema", "metadata.name", "\"a_0.b\"" },
	{ "a level's name is a DNS-1123 subdomain",
	  LEVEL("name: a-0.b", ""), LEVEL("name: a.-b", ""),
	  METADATA, "PriorityLevelConfiguration", "metadata.name", "\"a.-b\"" },
	{ "names have at most 253 octets",
	  SCHEMA(LONG_NAME("aaa"), TO("z")),
	  SCHEMA(LONG_NAME("aaaa"), TO("z")),
	  METADATA, "FlowSchema", "metadata.name", "\"aaaaaaaaa." },
	{ "a schema names a level",
	  SCHEMA(X, TO("z")), SCHEMA(X, "matchingPrecedence: 2"),
	  SPEC, SCHEMA_X, "spec.priorityLevelConfiguration.name",
	  "is missing" },
	{ "the name of the level is a DNS-1123 subdomain",
	  SCHEMA(X, TO("z.z")), SCHEMA(X, TO("z..z")),
	  SPEC, SCHEMA_X, "spec.priorityLevelConfiguration.name", "\"z..z\"" },

	{ "matchingPrecedence >= 1",
	  SCHEMA_EXEMPT("1", "system:masters"),
	  SPEC_OF_X(", matchingPrecedence: -1"),
	  SPEC, SCHEMA_X, "spec.matchingPrecedence", "-1" },
	{ "matchingPrecedence <= 10000",
	  SPEC_OF_X(", matchingPrecedence: 10000"),
	  SPEC_OF_X(", matchingPrecedence: 10001"),
	  SPEC, SCHEMA_X, "spec.matchingPrecedence", "10001" },
	{ "matchingPrecedence 1 is only for exempt",
	  SPEC_OF_X(", matchingPrecedence: 2"),
	  SPEC_OF_X(", matchingPrecedence: 1"),
	  SPEC, SCHEMA_X, "spec.matchingPrecedence", "1 is only for" },
	{ "distinguisherMethod ByUser",
	  SPEC_OF_X(", distinguisherMethod: {type: ByUser}"),
	  SPEC_OF_X(", distinguisherMethod: {type: ByGroup}"),
	  SPEC, SCHEMA_X, "spec.distinguisherMethod.type", "\"ByGroup\"" },
	{ "distinguisherMethod ByNamespace",
	  SPEC_OF_X(", distinguisherMethod: {type: ByNamespace}"),
	  SPEC_OF_X(", distinguisherMethod: {type: bynamespace}"),
	  SPEC, SCHEMA_X, "spec.distinguisherMethod.type", "\"bynamespace\"" },
	{ "a distinguisherMethod has a type",
	  SPEC_OF_X(""), SPEC_OF_X(", distinguisherMethod: {}"),
	  SPEC, SCHEMA_X, "spec.distinguisherMethod.type", "is missing" },

	{ "the type of a level is known",
	  LIMITED(""), LEVEL_SPEC(X, "type: limited"),
	  SPEC, LEVEL_X, "spec.type", "\"limited\"" },
	{ "Limited needs limited",
	  LIMITED(""), LEVEL_SPEC(X, "type: Limited"),
	  SPEC, LEVEL_X, "spec.limited", "is missing" },
	{ "Limited forbids exempt",
	  LIMITED(""),
	  LEVEL_SPEC(X, "type: Limited, exempt: {}, limited: {" REJECT "}"),
	  SPEC, LEVEL_X, "spec.exempt", "must not be there" },
	{ "Exempt forbids limited, and does not need exempt",
	  LEVEL_SPEC(EXEMPT, "type: Exempt"),
	  LEVEL_SPEC(EXEMPT, "type: Exempt, limited: {" REJECT "}"),
	  SPEC, LEVEL_EXEMPT, "spec.limited", "must not be there" },
	{ "type Exempt is only for exempt",
	  LEVEL_SPEC(EXEMPT, "type: Exempt, exempt: {}"),
	  LEVEL_SPEC(X, "type: Exempt, exempt: {}"),
	  SPEC, LEVEL_X, "spec.type", "\"Exempt\" is only for" },
	{ "exempt is of type Exempt",
	  LEVEL_SPEC(EXEMPT, "type: Exempt"), LEVEL(EXEMPT, ""),
	  SPEC, LEVEL_EXEMPT, "spec.type", "\"Limited\"" },

	{ "shares >= 0",
	  LIMITED("nominalConcurrencyShares: 0,"),
	  LIMITED("nominalConcurrencyShares: -1,"),
	  SPEC, LEVEL_X, "spec.limited.nominalConcurrencyShares", "-1" },
	{ "shares of exempt >= 0",
	  LEVEL_SPEC(EXEMPT,
		     "type: Exempt, exempt: {nominalConcurrencyShares: 0}"),
	  LEVEL_SPEC(EXEMPT,
		     "type: Exempt, exempt: {nominalConcurrencyShares: -1}"),
	  SPEC, LEVEL_EXEMPT, "spec.exempt.nominalConcurrencyShares", "-1" },
	{ "lendablePercent >= 0",
	  LIMITED("lendablePercent: 0,"), LIMITED("lendablePercent: -1,"),
	  SPEC, LEVEL_X, "spec.limited.lendablePercent", "-1" },
	{ "lendablePercent <= 100",
	  LIMITED("lendablePercent: 100,"), LIMITED("lendablePercent: 101,"),
	  SPEC, LEVEL_X, "spec.limited.lendablePercent", "101" },
	{ "lendablePercent of exempt >= 0",
	  LEVEL_SPEC(EXEMPT, "type: Exempt, exempt: {lendablePercent: 0}"),
	  LEVEL_SPEC(EXEMPT, "type: Exempt, exempt: {lendablePercent: -1}"),
	  SPEC, LEVEL_EXEMPT, "spec.exempt.lendablePercent", "-1" },
	{ "lendablePercent of exempt <= 100",
	  LEVEL_SPEC(EXEMPT, "type: Exempt, exempt: {lendablePercent: 100}"),
	  LEVEL_SPEC(EXEMPT, "type: Exempt, exempt: {lendablePercent: 101}"),
	  SPEC, LEVEL_EXEMPT, "spec.exempt.lendablePercent", "101" },
	{ "borrowingLimitPercent >= 0",
	  LIMITED("borrowingLimitPercent: 0,"),
	  LIMITED("borrowingLimitPercent: -1,"),
	  SPEC, LEVEL_X, "spec.limited.borrowingLimitPercent", "-1" },
	{ "limitResponse Reject or Queue",
	  RESPONSE("type: Reject"), RESPONSE("type: Refuse"),
	  SPEC, LEVEL_X, AT_RESPONSE ".type", "\"Refuse\"" },
	{ "Queue needs queuing",
	  QUEUING(""), RESPONSE("type: Queue"),
	  SPEC, LEVEL_X, AT_QUEUING, "is missing" },
	{ "Reject forbids queuing",
	  RESPONSE("type: Reject"), RESPONSE("type: Reject, queuing: {}"),
	  SPEC, LEVEL_X, AT_QUEUING, "must not be there" },
	{ "queues >= 1",
	  QUEUING("queues: 1, handSize: 1"), QUEUING("queues: -1, handSize: 1"),
	  SPEC, LEVEL_X, AT_QUEUING ".queues", "-1" },
	{ "queues <= 10,000,000",
	  QUEUING("queues: 10000000, handSize: 2"),
	  QUEUING("queues: 10000001, handSize: 2"),
	  SPEC, LEVEL_X, AT_QUEUING ".queues", "10000001" },
	{ "handSize >= 1",
	  QUEUING("handSize: 1"), QUEUING("handSize: -1"),
	  SPEC, LEVEL_X, AT_QUEUING ".handSize", "-1" },
	{ "handSize <= queues",
	  QUEUING("queues: 5, handSize: 5"), QUEUING("queues: 5, handSize: 6"),
	  SPEC, LEVEL_X, AT_QUEUING ".handSize", "6 exceeds queues" },
	{ "a hand takes at most 60 bits: handSize",
	  QUEUING("queues: 16, handSize: 15"),
	  QUEUING("queues: 16, handSize: 16"),
	  SPEC, LEVEL_X, AT_QUEUING ".handSize", "16 is too many" },
	{ "a hand takes at most 60 bits: queues",
	  QUEUING("queues: 4096, handSize: 5"),
	  QUEUING("queues: 4097, handSize: 5"),
	  SPEC, LEVEL_X, AT_QUEUING ".handSize", "5 is too many" },
	{ "queueLengthLimit >= 1",
	  QUEUING("queueLengthLimit: 1"), QUEUING("queueLengthLimit: -1"),
	  SPEC, LEVEL_X, AT_QUEUING ".queueLengthLimit", "-1" },

	{ "a rule has a subject",
	  RULE("subjects: [" GROUP "], nonResourceRules: [" ROOT "]"),
	  RULE("subjects: [], nonResourceRules: [" ROOT "]"),
	  SPEC, SCHEMA_X, "spec.rules[0].subjects",
	  "must have at least one" },
	{ "a rule has resourceRules or nonResourceRules",
	  RULE("subjects: [" GROUP "], nonResourceRules: [" ROOT "]"),
	  RULE("subjects: [" GROUP "], nonResourceRules: []"),
	  SPEC, SCHEMA_X, "spec.rules[0]", "must have resourceRules" },
	{ "the kind of a subject is known",
	  SUBJECT("kind: User, user: {name: u}"),
	  SUBJECT("kind: user, user: {name: u}"),
	  SPEC, SCHEMA_X, AT_SUBJECT ".kind", "\"user\"" },
	{ "User needs user",
	  SUBJECT("kind: User, user: {name: u}"), SUBJECT("kind: User"),
	  SPEC, SCHEMA_X, AT_SUBJECT ".user", "is missing" },
	{ "User forbids what is not user",
	  SUBJECT("kind: User, user: {name: u}"),
	  SUBJECT("kind: User, user: {name: u}, group: {name: g}"),
	  SPEC, SCHEMA_X, AT_SUBJECT ".group", "must not be there" },
	{ "a user has a name",
	  SUBJECT("kind: User, user: {name: '*'}"),
	  SUBJECT("kind: User, user: {name: ''}"),
	  SPEC, SCHEMA_X, AT_SUBJECT ".user.name", "\"\"" },
	{ "Group needs group",
	  SUBJECT("kind: Group, group: {name: g}"), SUBJECT("kind: Group"),
	  SPEC, SCHEMA_X, AT_SUBJECT ".group", "is missing" },
	{ "Group forbids what is not group",
	  SUBJECT("kind: Group, group: {name: g}"),
	  SUBJECT("kind: Group, group: {name: g}, user: {name: u}"),
	  SPEC, SCHEMA_X, AT_SUBJECT ".user", "must not be there" },
	{ "a group has a name",
	  SUBJECT("kind: Group, group: {name: '*'}"),
	  SUBJECT("kind: Group, group: {name: ''}"),
	  SPEC, SCHEMA_X, AT_SUBJECT ".group.name", "\"\"" },
	{ "ServiceAccount needs serviceAccount",
	  ACCOUNT("namespace: ns, name: s"), SUBJECT("kind: ServiceAccount"),
	  SPEC, SCHEMA_X, AT_SUBJECT ".serviceAccount", "is missing" },
	{ "ServiceAccount forbids what is not serviceAccount",
	  ACCOUNT("namespace: ns, name: s"),
	  ACCOUNT("namespace: ns, name: s}, user: {name: u"),
	  SPEC, SCHEMA_X, AT_SUBJECT ".user", "must not be there" },
	{ "the namespace of a service account is a DNS-1123 label",
	  ACCOUNT("namespace: n-n, name: s"),
	  ACCOUNT("namespace: n.n, name: s"),
	  SPEC, SCHEMA_X, AT_SUBJECT ".serviceAccount.namespace", "\"n.n\"" },
	{ "the name of a service account is a DNS-1123 subdomain",
	  ACCOUNT("namespace: ns, name: s.s"),
	  ACCOUNT("namespace: ns, name: s_s"),
	  SPEC, SCHEMA_X, AT_SUBJECT ".serviceAccount.name", "\"s_s\"" },
	{ "or *, which the namespace cannot be",
	  ACCOUNT("namespace: ns, name: '*'"),
	  ACCOUNT("namespace: '*', name: s"),
	  SPEC, SCHEMA_X, AT_SUBJECT ".serviceAccount.namespace", "\"*\"" },

	{ "verbs of paths are there",
	  VERBS("get"), VERBS(""),
	  SPEC, SCHEMA_X, AT_PATHS ".verbs", "must have at least one" },
	{ "verbs of paths are known",
	  VERBS("get, list, watch, create, update, patch, delete"),
	  VERBS("post"), SPEC, SCHEMA_X, AT_PATHS ".verbs[0]", "\"post\"" },
	{ "the verb * of paths stands alone",
	  VERBS("'*'"), VERBS("'*', get"),
	  SPEC, SCHEMA_X, AT_PATHS ".verbs", "\"*\" must stand alone" },
	{ "verbs of resources are there",
	  RESOURCE("get", "''", "pods", "clusterScope: true"),
	  RESOURCE("", "''", "pods", "clusterScope: true"),
	  SPEC, SCHEMA_X, AT_RESOURCE ".verbs", "must have at least one" },
	{ "verbs of resources are known",
	  RESOURCE("deletecollection, proxy", "''", "pods", "clusterScope: true"),
	  RESOURCE("use", "''", "pods", "clusterScope: true"),
	  SPEC, SCHEMA_X, AT_RESOURCE ".verbs[0]", "\"use\"" },
	{ "the verb * of resources stands alone",
	  RESOURCE("'*'", "''", "pods", "clusterScope: true"),
	  RESOURCE("get, '*'", "''", "pods", "clusterScope: true"),
	  SPEC, SCHEMA_X, AT_RESOURCE ".verbs", "\"*\" must stand alone" },
	{ "apiGroups are there",
	  RESOURCE("get", "''", "pods", "clusterScope: true"),
	  RESOURCE("get", "", "pods", "clusterScope: true"),
	  SPEC, SCHEMA_X, AT_RESOURCE ".apiGroups", "must have at least one" },
	{ "the API group * stands alone",
	  RESOURCE("get", "'*'", "pods", "clusterScope: true"),
	  RESOURCE("get", "'*', apps", "pods", "clusterScope: true"),
	  SPEC, SCHEMA_X, AT_RESOURCE ".apiGroups",
	  "\"*\" must stand alone" },
	{ "resources are there",
	  RESOURCE("get", "''", "pods", "clusterScope: true"),
	  RESOURCE("get", "''", "", "clusterScope: true"),
	  SPEC, SCHEMA_X, AT_RESOURCE ".resources", "must have at least one" },
	{ "the resource * stands alone",
	  RESOURCE("get", "''", "'*'", "clusterScope: true"),
	  RESOURCE("get", "''", "'*', pods", "clusterScope: true"),
	  SPEC, SCHEMA_X, AT_RESOURCE ".resources",
	  "\"*\" must stand alone" },
	{ "namespaces or clusterScope",
	  NAMESPACES("clusterScope: true"), NAMESPACES("clusterScope: false"),
	  SPEC, SCHEMA_X, AT_RESOURCE ".namespaces", "is empty" },
	{ "the namespace * stands alone",
	  NAMESPACES("namespaces: ['*']"), NAMESPACES("namespaces: ['*', ns]"),
	  SPEC, SCHEMA_X, AT_RESOURCE ".namespaces",
	  "\"*\" must stand alone" },
	{ "namespaces are DNS-1123 labels",
	  NAMESPACES("namespaces: [n-n]"), NAMESPACES("namespaces: [n.n]"),
	  SPEC, SCHEMA_X, AT_RESOURCE ".namespaces[0]", "\"n.n\"" },
	{ "nonResourceURLs are there",
	  URLS("/"), URLS(""),
	  SPEC, SCHEMA_X, AT_PATHS ".nonResourceURLs",
	  "must have at least one" },
	{ "the URL * stands alone",
	  URLS("'*'"), URLS("'*', /a"),
	  SPEC, SCHEMA_X, AT_PATHS ".nonResourceURLs",
	  "\"*\" must stand alone" },
	{ "a URL begins with /",
	  URLS("/a"), URLS("a"),
	  SPEC, SCHEMA_X, AT_PATHS ".nonResourceURLs[0]", "\"a\"" },
	{ "a URL has * only at its end",
	  URLS("/a/*"), URLS("/*/a"),
	  SPEC, SCHEMA_X, AT_PATHS ".nonResourceURLs[0]", "\"/*/a\"" },
	{ "a URL has * only after /",
	  URLS("/a/*"), URLS("/a*"),
	  SPEC, SCHEMA_X, AT_PATHS ".nonResourceURLs[0]", "\"/a*\"" },
	{ "a URL has no //",
	  URLS("/a/b"), URLS("/a//b"),
	  SPEC, SCHEMA_X, AT_PATHS ".nonResourceURLs[0]", "\"/a//b\"" },
	{ "a URL has no space",
	  URLS("/a-b"), URLS("/a b"),
	  SPEC, SCHEMA_X, AT_PATHS ".nonResourceURLs[0]", "\"/a b\"" },

	{ "the schema exempt is as it is",
	  SCHEMA_EXEMPT("1", "system:masters"), SCHEMA_EXEMPT("1", "masters"),
	  SPEC, "FlowSchema \"exempt\"", "spec.rules", "are not" },
	{ "the level catch-all is as it is",
	  LEVEL(CATCH_ALL, "nominalConcurrencyShares: 5,"),
	  LEVEL(CATCH_ALL, "nominalConcurrencyShares: 6,"),
	  SPEC, LEVEL_CATCH_ALL, "spec.limited.nominalConcurrencyShares",
	  "6" },
};

static void try_row(const struct row *row)
{
	struct kapf_configuration *config = kapf_config_new();
	struct kapf_error err = {};
	char begin[512];
	int ret = merge(config, row->inside, &err);

	ok(!ret, "validation: %s: inside: %s", row->rule, err.text);
	snprintf(begin, sizeof(begin), "x:%s: %s: %s: %s", row->line,
		 row->object, row->field, row->value);
	ret = merge(config, row->outside, &err);
	if (ret != -EINVAL || strncmp(err.text, begin, strlen(begin)))
		note("%d, \"%s\"\n# does not begin with \"%s\"", ret, err.text,
		     begin);
	ok(ret == -EINVAL && !strncmp(err.text, begin, strlen(begin)),
	   "validation: %s: outside: %s", row->rule, begin);
	kapf_config_free(config);
}

/* The one rule that refuses nothing. */
static void test_dangling(void)
{
	struct kapf_configuration *config = kapf_config_new();
	struct kapf_error err = {};
	const struct kapf_digest request = {
		.user = "u", .verb = "get", .path = "/",
	};
	const struct kapf_flow_schema *schema;
	int ret = merge(config, SUBJECT("kind: User, user: {name: u}"), &err);

	kapf_config_nominal(config);
	schema = kapf_config_schema(config, "x");
	ok(!ret && schema->dangling &&
	   kapf_classify(config, &request) != schema,
	   "validation: without its level a schema dangles, matches nothing %s",
	   err.text);
	ret = merge(config, LEVEL("name: z", ""), &err);
	kapf_config_nominal(config);
	schema = kapf_config_schema(config, "x");
	ok(!ret && !schema->dangling &&
	   kapf_classify(config, &request) == schema,
	   "validation: with it, it does match %s", err.text);
	kapf_config_free(config);
}

void test_validation(void)
{
	for (size_t i = 0; i < SIZE(rows); i++)
		try_row(&rows[i]);
	test_dangling();
}
