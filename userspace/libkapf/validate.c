// SPDX-License-Identifier: LGPL-2.1
/*
 * What Kubernetes accepts as a name, a verb, a path, a hand: pure predicates.
 */
#include <string.h>

#include "internal.h"

#define LOWER	"abcdefghijklmnopqrstuvwxyz"
#define UPPER	"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS	"0123456789"

#define MAX_LABEL	63
#define MAX_SUBDOMAIN	253

/* So many bits of a flow's hash can be dealt without a noticeable bias. */
#define MAX_DECK	0x1000000000000000ULL

/* Are all @len characters of @text in @inner, the first and last in @outer? */
static bool is_word(const char *text, size_t len, const char *outer,
		    const char *inner)
{
	return len && strspn(text, inner) >= len && strchr(outer, text[0]) &&
	       strchr(outer, text[len - 1]);
}

/* DNS-1123 label: the name of a namespace */
bool kapf_is_label(const char *name)
{
	size_t len = strlen(name);

	return len <= MAX_LABEL &&
	       is_word(name, len, LOWER DIGITS, LOWER DIGITS "-");
}

/* @len characters that are a DNS-1123 subdomain; its parts may be long */
static bool is_subdomain(const char *name, size_t len)
{
	if (len > MAX_SUBDOMAIN)
		return false;
	for (;;) {
		size_t part = strcspn(name, ".");

		if (part > len)
			part = len;
		if (!is_word(name, part, LOWER DIGITS, LOWER DIGITS "-"))
			return false;
		if (part == len)
			return true;
		name += part + 1;
		len -= part + 1;
	}
}

bool kapf_is_subdomain(const char *name)
{
	return is_subdomain(name, strlen(name));
}

static bool is_qualified_name(const char *name, size_t len)
{
	return len <= MAX_LABEL && is_word(name, len, LOWER UPPER DIGITS,
					   LOWER UPPER DIGITS "-_.");
}

/* The key of a label or an annotation, of @len octets: [SUBDOMAIN/]NAME */
bool kapf_is_qualified(const char *key, size_t len)
{
	const char *slash = memchr(key, '/', len);
	const char *name = slash ? slash + 1 : key;

	if (slash && !is_subdomain(key, slash - key))
		return false;
	return is_qualified_name(name, key + len - name);
}

bool kapf_is_label_value(const char *value, size_t len)
{
	return !len || is_qualified_name(value, len);
}

/* The list ends with NULL. */
bool kapf_is_one_of(const char *text, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(text, *list))
			return true;
	return false;
}

bool kapf_is_verb(const char *verb)
{
	static const char *const verbs[] = {
		"get", "list", "watch", "create", "update", "patch", "delete",
		"deletecollection", "proxy", NULL
	};

	return kapf_is_one_of(verb, verbs);
}

/* What is wrong with @url as one of several nonResourceURLs; NULL: nothing. */
const char *kapf_url_fault(const char *url)
{
	const char *star = strchr(url, '*');

	if (url[0] != '/')
		return "must begin with /";
	if (strchr(url, ' '))
		return "must not contain a space";
	if (strstr(url, "//"))
		return "must not contain //";
	if (star && (star[1] || star[-1] != '/'))
		return "may have a * only at its end, after a /";
	return NULL;
}

/*
 * Largest hand that can be dealt from @queues: no larger than the deck, and
 * with queues^hand <= 2^60, which is ceil(log2(queues) * hand) <= 60.
 */
uint32_t kapf_max_hand(uint32_t queues)
{
	unsigned long long hands = 1;
	uint32_t hand = 0;

	while (hand < queues && hands <= MAX_DECK / queues) {
		hands *= queues;
		hand++;
	}
	return hand;
}
