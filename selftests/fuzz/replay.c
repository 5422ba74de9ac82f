// SPDX-License-Identifier: GPL-2.0
/*
 * The main() of a fuzz target without a fuzzer: gives the target every file of
 * its corpus, or of the directory that is named, one after the other, and prints
 * TAP.  What a target has to say against an input it says by ending the program.
 */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

static int is_input(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* A copy that ends where the input ends, so that a byte too far is seen. */
static uint8_t *read_input(const char *name, size_t *size)
{
	FILE *from = fopen(name, "rb");
	uint8_t *data = NULL;
	struct stat stat;

	if (!from)
		return NULL;
	if (!fstat(fileno(from), &stat)) {
		*size = stat.st_size;
		data = malloc(*size);
	}
	if (data && fread(data, 1, *size, from) != *size) {
		free(data);
		data = NULL;
	}
	fclose(from);
	return data;
}

static bool replay(const char *name)
{
	size_t size;
	uint8_t *data = read_input(name, &size);

	if (!data) {
		printf("# %s: %s\n", name, strerror(errno));
		return false;
	}
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	return true;
}

int main(int argc, char **argv)
{
	char dir[4096];
	struct dirent **entries;
	int i, nr, failed = 0;

	snprintf(dir, sizeof(dir), CORPUS "/%s", program_invocation_short_name);
	if (argc > 1)
		snprintf(dir, sizeof(dir), "%s", argv[1]);
	nr = scandir(dir, &entries, is_input, alphasort);
	if (nr <= 0 || chdir(dir)) {
		printf("Bail out! no inputs in %s\n", dir);
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n1..%d\n", nr);
	for (i = 0; i < nr; i++) {
		bool fine = replay(entries[i]->d_name);

		printf("%sok %d - %s\n", fine ? "" : "not ", i + 1,
		       entries[i]->d_name);
		failed += !fine;
		free(entries[i]);
	}
	free(entries);
	return failed != 0;
}
