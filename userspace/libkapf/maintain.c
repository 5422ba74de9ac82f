// SPDX-License-Identifier: LGPL-2.1
/*
 * The maintenance of the default objects: which of them are set to what
 * Kubernetes brings along, which are left to their owner, and which have gone
 * out of use.  The rules are those of the kube-apiserver, in
 * k8s.io/kubernetes/pkg/registry/flowcontrol/ensurer.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Is the spec of this object ours, rather than its owner's? */
static bool is_ours(const char *name, const struct kapf_meta *meta,
		    uint64_t spec_generation)
{
	int autoupdate = kapf_meta_autoupdate(meta);

	if (kapf_is_mandatory(name))
		return true;
	/* Who has not said anything has not changed anything, either. */
	return autoupdate < 0 ? spec_generation == 1 : autoupdate;
}

/*
 * Of the mandatory levels nothing but the shares and the lendable percent of
 * exempt can differ, and these are the owner's.
 */
static void copy_level_spec(struct kapf_priority_level *to,
			    const struct kapf_priority_level *from)
{
	if (kapf_is_mandatory(to->name))
		return;
	to->type = from->type;
	to->nominal_shares = from->nominal_shares;
	to->lendable_percent = from->lendable_percent;
	to->borrowing_limit_percent = from->borrowing_limit_percent;
	to->queues = from->queues;
	to->hand_size = from->hand_size;
	to->queue_length_limit = from->queue_length_limit;
}

/* @from gets the rules of @to. */
static void exchange_schema_spec(struct kapf_flow_schema *to,
				 struct kapf_flow_schema *from)
{
	struct kapf_rules *rules = to->rules;
	char *rules_json = to->rules_json;

	kapf_name_copy(to->level, from->level);
	to->precedence = from->precedence;
	to->distinguisher = from->distinguisher;
	to->rules = from->rules;
	to->rules_json = from->rules_json;
	from->rules = rules;
	from->rules_json = rules_json;
}

/* @fresh: the default, of which parts may be taken; @config has room for it */
static int maintain_level(struct kapf_configuration *config,
			  struct kapf_priority_level *fresh)
{
	struct kapf_priority_level *level =
		kapf_config_level(config, fresh->name);
	bool ours;

	if (!level) {
		kapf_config_put_level(config, fresh);
		fresh->meta = (struct kapf_meta) {};
		return 0;
	}
	ours = is_ours(level->name, &level->meta, level->spec_generation);
	if (ours)
		copy_level_spec(level, fresh);
	return kapf_meta_set_autoupdate(&level->meta, ours);
}

static int maintain_schema(struct kapf_configuration *config,
			   struct kapf_flow_schema *fresh)
{
	struct kapf_flow_schema *schema =
		kapf_config_schema(config, fresh->name);
	bool ours;

	if (!schema) {
		kapf_config_put_schema(config, fresh);
		fresh->rules = NULL;
		fresh->rules_json = NULL;
		fresh->meta = (struct kapf_meta) {};
		return 0;
	}
	ours = is_ours(schema->name, &schema->meta, schema->spec_generation);
	if (ours)
		exchange_schema_spec(schema, fresh);
	return kapf_meta_set_autoupdate(&schema->meta, ours);
}

/* What was a default object of another version of Kubernetes, and is none now. */
static void remove_unwanted(struct kapf_configuration *config,
			    const struct kapf_configuration *defaults)
{
	for (size_t i = config->nr_levels; i-- > 0;) {
		const struct kapf_priority_level *level = &config->levels[i];

		if (kapf_meta_autoupdate(&level->meta) == 1 &&
		    !kapf_config_level(defaults, level->name))
			kapf_config_remove_level(config, level->name);
	}
	for (size_t i = config->nr_schemas; i-- > 0;) {
		const struct kapf_flow_schema *schema = &config->schemas[i];

		if (kapf_meta_autoupdate(&schema->meta) == 1 &&
		    !kapf_config_schema(defaults, schema->name))
			kapf_config_remove_schema(config, schema->name);
	}
}

int kapf_config_maintain(struct kapf_configuration *config)
{
	struct kapf_configuration *defaults = kapf_config_new();
	int ret = -ENOMEM;

	if (defaults)
		ret = kapf_config_add_defaults(defaults);
	if (!ret)
		ret = kapf_config_reserve(config, defaults->nr_levels,
					  defaults->nr_schemas);
	if (!ret)
		remove_unwanted(config, defaults);
	for (size_t i = 0; !ret && i < defaults->nr_levels; i++)
		ret = maintain_level(config, &defaults->levels[i]);
	for (size_t i = 0; !ret && i < defaults->nr_schemas; i++)
		ret = maintain_schema(config, &defaults->schemas[i]);
	kapf_config_sort(config);
	kapf_config_free(defaults);
	return ret;
}
