/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KAPF_SLOT_H
#define KAPF_SLOT_H

#include <linux/types.h>
#include <linux/kapf.h>

#include "level.h"
#include "session.h"

long kapf_slot_admit(struct kapf_session *session,
		     const struct kapf_op __user *uop, bool wait);
long kapf_slot_finish(struct kapf_session *session, unsigned long index);
long kapf_slot_cancel(struct kapf_session *session, unsigned long index);
bool kapf_slot_dequeue(struct kapf_slot *slot);
u32 kapf_slot_end(struct kapf_session *session, struct kapf_slot *slot);
u32 kapf_slot_find_free(const struct kapf_session *session, u32 hint);

/* What becomes of a request that nobody sleeps for */
struct kapf_slot *kapf_slot_claim(struct kapf_session *session,
				  const struct kapf_op *op);
int kapf_slot_copy_label(const struct kapf_session *session,
			 const struct kapf_op *op);
int kapf_slot_submit(struct kapf_session *session, struct kapf_slot *slot,
		     const struct kapf_op *op);
bool kapf_slot_read(const struct kapf_session *session, struct kapf_slot *slot,
		    struct kapf_event *event);
bool kapf_slot_was_read(struct kapf_slot *slot, const struct kapf_event *event);

#endif /* KAPF_SLOT_H */
