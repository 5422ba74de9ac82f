// SPDX-License-Identifier: GPL-2.0
/*
 * answer AREA: for each line of standard input, a case, writes a line with
 * kapf's answer.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"

static const struct area *find(const char *name)
{
	const struct area *area;

	for (area = areas; area->name; area++)
		if (!strcmp(area->name, name))
			return area;
	errx(2, "no area %s", name);
}

static void answer_line(const struct area *area, const char *line)
{
	struct json_object *c = json_tokener_parse(line), *a;

	if (!c)
		errx(1, "not JSON: %s", line);
	a = area->answer(c);
	puts(json_object_to_json_string_ext(a, JSON_C_TO_STRING_PLAIN));
	json_object_put(a);
	json_object_put(c);
}

int main(int argc, char **argv)
{
	char *line = NULL;
	size_t size = 0;
	const struct area *area;

	if (argc != 2)
		errx(2, "usage: answer AREA");
	area = find(argv[1]);
	/* The other side may wait for the answers to what it has sent. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (getline(&line, &size, stdin) > 0)
		answer_line(area, line);
	free(line);
	return 0;
}
