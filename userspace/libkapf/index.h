/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * An index of rules: index.c makes it, classifier.c asks it.
 *
 * A request belongs to a schema if it has one of the subjects of a rule and one of
 * the rule's resource rules takes it, or path rules.  Each pair of a rule and such
 * an entry is a unit here; units are in the order in which they are tried.  A name
 * in a unit is a key, which leads to the set of units that have it: a user, a
 * group, a verb and so on.
 */
#ifndef KAPF_INDEX_H
#define KAPF_INDEX_H

#include <stdlib.h>

#include "internal.h"

#define WORD_BITS 64

/* More units than these, and there is no index: of so long a list nobody thought. */
#define MAX_UNITS 16384
#define MAX_WORDS (MAX_UNITS / WORD_BITS)

/* Lengths of texts that are told apart */
#define LENGTHS 64

/* What a key is the name of. */
enum tag {
	TAG_USER,
	TAG_GROUP,
	TAG_TENANT,
	TAG_ACCOUNTS,	/* a namespace, of all service accounts there */
	TAG_VERB,
	TAG_API_GROUP,
	TAG_RESOURCE,
	TAG_NAMESPACE,
	NR_TAGS,
};

/* What a request has, and what a unit says something of. */
enum dimension {
	SUBJECT,
	VERB,
	API_GROUP,
	RESOURCE,
	NAMESPACE,
	NO_NAMESPACE,
	URL,
	NR_DIMENSIONS,
};

/* The others name subjects. */
static const enum dimension dimensions[NR_TAGS] = {
	[TAG_VERB] = VERB,
	[TAG_API_GROUP] = API_GROUP,
	[TAG_RESOURCE] = RESOURCE,
	[TAG_NAMESPACE] = NAMESPACE,
};

/**
 * struct name - a text, and how long it is
 * @text: without NUL
 * @len: of @text
 */
struct name {
	const char *text;
	size_t len;
};

/**
 * struct slot - a key that leads somewhere
 * @text: it; NULL where the slot is free
 * @len: of @text
 * @hash: of the key
 * @nr: units in its list; 0: it has a row
 * @at: of its list or row
 * @tag: what it is the name of
 */
struct slot {
	const char *text;
	uint32_t len;
	uint32_t hash;
	uint32_t nr;
	uint32_t at;
	enum tag tag;
};

/**
 * struct unit - a rule and one of its entries
 * @schema: that it is in
 * @path_rule: the entry, if it is for paths
 */
struct unit {
	const struct kapf_flow_schema *schema;
	const struct kapf_path_rule *path_rule;
};

/**
 * struct index - the units for resources, or those for paths
 * @units: in the order of the schemas
 * @words: of a set of units; 0: there are none
 * @any: for each dimension, units that take all there is
 * @certain: of one word: units that take all, without and with a namespace
 * @reach: for the keys of a tag and a length, of one word: their units; of more
 *	words: whether there are any
 * @slots: hash table of the keys
 * @mask: number of slots - 1
 * @rows: sets of units: of @any; of the keys that many have, with those of @any
 *	unless the key is a subject
 * @lists: indices of units, of the keys that few have
 * @texts: of the keys, close together
 */
struct index {
	struct unit *units;
	size_t words;
	const uint64_t *any[NR_DIMENSIONS];
	uint64_t certain[2];
	uint64_t reach[NR_TAGS][LENGTHS];
	struct slot *slots;
	size_t mask;
	uint64_t *rows;
	uint32_t *lists;
	char *texts;
};

static inline void set_add(uint64_t *set, size_t unit)
{
	set[unit / WORD_BITS] |= 1ULL << unit % WORD_BITS;
}

static inline uint64_t load64(const char *text)
{
	uint64_t word;

	memcpy(&word, text, sizeof(word));
	return word;
}

static inline uint32_t load32(const char *text)
{
	uint32_t word;

	memcpy(&word, text, sizeof(word));
	return word;
}

static inline uint64_t mix(uint64_t hash, uint64_t a, uint64_t b)
{
	hash = (hash ^ a) * 0x9e3779b97f4a7c15 ^ b * 0xbf58476d1ce4e5b9;
	return hash ^ hash >> 32;
}

/* Sixteen bytes at a time; the last ones overlap with those before. */
static inline uint32_t hash_key(enum tag tag, const struct name *name)
{
	const char *text = name->text;
	size_t len = name->len, i;
	uint64_t hash = len << 8 | tag;

	for (i = 0; i + 16 < len; i += 16)
		hash = mix(hash, load64(text + i), load64(text + i + 8));
	if (len >= 16)
		return mix(hash, load64(text + len - 16),
			   load64(text + len - 8));
	if (len >= 8)
		return mix(hash, load64(text), load64(text + len - 8));
	if (len >= 4)
		return mix(hash, load32(text), load32(text + len - 4));
	if (len)
		return mix(hash, (unsigned char)text[0] << 8 |
				 (unsigned char)text[len / 2],
			   (unsigned char)text[len - 1]);
	return mix(hash, 0, 0);
}

static inline bool same_text(const char *a, const char *b, size_t len)
{
	if (len >= 8) {
		for (size_t i = 0; i + 8 < len; i += 8)
			if (load64(a + i) != load64(b + i))
				return false;
		return load64(a + len - 8) == load64(b + len - 8);
	}
	if (len >= 4)
		return load32(a) == load32(b) &&
		       load32(a + len - 4) == load32(b + len - 4);
	while (len--)
		if (a[len] != b[len])
			return false;
	return true;
}

/* The slot of the key, or the free one where it would be. */
static inline struct slot *find_slot(const struct index *index, enum tag tag,
				     const struct name *name, uint32_t hash)
{
	size_t at = hash & index->mask;
	struct slot *slot;

	for (;; at = (at + 1) & index->mask) {
		slot = &index->slots[at];
		if (!slot->text ||
		    (slot->hash == hash && slot->len == name->len &&
		     slot->tag == tag &&
		     same_text(slot->text, name->text, name->len)))
			return slot;
	}
}

int index_make(struct index *index, const struct kapf_configuration *config,
	       bool for_resources);
void index_destroy(struct index *index);

#endif /* KAPF_INDEX_H */
