/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the model of a priority level keeps, and what it can be asked and told;
 * model.c says what it is for.
 */
#ifndef ENGINE_MODEL_H
#define ENGINE_MODEL_H

#include <linux/types.h>

#define MODEL_MAX_REQUESTS	512
#define MODEL_MAX_QUEUES	64
#define MODEL_MAX_HAND		15

#define MODEL_NO_QUEUE		(~0u)

enum model_state {
	MODEL_WAITING,
	MODEL_EXECUTING,
	MODEL_LINGERING,
};

enum model_verdict {
	MODEL_ADMITTED,
	MODEL_QUEUE_FULL,
	MODEL_CONCURRENCY_LIMIT,
};

/* What a trace has to meet for its agreement to mean something. */
enum model_event {
	MODEL_TIE,		/* queues were equal when one was picked */
	MODEL_LONE_WIDE,	/* wider than the limit, seated alone */
	MODEL_LONE_BESIDE_LINGERING,
	MODEL_BLOCKED,		/* free seats, but too few for the next */
	MODEL_OVERTAKING,	/* of these, where another one would fit */
	MODEL_CLIPPED,		/* final seats cut to the limit */
	MODEL_BOUND,		/* the anti-windup bound took effect */
	MODEL_RESTART,		/* an idle queue's next dispatch was ahead */
	MODEL_FULL_LINE,	/* queue at its length, but a seat was free */
	MODEL_REFUSED_FULL,	/* queue-full */
	MODEL_REFUSED_LIMIT,	/* concurrency-limit */
	MODEL_LINGERED,
	MODEL_REFUNDED,		/* latency ended early */
	MODEL_SETTLED_UP,	/* took longer than guessed */
	MODEL_SETTLED_DOWN,
	MODEL_EQUAL_WORK,	/* equal queues in a hand, with work waiting */
	MODEL_LATE,		/* a time before the last */
	MODEL_NR_EVENTS,
};

/**
 * struct model_request - a request that has not left
 * @id: the caller's
 * @queue: index of the queue that it came to; or MODEL_NO_QUEUE
 * @held: seats that it holds once it is dispatched
 */
struct model_request {
	u32 id;
	enum model_state state;
	u32 queue;
	u32 initial_seats;
	u32 final_seats;
	u64 additional_latency;
	u32 held;
	u64 start;
	__int128 arrival_r;
};

/**
 * struct model - a priority level
 * @nr_queues: that flows may use; 0: refuse rather than queue
 * @nr_ever: the most that there have been
 * @r: virtual time, which does not wrap
 * @dispatch_r: @r at the last dispatch from a queue
 * @latest_s: @next_dispatch_r of that queue, before
 * @next_dispatch_r: of each queue; means nothing while the queue is idle
 * @requests: all that have not left, in the order of arrival
 * @met: how often each enum model_event occurred
 */
struct model {
	u32 seats;
	u32 nr_queues;
	u32 nr_ever;
	u32 hand_size;
	u32 queue_length_limit;
	u32 robin;
	u32 deals;
	u64 now;
	__int128 r;
	__int128 dispatch_r;
	__int128 latest_s;
	__int128 next_dispatch_r[MODEL_MAX_QUEUES];
	struct model_request requests[MODEL_MAX_REQUESTS];
	u32 nr_requests;
	u64 met[MODEL_NR_EVENTS];
};

u32 model_seats_in_use(const struct model *model);
u32 model_count(const struct model *model, enum model_state state);
u32 model_queue_count(const struct model *model, u32 queue,
		      enum model_state state);
u32 model_queue_seats(const struct model *model, u32 queue);
bool model_queue_active(const struct model *model, u32 queue);
struct model_request *model_find(struct model *model, u32 id);

void model_limit(struct model *model, u32 seats, u64 now);
void model_resize(struct model *model, u32 nr_queues, u32 hand_size,
		  u32 queue_length_limit);
bool model_has_room(const struct model *model, u32 width);
enum model_verdict model_admit(struct model *model,
			       const struct model_request *request, u64 hash,
			       u64 now);
u32 model_dispatch(struct model *model, u32 budget, u64 now, u32 *order);
bool model_wants_dispatch(const struct model *model);
void model_cancel(struct model *model, u32 id, u64 now);
void model_finish(struct model *model, u32 id, u64 now);
void model_refund(struct model *model, u32 id, u64 unused, u64 now);
void model_release(struct model *model, u32 id, u64 now);

#endif /* ENGINE_MODEL_H */
