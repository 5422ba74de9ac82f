// SPDX-License-Identifier: GPL-2.0
/*
 * Deadlines of a level: wait limits and ends of additional latencies.
 *
 * Nearly all requests of a server wait for the same time, so that deadlines
 * come in order and a list serves them at no cost.  Those that do not are kept
 * in a tree, since a list alone would let a client with falling wait limits make
 * everybody search it.
 *
 * One timer serves all.  It is lazy: most deadlines are removed long before they
 * are due, and moving the timer each time would cost more than a firing for
 * nothing.  So it is started only for a deadline before the one it is armed for,
 * and never cancelled while the level lives.
 *
 * Everything but init and destroy is called under the level's lock.
 */

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/rbtree.h>

#include "deadline.h"

#define KAPF_NEVER (U64_MAX >> 1)

void kapf_deadlines_init(struct kapf_deadlines *deadlines,
			 enum hrtimer_restart (*fire)(struct hrtimer *timer))
{
	INIT_LIST_HEAD(&deadlines->in_order);
	deadlines->out_of_order = RB_ROOT_CACHED;
	hrtimer_init(&deadlines->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	deadlines->timer.function = fire;
	deadlines->armed = KAPF_NEVER;
}

/* Nothing may be added any more. */
void kapf_deadlines_destroy(struct kapf_deadlines *deadlines)
{
	hrtimer_cancel(&deadlines->timer);
}

static struct kapf_deadline *
kapf_deadlines_first(struct kapf_deadlines *deadlines)
{
	struct kapf_deadline *a, *b;

	a = list_first_entry_or_null(&deadlines->in_order, struct kapf_deadline,
				     link);
	b = rb_entry_safe(rb_first_cached(&deadlines->out_of_order),
			  struct kapf_deadline, node);
	if (!a || !b)
		return a ?: b;
	return a->when <= b->when ? a : b;
}

static void kapf_deadlines_arm(struct kapf_deadlines *deadlines, u64 when)
{
	if (when >= deadlines->armed)
		return;
	deadlines->armed = when;
	hrtimer_start(&deadlines->timer, ns_to_ktime(when),
		      HRTIMER_MODE_ABS_SOFT);
}

static bool kapf_deadline_before(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct kapf_deadline, node)->when <
	       rb_entry(b, struct kapf_deadline, node)->when;
}

void kapf_deadlines_add(struct kapf_deadlines *deadlines,
			struct kapf_deadline *deadline, u64 when)
{
	struct list_head *list = &deadlines->in_order;

	deadline->when = when;
	deadline->in_order = list_empty(list) ||
		list_last_entry(list, struct kapf_deadline, link)->when <= when;
	if (deadline->in_order)
		list_add_tail(&deadline->link, list);
	else
		rb_add_cached(&deadline->node, &deadlines->out_of_order,
			      kapf_deadline_before);
	kapf_deadlines_arm(deadlines, when);
}

void kapf_deadlines_remove(struct kapf_deadlines *deadlines,
			   struct kapf_deadline *deadline)
{
	if (deadline->in_order)
		list_del(&deadline->link);
	else
		rb_erase_cached(&deadline->node, &deadlines->out_of_order);
}

/*
 * The timer has fired: kapf_deadlines_due() is to be called until it is NULL, or
 * kapf_deadlines_again().
 */
void kapf_deadlines_fired(struct kapf_deadlines *deadlines)
{
	deadlines->armed = KAPF_NEVER;
}

/* There may be more that are due: let the timer fire at once. */
void kapf_deadlines_again(struct kapf_deadlines *deadlines, u64 now)
{
	kapf_deadlines_arm(deadlines, now);
}

/**
 * kapf_deadlines_due() - the next deadline that has come
 * @deadlines: where
 * @now: the time
 *
 * Return: one that the caller has to remove, the earliest first; or NULL, and
 * the timer is armed for the next one.
 */
struct kapf_deadline *kapf_deadlines_due(struct kapf_deadlines *deadlines,
					 u64 now)
{
	struct kapf_deadline *first = kapf_deadlines_first(deadlines);

	if (!first)
		return NULL;
	if (first->when <= now)
		return first;
	kapf_deadlines_arm(deadlines, first->when);
	return NULL;
}
