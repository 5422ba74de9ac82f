// SPDX-License-Identifier: GPL-2.0
/*
 * kapfctl why-slow: why requests wait, level by level.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "causes.h"

enum {
	OPTION_INTERVAL = 256,
};

static const struct option why_slow_options[] = {
	{ "interval", required_argument, NULL, OPTION_INTERVAL },
	{ NULL, 0, NULL, 0 }
};

static const char *const cause_names[NR_CAUSES] = {
	[CAUSE_ARRIVALS] = "more arrivals",
	[CAUSE_SERVICE] = "slower service",
	[CAUSE_LIMIT] = "a lower limit",
	[CAUSE_LONG] = "long-running requests",
};

static void tell_arrivals(const struct causes *causes)
{
	double usual = causes->usual ? causes->usual : causes->service;

	printf("%.1f requests a second arrive for %u seat%s",
	       causes->pace.arrivals, causes->full, plural(causes->full));
	if (usual)
		printf(", which serve %.1f at the usual %.1f ms",
		       causes->full / (usual * causes->width), usual * 1000);
	printf("\n");
}

static void tell(const struct causes *causes)
{
	char age[AGE_ROOM];

	printf("%s: %s: ", causes->level->name, cause_names[causes->cause]);
	switch (causes->cause) {
	case CAUSE_SERVICE:
		printf("requests execute for %.1f ms, and for %.1f ms before\n",
		       causes->service * 1000, causes->usual * 1000);
		break;
	case CAUSE_LIMIT:
		printf("%u seat%s, of nominally %u; it was %u at first\n",
		       causes->limit, plural(causes->limit),
		       causes->level->nominal_seats, causes->before);
		break;
	case CAUSE_LONG:
		format_age(age, causes->oldest);
		printf("%u hold%s %ju of %u seats, the oldest for %s\n",
		       causes->nr_long, causes->nr_long == 1 ? "s" : "",
		       (uintmax_t)causes->long_seats, causes->limit, age);
		break;
	default:
		tell_arrivals(causes);
	}
}

#define NUMBER_ROOM 24

static void add_row(struct libscols_table *table, const struct causes *causes)
{
	char factor[NR_CAUSES][NUMBER_ROOM], waiting[NUMBER_ROOM];
	char arrivals[NUMBER_ROOM], dispatched[NUMBER_ROOM];
	char refused[NUMBER_ROOM];
	int i;

	for (i = 0; i < NR_CAUSES; i++)
		snprintf(factor[i], NUMBER_ROOM, "%.2f", causes->factors[i]);
	snprintf(waiting, NUMBER_ROOM, "%u", causes->level->waiting_requests);
	snprintf(arrivals, NUMBER_ROOM, "%.1f", causes->pace.arrivals);
	snprintf(dispatched, NUMBER_ROOM, "%.1f", causes->pace.dispatched);
	snprintf(refused, NUMBER_ROOM, "%.1f", causes->pace.refused);
	table_row(table, causes->level->name,
		  causes->slow ? cause_names[causes->cause] : NONE,
		  factor[CAUSE_ARRIVALS], factor[CAUSE_SERVICE],
		  factor[CAUSE_LIMIT], factor[CAUSE_LONG], waiting, arrivals,
		  dispatched, refused);
}

static void print_table(const struct causes *all, size_t nr)
{
	static const char *const columns[] = {
		"LEVEL", "CAUSE", "ARRIVALS", "SERVICE", "LIMIT",
		"LONG-RUNNING", "WAITING", "ARRIVED/S", "DISPATCHED/S",
		"REFUSED/S", NULL
	};
	struct libscols_table *table = table_new(columns);
	size_t i;

	for (i = 0; i < nr; i++)
		add_row(table, &all[i]);
	table_print(table);
	for (i = 0; i < nr; i++)
		if (all[i].slow)
			tell(&all[i]);
}

static struct json_object *seconds_or_null(double seconds)
{
	return seconds ? tree_real(seconds) : NULL;
}

static struct json_object *causes_tree(const struct causes *causes)
{
	static const char *const keys[NR_CAUSES] = {
		[CAUSE_ARRIVALS] = "more_arrivals",
		[CAUSE_SERVICE] = "slower_service",
		[CAUSE_LIMIT] = "lower_limit",
		[CAUSE_LONG] = "long_running_requests",
	};
	struct json_object *tree = tree_map(), *factors = tree_map();
	int i;

	tree_add(tree, "priority_level", tree_text(causes->level->name));
	tree_add(tree, "cause",
		 causes->slow ? tree_text(keys[causes->cause]) : NULL);
	for (i = 0; i < NR_CAUSES; i++)
		tree_add(factors, keys[i], tree_real(causes->factors[i]));
	tree_add(tree, "factors", factors);
	tree_add(tree, "arrivals_per_s", tree_real(causes->pace.arrivals));
	tree_add(tree, "dispatched_per_s", tree_real(causes->pace.dispatched));
	tree_add(tree, "refused_per_s", tree_real(causes->pace.refused));
	tree_add(tree, "waiting_requests",
		 tree_number(causes->level->waiting_requests));
	tree_add(tree, "execution_s", seconds_or_null(causes->service));
	tree_add(tree, "execution_before_s", seconds_or_null(causes->usual));
	tree_add(tree, "seats_per_request", tree_real(causes->width));
	tree_add(tree, "current_seats", tree_number(causes->limit));
	tree_add(tree, "current_seats_before", tree_number(causes->before));
	tree_add(tree, "nominal_seats",
		 tree_number(causes->level->nominal_seats));
	tree_add(tree, "long_running_requests", tree_number(causes->nr_long));
	tree_add(tree, "long_running_seats", tree_number(causes->long_seats));
	tree_add(tree, "oldest_s", tree_real(causes->oldest /
					     (double)NSEC_PER_SEC));
	return tree;
}

/* Asked for: named, or any that is limited and configured. */
static bool is_asked_for(const struct kapf_level_stats *level, char **names,
			 int nr)
{
	int i;

	if (level->type == KAPF_LEVEL_EXEMPT ||
	    level->flags & KAPF_STATS_DRAINING)
		return false;
	for (i = 0; i < nr; i++)
		if (!strcmp(names[i], level->name))
			return true;
	return !nr;
}

static int check_names(const struct state *state, char **names, int nr)
{
	const struct kapf_priority_level *level;
	int i;

	for (i = 0; i < nr; i++) {
		level = kapf_config_level(state->config, names[i]);
		if (level && level->type != KAPF_LEVEL_EXEMPT)
			continue;
		complain(level ? "priority level \"%s\" is exempt: it never waits" :
				 "there is no priority level \"%s\"", names[i]);
		return -1;
	}
	return 0;
}

static void print_causes(const struct reading *first,
			 const struct reading *second, char **names, int nr)
{
	const struct state *state = &second->state;
	struct json_object *tree;
	struct causes *all;
	size_t i, found = 0;

	all = need(calloc(state->stats.nr_levels, sizeof(*all)));
	for (i = 0; i < state->stats.nr_levels; i++)
		if (is_asked_for(&state->levels[i], names, nr))
			find_causes(&all[found++], first, second,
				    &state->levels[i]);
	if (output_format) {
		tree = tree_list();
		for (i = 0; i < found; i++)
			tree_append(tree, causes_tree(&all[i]));
		tree_print(tree);
	} else {
		print_table(all, found);
	}
	free(all);
}

static int why_slow(uint64_t interval, char **names, int nr, int fd)
{
	struct reading first = {}, second = {};
	int ret = REFUSED;

	if (take_reading(&first, fd) < 0 ||
	    check_names(&first.state, names, nr) < 0)
		goto out;
	sleep_for(interval);
	if (take_reading(&second, fd) < 0 ||
	    check_names(&second.state, names, nr) < 0)
		goto out;
	print_causes(&first, &second, names, nr);
	ret = DONE;
out:
	free_reading(&second);
	free_reading(&first);
	return ret;
}

static int why_slow_main(int argc, char **argv)
{
	uint64_t interval = 5 * NSEC_PER_SEC;
	int fd, ret;

	while (next_option(&why_slow_command, argc, argv) == OPTION_INTERVAL)
		interval = interval_option(&why_slow_command, optarg);
	fd = open_control(O_RDONLY);
	if (fd < 0)
		return REFUSED;
	ret = why_slow(interval, argv + optind, argc - optind, fd);
	close(fd);
	return ret;
}

const struct command why_slow_command = {
	.name = "why-slow",
	.summary = "tell why requests of a level wait or are refused",
	.help =
"usage: kapfctl why-slow [LEVEL]... [--interval TIME] [-o json]\n"
"\n"
"Reads the limited levels twice, and names of each whose requests waited or were\n"
"refused the cause that weighs most.  A cause weighs as much as the factor says by\n"
"which it alone makes the level slower; 1 is not at all, 1000 or more a standstill:\n"
"\n"
"  ARRIVALS      requests that arrived between the readings / those that the full\n"
"                limit serves in that time, at the usual execution time\n"
"  SERVICE       mean execution time of the requests that finished between the\n"
"                readings / the usual one\n"
"  LIMIT         the full limit / the current one, at the second reading\n"
"  LONG-RUNNING  current limit / what requests leave of it that have held their\n"
"                seats since before the first reading\n"
"\n"
"The usual execution time is the mean of all requests that had finished before the\n"
"first reading, since the level is there; watches count for neither.  The full\n"
"limit is the nominal one, or the current one at the first reading if that is\n"
"larger.  Where no factor is 1.25 or more, all is as usual but that there is more\n"
"to do: more arrivals.  Clients that come again at once after a refusal count as\n"
"arrivals each time.\n"
"\n"
"With -o, a list of objects: priority_level, cause (null: keeps up; else\n"
"more_arrivals, slower_service, lower_limit or long_running_requests), factors,\n"
"an object with these keys, arrivals_per_s, dispatched_per_s, refused_per_s,\n"
"waiting_requests, execution_s and execution_before_s (null: nothing finished),\n"
"seats_per_request, current_seats, current_seats_before, nominal_seats,\n"
"long_running_requests, long_running_seats and oldest_s, for how long the oldest\n"
"of them has held its seats.\n"
"\n"
"      --interval TIME  between the two readings, 100ms to 600s; default 5s\n",
	.options = why_slow_options,
	.formats = "json",
	.main = why_slow_main,
};
