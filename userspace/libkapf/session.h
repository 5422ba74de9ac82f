/* SPDX-License-Identifier: LGPL-2.1 */
#ifndef KAPF_SESSION_H
#define KAPF_SESSION_H

#include "libkapf.h"
#include "slots.h"
#include "snapshot.h"

/**
 * struct pending - a request whose decision is to come as an event
 * @ticket: what is known of it
 * @decided: whom to tell
 * @user: likewise
 */
struct pending {
	struct kapf_ticket ticket;
	kapf_decided_fn *decided;
	void *user;
};

/**
 * struct kapf_session - an attached submit node
 * @fd: the node
 * @tenant: that the server belongs to; empty: none
 * @slots: where its requests live
 * @pending: of each slot
 * @snapshots: what its requests are classified by
 */
struct kapf_session {
	int fd;
	char tenant[KAPF_TENANT_BYTES];
	struct slots slots;
	struct pending *pending;
	struct snapshots snapshots;
};

#endif /* KAPF_SESSION_H */
