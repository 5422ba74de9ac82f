// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * How long a refused client should stay away.
 *
 * Clients that all come back after the same second are refused again together.
 * So the time that a level asks for doubles while many are refused and shrinks
 * by one when few are.  It is looked at once a second, when the first drop of
 * that second comes, and judged by the drops of as many whole seconds as it
 * asks for: the clients that were told so have come back by then.
 */

#include <linux/types.h>

#include "retryafter.h"

/* The present second and the longest window of whole seconds before it. */
#define KAPF_DROPS_KEPT (KAPF_RETRY_AFTER_MAX + 1)

void kapf_retry_after_init(struct kapf_retry_after *ra)
{
	*ra = (struct kapf_retry_after) { .seconds = 1 };
}

/* Make second the present one; seconds without drops lie between. */
static void kapf_retry_after_advance(struct kapf_retry_after *ra, u64 second)
{
	u64 skipped = second - ra->second;
	u32 i;

	if (skipped > KAPF_DROPS_KEPT)
		skipped = KAPF_DROPS_KEPT;
	for (i = 0; i < skipped; i++)
		ra->drops[(second - i) % KAPF_DROPS_KEPT] = 0;
	ra->second = second;
}

static void kapf_retry_after_adapt(struct kapf_retry_after *ra)
{
	u64 drops = 0;
	u32 i;

	for (i = 1; i <= ra->seconds && i <= ra->second; i++)
		drops += ra->drops[(ra->second - i) % KAPF_DROPS_KEPT];

	if (ra->second - ra->doubled >= ra->seconds &&
	    drops >= 3 * ra->seconds) {
		ra->seconds *= 2;
		if (ra->seconds > KAPF_RETRY_AFTER_MAX)
			ra->seconds = KAPF_RETRY_AFTER_MAX;
		ra->doubled = ra->second;
	} else if (drops < ra->seconds && ra->seconds > 1) {
		ra->seconds--;
	}
}

/**
 * kapf_retry_after_drop() - count a refusal
 * @ra: of the level
 * @second: now, in whole seconds of any clock; one before the last is taken for
 *	the last
 *
 * Return: seconds that the refused client should stay away.
 */
u32 kapf_retry_after_drop(struct kapf_retry_after *ra, u64 second)
{
	u32 *drops;

	if (second > ra->second) {
		kapf_retry_after_advance(ra, second);
		kapf_retry_after_adapt(ra);
	}
	drops = &ra->drops[ra->second % KAPF_DROPS_KEPT];
	if (*drops < ~0u)
		++*drops;
	return ra->seconds;
}
