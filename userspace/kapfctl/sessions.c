// SPDX-License-Identifier: GPL-2.0
/*
 * kapfctl sessions: who is attached, what for, and since when it holds seats.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kapfctl.h"

/**
 * struct view - a session, and what is known of it elsewhere
 * @info: as GET_SESSIONS answered
 * @process: command of its process; "": not visible
 * @user: name of its user
 * @oldest: when the request that has held seats for the longest time got them;
 *	0: none holds any
 */
struct view {
	const struct kapf_session_info *info;
	char process[PROCESS_ROOM];
	char user[USER_ROOM];
	uint64_t oldest;
};

/* When the first of the requests of @session that hold seats got them; 0: none. */
static uint64_t oldest_start(const struct request *requests, size_t nr,
			     uint64_t session)
{
	uint64_t oldest = 0;
	size_t i;

	for (i = 0; i < nr; i++) {
		const struct kapf_request_info *info = &requests[i].info;

		if (info->session == session && info->start &&
		    (!oldest || info->start < oldest))
			oldest = info->start;
	}
	return oldest;
}

static void add_row(struct libscols_table *table, const struct view *view,
		    uint64_t now, bool wide)
{
	const struct kapf_session_info *info = view->info;
	char session[24], number[7][16], age[AGE_ROOM], attached[TIME_ROOM];
	const uint32_t numbers[] = {
		info->pid, info->seats_in_use, info->executing_requests,
		info->waiting_requests, info->uid, info->slots,
		info->lingering_requests,
	};
	size_t i;

	snprintf(session, sizeof(session), "%llu", info->session);
	for (i = 0; i < 7; i++)
		snprintf(number[i], sizeof(number[i]), "%u", numbers[i]);
	strcpy(age, NONE);
	if (view->oldest)
		format_age(age, now > view->oldest ? now - view->oldest : 0);
	format_time(attached, info->attached / NSEC_PER_SEC * NSEC_PER_SEC);
	if (wide)
		table_row(table, session, info->server, or_none(info->tenant),
			  number[0], or_none(view->process), view->user,
			  number[1], number[2], number[3], age, number[4],
			  number[5], number[6], attached);
	else
		table_row(table, session, info->server, or_none(info->tenant),
			  number[0], or_none(view->process), view->user,
			  number[1], number[2], number[3], age);
}

static void print_table(const struct view *views, size_t nr, uint64_t now,
			bool wide)
{
	static const char *const narrow[] = {
		"SESSION", "SERVER", "TENANT", "PID", "COMMAND", "USER",
		"SEATS", "EXECUTING", "WAITING", "OLDEST", NULL
	};
	static const char *const all[] = {
		"SESSION", "SERVER", "TENANT", "PID", "COMMAND", "USER",
		"SEATS", "EXECUTING", "WAITING", "OLDEST", "UID", "SLOTS",
		"LINGERING", "ATTACHED", NULL
	};
	struct libscols_table *table = table_new(wide ? all : narrow);
	size_t i;

	for (i = 0; i < nr; i++)
		add_row(table, &views[i], now, wide);
	if (!table_print(table))
		printf("No sessions\n");
}

/**
 * session_tree() - what GET_SESSIONS says of a session
 * @session: it
 *
 * Return: a map, to which more may be added.
 */
struct json_object *session_tree(const struct kapf_session_info *session)
{
	struct json_object *tree = tree_map();

	tree_add(tree, "server", tree_text(session->server));
	tree_add(tree, "tenant",
		 *session->tenant ? tree_text(session->tenant) : NULL);
	tree_add(tree, "session", tree_number(session->session));
	tree_add(tree, "pid", tree_number(session->pid));
	tree_add(tree, "uid", tree_number(session->uid));
	tree_add(tree, "slots", tree_number(session->slots));
	tree_add(tree, "seats_in_use", tree_number(session->seats_in_use));
	tree_add(tree, "executing_requests",
		 tree_number(session->executing_requests));
	tree_add(tree, "waiting_requests",
		 tree_number(session->waiting_requests));
	tree_add(tree, "lingering_requests",
		 tree_number(session->lingering_requests));
	tree_add(tree, "attached_at", tree_time(session->attached));
	return tree;
}

static void print_tree(const struct view *views, size_t nr)
{
	struct json_object *tree = tree_list(), *session;
	size_t i;

	for (i = 0; i < nr; i++) {
		session = session_tree(views[i].info);
		tree_add(session, "command", *views[i].process ?
			 tree_text(views[i].process) : NULL);
		tree_add(session, "user", tree_text(views[i].user));
		tree_add(session, "oldest_started_at",
			 tree_time(views[i].oldest));
		tree_append(tree, session);
	}
	tree_print(tree);
}

static int print_sessions(int fd)
{
	struct kapf_session_info *sessions = NULL;
	struct request *requests = NULL;
	size_t i, nr, nr_requests = 0;
	struct view *views = NULL;
	int ret = REFUSED;

	if (read_sessions(&sessions, &nr, fd) < 0 ||
	    read_requests(&requests, &nr_requests, fd) < 0)
		goto out;
	views = need(calloc(nr + 1, sizeof(*views)));
	for (i = 0; i < nr; i++) {
		views[i].info = &sessions[i];
		process_name(views[i].process, sessions[i].pid);
		user_name(views[i].user, sessions[i].uid);
		views[i].oldest = oldest_start(requests, nr_requests,
					       sessions[i].session);
	}
	if (output_format && !strcmp(output_format, "json"))
		print_tree(views, nr);
	else
		print_table(views, nr, time_now(CLOCK_REALTIME),
			    output_format);
	ret = DONE;
out:
	free(views);
	free_requests(requests, nr_requests);
	free(sessions);
	return ret;
}

static int sessions_main(int argc, char **argv)
{
	return look(&sessions_command, argc, argv, print_sessions);
}

const struct command sessions_command = {
	.name = "sessions",
	.summary = "list the sessions of servers, and what each holds",
	.help =
"usage: kapfctl sessions [-o json|wide]\n"
"\n"
"Lists the sessions, by the number that kapfctl evict takes: the server and the\n"
"tenant that it is part of, its process and user, the seats that it holds, its\n"
"requests that execute and that wait, and for how long the oldest of those that\n"
"hold seats has held them.  Requests are read after the sessions, so that one\n"
"that came meanwhile may be counted in one column and not in another.\n"
"\n"
"With -o json, a list of objects as servers of kapfctl status has them, and\n"
"command (null: not visible), user, oldest_started_at (RFC 3339; null: no request\n"
"holds seats).\n",
	.formats = "json or wide",
	.main = sessions_main,
};
