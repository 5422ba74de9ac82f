// SPDX-License-Identifier: LGPL-2.1
/*
 * What the rules of two FlowSchemas have in common: whether one matches all that
 * the other does, and whether there is anything that both match.  Sets of requests
 * are compared, no request is looked at.
 *
 * What a rule says of requests, but for their subjects, is a box: a list for each
 * property, of which any element will do.
 */
#include <stdio.h>
#include <string.h>

#include "internal.h"

enum {
	VERBS,
	API_GROUPS,
	RESOURCES,
	NAMESPACES,
	NR_RESOURCE_LISTS,
	URLS = API_GROUPS,
	NR_PATH_LISTS,
};

/**
 * struct box - requests
 * @lists: of properties
 * @nr: how many: NR_PATH_LISTS for paths, NR_RESOURCE_LISTS for resources
 * @cluster_scope: those without a namespace belong to it
 */
struct box {
	struct kapf_strings lists[NR_RESOURCE_LISTS];
	unsigned int nr;
	bool cluster_scope;
};

/* The boxes of a rule, one after the other; false at the end. */
static bool get_box(const struct kapf_rule *rule, size_t index, struct box *box)
{
	const struct kapf_resource_rule *resource;
	const struct kapf_path_rule *path;

	if (index < rule->nr_resource_rules) {
		resource = &rule->resource_rules[index];
		*box = (struct box) {
			.lists = {
				[VERBS] = resource->verbs,
				[API_GROUPS] = resource->api_groups,
				[RESOURCES] = resource->resources,
				[NAMESPACES] = resource->namespaces,
			},
			.nr = NR_RESOURCE_LISTS,
			.cluster_scope = resource->cluster_scope,
		};
		return true;
	}
	index -= rule->nr_resource_rules;
	if (index >= rule->nr_path_rules)
		return false;
	path = &rule->path_rules[index];
	*box = (struct box) {
		.lists = { [VERBS] = path->verbs, [URLS] = path->urls },
		.nr = NR_PATH_LISTS,
	};
	return true;
}

/*
 * ---------------------------------------------------------------------------
 * Subjects
 */

/* A namespace and a name, with what stands before and between. */
#define ROOM (KAPF_NAME_BYTES + 128)

static const char account_prefix[] = "system:serviceaccount:";
static const char node_prefix[] = "system:node:";
static const char anonymous[] = "system:anonymous";

static const struct kapf_subject authenticated = {
	.kind = KAPF_GROUP, .name = "system:authenticated",
};

static const struct kapf_subject unauthenticated = {
	.kind = KAPF_GROUP, .name = "system:unauthenticated",
};

/**
 * struct users - whom a subject stands for, by their names
 * @begin: of all of their names
 * @is_whole: that is the name
 * @are_all: no user of such a name is missing
 * @room: for @begin
 */
struct users {
	const char *begin;
	bool is_whole;
	bool are_all;
	char room[ROOM];
};

static bool is_group(const struct kapf_subject *subject, const char *name)
{
	return subject->kind == KAPF_GROUP && !strcmp(subject->name, name);
}

static bool is_everybody(const struct kapf_subject *subject)
{
	return subject->kind != KAPF_SERVICE_ACCOUNT &&
	       !strcmp(subject->name, "*");
}

/* NULL: it is no group of a tenant. */
static const char *tenant_of(const struct kapf_subject *subject)
{
	size_t len = strlen(KAPF_TENANT_PREFIX);

	if (subject->kind != KAPF_GROUP ||
	    strncmp(subject->name, KAPF_TENANT_PREFIX, len))
		return NULL;
	return subject->name + len;
}

static void put_accounts(struct users *users, const char *ns, const char *name)
{
	int len = snprintf(users->room, ROOM, "%s%s:%s", account_prefix, ns,
			   name);

	if (len < ROOM) {
		users->begin = users->room;
		users->are_all = true;
	}
}

/* By the groups into which Kubernetes' authenticators put users for their names */
static void find_members(const char *group, struct users *users)
{
	static const char accounts[] = "system:serviceaccounts";
	size_t len = strlen(accounts);

	users->are_all = true;
	if (!strcmp(group, unauthenticated.name)) {
		users->begin = anonymous;
		users->is_whole = true;
	} else if (!strcmp(group, accounts)) {
		users->begin = account_prefix;
	} else if (!strcmp(group, "system:nodes")) {
		users->begin = node_prefix;
	} else {
		users->are_all = false;
		if (!strncmp(group, accounts, len) && group[len] == ':')
			put_accounts(users, group + len + 1, "");
	}
}

static void find_users(const struct kapf_subject *subject, struct users *users)
{
	bool is_star = !strcmp(subject->name, "*");

	users->begin = "";
	users->is_whole = false;
	users->are_all = false;
	if (is_everybody(subject)) {
		users->are_all = true;
	} else if (subject->kind == KAPF_USER) {
		users->begin = subject->name;
		users->is_whole = true;
		users->are_all = true;
	} else if (subject->kind == KAPF_GROUP) {
		find_members(subject->name, users);
	} else {
		put_accounts(users, subject->ns, is_star ? "" : subject->name);
		users->is_whole = users->are_all && !is_star;
	}
}

static bool begins(const char *text, const char *begin)
{
	return !strncmp(text, begin, strlen(begin));
}

/* Are the names of all @users among those of @of? */
static bool are_among(const struct users *users, const struct users *of)
{
	if (of->is_whole)
		return users->is_whole && !strcmp(users->begin, of->begin);
	return begins(users->begin, of->begin);
}

/* Whatever groups users are in */
static bool subject_covers(const struct kapf_subject *subject,
			   const struct kapf_subject *other)
{
	struct users users, others;

	if (is_everybody(subject))
		return true;
	if (is_everybody(other))
		return false;
	if (subject->kind == KAPF_GROUP || other->kind == KAPF_GROUP)
		return subject->kind == other->kind &&
		       !strcmp(subject->name, other->name);
	if (subject->kind == KAPF_SERVICE_ACCOUNT && other->kind == KAPF_USER)
		return kapf_is_account(subject, other->name);
	find_users(subject, &users);
	find_users(other, &others);
	return are_among(&others, &users);
}

/* Is none of them ever anonymous?  A group can be anyone's, but is given to few. */
static bool have_logged_in(const struct kapf_subject *subject)
{
	struct users users;

	if (tenant_of(subject) || is_everybody(subject))
		return false;
	find_users(subject, &users);
	return strcmp(users.begin, anonymous);
}

/* Where users are in the groups of authenticators, and in none without one */
static bool subject_catches(const struct kapf_subject *subject,
			    const struct kapf_subject *other)
{
	struct users users, others;

	if (subject_covers(subject, other))
		return true;
	if (is_group(subject, authenticated.name))
		return have_logged_in(other);
	find_users(subject, &users);
	find_users(other, &others);
	return users.are_all && are_among(&others, &users);
}

/* Are these users in no groups but those that go by their names? */
static bool are_known(const struct users *users)
{
	return begins(users->begin, account_prefix) ||
	       begins(users->begin, node_prefix) ||
	       !strcmp(users->begin, anonymous);
}

/* May users of these names be in a group? */
static bool may_be_in(const struct users *users, const struct kapf_subject *group)
{
	if (group->kind != KAPF_GROUP || tenant_of(group) || is_everybody(group))
		return true;
	if (is_group(group, authenticated.name))
		return strcmp(users->begin, anonymous);
	return !are_known(users);
}

/* May a user be both?  By the groups of authenticators */
static bool subjects_overlap(const struct kapf_subject *a,
			     const struct kapf_subject *b)
{
	const char *tenant = tenant_of(a), *other = tenant_of(b);
	struct users users, others;

	if (tenant && other)
		return !strcmp(tenant, other);
	find_users(a, &users);
	find_users(b, &others);
	if (users.are_all && others.are_all)
		return are_among(&users, &others) || are_among(&others, &users);
	return (users.are_all || may_be_in(&others, a)) &&
	       (others.are_all || may_be_in(&users, b));
}

/*
 * ---------------------------------------------------------------------------
 * Boxes
 */

/* What all paths below a URL begin with, without the slash at its end */
static size_t root_len(const char *url)
{
	size_t len = strlen(url);

	len -= len && url[len - 1] == '*';
	return len - (len && url[len - 1] == '/');
}

/* Is all that is below @url also below @above? */
static bool is_below(const char *url, const char *above)
{
	size_t len = root_len(above);

	return root_len(url) >= len && !strncmp(url, above, len) &&
	       (root_len(url) == len || url[len] == '/');
}

static bool url_covers(const char *url, const char *other)
{
	return kapf_url_covers(url, other) && is_below(other, url);
}

static bool urls_overlap(const char *a, const char *b)
{
	return is_below(a, b) || is_below(b, a);
}

static bool equal(const char *a, const char *b)
{
	return !strcmp(a, b);
}

static bool list_has(const struct kapf_strings *list, const char *wanted,
		     bool (*fits)(const char *element, const char *wanted))
{
	for (size_t i = 0; i < list->nr; i++)
		if (fits(list->at[i], wanted))
			return true;
	return false;
}

static bool list_covers(const struct kapf_strings *list,
			const struct kapf_strings *other, bool are_urls)
{
	if (kapf_is_star(list))
		return true;
	if (kapf_is_star(other))
		return false;
	for (size_t i = 0; i < other->nr; i++)
		if (!list_has(list, other->at[i],
			      are_urls ? url_covers : equal))
			return false;
	return true;
}

static bool lists_overlap(const struct kapf_strings *a,
			  const struct kapf_strings *b, bool are_urls)
{
	if (!a->nr || !b->nr)
		return false;
	if (kapf_is_star(a) || kapf_is_star(b))
		return true;
	for (size_t i = 0; i < b->nr; i++)
		if (list_has(a, b->at[i], are_urls ? urls_overlap : equal))
			return true;
	return false;
}

static bool are_urls(const struct box *box, unsigned int list)
{
	return box->nr == NR_PATH_LISTS && list == URLS;
}

static bool box_covers(const struct box *box, const struct box *other)
{
	if (box->nr != other->nr || (other->cluster_scope && !box->cluster_scope))
		return false;
	for (unsigned int i = 0; i < box->nr; i++)
		if (!list_covers(&box->lists[i], &other->lists[i],
				 are_urls(box, i)))
			return false;
	return true;
}

static bool boxes_overlap(const struct box *a, const struct box *b)
{
	if (a->nr != b->nr)
		return false;
	for (unsigned int i = 0; i < a->nr; i++)
		if (!lists_overlap(&a->lists[i], &b->lists[i], are_urls(a, i)) &&
		    !(a->nr == NR_RESOURCE_LISTS && i == NAMESPACES &&
		      a->cluster_scope && b->cluster_scope))
			return false;
	return true;
}

/*
 * ---------------------------------------------------------------------------
 * Schemas
 */

/* Boxes that are looked at before one counts as not covered, lest it take ages */
#define MAX_BOXES 100000

/**
 * struct cover - what is to match
 * @rules: any of these
 * @subject: requests of this one
 * @fits: how subjects are compared
 * @left: boxes that may be looked at
 */
struct cover {
	const struct kapf_rules *rules;
	const struct kapf_subject *subject;
	bool (*fits)(const struct kapf_subject *subject,
		     const struct kapf_subject *other);
	unsigned int left;
};

static bool rule_covers(const struct cover *cover, const struct kapf_rule *rule,
			const struct box *box)
{
	struct box own;
	size_t i = 0;

	while (i < rule->nr_subjects &&
	       !cover->fits(&rule->subjects[i], cover->subject))
		i++;
	if (i == rule->nr_subjects)
		return false;
	for (i = 0; get_box(rule, i, &own); i++)
		if (box_covers(&own, box))
			return true;
	return false;
}

/* The shortest list of several elements; @box->nr: there is none. */
static unsigned int shortest(const struct box *box)
{
	unsigned int found = box->nr;

	for (unsigned int i = 0; i < box->nr; i++)
		if (box->lists[i].nr > 1 &&
		    (found == box->nr ||
		     box->lists[i].nr < box->lists[found].nr))
			found = i;
	return found;
}

/* By one rule, or in parts by several: split in two, again and again. */
static bool covers_box(struct cover *cover, const struct box *box)
{
	struct box part = *box, rest = *box;
	unsigned int list;

	for (size_t i = 0; i < cover->rules->nr; i++)
		if (rule_covers(cover, &cover->rules->rules[i], box))
			return true;
	if (!cover->left)
		return false;
	cover->left--;
	list = shortest(box);
	if (box->cluster_scope && box->lists[NAMESPACES].nr) {
		part.lists[NAMESPACES].nr = 0;
		rest.cluster_scope = false;
	} else if (list < box->nr) {
		part.lists[list].nr /= 2;
		rest.lists[list].at += part.lists[list].nr;
		rest.lists[list].nr -= part.lists[list].nr;
	} else {
		return false;
	}
	return covers_box(cover, &part) && covers_box(cover, &rest);
}

/* All requests of one subject that match @rule */
static bool covers_subject(struct cover *cover, const struct kapf_rule *rule,
			   const struct kapf_subject *subject)
{
	struct box box;

	cover->subject = subject;
	for (size_t i = 0; get_box(rule, i, &box); i++)
		if (!covers_box(cover, &box))
			return false;
	return true;
}

/* Who has not logged in is anonymous: both in parts are everybody. */
static bool catches_halves(struct cover *cover, const struct kapf_rule *rule,
			   const struct kapf_subject *subject)
{
	return cover->fits == subject_catches &&
	       (tenant_of(subject) || is_everybody(subject)) &&
	       covers_subject(cover, rule, &authenticated) &&
	       covers_subject(cover, rule, &unauthenticated);
}

static bool covers(struct cover *cover, const struct kapf_rules *others,
		   const struct kapf_subject *only)
{
	bool some = false;

	for (size_t i = 0; i < others->nr; i++) {
		const struct kapf_rule *rule = &others->rules[i];

		for (size_t j = 0; j < rule->nr_subjects; j++) {
			const struct kapf_subject *subject = &rule->subjects[j];

			if (only && subject != only)
				continue;
			some = true;
			if (!covers_subject(cover, rule, subject) &&
			    !catches_halves(cover, rule, subject))
				return false;
		}
	}
	return some;
}

/**
 * kapf_schema_covers() - does a schema match all requests that another does?
 * @schema: whose rules may do so together
 * @other: the other one
 *
 * Looks at the rules alone, as kapf_classify() does, and takes nothing for granted
 * of the groups of users.  Whether the schemas are dangling does not matter.
 *
 * Return: true only if it does, and then nearly always; false where @other has no
 * rules.
 */
bool kapf_schema_covers(const struct kapf_flow_schema *schema,
			const struct kapf_flow_schema *other)
{
	struct cover cover = {
		.rules = schema->rules, .fits = subject_covers,
		.left = MAX_BOXES,
	};

	return covers(&cover, other->rules, NULL);
}

/**
 * kapf_schema_catches() - does a schema match all requests of another, with users
 *	as Kubernetes has them?
 * @schema: whose rules may do so together
 * @other: the other one
 * @subject: of @other: only the requests that this one makes; NULL: all
 *
 * As kapf_schema_covers(), but with the groups that Kubernetes' authenticators
 * give by the names of users: service accounts are in system:serviceaccounts and
 * in system:serviceaccounts:NAMESPACE, system:node:NAME is in system:nodes,
 * system:anonymous is in system:unauthenticated, nobody else is in these, and these
 * users are in no other but the group of a tenant; but everybody who is not
 * system:anonymous is in system:authenticated.
 *
 * Return: true only if it does, and then nearly always; false where there are no
 * rules.
 */
bool kapf_schema_catches(const struct kapf_flow_schema *schema,
			 const struct kapf_flow_schema *other,
			 const struct kapf_subject *subject)
{
	struct cover cover = {
		.rules = schema->rules, .fits = subject_catches,
		.left = MAX_BOXES,
	};

	return covers(&cover, other->rules, subject);
}

static bool rules_overlap(const struct kapf_rule *a, const struct kapf_rule *b)
{
	struct box box, other;
	bool meet = false;

	for (size_t i = 0; i < a->nr_subjects && !meet; i++)
		for (size_t j = 0; j < b->nr_subjects && !meet; j++)
			meet = subjects_overlap(&a->subjects[i],
						&b->subjects[j]);
	for (size_t i = 0; meet && get_box(a, i, &box); i++)
		for (size_t j = 0; get_box(b, j, &other); j++)
			if (boxes_overlap(&box, &other))
				return true;
	return false;
}

/**
 * kapf_schemas_overlap() - may there be a request that two schemas match?
 * @schema: one
 * @other: the other one
 *
 * Users are in groups as with kapf_schema_catches(); others may be in any.
 *
 * Return: false only if there is none.
 */
bool kapf_schemas_overlap(const struct kapf_flow_schema *schema,
			  const struct kapf_flow_schema *other)
{
	for (size_t i = 0; i < schema->rules->nr; i++)
		for (size_t j = 0; j < other->rules->nr; j++)
			if (rules_overlap(&schema->rules->rules[i],
					  &other->rules->rules[j]))
				return true;
	return false;
}
