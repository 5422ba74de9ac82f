// SPDX-License-Identifier: GPL-2.0
/*
 * kapfctl top: levels and flows at work.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frame.h"

enum {
	OPTION_INTERVAL = 256,
	OPTION_ONCE,
	OPTION_SORT,
};

static const struct option top_options[] = {
	{ "interval", required_argument, NULL, OPTION_INTERVAL },
	{ "once", no_argument, NULL, OPTION_ONCE },
	{ "sort", required_argument, NULL, OPTION_SORT },
	{ NULL, 0, NULL, 0 }
};

static int show_once(uint64_t interval, enum sort_key sort, int fd)
{
	struct reading first = {}, second = {};
	struct frame frame;
	struct lines lines;
	int ret = REFUSED;
	size_t i;

	if (take_reading(&first, fd) < 0)
		goto out;
	sleep_for(interval);
	if (take_reading(&second, fd) < 0)
		goto out;
	make_frame(&frame, &first, &second, sort);
	if (output_format) {
		tree_print(frame_tree(&frame));
	} else {
		frame_lines(&lines, &frame, "");
		for (i = 0; i < lines.nr; i++)
			puts(lines.all[i]);
		free_lines(&lines);
	}
	free_frame(&frame);
	ret = DONE;
out:
	free_reading(&second);
	free_reading(&first);
	return ret;
}

static enum sort_key sort_option(const char *value)
{
	enum sort_key sort;

	for (sort = 0; sort < NR_SORT_KEYS; sort++)
		if (!strcmp(sort_names[sort], value))
			return sort;
	exit(usage_error(&top_command,
			 "--sort \"%s\" is not accepted: must be seats, waiting, dispatched, refused or name",
			 value));
}

static int top_main(int argc, char **argv)
{
	uint64_t interval = 2 * NSEC_PER_SEC;
	enum sort_key sort = SORT_SEATS;
	int fd, option, ret;
	bool once = false;

	while ((option = next_option(&top_command, argc, argv)) != -1) {
		if (option == OPTION_INTERVAL)
			interval = interval_option(&top_command, optarg);
		else if (option == OPTION_SORT)
			sort = sort_option(optarg);
		else
			once = true;
	}
	if (optind < argc)
		return usage_error(&top_command, "\"%s\" is too much",
				   argv[optind]);
	if (output_format && !once)
		return usage_error(&top_command, "-o goes with --once");
	if (!once && !(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)))
		return usage_error(&top_command,
				   "this is no terminal: must be --once");
	fd = open_control(O_RDONLY);
	if (fd < 0)
		return REFUSED;
	ret = once ? show_once(interval, sort, fd) :
		     run_screen(interval, sort, fd);
	close(fd);
	return ret;
}

const struct command top_command = {
	.name = "top",
	.summary = "watch levels and flows at work",
	.help =
"usage: kapfctl top [--interval TIME] [--sort KEY]\n"
"       kapfctl top --once [--interval TIME] [--sort KEY] [-o json]\n"
"\n"
"Shows, again and again, the priority levels, and the flows that hold and wait for\n"
"most.  The first line has the mode unless it is enforce: in observe, seats would\n"
"be in use, and requests would wait.  Of a level:\n"
"\n"
"  SEATS        a bar as long as its current or nominal limit: # in use, - free,\n"
"               . nominal seats that other levels may use at present\n"
"  CURRENT      the current limit; exempt, which has none, takes so many seats\n"
"               from the others\n"
"  DISPATCH     requests seated per second since the last look; so the next ones:\n"
"  FULL, LIMIT, TIMEOUT, CANCEL\n"
"               refused because the queue was full, because no seat was free, or\n"
"               after a long wait; left, because their client or server went away\n"
"  P50, P99     half of the requests, and 99 of 100, waited no longer, in ms, of\n"
"               those that were seated, timed out or left since the last look;\n"
"               within a bucket of the kernel's histogram they are taken to lie\n"
"               evenly\n"
"\n"
"Keys: s, w, d, r, n sort by seats, waiting, dispatched, refused, name; p pauses\n"
"and goes on; ^L draws all anew; q quits.\n"
"\n"
"With -o, an object: mode, interval_s, budget_seats, levels, a list of\n"
"priority_level, seats_in_use, current_seats, nominal_seats, waiting_requests,\n"
"arrivals_per_s, dispatched_per_s, queue_full_per_s, concurrency_limit_per_s,\n"
"time_out_per_s, cancelled_per_s, wait_p50_s and wait_p99_s (null: none waited or\n"
"was seated), and flows, a list of flow_schema (null: gone), flow_distinguisher,\n"
"seats_in_use, executing_requests and waiting_requests.\n"
"\n"
"      --interval TIME  between two looks, 100ms to 600s; default 2s\n"
"      --once           look twice, print what happened between, and end\n"
"      --sort KEY       seats, waiting, dispatched, refused or name\n",
	.options = top_options,
	.formats = "json",
	.main = top_main,
};
