// SPDX-License-Identifier: GPL-2.0
/*
 * What can be seen from outside: requests, sessions, queues; statistics are in
 * stats.c.
 *
 * Everything is first gathered in kernel memory, in pieces of a bounded size,
 * and copied to the user when no lock is held any more.  Nothing here costs the
 * admit and finish paths anything but what they count.
 */

#include <linux/cred.h>
#include <linux/ktime.h>
#include <linux/nospec.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <linux/uidgid.h>

#include "config.h"
#include "snapshot.h"

/* Memory for one piece, and slots looked at for it under sessions_lock. */
#define KAPF_PIECE_BYTES (64 * 1024)
#define KAPF_PIECE_SLOTS 4096
#define KAPF_PIECE_QUEUES 256

/**
 * kapf_stride_valid() - can a caller's elements be so long?
 * @stride: of the caller
 * @size: of ours; longer ones end in zeros
 */
bool kapf_stride_valid(u32 stride, size_t size)
{
	return stride >= size && stride <= KAPF_PIECE_BYTES;
}

/* One element for a caller whose elements may be longer than ours. */
static int kapf_put_element(u64 array, u32 index, u32 stride,
			    const void *element, size_t size)
{
	void __user *to = u64_to_user_ptr(array + (u64)index * stride);

	if (copy_to_user(to, element, min_t(size_t, size, stride)))
		return -EFAULT;
	if (stride > size && clear_user(to + size, stride - size))
		return -EFAULT;
	return 0;
}

/**
 * kapf_put_array() - give elements to a caller
 * @array: the caller's
 * @nr: how many
 * @stride: of the caller's elements, which may be longer than ours
 * @elements: ours
 * @size: of each
 *
 * Return: 0, -EFAULT or -EINTR.
 */
int kapf_put_array(u64 array, u32 nr, u32 stride, const void *elements,
		   size_t size)
{
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < nr; i++) {
		if (fatal_signal_pending(current))
			return -EINTR;
		ret = kapf_put_element(array, i, stride, elements + i * size,
				       size);
		cond_resched();
	}
	return ret;
}

/**
 * kapf_snapshot_pieces() - gather elements and copy them, piece by piece
 * @instance: that is looked into
 * @pieces: of what
 * @get: argument of the call, for @pieces
 * @nr: in: room for elements; out: how many were written
 * @generation: out: of the configuration
 *
 * Return: as the ABI says.
 */
int kapf_snapshot_pieces(struct kapf_instance *instance,
			 const struct kapf_pieces *pieces, void *get, u32 *nr,
			 u64 *generation)
{
	u32 piece = 1, wanted = *nr;
	void *elements;
	int ret = 0;

	if (!kapf_stride_valid(pieces->stride, pieces->size))
		return -EINVAL;
	elements = kvmalloc_array(pieces->room, pieces->size, KAPF_GFP);
	if (!elements)
		return -ENOMEM;
	for (*nr = 0; !ret && piece && *nr < wanted; *nr += piece) {
		ret = mutex_lock_interruptible(&instance->config_lock);
		if (ret)
			break;
		*generation = kapf_config_locked(instance)->generation;
		piece = pieces->read(instance, get, elements,
				     min(wanted - *nr, pieces->room));
		mutex_unlock(&instance->config_lock);
		ret = kapf_put_array(pieces->array + (u64)*nr * pieces->stride,
				     piece, pieces->stride, elements,
				     pieces->size);
	}
	kvfree(elements);
	return ret;
}

/**
 * kapf_level_at() - the level at a place: of the configuration, then of those
 *	that drain
 * @instance: that is looked into; its config_lock is held
 * @place: from 0
 *
 * Return: NULL: there are not so many.
 */
struct kapf_level *kapf_level_at(struct kapf_instance *instance, u32 place)
{
	const struct kapf_active_config *config = kapf_config_locked(instance);
	struct kapf_level *level;

	if (place < config->nr_levels)
		return config->levels[array_index_nospec(place,
							 KAPF_MAX_LEVELS)];
	place -= config->nr_levels;
	list_for_each_entry(level, &instance->levels, link)
		if (level->draining && !place--)
			return level;
	return NULL;
}

/* CLOCK_REALTIME of a moment of CLOCK_MONOTONIC. */
static u64 kapf_real_time(u64 monotonic)
{
	return ktime_to_ns(ktime_mono_to_real(ns_to_ktime(monotonic)));
}

static u32 kapf_request_state(const struct kapf_slot *slot)
{
	switch (atomic_read_acquire(&slot->state)) {
	case KAPF_SLOT_WAITING:
		return KAPF_REQUEST_WAITING;
	case KAPF_SLOT_GRANTED:
	case KAPF_SLOT_EXECUTING:
		return KAPF_REQUEST_EXECUTING;
	case KAPF_SLOT_LINGERING:
		return KAPF_REQUEST_LINGERING;
	default:
		return 0;
	}
}

static void kapf_copy_slot(const struct kapf_slot *slot,
			   const struct kapf_schema *schema,
			   struct kapf_request_info *info)
{
	const struct kapf_level *level = schema->level;
	const struct kapf_request *req = &slot->request;

	info->state = kapf_request_state(slot);
	info->level = level->id;
	info->schema = schema->id;
	info->queue = req->queue; /* KAPF_NO_QUEUE is -1 there */
	if (req->queue != KAPF_NO_QUEUE)
		info->queue_position = req->position;
	info->initial_seats = req->initial_seats;
	info->final_seats = req->final_seats;
	info->flags = slot->flags & (KAPF_SLOT_STALE - 1);
	info->additional_latency = req->additional_latency;
	info->arrival = kapf_real_time(slot->arrival);
	if (info->state != KAPF_REQUEST_WAITING)
		info->start = kapf_real_time(req->start);
}

static void kapf_copy_label(const struct kapf_session *session, u32 slot,
			    struct kapf_request_info *info, u32 room)
{
	const struct kapf_label *label = kapf_session_label(session, slot);

	info->label_len = min_t(u32, READ_ONCE(label->len), room);
	memcpy(info + 1, label->text, info->label_len);
}

/*
 * The request in a slot, if it is in flight.  With config_lock held its schema
 * and level stay.  Under the level's lock a limited request that is in flight
 * cannot be replaced by another one; an exempt one can, which its arrival tells.
 */
static bool kapf_read_slot(const struct kapf_session *session, u32 index,
			   struct kapf_request_info *info, u32 label_room)
{
	const struct kapf_slot *slot = &session->slots[index];
	struct kapf_schema *schema;
	u64 arrival;
	bool same;

	if (!kapf_request_state(slot))
		return false;
	schema = READ_ONCE(slot->schema);
	memset(info, 0, sizeof(*info) + label_room);
	info->session = session->id;
	info->slot = index;

	spin_lock_bh(&schema->level->lock);
	arrival = READ_ONCE(slot->arrival);
	same = kapf_request_state(slot) && READ_ONCE(slot->schema) == schema;
	if (same) {
		kapf_copy_slot(slot, schema, info);
		kapf_copy_label(session, index, info, label_room);
	}
	spin_unlock_bh(&schema->level->lock);
	smp_rmb(); /* The copy, before the look whether it was of one request. */
	return same && info->state && READ_ONCE(slot->arrival) == arrival &&
	       kapf_request_state(slot);
}

/* Where a walk over requests is, and what it has gathered. */
struct kapf_walk {
	struct kapf_get_requests *get;
	u32 stride;
	void *piece;
	u32 room;
	u32 nr;
};

/* Gather from one session, from get->slot on; true: there may be more in it. */
static bool kapf_walk_session(struct kapf_walk *walk,
			      const struct kapf_session *session)
{
	struct kapf_get_requests *get = walk->get;
	u32 end = session->nr_slots;
	bool more = false;

	if (get->slot < end && end - get->slot > KAPF_PIECE_SLOTS) {
		end = get->slot + KAPF_PIECE_SLOTS;
		more = true;
	}
	for (; get->slot < end; get->slot++) {
		if (walk->nr == walk->room)
			return true;
		if (kapf_read_slot(session,
				   array_index_nospec(get->slot, end),
				   walk->piece + walk->nr * walk->stride,
				   get->label_bytes))
			walk->nr++;
	}
	return more;
}

/* The session that the walk is at, or the next one. */
static struct kapf_session *kapf_walk_find(struct kapf_instance *instance,
					   struct kapf_get_requests *get)
{
	struct kapf_session *session = kapf_session_next(instance,
							 get->session);

	if (session && session->id > get->session) {
		get->session = session->id;
		get->slot = 0;
	}
	return session;
}

/* Gather a piece; false: that was all. */
static bool kapf_walk_piece(struct kapf_walk *walk,
			    struct kapf_instance *instance,
			    struct kapf_session *own)
{
	struct kapf_session *session = own;
	bool more;

	if (own)
		return kapf_walk_session(walk, own);
	mutex_lock(&instance->sessions_lock);
	session = kapf_walk_find(instance, walk->get);
	more = session;
	if (session && !kapf_walk_session(walk, session)) {
		walk->get->session++;
		walk->get->slot = 0;
	}
	mutex_unlock(&instance->sessions_lock);
	return more;
}

/* A user may not learn from positions how many others wait. */
static void kapf_hide_positions(struct kapf_walk *walk)
{
	u32 i;

	for (i = 0; i < walk->nr; i++) {
		struct kapf_request_info *info;

		info = walk->piece + i * walk->stride;
		info->queue_position = 0;
	}
}

/* One piece from the kernel to the user; 1: that was all. */
static int kapf_walk_step(struct kapf_walk *walk,
			  struct kapf_instance *instance,
			  struct kapf_session *own, u32 wanted)
{
	struct kapf_get_requests *get = walk->get;
	u32 stride = get->request_size + get->label_bytes;
	bool more;
	u32 i;
	int ret;

	walk->nr = 0;
	walk->room = min_t(u32, KAPF_PIECE_BYTES / walk->stride,
			   wanted - get->nr);
	ret = mutex_lock_interruptible(&instance->config_lock);
	if (ret)
		return ret;
	more = kapf_walk_piece(walk, instance, own);
	mutex_unlock(&instance->config_lock);
	if (own)
		kapf_hide_positions(walk);

	for (i = 0; i < walk->nr; i++, get->nr++) {
		const struct kapf_request_info *info;
		u64 to = get->requests + (u64)get->nr * stride;

		info = walk->piece + i * walk->stride;
		if (kapf_put_element(to, 0, get->request_size, info,
				     sizeof(*info)) ||
		    kapf_put_element(to + get->request_size, 0,
				     get->label_bytes, info + 1,
				     get->label_bytes))
			return -EFAULT;
	}
	return !more;
}

/**
 * kapf_snapshot_requests() - KAPF_GET_REQUESTS
 * @instance: that is looked into
 * @own: only of this session; NULL: of all
 * @get: its argument, in the kernel; in and out
 *
 * Return: as the ABI says.
 */
int kapf_snapshot_requests(struct kapf_instance *instance,
			   struct kapf_session *own,
			   struct kapf_get_requests *get)
{
	struct kapf_walk walk = { .get = get };
	u32 wanted = get->nr;
	int ret = 0;

	if (get->reserved || get->label_bytes > KAPF_MAX_LABEL_BYTES ||
	    get->label_bytes % 8 || get->request_size % 8 ||
	    !kapf_stride_valid(get->request_size,
			       sizeof(struct kapf_request_info)))
		return -EINVAL;
	walk.stride = sizeof(struct kapf_request_info) + get->label_bytes;
	walk.piece = kvmalloc(KAPF_PIECE_BYTES, KAPF_GFP);
	if (!walk.piece)
		return -ENOMEM;
	get->nr = 0;
	while (!ret && get->nr < wanted) {
		ret = kapf_walk_step(&walk, instance, own, wanted);
		cond_resched();
	}
	kvfree(walk.piece);
	return min(ret, 0);
}

static void kapf_read_session(const struct kapf_session *session,
			      struct kapf_session_info *info)
{
	u32 i;

	*info = (struct kapf_session_info) {
		.session = session->id,
		.attached = session->attached,
		.pid = pid_nr_ns(session->owner, task_active_pid_ns(current)),
		.uid = from_kuid_munged(current_user_ns(), session->uid),
		.slots = session->nr_slots,
	};
	memcpy(info->server, session->server, sizeof(info->server));
	memcpy(info->tenant, session->tenant, sizeof(info->tenant));
	for (i = 0; i < session->nr_slots; i++) {
		const struct kapf_slot *slot = &session->slots[i];
		u32 state = kapf_request_state(slot);

		info->waiting_requests += state == KAPF_REQUEST_WAITING;
		info->executing_requests += state == KAPF_REQUEST_EXECUTING;
		info->lingering_requests += state == KAPF_REQUEST_LINGERING;
		if (state && state != KAPF_REQUEST_WAITING)
			info->seats_in_use += kapf_request_width(&slot->request);
	}
}

/**
 * kapf_snapshot_sessions() - KAPF_GET_SESSIONS
 * @instance: that is looked into
 * @get: its argument, in the kernel; in and out
 *
 * Return: as the ABI says.
 */
int kapf_snapshot_sessions(struct kapf_instance *instance,
			   struct kapf_get_sessions *get)
{
	struct kapf_session_info info;
	u32 wanted = get->nr;
	int ret = 0;

	if (get->reserved || !kapf_stride_valid(get->session_size, sizeof(info)))
		return -EINVAL;
	for (get->nr = 0; !ret && get->nr < wanted; get->nr++) {
		struct kapf_session *session;

		ret = mutex_lock_interruptible(&instance->sessions_lock);
		if (ret)
			break;
		session = kapf_session_next(instance, get->cursor);
		if (session)
			kapf_read_session(session, &info);
		mutex_unlock(&instance->sessions_lock);
		if (!session)
			break;
		get->cursor = info.session + 1;
		ret = kapf_put_element(get->sessions, get->nr,
				       get->session_size, &info, sizeof(info));
		cond_resched();
	}
	return ret;
}

/**
 * kapf_snapshot_fdinfo() - what /proc/PID/fdinfo shows of a session
 * @session: of an open file
 * @seq: where to write it
 */
void kapf_snapshot_fdinfo(const struct kapf_session *session,
			  struct seq_file *seq)
{
	struct kapf_session_info info;

	/* Pairs with ATTACH: what it made is there. */
	if (smp_load_acquire(&session->state) == KAPF_SESSION_NEW)
		return;
	kapf_read_session(session, &info);
	seq_printf(seq, "kapf-session:\t%llu\n", info.session);
	seq_printf(seq, "kapf-server:\t%s\n", info.server);
	seq_printf(seq, "kapf-tenant:\t%s\n", info.tenant);
	seq_printf(seq, "kapf-pid:\t%u\n", info.pid);
	seq_printf(seq, "kapf-slots:\t%u\n", info.slots);
	seq_printf(seq, "kapf-waiting:\t%u\n", info.waiting_requests);
	seq_printf(seq, "kapf-executing:\t%u\n", info.executing_requests);
	seq_printf(seq, "kapf-lingering:\t%u\n", info.lingering_requests);
	seq_printf(seq, "kapf-seats-in-use:\t%u\n", info.seats_in_use);
}

static void kapf_read_queue(const struct kapf_level *level, u32 index,
			    struct kapf_queue_info *info)
{
	const struct kapf_queue *queue;

	queue = &level->qs.queues[array_index_nospec(index, level->qs.nr_kept)];

	*info = (struct kapf_queue_info) {
		.level = level->id,
		.queue = index,
		.waiting_requests = queue->nr_waiting,
		.executing_requests = queue->nr_executing,
		.seats_in_use = queue->seats_in_use,
		.next_dispatch_r = queue->next_dispatch_r,
		.waiting_initial_seats = queue->waiting_initial_seats,
		.waiting_seats = queue->waiting_seats,
		.waiting_work = queue->waiting_work,
	};
}

/* Read some queues from the cursor on, at most @room.  Return: how many. */
static u32 kapf_read_queues(struct kapf_instance *instance, void *arg,
			    void *elements, u32 room)
{
	struct kapf_queue_info *infos = elements;
	struct kapf_get_queues *get = arg;
	struct kapf_level *level;
	u32 nr = 0;

	while (!nr) {
		level = kapf_level_at(instance, get->level);
		if (!level)
			break;
		spin_lock_bh(&level->lock);
		while (nr < room && get->queue < level->qs.nr_kept)
			kapf_read_queue(level, get->queue++, &infos[nr++]);
		spin_unlock_bh(&level->lock);
		if (!nr) {
			get->level++;
			get->queue = 0;
		}
	}
	return nr;
}

/**
 * kapf_snapshot_queues() - KAPF_GET_QUEUES
 * @instance: that is looked into
 * @get: its argument, in the kernel; in and out
 *
 * Return: as the ABI says.
 */
int kapf_snapshot_queues(struct kapf_instance *instance,
			 struct kapf_get_queues *get)
{
	const struct kapf_pieces pieces = {
		.read = kapf_read_queues,
		.size = sizeof(struct kapf_queue_info),
		.room = KAPF_PIECE_QUEUES,
		.array = get->queues,
		.stride = get->queue_size,
	};

	if (get->reserved)
		return -EINVAL;
	return kapf_snapshot_pieces(instance, &pieces, get, &get->nr,
				    &get->generation);
}
