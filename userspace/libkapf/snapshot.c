// SPDX-License-Identifier: LGPL-2.1
/*
 * The configuration that a session classifies by: a copy of the kernel's, read
 * anew when the kernel says that it is stale.
 *
 * A configuration is never changed once it is published: who uses one counts as
 * its user, and the last user frees it.  The lock protects only the choice of
 * the current one; it is never held over a system call.
 */
#include <errno.h>
#include <stdlib.h>

#include "internal.h"
#include "snapshot.h"

/**
 * snapshot_new() - a snapshot with one user
 * @config: the snapshot's from now on, even if there is none
 *
 * Return: NULL when memory is short.
 */
struct snapshot *snapshot_new(struct kapf_configuration *config)
{
	struct snapshot *fresh = malloc(sizeof(*fresh));

	if (!fresh)
		goto free_config;
	fresh->classifier = kapf_classifier_new(config);
	if (!fresh->classifier)
		goto free_fresh;
	fresh->config = config;
	fresh->users = 1;
	return fresh;

free_fresh:
	free(fresh);
free_config:
	kapf_config_free(config);
	return NULL;
}

static int snapshot_read(struct snapshot **snapshot, int fd,
			 struct kapf_error *err)
{
	struct kapf_configuration *config;
	int ret = kapf_config_read(&config, fd, err);

	if (ret < 0)
		return ret;
	*snapshot = snapshot_new(config);
	if (*snapshot)
		return 0;
	kapf_error_set(err, "not enough memory");
	return -ENOMEM;
}

/**
 * snapshots_init() - read the configuration for the first time
 * @snapshots: out
 * @fd: of a submit node that is attached
 * @err: says why it failed; may be NULL
 *
 * Return: as kapf_config_read().
 */
int snapshots_init(struct snapshots *snapshots, int fd, struct kapf_error *err)
{
	int ret = snapshot_read(&snapshots->current, fd, err);

	if (ret < 0)
		return ret;
	snapshots->fd = fd;
	snapshots->stale = false;
	snapshots->renewing = false;
	pthread_mutex_init(&snapshots->lock, NULL);
	pthread_cond_init(&snapshots->renewed, NULL);
	return 0;
}

/**
 * snapshots_destroy() - free what snapshots_init() made
 * @snapshots: of which nobody uses any
 */
void snapshots_destroy(struct snapshots *snapshots)
{
	pthread_cond_destroy(&snapshots->renewed);
	pthread_mutex_destroy(&snapshots->lock);
	snapshots_put(snapshots->current);
}

/**
 * snapshots_put() - do not use it any more
 * @snapshot: from snapshots_get()
 */
void snapshots_put(struct snapshot *snapshot)
{
	if (atomic_fetch_sub(&snapshot->users, 1) > 1)
		return;
	kapf_classifier_free(snapshot->classifier);
	kapf_config_free(snapshot->config);
	free(snapshot);
}

/*
 * Read the configuration anew and publish it.  Called with the lock held, which
 * is dropped meanwhile; others use the current one until then.
 */
static int renew(struct snapshots *snapshots)
{
	struct snapshot *fresh, *old = NULL;
	int ret;

	snapshots->renewing = true;
	pthread_mutex_unlock(&snapshots->lock);
	ret = snapshot_read(&fresh, snapshots->fd, NULL);
	pthread_mutex_lock(&snapshots->lock);
	snapshots->renewing = false;
	if (!ret) {
		old = snapshots->current;
		snapshots->current = fresh;
		snapshots->stale = false;
	}
	pthread_cond_broadcast(&snapshots->renewed);
	if (old)
		snapshots_put(old);
	return ret;
}

/**
 * snapshots_get() - the configuration to classify by
 * @snapshots: of the session
 * @snapshot: NULL before, or one that has become useless, for which a later one
 *	is exchanged
 *
 * A stale configuration is read anew by the first who comes.  Should that fail,
 * the next one tries again: once the kernel has handed a configuration over, it
 * takes it as known.
 *
 * Return: 0, or an errno of kapf_config_read(); @snapshot is to be put anyway.
 */
int snapshots_get(struct snapshots *snapshots, struct snapshot **snapshot)
{
	struct snapshot *old = *snapshot;
	int ret = 0;

	pthread_mutex_lock(&snapshots->lock);
	while (snapshots->current == old && snapshots->renewing)
		pthread_cond_wait(&snapshots->renewed, &snapshots->lock);
	if (snapshots->stale && !snapshots->renewing)
		ret = renew(snapshots);
	*snapshot = snapshots->current;
	atomic_fetch_add(&snapshots->current->users, 1);
	pthread_mutex_unlock(&snapshots->lock);

	if (old)
		snapshots_put(old);
	return *snapshot == old ? ret : 0;
}

/**
 * snapshots_mark_stale() - the kernel has a later configuration
 * @snapshots: of the session
 * @snapshot: that was used; where it has been replaced since, nothing follows
 */
void snapshots_mark_stale(struct snapshots *snapshots,
			  const struct snapshot *snapshot)
{
	pthread_mutex_lock(&snapshots->lock);
	if (snapshots->current == snapshot)
		snapshots->stale = true;
	pthread_mutex_unlock(&snapshots->lock);
}
