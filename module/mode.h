/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KAPF_MODE_H
#define KAPF_MODE_H

#include <linux/types.h>
#include <linux/kapf.h>

#include "config.h"
#include "level.h"
#include "session.h"

int kapf_mode_set(struct kapf_instance *instance, u32 mode);
u16 kapf_mode_admit(struct kapf_session *session,
		    const struct kapf_active_config *config,
		    struct kapf_slot *slot, const struct kapf_op *op, u32 mode);
void kapf_mode_finish(const struct kapf_session *session,
		      struct kapf_slot *slot, bool linger);
void kapf_mode_end(const struct kapf_session *session);

#endif /* KAPF_MODE_H */
