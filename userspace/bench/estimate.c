// SPDX-License-Identifier: GPL-2.0
/*
 * What can be said of samples: their median, and an interval that has the true
 * median in 95 of 100 cases, whatever the distribution is like.
 */
#include <err.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "samples.h"

#define CONFIDENCE 0.95

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/**
 * samples_sorted() - samples, the least first
 * @series: of them
 *
 * Return: an array that the caller frees.
 */
double *samples_sorted(const struct series *series)
{
	double *values = calloc(series->nr + 1, sizeof(*values));

	if (!values)
		err(1, NULL);
	memcpy(values, series->values, series->nr * sizeof(*values));
	qsort(values, series->nr, sizeof(*values), compare);
	return values;
}

/*
 * How many samples at either end are outside the interval?  The k least of n are all
 * above the true median, or the k greatest all below it, as often as a fair coin
 * falls on one side less than k times of n; -1: n is too small for that to be rare.
 */
static long outside(size_t n)
{
	/* Of the coin: the probability of exactly k, and of at most k. */
	double exactly, up_to = 0;
	long k;

	for (k = 0; (size_t)k <= n / 2; k++) {
		exactly = exp(lgamma(n + 1.0) - lgamma(k + 1.0) -
			      lgamma(n - k + 1.0) - n * M_LN2);
		up_to += exactly;
		if (2 * up_to > 1 - CONFIDENCE)
			break;
	}
	return k - 1;
}

/**
 * estimate_median() - the median of samples
 * @series: of them; may be NULL
 * @estimate: out; its interval is that of the order statistics
 *
 * Return: whether there are samples.
 */
bool estimate_median(const struct series *series, struct estimate *estimate)
{
	double *sorted;
	size_t n;
	long k;

	if (!series)
		return false;
	sorted = samples_sorted(series);
	n = series->nr;
	k = outside(n);
	*estimate = (struct estimate){
		.value = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2,
		.low = k < 0 ? NAN : sorted[k],
		.high = k < 0 ? NAN : sorted[n - 1 - k],
		.nr = n,
	};
	free(sorted);
	return true;
}

/**
 * estimate_ratios() - the median of ratios
 * @a: what is divided; may be NULL
 * @b: by what: the samples of the same index belong together
 * @estimate: out
 *
 * Return: whether there are such pairs.
 */
bool estimate_ratios(const struct series *a, const struct series *b,
		     struct estimate *estimate)
{
	struct samples ratios = {};
	size_t i;
	bool any;

	for (i = 0; a && b && i < a->nr && i < b->nr; i++)
		samples_add(&ratios, "ratio", a->values[i] / b->values[i]);
	any = estimate_median(samples_find(&ratios, "ratio"), estimate);
	samples_free(&ratios);
	return any;
}

/**
 * estimate_ratio() - the ratio of two medians
 * @a: what is divided; may be NULL
 * @b: by what; its samples are independent of the others
 * @estimate: out; its interval is that of the ends of the two intervals, which is
 *	a little too wide
 *
 * Return: whether there are samples of both.
 */
bool estimate_ratio(const struct series *a, const struct series *b,
		    struct estimate *estimate)
{
	struct estimate x, y;

	if (!estimate_median(a, &x) || !estimate_median(b, &y))
		return false;
	*estimate = (struct estimate){
		.value = x.value / y.value,
		.low = x.low / y.high,
		.high = x.high / y.low,
		.nr = x.nr < y.nr ? x.nr : y.nr,
	};
	return true;
}
