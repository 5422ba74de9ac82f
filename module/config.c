// SPDX-License-Identifier: GPL-2.0
/*
 * The configuration of an instance: what is in force.  Admissions read it under
 * RCU, and those who want to see what it is made of hold config_lock.
 */

#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "borrow.h"
#include "config.h"
#include "level.h"

/* The configuration, for those who hold config_lock. */
struct kapf_active_config *kapf_config_locked(struct kapf_instance *instance)
{
	return rcu_dereference_protected(instance->config,
				lockdep_is_held(&instance->config_lock));
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
	void *image;
	int ret;

	if (set->image_len > KAPF_MAX_IMAGE_BYTES)
		return -E2BIG;
	image = kvmalloc(max_t(size_t, set->image_len, 8), KAPF_GFP);
	if (!image)
		return -ENOMEM;
	ret = -EFAULT;
	if (!copy_from_user(image, u64_to_user_ptr(set->image), set->image_len))
		ret = kapf_config_replace(instance, set->generation, image,
					  set->image_len, &set->error);
	kvfree(image);
	if (!ret)
		kapf_borrow_update(instance, ++set->generation);
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
		.adjustment_period_ms = config->adjustment_period_ms,
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
	ret = kapf_config_replace(instance, 0, image, len, &error);
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
	struct kapf_schema *schema, *next_schema;
	struct kapf_level *level, *next_level;
	u32 i;

	config = rcu_dereference_protected(instance->config, true);
	if (!config)
		return;
	RCU_INIT_POINTER(instance->config, NULL);
	synchronize_rcu();
	list_for_each_entry_safe(schema, next_schema,
				 &instance->draining_schemas, link)
		kapf_schema_destroy(schema);
	for (i = 0; i < config->nr_schemas; i++)
		kapf_schema_destroy(config->schemas[i]);
	list_for_each_entry_safe(level, next_level, &instance->levels, link)
		kapf_level_destroy(level);
	kvfree(config);
}
