/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KAPF_DEADLINE_H
#define KAPF_DEADLINE_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/types.h>

/**
 * struct kapf_deadline - a moment at which something is to happen
 * @when: CLOCK_MONOTONIC, in ns
 * @in_order: which of the next two it is in
 * @link: in kapf_deadlines.in_order
 * @node: in kapf_deadlines.out_of_order
 */
struct kapf_deadline {
	u64 when : 63;
	u64 in_order : 1;
	union {
		struct list_head link;
		struct rb_node node;
	};
};

/**
 * struct kapf_deadlines - the deadlines of one kind of one level
 * @in_order: those that came with a later moment than all before them
 * @out_of_order: the others
 * @timer: fires at the first of them, or before
 * @armed: when it fires; KAPF_NEVER while it is not armed
 */
struct kapf_deadlines {
	struct list_head in_order;
	struct rb_root_cached out_of_order;
	struct hrtimer timer;
	u64 armed;
};

void kapf_deadlines_init(struct kapf_deadlines *deadlines,
			 enum hrtimer_restart (*fire)(struct hrtimer *timer));
void kapf_deadlines_destroy(struct kapf_deadlines *deadlines);
void kapf_deadlines_add(struct kapf_deadlines *deadlines,
			struct kapf_deadline *deadline, u64 when);
void kapf_deadlines_remove(struct kapf_deadlines *deadlines,
			   struct kapf_deadline *deadline);
void kapf_deadlines_fired(struct kapf_deadlines *deadlines);
void kapf_deadlines_again(struct kapf_deadlines *deadlines, u64 now);
struct kapf_deadline *kapf_deadlines_due(struct kapf_deadlines *deadlines,
					 u64 now);

#endif /* KAPF_DEADLINE_H */
