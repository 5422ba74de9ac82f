// SPDX-License-Identifier: GPL-2.0
/*
 * kapfctl report: names that are nobody else's business, replaced by others: one
 * name by the same pseudonym wherever it is.  What the default objects of
 * Kubernetes name is known to all, and stays.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>

#include "inspect.h"
#include "bundle.h"

#define ACCOUNT_PREFIX "system:serviceaccount:"
#define ACCOUNTS_PREFIX "system:serviceaccounts:"

/* Of FlowSchemas so that their order by name remains. */
static const char *const forms[NR_NAME_KINDS] = {
	[NAME_USER] = "user-%u",
	[NAME_GROUP] = "group-%u",
	[NAME_NAMESPACE] = "namespace-%u",
	[NAME_ACCOUNT] = "account-%u",
	[NAME_OBJECT] = "object-%u",
	[NAME_SERVER] = "server-%u",
	[NAME_TENANT] = "tenant-%u",
	[NAME_PROCESS] = "process-%u",
	[NAME_LEVEL] = "level-%u",
	[NAME_SCHEMA] = "schema-%04u",
	[NAME_FLOW] = "flow-%u",
};

static void keep(struct pseudonyms *names, enum name_kind kind,
		 const char *name)
{
	tree_add(names->of[kind], name, tree_text(name));
}

static void keep_subject(struct pseudonyms *names,
			 const struct kapf_subject *subject)
{
	switch (subject->kind) {
	case KAPF_USER:
		keep(names, NAME_USER, subject->name);
		break;
	case KAPF_GROUP:
		keep(names, NAME_GROUP, subject->name);
		break;
	case KAPF_SERVICE_ACCOUNT:
		keep(names, NAME_NAMESPACE, subject->ns);
		keep(names, NAME_ACCOUNT, subject->name);
		break;
	}
}

static void keep_defaults(struct pseudonyms *names,
			  const struct kapf_configuration *defaults)
{
	const struct kapf_subject *subject;
	size_t i, j;

	for (i = 0; i < defaults->nr_levels; i++)
		keep(names, NAME_LEVEL, defaults->levels[i].name);
	for (i = 0; i < defaults->nr_schemas; i++) {
		const struct kapf_flow_schema *schema = &defaults->schemas[i];

		keep(names, NAME_SCHEMA, schema->name);
		for (j = 0; (subject = kapf_schema_subject(schema, j)); j++)
			keep_subject(names, subject);
	}
}

/**
 * pseudonyms_init() - begin with no pseudonym but what stays as it is
 * @names: out
 */
void pseudonyms_init(struct pseudonyms *names)
{
	struct kapf_configuration *defaults = need(kapf_config_new());
	int kind;

	if (kapf_config_add_defaults(defaults) < 0)
		need(NULL);
	*names = (struct pseudonyms){};
	for (kind = 0; kind < NR_NAME_KINDS; kind++) {
		names->of[kind] = tree_map();
		keep(names, kind, "");
		keep(names, kind, "*");
	}
	keep(names, NAME_USER, "system:anonymous");
	keep(names, NAME_PROCESS, "kapfctl");
	keep_defaults(names, defaults);
	kapf_config_free(defaults);
}

/**
 * pseudonyms_free() - forget all pseudonyms
 * @names: of pseudonyms_init()
 */
void pseudonyms_free(struct pseudonyms *names)
{
	int kind;

	for (kind = 0; kind < NR_NAME_KINDS; kind++)
		json_object_put(names->of[kind]);
}

/**
 * pseudonym() - what stands for a name
 * @names: where it is remembered
 * @kind: of the name
 * @name: itself
 *
 * Return: the pseudonym, as long as @names is there.
 */
const char *pseudonym(struct pseudonyms *names, enum name_kind kind,
		      const char *name)
{
	struct json_object *text;
	char made[32];

	if (!json_object_object_get_ex(names->of[kind], name, &text)) {
		snprintf(made, sizeof(made), forms[kind], ++names->nr[kind]);
		text = tree_text(made);
		tree_add(names->of[kind], name, text);
	}
	return json_object_get_string(text);
}

static char *text_of(const char *prefix, const char *first, const char *second)
{
	char *text;

	if (asprintf(&text, "%s%s%s%s", prefix, first, *second ? ":" : "",
		     second) < 0)
		need(NULL);
	return text;
}

static bool begins(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/**
 * pseudonym_of_user() - what stands for a user, who may be a service account
 * @names: where it is remembered
 * @user: name of the user
 * @text: out: to be freed
 */
void pseudonym_of_user(struct pseudonyms *names, const char *user, char **text)
{
	char *namespace, *account;

	if (!begins(user, ACCOUNT_PREFIX)) {
		*text = text_of("", pseudonym(names, NAME_USER, user), "");
		return;
	}
	namespace = need(strdup(user + strlen(ACCOUNT_PREFIX)));
	account = strchrnul(namespace, ':');
	if (*account)
		*account++ = '\0';
	*text = text_of(ACCOUNT_PREFIX,
			pseudonym(names, NAME_NAMESPACE, namespace),
			pseudonym(names, NAME_ACCOUNT, account));
	free(namespace);
}

/**
 * pseudonym_of_group() - what stands for a group, which may be that of the service
 *	accounts of a namespace or of a tenant
 * @names: where it is remembered
 * @group: name of the group
 * @text: out: to be freed
 */
void pseudonym_of_group(struct pseudonyms *names, const char *group,
			char **text)
{
	if (begins(group, ACCOUNTS_PREFIX))
		*text = text_of(ACCOUNTS_PREFIX,
				pseudonym(names, NAME_NAMESPACE, group +
					  strlen(ACCOUNTS_PREFIX)), "");
	else if (begins(group, KAPF_TENANT_PREFIX))
		*text = text_of(KAPF_TENANT_PREFIX,
				pseudonym(names, NAME_TENANT, group +
					  strlen(KAPF_TENANT_PREFIX)), "");
	else
		*text = text_of("", pseudonym(names, NAME_GROUP, group), "");
}

/* The member of a map, or NULL. */
static struct json_object *member(struct json_object *map, const char *key)
{
	return json_object_object_get(map, key);
}

static const char *string(struct json_object *map, const char *key)
{
	return json_object_get_string(member(map, key));
}

static void replace_member(struct pseudonyms *names, struct json_object *map,
			   const char *key, enum name_kind kind)
{
	const char *name = map ? string(map, key) : NULL;
	char *text = NULL;

	if (!name)
		return;
	if (kind == NAME_USER)
		pseudonym_of_user(names, name, &text);
	else if (kind == NAME_GROUP)
		pseudonym_of_group(names, name, &text);
	tree_add(map, key, tree_text(text ? text :
				     pseudonym(names, kind, name)));
	free(text);
}

static void replace_in_subject(struct pseudonyms *names,
			       struct json_object *subject)
{
	struct json_object *account = member(subject, "serviceAccount");

	replace_member(names, member(subject, "user"), "name", NAME_USER);
	replace_member(names, member(subject, "group"), "name", NAME_GROUP);
	replace_member(names, account, "namespace", NAME_NAMESPACE);
	replace_member(names, account, "name", NAME_ACCOUNT);
}

static void replace_in_resources(struct pseudonyms *names,
				 struct json_object *rule)
{
	struct json_object *list = member(rule, "namespaces"), *item;
	const char *text;
	size_t i;

	for (i = 0; list && i < json_object_array_length(list); i++) {
		item = json_object_array_get_idx(list, i);
		text = pseudonym(names, NAME_NAMESPACE,
				 json_object_get_string(item));
		json_object_array_put_idx(list, i, tree_text(text));
	}
}

/* Each element of a list, if it is there. */
static void replace_in_list(struct pseudonyms *names, struct json_object *list,
			    void (*replace)(struct pseudonyms *names,
					    struct json_object *element))
{
	size_t i;

	for (i = 0; list && i < json_object_array_length(list); i++)
		replace(names, json_object_array_get_idx(list, i));
}

static void replace_in_rule(struct pseudonyms *names, struct json_object *rule)
{
	replace_in_list(names, member(rule, "subjects"), replace_in_subject);
	replace_in_list(names, member(rule, "resourceRules"),
			replace_in_resources);
}

/* What is the user's, labels and annotations, is left out, but for one that counts. */
static void replace_metadata(struct pseudonyms *names,
			     struct json_object *object, enum name_kind kind)
{
	static const char autoupdate[] = "apf.kubernetes.io/autoupdate-spec";
	struct json_object *old = member(object, "metadata");
	struct json_object *new = tree_map(), *annotations, *value;

	tree_add(new, "name",
		 tree_text(pseudonym(names, kind, string(old, "name"))));
	value = member(member(old, "annotations"), autoupdate);
	if (value) {
		annotations = tree_map();
		tree_add(annotations, autoupdate,
			 tree_text(strcmp(json_object_get_string(value),
					  "false") ? "true" : "false"));
		tree_add(new, "annotations", annotations);
	}
	tree_add(object, "metadata", new);
}

/**
 * replace_in_object() - replace all names in an object
 * @names: where they are remembered
 * @object: of level_object() or schema_object(), which is changed
 */
void replace_in_object(struct pseudonyms *names, struct json_object *object)
{
	bool is_schema = !strcmp(string(object, "kind"), "FlowSchema");
	struct json_object *spec = member(object, "spec");

	replace_metadata(names, object, is_schema ? NAME_SCHEMA : NAME_LEVEL);
	if (!is_schema)
		return;
	replace_member(names, member(spec, "priorityLevelConfiguration"),
		       "name", NAME_LEVEL);
	replace_in_list(names, member(spec, "rules"), replace_in_rule);
}
