// SPDX-License-Identifier: GPL-2.0
/*
 * Any text as a manifest: it is refused with a sentence and changes nothing, or
 * makes a configuration that stays the same when the text comes again, and on
 * its way to the kernel and back.
 */
#include <string.h>

#include "fuzz.h"
#include "internal.h"

static void check_refusal(int ret, const struct kapf_error *err,
			  const struct kapf_configuration *config)
{
	insist(ret == -EINVAL);
	insist(!strncmp(err->text, "x:", 2));
	insist(!strpbrk(err->text, "\n\r\033"));
	insist(config->nr_levels == 2 && config->nr_schemas == 2);
}

static void check_level(const struct kapf_priority_level *level)
{
	insist(kapf_is_subdomain(level->name));
	insist(level->nominal_shares <= KAPF_MAX_INT32);
	insist(level->lendable_percent <= 100);
	insist((level->type == KAPF_LEVEL_EXEMPT) ==
	       !strcmp(level->name, KAPF_NAME_EXEMPT));
	if (level->type == KAPF_LEVEL_QUEUE)
		insist(level->hand_size && level->queue_length_limit &&
		       level->hand_size <= kapf_max_hand(level->queues));
	else
		insist(!level->queues && !level->hand_size &&
		       !level->queue_length_limit);
	insist(kapf_max_seats(level) >= 1);
}

/* Rules that are read from their canonical form have the same. */
static void check_schema(const struct kapf_flow_schema *schema)
{
	struct kapf_rules *rules;
	char *again;

	insist(kapf_is_subdomain(schema->name));
	insist(kapf_is_subdomain(schema->level));
	insist(schema->precedence >= 1 && schema->precedence <= 10000);
	insist((schema->precedence == 1) ==
	       !strcmp(schema->name, KAPF_NAME_EXEMPT));
	insist(!kapf_rules_parse(schema->rules_json, strlen(schema->rules_json),
				 &rules, NULL));
	again = kapf_rules_json(rules);
	insist(!strcmp(again, schema->rules_json));
	free(again);
	kapf_rules_free(rules);
}

static void check_order(const struct kapf_configuration *config)
{
	size_t i;

	for (i = 1; i < config->nr_levels; i++)
		insist(strcmp(config->levels[i - 1].name,
			      config->levels[i].name) < 0);
	for (i = 1; i < config->nr_schemas; i++) {
		const struct kapf_flow_schema *schema = &config->schemas[i];

		insist(schema[-1].precedence < schema->precedence ||
		       (schema[-1].precedence == schema->precedence &&
			strcmp(schema[-1].name, schema->name) < 0));
	}
}

/* NULL: it is too large for the kernel, and that is said. */
static void *encode(const struct kapf_configuration *config, size_t *len)
{
	struct kapf_error err = {};
	void *image;
	int ret = kapf_image_encode(config, &image, len, &err);

	if (!ret)
		return image;
	insist(ret == -E2BIG && *err.text);
	return NULL;
}

static void check_image(const struct kapf_configuration *config,
			const void *image, size_t len)
{
	struct kapf_configuration *back;
	struct kapf_error err = {};
	size_t again_len;
	void *again;

	if (config->nr_levels > KAPF_MAX_LEVELS ||
	    config->nr_schemas > KAPF_MAX_SCHEMAS)
		return;
	insist(!kapf_image_decode(image, len, &back, &err));
	again = encode(back, &again_len);
	insist(again && again_len == len && !memcmp(again, image, len));
	free(again);
	kapf_config_free(back);
}

static void check_accepted(struct kapf_configuration *config,
			   const char *text, size_t size)
{
	const struct kapf_digest digest = { .verb = "get", .path = "/" };
	size_t i, len, again_len;
	void *image, *again;

	for (i = 0; i < config->nr_levels; i++)
		check_level(&config->levels[i]);
	for (i = 0; i < config->nr_schemas; i++)
		check_schema(&config->schemas[i]);
	check_order(config);
	kapf_config_nominal(config);
	insist(kapf_classify(config, &digest));

	image = encode(config, &len);
	if (!image)
		return;
	check_image(config, image, len);
	insist(!kapf_config_merge(config, text, size, "x", NULL));
	kapf_config_nominal(config);
	again = encode(config, &again_len);
	insist(again && again_len == len && !memcmp(again, image, len));
	free(again);
	free(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kapf_configuration *config = kapf_config_new();
	const char *text = (const char *)data;
	struct kapf_error err = {};
	int ret = kapf_config_merge(config, text, size, "x", &err);

	if (ret)
		check_refusal(ret, &err, config);
	else
		check_accepted(config, text, size);
	kapf_config_free(config);
	return 0;
}
