// SPDX-License-Identifier: GPL-2.0
/*
 * kapfctl evict: end sessions from outside.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kapfctl.h"

enum {
	OPTION_DRY_RUN = 256,
};

static const struct option evict_options[] = {
	{ "dry-run", no_argument, NULL, OPTION_DRY_RUN },
	{ NULL, 0, NULL, 0 }
};

/* What became of a session, in words and for programs */
enum outcome {
	EVICTED,
	WOULD_BE_EVICTED,
	ENDED,
};

static const char *const outcomes[] = {
	[EVICTED] = "evicted",
	[WOULD_BE_EVICTED] = "would be evicted",
	[ENDED] = "has ended by itself",
};

/* Whose the session was, and what came back, or would. */
static void tell(const struct kapf_session_info *info, enum outcome outcome,
		 const struct kapf_evict *evicted)
{
	printf("session %llu of server %s", info->session, info->server);
	if (outcome == ENDED) {
		printf(" %s\n", outcomes[outcome]);
		return;
	}
	printf("%s%s, ", *info->tenant ? " of tenant " : "", info->tenant);
	write_process(stdout, info->pid);
	printf(" %s: %u request%s held %llu seat%s, %u waited\n",
	       outcomes[outcome], evicted->requests, plural(evicted->requests),
	       evicted->seats, plural(evicted->seats), evicted->waiting);
}

static struct json_object *tree_of(const struct kapf_session_info *info,
				   enum outcome outcome,
				   const struct kapf_evict *evicted)
{
	struct json_object *tree = tree_map();
	char process[PROCESS_ROOM];

	process_name(process, info->pid);
	tree_add(tree, "session", tree_number(info->session));
	tree_add(tree, "server", tree_text(info->server));
	tree_add(tree, "tenant",
		 *info->tenant ? tree_text(info->tenant) : NULL);
	tree_add(tree, "pid", tree_number(info->pid));
	tree_add(tree, "command", *process ? tree_text(process) : NULL);
	tree_add(tree, "outcome", tree_text(outcomes[outcome]));
	tree_add(tree, "seats", outcome == ENDED ?
		 NULL : tree_number(evicted->seats));
	tree_add(tree, "requests", outcome == ENDED ?
		 NULL : tree_number(evicted->requests));
	tree_add(tree, "waiting_requests", outcome == ENDED ?
		 NULL : tree_number(evicted->waiting));
	return tree;
}

static const struct kapf_session_info *
find_session(const struct kapf_session_info *sessions, size_t nr,
	     uint64_t number)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (sessions[i].session == number)
			return &sessions[i];
	complain("there is no session %ju, and none is evicted: kapfctl sessions lists them",
		 (uintmax_t)number);
	return NULL;
}

/* Adds it to @list, if that is not NULL. */
static int evict_one(const struct kapf_session_info *info, bool dry_run,
		     struct json_object *list, int fd)
{
	enum outcome outcome = dry_run ? WOULD_BE_EVICTED : EVICTED;
	struct kapf_evict evicted = {
		.requests = info->executing_requests + info->lingering_requests,
		.waiting = info->waiting_requests,
		.seats = info->seats_in_use,
	};
	struct kapf_error err;
	int ret = 0;

	if (!dry_run)
		ret = kapf_evict(fd, info->session, &evicted, &err);
	if (ret == -ENOENT) {
		outcome = ENDED;
	} else if (ret < 0) {
		complain("%s: %s", control_node, err.text);
		return REFUSED;
	}
	if (list)
		tree_append(list, tree_of(info, outcome, &evicted));
	else
		tell(info, outcome, &evicted);
	return DONE;
}

static int evict_all(const struct kapf_session_info *const *sessions, size_t nr,
		     bool dry_run, int fd)
{
	struct json_object *list = output_format ? tree_list() : NULL;
	int ret = DONE;
	size_t i;

	for (i = 0; i < nr; i++)
		if (evict_one(sessions[i], dry_run, list, fd) != DONE)
			ret = REFUSED;
	if (list)
		tree_print(list);
	return ret;
}

/* All of them have to be there, lest a slip of the hand ends some. */
static int evict(const uint64_t *numbers, size_t nr, bool dry_run, int fd)
{
	const struct kapf_session_info **chosen = NULL;
	struct kapf_session_info *sessions;
	size_t i, nr_sessions;
	int ret = REFUSED;

	if (read_sessions(&sessions, &nr_sessions, fd) < 0)
		goto out;
	chosen = need(calloc(nr, sizeof(*chosen)));
	for (i = 0; i < nr; i++) {
		chosen[i] = find_session(sessions, nr_sessions, numbers[i]);
		if (!chosen[i])
			goto out;
	}
	ret = evict_all(chosen, nr, dry_run, fd);
out:
	free(chosen);
	free(sessions);
	return ret;
}

static uint64_t session_number(const char *text)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno)
		exit(usage_error(&evict_command,
				 "\"%s\" is not the number of a session", text));
	return number;
}

static int evict_main(int argc, char **argv)
{
	bool dry_run = false;
	uint64_t *numbers;
	int fd, i, ret;

	while (next_option(&evict_command, argc, argv) == OPTION_DRY_RUN)
		dry_run = true;
	if (optind == argc)
		return usage_error(&evict_command,
				   "the number of a session is missing");
	numbers = need(calloc(argc - optind, sizeof(*numbers)));
	for (i = optind; i < argc; i++)
		numbers[i - optind] = session_number(argv[i]);
	fd = open_control(dry_run ? O_RDONLY : O_RDWR);
	ret = fd < 0 ? REFUSED : evict(numbers, argc - optind, dry_run, fd);
	if (fd >= 0)
		close(fd);
	free(numbers);
	return ret;
}

const struct command evict_command = {
	.name = "evict",
	.summary = "end sessions, so that their seats come back",
	.help =
"usage: kapfctl evict SESSION... [--dry-run] [-o json]\n"
"\n"
"Ends the sessions of these numbers, as kapfctl sessions lists them.  The seats\n"
"that a session holds are free at once, also those that linger; what waits leaves\n"
"its queue.  The server lives on, but cannot admit requests until it opens another\n"
"session; to it this is an error, ESHUTDOWN.  It works even if the server hangs or\n"
"is stopped.  Says of each session what came back.  If one is not there, none is\n"
"evicted.\n"
"\n"
"      --dry-run        change nothing, and say what would come back now\n"
"\n"
"With -o, a list of session, server, tenant (null: none), pid, command (null: not\n"
"visible), outcome (evicted, would be evicted, or has ended by itself), and of the\n"
"first two seats and requests (that held them) and waiting_requests (else null).\n",
	.formats = "json",
	.options = evict_options,
	.main = evict_main,
};
