// SPDX-License-Identifier: GPL-2.0
/*
 * Text: the characters of what clients chose, points in time, and durations.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kapfctl.h"

/**
 * decode() - the character that a text begins with
 * @text: said to be UTF-8
 * @code: out: which it is
 *
 * Return: bytes of it; 0: this is not UTF-8.
 */
size_t decode(const char *text, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };
	unsigned char first = *text;
	size_t i, more = (first >= 0xc0) + (first >= 0xe0) + (first >= 0xf0);

	*code = more ? first & (0x3f >> more) : first;
	for (i = 1; i <= more; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (text[i] & 0x3f);
	}
	if (*code < least[more] || (!more && first > 0x7f) || first > 0xf4 ||
	    *code > 0x10ffff || (*code >= 0xd800 && *code <= 0xdfff))
		return 0;
	return more + 1;
}

/**
 * make_valid() - UTF-8 out of a text
 * @text: of which each byte that is not UTF-8 is replaced by U+FFFD
 *
 * Return: to be freed, never NULL.
 */
char *make_valid(const char *text)
{
	static const char replacement[] = "\xef\xbf\xbd";
	char *valid = need(malloc(strlen(replacement) * strlen(text) + 1));
	char *end = valid;
	uint32_t code;
	size_t len;

	for (; *text; text += len ? len : 1) {
		len = decode(text, &code);
		end = len ? mempcpy(end, text, len) : stpcpy(end, replacement);
	}
	*end = '\0';
	return valid;
}

/**
 * is_printable() - does a character neither end a line nor command a terminal?
 * @code: which
 */
bool is_printable(uint32_t code)
{
	return code >= 0x20 && (code < 0x7f || code > 0x9f);
}

/*
 * Write the next character of @text to @to, or the next byte as \xHH.
 * Return: how long that is.
 */
static size_t put_printable(char *to, const char **text, const char *escaped)
{
	uint32_t code;
	size_t len = decode(*text, &code);

	if (!len || !is_printable(code) || strchr(escaped, **text))
		return sprintf(to, "\\x%02x", (unsigned char)*(*text)++);
	memcpy(to, *text, len);
	*text += len;
	return len;
}

/**
 * make_printable() - text that can be shown, out of any
 * @text: of which what is not UTF-8 or could command a terminal is written as
 *	\xHH, byte by byte
 * @escaped: ASCII characters that are, too
 *
 * Return: to be freed, never NULL.
 */
char *make_printable(const char *text, const char *escaped)
{
	char *printable = need(malloc(4 * strlen(text) + 1));
	char *end = printable;

	while (*text)
		end += put_printable(end, &text, escaped);
	*end = '\0';
	return printable;
}

/**
 * print_printable() - print text that can be shown, out of any
 * @to: where
 * @text: as of make_printable()
 */
void print_printable(FILE *to, const char *text)
{
	char piece[8];

	while (*text)
		fwrite(piece, 1, put_printable(piece, &text, ""), to);
}

/**
 * format_fraction() - a fraction without the zeros at its end: "" or ".5"
 * @end: out: of what stands before it
 * @part: the fraction
 * @digits: with zeros
 */
void format_fraction(char *end, uint64_t part, int digits)
{
	int len = sprintf(end, ".%0*ju", digits, (uintmax_t)part);

	while (len && (end[len - 1] == '0' || end[len - 1] == '.'))
		end[--len] = '\0';
}

/**
 * format_period() - how often limits are adjusted, as apply takes it
 * @text: out
 * @config: which says so
 */
void format_period(char text[PERIOD_ROOM],
		   const struct kapf_configuration *config)
{
	uint32_t ms = period_ms(config);

	if (ms % 1000)
		snprintf(text, PERIOD_ROOM, "%ums", ms);
	else
		snprintf(text, PERIOD_ROOM, "%us", ms / 1000);
}

/**
 * format_time() - RFC 3339 with as many digits as it takes
 * @text: out
 * @ns: since 1970
 */
void format_time(char text[TIME_ROOM], uint64_t ns)
{
	time_t seconds = ns / NSEC_PER_SEC;
	struct tm utc;
	size_t len;

	gmtime_r(&seconds, &utc);
	len = strftime(text, TIME_ROOM, "%Y-%m-%dT%H:%M:%S", &utc);
	format_fraction(text + len, ns % NSEC_PER_SEC, 9);
	strcat(text, "Z");
}

/**
 * format_age() - a length of time in two or three digits and a unit
 * @text: out
 * @ns: how long
 */
void format_age(char text[AGE_ROOM], uint64_t ns)
{
	const unsigned int minute = 60, hour = 60 * minute, day = 24 * hour;
	const unsigned long long seconds = ns / NSEC_PER_SEC;

	if (seconds < 10)
		sprintf(text, "%.1fs", ns / (double)NSEC_PER_SEC);
	else if (seconds < 2 * minute)
		sprintf(text, "%llus", seconds);
	else if (seconds < 2 * hour)
		sprintf(text, "%llum", seconds / minute);
	else if (seconds < 2 * day)
		sprintf(text, "%lluh", seconds / hour);
	else
		sprintf(text, "%llud", seconds / day);
}

/* time_now() - what a clock shows, in ns */
uint64_t time_now(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

/**
 * format_duration() - a duration as Go writes it: 0s, 1.5ms, 1h0m2.5s
 * @text: out
 * @ns: the duration
 */
void format_duration(char text[DURATION_ROOM], uint64_t ns)
{
	uintmax_t seconds = ns / NSEC_PER_SEC;
	char fraction[16], hours[24] = "", minutes[8] = "";

	if (!ns) {
		strcpy(text, "0s");
	} else if (ns < 1000) {
		sprintf(text, "%uns", (unsigned int)ns);
	} else if (ns < 1000000) {
		format_fraction(fraction, ns % 1000, 3);
		sprintf(text, "%u%s\u00b5s", (unsigned int)(ns / 1000),
			fraction);
	} else if (!seconds) {
		format_fraction(fraction, ns % 1000000, 6);
		sprintf(text, "%u%sms", (unsigned int)(ns / 1000000),
			fraction);
	} else {
		format_fraction(fraction, ns % NSEC_PER_SEC, 9);
		if (seconds >= 3600)
			sprintf(hours, "%juh", seconds / 3600);
		if (seconds >= 60)
			sprintf(minutes, "%um", (unsigned int)(seconds / 60 % 60));
		sprintf(text, "%s%s%u%ss", hours, minutes,
			(unsigned int)(seconds % 60), fraction);
	}
}

/**
 * parse_duration() - a duration as people type it
 * @text: a decimal number and ns, us, ms or s
 * @ns: out
 *
 * Return: false for any other text, and for less than 1 ns or more than an hour.
 */
bool parse_duration(const char *text, uint64_t *ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {
		{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 },
	};
	size_t i, len = strspn(text, "0123456789.");
	double number;
	char *end;

	number = strtod(text, &end);
	if (!len || end != text + len)
		return false;
	for (i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(end, units[i].name))
			continue;
		number *= units[i].ns;
		*ns = number;
		return number >= 1 && number <= 3600 * 1e9;
	}
	return false;
}

/* sleep_for() - let so many ns pass */
void sleep_for(uint64_t ns)
{
	struct timespec left = {
		.tv_sec = ns / NSEC_PER_SEC,
		.tv_nsec = ns % NSEC_PER_SEC,
	};

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}
