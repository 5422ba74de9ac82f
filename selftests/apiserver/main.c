// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of kapf-apiserver that need neither device nor connection, as one program,
 * so that the leak checker sees all of them.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "test.h"

static unsigned int nr_tests;
static unsigned int nr_failed;

void ok(bool passed, const char *format, ...)
{
	va_list args;

	printf("%sok %u - ", passed ? "" : "not ", ++nr_tests);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	nr_failed += !passed;
}

/* Two texts, of which NULL is none. */
void same(const char *what, const char *found, const char *wanted)
{
	bool passed = found && wanted ? !strcmp(found, wanted) :
					found == wanted;

	if (!passed)
		printf("# found  %s\n# wanted %s\n", found ?: "nothing",
		       wanted ?: "nothing");
	ok(passed, "%s", what);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n");
	test_flowcontrol();
	test_replies();
	test_statuses();
	test_durations();
	test_identities();
	printf("1..%u\n", nr_tests);
	return nr_failed != 0;
}
