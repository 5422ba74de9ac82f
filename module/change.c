// SPDX-License-Identifier: GPL-2.0
/*
 * How one configuration follows another, while requests wait and execute.
 *
 * A change is prepared as a whole first; what can fail, fails there.  Then levels
 * that stay get their new queues, each under its lock, and the new configuration
 * is published.  What waits or executes keeps its place: it belongs to a level
 * and a schema, not to a configuration.
 *
 * A level or schema that the new configuration does not have drains: from a grace
 * period after the change on nobody admits to it any more, and when it is idle
 * borrow.c frees it.  A level that returns meanwhile resumes.
 */

#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uuid.h>

#include "borrow.h"
#include "config.h"
#include "level.h"

/*
 * A level as it will be.  @queues: @room new ones; NULL: it keeps those that it
 * has.
 */
struct kapf_next_level {
	struct kapf_level *level;
	struct kapf_config_level *config;
	struct kapf_queue *queues;
	u32 room;
	bool is_new;
};

/* A schema as it will be.  @present: of this name; NULL: there is none. */
struct kapf_next_schema {
	struct kapf_schema *present;
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
	struct kapf_next_level levels[KAPF_MAX_LEVELS];
	struct kapf_next_schema schemas[KAPF_MAX_SCHEMAS];
};

static struct kapf_level *kapf_find_level(struct kapf_instance *instance,
					  const char *name)
{
	struct kapf_level *level;

	list_for_each_entry(level, &instance->levels, link)
		if (!strcmp(level->config->name, name))
			return level;
	return NULL;
}

/* Which of the present schemas will still be there? */
static void kapf_find_schemas(struct kapf_change *change)
{
	const struct kapf_active_config *present = change->present;
	u32 i;
	int at;

	for (i = 0; present && i < present->nr_schemas; i++) {
		at = kapf_image_find_schema(&change->image,
					    present->schemas[i]->config->name);
		if (at >= 0)
			change->schemas[at].present = present->schemas[i];
	}
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

static bool kapf_same_level_spec(const struct kapf_config_level *a,
				 const struct kapf_config_level *b)
{
	return a->type == b->type && a->nominal_shares == b->nominal_shares &&
	       a->lendable_percent == b->lendable_percent &&
	       a->borrowing_limit_percent == b->borrowing_limit_percent &&
	       a->queues == b->queues && a->hand_size == b->hand_size &&
	       a->queue_length_limit == b->queue_length_limit;
}

/* What has changed of a level?  NULL: it is new. */
static void kapf_revise_level(const struct kapf_change *change,
			      struct kapf_config_level *config,
			      const struct kapf_config_level *present)
{
	bool same = present && kapf_same_level_spec(config, present);

	config->spec_generation = present ? present->spec_generation : 0;
	config->spec_generation += !same;
	same = same && config->metadata_len == present->metadata_len &&
	       !memcmp(config + 1, present + 1, config->metadata_len);
	config->resource_version = same ? present->resource_version :
					  change->next->generation;
}

/* What is kept may be all that is needed. */
static int kapf_prepare_queues(struct kapf_next_level *next)
{
	u32 kept = next->level->qs.nr_kept;

	next->room = next->config->queues;
	if (next->room < kept)
		next->room = max(next->room,
				 kapf_level_least_queues(next->level));
	if (next->room == kept)
		return 0;
	next->queues = kapf_queues_create(next->room);
	return next->queues ? 0 : -ENOMEM;
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
	present = kapf_find_level(change->instance, record->name);
	ret = kapf_set_uid(change->error, next->config->uid,
			   present ? present->config->uid : NULL);
	if (ret)
		return ret;
	kapf_revise_level(change, next->config,
			  present ? present->config : NULL);
	next->is_new = !present;
	next->level = present;
	if (!present) {
		if (change->instance->next_level == U32_MAX)
			return -ENOSPC;
		next->level =
			kapf_level_create(record->type == KAPF_LEVEL_EXEMPT,
					  change->instance->kinds);
		if (!next->level)
			return -ENOMEM;
		next->level->id = ++change->instance->next_level;
	}
	next->config->id = next->level->id;
	change->next->levels[i] = next->level;
	return kapf_prepare_queues(next);
}

/*
 * An id that no schema ever had: an index that is free in the next
 * configuration, from @index on, and how often it has been given out.
 */
static u32 kapf_new_schema_id(struct kapf_change *change, u32 *index)
{
	while (*index < KAPF_MAX_SCHEMAS) {
		u32 i = (*index)++;
		u32 *last = &change->instance->schema_ids[i];
		u32 id = (*last ?: i) + KAPF_MAX_SCHEMAS;

		/* An index whose ids are used up wraps to below the first. */
		if (change->next->by_index[i] || id < KAPF_MAX_SCHEMAS)
			continue;
		*last = id;
		return id;
	}
	return 0;
}

static bool kapf_same_schema_spec(const struct kapf_config_schema *a,
				  const struct kapf_config_schema *b)
{
	return a->precedence == b->precedence &&
	       a->distinguisher == b->distinguisher &&
	       a->rules_len == b->rules_len && !strcmp(a->level, b->level) &&
	       !memcmp(a + 1, b + 1, a->rules_len);
}

/* What has changed of a schema?  NULL: it is new. */
static void kapf_revise_schema(const struct kapf_change *change,
			       struct kapf_config_schema *config,
			       const struct kapf_config_schema *present)
{
	bool same = present && kapf_same_schema_spec(config, present);
	u32 rules_len = config->rules_len;

	config->spec_generation = present ? present->spec_generation : 0;
	config->spec_generation += !same;
	same = same && config->flags == present->flags &&
	       config->metadata_len == present->metadata_len &&
	       !memcmp((void *)(config + 1) + rules_len,
		       (void *)(present + 1) + rules_len,
		       config->metadata_len);
	config->resource_version = same ? present->resource_version :
					  change->next->generation;
}

static struct kapf_level *kapf_next_level_of(const struct kapf_change *change,
					     const char *name)
{
	int i = kapf_image_find_level(&change->image, name);

	return i < 0 ? NULL : change->levels[i].level;
}

/* A schema that goes to another level keeps its id, but counts anew. */
static int kapf_prepare_schema(struct kapf_change *change, u32 i)
{
	const struct kapf_config_schema *record = change->image.schemas[i];
	struct kapf_next_schema *next = &change->schemas[i];
	struct kapf_schema *present = next->present;
	struct kapf_level *level;
	int ret;

	change->error->object = KAPF_OBJECT_SCHEMA;
	change->error->index = i;
	next->config = kapf_copy_record(record, record->record_size);
	if (!next->config)
		return -ENOMEM;
	ret = kapf_set_uid(change->error, next->config->uid,
			   present ? present->config->uid : NULL);
	if (ret)
		return ret;
	level = kapf_next_level_of(change, record->level);
	next->config->flags = level ? 0 : KAPF_SCHEMA_DANGLING;
	kapf_revise_schema(change, next->config,
			   present ? present->config : NULL);
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
	u32 i, index = 0;

	for (i = 0; i < change->image.head->nr_schemas; i++) {
		struct kapf_schema *schema = change->schemas[i].schema;

		if (!schema->id) {
			schema->id = kapf_new_schema_id(change, &index);
			if (!schema->id)
				return -ENOSPC;
			change->next->by_index[schema->id % KAPF_MAX_SCHEMAS] =
				schema;
		}
		change->schemas[i].config->id = schema->id;
	}
	return 0;
}

static int kapf_refuse_room(struct kapf_config_error *error,
			    enum kapf_field field, u64 value, u64 max)
{
	if (value <= max)
		return 0;
	error->object = KAPF_OBJECT_IMAGE;
	error->value = value;
	error->max = max;
	kapf_image_refuse(error, field, KAPF_REASON_LIMIT);
	return -ENOSPC;
}

/*
 * What drains counts as what is configured does, and that of a level that
 * resumes still does.  So there is never more than twice of either: what is
 * configured now can begin to drain with this change, which is free.
 */
static int kapf_check_room(struct kapf_change *change)
{
	const struct kapf_instance *instance = change->instance;
	const struct kapf_image *image = &change->image;
	u32 levels = image->head->nr_levels;
	const struct kapf_level *level;
	u64 queues = 0;
	int ret, at;
	u32 i;

	for (i = 0; i < image->head->nr_levels; i++)
		queues += image->levels[i]->queues;
	list_for_each_entry(level, &instance->levels, link) {
		u32 kept = level->qs.nr_kept;
		u32 free = level->draining ? 0 : level->config->queues;

		at = kapf_image_find_level(image, level->config->name);
		if (at >= 0)
			free = max(free, image->levels[at]->queues);
		else if (level->draining)
			levels++;
		queues += max(kept, free) - free;
	}
	ret = kapf_refuse_room(change->error, KAPF_FIELD_NR_LEVELS, levels,
			       KAPF_MAX_LEVELS);
	if (!ret)
		ret = kapf_refuse_room(change->error, KAPF_FIELD_QUEUES, queues,
				       kapf_max_queues);
	if (!ret)
		ret = kapf_refuse_room(change->error, KAPF_FIELD_NR_SCHEMAS,
				       image->head->nr_schemas +
				       instance->nr_draining_schemas,
				       KAPF_MAX_SCHEMAS);
	return ret;
}

/* Everything that can fail. */
static int kapf_change_prepare(struct kapf_change *change)
{
	const struct kapf_config *head = change->image.head;
	struct kapf_active_config *next;
	int ret;
	u32 i;

	ret = kapf_check_room(change);
	if (ret)
		return ret;
	next = kvzalloc(sizeof(*next), KAPF_GFP);
	if (!next)
		return -ENOMEM;
	change->next = next;
	next->generation = change->present ? change->present->generation + 1 :
					     1;
	next->max_requests_inflight = head->max_requests_inflight;
	next->max_mutating_requests_inflight =
		head->max_mutating_requests_inflight;
	next->adjustment_period_ms = head->adjustment_period_ms ?:
				     KAPF_DEFAULT_ADJUSTMENT_PERIOD_MS;
	next->nr_levels = head->nr_levels;
	next->nr_schemas = head->nr_schemas;

	for (i = 0; !ret && i < head->nr_levels; i++)
		ret = kapf_prepare_level(change, i);
	kapf_find_schemas(change);
	for (i = 0; !ret && i < head->nr_schemas; i++) {
		ret = kapf_prepare_schema(change, i);
		cond_resched();
	}
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

/* Which levels does the next configuration have no more, or again? */
static void kapf_commit_draining(struct kapf_change *change)
{
	struct kapf_instance *instance = change->instance;
	struct kapf_level *level;
	u32 i;

	instance->nr_draining_levels = 0;
	list_for_each_entry(level, &instance->levels, link) {
		level->draining = true;
		instance->nr_draining_levels++;
	}
	for (i = 0; i < change->next->nr_levels; i++) {
		change->next->levels[i]->draining = false;
		instance->nr_draining_levels--;
	}
}

static void kapf_commit_levels(struct kapf_change *change)
{
	struct kapf_instance *instance = change->instance;
	u32 i;

	for (i = 0; i < change->next->nr_levels; i++) {
		struct kapf_next_level *next = &change->levels[i];

		kvfree(next->level->config);
		next->level->config = next->config;
		kvfree(kapf_level_resize(next->level, next->queues,
					 next->room));
		if (next->is_new)
			list_add_tail(&next->level->link, &instance->levels);
	}
	kapf_commit_draining(change);
	kapf_borrow_share(instance, kapf_server_seats(change->next));
	for (i = 0; i < change->next->nr_levels; i++) {
		struct kapf_level *level = change->levels[i].level;

		if (change->levels[i].is_new)
			level->qs.seats = kapf_initial_limit(&level->limits);
	}
}

static void kapf_commit_schemas(struct kapf_change *change)
{
	struct kapf_instance *instance = change->instance;
	const struct kapf_active_config *present = change->present;
	const struct kapf_active_config *next = change->next;
	u32 i;

	for (i = 0; i < next->nr_schemas; i++) {
		struct kapf_next_schema *schema = &change->schemas[i];

		kvfree(schema->schema->config);
		schema->schema->config = schema->config;
	}
	for (i = 0; present && i < present->nr_schemas; i++) {
		struct kapf_schema *schema = present->schemas[i];

		if (next->by_index[schema->id % KAPF_MAX_SCHEMAS] == schema)
			continue;
		list_add_tail(&schema->link, &instance->draining_schemas);
		instance->nr_draining_schemas++;
	}
}

/* Put the prepared change into force. */
static void kapf_change_commit(struct kapf_change *change)
{
	struct kapf_instance *instance = change->instance;

	kapf_commit_levels(change);
	kapf_commit_schemas(change);
	WRITE_ONCE(instance->generation, change->next->generation);
	rcu_assign_pointer(instance->config, change->next);
}

/* A change of what is in force now, with config_lock held. */
static int kapf_change_apply(struct kapf_change *change)
{
	int ret = kapf_change_prepare(change);

	if (!ret)
		kapf_change_commit(change);
	else
		kapf_change_abandon(change);
	return ret;
}

/**
 * kapf_config_replace() - check a configuration, and put it into force
 * @instance: whose
 * @generation: of the configuration that it is to replace; 0: it is the first one
 * @image: of the configuration
 * @len: of @image
 * @error: out: what is wrong with it
 *
 * An image is checked, and the former configuration freed after a grace period,
 * while nobody else has to wait.  kapf_borrow_update() is due then.
 *
 * Return: 0; -EINVAL or -ENOSPC and @error; -ESTALE, whatever the image is like;
 * -ENOMEM, -EINTR.  Nothing has changed then.
 */
int kapf_config_replace(struct kapf_instance *instance, u64 generation,
			const void *image, size_t len,
			struct kapf_config_error *error)
{
	struct kapf_change *change = kvzalloc(sizeof(*change), KAPF_GFP);
	int fault, ret;

	if (!change)
		return -ENOMEM;
	change->instance = instance;
	change->error = error;
	fault = kapf_image_check(&change->image, image, len, error);
	ret = mutex_lock_interruptible(&instance->config_lock);
	if (ret)
		goto free;
	change->present = kapf_config_locked(instance);
	if (generation != instance->generation)
		ret = -ESTALE;
	else
		ret = fault ?: kapf_change_apply(change);
	mutex_unlock(&instance->config_lock);
	if (!ret && change->present) {
		/* Expedited: only who may configure can have it done again and again. */
		synchronize_rcu_expedited();
		kvfree(change->present);
	}
free:
	if (!error->reason || (ret != -EINVAL && ret != -ENOSPC))
		*error = (struct kapf_config_error) { };
	kvfree(change);
	return ret;
}
