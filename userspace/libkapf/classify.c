// SPDX-License-Identifier: LGPL-2.1
/*
 * Classification: which FlowSchema a request belongs to.  Takes no lock and no
 * memory, and changes nothing.
 */
#include <string.h>

#include "internal.h"

#define SERVICE_ACCOUNT_PREFIX "system:serviceaccount:"

static const char *text(const char *string)
{
	return string ? string : "";
}

/* Is this the list that has everything in it? */
bool kapf_is_star(const struct kapf_strings *strings)
{
	return strings->nr == 1 && !strcmp(strings->at[0], "*");
}

static bool contains(const struct kapf_strings *strings, const char *wanted)
{
	if (kapf_is_star(strings))
		return true;
	for (size_t i = 0; i < strings->nr; i++)
		if (!strcmp(strings->at[i], wanted))
			return true;
	return false;
}

/* What follows @prefix in @string; NULL: it does not begin so. */
static const char *after(const char *string, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(string, prefix, len) ? NULL : string + len;
}

/* Is @user system:serviceaccount:NAMESPACE:NAME? */
bool kapf_is_account(const struct kapf_subject *subject, const char *user)
{
	const char *rest = after(user, SERVICE_ACCOUNT_PREFIX);

	if (rest)
		rest = after(rest, subject->ns);
	if (!rest || *rest != ':')
		return false;
	return !strcmp(subject->name, "*") || !strcmp(subject->name, rest + 1);
}

static bool matches_subject(const struct kapf_subject *subject,
			    const struct kapf_digest *digest)
{
	const char *tenant;

	if (subject->kind == KAPF_SERVICE_ACCOUNT)
		return kapf_is_account(subject, text(digest->user));
	if (!strcmp(subject->name, "*"))
		return true;
	if (subject->kind == KAPF_USER)
		return !strcmp(subject->name, text(digest->user));
	tenant = after(subject->name, KAPF_TENANT_PREFIX);
	if (tenant)
		return *tenant && !strcmp(tenant, text(digest->tenant));
	for (size_t i = 0; i < digest->nr_groups; i++)
		if (!strcmp(subject->name, text(digest->groups[i])))
			return true;
	return false;
}

/* Is @wanted RESOURCE, or RESOURCE/SUBRESOURCE, of the request? */
static bool is_resource(const char *wanted, const struct kapf_digest *digest)
{
	const char *subresource = text(digest->subresource);
	const char *rest = after(wanted, text(digest->resource));

	if (!rest)
		return false;
	if (!*subresource)
		return !*rest;
	return *rest == '/' && !strcmp(rest + 1, subresource);
}

static bool contains_resource(const struct kapf_strings *resources,
			      const struct kapf_digest *digest)
{
	if (kapf_is_star(resources))
		return true;
	for (size_t i = 0; i < resources->nr; i++)
		if (is_resource(resources->at[i], digest))
			return true;
	return false;
}

static bool matches_resource(const struct kapf_resource_rule *rule,
			     const struct kapf_digest *digest)
{
	const char *namespace = text(digest->ns);

	if (!contains(&rule->verbs, text(digest->verb)) ||
	    !contains(&rule->api_groups, text(digest->api_group)) ||
	    !contains_resource(&rule->resources, digest))
		return false;
	if (!*namespace)
		return rule->cluster_scope;
	return contains(&rule->namespaces, namespace);
}

/*
 * A URL stands for itself and for all below it, so that a trailing * only says
 * so, and takes the URL itself out.
 */
bool kapf_url_covers(const char *url, const char *path)
{
	size_t len = strlen(url);

	if (!strcmp(url, path))
		return true;
	if (len && url[len - 1] == '*')
		len--;
	if (strncmp(url, path, len))
		return false;
	return (len && url[len - 1] == '/') || path[len] == '/';
}

static bool matches_path(const struct kapf_path_rule *rule,
			 const struct kapf_digest *digest)
{
	if (!contains(&rule->verbs, text(digest->verb)))
		return false;
	if (kapf_is_star(&rule->urls))
		return true;
	for (size_t i = 0; i < rule->urls.nr; i++)
		if (kapf_url_covers(rule->urls.at[i], text(digest->path)))
			return true;
	return false;
}

static bool matches_rule(const struct kapf_rule *rule,
			 const struct kapf_digest *digest)
{
	size_t i = 0;

	while (i < rule->nr_subjects &&
	       !matches_subject(&rule->subjects[i], digest))
		i++;
	if (i == rule->nr_subjects)
		return false;
	if (digest->is_resource) {
		for (i = 0; i < rule->nr_resource_rules; i++)
			if (matches_resource(&rule->resource_rules[i], digest))
				return true;
	} else {
		for (i = 0; i < rule->nr_path_rules; i++)
			if (matches_path(&rule->path_rules[i], digest))
				return true;
	}
	return false;
}

static bool matches_schema(const struct kapf_flow_schema *schema,
			   const struct kapf_digest *digest)
{
	if (schema->dangling)
		return false;
	for (size_t i = 0; i < schema->rules->nr; i++)
		if (matches_rule(&schema->rules->rules[i], digest))
			return true;
	return false;
}

const struct kapf_flow_schema *
kapf_classify(const struct kapf_configuration *config,
	      const struct kapf_digest *digest)
{
	for (size_t i = 0; i < config->nr_schemas; i++)
		if (matches_schema(&config->schemas[i], digest))
			return &config->schemas[i];
	return kapf_config_schema(config, KAPF_NAME_CATCH_ALL);
}
