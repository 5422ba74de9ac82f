/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KAPF_EVENT_H
#define KAPF_EVENT_H

#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/types.h>
#include <linux/wait.h>

/**
 * struct kapf_events - the decisions that a session has not read yet
 * @posted: their nodes, newest first
 * @lock: protects @taken; no page fault is taken with it held
 * @taken: nodes that have been taken from @posted, oldest first
 * @wait: whoever waits for one, or polls the file
 * @slot_wanted: somebody polls for a free slot; no lock, ordered against the
 *	states of the slots
 */
struct kapf_events {
	struct llist_head posted;
	struct mutex lock; /* of taken */
	struct llist_node *taken;
	wait_queue_head_t wait;
	bool slot_wanted;
};

void kapf_events_init(struct kapf_events *events);
void kapf_events_destroy(struct kapf_events *events);
bool kapf_events_any(const struct kapf_events *events);
unsigned int kapf_events_take(struct kapf_events *events,
			      struct llist_node **nodes, unsigned int nr);
void kapf_events_put_back(struct kapf_events *events,
			  struct llist_node **nodes, unsigned int nr);
void kapf_events_wake(struct kapf_events *events, __poll_t what);

/*
 * Add one.  Return: whether there was none: then the readers have to be woken,
 * who sleep only after they have found nothing.
 */
static inline bool kapf_events_post(struct kapf_events *events,
				    struct llist_node *node)
{
	return llist_add(node, &events->posted);
}

/* Does a slot that has become free have to be told of?  Once. */
static inline bool kapf_events_slot_wanted(struct kapf_events *events)
{
	if (!READ_ONCE(events->slot_wanted))
		return false;
	WRITE_ONCE(events->slot_wanted, false);
	return true;
}

#endif /* KAPF_EVENT_H */
