/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KAPF_SESSION_H
#define KAPF_SESSION_H

#include <linux/completion.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include <linux/kapf.h>

#include "event.h"
#include "instance.h"
#include "level.h"

enum kapf_session_state {
	KAPF_SESSION_NEW,
	KAPF_SESSION_ATTACHED,
	KAPF_SESSION_ENDED,
};

/**
 * struct kapf_label - what GET_REQUESTS shows of the request in a slot
 * @len: of @text
 * @text: nine strings
 */
struct kapf_label {
	u16 len;
	char text[];
};

/**
 * struct kapf_session - one open file of a submit node
 * @state: enum kapf_session_state; changed under the instance's sessions_lock
 * @nr_slots: how many
 * @owner: the process that attached
 * @slots: its requests
 * @shadows: of them, see mode.c; NULL: none so far
 * @events: decisions on them that have not been read
 * @free_hint: a slot that was free when it was last polled; no lock, any is good
 * @generation: of the configuration that it read last
 * @instance: that it belongs to
 * @label_bytes: room for the text of each label
 * @label_stride: distance of two labels
 * @labels: one struct kapf_label a slot
 * @id: its number
 * @uid: who attached
 * @attached: when, CLOCK_REALTIME
 * @server: name of the server
 * @tenant: that it belongs to; empty: none
 * @ended: it holds nothing any more, and who ended it is done with it
 * @link: in the instance's sessions, from ATTACH until the file is gone
 */
struct kapf_session {
	int state;
	u32 nr_slots;
	struct pid *owner;
	struct kapf_slot *slots;
	struct kapf_slot *shadows;
	struct kapf_events events;
	u32 free_hint;
	u64 generation;
	struct kapf_instance *instance;
	u32 label_bytes;
	u32 label_stride;
	void *labels;
	u64 id;
	kuid_t uid;
	u64 attached;
	char server[KAPF_SERVER_BYTES];
	char tenant[KAPF_TENANT_BYTES];
	struct completion ended;
	struct list_head link;
};

static inline const struct kapf_session *
kapf_slot_session(const struct kapf_slot *slot)
{
	return container_of(slot->events, struct kapf_session, events);
}

/* Of a request, or of the one that it is the shadow of. */
static inline u32 kapf_slot_index(const struct kapf_slot *slot)
{
	const struct kapf_session *session = kapf_slot_session(slot);

	return slot - (slot->flags & KAPF_SLOT_SHADOW ? session->shadows :
							session->slots);
}

static inline struct kapf_label *
kapf_session_label(const struct kapf_session *session, u32 slot)
{
	return session->labels + (size_t)slot * session->label_stride;
}

struct kapf_session *kapf_session_create(struct kapf_instance *instance);
void kapf_session_destroy(struct kapf_session *session);
void kapf_session_end_orphan(struct kapf_session *session, struct file *file);
struct kapf_session *kapf_session_next(struct kapf_instance *instance, u64 id);
int kapf_session_evict(struct kapf_instance *instance,
		       struct kapf_evict *evict);
void kapf_session_tell_all(struct kapf_instance *instance);
int kapf_session_refusal(const struct kapf_session *session);
int kapf_session_attach(struct kapf_session *session,
			struct kapf_attach *attach);

/* May the caller use this session? */
static inline bool kapf_session_usable(const struct kapf_session *session)
{
	/* Pairs with ATTACH: what it made is there. */
	return smp_load_acquire(&session->state) == KAPF_SESSION_ATTACHED &&
	       session->owner == task_tgid(current);
}

/* The same.  Return: 0, -ENOTCONN, -EPERM or -ESHUTDOWN. */
static inline int kapf_session_check(const struct kapf_session *session)
{
	return likely(kapf_session_usable(session)) ?
		       0 : kapf_session_refusal(session);
}

#endif /* KAPF_SESSION_H */
