// SPDX-License-Identifier: GPL-2.0
/*
 * A session: what one process has with one instance.
 *
 * It has a fixed number of slots, each for one request.  A call takes the slot
 * it works on by compare-and-exchange (enum kapf_slot_state), so that calls on
 * different slots share nothing, and two on one slot cannot both go on.
 *
 * The end of a session may meet calls that are under way: a process may close a
 * file that other threads of it are using, while another process has it, too.
 * The state is set to ENDED first, then a grace period passes.  Calls look at the
 * state in the RCU read section in which they act, so that from then on none of
 * them seats, queues or keeps lingering anything, and the end finds each slot in
 * a state that it can undo, or CLAIMED by a call that will undo it itself.  The
 * last close of the file meets nobody and skips the grace period.
 *
 * The memory of a session stays until nobody has the file any more, and so long
 * the session counts as one of its user.
 */

#include <linux/bottom_half.h>
#include <linux/ctype.h>
#include <linux/fdtable.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "config.h"
#include "session.h"

/**
 * kapf_session_check() - may the caller use this session?
 * @session: of an open file
 *
 * Return: 0, -ENOTCONN, -EPERM or -ESHUTDOWN.
 */
int kapf_session_check(const struct kapf_session *session)
{
	/* Pairs with ATTACH: what it made is there. */
	int state = smp_load_acquire(&session->state);

	if (state == KAPF_SESSION_NEW)
		return -ENOTCONN;
	if (session->owner != task_tgid(current))
		return -EPERM;
	return state == KAPF_SESSION_ATTACHED ? 0 : -ESHUTDOWN;
}

static bool kapf_server_name_valid(const char *name)
{
	size_t len = strnlen(name, KAPF_SERVER_BYTES);
	size_t i;

	if (!len || memchr_inv(name + len, 0, KAPF_SERVER_BYTES - len) ||
	    len == KAPF_SERVER_BYTES)
		return false;
	for (i = 0; i < len; i++)
		if (!islower(name[i]) && !isdigit(name[i]) && name[i] != '.' &&
		    name[i] != '-')
			return false;
	return true;
}

static unsigned int kapf_sessions_of(const struct kapf_instance *instance,
				     kuid_t uid)
{
	const struct kapf_session *session;
	unsigned int nr = 0;

	list_for_each_entry(session, &instance->sessions, link)
		nr += uid_eq(session->uid, uid);
	return nr;
}

static int kapf_session_publish(struct kapf_session *session)
{
	struct kapf_instance *instance = session->instance;

	lockdep_assert_held(&instance->sessions_lock);
	if (session->state != KAPF_SESSION_NEW)
		return kapf_session_check(session) ?: -EISCONN;
	session->uid = current_uid();
	if (kapf_sessions_of(instance, session->uid) >= kapf_max_sessions)
		return -EDQUOT;
	session->owner = get_pid(task_tgid(current));
	session->attached = ktime_get_real_ns();
	session->id = ++instance->next_session;
	list_add_tail(&session->link, &instance->sessions);
	instance->nr_sessions++;
	return 0;
}

/**
 * kapf_session_attach() - KAPF_ATTACH
 * @session: of an open file
 * @attach: its argument, in the kernel; in and out
 *
 * Return: as the ABI says.
 */
int kapf_session_attach(struct kapf_session *session,
			struct kapf_attach *attach)
{
	struct kapf_instance *instance = session->instance;
	u32 stride = ALIGN(sizeof(struct kapf_label) + attach->label_bytes, 8);
	struct kapf_slot *slots;
	void *labels;
	int ret;

	if (!attach->slots || attach->slots > kapf_max_inflight ||
	    attach->label_bytes > KAPF_MAX_LABEL_BYTES || attach->reserved ||
	    !kapf_server_name_valid(attach->server))
		return -EINVAL;
	if (READ_ONCE(session->state) != KAPF_SESSION_NEW)
		return kapf_session_check(session) ?: -EISCONN;

	slots = kvcalloc(attach->slots, sizeof(*slots), KAPF_GFP);
	labels = kvcalloc(attach->slots, stride, KAPF_GFP);
	ret = -ENOMEM;
	if (!slots || !labels)
		goto free;

	mutex_lock(&instance->sessions_lock);
	ret = kapf_session_publish(session);
	if (!ret) {
		session->nr_slots = attach->slots;
		session->slots = slots;
		session->label_bytes = attach->label_bytes;
		session->label_stride = stride;
		session->labels = labels;
		memcpy(session->server, attach->server, KAPF_SERVER_BYTES);
		attach->session = session->id;
		/* Pairs with kapf_session_check(). */
		smp_store_release(&session->state, KAPF_SESSION_ATTACHED);
	}
	mutex_unlock(&instance->sessions_lock);
	if (!ret)
		return 0;
free:
	kvfree(slots);
	kvfree(labels);
	return ret;
}

static struct kapf_slot *kapf_session_slot(const struct kapf_session *session,
					   unsigned long slot)
{
	if (slot >= session->nr_slots)
		return NULL;
	return &session->slots[array_index_nospec(slot, session->nr_slots)];
}

static bool kapf_slot_move(struct kapf_slot *slot, enum kapf_slot_state from,
			   enum kapf_slot_state to)
{
	return atomic_cmpxchg(&slot->state, from, to) == from;
}

static bool kapf_op_valid(const struct kapf_op *op)
{
	const u8 flags = KAPF_OP_MUTATING | KAPF_OP_WATCH | KAPF_OP_NOQUEUE;

	return op->opcode == KAPF_OP_ADMIT && !(op->flags & ~flags) &&
	       op->initial_seats && op->initial_seats <= KAPF_MAX_WIDTH &&
	       op->final_seats <= KAPF_MAX_WIDTH && !op->parent &&
	       op->additional_latency <= KAPF_MAX_ADDITIONAL_LATENCY_NS &&
	       op->max_wait <= KAPF_MAX_WAIT_NS;
}

static int kapf_session_copy_label(const struct kapf_session *session,
				   const struct kapf_op *op)
{
	struct kapf_label *label = kapf_session_label(session, op->slot);
	u32 len = min_t(u32, op->label_len, session->label_bytes);

	if (copy_from_user(label->text, u64_to_user_ptr(op->label), len))
		return -EFAULT;
	label->len = len;
	return 0;
}

/*
 * Wait for the decision on a request that was queued.  A slot that is in
 * neither of the states that a decision leaves it in has been taken by the end
 * of the session.
 */
static long kapf_session_wait(struct kapf_slot *slot)
{
	bool cancelled;
	long ret;

	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (atomic_read(&slot->state) != KAPF_SLOT_WAITING)
			break;
		if (!signal_pending(current)) {
			schedule();
			continue;
		}
		__set_current_state(TASK_RUNNING);
		local_bh_disable();
		/* Waiting, its schema is there until this section ends. */
		cancelled = atomic_read(&slot->state) == KAPF_SLOT_WAITING &&
			    kapf_level_cancel(slot->schema->level, slot);
		local_bh_enable();
		if (cancelled)
			return -EINTR;
	}
	__set_current_state(TASK_RUNNING);

	if (kapf_slot_move(slot, KAPF_SLOT_GRANTED, KAPF_SLOT_EXECUTING))
		return KAPF_EXECUTE;
	if (atomic_read_acquire(&slot->state) != KAPF_SLOT_REFUSED)
		return -ESHUTDOWN;
	ret = slot->refusal;
	atomic_set_release(&slot->state, KAPF_SLOT_FREE);
	return ret;
}

/* Decide on the request of a claimed slot; within an RCU read section. */
static long kapf_session_decide(struct kapf_session *session,
				const struct kapf_active_config *config,
				struct kapf_slot *slot,
				const struct kapf_op *op)
{
	struct kapf_schema *schema;

	if (READ_ONCE(session->state) != KAPF_SESSION_ATTACHED)
		return -ESHUTDOWN;
	schema = kapf_config_schema(config, op->schema);
	if (!schema || !schema->level)
		return KAPF_RECLASSIFY;
	slot->schema = schema;
	slot->flags = op->flags;
	slot->request.initial_seats = op->initial_seats;
	slot->request.final_seats = op->final_seats;
	slot->request.additional_latency = op->additional_latency;
	return kapf_level_admit(schema->level, slot, op->flow_hash,
				op->max_wait ?: KAPF_DEFAULT_WAIT_NS);
}

/*
 * The configuration, and an RCU read section in which it stays.  Bottom halves
 * are off for the level's lock anyway.
 */
static const struct kapf_active_config *
kapf_session_config(struct kapf_session *session)
{
	const struct kapf_active_config *config;

	for (;;) {
		local_bh_disable();
		config = rcu_dereference_bh(session->instance->config);
		if (config)
			return config;
		local_bh_enable();
		if (kapf_config_settle(session->instance))
			return NULL;
	}
}

/**
 * kapf_session_admit() - KAPF_ADMIT
 * @session: of an open file
 * @uop: its argument
 *
 * Return: as the ABI says.
 */
long kapf_session_admit(struct kapf_session *session,
			const struct kapf_op __user *uop)
{
	const struct kapf_active_config *config;
	struct kapf_op op __uninitialized;
	struct kapf_slot *slot;
	long stale = 0;
	long ret;

	ret = kapf_session_check(session);
	if (ret)
		return ret;
	if (copy_from_user(&op, uop, sizeof(op)))
		return -EFAULT;
	slot = kapf_session_slot(session, op.slot);
	if (!slot || !kapf_op_valid(&op))
		return -EINVAL;
	if (!kapf_slot_move(slot, KAPF_SLOT_FREE, KAPF_SLOT_CLAIMED))
		return -EBUSY;
	ret = kapf_session_copy_label(session, &op);
	if (ret)
		goto free;

	ret = -EINTR;
	config = kapf_session_config(session);
	if (!config)
		goto free;
	if (READ_ONCE(session->generation) != config->generation)
		stale = KAPF_STALE;
	ret = kapf_session_decide(session, config, slot, &op);
	local_bh_enable();

	if (!ret)
		ret = kapf_session_wait(slot);
	else if (ret != KAPF_EXECUTE)
		atomic_set_release(&slot->state, KAPF_SLOT_FREE);
	return ret < 0 ? ret : ret | stale;
free:
	atomic_set_release(&slot->state, KAPF_SLOT_FREE);
	return ret;
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

/* FINISH, or what the end of the session does in its place. */
static u64 kapf_slot_finish(struct kapf_session *session,
			    struct kapf_slot *slot)
{
	u64 latency;
	bool linger;

	local_bh_disable();
	linger = READ_ONCE(session->state) == KAPF_SESSION_ATTACHED;
	latency = kapf_level_finish(slot->schema->level, slot, linger);
	local_bh_enable();
	return latency;
}

/**
 * kapf_session_finish() - KAPF_FINISH
 * @session: of an open file
 * @index: of the slot
 *
 * Return: as the ABI says.
 */
long kapf_session_finish(struct kapf_session *session, unsigned long index)
{
	struct kapf_slot *slot;
	int ret;

	ret = kapf_session_check(session);
	if (ret)
		return ret;
	slot = kapf_session_slot(session, index);
	if (!slot)
		return -EINVAL;
	if (!kapf_slot_move(slot, KAPF_SLOT_EXECUTING, KAPF_SLOT_CLAIMED)) {
		ret = kapf_slot_unfinishable(slot);
		/* The end of the session may have finished it just now. */
		return kapf_session_check(session) ?: ret;
	}
	return DIV_ROUND_UP_ULL(kapf_slot_finish(session, slot), NSEC_PER_MSEC);
}

/* Give back what a slot holds, whatever its state. */
static void kapf_slot_end(struct kapf_session *session, struct kapf_slot *slot)
{
	for (;;) {
		switch (atomic_read_acquire(&slot->state)) {
		case KAPF_SLOT_WAITING:
			local_bh_disable();
			if (atomic_read(&slot->state) == KAPF_SLOT_WAITING)
				kapf_level_cancel(slot->schema->level, slot);
			local_bh_enable();
			break;
		case KAPF_SLOT_GRANTED:
			kapf_slot_move(slot, KAPF_SLOT_GRANTED,
				       KAPF_SLOT_EXECUTING);
			break;
		case KAPF_SLOT_EXECUTING:
			if (kapf_slot_move(slot, KAPF_SLOT_EXECUTING,
					   KAPF_SLOT_CLAIMED))
				kapf_slot_finish(session, slot);
			break;
		case KAPF_SLOT_LINGERING:
			local_bh_disable();
			if (atomic_read(&slot->state) == KAPF_SLOT_LINGERING)
				kapf_level_release(slot->schema->level, slot);
			local_bh_enable();
			break;
		default:
			return;
		}
	}
}

/**
 * kapf_session_end() - give back everything that a session holds
 * @session: of an open file
 * @last: nobody else can use the file any more
 */
static void kapf_session_end(struct kapf_session *session, bool last)
{
	struct kapf_instance *instance = session->instance;
	bool attached;
	u32 i;

	mutex_lock(&instance->sessions_lock);
	attached = session->state == KAPF_SESSION_ATTACHED;
	if (attached) {
		WRITE_ONCE(session->state, KAPF_SESSION_ENDED);
		instance->nr_sessions--;
	}
	mutex_unlock(&instance->sessions_lock);
	if (!attached)
		return;

	/* Not expedited: anybody can have this done again and again. */
	if (!last)
		synchronize_rcu();
	for (i = 0; i < session->nr_slots; i++) {
		kapf_slot_end(session, &session->slots[i]);
		cond_resched();
	}
}

static int kapf_is_file(const void *file, struct file *candidate,
			unsigned int fd)
{
	return candidate == file;
}

/* Can a thread of the process still reach the file by a descriptor? */
static bool kapf_process_has(struct pid *process, const struct file *file)
{
	const struct files_struct *scanned = NULL;
	struct task_struct *leader, *thread;
	bool has = false;

	rcu_read_lock();
	leader = pid_task(process, PIDTYPE_TGID);
	if (!leader)
		goto unlock;
	for_each_thread(leader, thread) {
		task_lock(thread);
		/* Most threads share one table. */
		if (thread->files && thread->files != scanned) {
			has = iterate_fd(thread->files, 0, kapf_is_file, file);
			scanned = thread->files;
		}
		task_unlock(thread);
		if (has)
			break;
	}
unlock:
	rcu_read_unlock();
	return has;
}

/**
 * kapf_session_end_orphan() - end a session whose process has let go of the file
 * @session: of the file
 * @file: the file, of which a descriptor may have been closed
 *
 * By close, exec or exit, even if other processes still have it.  It may also be
 * another process that closes the descriptor, in a table that both share.  Where
 * nobody has the file any more, the release follows at once and does the same
 * for less.
 */
void kapf_session_end_orphan(struct kapf_session *session, struct file *file)
{
	/* Pairs with ATTACH: what it made is there. */
	if (smp_load_acquire(&session->state) == KAPF_SESSION_ATTACHED &&
	    file_count(file) > 1 && !kapf_process_has(session->owner, file))
		kapf_session_end(session, false);
}

/**
 * kapf_session_next() - walk over the attached sessions
 * @instance: that they belong to; its sessions_lock is held
 * @id: least number
 *
 * Return: the session of this number or the next one; NULL: there is none.
 */
struct kapf_session *kapf_session_next(struct kapf_instance *instance, u64 id)
{
	struct kapf_session *session;

	lockdep_assert_held(&instance->sessions_lock);
	list_for_each_entry(session, &instance->sessions, link)
		if (session->id >= id &&
		    session->state == KAPF_SESSION_ATTACHED)
			return session;
	return NULL;
}

/**
 * kapf_session_create() - a session that is not attached
 * @instance: that it belongs to
 *
 * Return: NULL when memory is short.
 */
struct kapf_session *kapf_session_create(struct kapf_instance *instance)
{
	struct kapf_session *session = kzalloc(sizeof(*session),
					       KAPF_GFP);

	if (session)
		session->instance = instance;
	return session;
}

/**
 * kapf_session_destroy() - end a session, and free it
 * @session: whose file nobody has any more
 */
void kapf_session_destroy(struct kapf_session *session)
{
	kapf_session_end(session, true);
	if (session->state != KAPF_SESSION_NEW) {
		mutex_lock(&session->instance->sessions_lock);
		list_del(&session->link);
		mutex_unlock(&session->instance->sessions_lock);
	}
	put_pid(session->owner);
	kvfree(session->slots);
	kvfree(session->labels);
	kfree(session);
}
