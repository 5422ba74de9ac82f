// SPDX-License-Identifier: GPL-2.0
/*
 * A priority level at work: the engine's queue set under a lock, with a clock,
 * timers for what is due later, the tasks to wake, and what is counted.
 *
 * All that follows a request to its level runs with bottom halves disabled,
 * which makes it an RCU reader too: a level or schema that it has reached stays
 * until it is done, even when the request that led there has gone meanwhile.
 *
 * The lock is dropped after at most KAPF_ROUND requests, and who is to be woken
 * is woken after that.  A task may be woken for a grant that it has seen and
 * made use of already, and so may the readers of a session; they are still
 * there, for tasks too are freed by RCU, and sessions.
 */

#include <linux/bottom_half.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "engine/invariants.h"
#include "engine/queueset_now.h"
#include "exempt_now.h"
#include "footprint.h"
#include "instance.h"
#include "level.h"
#include "metrics.h"
#include "wakeups.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/* Two cache lines, of which a request that never waits touches one. */
static_assert(sizeof(struct kapf_slot) == KAPF_SLOT_BYTES);
static_assert(offsetof(struct kapf_slot, request.link) == 64);

/* Queues and waiting requests that are recounted for each event. */
#define KAPF_RECOUNT 8

/* Rounds of one firing of a timer, so that others get the CPU between two. */
#define KAPF_ROUNDS 32

#ifdef CONFIG_KAPF_DEBUG
/**
 * kapf_level_check() - recount the queues
 * @level: its lock is held
 *
 * So often that it costs the same whether few requests wait or many.
 */
void kapf_level_check(struct kapf_level *level)
{
	const struct kapf_queueset *qs = &level->qs;
	const char *broken;

	if (++level->unchecked < (qs->nr_kept + qs->nr_waiting) / KAPF_RECOUNT)
		return;
	level->unchecked = 0;
	broken = kapf_invariant_broken(qs);
	WARN_ONCE(broken, "level %u: %s\n", level->id, broken);
}
#endif

static void kapf_slot_set(struct kapf_slot *slot, enum kapf_slot_state state)
{
	atomic_set_release(&slot->state, state);
}

/*
 * A request that waited has been decided on: GRANTED or REFUSED.  Whoever takes
 * notice may do so from here on.
 */
static inline void kapf_level_decided(struct kapf_level *level,
				      struct kapf_slot *slot,
				      enum kapf_slot_state state,
				      struct kapf_wakeups *wakeups)
{
	if (slot->flags & KAPF_SLOT_SHADOW) {
		kapf_slot_set(slot, state);
	} else if (slot->flags & KAPF_OP_NOWAIT) {
		struct kapf_events *events = slot->events;

		slot->level = level->id;
		kapf_slot_set(slot, state);
		if (kapf_events_post(events, &slot->event))
			kapf_wakeups_add(wakeups, events,
					 EPOLLIN | EPOLLRDNORM);
	} else {
		kapf_wakeups_add(wakeups, slot->waiter, 0);
		kapf_slot_set(slot, state);
	}
}

/* Which of the counts of a level or schema are those of this request? */
static struct kapf_counts *kapf_books_of(const struct kapf_slot *slot,
					 struct kapf_counts *counts)
{
	return &counts[slot->flags & KAPF_SLOT_SHADOW ? KAPF_OBSERVED :
							KAPF_REAL];
}

static inline void kapf_level_seated(struct kapf_level *level,
				     struct kapf_slot *slot)
{
	struct kapf_tally *tally = &slot->schema->tally;

	kapf_books_of(slot, level->counts)->dispatched++;
	kapf_books_of(slot, tally->counts)->dispatched++;
	tally->seats_in_use += kapf_request_width(&slot->request);
	kapf_measure_dispatch(level, slot);
	trace_kapf_dispatch(slot, slot->arrival, slot->request.start);
}

static void kapf_level_queued(struct kapf_level *level, struct kapf_slot *slot,
			      u64 until)
{
	struct kapf_tally *tally = &slot->schema->tally;

	tally->nr_waiting++;
	tally->waiting_seats += kapf_request_width(&slot->request);
	kapf_measure_enqueue(level, slot,
			     kapf_queueset_queue(&level->qs,
						 slot->request.queue)->nr_waiting);
	kapf_deadlines_add(&level->waits, &slot->deadline, until);
	trace_kapf_enqueue(slot, slot->arrival, until);
	if (!(slot->flags & KAPF_OP_NOWAIT))
		slot->waiter = current;
	kapf_slot_set(slot, KAPF_SLOT_WAITING);
}

static inline void kapf_level_dequeued(struct kapf_level *level,
				       struct kapf_slot *slot, u32 width)
{
	struct kapf_tally *tally = &slot->schema->tally;

	tally->nr_waiting--;
	tally->waiting_seats -= width;
	kapf_measure_dequeue(level, slot, level->qs.now);
	kapf_deadlines_remove(&level->waits, &slot->deadline);
}

/* @value: ADMIT's */
static void kapf_level_rejected(struct kapf_level *level,
				struct kapf_slot *slot,
				enum kapf_rejection reason, u16 value, u64 now)
{
	kapf_books_of(slot, level->counts)->rejected[reason]++;
	kapf_books_of(slot, slot->schema->tally.counts)->rejected[reason]++;
	slot->request.start = now;
	trace_kapf_reject(slot, value, slot->arrival, now);
}

/* Count a refusal, and make ADMIT's value of it. */
static u16 kapf_level_refuse(struct kapf_level *level, struct kapf_slot *slot,
			     enum kapf_rejection reason, u64 now)
{
	static const u8 verdicts[] = {
		[KAPF_REJECTION_QUEUE_FULL] = KAPF_QUEUE_FULL,
		[KAPF_REJECTION_CONCURRENCY_LIMIT] = KAPF_CONCURRENCY_LIMIT,
		[KAPF_REJECTION_TIME_OUT] = KAPF_TIME_OUT,
	};
	u64 second = div_u64(now, NSEC_PER_SEC);
	u16 value = verdicts[reason];

	/* Who is not refused does not come back. */
	if (!(slot->flags & KAPF_SLOT_SHADOW))
		value |= kapf_retry_after_drop(&level->retry_after,
					       second) << 8;
	kapf_level_rejected(level, slot, reason, value, now);
	return value;
}

/* The engine has dispatched a request that waited. */
static void kapf_level_dispatched(struct kapf_queueset *qs,
				  struct kapf_request *req, u32 width)
{
	struct kapf_level *level = container_of(qs, struct kapf_level, qs);
	struct kapf_slot *slot = container_of(req, struct kapf_slot, request);

	WARN_ON_ONCE(IS_ENABLED(CONFIG_KAPF_DEBUG) &&
		     !kapf_invariant_seated(qs, width));
	kapf_level_dequeued(level, slot, width);
	kapf_level_seated(level, slot);
	kapf_level_decided(level, slot, KAPF_SLOT_GRANTED, level->wakeups);
}

/*
 * Seat what fits, as much of it as may be in one hold of the lock.  Called with
 * the lock held, returns without it: whether there is more.
 */
static __always_inline bool kapf_level_round_unlock(struct kapf_level *level,
						    u64 now)
	__releases(&level->lock)
{
	struct kapf_wakeups wakeups __uninitialized;
	bool more;

	wakeups.nr = 0;
	level->wakeups = &wakeups;
	more = kapf_queueset_dispatch(&level->qs, KAPF_ROUND, now);
	kapf_measure_blocked(&level->qs);
	kapf_level_settle(level);
	spin_unlock(&level->lock);
	kapf_wakeups_wake(&wakeups);
	return more;
}

/* Seat what fits.  Called with the lock held, returns without it. */
static void kapf_level_dispatch_unlock(struct kapf_level *level, u64 now)
	__releases(&level->lock)
{
	while (kapf_level_round_unlock(level, now))
		spin_lock(&level->lock);
}

/* Seat what fits, while others get the CPU between two rounds. */
static void kapf_level_dispatch(struct kapf_level *level)
{
	bool more;

	do {
		spin_lock_bh(&level->lock);
		more = kapf_level_round_unlock(level, ktime_get_ns());
		local_bh_enable();
		cond_resched();
	} while (more);
}

static void kapf_level_unlock(struct kapf_level *level, u64 now)
	__releases(&level->lock)
{
	if (level->qs.nr_waiting) {
		kapf_level_dispatch_unlock(level, now);
	} else {
		kapf_level_settle(level);
		spin_unlock(&level->lock);
	}
}

/* The seats of a finished request are free. */
static void kapf_level_released(struct kapf_slot *slot, u64 now)
{
	slot->schema->tally.seats_in_use -= kapf_request_width(&slot->request);
	trace_kapf_release(slot, slot->request.start, now);
}

/* The seats of a finished request do not linger to the end. */
static void kapf_level_cut_linger(struct kapf_level *level,
				  struct kapf_slot *slot, u64 unused, u64 now)
{
	kapf_queueset_refund(&level->qs, &slot->request, unused, now);
	kapf_queueset_release(&level->qs, &slot->request, now);
}

static enum kapf_admission kapf_level_decide(struct kapf_level *level,
					     struct kapf_slot *slot, u64 hash)
{
	struct kapf_queueset *qs = &level->qs;

	if (slot->flags & KAPF_OP_NOQUEUE &&
	    !kapf_queueset_has_room(qs, kapf_request_width(&slot->request)))
		return KAPF_ADMISSION_CONCURRENCY_LIMIT;
	return kapf_queueset_admit(qs, &slot->request, hash, slot->arrival);
}

/**
 * kapf_level_admit_unlock() - a request arrives
 * @level: of its schema; its lock is held, and is dropped
 * @slot: as for kapf_level_admit(), of which this is the rest; or a shadow
 * @op: the request
 * @now: the time
 *
 * Return: as kapf_level_admit().
 */
u16 kapf_level_admit_unlock(struct kapf_level *level, struct kapf_slot *slot,
			    const struct kapf_op *op, u64 now)
	__releases(&level->lock)
{
	u16 value = 0;

	kapf_measure_arrival(slot->schema->histograms,
			     kapf_request_width(&slot->request),
			     op->watch_count);
	switch (kapf_level_decide(level, slot, op->flow_hash)) {
	case KAPF_ADMISSION_SEATED:
		kapf_measure_seated(slot, level->qs.now);
		kapf_level_seated(level, slot);
		value = KAPF_EXECUTE;
		break;
	case KAPF_ADMISSION_QUEUED:
		if (op->flags & KAPF_OP_NOWAIT)
			slot->user_data = op->user_data;
		kapf_level_queued(level, slot, now +
				  (op->max_wait ?: KAPF_DEFAULT_WAIT_NS));
		if (!kapf_queueset_seat_free(&level->qs))
			break;
		kapf_level_dispatch_unlock(level, now);
		return 0;
	case KAPF_ADMISSION_QUEUE_FULL:
		value = kapf_level_refuse(level, slot,
					  KAPF_REJECTION_QUEUE_FULL, now);
		break;
	case KAPF_ADMISSION_CONCURRENCY_LIMIT:
		value = kapf_level_refuse(level, slot,
					  KAPF_REJECTION_CONCURRENCY_LIMIT,
					  now);
		break;
	}
	kapf_level_settle(level);
	spin_unlock(&level->lock);
	return value;
}

/**
 * kapf_level_admit_shadow() - see what would become of a request
 * @level: limited; of its schema
 * @slot: free, a shadow; with schema, flags, and the request's seats and latency
 * @op: the request
 *
 * Return: as kapf_level_admit().
 */
u16 kapf_level_admit_shadow(struct kapf_level *level, struct kapf_slot *slot,
			    const struct kapf_op *op)
{
	u64 now = ktime_get_ns();

	slot->arrival = now;
	spin_lock(&level->lock);
	return kapf_level_admit_unlock(level, slot, op, now);
}

/**
 * kapf_level_finish_unlock() - a request has been served
 * @level: of its schema; its lock is held, and is dropped
 * @slot: as for kapf_level_finish()
 * @linger: likewise
 * @now: the time
 *
 * Return: as kapf_level_finish().
 */
u64 kapf_level_finish_unlock(struct kapf_level *level, struct kapf_slot *slot,
			     bool linger, u64 now)
	__releases(&level->lock)
{
	u64 latency;

	kapf_books_of(slot, level->counts)->finished++;
	kapf_books_of(slot, slot->schema->tally.counts)->finished++;
	trace_kapf_finish(slot, slot->request.start, now);
	kapf_queueset_finish(&level->qs, &slot->request, now);
	kapf_measure_finish(level, slot->schema->histograms, slot,
			    level->qs.now);
	latency = slot->request.additional_latency;
	if (latency && linger) {
		kapf_deadlines_add(&level->lingers, &slot->deadline,
				   now + latency);
		kapf_slot_set(slot, KAPF_SLOT_LINGERING);
	} else {
		if (latency)
			kapf_level_cut_linger(level, slot, latency, now);
		latency = 0;
		kapf_level_released(slot, now);
	}
	kapf_level_unlock(level, now);
	return latency;
}

/**
 * kapf_level_finish() - a request has been served
 * @level: of its schema
 * @slot: claimed by who found it EXECUTING or GRANTED; or a shadow
 * @linger: keep its seats for its additional latency
 *
 * Return: ns that the seats linger, and the slot is LINGERING; or 0, and it is
 * as it was.
 */
u64 kapf_level_finish(struct kapf_level *level, struct kapf_slot *slot,
		      bool linger)
{
	u64 now = ktime_get_ns();

	if (level->exempt)
		return kapf_exempt_finish(level, slot, linger, now);
	spin_lock(&level->lock);
	return kapf_level_finish_unlock(level, slot, linger, now);
}

/* Is a slot in this state, with a request of this level?  Under its lock. */
static bool kapf_level_has(const struct kapf_level *level,
			   const struct kapf_slot *slot,
			   enum kapf_slot_state state)
{
	return atomic_read_acquire(&slot->state) == state &&
	       READ_ONCE(slot->schema)->level == level;
}

/**
 * kapf_level_cancel() - a request is not to wait any more
 * @level: of its schema
 * @slot: was WAITING a moment ago
 *
 * Return: whether it was still waiting: then it has left its queue and is
 * REFUSED, as cancelled.
 */
bool kapf_level_cancel(struct kapf_level *level, struct kapf_slot *slot)
{
	struct kapf_wakeups wakeups __uninitialized;
	u64 now = ktime_get_ns();

	spin_lock(&level->lock);
	if (!kapf_level_has(level, slot, KAPF_SLOT_WAITING)) {
		spin_unlock(&level->lock);
		return false;
	}
	wakeups.nr = 0;
	kapf_queueset_cancel(&level->qs, &slot->request, now);
	kapf_level_dequeued(level, slot, kapf_request_width(&slot->request));
	slot->refusal = KAPF_CANCELLED;
	kapf_level_rejected(level, slot, KAPF_REJECTION_CANCELLED,
			    slot->refusal, now);
	kapf_level_decided(level, slot, KAPF_SLOT_REFUSED, &wakeups);
	kapf_level_unlock(level, now);
	kapf_wakeups_wake(&wakeups);
	return true;
}

/* An additional latency is over, or cut.  Called with the lock held. */
static void kapf_level_end_linger(struct kapf_level *level,
				  struct kapf_slot *slot, u64 now,
				  struct kapf_wakeups *wakeups)
{
	struct kapf_events *events = slot->events;
	u64 end = slot->deadline.when;

	kapf_deadlines_remove(&level->lingers, &slot->deadline);
	if (level->exempt) {
		kapf_exempt_released(level, slot, now);
	} else {
		kapf_level_cut_linger(level, slot, end > now ? end - now : 0,
				      now);
		kapf_level_released(slot, now);
	}
	if (slot->flags & KAPF_SLOT_SHADOW)
		kapf_slot_set(slot, KAPF_SLOT_FREE);
	else if (kapf_slot_set_free(slot, events))
		kapf_wakeups_add(wakeups, events, EPOLLOUT | EPOLLWRNORM);
}

/**
 * kapf_level_release() - do not let the seats of a request linger any more
 * @level: of its schema
 * @slot: was LINGERING a moment ago
 */
void kapf_level_release(struct kapf_level *level, struct kapf_slot *slot)
{
	struct kapf_wakeups wakeups __uninitialized;
	u64 now = ktime_get_ns();

	wakeups.nr = 0;
	spin_lock(&level->lock);
	if (kapf_level_has(level, slot, KAPF_SLOT_LINGERING))
		kapf_level_end_linger(level, slot, now, &wakeups);
	kapf_level_unlock(level, now);
	kapf_wakeups_wake(&wakeups);
}

static struct kapf_slot *kapf_deadlines_due_slot(struct kapf_deadlines *d,
						 u64 now)
{
	struct kapf_deadline *due = kapf_deadlines_due(d, now);

	return due ? container_of(due, struct kapf_slot, deadline) : NULL;
}

/*
 * Let @expire end what is due, in rounds.  Return: what the timer of @deadlines
 * returns; it is due again at once if that was not all.
 */
static enum hrtimer_restart
kapf_level_expire(struct kapf_level *level, struct kapf_deadlines *deadlines,
		  void (*expire)(struct kapf_level *level,
				 struct kapf_slot *slot, u64 now,
				 struct kapf_wakeups *wakeups))
{
	struct kapf_wakeups wakeups __uninitialized;
	unsigned int nr, rounds = KAPF_ROUNDS;
	u64 now = ktime_get_ns();
	struct kapf_slot *slot;

	spin_lock(&level->lock);
	kapf_deadlines_fired(deadlines);
	do {
		wakeups.nr = 0;
		for (nr = 0; nr < KAPF_ROUND; nr++) {
			slot = kapf_deadlines_due_slot(deadlines, now);
			if (!slot)
				break;
			expire(level, slot, now, &wakeups);
		}
		kapf_level_settle(level);
		spin_unlock(&level->lock);
		kapf_wakeups_wake(&wakeups);
		spin_lock(&level->lock);
		kapf_level_unlock(level, now);
		if (nr < KAPF_ROUND)
			return HRTIMER_NORESTART;
		spin_lock(&level->lock);
	} while (--rounds);
	kapf_deadlines_again(deadlines, now);
	spin_unlock(&level->lock);
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart kapf_level_lingers_fire(struct hrtimer *timer)
{
	struct kapf_level *level = container_of(timer, struct kapf_level,
						lingers.timer);

	return kapf_level_expire(level, &level->lingers,
				 kapf_level_end_linger);
}

static void kapf_level_time_out(struct kapf_level *level,
				struct kapf_slot *slot, u64 now,
				struct kapf_wakeups *wakeups)
{
	kapf_queueset_cancel(&level->qs, &slot->request, now);
	kapf_level_dequeued(level, slot, kapf_request_width(&slot->request));
	slot->refusal = kapf_level_refuse(level, slot, KAPF_REJECTION_TIME_OUT,
					  now);
	kapf_level_decided(level, slot, KAPF_SLOT_REFUSED, wakeups);
}

static enum hrtimer_restart kapf_level_waits_fire(struct hrtimer *timer)
{
	struct kapf_level *level = container_of(timer, struct kapf_level,
						waits.timer);

	return kapf_level_expire(level, &level->waits, kapf_level_time_out);
}

/**
 * kapf_level_create() - a level that nobody can reach yet
 * @exempt: it will have no limit
 * @kinds: of the instance
 *
 * Return: NULL when memory is short.
 */
struct kapf_level *kapf_level_create(bool exempt, struct kapf_kinds *kinds)
{
	struct kapf_level *level = kzalloc(sizeof(*level), KAPF_GFP);
	u64 now = ktime_get_ns();

	if (!level)
		return NULL;
	if (exempt && kapf_exempt_init(level)) {
		kfree(level);
		return NULL;
	}
	spin_lock_init(&level->lock);
	level->qs.dispatched = kapf_level_dispatched;
	kapf_queueset_init(&level->qs, NULL, 0, 0, 0, 0);
	level->qs.now = now;
	kapf_metrics_init(level, now);
	level->kinds = kinds;
	kapf_deadlines_init(&level->waits, kapf_level_waits_fire);
	kapf_deadlines_init(&level->lingers, kapf_level_lingers_fire);
	kapf_retry_after_init(&level->retry_after);
	return level;
}

/**
 * kapf_level_destroy() - free a level
 * @level: idle, and nobody can reach it any more; may be NULL
 */
void kapf_level_destroy(struct kapf_level *level)
{
	if (!level)
		return;
	kapf_deadlines_destroy(&level->waits);
	kapf_deadlines_destroy(&level->lingers);
	kvfree(level->qs.queues);
	kvfree(level->config);
	if (level->exempt)
		kapf_exempt_destroy(level);
	kfree(level);
}

/**
 * kapf_level_idle() - does it hold no request at all?
 * @level: nobody admits to it, so that true stays true
 */
bool kapf_level_idle(struct kapf_level *level)
{
	bool idle;

	if (level->exempt) {
		struct kapf_exempt_tally sum;

		kapf_exempt_sum(level->exempt, &sum);
		return sum.dispatched == sum.released;
	}
	spin_lock_bh(&level->lock);
	idle = kapf_queueset_idle(&level->qs) && !level->nr_passing;
	spin_unlock_bh(&level->lock);
	return idle;
}

/**
 * kapf_level_end_period() - a period of the level's demand is over
 * @level: with its limits
 * @part: out: what its next limit depends on
 * @now: the time
 */
void kapf_level_end_period(struct kapf_level *level,
			   struct kapf_allocation *part, u64 now)
{
	if (level->exempt)
		kapf_exempt_sample(level, now);
	spin_lock_bh(&level->lock);
	kapf_queueset_advance(&level->qs, now);
	kapf_demand_end_period(&level->demand, &level->qs.usage,
			       kapf_queueset_demand(&level->qs), level->qs.now);
	*part = (struct kapf_allocation) {
		.limits = level->limits,
		.smoothed = level->demand.smoothed,
		.high_watermark = level->demand.high_watermark,
		.exempt = level->exempt,
		.current_limit = level->qs.seats,
	};
	spin_unlock_bh(&level->lock);
}

/**
 * kapf_level_limit() - a level may use more seats from now on, or fewer
 * @level: whose part was found
 * @part: with its limit
 * @server_seats: ServerCL
 * @now: the time
 *
 * Seats what fits now.  May sleep.
 */
void kapf_level_limit(struct kapf_level *level,
		      const struct kapf_allocation *part, u32 server_seats,
		      u64 now)
{
	spin_lock_bh(&level->lock);
	level->target = part->target;
	kapf_queueset_limit(&level->qs, part->current_limit, now);
	kapf_metrics_limit(level, server_seats, now);
	spin_unlock_bh(&level->lock);
	if (!level->exempt)
		kapf_level_dispatch(level);
}

/**
 * kapf_level_grant_all() - let nobody wait
 * @level: to which nobody comes any more to wait
 *
 * They get seats beyond the limit.  May sleep.
 */
void kapf_level_grant_all(struct kapf_level *level)
{
	struct kapf_queueset *qs = &level->qs;
	u32 limit;

	if (level->exempt)
		return;
	spin_lock_bh(&level->lock);
	limit = qs->seats;
	kapf_queueset_limit(qs, U32_MAX, ktime_get_ns());
	spin_unlock_bh(&level->lock);
	kapf_level_dispatch(level);
	spin_lock_bh(&level->lock);
	kapf_queueset_limit(qs, limit, ktime_get_ns());
	spin_unlock_bh(&level->lock);
}
