// SPDX-License-Identifier: GPL-2.0
/*
 * Who asks: token files, and the header that shows a token.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "identity.h"
#include "test.h"

static bool read_text(struct identities **identities, const char *text,
		      bool anonymous)
{
	char file[] = "/tmp/tokens.XXXXXX";
	int fd = mkstemp(file);
	bool done;

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		return false;
	close(fd);
	done = identities_read(identities, file, anonymous);
	unlink(file);
	return done;
}

/* As "user: group group". */
static const char *describe(const struct identity *identity)
{
	static char text[256];
	size_t i, at;

	if (!identity)
		return NULL;
	at = snprintf(text, sizeof(text), "%s:", identity->user);
	for (i = 0; i < identity->nr_groups; i++)
		at += snprintf(text + at, sizeof(text) - at, " %s",
			       identity->groups[i]);
	return text;
}

static const char tokens[] =
	"# token,user,uid,groups\n"
	"\n"
	"secret,alice,1,\"a,b\"\n"
	"other,bob,2\r\n"
	"\"with,comma\",\"c \"\"quoted\"\"\",3,one,further\n"
	"none,dave,4,\"\"\n";

static const struct {
	const char *what;
	const char *authorization;
	const char *wanted;
} headers[] = {
	{ "a token", "Bearer secret", "alice: a b system:authenticated" },
	{ "a scheme in any case", "bEARER secret",
	  "alice: a b system:authenticated" },
	{ "blanks", "Bearer   secret ", "alice: a b system:authenticated" },
	{ "no groups", "Bearer other", "bob: system:authenticated" },
	{ "quotes", "Bearer with,comma",
	  "c \"quoted\": one system:authenticated" },
	{ "groups that are empty", "Bearer none", "dave: system:authenticated" },
	{ "a part of a token", "Bearer secre", NULL },
	{ "more than a token", "Bearer secrets", NULL },
	{ "another case", "Bearer Secret", NULL },
	{ "nothing", "Bearer ", NULL },
	{ "no header", NULL, "system:anonymous: system:unauthenticated" },
	{ "another scheme", "Basic secret",
	  "system:anonymous: system:unauthenticated" },
};

static const char *const broken[] = {
	"a,b\n",
	"a\n",
	",b,1\n",
	"a,,1\n",
	"a,b,1,\"c\n",
	"a,b\"c,1\n",
	"a,\"b\"c,1\n",
	"good,good,1\nbad\n",
};

static void test_groups(void)
{
	struct identities *identities;
	char line[512] = "a,b,1,\"g";
	int i;

	for (i = 1; i < 63; i++)
		strcat(line, ",g");
	strcat(line, "\"");
	if (read_text(&identities, line, true)) {
		ok(identity_of(identities, "Bearer a")->nr_groups == 64,
		   "63 groups, and that of all");
		identities_free(identities);
	} else {
		ok(false, "63 groups, and that of all");
	}
	line[strlen(line) - 1] = '\0';
	strcat(line, ",g\"");
	ok(!read_text(&identities, line, true), "not 64 groups");
}

void test_identities(void)
{
	struct identities *identities;
	size_t i;

	if (!read_text(&identities, tokens, true)) {
		ok(false, "a token file");
		return;
	}
	for (i = 0; i < sizeof(headers) / sizeof(*headers); i++)
		same(headers[i].what,
		     describe(identity_of(identities,
					  headers[i].authorization)),
		     headers[i].wanted);
	identities_free(identities);

	if (!read_text(&identities, tokens, false)) {
		ok(false, "a token file");
		return;
	}
	same("nobody is let in without a token",
	     describe(identity_of(identities, NULL)), NULL);
	identities_free(identities);

	for (i = 0; i < sizeof(broken) / sizeof(*broken); i++)
		ok(!read_text(&identities, broken[i], true),
		   "no token file, %zu", i);
	ok(!identities_read(&identities, "/nonexistent", true),
	   "a file that is not there");
	test_groups();
}
