// SPDX-License-Identifier: GPL-2.0
/*
 * kapfctl get: the objects of an instance, in the manner of kubectl get: as
 * tables, or as they are in manifests.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <json-c/json.h>

#include "kapfctl.h"

/**
 * struct names - which objects are asked for
 * @kind: of the objects, for messages
 * @all: their names
 * @nr: how many; 0: all objects of the kind
 */
struct names {
	const char *kind;
	char **all;
	int nr;
};

static bool is_wanted(const struct names *names, const char *name)
{
	int i;

	for (i = 0; i < names->nr; i++)
		if (!strcmp(names->all[i], name))
			return true;
	return !names->nr;
}

#define NUMBER_ROOM 24

/* A number, in one of a row's buffers. */
static const char *number(char buffer[NUMBER_ROOM], unsigned long long value)
{
	snprintf(buffer, NUMBER_ROOM, "%llu", value);
	return buffer;
}

static void add_level(struct libscols_table *table, const struct state *state,
		      const struct kapf_priority_level *level)
{
	const struct kapf_level_stats *stats = level_stats(state, level->id);
	bool queues = level->type == KAPF_LEVEL_QUEUE;
	char cell[7][NUMBER_ROOM];

	table_row(table, level->name,
		  level->type == KAPF_LEVEL_EXEMPT ? "Exempt" : "Limited",
		  number(cell[0], level->nominal_shares),
		  queues ? number(cell[1], level->queues) : NONE,
		  queues ? number(cell[2], level->hand_size) : NONE,
		  queues ? number(cell[3], level->queue_length_limit) : NONE,
		  number(cell[4], level->nominal_seats),
		  number(cell[5], stats->seats_in_use),
		  number(cell[6], stats->waiting_requests));
}

static void print_levels(const struct state *state, const struct names *names)
{
	static const char *const columns[] = {
		"NAME", "TYPE", "NOMINALCONCURRENCYSHARES", "QUEUES",
		"HANDSIZE", "QUEUELENGTHLIMIT", "SEATS", "IN-USE", "WAITING",
		NULL
	};
	struct libscols_table *table = table_new(columns);
	size_t i;

	for (i = 0; i < state->config->nr_levels; i++)
		if (is_wanted(names, state->config->levels[i].name))
			add_level(table, state, &state->config->levels[i]);
	table_print(table);
}

static void print_schemas(const struct state *state, const struct names *names)
{
	static const char *const columns[] = {
		"NAME", "PRIORITYLEVEL", "MATCHINGPRECEDENCE",
		"DISTINGUISHERMETHOD", "MISSINGPL", NULL
	};
	static const char *const methods[] = {
		[KAPF_BY_NONE] = NONE,
		[KAPF_BY_USER] = "ByUser",
		[KAPF_BY_NAMESPACE] = "ByNamespace",
	};
	struct libscols_table *table = table_new(columns);
	char precedence[NUMBER_ROOM];
	size_t i;

	for (i = 0; i < state->config->nr_schemas; i++) {
		const struct kapf_flow_schema *schema =
			&state->config->schemas[i];

		if (is_wanted(names, schema->name))
			table_row(table, schema->name, schema->level,
				  number(precedence, schema->precedence),
				  methods[schema->distinguisher],
				  schema->dangling ? "True" : "False");
	}
	table_print(table);
}

/* Nothing where there is nothing, which apply would not read. */
static void print_objects(struct json_object *items)
{
	if (json_object_array_length(items))
		tree_print(list_of(items));
	else
		json_object_put(items);
}

static void get_levels(const struct state *state, const struct names *names)
{
	const struct kapf_configuration *config = state->config;
	struct json_object *items;
	size_t i;

	if (!output_format) {
		print_levels(state, names);
		return;
	}
	items = tree_list();
	for (i = 0; i < config->nr_levels; i++)
		if (is_wanted(names, config->levels[i].name))
			tree_append(items, level_object(&config->levels[i]));
	print_objects(items);
}

static void get_schemas(const struct state *state, const struct names *names)
{
	const struct kapf_configuration *config = state->config;
	struct json_object *items;
	size_t i;

	if (!output_format) {
		print_schemas(state, names);
		return;
	}
	items = tree_list();
	for (i = 0; i < config->nr_schemas; i++)
		if (is_wanted(names, config->schemas[i].name))
			tree_append(items, schema_object(&config->schemas[i]));
	print_objects(items);
}

static int get(bool levels, const struct names *names)
{
	struct state state;
	int fd, i, status = REFUSED;

	fd = open_control(O_RDONLY);
	if (fd < 0)
		return REFUSED;
	if (read_state(&state, fd) < 0)
		goto out;

	status = DONE;
	if (levels)
		get_levels(&state, names);
	else
		get_schemas(&state, names);
	for (i = 0; i < names->nr; i++) {
		if (levels ? !!kapf_config_level(state.config, names->all[i]) :
			     !!find_schema(state.config, names->all[i]))
			continue;
		complain("%s \"%s\" not found", names->kind, names->all[i]);
		status = REFUSED;
	}
out:
	free_state(&state);
	close(fd);
	return status;
}

static bool is_one_of(const char *word, size_t len, const char *const *words)
{
	while (*words && (strncasecmp(word, *words, len) || (*words)[len]))
		words++;
	return *words;
}

/* Is @word NAME, NAME.GROUP or NAME.VERSION.GROUP, in any case, as in kubectl? */
static bool is_type(const char *word, const char *const *names)
{
	static const char *const suffixes[] = {
		"", "." API_GROUP, ".v1." API_GROUP, ".v1beta3." API_GROUP,
		".v1beta2." API_GROUP, ".v1beta1." API_GROUP, NULL
	};
	size_t len = strcspn(word, ".");

	return is_one_of(word, len, names) &&
	       is_one_of(word + len, strlen(word + len), suffixes);
}

static int get_main(int argc, char **argv)
{
	static const char *const levels[] = {
		"prioritylevels", "prioritylevel", "pl",
		"prioritylevelconfigurations", "prioritylevelconfiguration",
		NULL
	};
	static const char *const schemas[] = {
		"flowschemas", "flowschema", "fs", NULL
	};
	struct names names;

	next_option(&get_command, argc, argv);
	if (optind == argc)
		return usage_error(&get_command, "say what to get: prioritylevels or flowschemas");
	names.all = argv + optind + 1;
	names.nr = argc - optind - 1;
	if (is_type(argv[optind], levels)) {
		names.kind = levels[0];
		return get(true, &names);
	}
	if (is_type(argv[optind], schemas)) {
		names.kind = schemas[0];
		return get(false, &names);
	}
	return usage_error(&get_command,
			   "\"%s\" cannot be got, only prioritylevels and flowschemas",
			   argv[optind]);
}

const struct command get_command = {
	.name = "get",
	.summary = "show priority levels or flow schemas",
	.help =
"usage: kapfctl get prioritylevels|flowschemas [NAME]... [-o json|yaml]\n"
"\n"
"Shows priority levels with their seats (SEATS: the nominal limit; IN-USE: held\n"
"now; WAITING: requests in queues), or flow schemas in the order in which they\n"
"are tried (MISSINGPL: the level does not exist, so that nothing matches).  Also\n"
"understood: pl, prioritylevelconfigurations, fs, the singulars, any of these in\n"
"capitals, and with the API group behind it, as in\n"
"flowschemas.flowcontrol.apiserver.k8s.io, or version and group, as in\n"
"flowschemas.v1.flowcontrol.apiserver.k8s.io.\n"
"\n"
"With -o, prints the objects themselves as a List, which apply -f - takes.\n",
	.formats = "json or yaml",
	.main = get_main,
};
