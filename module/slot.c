// SPDX-License-Identifier: GPL-2.0
/*
 * The slots of a session, each for one request: what a call does with one.
 *
 * A call takes the slot it works on by compare-and-exchange (enum
 * kapf_slot_state), so that calls on different slots share nothing, and two on
 * one slot cannot both go on.
 */

#include <linux/bottom_half.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <linux/wait_bit.h>

#include "config.h"
#include "level_now.h"
#include "mode.h"
#include "slot.h"

/* The slot of a call that has only its index: or why it cannot be had. */
static struct kapf_slot *kapf_slot_get(const struct kapf_session *session,
				       unsigned long index)
{
	int ret = kapf_session_check(session);

	if (ret)
		return ERR_PTR(ret);
	return index < session->nr_slots ? kapf_slot_at(session, index) :
					   ERR_PTR(-EINVAL);
}

/**
 * kapf_slot_find_free() - is there a free slot?
 * @session: attached
 * @hint: index to begin at
 *
 * Return: the index of one; session->nr_slots: there is none.
 */
u32 kapf_slot_find_free(const struct kapf_session *session, u32 hint)
{
	u32 nr = session->nr_slots;
	u32 i, index;

	for (i = 0; i < nr; i++) {
		index = hint + i < nr ? hint + i : hint + i - nr;
		if (atomic_read(&session->slots[index].state) ==
		    KAPF_SLOT_FREE)
			return index;
		if (i % 1024 == 1023)
			cond_resched();
	}
	return nr;
}

/**
 * kapf_slot_busy() - the slot of a new request is in use
 * @session: attached
 * @slot: was not free a moment ago
 *
 * Return: -EBUSY.
 */
int kapf_slot_busy(struct kapf_session *session, const struct kapf_slot *slot)
{
	/* For pollers that are told of edges only, and do not look again. */
	WRITE_ONCE(session->events.slot_wanted, true);
	smp_mb(); /* Pairs with kapf_slot_set_free(). */
	if (atomic_read(&slot->state) == KAPF_SLOT_FREE &&
	    kapf_events_slot_wanted(&session->events))
		kapf_events_wake(&session->events, EPOLLOUT | EPOLLWRNORM);
	return -EBUSY;
}

/* Decide on the request of a claimed slot; within an RCU read section. */
static __always_inline long
kapf_slot_decide(struct kapf_session *session,
		 const struct kapf_active_config *config,
		 struct kapf_slot *slot, const struct kapf_op *op, bool stale)
{
	struct kapf_schema *schema;
	struct kapf_level *level;
	u32 mode;

	if (READ_ONCE(session->state) != KAPF_SESSION_ATTACHED)
		return -ESHUTDOWN;
	schema = kapf_slot_bind(config, slot, op, stale);
	if (!schema)
		return KAPF_RECLASSIFY;
	level = schema->level;
	/* Pairs with SET_MODE: what a mode needs is there. */
	mode = smp_load_acquire(&session->instance->mode);
	if (unlikely(mode != KAPF_MODE_ENFORCE) && !level->exempt)
		return kapf_mode_admit(session, config, slot, op, mode);
	return kapf_level_admit(level, slot, schema, op);
}

/*
 * The state of a slot that may be CANCELLING: a CANCEL that has taken it from
 * GRANTED is about to leave it REFUSED.
 */
static int kapf_slot_settled_state(struct kapf_slot *slot)
{
	int state;

	wait_var_event(&slot->state,
		       (state = atomic_read_acquire(&slot->state)) !=
		       KAPF_SLOT_CANCELLING);
	return state;
}

/**
 * kapf_slot_dequeue() - let a request not wait any more
 * @slot: in whatever state
 *
 * Return: whether it was waiting; now it has been refused, as cancelled.
 */
bool kapf_slot_dequeue(struct kapf_slot *slot)
{
	bool cancelled;

	if (atomic_read(&slot->state) != KAPF_SLOT_WAITING)
		return false;
	local_bh_disable();
	/* Waiting, its schema is there until this section ends. */
	cancelled = atomic_read_acquire(&slot->state) == KAPF_SLOT_WAITING &&
		    kapf_level_cancel(READ_ONCE(slot->schema)->level, slot);
	local_bh_enable();
	return cancelled;
}

/* Sleep until a request that was queued is decided on.  -EINTR: it is not. */
static int kapf_slot_sleep(struct kapf_slot *slot)
{
	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (atomic_read(&slot->state) != KAPF_SLOT_WAITING)
			break;
		if (!signal_pending(current)) {
			schedule();
			continue;
		}
		__set_current_state(TASK_RUNNING);
		if (kapf_slot_dequeue(slot))
			return -EINTR;
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

/*
 * Wait for the decision on a request that was queued.  A slot that is in
 * neither of the states that a decision leaves it in has been taken by the end
 * of the session.
 */
static long kapf_slot_wait(struct kapf_session *session, struct kapf_slot *slot)
{
	long ret = kapf_slot_sleep(slot);

	if (!ret) {
		/* The end of the session takes what executes, too. */
		if (kapf_slot_move(slot, KAPF_SLOT_GRANTED,
				   KAPF_SLOT_EXECUTING))
			return kapf_session_check(session) ?: KAPF_EXECUTE;
		if (kapf_slot_settled_state(slot) != KAPF_SLOT_REFUSED)
			return -ESHUTDOWN;
		ret = slot->refusal;
		if (READ_ONCE(session->state) != KAPF_SESSION_ATTACHED)
			ret = -ESHUTDOWN;
	}
	kapf_slot_free(slot, &session->events);
	return ret;
}

/**
 * kapf_slot_admit() - KAPF_ADMIT
 * @file: of a session
 * @uop: its argument
 *
 * Return: as the ABI says.
 */
long kapf_slot_admit(struct file *file, const struct kapf_op __user *uop)
{
	struct kapf_session *session = file->private_data;
	const struct kapf_active_config *config;
	struct kapf_op op __uninitialized;
	struct kapf_slot *slot;
	bool stale;
	long ret;

	ret = kapf_session_check(session);
	if (ret)
		return ret;
	if (!kapf_op_fetch(&op, uop))
		return -EFAULT;
	if (file->f_flags & O_NONBLOCK)
		op.flags |= KAPF_OP_NOWAIT;
	ret = kapf_slot_claim(session, &op, &slot);
	if (ret)
		return ret;
	ret = kapf_slot_copy_label(session, &op);
	if (ret)
		goto free;

	/* An RCU read section; for the level's lock they would be off anyway. */
	local_bh_disable();
	config = rcu_dereference_bh(session->instance->config);
	stale = kapf_slot_stale(session, config);
	ret = kapf_slot_decide(session, config, slot, &op, stale);
	if (ret == KAPF_EXECUTE)
		atomic_set_release(&slot->state, KAPF_SLOT_EXECUTING);
	local_bh_enable();

	if (!ret)
		ret = op.flags & KAPF_OP_NOWAIT ? KAPF_QUEUED :
						  kapf_slot_wait(session, slot);
	else if (ret != KAPF_EXECUTE)
		kapf_slot_free(slot, &session->events);
	if (unlikely(stale) && ret >= 0)
		ret |= KAPF_STALE;
	return ret;
free:
	kapf_slot_free(slot, &session->events);
	return ret;
}

/**
 * kapf_slot_announce() - a decision was made at once, but is wanted as an event
 * @session: attached
 * @slot: claimed
 * @value: ADMIT's
 *
 * To be called within the RCU read section in which it was made.
 */
void kapf_slot_announce(struct kapf_session *session, struct kapf_slot *slot,
			u16 value)
{
	if (value == KAPF_RECLASSIFY) {
		slot->level = 0;
		slot->arrival = 0;
		slot->request.start = 0;
	} else {
		slot->level = slot->schema->level->id;
	}
	slot->refusal = value;
	atomic_set_release(&slot->state, value == KAPF_EXECUTE ?
			   KAPF_SLOT_GRANTED : KAPF_SLOT_REFUSED);
	if (kapf_events_post(&session->events, &slot->event))
		kapf_events_wake(&session->events, EPOLLIN | EPOLLRDNORM);
}

/*
 * Take a slot that holds seats, from @from to @to.  In the RCU read section in which
 * they are given back: the end of the session, after its grace period, finds all of
 * it done or nothing.  Return: 0, -EAGAIN (the slot is in another state),
 * -ESHUTDOWN.
 */
static int kapf_slot_take(const struct kapf_session *session,
			  struct kapf_slot *slot, enum kapf_slot_state from,
			  enum kapf_slot_state to)
{
	if (READ_ONCE(session->state) != KAPF_SESSION_ATTACHED)
		return -ESHUTDOWN;
	return kapf_slot_move(slot, from, to) ? 0 : -EAGAIN;
}

/**
 * kapf_slot_keep() - the event of a request that executes could not be told
 * @session: of the slot
 * @slot: EXECUTING, unless it was finished without notice
 * @event: what should have been told
 *
 * It is kept for the next who reads events.
 */
void kapf_slot_keep(struct kapf_session *session, struct kapf_slot *slot,
		    const struct kapf_event *event)
{
	local_bh_disable();
	if (!kapf_slot_take(session, slot, KAPF_SLOT_EXECUTING,
			    KAPF_SLOT_CLAIMED)) {
		slot->level = event->level;
		/* It may be another request by now, of one who waited. */
		slot->user_data = event->user_data;
		atomic_set_release(&slot->state, KAPF_SLOT_GRANTED);
		if (kapf_events_post(&session->events, &slot->event))
			kapf_events_wake(&session->events,
					 EPOLLIN | EPOLLRDNORM);
	}
	local_bh_enable();
}

/**
 * kapf_slot_submit() - a request of a batch
 * @session: attached
 * @slot: claimed; with its label
 * @op: the request, with KAPF_OP_NOWAIT
 *
 * Return: 0, and an event tells the decision; or an error, and the slot is free.
 */
int kapf_slot_submit(struct kapf_session *session, struct kapf_slot *slot,
		     const struct kapf_op *op)
{
	const struct kapf_active_config *config;
	long ret;

	local_bh_disable();
	config = rcu_dereference_bh(session->instance->config);
	slot->user_data = op->user_data;
	ret = kapf_slot_decide(session, config, slot, op,
			       kapf_slot_stale(session, config));
	if (ret > 0)
		kapf_slot_announce(session, slot, ret);
	local_bh_enable();
	if (ret >= 0)
		return 0;
	kapf_slot_free(slot, &session->events);
	return ret;
}

/**
 * kapf_slot_read() - what became of a request, as an event
 * @session: that reads
 * @slot: whose event has been taken
 * @event: out
 *
 * Return: false: nothing, the session has ended.
 */
bool kapf_slot_read(const struct kapf_session *session, struct kapf_slot *slot,
		    struct kapf_event *event)
{
	int state = kapf_slot_settled_state(slot);

	if (state != KAPF_SLOT_GRANTED && state != KAPF_SLOT_REFUSED)
		return false;
	event->user_data = slot->user_data;
	event->slot = slot - session->slots;
	event->level = slot->level;
	event->verdict = KAPF_EXECUTE;
	event->detail = 0;
	if (state == KAPF_SLOT_REFUSED) {
		event->verdict = KAPF_VERDICT(slot->refusal);
		event->detail = KAPF_RETRY_AFTER(slot->refusal);
	}
	event->flags = slot->flags & KAPF_SLOT_STALE ? KAPF_EVENT_STALE : 0;
	event->wait = kapf_slot_waited(slot);
	return true;
}

/**
 * kapf_slot_was_read() - the session has taken notice
 * @slot: whose event has been taken
 * @event: what kapf_slot_read() made of it
 *
 * Return: false: it is another one now, for a CANCEL has come.
 */
bool kapf_slot_was_read(struct kapf_slot *slot, const struct kapf_event *event)
{
	if (event->verdict == KAPF_EXECUTE)
		return kapf_slot_move(slot, KAPF_SLOT_GRANTED,
				      KAPF_SLOT_EXECUTING);
	kapf_slot_free(slot, slot->events);
	return true;
}

/* Why FINISH found nothing to finish. */
static int kapf_slot_unfinishable(const struct kapf_slot *slot)
{
	switch (atomic_read_acquire(&slot->state)) {
	case KAPF_SLOT_CLAIMED:
	case KAPF_SLOT_WAITING:
	case KAPF_SLOT_GRANTED:
		return -EBUSY;
	default:
		return -ENOENT;
	}
}

/**
 * kapf_slot_served() - the request of a slot that has been taken is over
 * @session: of the slot
 * @slot: CLAIMED or CANCELLING
 * @linger: keep its seats for its additional latency
 *
 * To be called within an RCU read section, bottom halves disabled.
 *
 * Return: ns that its seats linger, and the slot is LINGERING; or 0.
 */
u64 kapf_slot_served(const struct kapf_session *session, struct kapf_slot *slot,
		     bool linger)
{
	if (slot->flags & KAPF_SLOT_PASSING) {
		kapf_mode_finish(session, slot, linger);
		return 0;
	}
	return kapf_level_finish(slot->schema->level, slot, linger);
}

/**
 * kapf_slot_not_finished() - why was there nothing to finish?
 * @session: of an open file
 * @index: of the slot
 *
 * Return: FINISH's error.
 */
int kapf_slot_not_finished(const struct kapf_session *session,
			   unsigned long index)
{
	const struct kapf_slot *slot = kapf_slot_get(session, index);
	int ret;

	if (IS_ERR(slot))
		return PTR_ERR(slot);
	ret = kapf_slot_unfinishable(slot);
	/* The end of the session may have finished it just now. */
	return kapf_session_check(session) ?: ret;
}

/**
 * kapf_slot_finish() - KAPF_FINISH
 * @session: of an open file
 * @index: of the slot
 *
 * Return: as the ABI says.
 */
long kapf_slot_finish(struct kapf_session *session, unsigned long index)
{
	struct kapf_slot *slot;
	u64 latency;

	local_bh_disable();
	if (!kapf_session_usable(session) || index >= session->nr_slots)
		goto refuse;
	slot = kapf_slot_at(session, index);
	if (!kapf_slot_move(slot, KAPF_SLOT_EXECUTING, KAPF_SLOT_CLAIMED))
		goto refuse;
	if (unlikely(slot->flags & KAPF_SLOT_PASSING))
		latency = kapf_slot_served(session, slot, true);
	else
		latency = kapf_level_finish_now(slot);
	local_bh_enable();
	if (latency)
		return DIV_ROUND_UP_ULL(latency, NSEC_PER_MSEC);
	kapf_slot_free(slot, &session->events);
	return 0;
refuse:
	local_bh_enable();
	return kapf_slot_not_finished(session, index);
}

/*
 * Take the seats of a request that was found granted.  Return: as
 * kapf_slot_take().
 */
static int kapf_slot_revoke(const struct kapf_session *session,
			    struct kapf_slot *slot)
{
	int ret;

	local_bh_disable();
	ret = kapf_slot_take(session, slot, KAPF_SLOT_GRANTED,
			     KAPF_SLOT_CANCELLING);
	if (!ret)
		kapf_slot_served(session, slot, false);
	local_bh_enable();
	if (ret)
		return ret;
	slot->refusal = KAPF_CANCELLED;
	/* Fully ordered, for kapf_slot_settled_state(). */
	atomic_xchg(&slot->state, KAPF_SLOT_REFUSED);
	wake_up_var(&slot->state);
	return 0;
}

/**
 * kapf_slot_cancel() - KAPF_CANCEL
 * @session: of an open file
 * @index: of the slot
 *
 * Return: as the ABI says.
 */
long kapf_slot_cancel(struct kapf_session *session, unsigned long index)
{
	struct kapf_slot *slot = kapf_slot_get(session, index);
	int ret;

	if (IS_ERR(slot))
		return PTR_ERR(slot);
	for (;;) {
		switch (atomic_read_acquire(&slot->state)) {
		case KAPF_SLOT_WAITING:
			if (kapf_slot_dequeue(slot))
				return 0;
			break;
		case KAPF_SLOT_GRANTED:
			ret = kapf_slot_revoke(session, slot);
			if (ret != -EAGAIN)
				return ret;
			break;
		case KAPF_SLOT_CLAIMED:
			return -EBUSY;
		case KAPF_SLOT_CANCELLING:
		case KAPF_SLOT_EXECUTING:
		case KAPF_SLOT_REFUSED:
			return -EALREADY;
		default:
			return kapf_session_check(session) ?: -ENOENT;
		}
	}
}

/* How many seats does what executes hold? */
static u32 kapf_slot_seats(const struct kapf_slot *slot)
{
	return slot->flags & KAPF_SLOT_PASSING ?
		       0 : kapf_request_width(&slot->request);
}

/**
 * kapf_slot_end() - give back what a slot holds, whatever its state
 * @session: that has ended
 * @slot: of it; does not wait
 *
 * Return: how many seats it held.
 */
u32 kapf_slot_end(struct kapf_session *session, struct kapf_slot *slot)
{
	u32 width = 0;

	for (;;) {
		switch (atomic_read_acquire(&slot->state)) {
		case KAPF_SLOT_GRANTED:
			kapf_slot_move(slot, KAPF_SLOT_GRANTED,
				       KAPF_SLOT_EXECUTING);
			break;
		case KAPF_SLOT_EXECUTING:
			if (!kapf_slot_move(slot, KAPF_SLOT_EXECUTING,
					    KAPF_SLOT_CLAIMED))
				break;
			width = kapf_slot_seats(slot);
			local_bh_disable();
			kapf_slot_served(session, slot, false);
			local_bh_enable();
			kapf_slot_free(slot, &session->events);
			return width;
		case KAPF_SLOT_LINGERING:
			width = kapf_request_width(&slot->request);
			local_bh_disable();
			if (atomic_read(&slot->state) == KAPF_SLOT_LINGERING)
				kapf_level_release(slot->schema->level, slot);
			local_bh_enable();
			break;
		default:
			return width;
		}
	}
}
