// SPDX-License-Identifier: GPL-2.0
/*
 * kapfctl mode: what the instance does with requests, and what it would do.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "kapfctl.h"

static const char *const modes[] = {
	[KAPF_MODE_ENFORCE] = "enforce",
	[KAPF_MODE_OBSERVE] = "observe",
	[KAPF_MODE_OFF] = "off",
};

#define NR_MODES (sizeof(modes) / sizeof(*modes))

/**
 * mode_name() - what a mode is called
 * @mode: enum kapf_mode
 */
const char *mode_name(uint32_t mode)
{
	return mode < NR_MODES && modes[mode] ? modes[mode] : "unknown";
}

/**
 * mode_note() - what to know of a mode when its figures are read
 * @mode: enum kapf_mode
 *
 * Return: beginning with the name; NULL: as one expects.
 */
const char *mode_note(uint32_t mode)
{
	if (mode == KAPF_MODE_OBSERVE)
		return "observe: requests execute at once; what waits or holds seats would do so";
	if (mode == KAPF_MODE_OFF)
		return "off: requests execute at once, without seats";
	return NULL;
}

static int find_mode(const char *name)
{
	size_t mode;

	for (mode = KAPF_MODE_ENFORCE; mode < NR_MODES; mode++)
		if (!strcmp(modes[mode], name))
			return mode;
	return -1;
}

static int set_mode(int fd, uint32_t mode)
{
	struct kapf_set_mode set = { .size = sizeof(set), .mode = mode };

	if (ioctl(fd, KAPF_SET_MODE, &set) < 0) {
		complain("%s: the mode stays: %s", control_node,
			 strerror(errno));
		return REFUSED;
	}
	if (!output_format)
		printf("mode %s set\n", mode_name(mode));
	return DONE;
}

static bool was_observed(const struct kapf_observed *observed)
{
	return observed->dispatched || observed->queue_full ||
	       observed->concurrency_limit || observed->time_out ||
	       observed->cancelled;
}

/* What would have become of the requests of each level. */
static void print_observed(const struct state *state)
{
	static const char *const columns[] = {
		"PRIORITYLEVEL", "WOULD-WAIT", "DISPATCHED", "QUEUE-FULL",
		"CONCURRENCY-LIMIT", "TIME-OUT", "WAITED-TO-THE-END", NULL
	};
	struct libscols_table *table = table_new(columns);
	uint32_t i;

	for (i = 0; i < state->stats.nr_levels; i++) {
		const struct kapf_level_stats *level = &state->levels[i];
		const struct kapf_observed *observed = &level->observed;
		char cell[6][24];

		if (!was_observed(observed))
			continue;
		snprintf(cell[0], sizeof(cell[0]), "%u",
			 level->waiting_requests);
		snprintf(cell[1], sizeof(cell[1]), "%llu",
			 observed->dispatched);
		snprintf(cell[2], sizeof(cell[2]), "%llu",
			 observed->queue_full);
		snprintf(cell[3], sizeof(cell[3]), "%llu",
			 observed->concurrency_limit);
		snprintf(cell[4], sizeof(cell[4]), "%llu", observed->time_out);
		snprintf(cell[5], sizeof(cell[5]), "%llu",
			 observed->cancelled);
		table_row(table, level->name, cell[0], cell[1], cell[2],
			  cell[3], cell[4], cell[5]);
	}
	table_print(table);
}

static struct json_object *mode_tree(const struct state *state)
{
	struct json_object *tree = tree_map(), *list = tree_list();
	uint32_t i;

	tree_add(tree, "mode", tree_text(mode_name(state->stats.mode)));
	tree_add(tree, "capped_requests",
		 tree_number(state->stats.passing_requests));
	tree_add(tree, "capped_mutating_requests",
		 tree_number(state->stats.passing_mutating_requests));
	for (i = 0; i < state->stats.nr_levels; i++) {
		const struct kapf_level_stats *level = &state->levels[i];
		const struct kapf_observed *observed = &level->observed;
		struct json_object *map = tree_map();

		tree_add(map, "priority_level", tree_text(level->name));
		tree_add(map, "passing_requests",
			 tree_number(level->passing_requests));
		tree_add(map, "observed_dispatched_requests",
			 tree_number(observed->dispatched));
		tree_add(map, "observed_queue_full_requests",
			 tree_number(observed->queue_full));
		tree_add(map, "observed_concurrency_limit_requests",
			 tree_number(observed->concurrency_limit));
		tree_add(map, "observed_time_out_requests",
			 tree_number(observed->time_out));
		tree_add(map, "observed_cancelled_requests",
			 tree_number(observed->cancelled));
		tree_append(list, map);
	}
	tree_add(tree, "priority_levels", list);
	return tree;
}

static int show_mode(int fd)
{
	struct state state;
	int ret = REFUSED;

	if (!read_state(&state, fd)) {
		if (output_format) {
			tree_print(mode_tree(&state));
		} else {
			printf("%s\n", mode_name(state.stats.mode));
			if (state.stats.mode == KAPF_MODE_OBSERVE)
				print_observed(&state);
		}
		ret = DONE;
	}
	free_state(&state);
	return ret;
}

static int mode_main(int argc, char **argv)
{
	int fd, ret, mode = 0;

	next_option(&mode_command, argc, argv);
	if (optind + 1 < argc)
		return usage_error(&mode_command, "\"%s\" is too much",
				   argv[optind + 1]);
	if (optind < argc) {
		mode = find_mode(argv[optind]);
		if (mode < 0)
			return usage_error(&mode_command,
					   "there is no mode \"%s\": enforce, observe or off",
					   argv[optind]);
	}
	fd = open_control(mode ? O_RDWR : O_RDONLY);
	if (fd < 0)
		return REFUSED;
	ret = mode ? set_mode(fd, mode) : show_mode(fd);
	close(fd);
	return ret;
}

const struct command mode_command = {
	.name = "mode",
	.summary = "enforce, only observe, or switch it off",
	.help =
"usage: kapfctl mode [-o json]\n"
"       kapfctl mode enforce|observe|off\n"
"\n"
"Shows the mode of the instance, or sets it:\n"
"\n"
"  enforce  requests wait for seats, and are refused; so it begins\n"
"  observe  each request executes at once, while its level counts what would have\n"
"           become of it: for the first week, and for trying a configuration\n"
"  off      no priority and fairness: requests execute at once, as long as fewer\n"
"           than max-requests-inflight of those that only read are in flight, and\n"
"           fewer than max-mutating-requests-inflight of the others; 0: no limit\n"
"\n"
"Exempt requests are admitted in each.  Who waits when it becomes observe or off\n"
"gets seats at once.\n"
"\n"
"In mode observe it shows for each level how many requests would wait at present,\n"
"how many would have been dispatched or rejected, by reason, and how many would\n"
"still have waited when they had been served already.\n"
"\n"
"With -o, an object: mode; capped_requests and capped_mutating_requests, in flight\n"
"by the caps of mode off; and priority_levels, a list of priority_level,\n"
"passing_requests (executing without seats), and observed_dispatched_requests,\n"
"observed_queue_full_requests, observed_concurrency_limit_requests,\n"
"observed_time_out_requests, observed_cancelled_requests.\n",
	.formats = "json",
	.words = "enforce observe off",
	.main = mode_main,
};
