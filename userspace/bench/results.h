/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the benchmarks found out, key by key, and whether it is what it should be.
 */
#ifndef KAPF_BENCH_RESULTS_H
#define KAPF_BENCH_RESULTS_H

#include "samples.h"

/* Of everything that grants seats; kapf is the first. */
#define NR_PEERS 6
extern const char *const peers[NR_PEERS];

/* A key is no longer. */
#define KEY_BYTES 96

enum relation {
	NO_GOAL,
	AT_MOST,
	AT_LEAST,
};

enum outcome {
	NOT_MEASURED,	/* or that what the goal depends on was not */
	NO_JUDGEMENT,	/* there is no goal */
	NO_CASE,	/* there is nothing that could be measured */
	MET,
	MISSED,
};

/**
 * struct result - of one key
 * @key: what was measured
 * @unit: in which; a word or two for the table
 * @estimate: of it, where @measured
 * @measured: there are samples
 * @raw: for plots and for bench.json, too much for the table
 * @relation: in which it should be to the limit
 * @limit: NAN: what it depends on was not measured
 * @text: the limit in words
 * @outcome: was the goal met?
 * @close: the interval has the limit in it, so that the outcome may be chance
 */
struct result {
	char key[KEY_BYTES];
	const char *unit;
	struct estimate estimate;
	bool measured;
	bool raw;
	enum relation relation;
	double limit;
	char text[64];
	enum outcome outcome;
	bool close;
};

/**
 * struct results - all of them
 * @all: array
 * @nr: of it
 * @room: for so many
 */
struct results {
	struct result *all;
	size_t nr;
	size_t room;
};

void results_find(struct results *results, const struct samples *samples);

#endif /* KAPF_BENCH_RESULTS_H */
