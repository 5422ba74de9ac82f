/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KAPF_SAMPLER_H
#define KAPF_SAMPLER_H

#include <linux/compiler.h>
#include <linux/timer.h>
#include <linux/types.h>

/**
 * struct kapf_sampler - looks at something from time to time, while there is
 *	something to see
 * @active: it does so; a hint
 * @timer: does so
 * @look: does the looking; returns whether there was something
 */
struct kapf_sampler {
	bool active;
	struct timer_list timer;
	bool (*look)(struct kapf_sampler *sampler, u64 now);
};

void kapf_sampler_init(struct kapf_sampler *sampler,
		       bool (*look)(struct kapf_sampler *sampler, u64 now));
void kapf_sampler_destroy(struct kapf_sampler *sampler);
void kapf_sampler_start(struct kapf_sampler *sampler);

/* There is something to see; to be called when that has been counted. */
static inline void kapf_sampler_need(struct kapf_sampler *sampler)
{
	if (unlikely(!READ_ONCE(sampler->active)))
		kapf_sampler_start(sampler);
}

#endif /* KAPF_SAMPLER_H */
