// SPDX-License-Identifier: GPL-2.0
/*
 * kapfctl describe: all that there is to say of levels and schemas: what they
 * are, how they fare, and what the requests that they refuse ask for.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <json-c/json.h>

#include "describe.h"

#define MAX_FIGURES 20

/* Sections of figures */
#define SEATS "Seats"
#define DEMAND "Demand for seats until they were last adjusted"
#define REQUESTS "Requests"

/**
 * struct figure - a number that the kernel keeps
 * @section: that it is shown in
 * @label: for people
 * @key: for programs
 * @value: the number
 * @is_fixed: it has 32 bits of fraction
 * @note: what it is, where the label does not say; or ""
 */
struct figure {
	const char *section;
	const char *label;
	const char *key;
	uint64_t value;
	bool is_fixed;
	const char *note;
};

/* Its key is the name that the kernel has for it: the last one of @number. */
#define FIGURE(section, label, number, is_fixed, note) \
	((struct figure){ section, label, strrchr(#number, '>') + 1, number, \
			  is_fixed, note })
#define WHOLE(section, label, number) FIGURE(section, label, number, false, "")
#define FIXED(section, label, number) FIGURE(section, label, number, true, "")
#define NOTED(section, label, number, note) \
	FIGURE(section, label, number, false, ", " note)

#define PASSING "of those that execute, in modes observe and off"
#define TOO_WIDE "times: seats were free, but too few for the next request"

static size_t level_figures(struct figure figures[MAX_FIGURES],
			    const struct kapf_level_stats *stats)
{
	const struct figure list[] = {
		WHOLE(SEATS, "Nominal", stats->nominal_seats),
		WHOLE(SEATS, "Least", stats->min_seats),
		WHOLE(SEATS, "Most", stats->max_seats),
		WHOLE(SEATS, "Current", stats->current_seats),
		WHOLE(SEATS, "In use", stats->seats_in_use),
		WHOLE(SEATS, "Waited for", stats->waiting_seats),
		FIXED(DEMAND, "Average", stats->demand_average),
		FIXED(DEMAND, "Deviation", stats->demand_stdev),
		FIXED(DEMAND, "Smoothed", stats->demand_smoothed),
		WHOLE(DEMAND, "High watermark", stats->demand_high_watermark),
		FIXED(DEMAND, "Target", stats->target_seats),
		WHOLE(REQUESTS, "Executing", stats->executing_requests),
		NOTED(REQUESTS, "Without seats", stats->passing_requests,
		      PASSING),
		WHOLE(REQUESTS, "Lingering", stats->lingering_requests),
		WHOLE(REQUESTS, "Waiting", stats->waiting_requests),
		WHOLE(REQUESTS, "Active queues", stats->active_queues),
		WHOLE(REQUESTS, "Dispatched", stats->dispatched),
		NOTED(REQUESTS, "Held up", stats->no_accommodation, TOO_WIDE),
	};

	memcpy(figures, list, sizeof(list));
	return sizeof(list) / sizeof(*list);
}

static size_t schema_figures(struct figure figures[MAX_FIGURES],
			     const struct kapf_schema_stats *stats)
{
	const struct figure list[] = {
		WHOLE(SEATS, "In use", stats->seats_in_use),
		WHOLE(SEATS, "Waited for", stats->waiting_seats),
		WHOLE(REQUESTS, "Executing", stats->executing_requests),
		NOTED(REQUESTS, "Without seats", stats->passing_requests,
		      PASSING),
		WHOLE(REQUESTS, "Waiting", stats->waiting_requests),
		WHOLE(REQUESTS, "Dispatched", stats->dispatched),
	};

	memcpy(figures, list, sizeof(list));
	return sizeof(list) / sizeof(*list);
}

/* Where values begin: behind the longest label, concurrency-limit. */
#define COLUMN 22

/**
 * say() - print what is there; all begins at the same column
 * @indent: spaces before it
 * @label: what it is
 * @format: of printf(3)
 */
void say(int indent, const char *label, const char *format, ...)
{
	va_list args;
	int width = printf("%*s%s:", indent, "", label);

	printf("%*s", width < COLUMN ? COLUMN - width : 1, "");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
}

static void print_figures(const struct figure *figures, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		if (!i || strcmp(figures[i].section, figures[i - 1].section))
			printf("%s:\n", figures[i].section);
		if (figures[i].is_fixed)
			say(2, figures[i].label, "%.3f",
			    figures[i].value / 0x1p32);
		else
			say(2, figures[i].label, "%ju%s",
			    (uintmax_t)figures[i].value, figures[i].note);
	}
}

static void add_figures(struct json_object *tree, const struct figure *figures,
			size_t nr)
{
	char digits[32];
	size_t i;

	for (i = 0; i < nr; i++) {
		snprintf(digits, sizeof(digits), "%.6f",
			 figures[i].value / 0x1p32);
		tree_add(tree, figures[i].key,
			 figures[i].is_fixed ? tree_decimal(digits) :
					       tree_number(figures[i].value));
	}
}

static void print_name(const struct state *state, const char *name)
{
	const char *note = mode_note(state->stats.mode);

	say(0, "Name", "%s", name);
	if (note)
		say(0, "Mode", "%s", note);
}

/* Labels or annotations, each in a line of its own. */
static void print_pairs(const char *label, struct json_object *pairs,
			const char *separator)
{
	bool is_first = true;

	if (!pairs || !json_object_object_length(pairs)) {
		say(0, label, NONE);
		return;
	}
	json_object_object_foreach(pairs, key, value) {
		char *text = make_printable(json_object_get_string(value), "");

		if (is_first)
			say(0, label, "%s%s%s", key, separator, text);
		else
			printf("%*s%s%s%s\n", COLUMN, "", key, separator,
			       text);
		is_first = false;
		free(text);
	}
}

static void print_metadata(const struct kapf_meta *meta,
			   const uint8_t uid[KAPF_UID_BYTES])
{
	char text[UID_ROOM];

	print_pairs("Labels", meta->labels, "=");
	print_pairs("Annotations", meta->annotations, ": ");
	format_uid(text, uid);
	say(0, "UID", "%s", text);
}

/* The schemas that lead to a level. */
static struct json_object *
schemas_of(const struct kapf_configuration *config, const char *level)
{
	struct json_object *list = tree_list();
	size_t i;

	for (i = 0; i < config->nr_schemas; i++)
		if (!strcmp(config->schemas[i].level, level))
			tree_append(list, tree_text(config->schemas[i].name));
	return list;
}

static void print_type(const struct kapf_priority_level *level)
{
	if (level->type == KAPF_LEVEL_EXEMPT)
		say(0, "Type", "Exempt");
	else if (level->type == KAPF_LEVEL_REJECT)
		say(0, "Type", "Limited, Reject");
	else
		say(0, "Type", "Limited, Queue: %u queue%s of %u request%s, %u of them for a flow",
		    level->queues, plural(level->queues),
		    level->queue_length_limit,
		    plural(level->queue_length_limit), level->hand_size);
	say(0, "Shares", "%u", level->nominal_shares);
	say(0, "Lends", "%u%%", level->lendable_percent);
	if (level->borrowing_limit_percent == KAPF_BORROWING_UNLIMITED)
		say(0, "Borrows", "without limit");
	else
		say(0, "Borrows", "%u%%", level->borrowing_limit_percent);
}

/* The schemas that led to a level before it was deleted, and have requests. */
static struct json_object *former_schemas(const struct state *state,
					  uint32_t level)
{
	struct json_object *list = tree_list();
	uint32_t i;

	for (i = 0; i < state->stats.nr_schemas; i++)
		if (state->schemas[i].level == level)
			tree_append(list, tree_text(state->schemas[i].name));
	return list;
}

static struct json_object *level_schemas(const struct state *state,
					 const struct kapf_level_stats *stats)
{
	if (level_drains(stats))
		return former_schemas(state, stats->id);
	return schemas_of(state->config, stats->name);
}

/* What is known of a level that drains. */
static void print_draining_type(const struct kapf_level_stats *stats)
{
	uint32_t left = stats->executing_requests + stats->lingering_requests +
			stats->waiting_requests;

	say(0, "Status", "drains: %s until its last %u request%s ended",
	    "it is deleted, and keeps its shares", left,
	    left == 1 ? " has" : "s have");
	if (stats->type == KAPF_LEVEL_EXEMPT)
		say(0, "Type", "Exempt");
	else if (stats->type == KAPF_LEVEL_REJECT)
		say(0, "Type", "Limited, Reject");
	else
		say(0, "Type", "Limited, Queue: %u queue%s", stats->queues,
		    plural(stats->queues));
}

static void print_level(const struct state *state,
			const struct kapf_level_stats *stats)
{
	const struct kapf_priority_level *level =
		level_by_id(state->config, stats->id);
	const struct refusals refusals = level_refusals(stats);
	struct json_object *schemas = level_schemas(state, stats);
	char *words = in_words(schemas, SIZE_MAX);
	struct figure figures[MAX_FIGURES];

	print_name(state, stats->name);
	if (level) {
		print_metadata(&level->meta, level->uid);
		print_type(level);
	} else {
		print_draining_type(stats);
	}
	say(0, "FlowSchemas", "%s", *words ? words : NONE);
	print_figures(figures, level_figures(figures, stats));
	print_refusals(&refusals);
	if (level && level->type != KAPF_LEVEL_EXEMPT)
		say(0, "Retry-After", "%u s", stats->retry_after);
	free(words);
	json_object_put(schemas);
}

static struct json_object *level_tree(const struct state *state,
				      const struct kapf_level_stats *stats)
{
	const struct kapf_priority_level *level =
		level_by_id(state->config, stats->id);
	const struct refusals refusals = level_refusals(stats);
	struct json_object *tree = tree_map();
	struct figure figures[MAX_FIGURES];

	tree_add(tree, "priority_level", tree_text(stats->name));
	tree_add(tree, "mode", tree_text(mode_name(state->stats.mode)));
	tree_add(tree, "draining", tree_bool(!level));
	tree_add(tree, "object", level ? level_object(level) : NULL);
	tree_add(tree, "flow_schemas", level_schemas(state, stats));
	add_figures(tree, figures, level_figures(figures, stats));
	tree_add(tree, "rejections", refusals_tree(&refusals));
	tree_add(tree, "retry_after_s",
		 level && level->type != KAPF_LEVEL_EXEMPT ?
		 tree_number(stats->retry_after) : NULL);
	return tree;
}

/* Are these requests of a schema at a level that it does not lead to any more? */
static bool drains(const struct kapf_schema_stats *stats, const char *schema)
{
	return stats->flags & KAPF_STATS_DRAINING &&
	       !strcmp(stats->name, schema);
}

static struct json_object *draining_of(const struct state *state,
				       const char *schema)
{
	struct json_object *list = tree_list();
	uint32_t i;

	for (i = 0; i < state->stats.nr_schemas; i++) {
		const struct kapf_schema_stats *stats = &state->schemas[i];
		struct json_object *tree;

		if (!drains(stats, schema))
			continue;
		tree = tree_map();
		tree_add(tree, "priority_level",
			 tree_text(level_stats(state, stats->level)->name));
		tree_add(tree, "executing_requests",
			 tree_number(stats->executing_requests));
		tree_add(tree, "waiting_requests",
			 tree_number(stats->waiting_requests));
		tree_add(tree, "seats_in_use",
			 tree_number(stats->seats_in_use));
		tree_append(list, tree);
	}
	return list;
}

static const char *flows_of(const struct kapf_flow_schema *schema)
{
	static const char *const methods[] = {
		[KAPF_BY_NONE] = "all its requests are one flow",
		[KAPF_BY_USER] = "each user's (ByUser)",
		[KAPF_BY_NAMESPACE] = "each namespace's (ByNamespace)",
	};

	return methods[schema->distinguisher];
}

static void print_draining(const struct state *state, const char *schema)
{
	uint32_t i;

	for (i = 0; i < state->stats.nr_schemas; i++) {
		const struct kapf_schema_stats *stats = &state->schemas[i];

		if (drains(stats, schema))
			say(0, "Drains", "%u executing and %u waiting %s %s, with %llu seat%s",
			    stats->executing_requests, stats->waiting_requests,
			    "requests of the level",
			    level_stats(state, stats->level)->name,
			    stats->seats_in_use, plural(stats->seats_in_use));
	}
}

static void print_schema(const struct state *state,
			 const struct kapf_flow_schema *schema)
{
	const struct kapf_priority_level *level =
		kapf_config_level(state->config, schema->level);
	const struct kapf_schema_stats *stats = schema_stats(state, schema->id);
	struct json_object *rules = need(json_tokener_parse(schema->rules_json));
	struct refusals refusals = schema_refusals(state, stats);
	struct figure figures[MAX_FIGURES];

	print_name(state, schema->name);
	print_metadata(&schema->meta, schema->uid);
	say(0, "PriorityLevel", "%s%s", schema->level, schema->dangling ?
	    ", which does not exist: the schema matches nothing" : "");
	say(0, "Precedence", "%u", schema->precedence);
	say(0, "Flows", "%s", flows_of(schema));
	printf("Rules:\n");
	print_rules(rules);
	json_object_put(rules);
	if (level) {
		print_figures(figures, schema_figures(figures, stats));
		print_refusals(&refusals);
	}
	print_draining(state, schema->name);
}

static void print_draining_schema(const struct state *state,
				  const struct kapf_schema_stats *stats)
{
	struct refusals refusals = schema_refusals(state, stats);
	struct figure figures[MAX_FIGURES];

	print_name(state, stats->name);
	say(0, "Status", "drains: it is deleted, and its requests go on");
	say(0, "PriorityLevel", "%s", level_stats(state, stats->level)->name);
	print_figures(figures, schema_figures(figures, stats));
	print_refusals(&refusals);
}

/* @schema: NULL: it drains */
static struct json_object *schema_tree(const struct state *state,
				       const struct kapf_schema_stats *stats,
				       const struct kapf_flow_schema *schema)
{
	struct refusals refusals = schema_refusals(state, stats);
	struct json_object *tree = tree_map();
	struct figure figures[MAX_FIGURES];

	tree_add(tree, "flow_schema", tree_text(stats->name));
	tree_add(tree, "mode", tree_text(mode_name(state->stats.mode)));
	tree_add(tree, "object", schema ? schema_object(schema) : NULL);
	tree_add(tree, "dangling", tree_bool(schema && schema->dangling));
	add_figures(tree, figures, schema_figures(figures, stats));
	tree_add(tree, "rejections", refusals_tree(&refusals));
	tree_add(tree, "draining", draining_of(state, stats->name));
	return tree;
}

static void next_one(bool *is_first)
{
	if (!*is_first)
		printf("\n");
	*is_first = false;
}

static void print(const struct state *state, const struct selection *wanted)
{
	const struct kapf_configuration *config = state->config;
	bool is_first = true;
	size_t i;

	for (i = 0; i < state->stats.nr_levels; i++) {
		if (!is_selected(wanted, LEVEL, state->levels[i].name))
			continue;
		next_one(&is_first);
		print_level(state, &state->levels[i]);
	}
	for (i = 0; i < config->nr_schemas; i++) {
		if (!is_selected(wanted, SCHEMA, config->schemas[i].name))
			continue;
		next_one(&is_first);
		print_schema(state, &config->schemas[i]);
	}
	for (i = 0; i < state->stats.nr_schemas; i++) {
		const struct kapf_schema_stats *stats = &state->schemas[i];

		if (!schema_drains(state, stats) ||
		    !is_selected(wanted, SCHEMA, stats->name))
			continue;
		next_one(&is_first);
		print_draining_schema(state, stats);
	}
}

static void print_trees(const struct state *state,
			const struct selection *wanted)
{
	const struct kapf_configuration *config = state->config;
	struct json_object *list = tree_list();
	size_t i;

	for (i = 0; i < state->stats.nr_levels; i++)
		if (is_selected(wanted, LEVEL, state->levels[i].name))
			tree_append(list, level_tree(state, &state->levels[i]));
	for (i = 0; i < config->nr_schemas; i++) {
		const struct kapf_flow_schema *schema = &config->schemas[i];

		if (is_selected(wanted, SCHEMA, schema->name))
			tree_append(list, schema_tree(state, schema_stats(state, schema->id),
						      schema));
	}
	for (i = 0; i < state->stats.nr_schemas; i++) {
		const struct kapf_schema_stats *stats = &state->schemas[i];

		if (schema_drains(state, stats) &&
		    is_selected(wanted, SCHEMA, stats->name))
			tree_append(list, schema_tree(state, stats, NULL));
	}
	tree_print(list);
}

static int describe(const struct selection *wanted)
{
	int fd = open_control(O_RDONLY), status = REFUSED;
	struct state state;

	if (fd < 0)
		return REFUSED;
	if (read_state(&state, fd) == 0) {
		if (output_format)
			print_trees(&state, wanted);
		else
			print(&state, wanted);
		if (!complain_of_absent(wanted, &state))
			status = DONE;
	}
	free_state(&state);
	close(fd);
	return status;
}

static int describe_main(int argc, char **argv)
{
	struct selection wanted = { .nr = 0 };
	int status;

	next_option(&describe_command, argc, argv);
	if (optind == argc)
		return usage_error(&describe_command,
				   "say what to describe: prioritylevels, flowschemas or all");
	status = select_objects(&describe_command, &wanted, argv + optind,
				argc - optind);
	if (status == DONE)
		status = describe(&wanted);
	free(wanted.all);
	return status;
}

const struct command describe_command = {
	.name = "describe",
	.summary = "all about priority levels or flow schemas",
	.help =
"usage: kapfctl describe KIND [NAME]... [-o json]\n"
"       kapfctl describe KIND/NAME... [-o json]\n"
"\n"
"Shows labels, annotations and UID; what a level is, its seats and the bounds\n"
"between which they move, the demand by which they do, its requests, those that it\n"
"has refused, by reason, with what would have been needed instead, and what a\n"
"client refused now would be told.  Of a schema: its rules in words, and likewise.\n"
"What was deleted is there until its last request has ended: it drains.  Where the\n"
"mode is not enforce it says so.  Kinds as of kapfctl get.\n"
"\n"
"With -o, a list of objects.  Of a level: priority_level, mode, draining, object\n"
"(as kapfctl get has it; null: it drains), flow_schemas (that lead to it, or whose\n"
"requests drain), nominal_seats, min_seats, max_seats, current_seats,\n"
"seats_in_use, waiting_seats, demand_average, demand_stdev, demand_smoothed,\n"
"demand_high_watermark and target_seats (of the last period, in seats),\n"
"executing_requests, passing_requests (of these: without seats, in modes observe\n"
"and off), lingering_requests, waiting_requests, active_queues, dispatched,\n"
"no_accommodation (times that seats were free, but too few for the next request),\n"
"rejections and retry_after_s (null: never).  Of a schema: flow_schema, mode,\n"
"object (likewise), dangling, seats_in_use, waiting_seats, executing_requests,\n"
"passing_requests, waiting_requests, dispatched, rejections and draining, a list\n"
"of priority_level, executing_requests, waiting_requests and seats_in_use: of\n"
"levels that it led to before.  rejections is a list of reason (queue-full,\n"
"concurrency-limit, time-out or cancelled), requests, observed_requests (that\n"
"would have been, in mode observe) and asks_for (text; null where there were\n"
"none).\n",
	.formats = "json",
	.words = "prioritylevels flowschemas all",
	.names = "",
	.main = describe_main,
};
