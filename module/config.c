// SPDX-License-Identifier: GPL-2.0
/*
 * The configuration of an instance: what is in force, and how it is replaced.
 *
 * Admissions read it under RCU.  A change is prepared as a whole first; what can
 * fail, fails there.  Then the old configuration is withdrawn, so that further
 * admissions wait (kapf_config_settle()), and after a grace period none is under
 * way.  What is in flight then only becomes less, so that a level found idle
 * stays so.  Where one is not, the old configuration is put back.
 *
 * Levels and schemas that go are freed after one more grace period: a FINISH
 * that has just made a level idle may not have let go of it.
 */

#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uuid.h>

#include "config.h"
#include "engine/allocation.h"

/* A level as it will be. */
struct kapf_next_level {
	struct kapf_level *level;
	struct kapf_config_level *config;
	struct kapf_queue *queues;
	bool is_new;
};

/* A schema as it will be. */
struct kapf_next_schema {
	struct kapf_schema *schema;
	struct kapf_config_schema *config;
	bool is_new;
};

struct kapf_change {
	struct kapf_instance *instance;
	const struct kapf_active_config *present; /* NULL: the first one */
	struct kapf_active_config *next;
	struct kapf_image image;
	struct kapf_config_error *error;
	u64 shares;
	struct kapf_next_level levels[KAPF_MAX_LEVELS];
	struct kapf_next_schema schemas[KAPF_MAX_SCHEMAS];
};

/* The configuration, for those who hold config_lock. */
struct kapf_active_config *kapf_config_locked(struct kapf_instance *instance)
{
	return rcu_dereference_protected(instance->config,
				lockdep_is_held(&instance->config_lock));
}

/**
 * kapf_config_settle() - wait until a change of the configuration is over
 * @instance: whose configuration was NULL
 *
 * Return: 0, or -EINTR.
 */
int kapf_config_settle(struct kapf_instance *instance)
{
	int ret = mutex_lock_interruptible(&instance->config_lock);

	if (!ret)
		mutex_unlock(&instance->config_lock);
	return ret;
}

static struct kapf_level *
kapf_find_level(const struct kapf_active_config *config, const char *name)
{
	u32 i;

	for (i = 0; config && i < config->nr_levels; i++)
		if (!strcmp(config->levels[i]->config->name, name))
			return config->levels[i];
	return NULL;
}

static struct kapf_schema *
kapf_find_schema(const struct kapf_active_config *config, const char *name)
{
	u32 i;

	for (i = 0; config && i < config->nr_schemas; i++)
		if (!strcmp(config->schemas[i]->config->name, name))
			return config->schemas[i];
	return NULL;
}

static void kapf_schema_destroy(struct kapf_schema *schema)
{
	if (!schema)
		return;
	free_percpu(schema->exempt);
	kvfree(schema->config);
	kfree(schema);
}

static void *kapf_copy_record(const void *record, u32 size)
{
	void *copy = kvmalloc(size, KAPF_GFP);

	if (copy)
		memcpy(copy, record, size);
	return copy;
}

/* An object keeps its UID; a new one gets one. */
static int kapf_set_uid(struct kapf_config_error *error, u8 *uid,
			const u8 *present)
{
	if (memchr_inv(uid, 0, KAPF_UID_BYTES) &&
	    (!present || memcmp(uid, present, KAPF_UID_BYTES)))
		return kapf_image_refuse(error, KAPF_FIELD_UID,
					 KAPF_REASON_CONFLICT);
	if (present)
		memcpy(uid, present, KAPF_UID_BYTES);
	else
		generate_random_uuid(uid);
	return 0;
}

static int kapf_prepare_level(struct kapf_change *change, u32 i)
{
	const struct kapf_config_level *record = change->image.levels[i];
	struct kapf_next_level *next = &change->levels[i];
	struct kapf_level *present;
	int ret;

	change->error->object = KAPF_OBJECT_LEVEL;
	change->error->index = i;
	next->config = kapf_copy_record(record, record->record_size);
	if (!next->config)
		return -ENOMEM;
	present = kapf_find_level(change->present, record->name);
	ret = kapf_set_uid(change->error, next->config->uid,
			   present ? present->config->uid : NULL);
	if (ret)
		return ret;
	next->is_new = !present;
	next->level = present;
	if (!present) {
		if (change->instance->next_level == U32_MAX)
			return -ENOSPC;
		next->level =
			kapf_level_create(record->type == KAPF_LEVEL_EXEMPT);
		if (!next->level)
			return -ENOMEM;
		next->level->id = ++change->instance->next_level;
	}
	next->config->id = next->level->id;
	next->config->nominal_seats =
		kapf_nominal_limit(kapf_server_seats(change->next),
				   record->nominal_shares, change->shares);
	if (record->queues) {
		next->queues = kvcalloc(record->queues, sizeof(*next->queues),
					KAPF_GFP);
		if (!next->queues)
			return -ENOMEM;
	}
	change->next->levels[i] = next->level;
	return 0;
}

/*
 * An id that no schema ever had: an index that is free in the next
 * configuration, and how often it has been given out.
 */
static u32 kapf_new_schema_id(struct kapf_change *change)
{
	u32 *ids = change->instance->schema_ids;
	u32 i;

	for (i = 0; i < KAPF_MAX_SCHEMAS; i++) {
		u32 id = ids[i] ? ids[i] + KAPF_MAX_SCHEMAS :
				  i + KAPF_MAX_SCHEMAS;

		/* An index whose ids are used up wraps to below the first. */
		if (change->next->by_index[i] || id < KAPF_MAX_SCHEMAS)
			continue;
		ids[i] = id;
		return id;
	}
	return 0;
}

static struct kapf_schema *kapf_schema_create(struct kapf_level *level)
{
	struct kapf_schema *schema = kzalloc(sizeof(*schema),
					     KAPF_GFP);

	if (!schema)
		return NULL;
	schema->level = level;
	if (level && level->exempt) {
		schema->exempt = alloc_percpu_gfp(struct kapf_exempt_tally,
						  GFP_KERNEL_ACCOUNT);
		if (!schema->exempt) {
			kfree(schema);
			return NULL;
		}
	}
	return schema;
}

static struct kapf_level *kapf_next_level_of(const struct kapf_change *change,
					     const char *name)
{
	u32 i;

	for (i = 0; i < change->image.head->nr_levels; i++)
		if (!strcmp(change->image.levels[i]->name, name))
			return change->levels[i].level;
	return NULL;
}

/* A schema that goes to another level keeps its id, but counts anew. */
static int kapf_prepare_schema(struct kapf_change *change, u32 i)
{
	const struct kapf_config_schema *record = change->image.schemas[i];
	struct kapf_next_schema *next = &change->schemas[i];
	struct kapf_level *level;
	struct kapf_schema *present;
	int ret;

	change->error->object = KAPF_OBJECT_SCHEMA;
	change->error->index = i;
	next->config = kapf_copy_record(record, record->record_size);
	if (!next->config)
		return -ENOMEM;
	present = kapf_find_schema(change->present, record->name);
	ret = kapf_set_uid(change->error, next->config->uid,
			   present ? present->config->uid : NULL);
	if (ret)
		return ret;
	level = kapf_next_level_of(change, record->level);
	next->config->flags = level ? 0 : KAPF_SCHEMA_DANGLING;
	next->schema = present;
	next->is_new = !present || present->level != level;
	if (next->is_new) {
		next->schema = kapf_schema_create(level);
		if (!next->schema)
			return -ENOMEM;
		next->schema->id = present ? present->id : 0;
	}
	change->next->schemas[i] = next->schema;
	if (present)
		change->next->by_index[present->id % KAPF_MAX_SCHEMAS] =
			next->schema;
	return 0;
}

/* New ones get what indices the others leave. */
static int kapf_prepare_schema_ids(struct kapf_change *change)
{
	u32 i;

	for (i = 0; i < change->image.head->nr_schemas; i++) {
		struct kapf_schema *schema = change->schemas[i].schema;

		if (!schema->id) {
			schema->id = kapf_new_schema_id(change);
			if (!schema->id)
				return -ENOSPC;
			change->next->by_index[schema->id % KAPF_MAX_SCHEMAS] =
				schema;
		}
		change->schemas[i].config->id = schema->id;
	}
	return 0;
}

/* Everything that can fail. */
static int kapf_change_prepare(struct kapf_change *change)
{
	const struct kapf_config *head = change->image.head;
	struct kapf_active_config *next;
	int ret = 0;
	u32 i;

	next = kvzalloc(sizeof(*next), KAPF_GFP);
	if (!next)
		return -ENOMEM;
	change->next = next;
	next->generation = change->present ? change->present->generation + 1 :
					     1;
	next->max_requests_inflight = head->max_requests_inflight;
	next->max_mutating_requests_inflight =
		head->max_mutating_requests_inflight;
	next->nr_levels = head->nr_levels;
	next->nr_schemas = head->nr_schemas;

	for (i = 0; i < head->nr_levels; i++)
		change->shares += change->image.levels[i]->nominal_shares;
	for (i = 0; !ret && i < head->nr_levels; i++)
		ret = kapf_prepare_level(change, i);
	for (i = 0; !ret && i < head->nr_schemas; i++)
		ret = kapf_prepare_schema(change, i);
	return ret ?: kapf_prepare_schema_ids(change);
}

static void kapf_change_abandon(struct kapf_change *change)
{
	u32 i;

	for (i = 0; i < change->image.head->nr_levels; i++) {
		struct kapf_next_level *next = &change->levels[i];

		kvfree(next->config);
		kvfree(next->queues);
		if (next->is_new)
			kapf_level_destroy(next->level);
	}
	for (i = 0; i < change->image.head->nr_schemas; i++) {
		struct kapf_next_schema *next = &change->schemas[i];

		kvfree(next->config);
		if (next->is_new)
			kapf_schema_destroy(next->schema);
	}
	kvfree(change->next);
}

/* Nothing is in flight, nobody is admitted. */
static void kapf_change_commit(struct kapf_change *change)
{
	u32 i;

	for (i = 0; i < change->next->nr_levels; i++) {
		struct kapf_next_level *next = &change->levels[i];

		kapf_level_configure(next->level, next->config, next->queues);
	}
	for (i = 0; i < change->next->nr_schemas; i++) {
		struct kapf_next_schema *next = &change->schemas[i];

		kvfree(next->schema->config);
		next->schema->config = next->config;
	}
	WRITE_ONCE(change->instance->generation, change->next->generation);
	rcu_assign_pointer(change->instance->config, change->next);
}

/* Free what the next configuration (NULL: there is none) has not taken over. */
static void kapf_config_discard(struct kapf_active_config *config,
				const struct kapf_active_config *next)
{
	u32 i;

	for (i = 0; i < config->nr_schemas; i++) {
		struct kapf_schema *schema = config->schemas[i];

		if (!next ||
		    next->by_index[schema->id % KAPF_MAX_SCHEMAS] != schema)
			kapf_schema_destroy(schema);
	}
	for (i = 0; i < config->nr_levels; i++) {
		struct kapf_level *level = config->levels[i];
		u32 j;

		for (j = 0; next && j < next->nr_levels; j++)
			if (next->levels[j] == level)
				break;
		if (!next || j == next->nr_levels)
			kapf_level_destroy(level);
	}
	kvfree(config);
}

static bool kapf_config_idle(const struct kapf_active_config *config)
{
	u32 i;

	for (i = 0; i < config->nr_levels; i++)
		if (!kapf_level_idle(config->levels[i]))
			return false;
	return true;
}

/* Put the prepared change into force. */
static int kapf_change_apply(struct kapf_change *change)
{
	struct kapf_instance *instance = change->instance;
	struct kapf_active_config *present = kapf_config_locked(instance);

	if (!present) {
		kapf_change_commit(change);
		return 0;
	}
	/* Expedited, for admissions wait until it is over. */
	rcu_assign_pointer(instance->config, NULL);
	synchronize_rcu_expedited();
	if (!kapf_config_idle(present)) {
		rcu_assign_pointer(instance->config, present);
		return -EBUSY;
	}
	kapf_change_commit(change);
	synchronize_rcu();
	kapf_config_discard(present, change->next);
	return 0;
}

static int kapf_config_replace(struct kapf_instance *instance,
			       const void *image, size_t len,
			       struct kapf_config_error *error)
{
	struct kapf_change *change = kvzalloc(sizeof(*change), KAPF_GFP);
	int ret;

	if (!change)
		return -ENOMEM;
	change->instance = instance;
	change->present = kapf_config_locked(instance);
	change->error = error;
	ret = kapf_image_check(&change->image, image, len, error);
	if (!ret) {
		ret = kapf_change_prepare(change);
		if (!ret)
			ret = kapf_change_apply(change);
		if (ret)
			kapf_change_abandon(change);
	}
	if (!error->reason)
		*error = (struct kapf_config_error) { };
	kvfree(change);
	return ret;
}

/**
 * kapf_config_set() - KAPF_SET_CONFIG
 * @instance: whose configuration
 * @set: its argument, in the kernel; in and out
 *
 * Return: as the ABI says.
 */
int kapf_config_set(struct kapf_instance *instance,
		    struct kapf_set_config *set)
{
	const struct kapf_active_config *config;
	void *image;
	int ret;

	if (set->image_len > KAPF_MAX_IMAGE_BYTES)
		return -E2BIG;
	image = kvmalloc(max_t(size_t, set->image_len, 8), KAPF_GFP);
	if (!image)
		return -ENOMEM;
	ret = -EFAULT;
	if (copy_from_user(image, u64_to_user_ptr(set->image), set->image_len))
		goto free_image;
	ret = mutex_lock_interruptible(&instance->config_lock);
	if (ret)
		goto free_image;
	config = kapf_config_locked(instance);
	ret = -ESTALE;
	if (set->generation == config->generation)
		ret = kapf_config_replace(instance, image, set->image_len,
					  &set->error);
	if (!ret)
		set->generation = kapf_config_locked(instance)->generation;
	mutex_unlock(&instance->config_lock);
free_image:
	kvfree(image);
	return ret;
}

static size_t kapf_config_image_len(const struct kapf_active_config *config)
{
	size_t len = sizeof(struct kapf_config);
	u32 i;

	for (i = 0; i < config->nr_levels; i++)
		len += config->levels[i]->config->record_size;
	for (i = 0; i < config->nr_schemas; i++)
		len += config->schemas[i]->config->record_size;
	return len;
}

static void kapf_config_write_image(const struct kapf_active_config *config,
				    void *image)
{
	struct kapf_config *head = image;
	u32 i, size;

	*head = (struct kapf_config) {
		.magic = KAPF_CONFIG_MAGIC,
		.max_requests_inflight = config->max_requests_inflight,
		.max_mutating_requests_inflight =
			config->max_mutating_requests_inflight,
		.nr_levels = config->nr_levels,
		.nr_schemas = config->nr_schemas,
	};
	image += sizeof(*head);
	for (i = 0; i < config->nr_levels; i++) {
		size = config->levels[i]->config->record_size;
		memcpy(image, config->levels[i]->config, size);
		image += size;
	}
	for (i = 0; i < config->nr_schemas; i++) {
		size = config->schemas[i]->config->record_size;
		memcpy(image, config->schemas[i]->config, size);
		image += size;
	}
}

/*
 * An image of the configuration, if it fits into @room.  Memory is taken while
 * the lock is not held: a caller who has to wait for it shall wait alone.
 */
static int kapf_config_image(struct kapf_instance *instance,
			     struct kapf_get_config *get, u32 room,
			     void **image)
{
	u32 allocated = 0;

	for (;;) {
		const struct kapf_active_config *config;
		int ret = mutex_lock_interruptible(&instance->config_lock);

		if (ret)
			return ret;
		config = kapf_config_locked(instance);
		get->generation = config->generation;
		get->image_len = kapf_config_image_len(config);
		if (get->image_len <= allocated)
			kapf_config_write_image(config, *image);
		mutex_unlock(&instance->config_lock);

		if (get->image_len <= allocated)
			return 0;
		if (get->image_len > room)
			return -ERANGE;
		kvfree(*image);
		allocated = get->image_len;
		*image = kvmalloc(allocated, KAPF_GFP);
		if (!*image)
			return -ENOMEM;
	}
}

/**
 * kapf_config_get() - KAPF_GET_CONFIG
 * @instance: whose configuration
 * @get: its argument, in the kernel; in and out
 *
 * Return: as the ABI says.
 */
int kapf_config_get(struct kapf_instance *instance,
		    struct kapf_get_config *get)
{
	void *image = NULL;
	int ret;

	ret = kapf_config_image(instance, get, get->image_len, &image);
	if (!ret && copy_to_user(u64_to_user_ptr(get->image), image,
				 get->image_len))
		ret = -EFAULT;
	kvfree(image);
	return ret;
}

/**
 * kapf_config_init() - give a new instance its first configuration
 * @instance: with its locks
 *
 * Return: 0 or -ENOMEM.
 */
int kapf_config_init(struct kapf_instance *instance)
{
	struct kapf_config_error error;
	size_t len;
	void *image = kapf_image_builtin(&len);
	int ret;

	if (!image)
		return -ENOMEM;
	mutex_lock(&instance->config_lock);
	ret = kapf_config_replace(instance, image, len, &error);
	mutex_unlock(&instance->config_lock);
	kfree(image);
	return ret;
}

/**
 * kapf_config_destroy() - free the configuration of an instance
 * @instance: that nobody uses any more; may have no configuration
 */
void kapf_config_destroy(struct kapf_instance *instance)
{
	struct kapf_active_config *config;

	config = rcu_dereference_protected(instance->config, true);
	if (!config)
		return;
	RCU_INIT_POINTER(instance->config, NULL);
	synchronize_rcu();
	kapf_config_discard(config, NULL);
}
