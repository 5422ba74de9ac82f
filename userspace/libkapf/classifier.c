// SPDX-License-Identifier: LGPL-2.1
/*
 * Classification by an index, so that a request is compared with no schema.
 *
 * The units that take a request are those in a set of its user or its groups and in
 * the sets of its verb, API group, resource and namespace; the first of them has the
 * answer.  Only URLs are compared.
 *
 * Where there are few units it is the many names of a request that take long.  So
 * groups and user are looked up only as long as they can change the answer: not when
 * all keys of that length stand in units behind one that is certain, since it takes
 * all requests of the subjects found so far.  And of verb and so on only that which
 * some unit before the certain one is particular about.
 */
#include <stdlib.h>
#include <string.h>

#include "index.h"

/**
 * struct kapf_classifier - an index of a configuration
 * @config: the configuration, to which all texts belong
 * @last: the schema to which belongs what no other matches
 * @is_indexed: or there are too many units
 * @index: for paths, and for resources
 */
struct kapf_classifier {
	const struct kapf_configuration *config;
	const struct kapf_flow_schema *last;
	bool is_indexed;
	struct index index[2];
};

struct kapf_classifier *
kapf_classifier_new(const struct kapf_configuration *config)
{
	struct kapf_classifier *classifier = calloc(1, sizeof(*classifier));
	int ret;

	if (!classifier)
		return NULL;
	classifier->config = config;
	classifier->last = kapf_config_schema(config, KAPF_NAME_CATCH_ALL);
	ret = index_make(&classifier->index[false], config, false);
	if (!ret)
		ret = index_make(&classifier->index[true], config, true);
	if (ret == -ENOMEM) {
		kapf_classifier_free(classifier);
		return NULL;
	}
	classifier->is_indexed = !ret;
	return classifier;
}

void kapf_classifier_free(struct kapf_classifier *classifier)
{
	if (!classifier)
		return;
	index_destroy(&classifier->index[false]);
	index_destroy(&classifier->index[true]);
	free(classifier);
}

static struct name name_of(const char *string)
{
	return (struct name){ string ? string : "",
			      string ? strlen(string) : 0 };
}

/* NULL: no unit has it. */
static inline const struct slot *
find_key(const struct index *index, enum tag tag, const struct name *name)
{
	const struct slot *slot = find_slot(index, tag, name,
					    hash_key(tag, name));

	return slot->text ? slot : NULL;
}

/* The namespace of a service account; false: @user is none. */
static inline bool find_namespace(const struct name *user, struct name *ns)
{
	static const char prefix[] = KAPF_ACCOUNT_PREFIX;
	const size_t len = sizeof(prefix) - 1;
	const char *colon;

	if (user->len <= len || !same_text(user->text, prefix, len))
		return false;
	ns->text = user->text + len;
	colon = memchr(ns->text, ':', user->len - len);
	if (!colon)
		return false;
	ns->len = colon - ns->text;
	return true;
}

/* Names of resources are short; one that is not is compared. */
#define MAX_RESOURCE 256

/* RESOURCE or RESOURCE/SUBRESOURCE; false: it is too long. */
static bool name_resource(struct name *name, char room[MAX_RESOURCE],
			  const struct kapf_digest *digest)
{
	struct name sub = name_of(digest->subresource);

	*name = name_of(digest->resource);
	if (!sub.len)
		return true;
	if (name->len + sub.len + 1 > MAX_RESOURCE)
		return false;
	memcpy(room, name->text, name->len);
	room[name->len] = '/';
	memcpy(room + name->len + 1, sub.text, sub.len);
	name->text = room;
	name->len += sub.len + 1;
	return true;
}

static bool covers(const struct kapf_path_rule *rule,
		   const struct kapf_digest *digest)
{
	const char *path = digest->path ? digest->path : "";

	for (size_t i = 0; i < rule->urls.nr; i++)
		if (kapf_url_covers(rule->urls.at[i], path))
			return true;
	return false;
}

/*
 * The first unit of a word of a set, for paths the first that has the request's.
 * Return: its schema; NULL: there is none.
 */
static inline const struct kapf_flow_schema *
first_of(const struct index *index, size_t word, uint64_t set,
	 const struct kapf_digest *digest)
{
	const struct unit *units = index->units + word * WORD_BITS;
	uint64_t any = ~0ULL;

	if (!digest->is_resource)
		any = index->any[URL][word];
	for (; set; set &= set - 1) {
		const struct unit *first = units + __builtin_ctzll(set);

		if ((any & set & -set) || covers(first->path_rule, digest))
			return first->schema;
	}
	return NULL;
}

/*
 * ---------------------------------------------------------------------------
 * Sets of one word.  What takes long is to look at all names of a request.
 */

/* The bits before the first one; all where there is none. */
static uint64_t before_first(uint64_t set)
{
	return (set & -set) - 1;
}

/* @set with the units that have the key, if that can make a difference. */
static inline uint64_t unite(uint64_t set, const struct index *index,
			     enum tag tag, const struct name *name,
			     uint64_t certain)
{
	const struct slot *slot;

	if (!(index->reach[tag][name->len % LENGTHS] &
	      before_first(set & certain)))
		return set;
	slot = find_key(index, tag, name);
	return slot ? set | index->rows[slot->at] : set;
}

static uint64_t find_subjects(const struct index *index,
			      const struct kapf_digest *digest,
			      uint64_t certain)
{
	uint64_t set = *index->any[SUBJECT];
	struct name name, ns;

	for (size_t i = 0; i < digest->nr_groups; i++) {
		name = name_of(digest->groups[i]);
		set = unite(set, index, TAG_GROUP, &name, certain);
	}
	if (digest->tenant && *digest->tenant) {
		name = name_of(digest->tenant);
		set = unite(set, index, TAG_TENANT, &name, certain);
	}
	name = name_of(digest->user);
	set = unite(set, index, TAG_USER, &name, certain);
	if (find_namespace(&name, &ns))
		set = unite(set, index, TAG_ACCOUNTS, &ns, certain);
	return set;
}

/* Does all of the set take all there is in this dimension?  Or ask and see. */
static bool is_settled(const struct index *index, uint64_t set, enum tag tag)
{
	return !(set & ~*index->any[dimensions[tag]]);
}

static uint64_t narrow(uint64_t set, const struct index *index, enum tag tag,
		       const struct name *name)
{
	const struct slot *slot = NULL;

	if (index->reach[tag][name->len % LENGTHS] & set)
		slot = find_key(index, tag, name);
	return set & (slot ? index->rows[slot->at] :
			     *index->any[dimensions[tag]]);
}

static uint64_t narrow_text(uint64_t set, const struct index *index,
			    enum tag tag, const char *text)
{
	struct name name;

	if (is_settled(index, set, tag))
		return set;
	name = name_of(text);
	return narrow(set, index, tag, &name);
}

static const struct kapf_flow_schema *
find_among_few(const struct kapf_classifier *classifier,
	       const struct index *index, const struct kapf_digest *digest)
{
	bool has_namespace = digest->ns && *digest->ns;
	uint64_t certain = index->certain[has_namespace];
	uint64_t set = find_subjects(index, digest, certain);
	const struct kapf_flow_schema *schema;
	char room[MAX_RESOURCE];
	struct name name;

	set &= before_first(set & certain) | (set & certain);
	set = narrow_text(set, index, TAG_VERB, digest->verb);
	if (digest->is_resource) {
		set = narrow_text(set, index, TAG_API_GROUP, digest->api_group);
		if (!is_settled(index, set, TAG_RESOURCE)) {
			if (!name_resource(&name, room, digest))
				return kapf_classify(classifier->config,
						     digest);
			set = narrow(set, index, TAG_RESOURCE, &name);
		}
		set = has_namespace ? narrow_text(set, index, TAG_NAMESPACE,
						  digest->ns) :
				      set & *index->any[NO_NAMESPACE];
	}
	schema = first_of(index, 0, set, digest);
	return schema ? schema : classifier->last;
}

/*
 * ---------------------------------------------------------------------------
 * Sets of many words: then each of the names may well be a key, and what takes long
 * is to go through the words.
 */

/* @set gets the units that have the key. */
static void add_key(uint64_t *set, const struct index *index, enum tag tag,
		    const struct name *name)
{
	const struct slot *slot = NULL;
	const uint64_t *row;
	size_t i;

	if (index->reach[tag][name->len % LENGTHS])
		slot = find_key(index, tag, name);
	if (!slot)
		return;
	for (i = 0; i < slot->nr; i++)
		set_add(set, index->lists[slot->at + i]);
	row = index->rows + slot->at;
	if (!slot->nr)
		for (i = 0; i < index->words; i++)
			set[i] |= row[i];
}

static void add_subjects(uint64_t *set, const struct index *index,
			 const struct kapf_digest *digest)
{
	struct name name = name_of(digest->user), ns;

	memcpy(set, index->any[SUBJECT], index->words * sizeof(*set));
	add_key(set, index, TAG_USER, &name);
	if (find_namespace(&name, &ns))
		add_key(set, index, TAG_ACCOUNTS, &ns);
	if (digest->tenant && *digest->tenant) {
		name = name_of(digest->tenant);
		add_key(set, index, TAG_TENANT, &name);
	}
	for (size_t i = 0; i < digest->nr_groups; i++) {
		name = name_of(digest->groups[i]);
		add_key(set, index, TAG_GROUP, &name);
	}
}

/* The units that have the key, or take all there is; maybe in @room. */
static const uint64_t *find_row(const struct index *index, enum tag tag,
				const struct name *name, uint64_t *room)
{
	const uint64_t *any = index->any[dimensions[tag]];
	const struct slot *slot = find_key(index, tag, name);

	if (!slot)
		return any;
	if (!slot->nr)
		return index->rows + slot->at;
	memcpy(room, any, index->words * sizeof(*room));
	for (size_t i = 0; i < slot->nr; i++)
		set_add(room, index->lists[slot->at + i]);
	return room;
}

static const struct kapf_flow_schema *
find_among_many(const struct kapf_classifier *classifier,
		const struct index *index, const struct kapf_digest *digest)
{
	uint64_t set[MAX_WORDS], room[4][MAX_WORDS];
	const uint64_t *verb, *api_group, *resource, *ns;
	const struct kapf_flow_schema *schema = NULL;
	char text[MAX_RESOURCE];
	struct name name;
	size_t i;

	add_subjects(set, index, digest);
	name = name_of(digest->verb);
	verb = find_row(index, TAG_VERB, &name, room[0]);
	api_group = verb;
	resource = verb;
	ns = verb;
	if (digest->is_resource) {
		name = name_of(digest->api_group);
		api_group = find_row(index, TAG_API_GROUP, &name, room[1]);
		if (!name_resource(&name, text, digest))
			return kapf_classify(classifier->config, digest);
		resource = find_row(index, TAG_RESOURCE, &name, room[2]);
		name = name_of(digest->ns);
		ns = name.len ? find_row(index, TAG_NAMESPACE, &name, room[3]) :
				index->any[NO_NAMESPACE];
	}
	for (i = 0; !schema && i < index->words; i++)
		schema = first_of(index, i, set[i] & verb[i] & api_group[i] &
				  resource[i] & ns[i], digest);
	return schema ? schema : classifier->last;
}

const struct kapf_flow_schema *
kapf_classifier_match(const struct kapf_classifier *classifier,
		      const struct kapf_digest *digest)
{
	const struct index *index = &classifier->index[digest->is_resource];

	if (!classifier->is_indexed)
		return kapf_classify(classifier->config, digest);
	if (!index->words)
		return classifier->last;
	if (index->words == 1)
		return find_among_few(classifier, index, digest);
	return find_among_many(classifier, index, digest);
}
