// SPDX-License-Identifier: LGPL-2.1
/*
 * A request's way through a session: classification, a free slot, the kernel's
 * decision, which the caller waits for or is told of, and its end.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>

#include "internal.h"
#include "label.h"
#include "session.h"

/* A configuration that changes more often while one request is matched. */
#define MAX_MATCHES 8

/* Events taken from the kernel at once. */
#define MAX_EVENTS 64

#define NSEC_PER_MSEC 1000000ULL

/**
 * struct request - a request on its way to a decision
 * @session: that it is made in
 * @digest: with the session's tenant
 * @op: what the kernel is asked
 * @deadline: when to give up, CLOCK_MONOTONIC
 * @pending: whom to tell, if it does not wait; else NULL
 * @ticket: out
 */
struct request {
	struct kapf_session *session;
	struct kapf_digest digest;
	struct kapf_op op;
	uint64_t deadline;
	const struct pending *pending;
	struct kapf_ticket *ticket;
};

static unsigned int verb_flags(const char *verb)
{
	static const char *const mutating[] = {
		"create", "update", "patch", "delete", "deletecollection",
		"post", "put",
	};
	size_t i;

	if (!verb)
		return 0;
	if (!strcmp(verb, "watch"))
		return KAPF_OP_WATCH;
	for (i = 0; i < sizeof(mutating) / sizeof(*mutating); i++)
		if (!strcmp(verb, mutating[i]))
			return KAPF_OP_MUTATING;
	return 0;
}

/* Ask in the slot that the op names.  A signal only interrupts the wait. */
static int ask(struct request *request)
{
	uint64_t time;
	int ret;

	do {
		time = slots_now();
		request->op.max_wait = time < request->deadline ?
					       request->deadline - time : 1;
		ret = ioctl(request->session->fd, KAPF_ADMIT, &request->op);
	} while (ret < 0 && errno == EINTR);
	return ret < 0 ? -errno : ret;
}

/* There is no slot.  What has ended gives none back, and decides nothing. */
static int refuse_slot(const struct request *request)
{
	struct pollfd poller = { .fd = request->session->fd };

	if (poll(&poller, 1, 0) == 1 && poller.revents & POLLHUP)
		return -ESHUTDOWN;
	return request->pending ? -EBUSY : KAPF_TIME_OUT | 1 << 8; /* 1 s */
}

/*
 * Ask in a free slot until there is a decision, or the request waits and the
 * caller does not.  A slot that the kernel still holds, since the timer that
 * frees it is late, is left alone for a little longer.  Who gets no slot in time
 * has waited in vain like one who gets no seat, only that the kernel knows
 * nothing of it.
 */
static int decide(struct request *request)
{
	struct kapf_session *session = request->session;
	uint64_t until = request->pending ? 0 : request->deadline;
	int slot, ret;

	do {
		slot = slots_take(&session->slots, until);
		if (slot < 0)
			return refuse_slot(request);
		request->op.slot = slot;
		request->ticket->slot = slot;
		if (request->pending) {
			session->pending[slot] = *request->pending;
			session->pending[slot].ticket = *request->ticket;
		}
		ret = ask(request);
		if (ret < 0 || (KAPF_VERDICT(ret) != KAPF_EXECUTE &&
				KAPF_VERDICT(ret) != KAPF_QUEUED))
			slots_put(&session->slots, slot,
				  ret == -EBUSY ? NSEC_PER_MSEC : 0);
	} while (ret == -EBUSY);
	return ret;
}

/* Match a request and ask; fills the ticket. */
static int match(struct request *request, const struct snapshot *snapshot)
{
	const struct kapf_digest *digest = &request->digest;
	const struct kapf_flow_schema *schema =
		kapf_classifier_match(snapshot->classifier, digest);
	const struct kapf_priority_level *level;
	struct kapf_ticket *ticket = request->ticket;
	struct kapf_op *op = &request->op;
	char label[LABEL_BYTES];
	int ret;

	level = kapf_config_level(snapshot->config, schema->level);
	memcpy(ticket->schema_uid, schema->uid, KAPF_UID_BYTES);
	memcpy(ticket->level_uid, level->uid, KAPF_UID_BYTES);
	op->schema = schema->id;
	op->flow_hash = kapf_flow_hash(schema->name, digest->tenant,
				       kapf_flow_distinguisher(schema, digest));
	op->label = (uintptr_t)label;
	op->label_len = label_make(label, schema, digest);
	ret = decide(request);
	if (ret < 0)
		return ret;

	ticket->verdict = KAPF_VERDICT(ret);
	ticket->retry_after = KAPF_RETRY_AFTER(ret);
	return ret;
}

/* Match and ask, again when the rules turn out to be those of the past. */
static int settle(struct request *request)
{
	struct snapshots *snapshots = &request->session->snapshots;
	const struct kapf_ticket *ticket = request->ticket;
	struct snapshot *snapshot = NULL;
	int ret, matches = 0;
	bool stale;

	do {
		if (matches++ == MAX_MATCHES)
			ret = -EAGAIN;
		else
			ret = snapshots_get(snapshots, &snapshot);
		if (ret < 0)
			break;
		ret = match(request, snapshot);
		if (ret < 0)
			break;
		stale = ret & KAPF_STALE || ticket->verdict == KAPF_RECLASSIFY;
		if (stale)
			snapshots_mark_stale(snapshots, snapshot);
		/* Refused by rules of the past: it may be another level's. */
	} while (stale && ticket->verdict != KAPF_EXECUTE &&
		 ticket->verdict != KAPF_QUEUED);
	snapshots_put(snapshot);
	return ret < 0 ? ret : 0;
}

/* What statistics see of them. */
static uint32_t watch_count(const struct kapf_work *work)
{
	if (!work->counts_watchers)
		return KAPF_WATCH_COUNT_UNKNOWN;
	return work->watchers < KAPF_WATCH_COUNT_UNKNOWN ?
		work->watchers : KAPF_WATCH_COUNT_UNKNOWN - 1;
}

static int admit(struct kapf_session *session, const struct kapf_digest *digest,
		 const struct kapf_work *work, uint64_t max_wait,
		 const struct pending *pending, struct kapf_ticket *ticket)
{
	const struct kapf_work least = { .initial_seats = 1 };
	struct request request = {
		.session = session,
		.digest = *digest,
		.pending = pending,
		.ticket = ticket,
	};

	if (!work)
		work = &least;
	if (work->initial_seats > KAPF_MAX_WIDTH ||
	    work->final_seats > KAPF_MAX_WIDTH)
		return -EINVAL;
	request.op = (struct kapf_op){
		.opcode = KAPF_OP_ADMIT,
		.flags = verb_flags(digest->verb),
		.initial_seats = work->initial_seats ? work->initial_seats : 1,
		.final_seats = work->final_seats,
		.additional_latency = work->additional_latency,
		.watch_count = watch_count(work),
	};
	if (pending)
		request.op.flags |= KAPF_OP_NOWAIT;
	if (!request.digest.tenant)
		request.digest.tenant = session->tenant;

	if (!max_wait)
		max_wait = KAPF_DEFAULT_WAIT_NS;
	else if (max_wait > KAPF_MAX_WAIT_NS)
		max_wait = KAPF_MAX_WAIT_NS;
	request.deadline = slots_now() + max_wait;
	return settle(&request);
}

int kapf_admit(struct kapf_session *session, const struct kapf_digest *digest,
	       const struct kapf_work *work, uint64_t max_wait,
	       struct kapf_ticket *ticket)
{
	return admit(session, digest, work, max_wait, NULL, ticket);
}

int kapf_submit(struct kapf_session *session, const struct kapf_digest *digest,
		const struct kapf_work *work, uint64_t max_wait,
		kapf_decided_fn *decided, void *user,
		struct kapf_ticket *ticket)
{
	const struct pending pending = { .decided = decided, .user = user };

	return admit(session, digest, work, max_wait, &pending, ticket);
}

/* A decision has come; the slot is the caller's again unless it executes. */
static void tell(struct kapf_session *session, const struct kapf_event *event)
{
	struct pending pending = session->pending[event->slot];

	pending.ticket.verdict = event->verdict;
	pending.ticket.retry_after = event->detail;
	if (event->verdict != KAPF_EXECUTE)
		slots_put(&session->slots, event->slot, 0);
	pending.decided(session, &pending.ticket, pending.user);
}

int kapf_pump(struct kapf_session *session)
{
	struct kapf_event events[MAX_EVENTS];
	struct kapf_submit submit = {
		.size = sizeof(submit),
		.op_size = sizeof(struct kapf_op),
		.event_size = sizeof(struct kapf_event),
		.events = (uintptr_t)events,
	};
	int told = 0;
	uint32_t i;

	do {
		submit.nr_events = MAX_EVENTS;
		if (ioctl(session->fd, KAPF_SUBMIT, &submit) < 0)
			return told ? told : -errno;
		for (i = 0; i < submit.nr_events; i++)
			tell(session, &events[i]);
		told += submit.nr_events;
	} while (submit.nr_events == MAX_EVENTS);
	return told;
}

int kapf_cancel(struct kapf_session *session, const struct kapf_ticket *ticket)
{
	if (ioctl(session->fd, KAPF_CANCEL, (unsigned long)ticket->slot) < 0)
		return -errno;
	return 0;
}

int kapf_finish(struct kapf_session *session, const struct kapf_ticket *ticket)
{
	int ret = ioctl(session->fd, KAPF_FINISH, (unsigned long)ticket->slot);

	if (ret < 0)
		ret = -errno;
	/* Who waits for a slot is to ask, and hear that the session has ended. */
	if (ret >= 0 || ret == -ESHUTDOWN)
		slots_put(&session->slots, ticket->slot,
			  ret > 0 ? ret * NSEC_PER_MSEC : 0);
	return ret;
}
