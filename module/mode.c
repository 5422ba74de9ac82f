// SPDX-License-Identifier: GPL-2.0
/*
 * Modes in which requests pass: they execute at once and hold no seats.
 *
 * In mode observe each has a shadow, which goes through its level as a request
 * does, so that it shows what would become of it.  Shadows are slots of their
 * own, beside those of the session: a shadow may wait while its request
 * executes, and nobody is told what becomes of it.
 *
 * In mode off requests are counted, by whether they change anything, and beyond
 * a cap refused.
 *
 * Exempt requests are as ever in each mode.  A request ends by the books of the
 * mode in which it began, which its slot's flags tell.
 */

#include <linux/bottom_half.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "metrics.h"
#include "mode.h"
#include "slot.h"
#include "trace.h"

static struct kapf_slot *kapf_shadow_of(const struct kapf_session *session,
					const struct kapf_slot *slot)
{
	return &session->shadows[slot - session->slots];
}

/* The request has been served, so that its shadow is not needed any more. */
static void kapf_shadow_finish(struct kapf_slot *shadow, bool linger)
{
	for (;;) {
		switch (atomic_read_acquire(&shadow->state)) {
		case KAPF_SLOT_WAITING:
			kapf_slot_dequeue(shadow);
			break;
		case KAPF_SLOT_GRANTED:
		case KAPF_SLOT_EXECUTING:
			if (kapf_level_finish(shadow->schema->level, shadow,
					      linger))
				return;
			fallthrough;
		case KAPF_SLOT_REFUSED:
			atomic_set_release(&shadow->state, KAPF_SLOT_FREE);
			return;
		default:
			return;
		}
	}
}

/* Seats that a shadow lets linger are released. */
static void kapf_shadow_release(struct kapf_slot *shadow)
{
	if (atomic_read_acquire(&shadow->state) == KAPF_SLOT_LINGERING)
		kapf_level_release(shadow->schema->level, shadow);
}

static void kapf_shadow_admit(struct kapf_slot *shadow, struct kapf_slot *slot,
			      const struct kapf_op *op)
{
	u16 value;

	/* The slot is in use again earlier than it would have been. */
	kapf_shadow_release(shadow);
	shadow->flags = op->flags | KAPF_SLOT_SHADOW;
	shadow->events = slot->events;
	WRITE_ONCE(shadow->schema, slot->schema);
	shadow->request.initial_seats = op->initial_seats;
	shadow->request.final_seats = op->final_seats;
	shadow->request.additional_latency = op->additional_latency;
	value = kapf_level_admit_shadow(slot->schema->level, shadow, op);
	if (value == KAPF_EXECUTE)
		atomic_set_release(&shadow->state, KAPF_SLOT_EXECUTING);
}

/* Count a request in; false: there are as many as may be. */
static bool kapf_mode_count(struct kapf_instance *instance, bool mutating,
			    u32 cap)
{
	atomic_t *counter = &instance->passing[mutating];
	int nr = atomic_read(counter);

	do {
		if (cap && nr >= cap)
			return false;
	} while (!atomic_try_cmpxchg(counter, &nr, nr + 1));
	return true;
}

static u16 kapf_mode_refuse(struct kapf_slot *slot, const struct kapf_op *op)
{
	u16 value = KAPF_CONCURRENCY_LIMIT | 1 << 8;
	struct kapf_schema *schema = slot->schema;
	struct kapf_level *level = schema->level;
	const enum kapf_rejection reason = KAPF_REJECTION_CONCURRENCY_LIMIT;

	spin_lock(&level->lock);
	level->counts[KAPF_REAL].rejected[reason]++;
	schema->tally.counts[KAPF_REAL].rejected[reason]++;
	slot->request.start = slot->arrival;
	kapf_measure_arrival(schema->histograms,
			     kapf_request_width(&slot->request),
			     op->watch_count);
	trace_kapf_reject(slot, value, slot->arrival, slot->arrival);
	spin_unlock(&level->lock);
	return value;
}

static void kapf_mode_pass(struct kapf_slot *slot, const struct kapf_op *op)
{
	struct kapf_schema *schema = slot->schema;
	struct kapf_level *level = schema->level;

	slot->request.queue = KAPF_NO_QUEUE;
	slot->request.start = slot->arrival;
	spin_lock(&level->lock);
	level->counts[KAPF_REAL].dispatched++;
	level->nr_passing++;
	schema->tally.counts[KAPF_REAL].dispatched++;
	schema->tally.nr_passing++;
	kapf_measure_dispatch(level, slot);
	/* In mode observe its shadow's arrival and wait are measured. */
	if (slot->flags & KAPF_SLOT_CAPPED) {
		kapf_measure_arrival(schema->histograms,
				     kapf_request_width(&slot->request),
				     op->watch_count);
		kapf_measure_seated(slot, slot->arrival);
	}
	trace_kapf_dispatch(slot, slot->arrival, slot->arrival);
	spin_unlock(&level->lock);
}

/**
 * kapf_mode_admit() - a request arrives in a mode in which it passes
 * @session: attached
 * @config: present
 * @slot: claimed; with schema, flags, and the request's seats and latency
 * @op: the request
 * @mode: KAPF_MODE_OBSERVE or KAPF_MODE_OFF
 *
 * To be called within an RCU read section, bottom halves disabled.
 *
 * Return: ADMIT's value, never 0.
 */
u16 kapf_mode_admit(struct kapf_session *session,
		    const struct kapf_active_config *config,
		    struct kapf_slot *slot, const struct kapf_op *op, u32 mode)
{
	bool mutating = op->flags & KAPF_OP_MUTATING;

	slot->arrival = ktime_get_ns();
	if (mode == KAPF_MODE_OFF) {
		if (!kapf_mode_count(session->instance, mutating, mutating ?
				     config->max_mutating_requests_inflight :
				     config->max_requests_inflight))
			return kapf_mode_refuse(slot, op);
		slot->flags |= KAPF_SLOT_CAPPED;
	}
	slot->flags |= KAPF_SLOT_PASSING;
	kapf_mode_pass(slot, op);
	if (mode == KAPF_MODE_OBSERVE)
		kapf_shadow_admit(kapf_shadow_of(session, slot), slot, op);
	return KAPF_EXECUTE;
}

/**
 * kapf_mode_finish() - a request that passed has been served
 * @session: that it belongs to
 * @slot: claimed by who found it EXECUTING or GRANTED
 * @linger: let its shadow keep seats for its additional latency
 *
 * To be called within an RCU read section, bottom halves disabled.
 */
void kapf_mode_finish(const struct kapf_session *session,
		      struct kapf_slot *slot, bool linger)
{
	bool mutating = slot->flags & KAPF_OP_MUTATING;
	struct kapf_schema *schema = slot->schema;
	struct kapf_level *level = schema->level;
	u64 now = ktime_get_ns();

	if (slot->flags & KAPF_SLOT_CAPPED)
		atomic_dec(&session->instance->passing[mutating]);
	else
		kapf_shadow_finish(kapf_shadow_of(session, slot), linger);
	spin_lock(&level->lock);
	level->counts[KAPF_REAL].finished++;
	level->nr_passing--;
	schema->tally.counts[KAPF_REAL].finished++;
	schema->tally.nr_passing--;
	kapf_measure_finish(level, schema->histograms, slot, now);
	trace_kapf_finish(slot, slot->request.start, now);
	spin_unlock(&level->lock);
}

/**
 * kapf_mode_end() - the seats of shadows do not linger any more
 * @session: that has ended; all of its slots have been given back
 */
void kapf_mode_end(const struct kapf_session *session)
{
	u32 i;

	for (i = 0; session->shadows && i < session->nr_slots; i++) {
		local_bh_disable();
		kapf_shadow_release(&session->shadows[i]);
		local_bh_enable();
		cond_resched();
	}
}

/* A session without shadows; NULL: there is none. */
static struct kapf_session *
kapf_mode_find_unshadowed(struct kapf_instance *instance)
{
	struct kapf_session *session;

	lockdep_assert_held(&instance->sessions_lock);
	list_for_each_entry(session, &instance->sessions, link)
		if (!session->shadows)
			return session;
	return NULL;
}

/*
 * From the next admission on it is in this mode; in mode observe, once all sessions
 * have shadows.  Memory for these is taken while the lock is not held; it does not
 * matter which session of that size it is for.
 */
static int kapf_mode_switch(struct kapf_instance *instance, u32 mode)
{
	struct kapf_session *session = NULL;
	struct kapf_slot *shadows = NULL;
	u32 room = 0;

	for (;;) {
		mutex_lock(&instance->sessions_lock);
		if (mode == KAPF_MODE_OBSERVE)
			session = kapf_mode_find_unshadowed(instance);
		if (session && session->nr_slots == room) {
			session->shadows = shadows;
			shadows = NULL;
			session = kapf_mode_find_unshadowed(instance);
			room = 0;
		}
		if (!session)
			/* Pairs with kapf_slot_decide(): they are there. */
			smp_store_release(&instance->mode, mode);
		else
			room = session->nr_slots;
		mutex_unlock(&instance->sessions_lock);

		kvfree(shadows);
		if (!session)
			return 0;
		/* New ones may come again and again. */
		if (signal_pending(current))
			return -EINTR;
		shadows = kvcalloc(room, sizeof(*shadows), KAPF_GFP);
		if (!shadows)
			return -ENOMEM;
	}
}

static void kapf_mode_grant_all(struct kapf_instance *instance)
{
	struct kapf_level *level;

	mutex_lock(&instance->config_lock);
	list_for_each_entry(level, &instance->levels, link)
		kapf_level_grant_all(level);
	mutex_unlock(&instance->config_lock);
}

/* The end of a session, which comes meanwhile, drops its own. */
static void kapf_mode_drop_shadows(struct kapf_instance *instance)
{
	struct kapf_session *session;
	u64 next = 0;
	u32 i, nr;

	do {
		mutex_lock(&instance->sessions_lock);
		session = kapf_session_next(instance, next);
		if (session)
			next = session->id + 1;
		nr = session && session->shadows ? session->nr_slots : 0;
		for (i = 0; i < nr; i++) {
			kapf_slot_dequeue(&session->shadows[i]);
			cond_resched();
		}
		mutex_unlock(&instance->sessions_lock);
	} while (session);
}

/**
 * kapf_mode_set() - KAPF_SET_MODE
 * @instance: whose mode
 * @mode: enum kapf_mode
 *
 * Only another one of these waits for all of it.
 *
 * Return: as the ABI says.
 */
int kapf_mode_set(struct kapf_instance *instance, u32 mode)
{
	u32 before;
	int ret;

	if (mode < KAPF_MODE_ENFORCE || mode > KAPF_MODE_OFF)
		return -EINVAL;
	ret = mutex_lock_interruptible(&instance->mode_lock);
	if (ret)
		return ret;
	before = instance->mode;
	if (mode != before)
		ret = kapf_mode_switch(instance, mode);
	if (ret || mode == before)
		goto unlock;
	/* Those who still decide by the mode before. */
	synchronize_rcu();
	if (before == KAPF_MODE_ENFORCE)
		kapf_mode_grant_all(instance);
	if (before == KAPF_MODE_OBSERVE)
		kapf_mode_drop_shadows(instance);
unlock:
	mutex_unlock(&instance->mode_lock);
	return ret;
}
