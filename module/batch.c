// SPDX-License-Identifier: GPL-2.0
/*
 * The ways in for servers that do not sleep for one request: write, read and poll;
 * SUBMIT is in submit.c.
 *
 * An event is copied to the user first, and only then does its slot move on, so
 * that one whose copy faults can be read again.  Meanwhile its node is in nobody
 * else's hands, and the slot cannot be used for another request.
 */

#include <linux/ktime.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "batch.h"
#include "config.h"
#include "slot.h"

/* Events copied at once. */
#define KAPF_BATCH_EVENTS 16

static struct kapf_slot *kapf_event_slot(struct llist_node *node)
{
	return llist_entry(node, struct kapf_slot, event);
}

/*
 * Copy some events out, as many as fit and a few at most.  Return: how many; 0:
 * there are none; or an error.
 */
static int kapf_batch_some(struct kapf_session *session, struct iov_iter *to)
{
	struct kapf_event events[KAPF_BATCH_EVENTS] __uninitialized;
	struct llist_node *nodes[KAPF_BATCH_EVENTS];
	const size_t size = sizeof(events[0]);
	unsigned int nr, done;
	size_t copied;

	nr = min_t(size_t, iov_iter_count(to) / size, KAPF_BATCH_EVENTS);
	nr = kapf_events_take(&session->events, nodes, nr);
	for (done = 0; done < nr; done++)
		if (!kapf_slot_read(session, kapf_event_slot(nodes[done]),
				    &events[done]))
			return -ESHUTDOWN;
	copied = copy_to_iter(events, nr * size, to);
	for (done = 0; done < copied / size; done++)
		if (!kapf_slot_was_read(kapf_event_slot(nodes[done]),
					&events[done]))
			break;
	iov_iter_revert(to, copied - done * size);
	kapf_events_put_back(&session->events, nodes + done, nr - done);
	return nr && copied < size ? -EFAULT : done;
}

/**
 * kapf_batch_events() - copy out what is there and fits
 * @session: attached
 * @to: where to
 *
 * Return: the number of events, or an error.
 */
ssize_t kapf_batch_events(struct kapf_session *session, struct iov_iter *to)
{
	ssize_t nr = 0;
	int ret;

	while (iov_iter_count(to) >= sizeof(struct kapf_event) &&
	       kapf_events_any(&session->events)) {
		ret = kapf_batch_some(session, to);
		if (ret < 0)
			return nr ?: ret;
		nr += ret;
		if (fatal_signal_pending(current))
			break;
		cond_resched();
	}
	return nr;
}

/**
 * kapf_batch_readable() - is there anything that a reader is to know?
 * @session: attached
 */
bool kapf_batch_readable(const struct kapf_session *session)
{
	return kapf_events_any(&session->events) ||
	       READ_ONCE(session->state) == KAPF_SESSION_ENDED;
}

/**
 * kapf_batch_read() - read(2)
 * @session: of an open file
 * @to: where to
 * @wait: the file has no O_NONBLOCK
 *
 * Return: as the ABI says.
 */
ssize_t kapf_batch_read(struct kapf_session *session, struct iov_iter *to,
			bool wait)
{
	ssize_t nr;
	int ret;

	for (;;) {
		ret = kapf_session_check(session);
		if (ret)
			return ret;
		if (iov_iter_count(to) < sizeof(struct kapf_event))
			return -EINVAL;
		nr = kapf_batch_events(session, to);
		if (nr)
			return nr < 0 ? nr : nr * sizeof(struct kapf_event);
		if (!wait)
			return -EAGAIN;
		ret = wait_event_interruptible(session->events.wait,
					       kapf_batch_readable(session));
		if (ret)
			return ret;
	}
}

/* An op that is only an opcode and a slot. */
static long kapf_batch_slot_op(struct kapf_session *session,
			       const struct kapf_op *op)
{
	const struct kapf_op plain = { .opcode = op->opcode, .slot = op->slot };
	long ret;

	if (memcmp(op, &plain, sizeof(plain)))
		return -EINVAL;
	if (op->opcode == KAPF_OP_CANCEL)
		return kapf_slot_cancel(session, op->slot);
	ret = kapf_slot_finish(session, op->slot);
	return min(ret, 0L);
}

static int kapf_batch_admit(struct kapf_session *session, struct kapf_op *op,
			    struct iov_iter *from)
{
	u32 len = min_t(u32, op->label_len, session->label_bytes);
	struct kapf_label *label;
	struct kapf_slot *slot;
	int ret;

	op->flags |= KAPF_OP_NOWAIT;
	ret = kapf_slot_claim(session, op, &slot);
	if (ret)
		return ret;
	label = kapf_session_label(session, op->slot);
	if (copy_from_iter(label->text, len, from) != len) {
		kapf_slot_free(slot, &session->events);
		return -EFAULT;
	}
	label->len = len;
	return kapf_slot_submit(session, slot, op);
}

/* Take one op, with its label. */
static long kapf_batch_op(struct kapf_session *session, struct iov_iter *from)
{
	struct kapf_op op __uninitialized;
	size_t left = iov_iter_count(from);
	size_t padded;
	long ret;

	if (left < sizeof(op))
		return -EINVAL;
	if (!copy_from_iter_full(&op, sizeof(op), from))
		return -EFAULT;
	if (op.opcode == KAPF_OP_FINISH || op.opcode == KAPF_OP_CANCEL)
		return kapf_batch_slot_op(session, &op);
	padded = sizeof(op) + ALIGN(op.label_len, 8);
	if (left < padded || op.label)
		return -EINVAL;
	ret = kapf_batch_admit(session, &op, from);
	if (!ret)
		iov_iter_advance(from, iov_iter_count(from) - (left - padded));
	return ret;
}

/**
 * kapf_batch_write() - write(2)
 * @session: of an open file
 * @from: ops
 *
 * Return: as the ABI says.
 */
ssize_t kapf_batch_write(struct kapf_session *session, struct iov_iter *from)
{
	size_t all = iov_iter_count(from);
	size_t left = all;
	long ret;

	ret = kapf_session_check(session);
	while (!ret && left) {
		ret = kapf_batch_op(session, from);
		if (ret)
			iov_iter_revert(from, left - iov_iter_count(from));
		else if (fatal_signal_pending(current))
			ret = -EINTR;
		left = iov_iter_count(from);
		cond_resched();
	}
	return all - left ?: ret;
}

static bool kapf_batch_outdated(const struct kapf_session *session)
{
	return READ_ONCE(session->instance->generation) !=
	       READ_ONCE(session->generation);
}

/* Is a slot free?  If not, whoever frees one is to wake the pollers. */
static bool kapf_batch_writable(struct kapf_session *session)
{
	struct kapf_events *events = &session->events;
	u32 found = kapf_slot_find_free(session, session->free_hint);

	if (found == session->nr_slots) {
		WRITE_ONCE(events->slot_wanted, true);
		smp_mb(); /* Pairs with kapf_slot_set_free(). */
		found = kapf_slot_find_free(session, 0);
	}
	if (found == session->nr_slots)
		return false;
	WRITE_ONCE(session->free_hint, found);
	return true;
}

/**
 * kapf_batch_poll() - poll(2)
 * @session: of an open file
 * @file: the file
 * @table: of the caller
 *
 * Return: as the ABI says.
 */
__poll_t kapf_batch_poll(struct kapf_session *session, struct file *file,
			 struct poll_table_struct *table)
{
	__poll_t mask = 0;

	poll_wait(file, &session->events.wait, table);
	switch (kapf_session_check(session)) {
	case 0:
		break;
	case -ESHUTDOWN:
		return EPOLLHUP | EPOLLERR;
	default:
		return EPOLLERR;
	}
	if (kapf_events_any(&session->events))
		mask |= EPOLLIN | EPOLLRDNORM;
	/* It takes a search, and costs who frees a slot a wake-up. */
	if (poll_requested_events(table) & (EPOLLOUT | EPOLLWRNORM) &&
	    kapf_batch_writable(session))
		mask |= EPOLLOUT | EPOLLWRNORM;
	if (kapf_batch_outdated(session))
		mask |= EPOLLPRI;
	return mask;
}
