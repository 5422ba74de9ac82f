// SPDX-License-Identifier: GPL-2.0
/*
 * What gnuplot is to make pictures of, one file for each of plots/.  There is none
 * of what was not measured.
 */
#include <err.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plots.h"

/* Points of a distribution, of which the last hundredth would be most of the plot. */
#define POINTS 500
#define SHOWN 0.99

static FILE *start(const char *dir, const char *name, char *path, size_t size)
{
	FILE *file;

	snprintf(path, size, "%s/%s.dat", dir, name);
	file = fopen(path, "w");
	if (!file)
		err(2, "%s", path);
	return file;
}

static void end(FILE *file, const char *path, bool any)
{
	if (fclose(file))
		err(2, "%s", path);
	if (!any && unlink(path))
		err(2, "%s", path);
}

/*
 * What a request of a single process costs, which all peers can serve: a line for
 * each peer, a column for each workload.
 */
static bool put_cost(FILE *file, const struct samples *samples)
{
	static const char *const workloads[] = {
		"uncontended", "saturated", "levels8", "wide", "mix",
	};
	const size_t nr = sizeof(workloads) / sizeof(*workloads);
	struct estimate estimate;
	bool any = false;
	size_t i, peer;
	char key[KEY_BYTES];

	fputs("peer", file);
	for (i = 0; i < nr; i++)
		fprintf(file, " %s", workloads[i]);
	for (peer = 0; peer < NR_PEERS; peer++) {
		fprintf(file, "\n%s", peers[peer]);
		for (i = 0; i < nr; i++) {
			snprintf(key, sizeof(key), "wall.ns.%s.%s.1",
				 peers[peer], workloads[i]);
			if (!estimate_median(samples_find(samples, key),
					     &estimate)) {
				fputs(" ?", file);
				continue;
			}
			fprintf(file, " %g", estimate.value);
			any = true;
		}
	}
	fputc('\n', file);
	return any;
}

/* Distributions of hand-offs: ns and the part of them that took no longer. */
static bool put_handoff(FILE *file, const struct samples *samples)
{
	static const char *const keys[] = {
		"wall.handoff.kapf", "wall.handoff.futex",
	};
	size_t i, point;

	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const struct series *series = samples_find(samples, keys[i]);
		double *sorted;

		if (!series)
			return false;
		sorted = samples_sorted(series);
		for (point = 0; point <= POINTS; point++)
			fprintf(file, "%g %g\n",
				sorted[(size_t)(SHOWN * point / POINTS *
						(series->nr - 1))],
				SHOWN * point / POINTS);
		/* gnuplot knows them by their index. */
		fputs("\n\n", file);
		free(sorted);
	}
	return true;
}

/* insn.by_THING.N: N and the instructions. */
static bool put_by(FILE *file, const struct results *results,
		   const char *prefix)
{
	size_t i, len = strlen(prefix);
	bool any = false;

	for (i = 0; i < results->nr; i++) {
		const struct result *result = &results->all[i];

		if (strncmp(result->key, prefix, len))
			continue;
		fprintf(file, "%s %g\n", result->key + len,
			result->estimate.value);
		any = true;
	}
	return any;
}

/* A line for each peer: Jain's index, the p99 of a light flow, seats return. */
static bool put_fairness(FILE *file, const struct samples *samples)
{
	static const char *const what[] = {
		"jain", "light_p99_ms", "seats_return_after_kill",
	};
	struct estimate estimate;
	bool any = false;
	size_t i, peer;
	char key[KEY_BYTES];

	for (peer = 0; peer < NR_PEERS; peer++) {
		snprintf(key, sizeof(key), "fairness.%s.jain", peers[peer]);
		if (!samples_find(samples, key))
			continue;
		any = true;
		fputs(peers[peer], file);
		for (i = 0; i < sizeof(what) / sizeof(*what); i++) {
			snprintf(key, sizeof(key), "fairness.%s.%s",
				 peers[peer], what[i]);
			if (estimate_median(samples_find(samples, key),
					    &estimate))
				fprintf(file, " %g", estimate.value);
			else
				fputs(" ?", file);
		}
		fputc('\n', file);
	}
	return any;
}

/**
 * plots_write() - write what pictures are made of
 * @dir: where; it is there
 * @samples: of everything
 * @results: made of them
 */
void plots_write(const char *dir, const struct samples *samples,
		 const struct results *results)
{
	char path[4096];
	FILE *file;

	file = start(dir, "cost", path, sizeof(path));
	end(file, path, put_cost(file, samples));
	file = start(dir, "handoff", path, sizeof(path));
	end(file, path, put_handoff(file, samples));
	file = start(dir, "queues", path, sizeof(path));
	end(file, path, put_by(file, results, "insn.by_queues."));
	file = start(dir, "batch", path, sizeof(path));
	end(file, path, put_by(file, results, "insn.by_batch."));
	file = start(dir, "fairness", path, sizeof(path));
	end(file, path, put_fairness(file, samples));
}
