// SPDX-License-Identifier: GPL-2.0
/*
 * The token file: lines of values separated by commas, which may be quoted; a
 * quote inside quotes is written twice.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "identity.h"

#define MAX_COLUMNS	5 /* those after the fourth are not looked at */
#define MAX_GROUPS	64

/**
 * struct holder - whoever holds a token
 * @next: another one
 * @token: what is shown
 * @identity: who it is
 * @groups: of the identity
 */
struct holder {
	struct holder *next;
	const char *token;
	struct identity identity;
	const char *groups[MAX_GROUPS];
};

struct identities {
	struct holder *holders;
	bool anonymous;
};

static const char *const unauthenticated[] = { "system:unauthenticated" };
static const struct identity nobody = {
	.user = "system:anonymous",
	.groups = unauthenticated,
	.nr_groups = 1,
};

/*
 * Cut the first value, which is quoted, off @text, in place.  Return: what follows
 * its quotes; NULL when there is no end to them.
 */
static char *cut_quoted(char *text)
{
	char *to = text, *from = text + 1;

	for (; *from; *to++ = *from++) {
		if (*from == '"' && *++from != '"') {
			*to = '\0';
			return from;
		}
	}
	return NULL;
}

/*
 * Likewise, whether it is quoted or not.  Return: where the next one begins; NULL
 * when this is the last.  @value is NULL when its quotes are not in order.
 */
static char *cut_value(char *text, char **value)
{
	bool is_quoted = *text == '"';
	char *end = is_quoted ? cut_quoted(text) : strpbrk(text, ",\"");
	bool is_last = !end || !*end;

	*value = text;
	if ((!end && is_quoted) || (!is_last && *end != ','))
		*value = NULL;
	if (is_last || !*value)
		return NULL;
	*end = '\0';
	return end + 1;
}

/* Return: how many values the line has; 0 where they are not in order. */
static size_t cut_line(char *line, char **values)
{
	size_t nr = 0;

	while (line && nr < MAX_COLUMNS) {
		line = cut_value(line, &values[nr]);
		if (!values[nr++])
			return 0;
	}
	return nr;
}

/* Return: whether there is room for all groups. */
static bool add_groups(struct holder *holder, char *list)
{
	size_t *nr = &holder->identity.nr_groups;
	char *group;

	while ((group = strsep(&list, ","))) {
		if (!*group)
			continue;
		if (*nr == MAX_GROUPS - 1)
			return false;
		holder->groups[(*nr)++] = group;
	}
	holder->groups[(*nr)++] = "system:authenticated";
	holder->identity.groups = holder->groups;
	return true;
}

/* Return: what is wrong with the line, or NULL. */
static const char *add_holder(struct identities *identities, const char *line)
{
	char *values[MAX_COLUMNS];
	struct holder *holder;
	size_t nr;

	/* The line follows the holder, whose values are cut out of it. */
	holder = calloc(1, sizeof(*holder) + strlen(line) + 1);
	if (!holder)
		return "not enough memory";
	holder->next = identities->holders;
	identities->holders = holder;
	nr = cut_line(strcpy((char *)(holder + 1), line), values);
	if (!nr)
		return "a quote that does not begin, or does not end, a value";
	if (nr < 3)
		return "must be token,user,uid[,\"group,group\"]";
	if (!*values[0] || !*values[1])
		return "no token, or no user";
	holder->token = values[0];
	holder->identity.user = values[1];
	if (!add_groups(holder, nr > 3 ? values[3] : NULL))
		return "more than 62 groups";
	return NULL;
}

static bool read_lines(struct identities *identities, FILE *from,
		       const char *file)
{
	const char *wrong = NULL;
	unsigned int number = 0;
	char *line = NULL;
	size_t room = 0;

	while (!wrong && getline(&line, &room, from) >= 0) {
		number++;
		line[strcspn(line, "\r\n")] = '\0';
		if (*line && *line != '#')
			wrong = add_holder(identities, line);
	}
	if (wrong)
		fprintf(stderr, "kapf-apiserver: %s:%u: %s\n", file, number,
			wrong);
	else if (ferror(from))
		fprintf(stderr, "kapf-apiserver: %s: cannot be read\n", file);
	free(line);
	return !wrong && !ferror(from);
}

bool identities_read(struct identities **identities, const char *file,
		     bool anonymous)
{
	struct identities *fresh = calloc(1, sizeof(*fresh));
	bool done = fresh;
	FILE *from;

	if (!fresh) {
		fputs("kapf-apiserver: not enough memory\n", stderr);
		return false;
	}
	fresh->anonymous = anonymous;
	if (file) {
		from = fopen(file, "re");
		if (!from)
			fprintf(stderr, "kapf-apiserver: %s: %s\n", file,
				strerror(errno));
		done = from && read_lines(fresh, from, file);
		if (from)
			fclose(from);
	}
	if (!done) {
		identities_free(fresh);
		return false;
	}
	*identities = fresh;
	return true;
}

void identities_free(struct identities *identities)
{
	struct holder *holder;

	while (identities && (holder = identities->holders)) {
		identities->holders = holder->next;
		free(holder);
	}
	free(identities);
}

/* In a time that does not tell how much of it was right. */
static bool is_token(const char *known, const char *shown, size_t len)
{
	unsigned char difference = 0;
	size_t i;

	if (strlen(known) != len)
		return false;
	for (i = 0; i < len; i++)
		difference |= known[i] ^ shown[i];
	return !difference;
}

const struct identity *identity_of(const struct identities *identities,
				   const char *authorization)
{
	static const char scheme[] = "Bearer ";
	const struct holder *holder;
	size_t len;

	if (!authorization ||
	    strncasecmp(authorization, scheme, sizeof(scheme) - 1))
		return identities->anonymous ? &nobody : NULL;
	authorization += sizeof(scheme) - 1;
	authorization += strspn(authorization, " ");
	len = strcspn(authorization, " ");
	for (holder = identities->holders; holder; holder = holder->next)
		if (is_token(holder->token, authorization, len))
			return &holder->identity;
	return NULL;
}
