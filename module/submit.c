// SPDX-License-Identifier: GPL-2.0
/*
 * SUBMIT: finish, cancel and admit many requests at a time.
 *
 * Elements are taken in chunks.  First what a chunk needs of the user's memory is
 * copied, and its slots are claimed; then, with bottom halves disabled, it goes
 * through its levels, of which each is locked once as long as the same one comes
 * again; then what it has to tell is copied out.  An element that is wrong ends its
 * chunk: those before it are taken first.
 *
 * A request that is seated at once goes to the user's events directly.  All else
 * that becomes an event goes to the session's, and is copied in the end.
 */

#include <linux/bottom_half.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "batch.h"
#include "config.h"
#include "hold.h"
#include "mode.h"
#include "slot.h"

/* Elements of a chunk: what fits on the stack, and in one hold of a lock. */
#define KAPF_CHUNK 16

/**
 * struct kapf_batch - a SUBMIT under way
 * @session: that it came by
 * @submit: its argument
 * @events: room for events that is left
 * @nr_finish: elements taken
 * @nr_cancel: likewise
 * @nr_ops: likewise
 * @nr_events: events written
 * @direct: there is room for an event of each element of ops[], and none has been
 *	kept so far that should come before them
 */
struct kapf_batch {
	struct kapf_session *session;
	const struct kapf_submit *submit;
	struct iov_iter events;
	u32 nr_finish;
	u32 nr_cancel;
	u32 nr_ops;
	u32 nr_events;
	bool direct;
};

/*
 * An element was refused, and has changed nothing.  It counts as taken when the
 * error has become an event.
 */
static int kapf_submit_error(struct kapf_batch *batch, long error, u32 slot,
			     u64 user_data, u32 flags)
{
	struct kapf_event event = {
		.user_data = user_data,
		.slot = slot,
		.verdict = KAPF_ERROR,
		.detail = -error,
		.flags = flags,
	};
	size_t copied;

	if (error == -EINTR || error == -ESHUTDOWN ||
	    batch->nr_events == batch->submit->nr_events)
		return error;
	copied = copy_to_iter(&event, sizeof(event), &batch->events);
	if (copied != sizeof(event)) {
		iov_iter_revert(&batch->events, copied);
		return -EFAULT;
	}
	batch->nr_events++;
	return 0;
}

/**
 * struct kapf_finish_chunk - some requests to finish
 * @elements: of the user
 * @lingers: ns for which the seats of each linger
 * @nr: how many have been finished
 * @error: why the next one was not; 0: there is none
 */
struct kapf_finish_chunk {
	struct kapf_finish elements[KAPF_CHUNK];
	u64 lingers[KAPF_CHUNK];
	u32 nr;
	int error;
};

/* Finish one.  Return: false: nothing executes there. */
static __always_inline bool
kapf_submit_finish_one(struct kapf_session *session, struct kapf_hold *hold,
		       u32 index, u64 *lingers, bool *wake)
{
	struct kapf_schema *schema;
	struct kapf_level *level;
	struct kapf_slot *slot;

	if (index >= session->nr_slots)
		return false;
	slot = kapf_slot_at(session, index);
	if (!kapf_slot_move(slot, KAPF_SLOT_EXECUTING, KAPF_SLOT_CLAIMED))
		return false;
	schema = slot->schema;
	level = schema->level;
	if (likely(!level->exempt && !(slot->flags & KAPF_SLOT_PASSING))) {
		*lingers = kapf_hold_finish(hold, level, slot, schema);
	} else {
		/* These take other locks. */
		kapf_hold_drop(hold);
		*lingers = kapf_slot_served(session, slot, true);
	}
	if (!*lingers)
		*wake |= kapf_slot_set_free(slot, &session->events);
	return true;
}

/* Finish the @nr elements, up to one that is wrong. */
static void kapf_submit_finish_chunk(struct kapf_session *session,
				     struct kapf_finish_chunk *chunk, u32 nr)
{
	struct kapf_hold hold = { };
	bool wake = false, usable;
	u32 i;

	local_bh_disable();
	/* Who ends the session waits for the end of this section. */
	usable = kapf_session_usable(session);
	hold.now = ktime_get_ns();
	for (i = 0; usable && i < nr; i++)
		if (chunk->elements[i].lingers ||
		    !kapf_submit_finish_one(session, &hold,
					    chunk->elements[i].slot,
					    &chunk->lingers[i], &wake))
			break;
	kapf_hold_drop(&hold);
	if (wake)
		kapf_events_wake(&session->events, EPOLLOUT | EPOLLWRNORM);
	local_bh_enable();
	chunk->nr = i;
	if (i == nr)
		chunk->error = 0;
	else if (chunk->elements[i].lingers)
		chunk->error = -EINVAL;
	else
		chunk->error = kapf_slot_not_finished(session,
						      chunk->elements[i].slot);
}

/*
 * Tell for how long seats linger, of those of which they do, even if it cannot be
 * told of some.
 */
static int kapf_submit_tell_lingers(const struct kapf_finish_chunk *chunk,
				    struct kapf_finish __user *uelements)
{
	int ret = 0;
	u32 i;

	for (i = 0; i < chunk->nr; i++)
		if (chunk->lingers[i] &&
		    put_user((u32)DIV_ROUND_UP_ULL(chunk->lingers[i],
						   NSEC_PER_MSEC),
			     &uelements[i].lingers))
			ret = -EFAULT;
	return ret;
}

/* Take some elements of finish[].  Return: 0 or an error. */
static int kapf_submit_finish(struct kapf_batch *batch)
{
	struct kapf_finish __user *uelements =
		u64_to_user_ptr(batch->submit->finish);
	struct kapf_finish_chunk chunk __uninitialized;
	u32 nr = min_t(u32, batch->submit->nr_finish - batch->nr_finish,
		       KAPF_CHUNK);
	unsigned long missing;
	int ret;

	uelements += batch->nr_finish;
	missing = copy_from_user(chunk.elements, uelements,
				 nr * sizeof(chunk.elements[0]));
	nr -= DIV_ROUND_UP(missing, sizeof(chunk.elements[0]));
	if (!nr)
		return -EFAULT;
	kapf_submit_finish_chunk(batch->session, &chunk, nr);
	/* What is finished is finished, whether or not it can be told. */
	batch->nr_finish += chunk.nr;
	ret = kapf_submit_tell_lingers(&chunk, uelements);
	if (ret || !chunk.error)
		return ret;
	ret = kapf_submit_error(batch, chunk.error,
				chunk.elements[chunk.nr].slot, 0,
				KAPF_EVENT_FINISH);
	batch->nr_finish += !ret;
	return ret;
}

static int kapf_submit_cancel(struct kapf_batch *batch)
{
	u32 __user *uelement = u64_to_user_ptr(batch->submit->cancel);
	u32 slot;
	long ret;

	if (get_user(slot, uelement + batch->nr_cancel))
		return -EFAULT;
	ret = kapf_slot_cancel(batch->session, slot);
	return ret < 0 ? kapf_submit_error(batch, ret, slot, 0,
					   KAPF_EVENT_CANCEL) : 0;
}

/**
 * struct kapf_ask_chunk - some requests to admit
 * @ops: of the user
 * @slots: of each, claimed
 * @nr: how many there are
 * @error: why the next one could not be had; 0: there is none
 * @fetched: of that one: it is in @ops
 * @events: of the first ones, which execute
 * @nr_events: how many these are
 */
struct kapf_ask_chunk {
	struct kapf_op ops[KAPF_CHUNK];
	struct kapf_slot *slots[KAPF_CHUNK];
	u32 nr;
	int error;
	bool fetched;
	struct kapf_event events[KAPF_CHUNK];
	u32 nr_events;
};

/* Claim the slot of an op that was fetched, and fetch its label. */
static int kapf_submit_claim(struct kapf_session *session, struct kapf_op *op,
			     struct kapf_slot **slot)
{
	int ret;

	op->flags |= KAPF_OP_NOWAIT;
	ret = kapf_slot_claim(session, op, slot);
	if (ret)
		return ret;
	ret = kapf_slot_copy_label(session, op);
	if (ret)
		kapf_slot_free(*slot, &session->events);
	return ret;
}

/* Fetch @nr ops, up to one that is wrong. */
static void kapf_submit_fetch(struct kapf_session *session,
			      struct kapf_ask_chunk *chunk,
			      const struct kapf_op __user *uops, u32 nr)
{
	int error = 0;
	u32 i;

	chunk->fetched = true;
	for (i = 0; i < nr; i++) {
		chunk->fetched = kapf_op_fetch(&chunk->ops[i], uops + i);
		error = chunk->fetched ?
				kapf_submit_claim(session, &chunk->ops[i],
						  &chunk->slots[i]) : -EFAULT;
		if (error)
			break;
	}
	chunk->nr = i;
	chunk->error = error;
}

/* Decide on a request that takes another lock.  Return: as kapf_level_admit(). */
static noinline u16
kapf_submit_decide_apart(struct kapf_session *session,
			 const struct kapf_active_config *config,
			 struct kapf_hold *hold, struct kapf_slot *slot,
			 struct kapf_schema *schema, const struct kapf_op *op,
			 u32 mode)
{
	struct kapf_level *level = schema->level;

	kapf_hold_drop(hold);
	if (level->exempt)
		return kapf_exempt_admit(level, slot, schema, op->watch_count,
					 hold->now);
	return kapf_mode_admit(session, config, slot, op, mode);
}

/*
 * Decide on what was fetched.  The first ones, if they execute, will be told of
 * directly.  Return: how many were decided on: all, or none since the session has
 * ended.
 */
static u32 kapf_submit_decide(struct kapf_batch *batch,
			      struct kapf_ask_chunk *chunk)
{
	struct kapf_session *session = batch->session;
	const struct kapf_active_config *config;
	u32 i, mode, direct, nr = 0;
	struct kapf_hold hold = { };
	bool stale;

	local_bh_disable();
	if (READ_ONCE(session->state) == KAPF_SESSION_ATTACHED)
		nr = chunk->nr;
	config = rcu_dereference_bh(session->instance->config);
	stale = kapf_slot_stale(session, config);
	/* Pairs with SET_MODE: what a mode needs is there. */
	mode = smp_load_acquire(&session->instance->mode);
	hold.now = ktime_get_ns();
	direct = batch->direct ? nr : 0;
	for (i = 0; i < nr; i++) {
		const struct kapf_op *op = &chunk->ops[i];
		struct kapf_slot *slot = chunk->slots[i];
		struct kapf_schema *schema;
		u16 value;

		slot->user_data = op->user_data;
		slot->arrival = hold.now;
		schema = kapf_slot_bind(config, slot, op, stale);
		if (unlikely(!schema))
			value = KAPF_RECLASSIFY;
		else if (likely(!schema->level->exempt &&
				mode == KAPF_MODE_ENFORCE))
			value = kapf_hold_admit(&hold, schema->level, slot,
						schema, op);
		else
			value = kapf_submit_decide_apart(session, config, &hold,
							 slot, schema, op,
							 mode);
		if (likely(value == KAPF_EXECUTE && i < direct)) {
			chunk->events[i] = (struct kapf_event) {
				.user_data = op->user_data,
				.slot = op->slot,
				.level = schema->level->id,
				.verdict = KAPF_EXECUTE,
				.flags = stale ? KAPF_EVENT_STALE : 0,
			};
			atomic_set_release(&slot->state, KAPF_SLOT_EXECUTING);
			continue;
		}
		direct = min(direct, i);
		kapf_hold_drop(&hold);
		if (value)
			kapf_slot_announce(session, slot, value);
	}
	kapf_hold_drop(&hold);
	local_bh_enable();
	chunk->nr_events = direct;
	batch->direct &= direct == nr;
	return nr;
}

/*
 * Copy the events out.  Those that cannot be copied are kept as others are: the
 * next who reads them will be told.
 */
static void kapf_submit_tell(struct kapf_batch *batch,
			     struct kapf_ask_chunk *chunk)
{
	const size_t size = sizeof(chunk->events[0]);
	size_t copied;
	u32 i;

	copied = copy_to_iter(chunk->events, chunk->nr_events * size,
			      &batch->events);
	i = copied / size;
	batch->nr_events += i;
	if (likely(i == chunk->nr_events))
		return;
	iov_iter_revert(&batch->events, copied - i * size);
	batch->direct = false;
	for (; i < chunk->nr_events; i++)
		kapf_slot_keep(batch->session, chunk->slots[i],
			       &chunk->events[i]);
}

/* Take some elements of ops[].  Return: 0 or an error. */
static int kapf_submit_ask(struct kapf_batch *batch)
{
	const struct kapf_op __user *uops =
		u64_to_user_ptr(batch->submit->ops);
	struct kapf_ask_chunk chunk __uninitialized;
	u32 i, decided;
	int ret;

	kapf_submit_fetch(batch->session, &chunk, uops + batch->nr_ops,
			  min_t(u32, batch->submit->nr_ops - batch->nr_ops,
				KAPF_CHUNK));
	decided = kapf_submit_decide(batch, &chunk);
	batch->nr_ops += decided;
	for (i = decided; i < chunk.nr; i++)
		kapf_slot_free(chunk.slots[i], &batch->session->events);
	kapf_submit_tell(batch, &chunk);
	if (decided < chunk.nr)
		return -ESHUTDOWN;
	/* One that could not be fetched is nobody's, and ends the call. */
	if (!chunk.error || !chunk.fetched)
		return chunk.error;
	ret = kapf_submit_error(batch, chunk.error, chunk.ops[chunk.nr].slot,
				chunk.ops[chunk.nr].user_data, 0);
	batch->nr_ops += !ret;
	return ret;
}

/* Between two chunks */
static int kapf_submit_pause(void)
{
	cond_resched();
	return fatal_signal_pending(current) ? -EINTR : 0;
}

static int kapf_submit_take(struct kapf_batch *batch)
{
	const struct kapf_submit *submit = batch->submit;
	int ret = 0;

	while (!ret && batch->nr_finish < submit->nr_finish)
		ret = kapf_submit_pause() ?: kapf_submit_finish(batch);
	for (; !ret && batch->nr_cancel < submit->nr_cancel;
	     batch->nr_cancel += !ret)
		ret = kapf_submit_pause() ?: kapf_submit_cancel(batch);
	/* Errors of elements need room, too. */
	batch->direct = !kapf_events_any(&batch->session->events) &&
			submit->nr_events - batch->nr_events >= submit->nr_ops;
	while (!ret && batch->nr_ops < submit->nr_ops)
		ret = kapf_submit_pause() ?: kapf_submit_ask(batch);
	return ret;
}

/* Write what events there are; wait for min_complete of them until @end. */
static int kapf_submit_gather(struct kapf_batch *batch, ktime_t end)
{
	struct kapf_session *session = batch->session;
	wait_queue_head_t *wait = &session->events.wait;
	ktime_t left = KTIME_MAX;
	ssize_t nr;
	int ret;

	for (;;) {
		nr = kapf_batch_events(session, &batch->events);
		if (nr < 0)
			return nr;
		batch->nr_events += nr;
		if (batch->nr_events >= batch->submit->min_complete)
			return 0;
		if (end != KTIME_MAX)
			left = ktime_sub(end, ktime_get());
		if (left <= 0)
			return 0;
		ret = wait_event_interruptible_hrtimeout(*wait,
							 kapf_batch_readable(session),
							 left);
		if (ret == -ETIME)
			return 0;
		ret = ret ? -EINTR : kapf_session_check(session);
		if (ret)
			return ret;
	}
}

static ktime_t kapf_submit_end(u64 timeout)
{
	if (!timeout)
		return 0;
	if (timeout >= KTIME_MAX)
		return KTIME_MAX;
	return ktime_add_safe(ktime_get(), timeout);
}

/**
 * kapf_submit() - KAPF_SUBMIT
 * @session: of an open file
 * @submit: its argument, in the kernel; in and out
 *
 * Return: as the ABI says.
 */
int kapf_submit(struct kapf_session *session, struct kapf_submit *submit)
{
	void __user *events = u64_to_user_ptr(submit->events);
	size_t room = submit->nr_events * sizeof(struct kapf_event);
	struct kapf_batch batch = {
		.session = session,
		.submit = submit,
	};
	ktime_t end;
	int ret, gathered;

	ret = kapf_session_check(session);
	if (ret)
		return ret;
	if (submit->op_size != sizeof(struct kapf_op) ||
	    submit->event_size != sizeof(struct kapf_event) ||
	    submit->min_complete > submit->nr_events)
		return -EINVAL;
	if (!access_ok(events, room))
		return -EFAULT;
	iov_iter_ubuf(&batch.events, ITER_DEST, events, room);

	end = kapf_submit_end(submit->timeout);
	ret = kapf_submit_take(&batch);
	gathered = kapf_submit_gather(&batch, ret ? 0 : end);
	if (!batch.nr_finish && !batch.nr_cancel && !batch.nr_ops &&
	    !batch.nr_events && (ret || gathered))
		return ret ?: gathered;
	submit->nr_finish = batch.nr_finish;
	submit->nr_cancel = batch.nr_cancel;
	submit->nr_ops = batch.nr_ops;
	submit->nr_events = batch.nr_events;
	return 0;
}

