// SPDX-License-Identifier: GPL-2.0
/*
 * kapfctl get: the objects of an instance, in the manner of kubectl get: as
 * tables, as they are in manifests, or their names.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <json-c/json.h>

#include "kapfctl.h"

#define NUMBER_ROOM 24

/**
 * struct view - what is to be shown
 * @selection: the objects
 * @state: where they are
 * @wide: tables have all columns
 */
struct view {
	struct selection selection;
	struct state state;
	bool wide;
};

/* A number, in one of a row's buffers. */
static const char *number(char buffer[NUMBER_ROOM], unsigned long long value)
{
	snprintf(buffer, NUMBER_ROOM, "%llu", value);
	return buffer;
}

/* Where there may be objects of both kinds, they say which they are. */
static const char *shown_name(const struct view *view, enum kind kind,
			      const char *name, char *buffer, size_t size)
{
	if (view->selection.kinds == kind)
		return name;
	snprintf(buffer, size, "%s/%s", kind_type(kind), name);
	return buffer;
}

static const char *status_name(bool drains)
{
	return drains ? "Draining" : "Active";
}

/* Of one that drains no more is known than the kernel counts. */
static void add_level(struct libscols_table *table, const struct view *view,
		      const struct kapf_level_stats *stats)
{
	const struct kapf_priority_level *level =
		level_by_id(view->state.config, stats->id);
	bool queues = stats->type == KAPF_LEVEL_QUEUE;
	bool exempt = stats->type == KAPF_LEVEL_EXEMPT;
	char name[KAPF_NAME_BYTES + 64], uid[UID_ROOM] = NONE;
	char limits[2 * NUMBER_ROOM], cell[9][NUMBER_ROOM];

	if (level)
		format_uid(uid, level->uid);
	snprintf(limits, sizeof(limits), "%u..%llu", stats->min_seats,
		 stats->max_seats);
	table_row(table,
		  shown_name(view, LEVEL, stats->name, name, sizeof(name)),
		  exempt ? "Exempt" : "Limited",
		  level ? number(cell[0], level->nominal_shares) : NONE,
		  queues ? number(cell[1], level ? level->queues :
						   stats->queues) : NONE,
		  queues && level ? number(cell[2], level->hand_size) : NONE,
		  queues && level ? number(cell[3], level->queue_length_limit) :
				    NONE,
		  number(cell[4], stats->nominal_seats),
		  exempt ? NONE : number(cell[5], stats->current_seats),
		  number(cell[6], stats->seats_in_use),
		  number(cell[7], stats->waiting_requests),
		  status_name(level_drains(stats)),
		  exempt ? NONE : limits,
		  number(cell[8], stats->executing_requests), uid);
}

static bool print_levels(const struct view *view)
{
	const struct state *state = &view->state;
	static const char *const columns[] = {
		"NAME", "TYPE", "NOMINALCONCURRENCYSHARES", "QUEUES",
		"HANDSIZE", "QUEUELENGTHLIMIT", "SEATS", "CURRENT", "IN-USE",
		"WAITING", "STATUS", NULL
	};
	static const char *const wide[] = {
		"LIMITS", "EXECUTING", "UID", NULL
	};
	struct libscols_table *table = table_new(columns);
	size_t i;

	if (view->wide)
		table_columns(table, wide);
	for (i = 0; i < state->stats.nr_levels; i++)
		if (is_selected(&view->selection, LEVEL, state->levels[i].name))
			add_level(table, view, &state->levels[i]);
	return table_print(table);
}

static void add_schema(struct libscols_table *table, const struct view *view,
		       const struct kapf_schema_stats *stats)
{
	static const char *const methods[] = {
		[KAPF_BY_NONE] = NONE,
		[KAPF_BY_USER] = "ByUser",
		[KAPF_BY_NAMESPACE] = "ByNamespace",
	};
	const struct kapf_flow_schema *schema =
		schema_by_id(view->state.config, stats->id);
	char name[KAPF_NAME_BYTES + 64], uid[UID_ROOM] = NONE;
	char cell[5][NUMBER_ROOM];

	if (schema)
		format_uid(uid, schema->uid);
	table_row(table,
		  shown_name(view, SCHEMA, stats->name, name, sizeof(name)),
		  schema ? schema->level :
			   level_stats(&view->state, stats->level)->name,
		  schema ? number(cell[0], schema->precedence) : NONE,
		  schema ? methods[schema->distinguisher] : NONE,
		  schema && schema->dangling ? "True" : "False",
		  status_name(!schema),
		  number(cell[1], stats->seats_in_use),
		  number(cell[2], stats->waiting_requests),
		  number(cell[3], stats->executing_requests),
		  number(cell[4], stats->dispatched), uid);
}

static void print_schemas(const struct view *view)
{
	const struct state *state = &view->state;
	static const char *const columns[] = {
		"NAME", "PRIORITYLEVEL", "MATCHINGPRECEDENCE",
		"DISTINGUISHERMETHOD", "MISSINGPL", "STATUS", NULL
	};
	static const char *const wide[] = {
		"IN-USE", "WAITING", "EXECUTING", "DISPATCHED", "UID", NULL
	};
	struct libscols_table *table = table_new(columns);
	size_t i;

	if (view->wide)
		table_columns(table, wide);
	for (i = 0; i < state->config->nr_schemas; i++)
		if (is_selected(&view->selection, SCHEMA,
				state->config->schemas[i].name))
			add_schema(table, view,
				   schema_stats(state,
						state->config->schemas[i].id));
	for (i = 0; i < state->stats.nr_schemas; i++)
		if (schema_drains(state, &state->schemas[i]) &&
		    is_selected(&view->selection, SCHEMA,
				state->schemas[i].name))
			add_schema(table, view, &state->schemas[i]);
	table_print(table);
}

static void print_tables(const struct view *view)
{
	bool levels = false;

	if (view->selection.kinds & LEVEL)
		levels = print_levels(view);
	if (!(view->selection.kinds & SCHEMA))
		return;
	if (levels)
		printf("\n");
	print_schemas(view);
}

static void print_names(const struct view *view)
{
	const struct kapf_configuration *config = view->state.config;
	size_t i;

	for (i = 0; i < config->nr_levels; i++)
		if (is_selected(&view->selection, LEVEL,
				config->levels[i].name))
			printf("%s/%s\n", kind_type(LEVEL),
			       config->levels[i].name);
	for (i = 0; i < config->nr_schemas; i++)
		if (is_selected(&view->selection, SCHEMA,
				config->schemas[i].name))
			printf("%s/%s\n", kind_type(SCHEMA),
			       config->schemas[i].name);
}

/*
 * One that is named comes alone, others in a List; nothing where there is
 * nothing, which apply would not read.
 */
static void print_objects(const struct view *view)
{
	const struct kapf_configuration *config = view->state.config;
	struct json_object *items = tree_list();
	size_t i;

	for (i = 0; i < config->nr_levels; i++)
		if (is_selected(&view->selection, LEVEL,
				config->levels[i].name))
			tree_append(items, level_object(&config->levels[i]));
	for (i = 0; i < config->nr_schemas; i++)
		if (is_selected(&view->selection, SCHEMA,
				config->schemas[i].name))
			tree_append(items, schema_object(&config->schemas[i]));
	if (json_object_array_length(items) && view->selection.nr == 1) {
		tree_print(json_object_get(json_object_array_get_idx(items, 0)));
		json_object_put(items);
	} else if (json_object_array_length(items)) {
		tree_print(list_of(items));
	} else {
		json_object_put(items);
	}
}

static int get(struct view *view)
{
	int fd, status = REFUSED;
	bool missing;

	fd = open_control(O_RDONLY);
	if (fd < 0)
		return REFUSED;
	if (read_state(&view->state, fd) < 0)
		goto out;

	view->wide = output_format && !strcmp(output_format, "wide");
	if (!output_format || view->wide) {
		print_tables(view);
		missing = complain_of_absent(&view->selection, &view->state);
	} else {
		if (!strcmp(output_format, "name"))
			print_names(view);
		else
			print_objects(view);
		missing = complain_of_missing(&view->selection,
					      view->state.config);
	}
	status = missing ? REFUSED : DONE;
out:
	free_state(&view->state);
	close(fd);
	return status;
}

static int get_main(int argc, char **argv)
{
	struct view view = { .selection.nr = 0 };
	int status;

	next_option(&get_command, argc, argv);
	if (optind == argc)
		return usage_error(&get_command,
				   "say what to get: prioritylevels, flowschemas or all");
	status = select_objects(&get_command, &view.selection, argv + optind,
				argc - optind);
	if (status == DONE)
		status = get(&view);
	free(view.selection.all);
	return status;
}

const struct command get_command = {
	.name = "get",
	.summary = "show priority levels or flow schemas",
	.help =
"usage: kapfctl get KIND [NAME]... [-o json|yaml|wide|name]\n"
"       kapfctl get KIND/NAME... [-o json|yaml|wide|name]\n"
"\n"
"KIND is prioritylevels, flowschemas, or all; or several, as in pl,fs.  Shows\n"
"priority levels with their seats (SEATS: the nominal limit; CURRENT: the present\n"
"one, by what levels lend and borrow; IN-USE: held now, which may be more where it\n"
"came down; WAITING: requests in queues), and flow schemas in the order in which\n"
"they are tried (MISSINGPL: the level does not exist, so that nothing matches).\n"
"STATUS is Active, or Draining: deleted, but there until its last request has\n"
"ended.  Also understood: pl, prioritylevelconfigurations, fs, the singulars, any\n"
"of these in capitals, and with the API group behind it, as in\n"
"flowschemas.flowcontrol.apiserver.k8s.io, or version and group, as in\n"
"flowschemas.v1.flowcontrol.apiserver.k8s.io.\n"
"\n"
"With -o json or yaml, prints the objects themselves, one that is named alone and\n"
"others as a List, which apply -f - takes; so nothing that drains.  With -o wide,\n"
"shows UIDs, requests that execute or were ever DISPATCHED, and of levels the\n"
"LIMITS that borrowing and lending keep CURRENT in.\n"
"With -o name, prints KIND/NAME, likewise.\n",
	.formats = "json, yaml, wide or name",
	.words = "prioritylevels flowschemas all",
	.names = "",
	.main = get_main,
};
