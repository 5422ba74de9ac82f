// SPDX-License-Identifier: GPL-2.0
/*
 * Durations in a query, as in ?timeout=30s.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "duration.h"

#define MOST_NS 3600e9

static const struct {
	const char *name;
	double ns;
} units[] = {
	{ "ns", 1 }, { "us", 1e3 }, { "\xc2\xb5s", 1e3 }, { "ms", 1e6 },
	{ "s", 1e9 }, { "m", 60e9 }, { "h", 3600e9 },
};

/* Return: how many ns the unit has that @text begins with, and moves it; or 0. */
static double take_unit(const char **text)
{
	size_t len = strcspn(*text, "0123456789.");
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (strlen(units[i].name) == len &&
		    !memcmp(*text, units[i].name, len)) {
			*text += len;
			return units[i].ns;
		}
	return 0;
}

/* strtod() alone would take signs, blanks, exponents and hexadecimals. */
static bool take_number(const char **text, double *number)
{
	size_t whole = strspn(*text, "0123456789"), rest = 0;
	double scale = 1;
	size_t i;

	*number = 0;
	for (i = 0; i < whole; i++)
		*number = 10 * *number + (*(*text)++ - '0');
	if (**text == '.') {
		(*text)++;
		for (; isdigit((unsigned char)**text); rest++)
			*number += (*(*text)++ - '0') * (scale /= 10);
	}
	return whole + rest > 0;
}

bool duration_parse(uint64_t *ns, const char *text)
{
	double sum = 0, number, unit;

	if (!strcmp(text, "0")) {
		*ns = 0;
		return true;
	}
	if (!*text)
		return false;
	while (*text) {
		if (!take_number(&text, &number))
			return false;
		unit = take_unit(&text);
		if (!unit)
			return false;
		sum += number * unit;
	}
	*ns = sum < MOST_NS ? sum : MOST_NS;
	return true;
}
