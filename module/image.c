// SPDX-License-Identifier: GPL-2.0
/*
 * The form in which a configuration travels: is it sound, and if not, where not?
 *
 * What is checked here is what the kernel relies on and what has to hold whoever
 * configures it: the shape of the image, names, numbers, and that the mandatory
 * objects are as Kubernetes defines them.  The rules of a schema are a matter
 * between the tools that write them and the servers that match by them.
 */

#include <linux/align.h>
#include <linux/ctype.h>
#include <linux/rbtree.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "config.h"
#include "engine/dealer.h"

#define KAPF_RULES_FOR(subjects)					\
	"[{\"subjects\":[" subjects "],"				\
	"\"resourceRules\":[{\"verbs\":[\"*\"],\"apiGroups\":[\"*\"],"	\
	"\"resources\":[\"*\"],\"clusterScope\":true,"			\
	"\"namespaces\":[\"*\"]}],"					\
	"\"nonResourceRules\":[{\"verbs\":[\"*\"],"			\
	"\"nonResourceURLs\":[\"*\"]}]}]"
#define KAPF_GROUP(name) \
	"{\"kind\":\"Group\",\"group\":{\"name\":\"" name "\"}}"

/* The objects that every configuration has, and their specs. */
static const struct {
	const char *name;
	enum kapf_level_type type;
	u32 nominal_shares;
	u32 precedence;
	enum kapf_distinguisher distinguisher;
	const char *rules;
} kapf_mandatory[] = {
	{
		.name = "exempt",
		.type = KAPF_LEVEL_EXEMPT,
		.nominal_shares = 0,
		.precedence = 1,
		.distinguisher = KAPF_BY_NONE,
		.rules = KAPF_RULES_FOR(KAPF_GROUP("system:masters")),
	},
	{
		.name = "catch-all",
		.type = KAPF_LEVEL_REJECT,
		.nominal_shares = 5,
		.precedence = 10000,
		.distinguisher = KAPF_BY_USER,
		.rules = KAPF_RULES_FOR(KAPF_GROUP("system:unauthenticated") ","
					KAPF_GROUP("system:authenticated")),
	},
};

static int kapf_mandatory_find(const char *name)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(kapf_mandatory); i++)
		if (!strcmp(kapf_mandatory[i].name, name))
			return i;
	return -1;
}

int kapf_image_refuse(struct kapf_config_error *error, enum kapf_field field,
		      enum kapf_reason reason)
{
	error->field = field;
	error->reason = reason;
	return -EINVAL;
}

static int kapf_check_range(struct kapf_config_error *error,
			    enum kapf_field field, u64 value, u64 min, u64 max)
{
	if (value >= min && value <= max)
		return 0;
	error->value = value;
	error->min = min;
	error->max = max;
	return kapf_image_refuse(error, field, KAPF_REASON_RANGE);
}

/* A number of a mandatory object: it has to be @fixed. */
static int kapf_check_fixed(struct kapf_config_error *error,
			    enum kapf_field field, u64 value, u64 fixed)
{
	if (value == fixed)
		return 0;
	error->value = value;
	error->min = fixed;
	error->max = fixed;
	return kapf_image_refuse(error, field, KAPF_REASON_IMMUTABLE);
}

/* DNS-1123 subdomain: labels of [a-z0-9-], dots between, no dash at an end. */
static bool kapf_name_valid(const char *name)
{
	char before = '.';
	const char *p;

	for (p = name; *p; p++) {
		bool edge = before == '.';

		if (*p == '.') {
			if (edge || before == '-')
				return false;
		} else if (*p == '-') {
			if (edge)
				return false;
		} else if (!islower(*p) && !isdigit(*p)) {
			return false;
		}
		before = *p;
	}
	return before != '.' && before != '-';
}

static int kapf_check_name(struct kapf_config_error *error,
			   enum kapf_field field, const char *name)
{
	size_t len = strnlen(name, KAPF_NAME_BYTES);

	if (len > KAPF_NAME_BYTES - 3 ||
	    memchr_inv(name + len, 0, KAPF_NAME_BYTES - len) ||
	    !kapf_name_valid(name))
		return kapf_image_refuse(error, field, KAPF_REASON_FORMAT);
	return 0;
}

/* What follows a record of @size bytes: its blobs and zeros up to the next. */
static int kapf_check_tail(struct kapf_config_error *error, const void *record,
			   size_t size, u32 rules_len, u32 metadata_len)
{
	const u32 *record_size = record;
	size_t used, padded;
	int ret;

	ret = kapf_check_range(error, KAPF_FIELD_RULES, rules_len, 0,
			       KAPF_MAX_BLOB_BYTES);
	if (!ret)
		ret = kapf_check_range(error, KAPF_FIELD_METADATA,
				       metadata_len, 0, KAPF_MAX_BLOB_BYTES);
	if (ret)
		return ret;
	used = size + rules_len + metadata_len;
	padded = ALIGN(used, 8);
	ret = kapf_check_range(error, KAPF_FIELD_RECORD_SIZE, *record_size,
			       padded, padded);
	if (!ret && memchr_inv(record + used, 0, padded - used))
		ret = kapf_image_refuse(error, KAPF_FIELD_RESERVED,
					KAPF_REASON_FORMAT);
	return ret;
}

static int kapf_check_queuing(const struct kapf_config_level *level,
			      struct kapf_config_error *error)
{
	bool queue = level->type == KAPF_LEVEL_QUEUE;
	u32 hand_max = kapf_hand_max(level->queues);
	int ret;

	ret = kapf_check_range(error, KAPF_FIELD_QUEUES, level->queues,
			       queue, queue ? KAPF_MAX_QUEUES : 0);
	if (!ret)
		ret = kapf_check_range(error, KAPF_FIELD_HAND_SIZE,
				       level->hand_size, queue,
				       queue ? min_t(u32, level->queues,
						     KAPF_MAX_HAND_SIZE) : 0);
	if (!ret)
		ret = kapf_check_range(error, KAPF_FIELD_QUEUE_LENGTH_LIMIT,
				       level->queue_length_limit, queue,
				       queue ? S32_MAX : 0);
	if (!ret && level->hand_size > hand_max) {
		error->value = level->hand_size;
		error->min = 1;
		error->max = hand_max;
		ret = kapf_image_refuse(error, KAPF_FIELD_HAND_SIZE,
					KAPF_REASON_DECK);
	}
	return ret;
}

static int kapf_check_mandatory_level(const struct kapf_config_level *level,
				      struct kapf_config_error *error)
{
	int m = kapf_mandatory_find(level->name);
	int ret;

	if (m < 0)
		return kapf_check_range(error, KAPF_FIELD_TYPE, level->type,
					KAPF_LEVEL_REJECT, KAPF_LEVEL_QUEUE);
	ret = kapf_check_fixed(error, KAPF_FIELD_TYPE, level->type,
			       kapf_mandatory[m].type);
	if (!ret)
		ret = kapf_check_fixed(error,
				       KAPF_FIELD_BORROWING_LIMIT_PERCENT,
				       level->borrowing_limit_percent,
				       KAPF_BORROWING_UNLIMITED);
	if (ret || level->type == KAPF_LEVEL_EXEMPT)
		return ret;
	ret = kapf_check_fixed(error, KAPF_FIELD_NOMINAL_SHARES,
			       level->nominal_shares,
			       kapf_mandatory[m].nominal_shares);
	if (!ret)
		ret = kapf_check_fixed(error, KAPF_FIELD_LENDABLE_PERCENT,
				       level->lendable_percent, 0);
	return ret;
}

static int kapf_check_level(const struct kapf_config_level *level,
			    struct kapf_config_error *error)
{
	int ret;

	ret = kapf_check_tail(error, level, sizeof(*level), 0,
			      level->metadata_len);
	if (!ret && level->reserved)
		ret = kapf_image_refuse(error, KAPF_FIELD_RESERVED,
					KAPF_REASON_FORMAT);
	if (!ret)
		ret = kapf_check_name(error, KAPF_FIELD_NAME, level->name);
	if (!ret)
		ret = kapf_check_mandatory_level(level, error);
	if (!ret)
		ret = kapf_check_range(error, KAPF_FIELD_NOMINAL_SHARES,
				       level->nominal_shares, 0, S32_MAX);
	if (!ret)
		ret = kapf_check_range(error, KAPF_FIELD_LENDABLE_PERCENT,
				       level->lendable_percent, 0, 100);
	if (!ret && level->borrowing_limit_percent != KAPF_BORROWING_UNLIMITED)
		ret = kapf_check_range(error,
				       KAPF_FIELD_BORROWING_LIMIT_PERCENT,
				       level->borrowing_limit_percent,
				       0, S32_MAX);
	if (!ret)
		ret = kapf_check_queuing(level, error);
	return ret;
}

static int kapf_check_mandatory_schema(const struct kapf_config_schema *schema,
				       struct kapf_config_error *error)
{
	int m = kapf_mandatory_find(schema->name);
	const char *rules;
	int ret;

	if (m < 0)
		return kapf_check_range(error, KAPF_FIELD_PRECEDENCE,
					schema->precedence, 2, 10000);
	ret = kapf_check_fixed(error, KAPF_FIELD_PRECEDENCE,
			       schema->precedence,
			       kapf_mandatory[m].precedence);
	if (!ret)
		ret = kapf_check_fixed(error, KAPF_FIELD_DISTINGUISHER,
				       schema->distinguisher,
				       kapf_mandatory[m].distinguisher);
	if (ret)
		return ret;
	if (strcmp(schema->level, kapf_mandatory[m].name))
		return kapf_image_refuse(error, KAPF_FIELD_LEVEL,
					 KAPF_REASON_IMMUTABLE);
	rules = kapf_mandatory[m].rules;
	if (schema->rules_len != strlen(rules) ||
	    memcmp(schema + 1, rules, schema->rules_len))
		return kapf_image_refuse(error, KAPF_FIELD_RULES,
					 KAPF_REASON_IMMUTABLE);
	return 0;
}

static int kapf_check_schema(const struct kapf_config_schema *schema,
			     struct kapf_config_error *error)
{
	int ret;

	ret = kapf_check_tail(error, schema, sizeof(*schema),
			      schema->rules_len, schema->metadata_len);
	if (!ret && schema->reserved)
		ret = kapf_image_refuse(error, KAPF_FIELD_RESERVED,
					KAPF_REASON_FORMAT);
	if (!ret)
		ret = kapf_check_name(error, KAPF_FIELD_NAME, schema->name);
	if (!ret)
		ret = kapf_check_name(error, KAPF_FIELD_LEVEL, schema->level);
	if (!ret)
		ret = kapf_check_range(error, KAPF_FIELD_DISTINGUISHER,
				       schema->distinguisher, 0,
				       KAPF_BY_NAMESPACE);
	if (!ret)
		ret = kapf_check_mandatory_schema(schema, error);
	return ret;
}

static int kapf_check_head(const struct kapf_config *head,
			   struct kapf_config_error *error)
{
	u64 seats = (u64)head->max_requests_inflight +
		    head->max_mutating_requests_inflight;
	int ret;

	if (head->magic != KAPF_CONFIG_MAGIC)
		return kapf_image_refuse(error, KAPF_FIELD_MAGIC,
					 KAPF_REASON_FORMAT);
	ret = kapf_check_range(error, KAPF_FIELD_SERVER_SEATS, seats, 1,
			       KAPF_MAX_SERVER_SEATS);
	if (!ret && head->adjustment_period_ms)
		ret = kapf_check_range(error, KAPF_FIELD_ADJUSTMENT_PERIOD,
				       head->adjustment_period_ms,
				       KAPF_MIN_ADJUSTMENT_PERIOD_MS,
				       KAPF_MAX_ADJUSTMENT_PERIOD_MS);
	if (!ret)
		ret = kapf_check_range(error, KAPF_FIELD_NR_LEVELS,
				       head->nr_levels,
				       ARRAY_SIZE(kapf_mandatory),
				       KAPF_MAX_LEVELS);
	if (!ret)
		ret = kapf_check_range(error, KAPF_FIELD_NR_SCHEMAS,
				       head->nr_schemas,
				       ARRAY_SIZE(kapf_mandatory),
				       KAPF_MAX_SCHEMAS);
	return ret;
}

/* The next record, of at least @size bytes; both kinds begin with their size. */
static const void *kapf_image_next(const void **data, size_t *len, size_t size)
{
	const void *record = *data;
	u32 record_size;

	if (*len < size)
		return NULL;
	record_size = *(const u32 *)record;
	if (record_size < size || record_size > *len || record_size % 8)
		return NULL;
	*data += record_size;
	*len -= record_size;
	return record;
}

static int kapf_compare_names(struct rb_node *a, const struct rb_node *b)
{
	return strcmp(container_of(a, struct kapf_image_name, node)->name,
		      container_of(b, struct kapf_image_name, node)->name);
}

static int kapf_compare_with_name(const void *name, const struct rb_node *node)
{
	return strcmp(name,
		      container_of(node, struct kapf_image_name, node)->name);
}

/* No two objects of a kind have the same name. */
static int kapf_check_unique(struct rb_root *by_name,
			     struct kapf_image_name *entry, const char *name,
			     struct kapf_config_error *error)
{
	entry->name = name;
	if (rb_find_add(&entry->node, by_name, kapf_compare_names))
		return kapf_image_refuse(error, KAPF_FIELD_NAME,
					 KAPF_REASON_DUPLICATE);
	return 0;
}

static int kapf_find_name(const struct rb_root *by_name,
			  const struct kapf_image_name *names,
			  const char *name)
{
	struct rb_node *node = rb_find(name, by_name, kapf_compare_with_name);

	return node ? container_of(node, struct kapf_image_name, node) - names :
		      -1;
}

/**
 * kapf_image_find_level() - the level of this name
 * @image: that has been checked
 * @name: of a level
 *
 * Return: its index; -1: there is none.
 */
int kapf_image_find_level(const struct kapf_image *image, const char *name)
{
	return kapf_find_name(&image->levels_by_name, image->level_names, name);
}

/**
 * kapf_image_find_schema() - the schema of this name
 * @image: that has been checked
 * @name: of a schema
 *
 * Return: its index; -1: there is none.
 */
int kapf_image_find_schema(const struct kapf_image *image, const char *name)
{
	return kapf_find_name(&image->schemas_by_name, image->schema_names,
			      name);
}

static int kapf_check_levels(struct kapf_image *image, const void **data,
			     size_t *len, struct kapf_config_error *error)
{
	u64 queues = 0;
	u32 i;
	int ret;

	error->object = KAPF_OBJECT_LEVEL;
	for (i = 0; i < image->head->nr_levels; i++) {
		const struct kapf_config_level *level;

		error->index = i;
		level = kapf_image_next(data, len, sizeof(*level));
		if (!level)
			return kapf_image_refuse(error, KAPF_FIELD_RECORD_SIZE,
						 KAPF_REASON_FORMAT);
		ret = kapf_check_level(level, error);
		if (!ret)
			ret = kapf_check_unique(&image->levels_by_name,
						&image->level_names[i],
						level->name, error);
		if (ret)
			return ret;
		queues += level->queues;
		if (queues > kapf_max_queues) {
			error->value = queues;
			error->max = kapf_max_queues;
			kapf_image_refuse(error, KAPF_FIELD_QUEUES,
					  KAPF_REASON_LIMIT);
			return -ENOSPC;
		}
		image->levels[i] = level;
	}
	return 0;
}

static int kapf_check_schemas(struct kapf_image *image, const void **data,
			      size_t *len, struct kapf_config_error *error)
{
	u32 i;
	int ret;

	error->object = KAPF_OBJECT_SCHEMA;
	for (i = 0; i < image->head->nr_schemas; i++) {
		const struct kapf_config_schema *schema;

		error->index = i;
		schema = kapf_image_next(data, len, sizeof(*schema));
		if (!schema)
			return kapf_image_refuse(error, KAPF_FIELD_RECORD_SIZE,
						 KAPF_REASON_FORMAT);
		ret = kapf_check_schema(schema, error);
		if (!ret)
			ret = kapf_check_unique(&image->schemas_by_name,
						&image->schema_names[i],
						schema->name, error);
		if (ret)
			return ret;
		image->schemas[i] = schema;
		cond_resched();
	}
	return 0;
}

static int kapf_check_complete(const struct kapf_image *image,
			       struct kapf_config_error *error)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(kapf_mandatory); i++) {
		const char *name = kapf_mandatory[i].name;

		if (kapf_image_find_level(image, name) < 0)
			error->object = KAPF_OBJECT_LEVEL;
		else if (kapf_image_find_schema(image, name) < 0)
			error->object = KAPF_OBJECT_SCHEMA;
		else
			continue;
		error->index = 0;
		error->min = i;
		error->max = i;
		return kapf_image_refuse(error, KAPF_FIELD_NAME,
					 KAPF_REASON_MISSING);
	}
	return 0;
}

/**
 * kapf_image_check() - is an image a sound configuration?
 * @image: zeroed; out: where its records are
 * @data: the image, aligned to 8 bytes
 * @len: of the image
 * @error: out: what is wrong with it
 *
 * Return: 0, or -EINVAL or -ENOSPC and @error.
 */
int kapf_image_check(struct kapf_image *image, const void *data, size_t len,
		     struct kapf_config_error *error)
{
	int ret;

	*error = (struct kapf_config_error) { };
	image->head = data;
	if (len < sizeof(*image->head))
		return kapf_image_refuse(error, KAPF_FIELD_RECORD_SIZE,
					 KAPF_REASON_FORMAT);
	data += sizeof(*image->head);
	len -= sizeof(*image->head);

	ret = kapf_check_head(image->head, error);
	if (!ret)
		ret = kapf_check_levels(image, &data, &len, error);
	if (!ret)
		ret = kapf_check_schemas(image, &data, &len, error);
	if (!ret)
		ret = kapf_check_complete(image, error);
	if (ret)
		return ret;

	*error = (struct kapf_config_error) { };
	if (len)
		return kapf_image_refuse(error, KAPF_FIELD_RECORD_SIZE,
					 KAPF_REASON_FORMAT);
	return 0;
}

/**
 * kapf_image_builtin() - what an instance starts with: the mandatory objects and
 *	the in-flight limits that a kube-apiserver has by default
 * @len: out: of the image
 *
 * Return: an image, to be freed with kfree(); NULL when memory is short.
 */
void *kapf_image_builtin(size_t *len)
{
	size_t size = sizeof(struct kapf_config);
	struct kapf_config_schema *schema;
	struct kapf_config_level *level;
	struct kapf_config *head;
	int i;

	for (i = 0; i < ARRAY_SIZE(kapf_mandatory); i++)
		size += sizeof(*level) + sizeof(*schema) +
			ALIGN(strlen(kapf_mandatory[i].rules), 8);
	head = kzalloc(size, GFP_KERNEL);
	if (!head)
		return NULL;
	*len = size;
	head->magic = KAPF_CONFIG_MAGIC;
	head->max_requests_inflight = 400;
	head->max_mutating_requests_inflight = 200;
	head->nr_levels = ARRAY_SIZE(kapf_mandatory);
	head->nr_schemas = ARRAY_SIZE(kapf_mandatory);

	level = (void *)(head + 1);
	for (i = 0; i < ARRAY_SIZE(kapf_mandatory); i++, level++) {
		level->record_size = sizeof(*level);
		level->type = kapf_mandatory[i].type;
		level->nominal_shares = kapf_mandatory[i].nominal_shares;
		level->borrowing_limit_percent = KAPF_BORROWING_UNLIMITED;
		strscpy(level->name, kapf_mandatory[i].name,
			sizeof(level->name));
	}
	schema = (void *)level;
	for (i = 0; i < ARRAY_SIZE(kapf_mandatory); i++) {
		schema->rules_len = strlen(kapf_mandatory[i].rules);
		schema->record_size = sizeof(*schema) +
				      ALIGN(schema->rules_len, 8);
		schema->precedence = kapf_mandatory[i].precedence;
		schema->distinguisher = kapf_mandatory[i].distinguisher;
		strscpy(schema->name, kapf_mandatory[i].name,
			sizeof(schema->name));
		strscpy(schema->level, kapf_mandatory[i].name,
			sizeof(schema->level));
		memcpy(schema + 1, kapf_mandatory[i].rules, schema->rules_len);
		schema = (void *)schema + schema->record_size;
	}
	return head;
}
