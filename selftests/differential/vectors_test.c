// SPDX-License-Identifier: GPL-2.0
/*
 * vectors_test DIRECTORY: compares kapf's answers with the reference's, as
 * recorded in DIRECTORY/AREA.jsonl: lines {"case": ..., "answer": ...}.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include "answer.h"

/* Is our answer the recorded one? */
static bool replay(const struct area *area, const char *line, bool quiet)
{
	struct json_object *vector = json_tokener_parse(line);
	struct json_object *c = case_get(vector, "case");
	struct json_object *want = case_get(vector, "answer");
	struct json_object *got = area->answer(c);
	bool equal = json_object_equal(want, got);

	if (!equal && !quiet) {
		printf("# case %s\n", json_object_to_json_string(c));
		printf("# reference %s\n", json_object_to_json_string(want));
		printf("# kapf %s\n", json_object_to_json_string(got));
	}
	json_object_put(got);
	json_object_put(vector);
	return equal;
}

/* How many lines there are in the area's file, and how many of them fail. */
static void replay_all(const struct area *area, const char *directory,
		       unsigned int *nr, unsigned int *wrong)
{
	char *path, *line = NULL;
	size_t size = 0;
	FILE *file;

	if (asprintf(&path, "%s/%s.jsonl", directory, area->name) < 0)
		err(1, "asprintf");
	file = fopen(path, "r");
	if (!file)
		err(1, "%s", path);
	*nr = 0;
	*wrong = 0;
	for (; getline(&line, &size, file) > 0; ++*nr)
		if (!replay(area, line, *wrong))
			++*wrong;
	free(line);
	fclose(file);
	free(path);
}

int main(int argc, char **argv)
{
	unsigned int nr, wrong, failed = 0, number = 0;
	const struct area *area;

	if (argc != 2)
		errx(2, "usage: vectors_test DIRECTORY");
	for (area = areas; area->name; area++)
		number++;
	printf("TAP version 13\n1..%u\n", number);
	number = 0;
	for (area = areas; area->name; area++) {
		replay_all(area, argv[1], &nr, &wrong);
		printf("%s %u vectors.%s # %u of %u\n",
		       wrong || !nr ? "not ok" : "ok", ++number, area->name,
		       nr - wrong, nr);
		failed += wrong || !nr;
	}
	return failed ? 1 : 0;
}
