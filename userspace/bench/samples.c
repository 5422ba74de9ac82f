// SPDX-License-Identifier: GPL-2.0
/*
 * Reads what benchmarks print.  A line that is not as it should be is refused: the
 * benchmark was cut off, or has measured something else.
 */
#include <ctype.h>
#include <err.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "samples.h"

#define LINE_BYTES 256

static void *grow(void *array, size_t *room, size_t size)
{
	*room = *room ? 2 * *room : 16;
	array = reallocarray(array, *room, size);
	if (!array)
		err(1, NULL);
	return array;
}

/**
 * samples_find() - all samples of a key
 * @samples: where
 * @key: which
 *
 * Return: NULL: there are none.
 */
const struct series *samples_find(const struct samples *samples,
				  const char *key)
{
	size_t i;

	/* Those of one key mostly come one after the other. */
	for (i = samples->nr; i-- > 0;)
		if (!strcmp(samples->series[i].key, key))
			return &samples->series[i];
	return NULL;
}

/**
 * samples_add() - one more
 * @samples: where
 * @key: of what
 * @value: of it
 */
void samples_add(struct samples *samples, const char *key, double value)
{
	struct series *series = (struct series *)samples_find(samples, key);

	if (!series) {
		if (samples->nr == samples->room)
			samples->series = grow(samples->series, &samples->room,
					       sizeof(*samples->series));
		series = &samples->series[samples->nr++];
		*series = (struct series){ .key = strdup(key) };
		if (!series->key)
			err(1, NULL);
	}
	if (series->nr == series->room)
		series->values = grow(series->values, &series->room,
				      sizeof(*series->values));
	series->values[series->nr++] = value;
}

/* What is wrong with a line?  Otherwise NULL, and it has been cut in two. */
static const char *parse(char *line, double *value)
{
	size_t len = strspn(line, "abcdefghijklmnopqrstuvwxyz0123456789_.");
	char *end;

	if (!strchr(line, '\n'))
		return "no end of the line";
	if (!len || line[len] != ' ')
		return "no key";
	line[len] = '\0';
	line += len + 1;
	/* What strtod() would take besides: spaces, hexadecimal, infinity. */
	if (line[strspn(line, "0123456789.e+-")] != '\n' ||
	    (!isdigit(line[0]) && line[0] != '-'))
		return "no number";
	*value = strtod(line, &end);
	if (*end != '\n' || !isfinite(*value))
		return "no number";
	return NULL;
}

/**
 * samples_read() - add what a file has
 * @samples: where
 * @file: open
 * @name: of it
 *
 * Return: whether all of it could be made sense of.
 */
bool samples_read(struct samples *samples, FILE *file, const char *name)
{
	unsigned int number = 0;
	char line[LINE_BYTES];

	while (fgets(line, sizeof(line), file)) {
		const char *wrong;
		double value;

		number++;
		wrong = parse(line, &value);
		if (wrong) {
			warnx("%s:%u: %s", name, number, wrong);
			return false;
		}
		samples_add(samples, line, value);
	}
	if (ferror(file)) {
		warn("%s", name);
		return false;
	}
	return true;
}

/**
 * samples_free() - forget them
 * @samples: all of it
 */
void samples_free(struct samples *samples)
{
	size_t i;

	for (i = 0; i < samples->nr; i++) {
		free(samples->series[i].key);
		free(samples->series[i].values);
	}
	free(samples->series);
	*samples = (struct samples){};
}
