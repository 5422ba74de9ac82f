// SPDX-License-Identifier: GPL-2.0
/*
 * The maintenance of the default objects, case by case; and what removing
 * objects leaves.
 */
#include <stdio.h>
#include <stdlib.h>

#include "test.h"

#define AUTOUPDATE "apf.kubernetes.io/autoupdate-spec"
#define SYSTEM(metadata) \
	LEVEL("name: system" metadata, "nominalConcurrencyShares: 7, ")
#define PROBES(metadata) \
	SCHEMA("name: probes" metadata, \
	       "matchingPrecedence: 9, " TO("system") ", " RULES)
#define RULES \
	"rules: [{subjects: [{kind: User, user: {name: u}}], " \
	"nonResourceRules: [{verbs: [get], nonResourceURLs: [/x]}]}]"
#define SAYS(value)	", annotations: {" AUTOUPDATE ": \"" value "\"}"

#define EXEMPT_SPEC \
	"type: Exempt, exempt: {nominalConcurrencyShares: 9, lendablePercent: 8}"

/* @meta as JSON is @expected */
static bool is_meta(const struct kapf_meta *meta, const char *expected)
{
	char *json;
	bool is;

	kapf_meta_json(meta, &json);
	is = !strcmp(json, expected);
	if (!is)
		note("metadata: %s", json);
	free(json);
	return is;
}

static bool says(const struct kapf_meta *meta, const char *value)
{
	char expected[128];

	snprintf(expected, sizeof(expected),
		 "{\"annotations\":{\"" AUTOUPDATE "\":\"%s\"}}", value);
	return is_meta(meta, expected);
}

/* A suggested level and a suggested schema, changed by their owner */
static void test_suggested(void)
{
	static const struct {
		const char *text;
		uint64_t spec_generation;
		bool is_default;
		const char *value;
	} cases[] = {
		{ SYSTEM(SAYS("true")) PROBES(SAYS("true")), 5, true, "true" },
		{ SYSTEM(SAYS("T")) PROBES(SAYS("T")), 5, true, "T" },
		{ SYSTEM(SAYS("false")) PROBES(SAYS("false")), 1, false,
		  "false" },
		{ SYSTEM(SAYS("F")) PROBES(SAYS("F")), 1, false, "F" },
		{ SYSTEM("") PROBES(""), 1, true, "true" },
		{ SYSTEM("") PROBES(""), 2, false, "false" },
		{ SYSTEM(SAYS("yes")) PROBES(SAYS("yes")), 1, true, "true" },
		{ SYSTEM(SAYS("yes")) PROBES(SAYS("yes")), 2, false, "false" },
	};

	for (size_t i = 0; i < SIZE(cases); i++) {
		struct kapf_configuration *config = kapf_config_new();
		struct kapf_priority_level *level;
		struct kapf_flow_schema *schema;
		bool is_default = cases[i].is_default;

		merge(config, cases[i].text, NULL);
		level = kapf_config_level(config, "system");
		level->spec_generation = cases[i].spec_generation;
		level->id = 5;
		schema = kapf_config_schema(config, "probes");
		schema->spec_generation = cases[i].spec_generation;
		schema->id = 6;
		ok(!kapf_config_maintain(config), "maintain: case %zu", i);
		level = kapf_config_level(config, "system");
		ok(level->type == (is_default ? KAPF_LEVEL_QUEUE :
						KAPF_LEVEL_REJECT) &&
		   level->nominal_shares == (is_default ? 30 : 7) &&
		   level->lendable_percent == (is_default ? 33 : 0) &&
		   level->queues == (is_default ? 64 : 0) &&
		   level->hand_size == (is_default ? 6 : 0) &&
		   level->queue_length_limit == (is_default ? 50 : 0) &&
		   level->id == 5 && says(&level->meta, cases[i].value),
		   "maintain: the level of case %zu", i);
		schema = kapf_config_schema(config, "probes");
		ok(schema->precedence == (is_default ? 2 : 9) &&
		   !strcmp(schema->level, is_default ? "exempt" : "system") &&
		   !strstr(schema->rules_json, "\"/x\"") == is_default &&
		   schema->rules->rules[0].nr_subjects == (is_default ? 2 : 1) &&
		   schema->id == 6 && says(&schema->meta, cases[i].value),
		   "maintain: the schema of case %zu", i);
		kapf_config_free(config);
	}
}

/* Is there what there should be, in its order? */
static bool is_all_default(const struct kapf_configuration *config)
{
	struct kapf_configuration *defaults = kapf_config_new();
	bool equal;

	kapf_config_add_defaults(defaults);
	equal = config->nr_levels == defaults->nr_levels &&
		config->nr_schemas == defaults->nr_schemas;
	for (size_t i = 0; equal && i < config->nr_levels; i++)
		equal = !strcmp(config->levels[i].name,
				defaults->levels[i].name) &&
			config->levels[i].nominal_shares ==
				defaults->levels[i].nominal_shares &&
			says(&config->levels[i].meta, "true");
	for (size_t i = 0; equal && i < config->nr_schemas; i++)
		equal = !strcmp(config->schemas[i].name,
				defaults->schemas[i].name) &&
			!strcmp(config->schemas[i].rules_json,
				defaults->schemas[i].rules_json) &&
			says(&config->schemas[i].meta, "true");
	kapf_config_free(defaults);
	return equal;
}

static void test_missing(void)
{
	struct kapf_configuration *config = kapf_config_new();

	ok(!kapf_config_maintain(config) && is_all_default(config),
	   "maintain: suggested objects are created");
	kapf_config_remove_level(config, "system");
	kapf_config_remove_level(config, "catch-all");
	kapf_config_remove_schema(config, "probes");
	kapf_config_remove_schema(config, "exempt");
	ok(config->nr_levels == 6 && config->nr_schemas == 9,
	   "maintain: four objects are removed");
	ok(!kapf_config_maintain(config) && is_all_default(config),
	   "maintain: missing objects are created anew");
	ok(!kapf_config_maintain(config) && is_all_default(config),
	   "maintain: a second time changes nothing");
	kapf_config_free(config);
}

static void test_mandatory(void)
{
	static const char text[] =
		OBJECT("PriorityLevelConfiguration",
		       "name: exempt" SAYS("false"), EXEMPT_SPEC);
	struct kapf_configuration *config = kapf_config_new();
	struct kapf_priority_level *level;

	merge(config, text, NULL);
	kapf_config_level(config, "exempt")->spec_generation = 3;
	kapf_config_maintain(config);
	level = kapf_config_level(config, "exempt");
	ok(level->nominal_shares == 9 && level->lendable_percent == 8,
	   "maintain: the shares of exempt are its owner's");
	ok(says(&level->meta, "true"),
	   "maintain: a mandatory object cannot be kept from it");
	kapf_config_free(config);
}

static void test_unwanted(void)
{
	static const char *const values[] = { "true", "1" };
	static const char *const kept[] = { "false", "yes", "" };
	struct kapf_configuration *config = kapf_config_new();
	char text[1024];

	for (size_t i = 0; i < SIZE(values); i++) {
		snprintf(text, sizeof(text),
			 LEVEL("name: old%zu" SAYS("%s"), "")
			 SCHEMA("name: old%zu" SAYS("%s"), TO("x")),
			 i, values[i], i, values[i]);
		merge(config, text, NULL);
	}
	for (size_t i = 0; i < SIZE(kept); i++) {
		snprintf(text, sizeof(text),
			 LEVEL("name: own%zu" SAYS("%s"), "")
			 SCHEMA("name: own%zu" SAYS("%s"), TO("x")),
			 i, kept[i], i, kept[i]);
		merge(config, text, NULL);
	}
	merge(config, LEVEL("name: own3", "") SCHEMA("name: own3", TO("x")),
	      NULL);
	kapf_config_maintain(config);
	ok(!kapf_config_level(config, "old0") &&
	   !kapf_config_level(config, "old1") &&
	   !kapf_config_schema(config, "old0") &&
	   !kapf_config_schema(config, "old1"),
	   "maintain: what is default no more is removed");
	ok(config->nr_levels == 8 + 4 && config->nr_schemas == 11 + 4 &&
	   says(&kapf_config_level(config, "own0")->meta, "false") &&
	   says(&kapf_config_level(config, "own1")->meta, "yes") &&
	   says(&kapf_config_schema(config, "own2")->meta, "") &&
	   is_meta(&kapf_config_schema(config, "own3")->meta, ""),
	   "maintain: what is somebody's own is left alone");
	kapf_config_free(config);
}

static void test_labels(void)
{
	static const char kept[] = "{\"annotations\":{\"a\":\"b\",\"" AUTOUPDATE
		"\":\"true\"},\"labels\":{\"c\":\"d\"}}";
	struct kapf_configuration *config = kapf_config_new();
	struct kapf_flow_schema *schema;

	merge(config, PROBES(", labels: {c: d}, annotations: {a: b}"), NULL);
	kapf_config_schema(config, "probes")->spec_generation = 1;
	kapf_config_maintain(config);
	schema = kapf_config_schema(config, "probes");
	ok(schema->precedence == 2 && is_meta(&schema->meta, kept),
	   "maintain: labels and other annotations stay");
	kapf_config_free(config);
}

static void test_removing(void)
{
	struct kapf_configuration *config = kapf_config_new();

	merge(config, LEVEL("name: a", "") LEVEL("name: x", "")
	      SCHEMA("name: s", TO("x")) SCHEMA("name: t", TO("x")), NULL);
	kapf_config_schema(config, "t")->id = 9;
	kapf_config_level(config, "x")->id = 8;
	kapf_config_nominal(config);
	ok(!kapf_config_remove_level(config, "a") && config->nr_levels == 3 &&
	   !kapf_config_level(config, "a") &&
	   kapf_config_level(config, "x")->id == 8,
	   "config: a level is removed");
	ok(!kapf_config_remove_schema(config, "s") && config->nr_schemas == 3 &&
	   !kapf_config_schema(config, "s") &&
	   kapf_config_schema(config, "t")->id == 9,
	   "config: a schema is removed");
	ok(!kapf_config_remove_level(config, "x"), "config: the last level");
	kapf_config_nominal(config);
	ok(kapf_config_schema(config, "t")->dangling,
	   "config: its schemas dangle");
	ok(kapf_config_remove_level(config, "x") == -ENOENT &&
	   kapf_config_remove_schema(config, "x") == -ENOENT &&
	   config->nr_levels == 2 && config->nr_schemas == 3,
	   "config: what is not there cannot be removed");
	ok(kapf_is_mandatory("exempt") && kapf_is_mandatory("catch-all") &&
	   !kapf_is_mandatory("probes"), "config: two names are mandatory");
	kapf_config_free(config);
}

void test_maintenance(void)
{
	test_suggested();
	test_missing();
	test_mandatory();
	test_unwanted();
	test_labels();
	test_removing();
}
