// SPDX-License-Identifier: GPL-2.0
/*
 * FlowSchemas and requests of a cluster that many teams share, always the same ones.
 * A team has a namespace, service accounts there, users and a group of them; some
 * run operators for resources of their own.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "native.h"
#include "random.h"

#define TEAMS	120
#define APPS	6	/* of a team, each with a service account */
#define USERS	4	/* of a team */

static uint64_t state = 1;

/**
 * set_random() - the next of a series of numbers that is always the same
 */
uint64_t set_random(void)
{
	return random_next(&state);
}

static unsigned int below(unsigned int limit)
{
	return set_random() % limit;
}

/* A JSON text, in which strings may stand in single quotes. */
static struct json_object *json(const char *format, ...)
{
	struct json_object *object;
	char text[2048];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	object = json_tokener_parse(text);
	if (!object)
		fail("not JSON: %s", text);
	return object;
}

/* What is asked for, and for which verbs there are rules */
static const struct {
	const char *group;
	const char *resource;
} resources[] = {
	{ "", "pods" }, { "", "configmaps" }, { "", "secrets" },
	{ "", "events" }, { "", "services" }, { "", "endpoints" },
	{ "apps", "deployments" }, { "apps", "replicasets" },
	{ "apps", "statefulsets" }, { "batch", "jobs" },
	{ "coordination.k8s.io", "leases" },
	{ "discovery.k8s.io", "endpointslices" },
	{ "networking.k8s.io", "ingresses" },
	{ "cilium.io", "ciliumendpoints" },
}, subresources[] = {
	{ "", "pods/status" }, { "apps", "deployments/scale" },
	{ "apps", "deployments/status" }, { "", "pods/binding" },
};

static const char *const rule_verbs[] = {
	"'*'", "'list'", "'list','watch'", "'get','list','watch'",
	"'create','update','patch'", "'delete','deletecollection'",
	"'get'", "'get','update'",
};

static const char *const verbs[] = {
	"get", "get", "get", "list", "list", "watch", "watch", "create",
	"update", "update", "patch", "patch", "delete",
};

static const char *pick(const char *const *list, unsigned int nr)
{
	return list[below(nr)];
}

/*
 * ---------------------------------------------------------------------------
 * FlowSchemas
 */

#define ACCOUNT "{'kind': 'ServiceAccount', 'serviceAccount': {" \
	"'namespace': 'team-%u', 'name': '%s'}}"
#define USER_NAMED "{'kind':'User','user':{'name':'%s'}}"
#define GROUP	"{'kind':'Group','group':{'name':'%s'}}"

static struct json_object *subject(unsigned int team)
{
	char name[64];

	switch (below(20)) {
	case 0:
		return json(GROUP, "system:authenticated");
	case 1:
		return json(GROUP, "system:serviceaccounts");
	case 2 ... 4:
		snprintf(name, sizeof(name), "system:serviceaccounts:team-%u",
			 team);
		return json(GROUP, name);
	case 5 ... 7:
		snprintf(name, sizeof(name), "team-%u-developers", team);
		return json(GROUP, name);
	case 8 ... 10:
		snprintf(name, sizeof(name), "user-%u@team-%u.example.com",
			 below(USERS), team);
		return json(USER_NAMED, name);
	case 11 ... 13:
		return json(ACCOUNT, team, "*");
	default:
		snprintf(name, sizeof(name), "app-%u", below(APPS));
		return json(ACCOUNT, team, name);
	}
}

static struct json_object *resource_rule(unsigned int team)
{
	unsigned int a = below(14), b = below(14);
	char namespaces[64] = "'*'";

	if (below(3))
		snprintf(namespaces, sizeof(namespaces),
			 "'team-%u','team-%u-staging'", team, team);
	switch (below(8)) {
	case 0:	/* everything that there is in the namespaces */
		return json("{'verbs': [%s], 'apiGroups': ['*'],\n"
			    "'resources': ['*'], 'namespaces': [%s]}",
			    pick(rule_verbs, ARRAY_SIZE(rule_verbs)), namespaces);
	case 1:	/* an operator's resources */
		return json("{'verbs': ['*'], 'resources': ['*'],\n"
			    "'apiGroups': ['team-%u.example.com'],\n"
			    "'clusterScope': true, 'namespaces': ['*']}", team);
	case 2:
		a = below(4);
		return json("{'verbs': ['update', 'patch'], 'apiGroups': ['%s'],\n"
			    "'resources': ['%s'], 'namespaces': [%s]}",
			    subresources[a].group, subresources[a].resource,
			    namespaces);
	default:
		return json("{'verbs': [%s], 'apiGroups': ['%s', '%s'],\n"
			    "'resources': ['%s', '%s'], 'namespaces': [%s]}",
			    pick(rule_verbs, ARRAY_SIZE(rule_verbs)), resources[a].group,
			    resources[b].group, resources[a].resource,
			    resources[b].resource, namespaces);
	}
}

static struct json_object *rule(unsigned int team)
{
	struct json_object *object = json("{'subjects':[],'resourceRules':[]}");
	struct json_object *list;
	unsigned int i;

	list = json_object_object_get(object, "subjects");
	for (i = 1 + below(3); i; i--)
		json_object_array_add(list, subject(team));
	list = json_object_object_get(object, "resourceRules");
	for (i = 1 + below(2); i; i--)
		json_object_array_add(list, resource_rule(team));
	if (!below(6))
		json_object_object_add(object, "nonResourceRules",
				       json("[{'verbs': ['get'], 'nonResourceURLs':\n"
					    "['/metrics', '/apis/team-%u/*']}]",
					    team));
	return object;
}

/**
 * set_schemas() - FlowSchemas beside the default ones
 * @nr: how many
 *
 * Return: a list of objects of flowcontrol.apiserver.k8s.io/v1.
 */
struct json_object *set_schemas(unsigned int nr)
{
	struct json_object *list = json_object_new_array();

	for (unsigned int i = 0; i < nr; i++) {
		unsigned int team = below(TEAMS);
		struct json_object *object =
			json("{'apiVersion': 'flowcontrol.apiserver.k8s.io/v1',\n"
			     "'kind': 'FlowSchema', 'metadata': {\n"
			     "'name': 'team-%u-schema-%u'}, 'spec': {\n"
			     "'matchingPrecedence': %u, 'rules': [],\n"
			     "'distinguisherMethod': {'type': 'ByUser'},\n"
			     "'priorityLevelConfiguration': {\n"
			     "'name': 'workload-low'}}}",
			     team, i, 1000 + below(8000));
		struct json_object *spec =
			json_object_object_get(object, "spec");

		json_object_array_add(json_object_object_get(spec, "rules"),
				      rule(team));
		json_object_array_add(list, object);
	}
	return list;
}

/*
 * ---------------------------------------------------------------------------
 * Requests
 */

#define FROM(user, groups) \
	"{'user': '" user "', 'groups': [" groups "'system:authenticated']}"
#define ACCOUNTS "'system:serviceaccounts', 'system:serviceaccounts:"

/* Who a request comes from, maybe of a team */
static struct json_object *requester(unsigned int team)
{
	switch (below(20)) {
	case 0 ... 4:
		return json(FROM("system:node:node-%u", "'system:nodes',"),
			    below(500));
	case 5:
		return json(FROM("system:kube-scheduler", ""));
	case 6:
		return json(FROM("system:kube-controller-manager", ""));
	case 7 ... 8:
		return json(FROM("system:serviceaccount:kube-system:%s",
				 ACCOUNTS "kube-system',"),
			    below(2) ? "coredns" : "deployment-controller");
	case 9:
		return json(FROM("admin", "'%s',"),
			    below(3) ? "operators" : "system:masters");
	case 10 ... 11:
		return json(FROM("user-%u@team-%u.example.com",
				 "'team-%u-developers', 'everybody',"),
			    below(USERS), team, team);
	default:
		return json(FROM("system:serviceaccount:team-%u:app-%u",
				 ACCOUNTS "team-%u',"),
			    team, below(APPS), team);
	}
}

static void put(struct json_object *to, const char *key, const char *value)
{
	json_object_object_add(to, key, json_object_new_string(value));
}

static void put_path(struct json_object *to)
{
	static const char *const paths[] = {
		"/healthz", "/readyz", "/livez", "/version", "/apis",
		"/metrics", "/openapi/v3",
	};

	put(to, "verb", "get");
	put(to, "path", pick(paths, ARRAY_SIZE(paths)));
}

static void put_resource(struct json_object *to, unsigned int team)
{
	unsigned int i = below(14);
	char ns[32] = "";

	put(to, "verb", pick(verbs, ARRAY_SIZE(verbs)));
	if (!below(16)) {
		put(to, "apiGroup", "");
		put(to, "resource", "nodes");
		put(to, "subresource", below(2) ? "status" : "");
	} else {
		put(to, "apiGroup", resources[i].group);
		put(to, "resource", resources[i].resource);
		put(to, "subresource", !i && !below(3) ? "status" : "");
		if (below(8))
			snprintf(ns, sizeof(ns), "team-%u", team);
	}
	put(to, "namespace", ns);
}

/**
 * set_requests() - requests of such a cluster
 * @nr: how many
 *
 * Return: a list of objects of user, groups, verb, and either path or apiGroup,
 * resource, subresource and namespace.
 */
struct json_object *set_requests(unsigned int nr)
{
	struct json_object *list = json_object_new_array();

	while (nr--) {
		unsigned int team = below(TEAMS);
		struct json_object *object = requester(team);

		if (below(20))
			put_resource(object, team);
		else
			put_path(object);
		json_object_array_add(list, object);
	}
	return list;
}
