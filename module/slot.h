/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KAPF_SLOT_H
#define KAPF_SLOT_H

#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/nospec.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include <linux/kapf.h>

#include "config.h"
#include "level.h"
#include "session.h"

long kapf_slot_admit(struct file *file, const struct kapf_op __user *uop);
long kapf_slot_finish(struct kapf_session *session, unsigned long index);
long kapf_slot_cancel(struct kapf_session *session, unsigned long index);
bool kapf_slot_dequeue(struct kapf_slot *slot);
u32 kapf_slot_end(struct kapf_session *session, struct kapf_slot *slot);
int kapf_slot_busy(struct kapf_session *session, const struct kapf_slot *slot);
u32 kapf_slot_find_free(const struct kapf_session *session, u32 hint);

u64 kapf_slot_served(const struct kapf_session *session, struct kapf_slot *slot,
		     bool linger);
int kapf_slot_not_finished(const struct kapf_session *session,
			   unsigned long index);

/* What becomes of a request that nobody sleeps for */
void kapf_slot_keep(struct kapf_session *session, struct kapf_slot *slot,
		    const struct kapf_event *event);
void kapf_slot_announce(struct kapf_session *session, struct kapf_slot *slot,
			u16 value);
int kapf_slot_submit(struct kapf_session *session, struct kapf_slot *slot,
		     const struct kapf_op *op);
bool kapf_slot_read(const struct kapf_session *session, struct kapf_slot *slot,
		    struct kapf_event *event);
bool kapf_slot_was_read(struct kapf_slot *slot, const struct kapf_event *event);

/* The slot of this index, which has been checked. */
static inline struct kapf_slot *kapf_slot_at(const struct kapf_session *session,
					     unsigned long index)
{
	return &session->slots[array_index_nospec(index, session->nr_slots)];
}

static inline bool kapf_slot_move(struct kapf_slot *slot,
				  enum kapf_slot_state from,
				  enum kapf_slot_state to)
{
	return atomic_cmpxchg(&slot->state, from, to) == from;
}

/*
 * Copy an op from the user, as words: half of what the general copy costs.
 * Return: false: it faults.
 */
static inline bool kapf_op_fetch(struct kapf_op *op,
				 const struct kapf_op __user *uop)
{
	const u64 __user *from = (const u64 __user *)uop;
	u64 *to = (u64 *)op;

	static_assert(sizeof(*op) == 8 * sizeof(*to));
	if (!user_access_begin(uop, sizeof(*uop)))
		return false;
	unsafe_get_user(to[0], &from[0], fault);
	unsafe_get_user(to[1], &from[1], fault);
	unsafe_get_user(to[2], &from[2], fault);
	unsafe_get_user(to[3], &from[3], fault);
	unsafe_get_user(to[4], &from[4], fault);
	unsafe_get_user(to[5], &from[5], fault);
	unsafe_get_user(to[6], &from[6], fault);
	unsafe_get_user(to[7], &from[7], fault);
	user_access_end();
	return true;
fault:
	user_access_end();
	return false;
}

static inline bool kapf_op_valid(const struct kapf_op *op)
{
	const u8 flags = KAPF_OP_MUTATING | KAPF_OP_WATCH | KAPF_OP_NOWAIT |
			 KAPF_OP_NOQUEUE;

	return op->opcode == KAPF_OP_ADMIT && !(op->flags & ~flags) &&
	       op->initial_seats && op->initial_seats <= KAPF_MAX_WIDTH &&
	       op->final_seats <= KAPF_MAX_WIDTH && !op->parent &&
	       op->additional_latency <= KAPF_MAX_ADDITIONAL_LATENCY_NS &&
	       op->max_wait <= KAPF_MAX_WAIT_NS;
}

/*
 * Take the slot of a request of an attached session, which kapf_slot_free() gives
 * back.  Return: 0, -EINVAL, -EBUSY.
 */
static inline int kapf_slot_claim(struct kapf_session *session,
				  const struct kapf_op *op,
				  struct kapf_slot **slot)
{
	if (op->slot >= session->nr_slots || !kapf_op_valid(op))
		return -EINVAL;
	*slot = kapf_slot_at(session, op->slot);
	if (likely(kapf_slot_move(*slot, KAPF_SLOT_FREE, KAPF_SLOT_CLAIMED)))
		return 0;
	return kapf_slot_busy(session, *slot);
}

/* Fetch the label that the op of a claimed slot points to.  0 or -EFAULT. */
static inline int kapf_slot_copy_label(const struct kapf_session *session,
				       const struct kapf_op *op)
{
	struct kapf_label *label;
	u32 len;

	if (!session->label_bytes)
		return 0;
	label = kapf_session_label(session, op->slot);
	len = min_t(u32, op->label_len, session->label_bytes);
	if (len && copy_from_user(label->text, u64_to_user_ptr(op->label), len))
		return -EFAULT;
	label->len = len;
	return 0;
}

/*
 * For how long a request waited.  The clock is read before the lock is taken, and
 * may be behind the level's.
 */
static inline u64 kapf_slot_waited(const struct kapf_slot *slot)
{
	s64 waited = slot->request.start - slot->arrival;

	return waited < 0 ? 0 : waited;
}

/* Are there rules that the session does not know? */
static inline bool kapf_slot_stale(const struct kapf_session *session,
				   const struct kapf_active_config *config)
{
	return READ_ONCE(session->generation) != config->generation;
}

/*
 * Have the request of a claimed slot belong to its schema; within an RCU read
 * section.  @stale: the session does not know the rules.  Return: the schema, which
 * has a level; NULL: there is none.
 */
static __always_inline struct kapf_schema *
kapf_slot_bind(const struct kapf_active_config *config, struct kapf_slot *slot,
	       const struct kapf_op *op, bool stale)
{
	struct kapf_schema *schema;

	slot->flags = op->flags | (stale ? KAPF_SLOT_STALE : 0);
	schema = kapf_config_schema(config, op->schema);
	if (!schema || !schema->level)
		return NULL;
	WRITE_ONCE(slot->schema, schema);
	slot->request.initial_seats = op->initial_seats;
	slot->request.final_seats = op->final_seats;
	slot->request.additional_latency = op->additional_latency;
	return schema;
}

#endif /* KAPF_SLOT_H */
