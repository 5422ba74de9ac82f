// SPDX-License-Identifier: LGPL-2.1
/*
 * Admission within this process: the engine of the module over the levels of a
 * configuration, under one lock, with one timer for whatever is due later.
 *
 * What is decided of a request that waits is told by local_pump(), so that no
 * caller of another function is called back.  The timer is due at once when there
 * is something to tell, at the next deadline, and at the end of each period.
 */
#include <errno.h>
#include <linux/list.h>
#include <linux/rbtree.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "allocation.h"
#include "demand.h"
#include "local.h"
#include "queueset_now.h"
#include "retryafter.h"
#include "slots.h"

#define NSEC_PER_SEC	1000000000ULL
#define NSEC_PER_MSEC	1000000ULL

#define NO_BUDGET	(~0u)
#define NO_LIMIT	(~0u)
#define NEVER		(~0ULL)

/**
 * struct local_level - a priority level
 * @qs: its seats and queues; an exempt one has no queues, and no limit
 * @local: that it is in
 * @exempt: it has no limit
 * @demand: for seats, by period
 * @limits: of CurrentCL
 * @limit: CurrentCL
 * @retry_after: what refused clients are told
 */
struct local_level {
	struct kapf_queueset qs;
	struct local *local;
	bool exempt;
	struct kapf_demand demand;
	struct kapf_limits limits;
	u32 limit;
	struct kapf_retry_after retry_after;
};

enum local_state {
	EXECUTING,
	WAITING,
	REFUSED,
	LINGERING,
};

/**
 * struct local_request - a request, until its seats are free
 * @request: the engine's
 * @level: of its schema
 * @state: what it does
 * @link: among all
 * @told: among those to be told of
 * @node: by @when, while it is WAITING or LINGERING
 * @when: that ends
 * @ticket: of the caller
 * @decided: whom to tell
 * @user: likewise
 */
struct local_request {
	struct kapf_request request;
	struct local_level *level;
	enum local_state state;
	struct list_head link;
	struct list_head told;
	struct rb_node node;
	u64 when;
	struct kapf_ticket ticket;
	local_decided_fn *decided;
	void *user;
};

/**
 * struct local - an admission
 * @fd: of the timer
 * @lock: protects all that changes
 * @snapshot: what requests are classified by
 * @armed: when the timer is due; NEVER: it is not
 * @period: of adjustments
 * @next_adjustment: when the present one ends
 * @deadlines: of requests
 * @requests: all there are
 * @told: those that have been decided on
 * @parts: scratch of an adjustment
 * @levels: in the order of the configuration
 */
struct local {
	int fd;
	pthread_mutex_t lock;
	struct snapshot *snapshot;
	u64 armed;
	u64 period;
	u64 next_adjustment;
	struct rb_root_cached deadlines;
	struct list_head requests;
	struct list_head told;
	struct kapf_allocation *parts;
	struct local_level levels[];
};

static bool is_earlier(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct local_request, node)->when <
	       rb_entry(b, struct local_request, node)->when;
}

static void add_deadline(struct local *local, struct local_request *request,
			 u64 when)
{
	request->when = when;
	rb_add_cached(&request->node, &local->deadlines, is_earlier);
}

static struct local_request *first_deadline(const struct local *local)
{
	struct rb_node *node = rb_first_cached(&local->deadlines);

	return node ? rb_entry(node, struct local_request, node) : NULL;
}

static void free_request(struct local_request *request)
{
	list_del(&request->link);
	free(request);
}

/* A request that waited has been decided on. */
static void decide(struct local_request *request, enum local_state state,
		   enum kapf_verdict verdict)
{
	struct local *local = request->level->local;

	rb_erase_cached(&request->node, &local->deadlines);
	request->state = state;
	request->ticket.verdict = verdict;
	list_add_tail(&request->told, &local->told);
}

static void dispatched(struct kapf_queueset *qs, struct kapf_request *req,
		       u32 width)
{
	(void)qs;
	(void)width;
	decide(container_of(req, struct local_request, request), EXECUTING,
	       KAPF_EXECUTE);
}

/* After each change: see what its demand has come to, and seat what fits. */
static void settle(struct local_level *level, u64 now)
{
	kapf_demand_change(&level->demand, kapf_queueset_demand(&level->qs));
	if (level->qs.nr_waiting)
		kapf_queueset_dispatch(&level->qs, NO_BUDGET, now);
}

static void count_drop(struct local_request *request, u64 now)
{
	request->ticket.retry_after =
		kapf_retry_after_drop(&request->level->retry_after,
				      now / NSEC_PER_SEC);
}

static void expire_request(struct local_request *request, u64 now)
{
	struct local_level *level = request->level;

	if (request->state == LINGERING) {
		kapf_queueset_release(&level->qs, &request->request, now);
		rb_erase_cached(&request->node, &level->local->deadlines);
		free_request(request);
	} else {
		kapf_queueset_cancel(&level->qs, &request->request, now);
		decide(request, REFUSED, KAPF_TIME_OUT);
		count_drop(request, now);
	}
	settle(level, now);
}

static void end_period(struct local_level *level, struct kapf_allocation *part,
		       u64 now)
{
	kapf_queueset_advance(&level->qs, now);
	kapf_demand_end_period(&level->demand, &level->qs.usage,
			       kapf_queueset_demand(&level->qs), level->qs.now);
	*part = (struct kapf_allocation){
		.limits = level->limits,
		.smoothed = level->demand.smoothed,
		.high_watermark = level->demand.high_watermark,
		.exempt = level->exempt,
		.current_limit = level->limit,
	};
}

/* A period ends: levels lend each other seats by what they wanted in it. */
static void adjust(struct local *local, u64 now)
{
	size_t nr = local->snapshot->config->nr_levels, i;

	for (i = 0; i < nr; i++)
		end_period(&local->levels[i], &local->parts[i], now);
	kapf_allocate(local->parts, nr);
	for (i = 0; i < nr; i++) {
		struct local_level *level = &local->levels[i];

		level->limit = local->parts[i].current_limit;
		if (!level->exempt)
			kapf_queueset_limit(&level->qs, level->limit, now);
		settle(level, now);
	}
	local->next_adjustment = now + local->period;
}

/* Do what is due, however late the timer is. */
static void catch_up(struct local *local, u64 now)
{
	struct local_request *first;

	while ((first = first_deadline(local)) && first->when <= now)
		expire_request(first, now);
	if (now >= local->next_adjustment)
		adjust(local, now);
}

/* Have the timer fire in time; that it fires in vain does not matter. */
static void arm(struct local *local)
{
	const struct local_request *first = first_deadline(local);
	struct itimerspec timer = {};
	u64 when = local->next_adjustment;

	if (first && first->when < when)
		when = first->when;
	if (!list_empty(&local->told))
		when = 1;
	if (when >= local->armed)
		return;
	local->armed = when;
	timer.it_value.tv_sec = when / NSEC_PER_SEC;
	timer.it_value.tv_nsec = when % NSEC_PER_SEC;
	timerfd_settime(local->fd, TFD_TIMER_ABSTIME, &timer, NULL);
}

static u64 lock_up_to_date(struct local *local)
{
	u64 now;

	pthread_mutex_lock(&local->lock);
	now = slots_now();
	catch_up(local, now);
	return now;
}

static void unlock(struct local *local)
{
	arm(local);
	pthread_mutex_unlock(&local->lock);
}

static uint64_t server_seats(const struct kapf_configuration *config)
{
	return (uint64_t)config->max_requests_inflight +
	       config->max_mutating_requests_inflight;
}

static int init_level(struct local *local, struct local_level *level,
		      const struct kapf_priority_level *config, u64 shares,
		      u64 now)
{
	u64 seats = server_seats(local->snapshot->config);
	struct kapf_queue *queues = NULL;

	level->local = local;
	level->exempt = config->type == KAPF_LEVEL_EXEMPT;
	kapf_limits_init(&level->limits, seats,
			 kapf_nominal_limit(seats, config->nominal_shares,
					    shares),
			 config->lendable_percent,
			 level->exempt ? KAPF_BORROWING_UNSET :
					 config->borrowing_limit_percent);
	level->limit = kapf_initial_limit(&level->limits);
	if (config->queues) {
		queues = calloc(config->queues, sizeof(*queues));
		if (!queues)
			return -ENOMEM;
	}
	level->qs.dispatched = dispatched;
	kapf_queueset_init(&level->qs, queues, config->queues,
			   config->hand_size, config->queue_length_limit,
			   level->exempt ? NO_LIMIT : level->limit);
	level->qs.now = now;
	kapf_demand_init(&level->demand, now);
	kapf_retry_after_init(&level->retry_after);
	return 0;
}

static int init_levels(struct local *local)
{
	const struct kapf_configuration *config = local->snapshot->config;
	u64 now = slots_now(), shares = 0;
	int ret = 0;

	for (size_t i = 0; i < config->nr_levels; i++)
		shares += config->levels[i].nominal_shares;
	for (size_t i = 0; !ret && i < config->nr_levels; i++)
		ret = init_level(local, &local->levels[i], &config->levels[i],
				 shares, now);
	if (!ret)
		adjust(local, now);
	return ret;
}

/**
 * local_new() - let this process have all seats of a configuration
 * @local: out
 * @snapshot: that it is to go by, of which it becomes another user
 *
 * Return: 0, -ENOMEM, or an errno of timerfd_create(2).
 */
int local_new(struct local **local, struct snapshot *snapshot)
{
	const struct kapf_configuration *config = snapshot->config;
	size_t nr = config->nr_levels;
	struct local *fresh;
	int ret;

	fresh = calloc(1, sizeof(*fresh) + nr * sizeof(fresh->levels[0]));
	if (!fresh)
		return -ENOMEM;
	pthread_mutex_init(&fresh->lock, NULL);
	INIT_LIST_HEAD(&fresh->requests);
	INIT_LIST_HEAD(&fresh->told);
	fresh->armed = NEVER;
	atomic_fetch_add(&snapshot->users, 1);
	fresh->snapshot = snapshot;
	fresh->period = config->adjustment_period_ms ?
		config->adjustment_period_ms * NSEC_PER_MSEC :
		KAPF_DEFAULT_ADJUSTMENT_PERIOD_MS * NSEC_PER_MSEC;
	fresh->parts = calloc(nr, sizeof(*fresh->parts));
	fresh->fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	ret = fresh->fd < 0 ? -errno : fresh->parts ? 0 : -ENOMEM;
	if (!ret)
		ret = init_levels(fresh);
	if (ret < 0) {
		local_free(fresh);
		return ret;
	}
	arm(fresh);
	*local = fresh;
	return 0;
}

/**
 * local_free() - end an admission
 * @local: that no thread uses; may be NULL.  Nobody is told of what waits, and
 *	what executes is not to be finished any more
 */
void local_free(struct local *local)
{
	if (!local)
		return;
	while (!list_empty(&local->requests))
		free_request(list_first_entry(&local->requests,
					      struct local_request, link));
	for (size_t i = 0; i < local->snapshot->config->nr_levels; i++)
		free(local->levels[i].qs.queues);
	snapshots_put(local->snapshot);
	if (local->fd >= 0)
		close(local->fd);
	pthread_mutex_destroy(&local->lock);
	free(local->parts);
	free(local);
}

/**
 * local_fd() - what to poll
 * @local: the admission
 *
 * Return: a file descriptor, readable when local_pump() has something to do.
 */
int local_fd(const struct local *local)
{
	return local->fd;
}

static int make_request(struct local_request **made,
			const struct kapf_work *work)
{
	static const struct kapf_work least = { .initial_seats = 1 };
	struct local_request *request;

	if (!work)
		work = &least;
	if (work->initial_seats > KAPF_MAX_WIDTH ||
	    work->final_seats > KAPF_MAX_WIDTH ||
	    work->additional_latency > KAPF_MAX_ADDITIONAL_LATENCY_NS)
		return -EINVAL;
	request = calloc(1, sizeof(*request));
	if (!request)
		return -ENOMEM;
	request->request.initial_seats =
		work->initial_seats ? work->initial_seats : 1;
	request->request.final_seats = work->final_seats;
	request->request.additional_latency = work->additional_latency;
	*made = request;
	return 0;
}

/* Find out whose it is.  Return: the hash of its flow. */
static u64 classify(struct local *local, struct local_request *request,
		    const struct kapf_digest *digest)
{
	const struct snapshot *snapshot = local->snapshot;
	const struct kapf_flow_schema *schema =
		kapf_classifier_match(snapshot->classifier, digest);
	const struct kapf_priority_level *level =
		kapf_config_level(snapshot->config, schema->level);

	request->level = &local->levels[level - snapshot->config->levels];
	memcpy(request->ticket.schema_uid, schema->uid, KAPF_UID_BYTES);
	memcpy(request->ticket.level_uid, level->uid, KAPF_UID_BYTES);
	return kapf_flow_hash(schema->name, digest->tenant,
			      kapf_flow_distinguisher(schema, digest));
}

static u64 wait_of(uint64_t max_wait)
{
	if (!max_wait)
		return KAPF_DEFAULT_WAIT_NS;
	return max_wait < KAPF_MAX_WAIT_NS ? max_wait : KAPF_MAX_WAIT_NS;
}

/* Return: whether the request has a future. */
static bool admit(struct local *local, struct local_request *request, u64 hash,
		  u64 wait, u64 now)
{
	struct kapf_queueset *qs = &request->level->qs;

	switch (kapf_queueset_admit(qs, &request->request, hash, now)) {
	case KAPF_ADMISSION_SEATED:
		request->state = EXECUTING;
		request->ticket.verdict = KAPF_EXECUTE;
		return true;
	case KAPF_ADMISSION_QUEUED:
		request->state = WAITING;
		request->ticket.verdict = KAPF_QUEUED;
		add_deadline(local, request, now + wait);
		return true;
	case KAPF_ADMISSION_QUEUE_FULL:
		request->ticket.verdict = KAPF_QUEUE_FULL;
		break;
	case KAPF_ADMISSION_CONCURRENCY_LIMIT:
		request->ticket.verdict = KAPF_CONCURRENCY_LIMIT;
		break;
	}
	count_drop(request, now);
	return false;
}

/**
 * local_submit() - classify a request, and be told of the decision
 * @local: the admission
 * @digest: the request
 * @work: its cost; NULL: one seat
 * @max_wait: as kapf_submit()
 * @decided: whom local_pump() tells, where the verdict is KAPF_QUEUED
 * @user: likewise
 * @ticket: out
 * @made: out: with KAPF_EXECUTE for local_finish(); with KAPF_QUEUED for
 *	local_cancel() and, when told of KAPF_EXECUTE, for local_finish()
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int local_submit(struct local *local, const struct kapf_digest *digest,
		 const struct kapf_work *work, uint64_t max_wait,
		 local_decided_fn *decided, void *user,
		 struct kapf_ticket *ticket, struct local_request **made)
{
	struct local_request *request;
	int ret = make_request(&request, work);
	bool has_future;
	u64 hash, now;

	if (ret)
		return ret;
	hash = classify(local, request, digest);
	request->decided = decided;
	request->user = user;

	now = lock_up_to_date(local);
	list_add_tail(&request->link, &local->requests);
	*made = request;
	has_future = admit(local, request, hash, wait_of(max_wait), now);
	*ticket = request->ticket;
	if (has_future)
		settle(request->level, now);
	else
		free_request(request);
	unlock(local);
	return 0;
}

/**
 * local_cancel() - a request is not to wait any more
 * @local: the admission
 * @request: of which nobody has been told
 *
 * Return: 0: KAPF_CANCELLED will be told; -EALREADY: what was decided before.
 */
int local_cancel(struct local *local, struct local_request *request)
{
	int ret = -EALREADY;
	u64 now = lock_up_to_date(local);

	if (request->state == WAITING) {
		kapf_queueset_cancel(&request->level->qs, &request->request,
				     now);
		decide(request, REFUSED, KAPF_CANCELLED);
		settle(request->level, now);
		ret = 0;
	}
	unlock(local);
	return ret;
}

/**
 * local_finish() - a request has been served
 * @local: the admission
 * @request: that executes; not to be used any more
 *
 * Return: ms for which its seats linger, rounded up, or 0.
 */
int local_finish(struct local *local, struct local_request *request)
{
	u64 now = lock_up_to_date(local);
	struct local_level *level = request->level;
	u64 latency;

	kapf_queueset_finish(&level->qs, &request->request, now);
	latency = request->request.additional_latency;
	if (latency) {
		request->state = LINGERING;
		add_deadline(local, request, now + latency);
	} else {
		free_request(request);
	}
	settle(level, now);
	unlock(local);
	return (latency + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC;
}

/* Take the first of those to be told of.  Return: whether there was one. */
static bool take_told(struct local *local, struct local_request *told)
{
	struct local_request *request;
	bool taken = false;

	lock_up_to_date(local);
	if (!list_empty(&local->told)) {
		request = list_first_entry(&local->told, struct local_request,
					   told);
		list_del(&request->told);
		*told = *request;
		if (request->state == REFUSED)
			free_request(request);
		taken = true;
	}
	pthread_mutex_unlock(&local->lock);
	return taken;
}

/**
 * local_pump() - tell of all decisions that have been made
 * @local: the admission
 *
 * Return: how many.
 */
int local_pump(struct local *local)
{
	struct local_request told;
	uint64_t fired;
	int nr = 0;

	while (take_told(local, &told)) {
		told.decided(&told.ticket, told.user);
		nr++;
	}
	pthread_mutex_lock(&local->lock);
	/* It has fired, unless this is called for nothing. */
	if (read(local->fd, &fired, sizeof(fired)) == sizeof(fired))
		local->armed = NEVER;
	unlock(local);
	return nr;
}
