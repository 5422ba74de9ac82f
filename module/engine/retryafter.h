/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
#ifndef KAPF_RETRYAFTER_H
#define KAPF_RETRYAFTER_H

#include <linux/types.h>

#define KAPF_RETRY_AFTER_MAX 32

/**
 * struct kapf_retry_after - how long a refused client should stay away
 * @second: of the last drop
 * @doubled: second in which @seconds was last doubled
 * @seconds: the answer, 1 to KAPF_RETRY_AFTER_MAX
 * @drops: drops in @second and in those before it, by second modulo the size
 */
struct kapf_retry_after {
	u64 second;
	u64 doubled;
	u32 seconds;
	u32 drops[KAPF_RETRY_AFTER_MAX + 1];
};

void kapf_retry_after_init(struct kapf_retry_after *ra);
u32 kapf_retry_after_drop(struct kapf_retry_after *ra, u64 second);

#endif /* KAPF_RETRYAFTER_H */
