/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KAPF_BENCH_COUNT_H
#define KAPF_BENCH_COUNT_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_MAX 1000000

/* An argument that says how many, from 1 to COUNT_MAX. */
static inline bool parse_count(const char *text, unsigned long *count)
{
	if (!*text || text[strspn(text, "0123456789")])
		return false;
	*count = strtoul(text, NULL, 10);
	return *count && *count <= COUNT_MAX;
}

#endif /* KAPF_BENCH_COUNT_H */
