/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * Admission within this process: what a gate falls back to.
 */
#ifndef KAPF_GATE_LOCAL_H
#define KAPF_GATE_LOCAL_H

#include "libkapf.h"
#include "snapshot.h"

struct local;
struct local_request;

/**
 * typedef local_decided_fn - a request that waited has been decided on
 * @ticket: what became of it
 * @user: as given to local_submit()
 */
typedef void local_decided_fn(const struct kapf_ticket *ticket, void *user);

int local_new(struct local **local, struct snapshot *snapshot);
void local_free(struct local *local);
int local_fd(const struct local *local);
int local_submit(struct local *local, const struct kapf_digest *digest,
		 const struct kapf_work *work, uint64_t max_wait,
		 local_decided_fn *decided, void *user,
		 struct kapf_ticket *ticket, struct local_request **request);
int local_cancel(struct local *local, struct local_request *request);
int local_finish(struct local *local, struct local_request *request);
int local_pump(struct local *local);

#endif /* KAPF_GATE_LOCAL_H */
