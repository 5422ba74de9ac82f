// SPDX-License-Identifier: GPL-2.0
/*
 * What is counted on each CPU for itself is looked at from time to time, as it
 * would cost more to tell of each change than a change does.
 *
 * The first thing to see starts that, and a sample of nothing ends it: an idle
 * machine sleeps.  The timer is an ordinary one: a machine that is busy elsewhere,
 * while the CPU sleeps that took a request, misses nothing.
 */

#include <linux/jiffies.h>
#include <linux/ktime.h>

#include "sampler.h"

#define KAPF_SAMPLE_MS 10

static void kapf_sampler_again(struct kapf_sampler *sampler)
{
	mod_timer(&sampler->timer, jiffies + msecs_to_jiffies(KAPF_SAMPLE_MS));
}

/*
 * One more sample follows the first of nothing: until then whoever has seen
 * @active set is in the sum.
 */
static void kapf_sampler_fire(struct timer_list *timer)
{
	struct kapf_sampler *sampler = container_of(timer, struct kapf_sampler,
						    timer);
	bool active = READ_ONCE(sampler->active);
	bool any = sampler->look(sampler, ktime_get_ns());

	WRITE_ONCE(sampler->active, any);
	if (any || active)
		kapf_sampler_again(sampler);
}

/**
 * kapf_sampler_start() - look now, and from time to time
 * @sampler: was not active a moment ago
 */
void kapf_sampler_start(struct kapf_sampler *sampler)
{
	WRITE_ONCE(sampler->active, true);
	sampler->look(sampler, ktime_get_ns());
	kapf_sampler_again(sampler);
}

/**
 * kapf_sampler_init() - make a sampler of something where there is nothing yet
 * @sampler: zeroed
 * @look: see struct kapf_sampler
 */
void kapf_sampler_init(struct kapf_sampler *sampler,
		       bool (*look)(struct kapf_sampler *sampler, u64 now))
{
	sampler->look = look;
	timer_setup(&sampler->timer, kapf_sampler_fire, 0);
}

/**
 * kapf_sampler_destroy() - look no more
 * @sampler: that nobody needs any more
 */
void kapf_sampler_destroy(struct kapf_sampler *sampler)
{
	del_timer_sync(&sampler->timer);
}
