// SPDX-License-Identifier: GPL-2.0
/*
 * Configurations: the default objects, what merging replaces and keeps, nominal
 * limits, and the manifests that come with the project.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "test.h"

/* Merges a file of the directory manifests. */
static int merge_file(struct kapf_configuration *config, const char *name,
		      struct kapf_error *err)
{
	char path[512], text[64 * 1024];
	size_t len;
	FILE *file;

	snprintf(path, sizeof(path), MANIFESTS "/%s", name);
	file = fopen(path, "r");
	if (!file) {
		kapf_error_set(err, "%s: cannot be opened", path);
		return -ENOENT;
	}
	len = fread(text, 1, sizeof(text), file);
	fclose(file);
	return kapf_config_merge(config, text, len, name, err);
}

static void test_shipped_manifests(void)
{
	struct kapf_configuration *config = kapf_config_new();
	struct dirent *entry;
	DIR *dir = opendir(MANIFESTS);
	unsigned int nr = 0;

	kapf_config_add_defaults(config);
	while (dir && (entry = readdir(dir))) {
		struct kapf_error err = {};

		if (!strstr(entry->d_name, ".yaml"))
			continue;
		nr++;
		ok(!merge_file(config, entry->d_name, &err), "config: %s %s",
		   entry->d_name, err.text);
	}
	if (dir)
		closedir(dir);
	ok(nr >= 6, "config: %u manifests", nr);
	kapf_config_free(config);
}

static unsigned int nominal(const struct kapf_configuration *config,
			    const char *name)
{
	return kapf_config_level(config, name)->nominal_seats;
}

static void test_nominal(void)
{
	struct kapf_configuration *config = kapf_config_new();
	struct kapf_error err = {};

	kapf_config_nominal(config);
	ok(nominal(config, "catch-all") == 600 && !nominal(config, "exempt"),
	   "config: catch-all alone has all 600 seats");
	kapf_config_add_defaults(config);
	kapf_config_nominal(config);
	ok(nominal(config, "workload-low") == 245 &&
	   nominal(config, "global-default") == 49 &&
	   nominal(config, "leader-election") == 25 &&
	   nominal(config, "catch-all") == 13,
	   "config: nominal limits of the default levels");
	ok(kapf_max_seats(kapf_config_level(config, "workload-low")) == 37 &&
	   kapf_max_seats(kapf_config_level(config, "global-default")) == 8 &&
	   kapf_max_seats(kapf_config_level(config, "catch-all")) ==
	   KAPF_MAX_WIDTH, "config: widest requests of the default levels");
	ok(!merge_file(config, "ocr-batch.yaml", &err), "config: %s", err.text);
	kapf_config_nominal(config);
	ok(nominal(config, "workload-low") == 236 &&
	   nominal(config, "ocr-batch") == 24,
	   "config: nominal limits with ocr-batch");
	config->max_requests_inflight = 65535;
	config->max_mutating_requests_inflight = 0;
	for (size_t i = 0; i < config->nr_levels; i++)
		config->levels[i].nominal_shares = INT32_MAX;
	kapf_config_nominal(config);
	ok(nominal(config, "exempt") == 7282,
	   "config: 65535 seats by 9 times 2^31 - 1 shares");
	for (size_t i = 0; i < config->nr_levels; i++)
		config->levels[i].nominal_shares = 0;
	kapf_config_nominal(config);
	ok(!nominal(config, "exempt") && !nominal(config, "workload-low"),
	   "config: no shares");
	kapf_config_free(config);
}

static void test_max_seats(void)
{
	struct kapf_priority_level level = {
		.type = KAPF_LEVEL_QUEUE, .hand_size = 1,
	};
	bool equal = true;

	for (unsigned int seats = 0; seats <= KAPF_MAX_SERVER_SEATS; seats++) {
		unsigned int share = seats * 3 / 20 + (seats * 3 % 20 != 0);

		level.nominal_seats = seats;
		equal &= kapf_max_seats(&level) == (share ? share : 1);
	}
	level.nominal_seats = 20;
	level.hand_size = 8;
	ok(equal && kapf_max_seats(&level) == 2,
	   "config: widest request of every limit");
}

/* The figures of Kubernetes' own test, max_seats_test.go */
static void test_known_max_seats(void)
{
	static const struct {
		unsigned int nominal;
		unsigned int hand;
		unsigned int widest;
	} facts[] = {
		{ 5, 6, 1 }, { 10, 6, 1 }, { 15, 6, 2 }, { 20, 6, 3 },
		{ 35, 6, 5 }, { 100, 6, 15 }, { 200, 6, 30 }, { 10, 1, 2 },
		{ 100, 20, 5 },
	};

	for (size_t i = 0; i < SIZE(facts); i++) {
		const struct kapf_priority_level level = {
			.type = KAPF_LEVEL_QUEUE,
			.nominal_seats = facts[i].nominal,
			.hand_size = facts[i].hand,
		};

		ok(kapf_max_seats(&level) == facts[i].widest,
		   "config: widest request of %u seats, hands of %u: %u",
		   facts[i].nominal, facts[i].hand, kapf_max_seats(&level));
	}
}

/* Fields that are there, and ones that are not, which stand where they would */
static void test_lines(void)
{
	static const struct {
		const char *path;
		unsigned int line;
	} facts[] = {
		{ "", 2 }, { "kind", 3 }, { "metadata.name", 4 }, { "spec", 5 },
		{ "spec.limited.lendablePercent", 8 },
		{ "spec.limited.limitResponse.type", 9 },
		{ "spec.limited.borrowingLimitPercent", 7 },
		{ "spec.exempt.nominalConcurrencyShares", 5 },
		{ "spec.type.name", 6 }, { "status", 2 },
	};
	struct kapf_configuration *config = kapf_config_new();
	const struct kapf_priority_level *level;

	merge(config, "\napiVersion: " API "v1\n"
	      "kind: PriorityLevelConfiguration\nmetadata: {name: x}\n"
	      "spec:\n  type: Limited\n  limited:\n"
	      "    lendablePercent: 5\n    limitResponse: {type: Reject}\n",
	      NULL);
	level = kapf_config_level(config, "x");
	for (size_t i = 0; i < SIZE(facts); i++)
		ok(level && kapf_meta_line(&level->meta, facts[i].path) ==
			    facts[i].line, "config: line %u has \"%s\"",
		   facts[i].line, facts[i].path);
	level = kapf_config_level(config, "exempt");
	ok(!kapf_meta_line(&level->meta, "spec"), "config: no line, no manifest");
	kapf_config_free(config);
}

static void test_lines_of_lists(void)
{
	static const struct {
		const char *path;
		unsigned int line;
	} facts[] = {
		{ "spec.rules", 6 }, { "spec.rules.0", 7 },
		{ "spec.rules.1.nonResourceRules.0.verbs", 11 },
		{ "spec.rules.1.nonResourceRules.0.verbs.1", 13 },
		{ "spec.rules.1.nonResourceRules.1", 10 },
	};
	struct kapf_configuration *config = kapf_config_new();
	const struct kapf_flow_schema *schema;

	merge(config, "apiVersion: " API "v1\nkind: FlowSchema\n"
	      "metadata: {name: x}\nspec:\n"
	      "  priorityLevelConfiguration: {name: exempt}\n  rules:\n"
	      "  - subjects: [{kind: User, user: {name: a}}]\n"
	      "    nonResourceRules: [{verbs: [get], nonResourceURLs: [/a]}]\n"
	      "  - subjects: [{kind: User, user: {name: b}}]\n"
	      "    nonResourceRules:\n"
	      "    - verbs:\n      - get\n      - delete\n"
	      "      nonResourceURLs: [/b]\n", NULL);
	schema = kapf_config_schema(config, "x");
	for (size_t i = 0; i < SIZE(facts); i++)
		ok(schema && kapf_meta_line(&schema->meta, facts[i].path) ==
			     facts[i].line, "config: line %u has \"%s\"",
		   facts[i].line, facts[i].path);
	kapf_config_free(config);
}

static bool has_annotation(const struct kapf_meta *meta)
{
	static const char annotation[] =
		"{\"annotations\":{\"apf.kubernetes.io/autoupdate-spec\":\"true\"}}";
	char *json;
	bool has;

	kapf_meta_json(meta, &json);
	has = !strcmp(json, annotation);
	free(json);
	return has;
}

/* Prints what cases/defaults.txt has. */
static void print_defaults(FILE *to, const struct kapf_configuration *config)
{
	for (size_t i = 0; i < config->nr_levels; i++) {
		const struct kapf_priority_level *level = &config->levels[i];

		fprintf(to, "level %s %d %u %u %u %u %u\n", level->name,
			level->type, level->nominal_shares,
			level->lendable_percent, level->queues,
			level->hand_size, level->queue_length_limit);
	}
	for (size_t i = 0; i < config->nr_schemas; i++) {
		const struct kapf_flow_schema *schema = &config->schemas[i];
		char *rules = kapf_rules_json(schema->rules);

		fprintf(to, "schema %s %u %s %d %s\n", schema->name,
			schema->precedence, schema->level,
			schema->distinguisher, rules);
		free(rules);
	}
}

/* Compares the default objects with the reference's. */
static void test_defaults(void)
{
	struct kapf_configuration *config = kapf_config_new();
	FILE *from = fopen(CASES "/defaults.txt", "r");
	char *found = NULL, *begin, *line = NULL;
	size_t size = 0, found_len, nr = 0;
	FILE *to = open_memstream(&found, &found_len);
	bool annotated = true;

	kapf_config_add_defaults(config);
	print_defaults(to, config);
	fclose(to);
	begin = found;
	while (from && getline(&line, &size, from) > 0) {
		size_t len = strlen(line);

		if (line[0] == '#')
			continue;
		ok(!strncmp(begin, line, len), "config: default %.40s...",
		   line);
		begin += strcspn(begin, "\n") + (*begin != '\0');
		nr++;
	}
	ok(nr == 8 + 11 && !*begin, "config: %zu default objects", nr);
	for (size_t i = 0; i < config->nr_levels; i++)
		annotated &= has_annotation(&config->levels[i].meta) &&
			     config->levels[i].borrowing_limit_percent ==
			     KAPF_BORROWING_UNLIMITED;
	for (size_t i = 0; i < config->nr_schemas; i++)
		annotated &= has_annotation(&config->schemas[i].meta);
	ok(annotated, "config: default objects are annotated");
	free(found);
	free(line);
	if (from)
		fclose(from);
	kapf_config_free(config);
}

#define AUTOUPDATE(flag) \
	"annotations: {apf.kubernetes.io/autoupdate-spec: \"" flag "\"}"
#define SYSTEM(flag) \
	LEVEL("name: system, " AUTOUPDATE(flag), "nominalConcurrencyShares: 7, ")
#define PROBES(flag) \
	SCHEMA("name: probes, " AUTOUPDATE(flag), \
	       "matchingPrecedence: 9, " TO("exempt"))

static void test_autoupdate(void)
{
	static const struct {
		const char *text;
		unsigned int shares;
		unsigned int precedence;
	} cases[] = {
		{ SYSTEM("true") PROBES("true"), 30, 2 },
		{ SYSTEM("false") PROBES("false"), 7, 9 },
		{ SYSTEM("maybe") PROBES("maybe"), 30, 2 },
	};

	for (size_t i = 0; i < SIZE(cases); i++) {
		struct kapf_configuration *config = kapf_config_new();
		const struct kapf_priority_level *level;
		const struct kapf_flow_schema *schema;

		merge(config, cases[i].text, NULL);
		kapf_config_add_defaults(config);
		level = kapf_config_level(config, "system");
		schema = kapf_config_schema(config, "probes");
		ok(level->nominal_shares == cases[i].shares &&
		   schema->precedence == cases[i].precedence,
		   "config: autoupdate-spec %zu", i);
		kapf_config_free(config);
	}
}

static void test_replacing(void)
{
	static const char first[] =
		SCHEMA("name: x", "matchingPrecedence: 9, " TO("z"))
		LEVEL("name: x", "nominalConcurrencyShares: 7, ");
	static const char second[] =
		SCHEMA("name: x", "matchingPrecedence: 8, " TO("x"))
		LEVEL("name: x", "nominalConcurrencyShares: 6, ");
	struct kapf_configuration *config = kapf_config_new();
	const struct kapf_priority_level *level;
	const struct kapf_flow_schema *schema;

	merge(config, first, NULL);
	kapf_config_level(config, "x")->id = 5;
	kapf_config_level(config, "x")->uid[0] = 6;
	kapf_config_level(config, "x")->spec_generation = 3;
	kapf_config_level(config, "x")->resource_version = 4;
	kapf_config_schema(config, "x")->id = 7;
	kapf_config_schema(config, "x")->uid[0] = 8;
	kapf_config_schema(config, "x")->spec_generation = 1;
	kapf_config_schema(config, "x")->resource_version = 2;
	kapf_config_nominal(config);
	ok(kapf_config_schema(config, "x")->dangling,
	   "config: a schema dangles");
	merge(config, second, NULL);
	kapf_config_nominal(config);
	level = kapf_config_level(config, "x");
	schema = kapf_config_schema(config, "x");
	ok(config->nr_levels == 3 && level->nominal_shares == 6 &&
	   level->id == 5 && level->uid[0] == 6 &&
	   level->spec_generation == 3 && level->resource_version == 4,
	   "config: a level is replaced, id and UID stay");
	ok(config->nr_schemas == 3 && schema->precedence == 8 &&
	   !schema->dangling && schema->id == 7 && schema->uid[0] == 8 &&
	   schema->spec_generation == 1 && schema->resource_version == 2,
	   "config: a schema is replaced, id and UID stay");
	kapf_config_free(config);
}

/* One more level, or schema, than an instance can have */
static void test_numbers(void)
{
	struct kapf_configuration *config = kapf_config_new();
	char *text = malloc(KAPF_MAX_SCHEMAS * 256), *end = text;
	struct kapf_error err = {};

	for (int i = 0; i < KAPF_MAX_LEVELS - 2; i++)
		end += sprintf(end, LEVEL("name: l%d", ""), i);
	ok(!merge(config, text, &err), "config: 256 levels %s", err.text);
	ok(merge(config, LEVEL("name: x", ""), &err) == -EINVAL &&
	   strstr(err.text, "\"x\": is one too many: must be at most 256"),
	   "config: 257 levels: %s", err.text);
	end = text;
	err.text[0] = '\0';
	for (int i = 0; i < KAPF_MAX_SCHEMAS - 2; i++)
		end += sprintf(end, SCHEMA("name: s%d", TO("z")), i);
	ok(!merge(config, text, &err), "config: 4096 schemas %s", err.text);
	ok(merge(config, SCHEMA("name: x", TO("z")), &err) == -EINVAL &&
	   strstr(err.text, "\"x\": is one too many: must be at most 4096"),
	   "config: 4097 schemas: %s", err.text);
	ok(!merge(config, SCHEMA("name: s1", TO("z")), &err),
	   "config: replacing one of 4096 schemas");
	free(text);
	kapf_config_free(config);
}

void test_configurations(void)
{
	test_shipped_manifests();
	test_nominal();
	test_max_seats();
	test_known_max_seats();
	test_lines();
	test_lines_of_lists();
	test_defaults();
	test_autoupdate();
	test_replacing();
	test_numbers();
}
