// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as FlowSchemas and requests: the library has to find the schema that
 * is found here by the words of the rules, with strings that are put together
 * and compared, also after the configuration went to the kernel and back; not one
 * of which it says that another before it covers it; and to say of each schema
 * before it which part of which rule fails.
 *
 * First come the schemas, then requests until nothing is left.
 */
#include <string.h>

#include "fuzz.h"
#include "internal.h"

#define MAX_SCHEMAS	4
#define MAX_RULES	2
#define MAX_WORDS	3
#define MAX_TEXT	256

/* Each ends with NULL. */
static const char *const verbs[] = {
	"*", "get", "list", "proxy", "", "post", NULL
};

static const char *const api_groups[] = { "*", "", "apps", "app", NULL };

static const char *const resources[] = {
	"*", "pods", "pods/log", "pods/", "po", "/log", "", NULL
};

static const char *const namespaces[] = { "*", "a", "b", "a-b", "", NULL };

static const char *const urls[] = {
	"*", "/", "/a", "/a/", "/a/*", "/*", "/ab", "/a/b", "", "/a/b/", "a",
	NULL
};

static const char *const users[] = {
	"*", "u", "a", "system:serviceaccount:a:s", "system:serviceaccount:a:t",
	"system:serviceaccount:a", "system:serviceaccount:a-b:s",
	"system:serviceaccount:a:s:t", "kapf:tenant:t", "", NULL
};

static const char *const groups[] = {
	"*", "g", "kapf:tenant:t", "kapf:tenant:", "system:serviceaccounts",
	"system:authenticated", "system:masters", "", "system:unauthenticated",
	NULL
};

static const char *const accounts[] = { "*", "s", "t", NULL };
static const char *const levels[] = { "catch-all", "exempt", "none", NULL };
static const char *const subresources[] = { "", "log", "lo", "/log", NULL };
static const char *const tenants[] = { "", "t", "tt", NULL };

/* So many of these are valid in a rule, too. */
#define NR_VERBS	4
#define NR_API_GROUPS	4
#define NR_RESOURCES	7
#define NR_NAMESPACES	4
#define NR_URLS		8
#define NR_USERS	9
#define NR_GROUPS	7

struct words {
	const char *at[MAX_WORDS];
	size_t nr;
};

struct subject {
	enum kapf_subject_kind kind;
	const char *ns;
	const char *name;
};

/* A rule for paths or for resources; of the words it has those that it needs. */
struct rule {
	struct subject subjects[MAX_WORDS];
	size_t nr_subjects;
	bool for_paths;
	struct words verbs;
	struct words api_groups;
	struct words resources;
	struct words namespaces;
	bool cluster_scope;
	struct words urls;
};

struct schema {
	const char *name;
	const char *level;
	unsigned int precedence;
	unsigned int distinguisher;
	struct rule rules[MAX_RULES];
	size_t nr_rules;
};

struct config {
	struct schema schemas[MAX_SCHEMAS];
	size_t nr;
};

static size_t count(const char *const *list)
{
	size_t nr = 0;

	while (list[nr])
		nr++;
	return nr;
}

static const char *some_word(struct input *input, const char *const *list)
{
	return list[input_below(input, count(list))];
}

/* "*" stands alone. */
static struct words some_words(struct input *input, const char *const *list,
			       size_t nr)
{
	struct words words = { .nr = 1 + input_below(input, MAX_WORDS) };
	size_t i;

	words.at[0] = list[input_below(input, nr)];
	if (!strcmp(words.at[0], "*"))
		words.nr = 1;
	for (i = 1; i < words.nr; i++)
		words.at[i] = list[1 + input_below(input, nr - 1)];
	return words;
}

static struct subject some_subject(struct input *input)
{
	struct subject subject = { .kind = input_below(input, 3) };

	switch (subject.kind) {
	case KAPF_USER:
		subject.name = users[input_below(input, NR_USERS)];
		break;
	case KAPF_GROUP:
		subject.name = groups[input_below(input, NR_GROUPS)];
		break;
	case KAPF_SERVICE_ACCOUNT:
		subject.ns = namespaces[1 + input_below(input,
							NR_NAMESPACES - 1)];
		subject.name = some_word(input, accounts);
		break;
	}
	return subject;
}

static struct rule some_rule(struct input *input)
{
	struct rule rule = { .nr_subjects = 1 + input_below(input, MAX_WORDS) };
	size_t i;

	for (i = 0; i < rule.nr_subjects; i++)
		rule.subjects[i] = some_subject(input);
	rule.verbs = some_words(input, verbs, NR_VERBS);
	rule.for_paths = input_below(input, 2);
	if (rule.for_paths) {
		rule.urls = some_words(input, urls, NR_URLS);
		return rule;
	}
	rule.api_groups = some_words(input, api_groups, NR_API_GROUPS);
	rule.resources = some_words(input, resources, NR_RESOURCES);
	rule.cluster_scope = input_below(input, 2);
	if (!rule.cluster_scope || input_below(input, 2))
		rule.namespaces = some_words(input, namespaces, NR_NAMESPACES);
	return rule;
}

static struct config some_config(struct input *input)
{
	/* Of equal precedence, they are tried in the order of these octets. */
	static const char *const names[MAX_SCHEMAS] = { "a-b", "a.b", "a0", "b" };
	struct config config = { .nr = input_below(input, MAX_SCHEMAS + 1) };
	size_t i, j;

	for (i = 0; i < config.nr; i++) {
		struct schema *schema = &config.schemas[i];

		schema->name = names[i];
		schema->level = some_word(input, levels);
		schema->precedence = 2 + input_below(input, MAX_SCHEMAS);
		schema->distinguisher = input_below(input, 3);
		schema->nr_rules = input_below(input, MAX_RULES + 1);
		for (j = 0; j < schema->nr_rules; j++)
			schema->rules[j] = some_rule(input);
	}
	return config;
}

static void write_words(FILE *to, const char *name, const struct words *words)
{
	size_t i;

	fprintf(to, "%s: [", name);
	for (i = 0; i < words->nr; i++)
		fprintf(to, "'%s', ", words->at[i]);
	fputs("], ", to);
}

static void write_subject(FILE *to, const struct subject *subject)
{
	static const char *const kinds[] = {
		"User, user", "Group, group", "ServiceAccount, serviceAccount",
	};

	fprintf(to, "{kind: %s: {name: '%s', ", kinds[subject->kind],
		subject->name);
	if (subject->ns)
		fprintf(to, "namespace: '%s'", subject->ns);
	fputs("}}, ", to);
}

static void write_rule(FILE *to, const struct rule *rule)
{
	size_t i;

	fputs("  - subjects: [", to);
	for (i = 0; i < rule->nr_subjects; i++)
		write_subject(to, &rule->subjects[i]);
	fprintf(to, "]\n    %s: [{",
		rule->for_paths ? "nonResourceRules" : "resourceRules");
	write_words(to, "verbs", &rule->verbs);
	if (rule->for_paths) {
		write_words(to, "nonResourceURLs", &rule->urls);
	} else {
		write_words(to, "apiGroups", &rule->api_groups);
		write_words(to, "resources", &rule->resources);
		write_words(to, "namespaces", &rule->namespaces);
		if (rule->cluster_scope)
			fputs("clusterScope: true", to);
	}
	fputs("}]\n", to);
}

static void write_schema(FILE *to, const struct schema *schema)
{
	static const char *const methods[] = {
		"", "  distinguisherMethod: {type: ByUser}\n",
		"  distinguisherMethod: {type: ByNamespace}\n",
	};
	size_t i;

	fprintf(to, "---\napiVersion: flowcontrol.apiserver.k8s.io/v1\n"
		"kind: FlowSchema\nmetadata: {name: %s}\nspec:\n"
		"  priorityLevelConfiguration: {name: %s}\n"
		"  matchingPrecedence: %u\n%s%s", schema->name, schema->level,
		schema->precedence, methods[schema->distinguisher],
		schema->nr_rules ? "  rules:\n" : "");
	for (i = 0; i < schema->nr_rules; i++)
		write_rule(to, &schema->rules[i]);
}

/* What the library makes of the manifests */
static struct kapf_configuration *library_config(const struct config *config)
{
	struct kapf_configuration *made = kapf_config_new();
	struct kapf_error err = {};
	char *text = NULL;
	size_t i, len;
	FILE *to = open_memstream(&text, &len);

	for (i = 0; i < config->nr; i++)
		write_schema(to, &config->schemas[i]);
	fclose(to);
	if (config->nr && kapf_config_merge(made, text, len, "x", &err)) {
		fprintf(stderr, "%s\n%s", err.text, text);
		abort();
	}
	kapf_config_nominal(made);
	free(text);
	return made;
}

static bool has(const struct words *words, const char *wanted)
{
	size_t i;

	for (i = 0; i < words->nr; i++)
		if (!strcmp(words->at[i], wanted) || !strcmp(words->at[i], "*"))
			return true;
	return false;
}

static bool in_group(const struct kapf_digest *digest, const char *group)
{
	char tenant[MAX_TEXT];
	size_t i;

	snprintf(tenant, sizeof(tenant), "kapf:tenant:%s", digest->tenant);
	if (!strncmp(group, "kapf:tenant:", 12))
		return !strcmp(group, tenant) && *digest->tenant;
	for (i = 0; i < digest->nr_groups; i++)
		if (!strcmp(digest->groups[i], group))
			return true;
	return !strcmp(group, "*");
}

static bool is_meant(const struct subject *subject,
		     const struct kapf_digest *digest)
{
	bool all = !strcmp(subject->name, "*");
	char account[MAX_TEXT];

	if (subject->kind == KAPF_GROUP)
		return in_group(digest, subject->name);
	if (subject->kind == KAPF_USER)
		return all || !strcmp(subject->name, digest->user);
	snprintf(account, sizeof(account), "system:serviceaccount:%s:%s",
		 subject->ns, all ? "" : subject->name);
	return !strncmp(digest->user, account,
			all ? strlen(account) : sizeof(account));
}

static bool has_path(const struct words *words, const char *path)
{
	char below[MAX_TEXT];
	size_t i, len;

	for (i = 0; i < words->nr; i++) {
		if (!strcmp(words->at[i], "*") || !strcmp(words->at[i], path))
			return true;
		len = strlen(words->at[i]);
		if (words->at[i][len - 1] == '*')
			len--;
		snprintf(below, sizeof(below), "%.*s%s", (int)len, words->at[i],
			 words->at[i][len - 1] == '/' ? "" : "/");
		if (!strncmp(path, below, strlen(below)))
			return true;
	}
	return false;
}

/* KAPF_PART_NONE: the rule matches */
static enum kapf_part first_failure(const struct rule *rule,
				    const struct kapf_digest *digest)
{
	char resource[MAX_TEXT];
	bool meant = false;
	size_t i;

	for (i = 0; i < rule->nr_subjects; i++)
		meant |= is_meant(&rule->subjects[i], digest);
	if (!meant)
		return KAPF_PART_SUBJECTS;
	if (rule->for_paths == digest->is_resource)
		return rule->for_paths ? KAPF_PART_RESOURCE_RULES :
					 KAPF_PART_PATH_RULES;
	if (!has(&rule->verbs, digest->verb))
		return KAPF_PART_VERBS;
	if (rule->for_paths)
		return has_path(&rule->urls, digest->path) ? KAPF_PART_NONE :
							     KAPF_PART_URLS;
	snprintf(resource, sizeof(resource), "%s%s%s", digest->resource,
		 *digest->subresource ? "/" : "", digest->subresource);
	if (!has(&rule->api_groups, digest->api_group))
		return KAPF_PART_API_GROUPS;
	if (!has(&rule->resources, resource))
		return KAPF_PART_RESOURCES;
	if (!*digest->ns)
		return rule->cluster_scope ? KAPF_PART_NONE :
					     KAPF_PART_CLUSTER_SCOPE;
	return has(&rule->namespaces, digest->ns) ? KAPF_PART_NONE :
						    KAPF_PART_NAMESPACES;
}

/**
 * struct comparison - of a schema, or a rule of it, with a request
 * @schema: which
 * @rule: its index
 * @part: that fails first
 */
struct comparison {
	const struct schema *schema;
	size_t rule;
	enum kapf_part part;
};

/**
 * struct way - how a request gets to its schema
 * @steps: in their order
 * @nr: how many
 * @told: so many of them has the library told of
 */
struct way {
	struct comparison steps[MAX_SCHEMAS * MAX_RULES];
	size_t nr;
	size_t told;
};

static bool goes_on(struct way *way, const struct schema *schema, size_t rule,
		    enum kapf_part part)
{
	way->steps[way->nr++] = (struct comparison){ schema, rule, part };
	return part != KAPF_PART_NONE;
}

static bool goes_past(struct way *way, const struct schema *schema,
		      const struct kapf_digest *digest)
{
	size_t i;

	if (!strcmp(schema->level, "none"))
		return goes_on(way, schema, 0, KAPF_PART_LEVEL);
	if (!schema->nr_rules)
		return goes_on(way, schema, 0, KAPF_PART_RULES);
	for (i = 0; i < schema->nr_rules; i++)
		if (!goes_on(way, schema, i,
			     first_failure(&schema->rules[i], digest)))
			return false;
	return true;
}

/* NULL: one of the mandatory ones */
static const struct schema *classify(struct way *way,
				     const struct config *config,
				     const struct kapf_digest *digest)
{
	unsigned int precedence;
	size_t i;

	if (in_group(digest, "system:masters"))
		return NULL;
	for (precedence = 2; precedence < 2 + MAX_SCHEMAS; precedence++) {
		for (i = 0; i < config->nr; i++) {
			const struct schema *schema = &config->schemas[i];

			if (schema->precedence == precedence &&
			    !goes_past(way, schema, digest))
				return schema;
		}
	}
	return NULL;
}

/* One of the words, or any short text, which goes to @room */
static const char *some_text(struct input *input, const char *const *list,
			     char *room)
{
	size_t i, len = input_byte(input);

	if (len < 240)
		return list[len % count(list)];
	len -= 240;
	for (i = 0; i < len; i++)
		room[i] = input_byte(input);
	room[len] = '\0';
	return room;
}

static const char *expected_distinguisher(unsigned int method,
					  const struct kapf_digest *digest)
{
	if (method == KAPF_BY_USER)
		return digest->user;
	return method == KAPF_BY_NAMESPACE ? digest->ns : "";
}

static bool is_mandatory(const char *schema)
{
	return !strcmp(schema, "exempt") || !strcmp(schema, "catch-all");
}

static void follow(const struct kapf_flow_schema *schema,
		   const struct kapf_match *match, void *user)
{
	struct way *way = user;
	const struct comparison *step = &way->steps[way->told];

	if (is_mandatory(schema->name))
		return;
	insist(way->told++ < way->nr);
	insist(!strcmp(schema->name, step->schema->name));
	insist(match->rule == step->rule);
	insist(match->part == step->part);
	insist(!match->entry);
}

static void check(const struct config *config,
		  const struct kapf_configuration *made,
		  const struct kapf_digest *digest)
{
	struct way way = { .nr = 0 };
	const struct schema *expected = classify(&way, config, digest);
	const struct kapf_flow_schema *found = kapf_classify(made, digest);
	const char *name, *distinguisher;

	insist(kapf_explain(made, digest, follow, &way) == found);
	insist(way.told == way.nr);
	if (!expected) {
		name = in_group(digest, "system:masters") ? "exempt" :
							    "catch-all";
		insist(!strcmp(found->name, name));
		return;
	}
	insist(!strcmp(found->name, expected->name));
	insist(!strcmp(found->level, expected->level));
	distinguisher = kapf_flow_distinguisher(found, digest);
	insist(!strcmp(distinguisher,
		       expected_distinguisher(expected->distinguisher,
					      digest)));
}

/* A schema gets nothing that one before it covers. */
static void check_covers(const struct kapf_configuration *made,
			 const struct kapf_digest *digest)
{
	const struct kapf_flow_schema *found = kapf_classify(made, digest);
	const struct kapf_flow_schema *before;

	for (before = made->schemas; before != found; before++)
		insist(before->dangling || !kapf_schema_covers(before, found));
}

static void one_request(struct input *input, const struct config *config,
			const struct kapf_configuration *made,
			const struct kapf_configuration *back)
{
	const char *in[MAX_WORDS];
	char room[9][16];
	struct kapf_digest digest = { .groups = in, .ns = "" };
	size_t i;

	digest.user = some_text(input, users, room[0]);
	digest.nr_groups = input_below(input, MAX_WORDS + 1);
	digest.is_resource = input_below(input, 2);
	digest.verb = some_text(input, verbs, room[1]);
	digest.tenant = some_word(input, tenants);
	for (i = 0; i < digest.nr_groups; i++)
		in[i] = some_text(input, groups, room[2 + i]);
	if (digest.is_resource) {
		digest.api_group = some_text(input, api_groups, room[5]);
		digest.resource = some_text(input, resources, room[6]);
		digest.subresource = some_text(input, subresources, room[7]);
		digest.ns = some_text(input, namespaces, room[8]);
	} else {
		digest.path = some_text(input, urls, room[5]);
	}
	check(config, made, &digest);
	check(config, back, &digest);
	check_covers(made, &digest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { .at = data, .left = size };
	const struct config config = some_config(&input);
	struct kapf_configuration *made = library_config(&config);
	struct kapf_configuration *back;
	void *image;
	size_t len;

	insist(!kapf_image_encode(made, &image, &len, NULL));
	insist(!kapf_image_decode(image, len, &back, NULL));
	while (input.left)
		one_request(&input, &config, made, back);
	free(image);
	kapf_config_free(back);
	kapf_config_free(made);
	return 0;
}
