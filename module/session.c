// SPDX-License-Identifier: GPL-2.0
/*
 * A session: what one process has with one instance, from ATTACH to its end.
 *
 * The end of a session may meet calls that are under way: a process may close a
 * file that other threads of it are using, while another process has it, too.
 * The state is set to ENDED first, then a grace period passes.  Calls look at the
 * state in the RCU read section in which they act, so that from then on none of
 * them seats or queues anything, or takes a slot that holds seats, and the end
 * finds each slot in a state that it can undo, or without seats in the hands of a
 * call that frees it.  The last close of the file meets nobody and skips the
 * grace period.
 *
 * An EVICT ends a session without having its file.  It finds and stops the session
 * in one hold of sessions_lock, so that one task alone gives back what it holds,
 * and all others who want it ended wait for that task.
 *
 * The memory of a session stays until nobody has the file any more, and so long
 * the session counts as one of its user.
 */

#include <linux/completion.h>
#include <linux/cred.h>
#include <linux/ctype.h>
#include <linux/fdtable.h>
#include <linux/ktime.h>
#include <linux/printk.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "config.h"
#include "mode.h"
#include "session.h"
#include "slot.h"
#include "trace.h"

/**
 * kapf_session_refusal() - why may the caller not use this session?
 * @session: for which kapf_session_usable() was false
 *
 * Return: -ENOTCONN, -EPERM or -ESHUTDOWN; 0: it may now.
 */
int kapf_session_refusal(const struct kapf_session *session)
{
	/* Pairs with ATTACH: what it made is there. */
	int state = smp_load_acquire(&session->state);

	if (state == KAPF_SESSION_NEW)
		return -ENOTCONN;
	if (session->owner != task_tgid(current))
		return -EPERM;
	return state == KAPF_SESSION_ATTACHED ? 0 : -ESHUTDOWN;
}

/* Of a server, or of a tenant. */
static bool kapf_name_valid(const char *name, size_t size)
{
	size_t len = strnlen(name, size);
	size_t i;

	if (len == size || memchr_inv(name + len, 0, size - len))
		return false;
	for (i = 0; i < len; i++)
		if (!islower(name[i]) && !isdigit(name[i]) && name[i] != '.' &&
		    name[i] != '-')
			return false;
	return true;
}

static bool kapf_attach_valid(const struct kapf_attach *attach)
{
	return attach->slots && attach->slots <= kapf_max_inflight &&
	       attach->label_bytes <= KAPF_MAX_LABEL_BYTES &&
	       !attach->reserved && attach->server[0] &&
	       kapf_name_valid(attach->server, sizeof(attach->server)) &&
	       kapf_name_valid(attach->tenant, sizeof(attach->tenant));
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

static int kapf_session_publish(struct kapf_session *session,
				const struct kapf_slot *shadows)
{
	struct kapf_instance *instance = session->instance;

	lockdep_assert_held(&instance->sessions_lock);
	if (session->state != KAPF_SESSION_NEW)
		return kapf_session_check(session) ?: -EISCONN;
	if (instance->mode == KAPF_MODE_OBSERVE && !shadows)
		return -EAGAIN;
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

/* -EAGAIN: the mode has changed meanwhile. */
static int kapf_session_try_attach(struct kapf_session *session,
				   struct kapf_attach *attach)
{
	struct kapf_instance *instance = session->instance;
	u32 stride = ALIGN(sizeof(struct kapf_label) + attach->label_bytes, 8);
	bool observe = READ_ONCE(instance->mode) == KAPF_MODE_OBSERVE;
	struct kapf_slot *slots, *shadows = NULL;
	void *labels;
	int ret;
	u32 i;

	slots = kvcalloc(attach->slots, sizeof(*slots), KAPF_GFP);
	labels = kvcalloc(attach->slots, stride, KAPF_GFP);
	if (observe)
		shadows = kvcalloc(attach->slots, sizeof(*shadows), KAPF_GFP);
	ret = -ENOMEM;
	if (!slots || !labels || (observe && !shadows))
		goto free;
	for (i = 0; i < attach->slots; i++)
		slots[i].events = &session->events;

	mutex_lock(&instance->sessions_lock);
	ret = kapf_session_publish(session, shadows);
	if (!ret) {
		session->nr_slots = attach->slots;
		session->slots = slots;
		session->shadows = shadows;
		session->label_bytes = attach->label_bytes;
		session->label_stride = stride;
		session->labels = labels;
		memcpy(session->server, attach->server, KAPF_SERVER_BYTES);
		memcpy(session->tenant, attach->tenant, KAPF_TENANT_BYTES);
		attach->session = session->id;
		/* Pairs with kapf_session_usable(). */
		smp_store_release(&session->state, KAPF_SESSION_ATTACHED);
	}
	mutex_unlock(&instance->sessions_lock);
	if (!ret)
		return 0;
free:
	kvfree(slots);
	kvfree(shadows);
	kvfree(labels);
	return ret;
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
	int ret;

	if (!kapf_attach_valid(attach))
		return -EINVAL;
	if (READ_ONCE(session->state) != KAPF_SESSION_NEW)
		return kapf_session_check(session) ?: -EISCONN;
	do {
		ret = kapf_session_try_attach(session, attach);
	} while (ret == -EAGAIN);
	return ret;
}

/*
 * From here on the session gives nothing out any more.  Return: whether it did
 * until now; then the caller gives back what it holds.
 */
static bool kapf_session_stop(struct kapf_session *session)
{
	struct kapf_instance *instance = session->instance;

	lockdep_assert_held(&instance->sessions_lock);
	if (session->state != KAPF_SESSION_ATTACHED)
		return false;
	WRITE_ONCE(session->state, KAPF_SESSION_ENDED);
	instance->nr_sessions--;
	return true;
}

/*
 * Give back everything that a stopped session holds, and say in @evicted what that
 * was.  @last: see kapf_session_end().
 */
static void kapf_session_give_back(struct kapf_session *session, bool last,
				   struct kapf_evict *evicted)
{
	u32 i, width;

	/* Not expedited: anybody can have this done again and again. */
	if (!last)
		synchronize_rcu();
	/* First, or its own waiting requests would get the seats of the others. */
	for (i = 0; i < session->nr_slots; i++) {
		evicted->waiting += kapf_slot_dequeue(&session->slots[i]);
		cond_resched();
	}
	for (i = 0; i < session->nr_slots; i++) {
		width = kapf_slot_end(session, &session->slots[i]);
		evicted->requests += !!width;
		evicted->seats += width;
		cond_resched();
	}
	kapf_mode_end(session);
	trace_kapf_session_end(session, evicted->requests, evicted->seats);
	if (evicted->requests)
		pr_info_ratelimited("kapf%u: session %llu of server %s ended with %u requests that held %llu seats\n",
				    session->instance->number, session->id,
				    session->server, evicted->requests,
				    evicted->seats);
	/* Readers learn of it, too; all of them, exclusive ones as well. */
	wake_up_interruptible_all(&session->events.wait);
	/* It may be freed from here on. */
	complete_all(&session->ended);
}

/**
 * kapf_session_end() - let a session hold nothing any more
 * @session: of an open file
 * @last: nobody else can use the file any more
 *
 * Where another task is ending it, wait until that is done: the caller may free
 * the session, or let its process go, of which nothing may be left then.
 */
static void kapf_session_end(struct kapf_session *session, bool last)
{
	struct kapf_instance *instance = session->instance;
	struct kapf_evict evicted = {};
	bool stopped;

	mutex_lock(&instance->sessions_lock);
	stopped = kapf_session_stop(session);
	mutex_unlock(&instance->sessions_lock);
	if (stopped)
		kapf_session_give_back(session, last, &evicted);
	else if (session->state == KAPF_SESSION_ENDED)
		wait_for_completion(&session->ended);
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
	if (smp_load_acquire(&session->state) != KAPF_SESSION_NEW &&
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
 * kapf_session_evict() - KAPF_EVICT
 * @instance: that the session belongs to
 * @evict: its argument, in the kernel; in and out
 *
 * The file may be released meanwhile: that waits in kapf_session_end().
 *
 * Return: as the ABI says.
 */
int kapf_session_evict(struct kapf_instance *instance, struct kapf_evict *evict)
{
	struct kapf_session *session;
	int ret;

	if (evict->reserved)
		return -EINVAL;
	ret = mutex_lock_interruptible(&instance->sessions_lock);
	if (ret)
		return ret;
	session = kapf_session_next(instance, evict->session);
	if (session && session->id == evict->session)
		kapf_session_stop(session);
	else
		session = NULL;
	mutex_unlock(&instance->sessions_lock);
	if (!session)
		return -ENOENT;

	pr_info_ratelimited("kapf%u: session %llu of server %s evicted by process %d (%*pEp), user %u\n",
			    instance->number, session->id, session->server,
			    task_tgid_nr(current), (int)strlen(current->comm),
			    current->comm,
			    from_kuid(&init_user_ns, current_uid()));
	evict->requests = 0;
	evict->waiting = 0;
	evict->seats = 0;
	kapf_session_give_back(session, false, evict);
	return 0;
}

/**
 * kapf_session_tell_all() - the configuration is another one now
 * @instance: whose sessions are to be told
 */
void kapf_session_tell_all(struct kapf_instance *instance)
{
	struct kapf_session *session;

	mutex_lock(&instance->sessions_lock);
	list_for_each_entry(session, &instance->sessions, link)
		/* Not for EPOLLPRI alone: io_uring's poll takes no such key. */
		wake_up_interruptible_all(&session->events.wait);
	mutex_unlock(&instance->sessions_lock);
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

	if (session) {
		session->instance = instance;
		kapf_events_init(&session->events);
		init_completion(&session->ended);
	}
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
		/* Timers may be about to wake its readers. */
		synchronize_rcu();
	}
	kapf_events_destroy(&session->events);
	put_pid(session->owner);
	kvfree(session->slots);
	kvfree(session->shadows);
	kvfree(session->labels);
	kfree(session);
}
