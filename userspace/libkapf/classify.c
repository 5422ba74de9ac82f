// SPDX-License-Identifier: LGPL-2.1
/*
 * Classification: which FlowSchema a request belongs to, and why not to others.
 * Takes no lock and no memory, and changes nothing.
 */
#include <string.h>

#include "internal.h"

/**
 * struct trial - a request on its way through the schemas
 * @digest: the request
 * @schema: that it is compared with
 * @match: how far it has come there
 * @tell: whom to tell of each comparison; NULL: nobody
 * @user: likewise
 */
struct trial {
	const struct kapf_digest *digest;
	const struct kapf_flow_schema *schema;
	struct kapf_match match;
	kapf_match_fn *tell;
	void *user;
};

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
	const char *rest = after(user, KAPF_ACCOUNT_PREFIX);

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

static enum kapf_part unlike_resource(const struct kapf_resource_rule *rule,
				      const struct kapf_digest *digest)
{
	const char *namespace = text(digest->ns);

	if (!contains(&rule->verbs, text(digest->verb)))
		return KAPF_PART_VERBS;
	if (!contains(&rule->api_groups, text(digest->api_group)))
		return KAPF_PART_API_GROUPS;
	if (!contains_resource(&rule->resources, digest))
		return KAPF_PART_RESOURCES;
	if (!*namespace && !rule->cluster_scope)
		return KAPF_PART_CLUSTER_SCOPE;
	if (*namespace && !contains(&rule->namespaces, namespace))
		return KAPF_PART_NAMESPACES;
	return KAPF_PART_NONE;
}

/*
 * A URL stands for itself and for all below it, so that a trailing * only says
 * so, and takes the URL itself out.
 */
bool kapf_url_covers(const char *url, const char *path)
{
	size_t len = 0;

	while (url[len] && url[len] == path[len])
		len++;
	if (!url[len] && !path[len])
		return true;
	/* The path may have a * there, too. */
	if (!url[len] && len && url[len - 1] == '*')
		len--;
	if (url[len] && (url[len] != '*' || url[len + 1]))
		return false;
	return (len && url[len - 1] == '/') || path[len] == '/';
}

static enum kapf_part unlike_path(const struct kapf_path_rule *rule,
				  const struct kapf_digest *digest)
{
	if (!contains(&rule->verbs, text(digest->verb)))
		return KAPF_PART_VERBS;
	if (kapf_is_star(&rule->urls))
		return KAPF_PART_NONE;
	for (size_t i = 0; i < rule->urls.nr; i++)
		if (kapf_url_covers(rule->urls.at[i], text(digest->path)))
			return KAPF_PART_NONE;
	return KAPF_PART_URLS;
}

/* A comparison has ended, at this part.  Return: whether all was alike. */
static bool settle(struct trial *trial, enum kapf_part part)
{
	trial->match.part = part;
	if (trial->tell)
		trial->tell(trial->schema, &trial->match, trial->user);
	return part == KAPF_PART_NONE;
}

static bool matches_rule(struct trial *trial, const struct kapf_rule *rule)
{
	const struct kapf_digest *digest = trial->digest;
	struct kapf_match *match = &trial->match;
	size_t i, nr;

	match->subject = 0;
	match->entry = 0;
	for (i = 0; i < rule->nr_subjects; i++)
		if (matches_subject(&rule->subjects[i], digest))
			break;
	if (i == rule->nr_subjects)
		return settle(trial, KAPF_PART_SUBJECTS);
	match->subject = i;

	nr = digest->is_resource ? rule->nr_resource_rules :
				   rule->nr_path_rules;
	if (!nr)
		return settle(trial, digest->is_resource ?
				     KAPF_PART_RESOURCE_RULES :
				     KAPF_PART_PATH_RULES);
	for (i = 0; i < nr; i++) {
		match->entry = i;
		if (settle(trial, digest->is_resource ?
			   unlike_resource(&rule->resource_rules[i], digest) :
			   unlike_path(&rule->path_rules[i], digest)))
			return true;
	}
	return false;
}

static bool matches_schema(struct trial *trial)
{
	const struct kapf_flow_schema *schema = trial->schema;

	trial->match = (struct kapf_match){};
	if (schema->dangling)
		return settle(trial, KAPF_PART_LEVEL);
	if (!schema->rules->nr)
		return settle(trial, KAPF_PART_RULES);
	for (size_t i = 0; i < schema->rules->nr; i++) {
		trial->match.rule = i;
		if (matches_rule(trial, &schema->rules->rules[i]))
			return true;
	}
	return false;
}

bool kapf_schema_matches(const struct kapf_flow_schema *schema,
			 const struct kapf_digest *digest)
{
	struct trial trial = { .digest = digest, .schema = schema };

	return matches_schema(&trial);
}

const struct kapf_flow_schema *
kapf_explain(const struct kapf_configuration *config,
	     const struct kapf_digest *digest, kapf_match_fn *tell, void *user)
{
	struct trial trial = { .digest = digest, .tell = tell, .user = user };

	for (size_t i = 0; i < config->nr_schemas; i++) {
		trial.schema = &config->schemas[i];
		if (matches_schema(&trial))
			return trial.schema;
	}
	return kapf_config_schema(config, KAPF_NAME_CATCH_ALL);
}

const struct kapf_flow_schema *
kapf_classify(const struct kapf_configuration *config,
	      const struct kapf_digest *digest)
{
	return kapf_explain(config, digest, NULL, NULL);
}
