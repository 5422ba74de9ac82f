// SPDX-License-Identifier: GPL-2.0
/*
 * kapfctl status: the budget of an instance, and who uses it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kapfctl.h"

/**
 * struct totals - of all levels
 * @in_use: seats of the budget
 * @exempt: seats on top of it
 * @passing: requests that execute without seats
 * @waiting: requests
 * @waiting_seats: their seats
 */
struct totals {
	unsigned long long in_use;
	unsigned long long exempt;
	unsigned int passing;
	unsigned int waiting;
	unsigned long long waiting_seats;
};

static struct totals add_up(const struct state *state)
{
	struct totals totals = { .waiting = 0 };
	unsigned int i;

	for (i = 0; i < state->stats.nr_levels; i++) {
		const struct kapf_level_stats *level = &state->levels[i];

		if (level->type == KAPF_LEVEL_EXEMPT)
			totals.exempt += level->seats_in_use;
		else
			totals.in_use += level->seats_in_use;
		totals.passing += level->passing_requests;
		totals.waiting += level->waiting_requests;
		totals.waiting_seats += level->waiting_seats;
	}
	return totals;
}

/* In mode observe these are seats and requests of queues that only count. */
static void print_totals(const struct state *state)
{
	const struct totals totals = add_up(state);
	const uint32_t mode = state->stats.mode;
	bool observes = mode == KAPF_MODE_OBSERVE;

	printf("In use:      %llu seat%s%s, and %llu exempt", totals.in_use,
	       plural(totals.in_use), observes ? " would be" : "",
	       totals.exempt);
	if (totals.passing || mode != KAPF_MODE_ENFORCE)
		printf("; %u request%s without seats", totals.passing,
		       totals.passing == 1 ? " executes" : "s execute");
	printf("\nWaiting:     %u request%s for %llu seat%s%s\n",
	       totals.waiting, plural(totals.waiting), totals.waiting_seats,
	       plural(totals.waiting_seats), observes ? " would wait" : "");
}

static void print_budget(const struct state *state)
{
	const char *note = mode_note(state->stats.mode);
	char period[PERIOD_ROOM];

	printf("Mode:        %s\n", note ? note : mode_name(state->stats.mode));
	printf("Budget:      %u seat%s (max-requests-inflight %u, %s %u)\n",
	       state->stats.server_seats, plural(state->stats.server_seats),
	       state->config->max_requests_inflight,
	       "max-mutating-requests-inflight",
	       state->config->max_mutating_requests_inflight);
	format_period(period, state->config);
	printf("Adjustment:  every %s\n", period);
	print_totals(state);
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
	char cell[7][16], id[24], attached[TIME_ROOM];
	size_t i;

	for (i = 0; i < 7; i++)
		snprintf(cell[i], sizeof(cell[i]), "%u", numbers[i]);
	snprintf(id, sizeof(id), "%llu", session->session);
	format_time(attached, session->attached / NSEC_PER_SEC * NSEC_PER_SEC);
	table_row(table, session->server, or_none(session->tenant), id, cell[0],
		  cell[1], cell[2], cell[3], cell[4], cell[5], cell[6], attached);
}

static void print_sessions(const struct kapf_session_info *sessions, size_t nr)
{
	static const char *const columns[] = {
		"SERVER", "TENANT", "SESSION", "PID", "UID", "SLOTS",
		"SEATS-IN-USE", "EXECUTING", "WAITING", "LINGERING",
		"ATTACHED", NULL
	};
	struct libscols_table *table = table_new(columns);
	size_t i;

	printf("Servers:     %zu\n", nr);
	if (nr)
		printf("\n");
	for (i = 0; i < nr; i++)
		add_session(table, &sessions[i]);
	table_print(table);
}

static struct json_object *
status_tree(const struct state *state,
	    const struct kapf_session_info *sessions, size_t nr)
{
	struct json_object *tree = tree_map(), *servers = tree_list();
	const struct totals totals = add_up(state);
	size_t i;

	tree_add(tree, "mode", tree_text(mode_name(state->stats.mode)));
	tree_add(tree, "budget_seats", tree_number(state->stats.server_seats));
	tree_add(tree, "max_requests_inflight",
		 tree_number(state->config->max_requests_inflight));
	tree_add(tree, "max_mutating_requests_inflight",
		 tree_number(state->config->max_mutating_requests_inflight));
	tree_add(tree, "adjustment_period_ms",
		 tree_number(period_ms(state->config)));
	tree_add(tree, "seats_in_use", tree_number(totals.in_use));
	tree_add(tree, "exempt_seats_in_use", tree_number(totals.exempt));
	tree_add(tree, "passing_requests", tree_number(totals.passing));
	tree_add(tree, "waiting_requests", tree_number(totals.waiting));
	tree_add(tree, "waiting_seats", tree_number(totals.waiting_seats));
	tree_add(tree, "generation", tree_number(state->stats.generation));
	for (i = 0; i < nr; i++)
		tree_append(servers, session_tree(&sessions[i]));
	tree_add(tree, "servers", servers);
	return tree;
}

static int status(int fd)
{
	struct kapf_session_info *sessions = NULL;
	struct state state;
	int ret = REFUSED;
	size_t nr;

	if (read_state(&state, fd) < 0 || read_sessions(&sessions, &nr, fd) < 0)
		goto out;
	if (output_format) {
		tree_print(status_tree(&state, sessions, nr));
	} else {
		print_budget(&state);
		print_sessions(sessions, nr);
	}
	ret = DONE;
out:
	free(sessions);
	free_state(&state);
	return ret;
}

static int status_main(int argc, char **argv)
{
	return look(&status_command, argc, argv, status);
}

const struct command status_command = {
	.name = "status",
	.summary = "show the budget and the servers that share it",
	.help =
"usage: kapfctl status [-o json]\n"
"\n"
"Shows the mode of the instance, the budget of seats, how often levels lend and\n"
"borrow anew, how many seats are in use, and the servers attached, with the tenant\n"
"that each is part of and the seats that it holds.  Exempt seats come on top of the\n"
"budget.  In mode observe, seats would be in use and requests would wait.\n"
"\n"
"With -o, an object: mode, budget_seats, max_requests_inflight,\n"
"max_mutating_requests_inflight, adjustment_period_ms, seats_in_use,\n"
"exempt_seats_in_use, passing_requests (executing without seats),\n"
"waiting_requests, waiting_seats, generation and servers, a list of server, tenant\n"
"(null: none), session, pid, uid, slots, seats_in_use, executing_requests,\n"
"waiting_requests, lingering_requests and attached_at (RFC 3339).\n",
	.formats = "json",
	.main = status_main,
};
