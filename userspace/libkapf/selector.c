// SPDX-License-Identifier: LGPL-2.1
/*
 * Selectors, as list options carry them: whether Kubernetes can read them, for
 * options of which it cannot read one count as none; and the value that a field
 * selector demands of a field.  Takes no memory.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/**
 * kapf_parse_int64() - a decimal number with an optional sign
 * @text: the number
 * @len: of @text, in octets
 * @number: out; may be NULL
 *
 * Return: whether @text is one, of 64 bits, and nothing else.
 */
bool kapf_parse_int64(const char *text, size_t len, int64_t *number)
{
	size_t sign = len && (*text == '-' || *text == '+');
	char *end;
	int64_t value;

	if (len == sign || strspn(text + sign, "0123456789") < len - sign)
		return false;
	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno || end != text + len)
		return false;
	if (number)
		*number = value;
	return true;
}

enum token {
	END,
	WORD,
	SAME,
	OTHER,
	NOT,
	LESS,
	GREATER,
	COMMA,
	OPEN,
	CLOSE,
};

/**
 * struct scanner - a place in a label selector
 * @next: what has not been read yet
 * @token: what has been read last
 * @word: where that is a WORD, not terminated
 * @len: of @word
 */
struct scanner {
	const char *next;
	enum token token;
	const char *word;
	size_t len;
};

static enum token scan_symbol(struct scanner *scanner)
{
	bool doubled = scanner->next[0] && scanner->next[1] == '=';
	char symbol = *scanner->next++;

	switch (symbol) {
	case '=':
		scanner->next += doubled;
		return SAME;
	case '!':
		scanner->next += doubled;
		return doubled ? OTHER : NOT;
	case '<':
		return LESS;
	case '>':
		return GREATER;
	case ',':
		return COMMA;
	case '(':
		return OPEN;
	default:
		return CLOSE;
	}
}

static void scan(struct scanner *scanner)
{
	static const char blanks[] = " \t\r\n", symbols[] = "=!<>,()";

	scanner->next += strspn(scanner->next, blanks);
	if (!*scanner->next) {
		scanner->token = END;
	} else if (strchr(symbols, *scanner->next)) {
		scanner->token = scan_symbol(scanner);
	} else {
		scanner->token = WORD;
		scanner->word = scanner->next;
		scanner->len = strcspn(scanner->next, " \t\r\n=!<>,()");
		scanner->next += scanner->len;
	}
}

/* Passes a token, if it is there. */
static bool take(struct scanner *scanner, enum token token)
{
	if (scanner->token != token)
		return false;
	scan(scanner);
	return true;
}

/* Is the last token this word? */
static bool at_word(const struct scanner *scanner, const char *word)
{
	return scanner->token == WORD && scanner->len == strlen(word) &&
	       !memcmp(scanner->word, word, scanner->len);
}

static bool take_value(struct scanner *scanner)
{
	return scanner->token == WORD &&
	       kapf_is_label_value(scanner->word, scanner->len) &&
	       take(scanner, WORD);
}

static bool take_number(struct scanner *scanner)
{
	return scanner->token == WORD &&
	       kapf_parse_int64(scanner->word, scanner->len, NULL) &&
	       take_value(scanner);
}

/* Values between commas, each of which may be missing. */
static bool take_set(struct scanner *scanner)
{
	bool valid = take(scanner, OPEN);

	while (valid && scanner->token != CLOSE) {
		if (scanner->token != WORD)
			valid = take(scanner, COMMA);
		else
			valid = take_value(scanner) &&
				(scanner->token == COMMA ||
				 scanner->token == CLOSE);
	}
	return valid && take(scanner, CLOSE);
}

static bool take_requirement(struct scanner *scanner)
{
	bool absent = take(scanner, NOT);

	if (scanner->token != WORD ||
	    !kapf_is_qualified(scanner->word, scanner->len))
		return false;
	scan(scanner);
	if (absent || scanner->token == END || scanner->token == COMMA)
		return true;
	if (take(scanner, SAME) || take(scanner, OTHER))
		return scanner->token == END || scanner->token == COMMA ||
		       take_value(scanner);
	if (take(scanner, LESS) || take(scanner, GREATER))
		return take_number(scanner);
	if (!at_word(scanner, "in") && !at_word(scanner, "notin"))
		return false;
	scan(scanner);
	return take_set(scanner);
}

/**
 * kapf_is_label_selector() - can Kubernetes read this label selector?
 * @selector: requirements KEY, !KEY, KEY=VALUE, KEY==VALUE, KEY!=VALUE,
 *	KEY<NUMBER, KEY>NUMBER, KEY in (VALUE, ...) and KEY notin (VALUE, ...)
 *	between commas; "": none
 *
 * Return: whether it can.
 */
bool kapf_is_label_selector(const char *selector)
{
	struct scanner scanner = { .next = selector };

	scan(&scanner);
	if (scanner.token == END)
		return true;
	do {
		if (!take_requirement(&scanner))
			return false;
	} while (take(&scanner, COMMA));
	return scanner.token == END;
}

/**
 * struct term - one of a field selector
 * @text: FIELD=VALUE, FIELD==VALUE or FIELD!=VALUE, not terminated
 * @len: of @text
 * @field_len: of the field, at its begin
 * @value: in @text, as written
 * @is_equal: not FIELD!=VALUE
 */
struct term {
	const char *text;
	size_t len;
	size_t field_len;
	const char *value;
	bool is_equal;
};

/* The next comma that no backslash stands before ends it. */
static size_t term_len(const char *text)
{
	size_t len = 0;

	while (text[len] && text[len] != ',')
		len += text[len] == '\\' && text[len + 1] ? 2 : 1;
	return len;
}

/* Splits @text of the term; its first operator counts. */
static bool split_term(struct term *term)
{
	const char *sign = memchr(term->text, '=', term->len);

	if (!sign)
		return false;
	term->value = sign + 1;
	term->is_equal = sign == term->text || sign[-1] != '!';
	term->field_len = sign - term->text - !term->is_equal;
	if (term->is_equal && *term->value == '=')
		term->value++;
	return true;
}

/*
 * Takes the backslashes out of the value, which stand before \ , and = and
 * before nothing else.  These three do not stand without one.
 */
static bool unescape(char *to, const struct term *term)
{
	const char *end = term->text + term->len;

	for (const char *at = term->value; at < end; at++) {
		if (*at == ',' || *at == '=')
			return false;
		if (*at == '\\' && (++at == end || !strchr("\\,=", *at)))
			return false;
		*to++ = *at;
	}
	*to = '\0';
	return true;
}

static bool demands(const struct term *term, const char *field)
{
	return term->is_equal && term->field_len == strlen(field) &&
	       !memcmp(term->text, field, term->field_len);
}

/* Does @a stand before @b in the order of their octets? */
static bool is_before(const struct term *a, const struct term *b)
{
	int order = memcmp(a->text, b->text, a->len < b->len ? a->len : b->len);

	return order ? order < 0 : a->len < b->len;
}

/**
 * kapf_field_selector_value() - value that a field selector demands of a field
 * @selector: terms FIELD=VALUE, FIELD==VALUE and FIELD!=VALUE between commas;
 *	"": none
 * @field: the field
 * @value: room for as many octets as @selector has and one more, which is used
 *	in any case; out, where @found: without backslashes
 * @found: out: there is a term @field=VALUE or @field==VALUE; of several the
 *	first in the order of their octets counts, as Kubernetes sorts them
 *
 * Return: whether Kubernetes can read @selector.
 */
bool kapf_field_selector_value(const char *selector, const char *field,
			       char *value, bool *found)
{
	struct term first = {};

	*found = false;
	for (const char *next = selector; *next; next += *next == ',') {
		struct term term = { .text = next, .len = term_len(next) };

		if (!term.len)
			continue;
		next += term.len;
		if (!split_term(&term) || !unescape(value, &term))
			return false;
		if (demands(&term, field) &&
		    (!*found || is_before(&term, &first))) {
			first = term;
			*found = true;
		}
	}
	return !*found || unescape(value, &first);
}
