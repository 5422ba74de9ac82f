/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KAPF_LEVEL_H
#define KAPF_LEVEL_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/kapf.h>

#include "deadline.h"
#include "event.h"
#include "engine/allocation.h"
#include "engine/demand.h"
#include "engine/queueset.h"
#include "engine/retryafter.h"
#include "histogram.h"
#include "sampler.h"

struct kapf_kinds;
struct kapf_schema;
struct kapf_wakeups;

/**
 * enum kapf_slot_state - what a slot is doing
 * @KAPF_SLOT_FREE: nothing
 * @KAPF_SLOT_CLAIMED: a call is at work on it
 * @KAPF_SLOT_WAITING: its request is in a queue
 * @KAPF_SLOT_GRANTED: its request holds seats, its session has not taken notice
 * @KAPF_SLOT_CANCELLING: likewise, and a CANCEL is giving them back
 * @KAPF_SLOT_EXECUTING: its request holds seats
 * @KAPF_SLOT_REFUSED: its request has been refused, its session has not taken
 *	notice
 * @KAPF_SLOT_LINGERING: its request has finished and still holds its seats
 *
 * Calls take a slot by compare-and-exchange: FREE to CLAIMED for ADMIT,
 * EXECUTING to CLAIMED for FINISH and the end of the session, GRANTED to
 * EXECUTING for the waiter, the reader of the event and the end of the session,
 * GRANTED to CANCELLING, and on to REFUSED, for CANCEL.  WAITING and LINGERING
 * are left under the level's lock only.  REFUSED is left by who takes notice.
 */
enum kapf_slot_state {
	KAPF_SLOT_FREE,
	KAPF_SLOT_CLAIMED,
	KAPF_SLOT_WAITING,
	KAPF_SLOT_GRANTED,
	KAPF_SLOT_CANCELLING,
	KAPF_SLOT_EXECUTING,
	KAPF_SLOT_REFUSED,
	KAPF_SLOT_LINGERING,
};

/*
 * In kapf_slot.flags, above those of the request; of these KAPF_OP_NOWAIT says that
 * the decision becomes an event, whatever way the request came.
 */
#define KAPF_SLOT_STALE		BIT(8)	/* its session did not know the rules */
#define KAPF_SLOT_SHADOW	BIT(9)	/* what the engine would do, see mode.c */
#define KAPF_SLOT_PASSING	BIT(10)	/* executes without seats */
#define KAPF_SLOT_CAPPED	BIT(11)	/* likewise, counted in mode off */

/**
 * struct kapf_slot - room for one request of a session
 * @state: enum kapf_slot_state
 * @refusal: of a refused request: ADMIT's value
 * @flags: KAPF_OP_*, KAPF_SLOT_*
 * @schema: that the request belongs to, and by it the level
 * @arrival: time of the request's arrival
 * @waiter: the task to wake, while it waits
 * @user_data: in its place, where the decision becomes an event
 * @request: for the engine; of a refused one start is the time of the refusal
 * @deadline: of the wait, or of the additional latency
 * @event: once decided, until it has been read
 * @level: likewise: id of the level; 0: none
 * @events: of the session
 *
 * A request that never waits, and makes no event, uses the first cache line
 * only.
 */
struct kapf_slot {
	atomic_t state;
	u16 refusal;
	u16 flags;
	struct kapf_schema *schema;
	u64 arrival;
	union {
		struct task_struct *waiter;
		u64 user_data;
	};
	struct kapf_request request;
	union {
		struct kapf_deadline deadline;
		struct {
			struct llist_node event;
			u32 level;
		};
	};
	struct kapf_events *events;
} __aligned(128);

enum kapf_rejection {
	KAPF_REJECTION_QUEUE_FULL,
	KAPF_REJECTION_CONCURRENCY_LIMIT,
	KAPF_REJECTION_TIME_OUT,
	KAPF_REJECTION_CANCELLED,
	KAPF_REJECTIONS,
};

/* Decisions that were made, and those that only would have been. */
enum kapf_books {
	KAPF_REAL,
	KAPF_OBSERVED,
	KAPF_BOOKS,
};

/**
 * struct kapf_counts - what became of requests
 * @dispatched: requests ever seated, or let pass
 * @finished: requests ever served
 * @rejected: requests ever refused, by enum kapf_rejection
 */
struct kapf_counts {
	u64 dispatched;
	u64 finished;
	u64 rejected[KAPF_REJECTIONS];
};

/**
 * struct kapf_tally - what a schema counts
 * @seated_now: requests that came into a queue and were seated at once; these are
 *	neither in @counts, nor in the histograms of queue lengths and of waits
 * @seats_in_use: at present
 * @counts: by enum kapf_books
 * @no_accommodation: times that seats were free, but too few for a request of it
 * @waiting_seats: at present
 * @nr_waiting: at present
 * @nr_passing: at present; executing without seats
 */
struct kapf_tally {
	u64 seated_now;
	u64 seats_in_use;
	struct kapf_counts counts[KAPF_BOOKS];
	u64 no_accommodation;
	u64 waiting_seats;
	u32 nr_waiting;
	u32 nr_passing;
};

/**
 * struct kapf_exempt_tally - the same where no lock is taken; to be summed over
 *	the CPUs
 * @dispatched: requests ever seated
 * @finished: requests ever served
 * @released: requests whose seats have been released
 * @seats_taken: width of those dispatched
 * @seats_released: width of those released
 */
struct kapf_exempt_tally {
	u64 dispatched;
	u64 finished;
	u64 released;
	u64 seats_taken;
	u64 seats_released;
};

/**
 * struct kapf_level - a priority level at work
 * @lock: protects everything in here that changes, and the tallies of the
 *	schemas of this level, but not @exempt
 * @id: for user space
 * @exempt: NULL: the level is limited
 * @kinds: of the instance
 * @calm_first: least number of seats that is in the present buckets of both
 *	KAPF_HISTOGRAM_SEATS and KAPF_HISTOGRAM_DEMAND
 * @calm_last: largest one
 * @counts: of all its schemas, by enum kapf_books
 * @qs: its seats and queues; of an exempt level the limit, which limits nobody,
 *	and what it had when it was sampled
 * @demand: for its seats
 * @ratios: of what it has to what it may have, from KAPF_LEVEL_KIND on
 * @target: the demand that its limit was last judged by, see struct
 *	kapf_allocation
 * @nr_passing: requests that execute without seats
 * @unchecked: events since its queues were recounted, with KAPF_DEBUG
 * @waits: when those in its queues give up
 * @lingers: when the seats of those that have finished are released
 * @retry_after: what refused clients are told
 * @wakeups: where the engine's dispatches are noted, while the lock is held
 * @sampler: of the demand of an exempt level
 * @config: as it was configured, with its metadata
 * @limits: that follow from its configuration and that of the others
 * @draining: its name is gone from the configuration
 * @link: in the instance's levels
 *
 * The last four are the configuration's, see config.c.  Of all this a request that
 * never waits touches seven cache lines; where a member is depends on that.
 */
struct kapf_level {
	spinlock_t lock; /* everything in here that changes */
	u32 id;
	struct kapf_exempt_tally __percpu *exempt;
	struct kapf_kinds *kinds;
	u64 calm_first;
	u64 calm_last;
	struct kapf_counts counts[KAPF_BOOKS];
	struct kapf_queueset qs __aligned(64);
	struct kapf_demand demand __aligned(64);
	struct kapf_timing ratios[KAPF_LEVEL_KINDS];
	u64 target;
	u32 nr_passing;
	u32 unchecked;
	struct kapf_deadlines waits;
	struct kapf_deadlines lingers;
	struct kapf_retry_after retry_after;
	struct kapf_wakeups *wakeups;
	struct kapf_sampler sampler;
	struct kapf_config_level *config;
	struct kapf_limits limits;
	bool draining;
	struct list_head link;
};

/**
 * struct kapf_schema - a FlowSchema, bound to its priority level
 * @id: for user space
 * @level: NULL: it is dangling
 * @tally: of a schema of a limited level
 * @exempt: of a schema of an exempt level
 * @exempt_histograms: likewise, KAPF_EXEMPT_KINDS of them
 * @config: as it was configured, with its rules and metadata
 * @link: in the instance's draining schemas, once the configuration has
 *	another one of this name, or none
 * @histograms: of a schema of a limited level
 */
struct kapf_schema {
	u32 id;
	struct kapf_level *level;
	struct kapf_tally tally;
	struct kapf_exempt_tally __percpu *exempt;
	struct kapf_histogram __percpu *exempt_histograms;
	struct kapf_config_schema *config;
	struct list_head link;
	struct kapf_histogram histograms[KAPF_COUNTED_KINDS];
};

/*
 * A slot is free again.  Fully ordered: who waits for one has seen it free, or is
 * to be woken, which the return value says.
 */
static inline bool kapf_slot_set_free(struct kapf_slot *slot,
				      struct kapf_events *events)
{
	atomic_xchg(&slot->state, KAPF_SLOT_FREE);
	return kapf_events_slot_wanted(events);
}

static inline void kapf_slot_free(struct kapf_slot *slot,
				  struct kapf_events *events)
{
	if (kapf_slot_set_free(slot, events))
		kapf_events_wake(events, EPOLLOUT | EPOLLWRNORM);
}

/* With CONFIG_KAPF_DEBUG only */
void kapf_level_check(struct kapf_level *level);

struct kapf_level *kapf_level_create(bool exempt, struct kapf_kinds *kinds);
void kapf_level_destroy(struct kapf_level *level);
bool kapf_level_idle(struct kapf_level *level);
void kapf_level_end_period(struct kapf_level *level,
			   struct kapf_allocation *part, u64 now);
void kapf_level_limit(struct kapf_level *level,
		      const struct kapf_allocation *part, u32 server_seats,
		      u64 now);

u16 kapf_level_admit_unlock(struct kapf_level *level, struct kapf_slot *slot,
			    const struct kapf_op *op, u64 now)
	__releases(&level->lock);
u16 kapf_level_admit_shadow(struct kapf_level *level, struct kapf_slot *slot,
			    const struct kapf_op *op);
u64 kapf_level_finish_unlock(struct kapf_level *level, struct kapf_slot *slot,
			     bool linger, u64 now)
	__releases(&level->lock);
u64 kapf_level_finish(struct kapf_level *level, struct kapf_slot *slot,
		      bool linger);
bool kapf_level_cancel(struct kapf_level *level, struct kapf_slot *slot);
void kapf_level_release(struct kapf_level *level, struct kapf_slot *slot);
void kapf_level_grant_all(struct kapf_level *level);

/* queues.c */
struct kapf_queue *kapf_queues_create(u32 nr);
u32 kapf_level_least_queues(struct kapf_level *level);
struct kapf_queue *kapf_level_resize(struct kapf_level *level,
				     struct kapf_queue *queues, u32 room);

/* schema.c */
struct kapf_schema *kapf_schema_create(struct kapf_level *level);
void kapf_schema_destroy(struct kapf_schema *schema);
bool kapf_schema_idle(struct kapf_schema *schema);

/* exempt.c: what of it is otherwise where nobody is refused */
int kapf_exempt_init(struct kapf_level *level);
void kapf_exempt_destroy(struct kapf_level *level);
u64 kapf_exempt_finish(struct kapf_level *level, struct kapf_slot *slot,
		       bool linger, u64 now);
u64 kapf_exempt_sample(struct kapf_level *level, u64 now);
void kapf_exempt_sum(const struct kapf_exempt_tally __percpu *tally,
		     struct kapf_exempt_tally *sum);

#endif /* KAPF_LEVEL_H */
