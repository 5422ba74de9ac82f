// SPDX-License-Identifier: LGPL-2.1
/*
 * Classification by an index: which schemas can a request belong to at all, so
 * that few of them have to be compared with it.
 *
 * Each name in a rule is a key: a user, a group, a verb, a resource and so on.  A
 * key leads to the set of schemas that have it in some rule.  A request belongs to
 * none that is not in the set of one of its subjects, so these are tried first, in
 * their order; when some of them have been tried in vain, only those are left that
 * are in the sets of its verb, API group, resource and namespace, too.  As a rule
 * may have the one and another rule the other, each is compared as a whole before
 * it counts: the index leaves out what cannot match, and decides nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define WORD_BITS 64

#define MAX_WORDS (KAPF_MAX_SCHEMAS / WORD_BITS)

/* So few are compared sooner than an index is asked. */
#define FEW_SCHEMAS 16

/* So many are tried before the others are narrowed down. */
#define CHEAP_TRIES 4

/* What a key is the name of. */
enum tag {
	TAG_USER,
	TAG_GROUP,
	TAG_TENANT,
	TAG_ACCOUNT,
	TAG_ACCOUNTS,
	TAG_VERB,
	TAG_API_GROUP,
	TAG_RESOURCE,
	TAG_NAMESPACE,
	TAG_PATH_VERB,
};

/* What a request has, and what a rule says something of. */
enum dimension {
	SUBJECT,
	VERB,
	API_GROUP,
	RESOURCE,
	NAMESPACE,
	NO_NAMESPACE,
	PATH_VERB,
	NR_DIMENSIONS,
};

/**
 * struct key - a name in a rule, or of a request
 * @tag: what it is the name of
 * @scope: namespace of a service account; else empty
 * @text: the name, both without NUL
 * @scope_len: of @scope
 * @len: of @text
 */
struct key {
	enum tag tag;
	const char *scope;
	const char *text;
	size_t scope_len;
	size_t len;
};

/**
 * struct slot - a key that leads somewhere
 * @key: it; @text is NULL where the slot is free
 * @hash: of the key
 * @nr: schemas in its list; 0: it has a row
 * @at: of its list or row
 */
struct slot {
	struct key key;
	uint64_t hash;
	size_t nr;
	size_t at;
};

/**
 * struct kapf_classifier - an index of a configuration
 * @config: the configuration, to which all texts belong
 * @last: the schema to which belongs what no other matches
 * @words: of a set of schemas; 0: there is no index, for it would be no use
 * @any: for each dimension, schemas with a rule that takes all there is
 * @slots: hash table of the keys
 * @mask: number of slots - 1
 * @rows: sets of schemas, of the keys that many have
 * @lists: indices of schemas, of the keys that few have
 */
struct kapf_classifier {
	const struct kapf_configuration *config;
	const struct kapf_flow_schema *last;
	size_t words;
	uint64_t any[NR_DIMENSIONS][MAX_WORDS];
	struct slot *slots;
	size_t mask;
	uint64_t *rows;
	uint16_t *lists;
};

static void set_add(uint64_t *set, size_t schema)
{
	set[schema / WORD_BITS] |= 1ULL << schema % WORD_BITS;
}

/* Eight bytes at a time. */
static uint64_t hash_text(uint64_t hash, const char *text, size_t len)
{
	const uint64_t factor = 0x9e3779b97f4a7c15;
	uint64_t word;

	for (hash ^= len; len >= sizeof(word); len -= sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		hash = (hash ^ word) * factor;
		hash ^= hash >> 32;
		text += sizeof(word);
	}
	word = 0;
	memcpy(&word, text, len);
	hash = (hash ^ word) * factor;
	return hash ^ hash >> 32;
}

static uint64_t hash_key(const struct key *key)
{
	uint64_t hash = key->tag;

	if (key->scope_len)
		hash = hash_text(hash, key->scope, key->scope_len);
	return hash_text(hash, key->text, key->len);
}

static bool same_key(const struct key *a, const struct key *b)
{
	return a->tag == b->tag && a->len == b->len &&
	       a->scope_len == b->scope_len &&
	       !memcmp(a->text, b->text, a->len) &&
	       !memcmp(a->scope, b->scope, a->scope_len);
}

/* The slot of the key, or the free one where it would be. */
static struct slot *find_slot(const struct kapf_classifier *index,
			      const struct key *key, uint64_t hash)
{
	size_t at = hash & index->mask;
	struct slot *slot;

	for (;; at = (at + 1) & index->mask) {
		slot = &index->slots[at];
		if (!slot->key.text ||
		    (slot->hash == hash && same_key(&slot->key, key)))
			return slot;
	}
}

/*
 * ---------------------------------------------------------------------------
 * Making it: once to count keys, once to count the schemas of each, once to note
 * them.
 */

/**
 * struct visit - what is done with each key of each schema
 * @index: that is made
 * @schema: index of the schema
 * @noted: the last schema that was counted or noted for each slot, + 1
 * @nr: keys, counted again wherever they stand
 * @key: does it
 */
struct visit {
	struct kapf_classifier *index;
	size_t schema;
	uint16_t *noted;
	size_t nr;
	void (*key)(struct visit *visit, const struct key *key);
};

static void visit_text(struct visit *visit, enum tag tag, const char *text)
{
	const struct key key = {
		.tag = tag, .scope = "", .text = text, .len = strlen(text)
	};

	visit->key(visit, &key);
}

static void visit_strings(struct visit *visit, enum dimension dimension,
			  enum tag tag, const struct kapf_strings *strings)
{
	if (kapf_is_star(strings)) {
		set_add(visit->index->any[dimension], visit->schema);
		return;
	}
	for (size_t i = 0; i < strings->nr; i++)
		visit_text(visit, tag, strings->at[i]);
}

static void visit_account(struct visit *visit,
			  const struct kapf_subject *subject)
{
	const struct key key = {
		.tag = TAG_ACCOUNT,
		.scope = subject->ns,
		.text = subject->name,
		.scope_len = strlen(subject->ns),
		.len = strlen(subject->name),
	};

	if (!strcmp(subject->name, "*"))
		visit_text(visit, TAG_ACCOUNTS, subject->ns);
	else
		visit->key(visit, &key);
}

static void visit_subject(struct visit *visit,
			  const struct kapf_subject *subject)
{
	static const char prefix[] = KAPF_TENANT_PREFIX;
	const size_t len = sizeof(prefix) - 1;

	if (subject->kind == KAPF_SERVICE_ACCOUNT)
		visit_account(visit, subject);
	else if (!strcmp(subject->name, "*"))
		set_add(visit->index->any[SUBJECT], visit->schema);
	else if (subject->kind == KAPF_USER)
		visit_text(visit, TAG_USER, subject->name);
	else if (!strncmp(subject->name, prefix, len))
		visit_text(visit, TAG_TENANT, subject->name + len);
	else
		visit_text(visit, TAG_GROUP, subject->name);
}

static void visit_resource_rule(struct visit *visit,
				const struct kapf_resource_rule *rule)
{
	visit_strings(visit, VERB, TAG_VERB, &rule->verbs);
	visit_strings(visit, API_GROUP, TAG_API_GROUP, &rule->api_groups);
	visit_strings(visit, RESOURCE, TAG_RESOURCE, &rule->resources);
	visit_strings(visit, NAMESPACE, TAG_NAMESPACE, &rule->namespaces);
	if (rule->cluster_scope)
		set_add(visit->index->any[NO_NAMESPACE], visit->schema);
}

static void visit_rule(struct visit *visit, const struct kapf_rule *rule)
{
	size_t i;

	for (i = 0; i < rule->nr_subjects; i++)
		visit_subject(visit, &rule->subjects[i]);
	for (i = 0; i < rule->nr_resource_rules; i++)
		visit_resource_rule(visit, &rule->resource_rules[i]);
	for (i = 0; i < rule->nr_path_rules; i++)
		visit_strings(visit, PATH_VERB, TAG_PATH_VERB,
			      &rule->path_rules[i].verbs);
}

static void visit_all(struct visit *visit,
		      void (*key)(struct visit *visit, const struct key *key))
{
	const struct kapf_configuration *config = visit->index->config;
	size_t i, j;

	visit->key = key;
	for (i = 0; i < config->nr_schemas; i++) {
		const struct kapf_flow_schema *schema = &config->schemas[i];

		visit->schema = i;
		for (j = 0; !schema->dangling && j < schema->rules->nr; j++)
			visit_rule(visit, &schema->rules->rules[j]);
	}
}

static void count_key(struct visit *visit, const struct key *key)
{
	(void)key;
	visit->nr++;
}

/* The key's slot, and whether this schema has come there for the first time. */
static struct slot *note(struct visit *visit, const struct key *key,
			 bool *is_new)
{
	struct slot *slot = find_slot(visit->index, key, hash_key(key));
	uint16_t *noted = &visit->noted[slot - visit->index->slots];

	*is_new = *noted != visit->schema + 1;
	*noted = visit->schema + 1;
	return slot;
}

static void count_schema(struct visit *visit, const struct key *key)
{
	bool is_new;
	struct slot *slot = note(visit, key, &is_new);

	slot->key = *key;
	slot->hash = hash_key(key);
	slot->nr += is_new;
}

/* @at goes on while a list is filled, and back afterwards. */
static void add_schema(struct visit *visit, const struct key *key)
{
	struct kapf_classifier *index = visit->index;
	bool is_new;
	struct slot *slot = note(visit, key, &is_new);

	if (!is_new)
		return;
	if (!slot->nr)
		set_add(index->rows + slot->at, visit->schema);
	else
		index->lists[slot->at++] = visit->schema;
}

/* A list where it takes less room than a row. */
static int make_room(struct kapf_classifier *index)
{
	size_t rows = 0, lists = 0;

	for (size_t i = 0; i <= index->mask; i++) {
		struct slot *slot = &index->slots[i];

		if (slot->nr * sizeof(*index->lists) >=
		    index->words * sizeof(*index->rows)) {
			slot->at = rows;
			slot->nr = 0;
			rows += index->words;
		} else {
			slot->at = lists;
			lists += slot->nr;
		}
	}
	index->rows = calloc(rows + 1, sizeof(*index->rows));
	index->lists = calloc(lists + 1, sizeof(*index->lists));
	return index->rows && index->lists ? 0 : -ENOMEM;
}

static int make_slots(struct visit *visit)
{
	struct kapf_classifier *index = visit->index;
	size_t room = 16;

	visit_all(visit, count_key);
	while (room < 2 * visit->nr)
		room *= 2;
	index->mask = room - 1;
	index->slots = calloc(room, sizeof(*index->slots));
	visit->noted = calloc(room, sizeof(*visit->noted));
	return index->slots && visit->noted ? 0 : -ENOMEM;
}

static int make_index(struct kapf_classifier *index)
{
	struct visit visit = { .index = index };
	size_t i;
	int ret;

	index->words = (index->config->nr_schemas + WORD_BITS - 1) / WORD_BITS;
	ret = make_slots(&visit);
	if (!ret) {
		visit_all(&visit, count_schema);
		ret = make_room(index);
	}
	if (!ret) {
		memset(visit.noted, 0,
		       (index->mask + 1) * sizeof(*visit.noted));
		visit_all(&visit, add_schema);
		for (i = 0; i <= index->mask; i++)
			index->slots[i].at -= index->slots[i].nr;
	}
	free(visit.noted);
	return ret;
}

struct kapf_classifier *
kapf_classifier_new(const struct kapf_configuration *config)
{
	struct kapf_classifier *index = calloc(1, sizeof(*index));

	if (!index)
		return NULL;
	index->config = config;
	index->last = kapf_config_schema(config, KAPF_NAME_CATCH_ALL);
	if (config->nr_schemas > FEW_SCHEMAS &&
	    config->nr_schemas <= KAPF_MAX_SCHEMAS && make_index(index) < 0) {
		kapf_classifier_free(index);
		return NULL;
	}
	return index;
}

void kapf_classifier_free(struct kapf_classifier *classifier)
{
	if (!classifier)
		return;
	free(classifier->slots);
	free(classifier->rows);
	free(classifier->lists);
	free(classifier);
}

/*
 * ---------------------------------------------------------------------------
 * Asking it
 */

/* @set gets the schemas that have the key. */
static void unite(uint64_t *set, const struct kapf_classifier *index,
		  const struct key *key)
{
	const struct slot *slot = find_slot(index, key, hash_key(key));
	size_t i;

	if (!slot->key.text)
		return;
	for (i = 0; i < slot->nr; i++)
		set_add(set, index->lists[slot->at + i]);
	if (!slot->nr)
		for (i = 0; i < index->words; i++)
			set[i] |= index->rows[slot->at + i];
}

static void unite_text(uint64_t *set, const struct kapf_classifier *index,
		       enum tag tag, const char *text)
{
	const struct key key = {
		.tag = tag, .scope = "", .text = text, .len = strlen(text)
	};

	unite(set, index, &key);
}

static const char *text(const char *string)
{
	return string ? string : "";
}

/* A service account is one in its namespace, and itself. */
static void unite_account(uint64_t *set, const struct kapf_classifier *index,
			  const char *user)
{
	static const char prefix[] = KAPF_ACCOUNT_PREFIX;
	const char *ns = user + sizeof(prefix) - 1, *colon;
	struct key key;

	if (strncmp(user, prefix, sizeof(prefix) - 1))
		return;
	colon = strchr(ns, ':');
	if (!colon)
		return;
	key = (struct key){
		.tag = TAG_ACCOUNTS, .scope = "", .text = ns, .len = colon - ns
	};
	unite(set, index, &key);
	key = (struct key){
		.tag = TAG_ACCOUNT,
		.scope = ns,
		.text = colon + 1,
		.scope_len = colon - ns,
		.len = strlen(colon + 1),
	};
	unite(set, index, &key);
}

static void find_subjects(uint64_t *set, const struct kapf_classifier *index,
			  const struct kapf_digest *digest)
{
	const char *user = text(digest->user), *tenant = text(digest->tenant);

	memcpy(set, index->any[SUBJECT], index->words * sizeof(*set));
	unite_text(set, index, TAG_USER, user);
	unite_account(set, index, user);
	if (*tenant)
		unite_text(set, index, TAG_TENANT, tenant);
	for (size_t i = 0; i < digest->nr_groups; i++)
		unite_text(set, index, TAG_GROUP, text(digest->groups[i]));
}

/* Leave in @set what has @name in this dimension, or takes all there is. */
static void narrow(uint64_t *set, const struct kapf_classifier *index,
		   enum dimension dimension, enum tag tag, const char *name)
{
	uint64_t having[MAX_WORDS];

	memcpy(having, index->any[dimension], index->words * sizeof(*having));
	unite_text(having, index, tag, name);
	for (size_t i = 0; i < index->words; i++)
		set[i] &= having[i];
}

/* Names of resources are short; of one that is not, nothing is known. */
#define MAX_RESOURCE 256

static void narrow_resource(uint64_t *set, const struct kapf_classifier *index,
			    const struct kapf_digest *digest)
{
	const char *subresource = text(digest->subresource);
	const char *resource = text(digest->resource);
	size_t len = strlen(resource), sub_len = strlen(subresource);
	char both[MAX_RESOURCE];

	if (!sub_len) {
		narrow(set, index, RESOURCE, TAG_RESOURCE, resource);
	} else if (len + sub_len + 2 <= sizeof(both)) {
		memcpy(both, resource, len);
		both[len] = '/';
		memcpy(both + len + 1, subresource, sub_len + 1);
		narrow(set, index, RESOURCE, TAG_RESOURCE, both);
	}
}

static void narrow_all(uint64_t *set, const struct kapf_classifier *index,
		       const struct kapf_digest *digest)
{
	const char *ns = text(digest->ns);

	if (!digest->is_resource) {
		narrow(set, index, PATH_VERB, TAG_PATH_VERB,
		       text(digest->verb));
		return;
	}
	narrow(set, index, VERB, TAG_VERB, text(digest->verb));
	narrow(set, index, API_GROUP, TAG_API_GROUP, text(digest->api_group));
	narrow_resource(set, index, digest);
	if (*ns)
		narrow(set, index, NAMESPACE, TAG_NAMESPACE, ns);
	else
		for (size_t i = 0; i < index->words; i++)
			set[i] &= index->any[NO_NAMESPACE][i];
}

const struct kapf_flow_schema *
kapf_classifier_match(const struct kapf_classifier *classifier,
		      const struct kapf_digest *digest)
{
	const struct kapf_configuration *config = classifier->config;
	unsigned int tries = 0;
	uint64_t set[MAX_WORDS];

	if (!classifier->words)
		return kapf_classify(config, digest);
	find_subjects(set, classifier, digest);
	for (size_t i = 0; i < classifier->words; i++) {
		while (set[i]) {
			const struct kapf_flow_schema *schema =
				&config->schemas[i * WORD_BITS +
						 __builtin_ctzll(set[i])];

			if (kapf_schema_matches(schema, digest))
				return schema;
			set[i] &= set[i] - 1;
			if (++tries == CHEAP_TRIES)
				narrow_all(set, classifier, digest);
		}
	}
	return classifier->last;
}
