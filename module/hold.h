/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lock of a level, kept from one request of a batch to the next.  Sparse does
 * not follow a lock that is held under a condition: here it is told that none is.
 */
#ifndef KAPF_HOLD_H
#define KAPF_HOLD_H

#include <linux/compiler.h>
#include <linux/spinlock.h>

#include "level_now.h"

/**
 * struct kapf_hold - what is held
 * @level: whose lock; NULL: none
 * @now: when the batch began: what time it is for all of it
 */
struct kapf_hold {
	struct kapf_level *level;
	u64 now;
};

static inline void kapf_hold_drop(struct kapf_hold *hold)
{
	struct kapf_level *level = hold->level;

	if (!level)
		return;
	hold->level = NULL;
	__acquire(&level->lock);
	kapf_level_settle(level);
	spin_unlock(&level->lock);
}

static inline void kapf_hold_take(struct kapf_hold *hold,
				  struct kapf_level *level)
{
	if (hold->level == level)
		return;
	kapf_hold_drop(hold);
	spin_lock(&level->lock);
	hold->level = level;
	__release(&level->lock);
}

/* As kapf_level_admit(), of a level that is not exempt. */
static __always_inline u16 kapf_hold_admit(struct kapf_hold *hold,
					   struct kapf_level *level,
					   struct kapf_slot *slot,
					   struct kapf_schema *schema,
					   const struct kapf_op *op)
{
	kapf_hold_take(hold, level);
	if (likely(kapf_level_seat_now(level, slot, schema, op, hold->now)))
		return KAPF_EXECUTE;
	hold->level = NULL;
	__acquire(&level->lock);
	return kapf_level_admit_unlock(level, slot, op, hold->now);
}

/* As kapf_level_finish_now(), of a level that is not exempt. */
static __always_inline u64 kapf_hold_finish(struct kapf_hold *hold,
					    struct kapf_level *level,
					    struct kapf_slot *slot,
					    struct kapf_schema *schema)
{
	kapf_hold_take(hold, level);
	if (likely(kapf_level_serve_now(level, slot, schema, hold->now)))
		return 0;
	hold->level = NULL;
	__acquire(&level->lock);
	return kapf_level_finish_unlock(level, slot, true, hold->now);
}

#endif /* KAPF_HOLD_H */
