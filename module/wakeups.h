/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KAPF_WAKEUPS_H
#define KAPF_WAKEUPS_H

#include <linux/poll.h>
#include <linux/sched.h>

#include "event.h"

/* Requests dispatched, expired or released in one hold of a level's lock. */
#define KAPF_ROUND 20

/**
 * struct kapf_wakeups - whom to wake after the lock has been dropped
 * @nr: how many
 * @whom: a struct task_struct, or a struct kapf_events where there is a key
 * @keys: what there is to be polled for; 0: a task
 */
struct kapf_wakeups {
	unsigned int nr;
	void *whom[KAPF_ROUND];
	__poll_t keys[KAPF_ROUND];
};

static inline void kapf_wakeups_add(struct kapf_wakeups *wakeups, void *whom,
				    __poll_t key)
{
	wakeups->whom[wakeups->nr] = whom;
	wakeups->keys[wakeups->nr++] = key;
}

static inline void kapf_wakeups_wake(const struct kapf_wakeups *wakeups)
{
	unsigned int i;

	for (i = 0; i < wakeups->nr; i++) {
		if (wakeups->keys[i])
			kapf_events_wake(wakeups->whom[i], wakeups->keys[i]);
		else
			wake_up_process(wakeups->whom[i]);
	}
}

#endif /* KAPF_WAKEUPS_H */
