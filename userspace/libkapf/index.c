// SPDX-License-Identifier: LGPL-2.1
/*
 * Makes an index of rules, going through all of them three times: to count units and
 * keys, to count the units of each key, and to note them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "index.h"

/* In sets of so many words a key has a row, though it takes more room than a list. */
#define FEW_WORDS 64

/**
 * struct visit - what is done with each key of each unit
 * @index: that is made
 * @for_resources: which entries of rules are its units
 * @unit: index of the unit
 * @nr: keys, counted again wherever they stand
 * @accounts: user names of service accounts, one behind the other; NULL as long as
 *	their length is not known
 * @accounts_len: of those so far
 * @any: for each dimension, where to note the units that take all; or NULL
 * @key: does it
 */
struct visit {
	struct index *index;
	bool for_resources;
	size_t unit;
	size_t nr;
	char *accounts;
	size_t accounts_len;
	uint64_t *any;
	void (*key)(struct visit *visit, enum tag tag, const struct name *name);
};

static void visit_text(struct visit *visit, enum tag tag, const char *text)
{
	const struct name name = { text, strlen(text) };

	visit->key(visit, tag, &name);
}

static void visit_any(struct visit *visit, enum dimension dimension)
{
	if (visit->any)
		set_add(visit->any + dimension * visit->index->words,
			visit->unit);
}

static void visit_strings(struct visit *visit, enum dimension dimension,
			  enum tag tag, const struct kapf_strings *strings)
{
	if (kapf_is_star(strings)) {
		visit_any(visit, dimension);
		return;
	}
	for (size_t i = 0; i < strings->nr; i++)
		visit_text(visit, tag, strings->at[i]);
}

/* One service account is one user. */
static void visit_account(struct visit *visit,
			  const struct kapf_subject *subject)
{
	static const char format[] = KAPF_ACCOUNT_PREFIX "%s:%s";
	size_t room = sizeof(format) + strlen(subject->ns) +
		      strlen(subject->name);
	char *name = visit->accounts;

	if (!strcmp(subject->name, "*")) {
		visit_text(visit, TAG_ACCOUNTS, subject->ns);
		return;
	}
	if (name) {
		name += visit->accounts_len;
		snprintf(name, room, format, subject->ns, subject->name);
	}
	visit->accounts_len += room;
	visit_text(visit, TAG_USER, name ? name : "");
}

static void visit_subject(struct visit *visit,
			  const struct kapf_subject *subject)
{
	static const char prefix[] = KAPF_TENANT_PREFIX;
	const size_t len = sizeof(prefix) - 1;

	if (subject->kind == KAPF_SERVICE_ACCOUNT)
		visit_account(visit, subject);
	else if (!strcmp(subject->name, "*"))
		visit_any(visit, SUBJECT);
	else if (subject->kind == KAPF_USER)
		visit_text(visit, TAG_USER, subject->name);
	else if (!strncmp(subject->name, prefix, len))
		visit_text(visit, TAG_TENANT, subject->name + len);
	else
		visit_text(visit, TAG_GROUP, subject->name);
}

static void visit_entry(struct visit *visit, const struct kapf_rule *rule,
			size_t entry)
{
	const struct kapf_resource_rule *resource;

	if (!visit->for_resources) {
		const struct kapf_path_rule *path = &rule->path_rules[entry];

		visit_strings(visit, VERB, TAG_VERB, &path->verbs);
		if (kapf_is_star(&path->urls))
			visit_any(visit, URL);
		return;
	}
	resource = &rule->resource_rules[entry];
	visit_strings(visit, VERB, TAG_VERB, &resource->verbs);
	visit_strings(visit, API_GROUP, TAG_API_GROUP, &resource->api_groups);
	visit_strings(visit, RESOURCE, TAG_RESOURCE, &resource->resources);
	visit_strings(visit, NAMESPACE, TAG_NAMESPACE, &resource->namespaces);
	if (resource->cluster_scope)
		visit_any(visit, NO_NAMESPACE);
}

static void visit_rule(struct visit *visit,
		       const struct kapf_flow_schema *schema,
		       const struct kapf_rule *rule)
{
	size_t nr = visit->for_resources ? rule->nr_resource_rules :
					   rule->nr_path_rules;
	size_t i, j;

	for (i = 0; i < nr; i++, visit->unit++) {
		if (visit->index->units)
			visit->index->units[visit->unit] = (struct unit){
				.schema = schema,
				.path_rule = visit->for_resources ? NULL :
					     &rule->path_rules[i],
			};
		for (j = 0; j < rule->nr_subjects; j++)
			visit_subject(visit, &rule->subjects[j]);
		visit_entry(visit, rule, i);
	}
}

static void visit_all(struct visit *visit,
		      const struct kapf_configuration *config,
		      void (*key)(struct visit *visit, enum tag tag,
				  const struct name *name))
{
	size_t i, j;

	visit->key = key;
	visit->unit = 0;
	visit->accounts_len = 0;
	for (i = 0; i < config->nr_schemas; i++) {
		const struct kapf_flow_schema *schema = &config->schemas[i];

		for (j = 0; !schema->dangling && j < schema->rules->nr; j++)
			visit_rule(visit, schema, &schema->rules->rules[j]);
	}
}

static void count_key(struct visit *visit, enum tag tag,
		      const struct name *name)
{
	(void)tag;
	(void)name;
	visit->nr++;
}

/* A key that stands twice in a unit is noted twice, which is no harm. */
static void count_unit(struct visit *visit, enum tag tag,
		       const struct name *name)
{
	const uint32_t hash = hash_key(tag, name);
	struct slot *slot = find_slot(visit->index, tag, name, hash);

	slot->text = name->text;
	slot->len = name->len;
	slot->tag = tag;
	slot->hash = hash;
	slot->nr++;
}

/* @at goes on while a list is filled, and back afterwards. */
static void add_unit(struct visit *visit, enum tag tag, const struct name *name)
{
	struct index *index = visit->index;
	struct slot *slot = find_slot(index, tag, name, hash_key(tag, name));

	if (!slot->nr)
		set_add(index->rows + slot->at, visit->unit);
	else
		index->lists[slot->at++] = visit->unit;
	if (index->words == 1)
		set_add(&index->reach[tag][name->len % LENGTHS], visit->unit);
	else
		index->reach[tag][name->len % LENGTHS] = ~0ULL;
}

/*
 * A list where it takes less room than a row; but sets of one word have no lists, and
 * what is no subject is to be united with others of its dimension.
 */
static bool wants_row(const struct index *index, const struct slot *slot)
{
	if (index->words == 1 || (index->words <= FEW_WORDS &&
				  dimensions[slot->tag] != SUBJECT))
		return true;
	return slot->nr * sizeof(*index->lists) >=
	       index->words * sizeof(*index->rows);
}

static int make_room(struct index *index)
{
	size_t rows = NR_DIMENSIONS * index->words, lists = 0, i;

	for (i = 0; i <= index->mask; i++) {
		struct slot *slot = &index->slots[i];

		if (!slot->text)
			continue;
		if (wants_row(index, slot)) {
			slot->at = rows;
			rows += index->words;
			slot->nr = 0;
		} else {
			slot->at = lists;
			lists += slot->nr;
		}
	}
	index->rows = calloc(rows, sizeof(*index->rows));
	index->lists = calloc(lists + 1, sizeof(*index->lists));
	for (i = 0; i < NR_DIMENSIONS; i++)
		index->any[i] = index->rows + i * index->words;
	return index->rows && index->lists ? 0 : -ENOMEM;
}

/* A table of so many keys, or some more */
static int make_slots(struct index *index, size_t nr)
{
	size_t room = 16;

	while (room < 2 * nr)
		room *= 2;
	index->mask = room - 1;
	index->slots = calloc(room, sizeof(*index->slots));
	return index->slots ? 0 : -ENOMEM;
}

/* Make the table as small as will do, and have the texts close together. */
static int shrink_slots(struct index *index)
{
	struct slot *old = index->slots;
	size_t nr_old = index->mask + 1, nr = 0, len = 0, i;
	char *text;
	int ret;

	for (i = 0; i < nr_old; i++) {
		nr += !!old[i].text;
		len += old[i].len;
	}
	ret = make_slots(index, nr);
	index->texts = malloc(len + 1);
	text = index->texts;
	for (i = 0; !ret && text && i < nr_old; i++) {
		const struct name name = { old[i].text, old[i].len };
		struct slot *slot;

		if (!name.text)
			continue;
		slot = find_slot(index, old[i].tag, &name, old[i].hash);
		*slot = old[i];
		slot->text = memcpy(text, name.text, name.len);
		text += name.len;
	}
	free(old);
	return text ? ret : -ENOMEM;
}

static int make_tables(struct visit *visit)
{
	struct index *index = visit->index;

	if (make_slots(index, visit->nr))
		return -ENOMEM;
	index->units = calloc(visit->unit, sizeof(*index->units));
	visit->accounts = malloc(visit->accounts_len + 1);
	return index->units && visit->accounts ? 0 : -ENOMEM;
}

/* What remains when all units have been noted */
static void finish_index(struct index *index)
{
	size_t i, j;

	for (i = 0; i <= index->mask; i++) {
		struct slot *slot = &index->slots[i];
		const uint64_t *any = index->any[dimensions[slot->tag]];

		slot->at -= slot->nr;
		if (!slot->text || slot->nr || dimensions[slot->tag] == SUBJECT)
			continue;
		for (j = 0; j < index->words; j++)
			index->rows[slot->at + j] |= any[j];
	}
}

/* Where it takes one word, rows are sets that fit into a register. */
static void find_certain(struct index *index, bool for_resources)
{
	uint64_t all = *index->any[VERB];

	if (index->words > 1)
		return;
	if (for_resources)
		all &= *index->any[API_GROUP] & *index->any[RESOURCE];
	else
		all &= *index->any[URL];
	index->certain[0] = all;
	index->certain[1] = all;
	if (for_resources) {
		index->certain[0] &= *index->any[NO_NAMESPACE];
		index->certain[1] &= *index->any[NAMESPACE];
	}
}

/**
 * index_make() - make an index
 * @index: out; zeroed
 * @config: of its rules
 * @for_resources: of the resource rules, else of the path rules
 *
 * Return: 0, -ENOMEM, or -E2BIG: there are too many units; index_destroy() is due
 * in any case.
 */
int index_make(struct index *index, const struct kapf_configuration *config,
	       bool for_resources)
{
	struct visit visit = { .index = index, .for_resources = for_resources };
	int ret;

	visit_all(&visit, config, count_key);
	if (!visit.unit)
		return 0;
	if (visit.unit > MAX_UNITS)
		return -E2BIG;
	index->words = (visit.unit + WORD_BITS - 1) / WORD_BITS;
	ret = make_tables(&visit);
	if (!ret) {
		visit_all(&visit, config, count_unit);
		ret = shrink_slots(index);
	}
	if (!ret)
		ret = make_room(index);
	if (!ret) {
		visit.any = index->rows;
		visit_all(&visit, config, add_unit);
		finish_index(index);
		find_certain(index, for_resources);
	}
	free(visit.accounts);
	return ret;
}

/**
 * index_destroy() - free what an index has
 * @index: made, or zeroed
 */
void index_destroy(struct index *index)
{
	free(index->units);
	free(index->slots);
	free(index->rows);
	free(index->lists);
	free(index->texts);
}
