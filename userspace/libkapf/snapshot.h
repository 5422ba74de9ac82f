/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * The configuration that a session classifies by.
 */
#ifndef KAPF_SNAPSHOT_H
#define KAPF_SNAPSHOT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "libkapf.h"

/**
 * struct snapshot - a configuration as it once was
 * @config: not changed any more
 * @classifier: of @config
 * @users: threads that classify by it, and the session while it is current
 */
struct snapshot {
	struct kapf_configuration *config;
	struct kapf_classifier *classifier;
	atomic_uint users;
};

/**
 * struct snapshots - what a session knows of its instance's configuration
 * @fd: where it is read
 * @lock: protects the following
 * @renewed: signalled when @renewing ends
 * @current: the latest configuration that was read
 * @stale: the kernel has a later one
 * @renewing: a thread is reading it
 */
struct snapshots {
	int fd;
	pthread_mutex_t lock;
	pthread_cond_t renewed;
	struct snapshot *current;
	bool stale;
	bool renewing;
};

struct snapshot *snapshot_new(struct kapf_configuration *config);
int snapshots_init(struct snapshots *snapshots, int fd, struct kapf_error *err);
void snapshots_destroy(struct snapshots *snapshots);
int snapshots_get(struct snapshots *snapshots, struct snapshot **snapshot);
void snapshots_put(struct snapshot *snapshot);
void snapshots_mark_stale(struct snapshots *snapshots,
			  const struct snapshot *snapshot);

#endif /* KAPF_SNAPSHOT_H */
