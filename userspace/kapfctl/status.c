// SPDX-License-Identifier: GPL-2.0
/*
 * kapfctl status: the budget of an instance, and who uses it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "kapfctl.h"

static void print_budget(const struct state *state)
{
	unsigned long long in_use = 0, exempt = 0, waiting_seats = 0;
	unsigned int i, waiting = 0;

	for (i = 0; i < state->stats.nr_levels; i++) {
		const struct kapf_level_stats *level = &state->levels[i];

		if (level->type == KAPF_LEVEL_EXEMPT)
			exempt += level->seats_in_use;
		else
			in_use += level->seats_in_use;
		waiting += level->waiting_requests;
		waiting_seats += level->waiting_seats;
	}
	printf("Budget:      %u seat%s (max-requests-inflight %u, %s %u)\n",
	       state->stats.server_seats, plural(state->stats.server_seats),
	       state->config->max_requests_inflight,
	       "max-mutating-requests-inflight",
	       state->config->max_mutating_requests_inflight);
	printf("In use:      %llu seat%s, and %llu exempt\n", in_use,
	       plural(in_use), exempt);
	printf("Waiting:     %u request%s for %llu seat%s\n", waiting,
	       plural(waiting), waiting_seats, plural(waiting_seats));
	printf("Generation:  %llu\n", state->stats.generation);
}

static void add_session(struct libscols_table *table,
			const struct kapf_session_info *session)
{
	const uint32_t numbers[] = {
		session->pid, session->uid, session->slots,
		session->seats_in_use, session->executing_requests,
		session->waiting_requests, session->lingering_requests,
	};
	char cell[7][16], id[24], attached[32];
	time_t time = session->attached / 1000000000;
	struct tm utc;
	size_t i;

	for (i = 0; i < 7; i++)
		snprintf(cell[i], sizeof(cell[i]), "%u", numbers[i]);
	snprintf(id, sizeof(id), "%llu", session->session);
	gmtime_r(&time, &utc);
	strftime(attached, sizeof(attached), "%Y-%m-%dT%H:%M:%SZ", &utc);
	table_row(table, session->server, id, cell[0], cell[1], cell[2],
		  cell[3], cell[4], cell[5], cell[6], attached);
}

static int print_sessions(int fd)
{
	static const char *const columns[] = {
		"SERVER", "SESSION", "PID", "UID", "SLOTS", "SEATS-IN-USE",
		"EXECUTING", "WAITING", "LINGERING", "ATTACHED", NULL
	};
	struct kapf_session_info *sessions;
	struct libscols_table *table;
	size_t i, nr;
	int ret;

	ret = read_sessions(&sessions, &nr, fd);
	if (!ret) {
		printf("Servers:     %zu\n", nr);
		if (nr)
			printf("\n");
		table = table_new(columns);
		for (i = 0; i < nr; i++)
			add_session(table, &sessions[i]);
		table_print(table);
	}
	free(sessions);
	return ret;
}

static int status_main(int argc, char **argv)
{
	struct state state;
	int fd, status = REFUSED;

	next_option(&status_command, argc, argv);
	if (optind < argc)
		return usage_error(&status_command, "\"%s\" is too much",
				   argv[optind]);
	fd = open_control(O_RDONLY);
	if (fd < 0)
		return REFUSED;
	if (!read_state(&state, fd)) {
		print_budget(&state);
		if (!print_sessions(fd))
			status = DONE;
	}
	free_state(&state);
	close(fd);
	return status;
}

const struct command status_command = {
	.name = "status",
	.summary = "show the budget and the servers that share it",
	.help =
"usage: kapfctl status\n"
"\n"
"Shows the budget of seats, how many are in use, and the servers attached with\n"
"the seats that each holds.  Exempt seats come on top of the budget.\n",
	.main = status_main,
};
