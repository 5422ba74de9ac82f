// SPDX-License-Identifier: LGPL-2.1
/*
 * Configuration images, in which a configuration travels to the kernel and
 * back.  The kernel is trusted, but not to be of the same mind: what makes no
 * sense is refused, so that nothing behind this has to expect it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static size_t padded(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

static void write_blob(FILE *to, const char *blob, size_t record_size,
		       size_t used)
{
	size_t len = strlen(blob);

	fwrite(blob, 1, len, to);
	for (used += len; used < record_size; used++)
		fputc(0, to);
}

static int write_level(FILE *to, const struct kapf_priority_level *level)
{
	struct kapf_config_level record = {
		.id = level->id,
		.type = level->type,
		.nominal_shares = level->nominal_shares,
		.lendable_percent = level->lendable_percent,
		.borrowing_limit_percent = level->borrowing_limit_percent,
		.queues = level->queues,
		.hand_size = level->hand_size,
		.queue_length_limit = level->queue_length_limit,
		.nominal_seats = level->nominal_seats,
	};
	char *metadata;
	int ret = kapf_meta_json(&level->meta, &metadata);

	if (ret)
		return ret;
	memcpy(record.uid, level->uid, sizeof(record.uid));
	record.spec_generation = level->spec_generation;
	record.resource_version = level->resource_version;
	kapf_name_copy(record.name, level->name);
	record.metadata_len = strlen(metadata);
	record.record_size = padded(sizeof(record) + record.metadata_len);
	fwrite(&record, sizeof(record), 1, to);
	write_blob(to, metadata, record.record_size, sizeof(record));
	free(metadata);
	return 0;
}

static int write_schema(FILE *to, const struct kapf_flow_schema *schema)
{
	struct kapf_config_schema record = {
		.id = schema->id,
		.precedence = schema->precedence,
		.distinguisher = schema->distinguisher,
		.flags = schema->dangling ? KAPF_SCHEMA_DANGLING : 0,
		.rules_len = strlen(schema->rules_json),
	};
	char *metadata;
	int ret = kapf_meta_json(&schema->meta, &metadata);

	if (ret)
		return ret;
	memcpy(record.uid, schema->uid, sizeof(record.uid));
	record.spec_generation = schema->spec_generation;
	record.resource_version = schema->resource_version;
	kapf_name_copy(record.name, schema->name);
	kapf_name_copy(record.level, schema->level);
	record.metadata_len = strlen(metadata);
	record.record_size = padded(sizeof(record) + record.rules_len +
				    record.metadata_len);
	fwrite(&record, sizeof(record), 1, to);
	fwrite(schema->rules_json, 1, record.rules_len, to);
	write_blob(to, metadata, record.record_size,
		   sizeof(record) + record.rules_len);
	free(metadata);
	return 0;
}

/**
 * kapf_image_encode() - a configuration as an image
 * @config: the configuration
 * @image: out: to be freed
 * @len: out: of @image, in bytes
 * @err: says why it failed; may be NULL
 *
 * Return: 0, -ENOMEM, or -E2BIG for one above KAPF_MAX_IMAGE_BYTES.
 */
int kapf_image_encode(const struct kapf_configuration *config, void **image,
		      size_t *len, struct kapf_error *err)
{
	const struct kapf_config head = {
		.magic = KAPF_CONFIG_MAGIC,
		.max_requests_inflight = config->max_requests_inflight,
		.max_mutating_requests_inflight =
			config->max_mutating_requests_inflight,
		.adjustment_period_ms = config->adjustment_period_ms,
		.nr_levels = config->nr_levels,
		.nr_schemas = config->nr_schemas,
	};
	char *bytes = NULL;
	FILE *to = open_memstream(&bytes, len);
	int ret = 0;

	if (!to)
		return -ENOMEM;
	fwrite(&head, sizeof(head), 1, to);
	for (size_t i = 0; !ret && i < config->nr_levels; i++)
		ret = write_level(to, &config->levels[i]);
	for (size_t i = 0; !ret && i < config->nr_schemas; i++)
		ret = write_schema(to, &config->schemas[i]);
	if (ferror(to))
		ret = -ENOMEM;
	if (fclose(to))
		ret = -ENOMEM;
	if (!ret && *len > KAPF_MAX_IMAGE_BYTES) {
		kapf_error_set(err, "the configuration is %zu bytes: must be at most %d",
			       *len, KAPF_MAX_IMAGE_BYTES);
		ret = -E2BIG;
	}
	if (ret)
		free(bytes);
	else
		*image = bytes;
	return ret;
}

/**
 * struct record - what is left of an image
 * @at: the present record
 * @left: bytes from there to the end of the image
 * @kind: of the object, for messages
 * @index: of the object, for messages
 * @err: where refusals go
 */
struct record {
	const char *at;
	size_t left;
	const char *kind;
	size_t index;
	struct kapf_error *err;
};

static int refuse(const struct record *record, const char *field)
{
	kapf_error_set(record->err, "the kernel's configuration makes no sense: %s %zu: %s",
		       record->kind, record->index, field);
	return -EPROTO;
}

/* Is there a record of @size bytes, of which @used are in use? */
static bool is_whole(const struct record *record, size_t size, size_t used)
{
	return size <= record->left && used <= size && size % 8 == 0;
}

static bool is_name(const char *name)
{
	return memchr(name, '\0', KAPF_NAME_BYTES) && kapf_is_subdomain(name);
}

static bool is_queuing(const struct kapf_config_level *level)
{
	if (level->type != KAPF_LEVEL_QUEUE)
		return !level->queues && !level->hand_size &&
		       !level->queue_length_limit;
	return level->queues && level->queues <= KAPF_MAX_QUEUES &&
	       level->hand_size && level->queue_length_limit &&
	       level->hand_size <= kapf_max_hand(level->queues);
}

static int take_level(struct record *from, struct kapf_priority_level *to)
{
	struct kapf_config_level record;
	int ret;

	if (from->left < sizeof(record))
		return refuse(from, "is cut off");
	memcpy(&record, from->at, sizeof(record));
	if (!is_whole(from, record.record_size, sizeof(record) +
		      (size_t)record.metadata_len))
		return refuse(from, "record_size");
	if (!is_name(record.name))
		return refuse(from, "name");
	if (record.type < KAPF_LEVEL_EXEMPT || record.type > KAPF_LEVEL_QUEUE)
		return refuse(from, "type");
	if (!is_queuing(&record))
		return refuse(from, "queues, hand_size, queue_length_limit");
	kapf_name_copy(to->name, record.name);
	memcpy(to->uid, record.uid, sizeof(to->uid));
	to->spec_generation = record.spec_generation;
	to->resource_version = record.resource_version;
	to->id = record.id;
	to->type = record.type;
	to->nominal_shares = record.nominal_shares;
	to->lendable_percent = record.lendable_percent;
	to->borrowing_limit_percent = record.borrowing_limit_percent;
	to->queues = record.queues;
	to->hand_size = record.hand_size;
	to->queue_length_limit = record.queue_length_limit;
	to->nominal_seats = record.nominal_seats;
	ret = kapf_meta_parse(from->at + sizeof(record), record.metadata_len,
			      &to->meta);
	if (ret == -EINVAL)
		return refuse(from, "metadata");
	from->at += record.record_size;
	from->left -= record.record_size;
	return ret;
}

static int take_schema(struct record *from, struct kapf_flow_schema *to)
{
	struct kapf_config_schema record;
	const char *rules, *metadata;
	int ret;

	if (from->left < sizeof(record))
		return refuse(from, "is cut off");
	memcpy(&record, from->at, sizeof(record));
	if (!is_whole(from, record.record_size, sizeof(record) +
		      (size_t)record.rules_len + record.metadata_len))
		return refuse(from, "record_size");
	if (!is_name(record.name))
		return refuse(from, "name");
	if (!is_name(record.level))
		return refuse(from, "level");
	if (record.distinguisher > KAPF_BY_NAMESPACE)
		return refuse(from, "distinguisher");
	kapf_name_copy(to->name, record.name);
	kapf_name_copy(to->level, record.level);
	memcpy(to->uid, record.uid, sizeof(to->uid));
	to->spec_generation = record.spec_generation;
	to->resource_version = record.resource_version;
	to->id = record.id;
	to->precedence = record.precedence;
	to->distinguisher = record.distinguisher;
	to->dangling = record.flags & KAPF_SCHEMA_DANGLING;
	rules = from->at + sizeof(record);
	metadata = rules + record.rules_len;
	to->rules_json = strndup(rules, record.rules_len);
	if (!to->rules_json)
		return -ENOMEM;
	ret = kapf_rules_parse(rules, record.rules_len, &to->rules, NULL);
	if (ret == -EINVAL)
		return refuse(from, "rules");
	if (!ret)
		ret = kapf_meta_parse(metadata, record.metadata_len, &to->meta);
	if (ret == -EINVAL)
		return refuse(from, "metadata");
	from->at += record.record_size;
	from->left -= record.record_size;
	return ret;
}

/* @config: empty; an object that cannot be taken whole is destroyed with it */
static int take_objects(struct record *from, const struct kapf_config *head,
			struct kapf_configuration *config)
{
	int ret = kapf_config_reserve(config, head->nr_levels,
				      head->nr_schemas);

	if (ret)
		return ret;
	memset(config->levels, 0, head->nr_levels * sizeof(*config->levels));
	memset(config->schemas, 0, head->nr_schemas * sizeof(*config->schemas));
	from->kind = "PriorityLevelConfiguration";
	for (size_t i = 0; !ret && i < head->nr_levels; i++) {
		from->index = i;
		ret = take_level(from, &config->levels[config->nr_levels++]);
	}
	from->kind = "FlowSchema";
	for (size_t i = 0; !ret && i < head->nr_schemas; i++) {
		from->index = i;
		ret = take_schema(from, &config->schemas[config->nr_schemas++]);
	}
	return ret;
}

/**
 * kapf_image_decode() - a configuration from an image
 * @image: that the kernel wrote
 * @len: of @image, in bytes
 * @config: out
 * @err: says why it failed; may be NULL
 *
 * Return: 0, -ENOMEM, or -EPROTO for an image that makes no sense.
 */
int kapf_image_decode(const void *image, size_t len,
		      struct kapf_configuration **config,
		      struct kapf_error *err)
{
	struct record from = { .kind = "image", .err = err };
	struct kapf_configuration *read;
	struct kapf_config head;
	int ret;

	if (len < sizeof(head))
		return refuse(&from, "is cut off");
	memcpy(&head, image, sizeof(head));
	if (head.magic != KAPF_CONFIG_MAGIC)
		return refuse(&from, "magic");
	if (head.nr_levels > KAPF_MAX_LEVELS ||
	    head.nr_schemas > KAPF_MAX_SCHEMAS)
		return refuse(&from, "nr_levels, nr_schemas");
	read = calloc(1, sizeof(*read));
	if (!read)
		return -ENOMEM;
	read->max_requests_inflight = head.max_requests_inflight;
	read->max_mutating_requests_inflight =
		head.max_mutating_requests_inflight;
	read->adjustment_period_ms = head.adjustment_period_ms;
	from.at = (const char *)image + sizeof(head);
	from.left = len - sizeof(head);
	ret = take_objects(&from, &head, read);
	if (!ret && from.left)
		ret = refuse(&from, "is followed by more");
	/* What nothing matches goes there. */
	if (!ret && !kapf_config_schema(read, KAPF_NAME_CATCH_ALL))
		ret = refuse(&from, "catch-all is missing");
	if (ret) {
		kapf_config_free(read);
		return ret;
	}
	kapf_config_sort(read);
	*config = read;
	return 0;
}
