// SPDX-License-Identifier: GPL-2.0
/*
 * What kapfctl lint says of flows: clients that are not told apart, and tenants
 * whose requests end where everybody's do.
 */
#include <stdio.h>
#include <string.h>

#include "lint.h"

/*
 * ---------------------------------------------------------------------------
 * Flows
 */

/* A pod, of which there may be many, uses a service account. */
static bool is_one_account(const struct kapf_subject *subject)
{
	static const char prefix[] = "system:serviceaccount:";

	return subject->kind == KAPF_SERVICE_ACCOUNT ?
		strcmp(subject->name, "*") :
		subject->kind == KAPF_USER &&
		!strncmp(subject->name, prefix, strlen(prefix));
}

static bool are_many(const struct kapf_subject *subject)
{
	return subject->kind == KAPF_GROUP || !strcmp(subject->name, "*");
}

static void check_flows(struct lint *lint,
			const struct kapf_flow_schema *schema,
			const struct kapf_priority_level *level)
{
	const struct kapf_subject *first = kapf_schema_subject(schema, 0);
	const struct kapf_subject *second =
		first ? kapf_schema_subject(schema, 1) : NULL;
	const struct place place =
		schema_place(schema, "spec.distinguisherMethod.type");
	char name[NAME_ROOM];

	if (schema->distinguisher == KAPF_BY_NAMESPACE || !first)
		return;
	if (schema->distinguisher == KAPF_BY_NONE &&
	    (second || are_many(first)))
		report(lint, WARNING, place,
		       "A flow has one hand of queues, in which all wait one behind the other: who asks for much delays all others of them.",
		       "Say distinguisherMethod: {type: ByUser}, or ByNamespace.",
		       "all requests are one flow, of whichever user, in %u of %u queues",
		       level->hand_size, level->queues);
	else if (!second && is_one_account(first))
		report(lint, WARNING, place,
		       "Many pods may use one account; as a flow they have one hand of queues, in which who asks for much delays all others of them.",
		       "Say ByNamespace, if they work on several, or give each its own account.",
		       "all requests are one flow, of %s, in %u of %u queues",
		       subject_name(name, first), level->hand_size,
		       level->queues);
}

void find_one_flow(struct lint *lint)
{
	size_t i;

	for (i = 0; i < lint->config->nr_schemas; i++) {
		const struct kapf_flow_schema *schema =
			&lint->config->schemas[i];
		const struct kapf_priority_level *level =
			kapf_config_level(lint->config, schema->level);

		if (is_own(schema) && level && level->queues > 1)
			check_flows(lint, schema, level);
	}
}

/*
 * ---------------------------------------------------------------------------
 * Tenants
 */

/* A user that is in no group but the tenant's: any other may be in none, too. */
#define SOMEBODY "-somebody-"

/* Requests of which no rule knows but those that match all of their kind */
static const struct {
	const char *what;
	struct kapf_digest digest;
} probes[] = {
	{ "resources in namespaces",
	  { .user = SOMEBODY, .is_resource = true, .verb = "-", .api_group = "-",
	    .resource = "-", .ns = "-" } },
	{ "resources of the cluster and of all namespaces",
	  { .user = SOMEBODY, .is_resource = true, .verb = "-", .api_group = "-",
	    .resource = "-" } },
	{ "paths", { .user = SOMEBODY, .verb = "-", .path = "/-" } },
};

#define NR_PROBES (sizeof(probes) / sizeof(*probes))

/*
 * A schema that gets the requests of one kind was meant for all of the tenant's;
 * of several, what is to be said is said of the first.
 */
static void check_rest(struct lint *lint, const struct kapf_flow_schema *schema,
		       struct place place, const char *tenant)
{
	const struct kapf_flow_schema *first = NULL;
	char lost[128] = "";
	size_t i, used = 0;

	for (i = 0; i < NR_PROBES; i++) {
		struct kapf_digest digest = probes[i].digest;
		const struct kapf_flow_schema *found;

		digest.tenant = tenant;
		found = kapf_classify(lint->config, &digest);
		if (strcmp(found->level, "catch-all"))
			first = first ? first : found;
		else
			used += snprintf(lost + used, sizeof(lost) - used,
					 "%s%s", used ? " and for " : "",
					 probes[i].what);
	}
	if (used && first == schema)
		report(lint, WARNING, place,
		       "These go to global-default, and without the group system:authenticated to catch-all, to share its few seats with everybody.",
		       "Have the schema match them, too: resources with clusterScope: true and namespaces: [\"*\"], and nonResourceRules.",
		       "matches all requests of the tenant \"%s\" but those for %s",
		       tenant, lost);
}

/**
 * is_only_caught() - is there nothing but catch-all for a tenant?
 * @lint: where
 * @group: of the tenant
 *
 * Return: no schema with this subject leads to another level.
 */
bool is_only_caught(const struct lint *lint, const char *group)
{
	const struct kapf_subject *subject;
	size_t i, j;

	for (i = 0; i < lint->config->nr_schemas; i++) {
		const struct kapf_flow_schema *schema =
			&lint->config->schemas[i];

		if (schema->dangling || !strcmp(schema->level, "catch-all"))
			continue;
		for (j = 0; (subject = kapf_schema_subject(schema, j)); j++)
			if (subject->kind == KAPF_GROUP &&
			    !strcmp(subject->name, group))
				return false;
	}
	return true;
}

static void check_tenant(struct lint *lint,
			 const struct kapf_flow_schema *schema,
			 const struct kapf_subject *subject)
{
	const char *tenant = subject->name + strlen(KAPF_TENANT_PREFIX);
	const struct place place = subject_place(schema, subject);
	char name[NAME_ROOM];

	if (subject->kind == KAPF_USER)
		report(lint, ERROR, place,
		       "A tenant is a group: no user has this name, and the tenant's requests go elsewhere.",
		       "Say kind: Group, group: {name: ...}.",
		       "%s is the name of a tenant's group",
		       subject_name(name, subject));
	else if (!is_tenant(tenant))
		report(lint, ERROR, place,
		       "No server can attach for such a tenant, and the requests of the one that was meant go elsewhere.",
		       "Name it as its servers do: 1 to 63 of a-z, 0-9, . and -.",
		       "%s is no group that a tenant can have",
		       subject_name(name, subject));
	else if (is_only_caught(lint, subject->name))
		report(lint, WARNING, place,
		       "That has few seats and no queues, and everybody's leftovers are there, too.",
		       "Give the tenant a level of its own.",
		       "all that there is for the tenant \"%s\" is the priority level \"catch-all\"",
		       tenant);
	else
		check_rest(lint, schema, place, tenant);
}

static bool is_for_tenant(const struct kapf_subject *subject)
{
	return subject->kind != KAPF_SERVICE_ACCOUNT &&
	       !strncmp(subject->name, KAPF_TENANT_PREFIX,
			strlen(KAPF_TENANT_PREFIX));
}

void find_lost_tenants(struct lint *lint)
{
	const struct kapf_subject *subject;
	size_t i, j;

	for (i = 0; i < lint->config->nr_schemas; i++) {
		const struct kapf_flow_schema *schema =
			&lint->config->schemas[i];

		if (!is_own(schema) || schema->dangling)
			continue;
		for (j = 0; (subject = kapf_schema_subject(schema, j)); j++)
			if (is_for_tenant(subject))
				check_tenant(lint, schema, subject);
	}
}
