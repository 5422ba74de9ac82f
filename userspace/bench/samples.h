/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What benchmarks print: lines "KEY VALUE", the same key as often as it was
 * measured; and what can be said of them.
 */
#ifndef KAPF_BENCH_SAMPLES_H
#define KAPF_BENCH_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/**
 * struct series - all samples of a key
 * @key: what was measured
 * @values: in the order in which they were
 * @nr: how many
 * @room: for so many
 */
struct series {
	char *key;
	double *values;
	size_t nr;
	size_t room;
};

/**
 * struct samples - all that was measured
 * @series: of each key, in the order in which keys came first
 * @nr: how many
 * @room: for so many
 */
struct samples {
	struct series *series;
	size_t nr;
	size_t room;
};

/**
 * struct estimate - what is taken for the true value
 * @value: median of the samples
 * @low: lower end of its interval of confidence; NAN: too few samples
 * @high: upper end
 * @nr: samples
 */
struct estimate {
	double value;
	double low;
	double high;
	size_t nr;
};

bool samples_read(struct samples *samples, FILE *file, const char *name);
const struct series *samples_find(const struct samples *samples,
				  const char *key);
void samples_add(struct samples *samples, const char *key, double value);
void samples_free(struct samples *samples);

bool estimate_median(const struct series *series, struct estimate *estimate);
bool estimate_ratios(const struct series *a, const struct series *b,
		     struct estimate *estimate);
bool estimate_ratio(const struct series *a, const struct series *b,
		    struct estimate *estimate);
double *samples_sorted(const struct series *series);

#endif /* KAPF_BENCH_SAMPLES_H */
