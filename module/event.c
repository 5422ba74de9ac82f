// SPDX-License-Identifier: GPL-2.0
/*
 * Decisions on their way to a session that does not sleep for them.
 *
 * Who decides adds a node to a list without a lock.  Readers take all of that
 * list at once, turn it round and serve themselves from it under a mutex of
 * their own, so that they never disturb who decides.
 */

#include <linux/poll.h>
#include <linux/wait.h>

#include "event.h"

void kapf_events_init(struct kapf_events *events)
{
	init_llist_head(&events->posted);
	mutex_init(&events->lock);
	init_waitqueue_head(&events->wait);
}

void kapf_events_destroy(struct kapf_events *events)
{
	mutex_destroy(&events->lock);
}

/* Would a reader find one? */
bool kapf_events_any(const struct kapf_events *events)
{
	return READ_ONCE(events->taken) || !llist_empty(&events->posted);
}

/**
 * kapf_events_take() - take the oldest ones away
 * @events: where
 * @nodes: out
 * @nr: how many at most
 *
 * Return: how many.
 */
unsigned int kapf_events_take(struct kapf_events *events,
			      struct llist_node **nodes, unsigned int nr)
{
	bool moved = false;
	unsigned int i;

	mutex_lock(&events->lock);
	for (i = 0; i < nr; i++) {
		struct llist_node *first = events->taken;

		if (!first) {
			first = llist_del_all(&events->posted);
			first = llist_reverse_order(first);
			moved = true;
		}
		if (!first)
			break;
		nodes[i] = first;
		WRITE_ONCE(events->taken, first->next);
	}
	moved = moved && events->taken;
	mutex_unlock(&events->lock);
	/* Between the two lists others cannot have seen what is left. */
	if (moved)
		kapf_events_wake(events, EPOLLIN | EPOLLRDNORM);
	return i;
}

/**
 * kapf_events_put_back() - undo a take
 * @events: where
 * @nodes: that have been taken
 * @nr: how many
 */
void kapf_events_put_back(struct kapf_events *events,
			  struct llist_node **nodes, unsigned int nr)
{
	if (!nr)
		return;
	mutex_lock(&events->lock);
	while (nr--) {
		nodes[nr]->next = events->taken;
		WRITE_ONCE(events->taken, nodes[nr]);
	}
	mutex_unlock(&events->lock);
	/* Others may have found nothing meanwhile. */
	kapf_events_wake(events, EPOLLIN | EPOLLRDNORM);
}

void kapf_events_wake(struct kapf_events *events, __poll_t what)
{
	wake_up_interruptible_poll(&events->wait, what);
}
