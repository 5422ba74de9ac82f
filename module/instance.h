/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KAPF_INSTANCE_H
#define KAPF_INSTANCE_H

#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/miscdevice.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <linux/kapf.h>

struct kapf_active_config;
struct kapf_allocation;
struct kapf_kinds;
struct kapf_level;

/*
 * For memory of a size that a caller has chosen: charged to the caller's memory
 * cgroup, and refused where there is none rather than having somebody killed.
 */
#define KAPF_GFP (GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/**
 * struct kapf_instance - one budget of seats
 * @config: what is in force
 * @mode: enum kapf_mode; written with @mode_lock and @sessions_lock held
 * @mode_lock: held to change @mode; taken before the other two
 * @passing: requests that execute in mode off; those that change something second
 * @config_lock: held to replace the configuration, and to read what it is made
 *	of at leisure; protects what follows up to @sessions_lock; taken before
 *	that
 * @generation: of the configuration; also read without a lock
 * @next_level: id that the next new level gets
 * @schema_ids: the id that was last given out for each index of a schema
 * @levels: all that live: those of the configuration, and those that drain
 * @nr_draining_levels: how many are of the latter kind
 * @draining_schemas: those that live though the configuration has them no more
 * @nr_draining_schemas: how many
 * @settled: the last generation since which a grace period has passed, so that
 *	nobody admits by an earlier one
 * @drains: does anything drain, these or queues?
 * @parts: scratch, for the adjustment of all levels
 * @fair_prop: FairProp of the last adjustment, see kapf_allocate()
 * @next_adjustment: when the next one is due
 * @borrow: sees to that
 * @kinds: requests that read and requests that mutate
 * @sessions_lock: protects the next three and the end of each session
 * @sessions: by ascending number; also those that have ended, while somebody
 *	still has their files
 * @nr_sessions: how many are attached
 * @next_session: number that the next one gets
 * @number: N of /dev/kapfN
 * @submit: /dev/kapfN
 * @control: /dev/kapfctlN
 * @submit_name: its name
 * @control_name: its name
 */
struct kapf_instance {
	struct kapf_active_config __rcu *config;
	u32 mode;
	struct mutex mode_lock; /* changing mode */
	atomic_t passing[2];
	struct mutex config_lock; /* replacing, and reading at leisure */
	u64 generation;
	u32 next_level;
	u32 schema_ids[KAPF_MAX_SCHEMAS];
	struct list_head levels;
	u32 nr_draining_levels;
	struct list_head draining_schemas;
	u32 nr_draining_schemas;
	u64 settled;
	bool drains;
	struct kapf_allocation *parts;
	u64 fair_prop;
	u64 next_adjustment;
	struct delayed_work borrow;
	struct kapf_kinds *kinds;
	struct mutex sessions_lock; /* the next three */
	struct list_head sessions;
	u32 nr_sessions;
	u64 next_session;
	unsigned int number;
	struct miscdevice submit;
	struct miscdevice control;
	char submit_name[16];
	char control_name[16];
};

/* Loading cannot fail any more: before that no node opens.  Set once. */
extern bool kapf_loaded;

/* Module parameters, see main.c. */
extern unsigned int kapf_max_inflight;
extern unsigned int kapf_max_sessions;
extern unsigned int kapf_max_queues;

#endif /* KAPF_INSTANCE_H */
