// SPDX-License-Identifier: GPL-2.0
/*
 * kapf-demo-report: shows the results of kapf-demo as one table, and judges
 * whether the incident and its cure are in them.  Exit status 1 when not, with
 * a line for each condition that failed.
 */
#include <err.h>
#include <json-c/json.h>
#include <libsmartcols.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "array_size.h"
#include "help.h"

#define MIB 1048576.0

enum unit { NUMBER, MILLISECONDS, MEBIBYTES };

static const char *const runs[] = { "idle", "without", "with" };

#define NR_RUNS ARRAY_SIZE(runs)

static const struct row {
	const char *title;
	const char *key;
	enum unit unit;
} rows[] = {
	{ "duration (s)", "seconds", NUMBER },
	{ "servers killed", "servers_killed", NUMBER },
	{ "peak memory of server 1, 2, 3 (MiB)", "server_peak_memory_bytes",
	  MEBIBYTES },
	{ "  the most, if memory is not limited", "peak_memory_unlimited_bytes",
	  MEBIBYTES },
	{ "LISTs served", "list_served", NUMBER },
	{ "  lost", "list_lost", NUMBER },
	{ "  retried", "list_retries", NUMBER },
	{ "    as the server was dead or died", "list_broken", NUMBER },
	{ "    rejected: queue-full", "list_rejections_queue_full", NUMBER },
	{ "    rejected: concurrency-limit", "list_rejections_concurrency_limit",
	  NUMBER },
	{ "    rejected: time-out", "list_rejections_time_out", NUMBER },
	{ "LIST p50 (ms)", "list_p50_ms", MILLISECONDS },
	{ "  if memory is not limited", "list_p50_unlimited_ms", MILLISECONDS },
	{ "LIST p99 (ms)", "list_p99_ms", MILLISECONDS },
	{ "  if memory is not limited", "list_p99_unlimited_ms", MILLISECONDS },
	{ "heartbeats served", "heartbeat_served", NUMBER },
	{ "  missed", "heartbeat_missed", NUMBER },
	{ "heartbeat p50 (ms)", "heartbeat_p50_ms", MILLISECONDS },
	{ "heartbeat p99 (ms)", "heartbeat_p99_ms", MILLISECONDS },
	{ "lease renewals served", "lease_served", NUMBER },
	{ "  missed", "lease_missed", NUMBER },
	{ "lease renewal p50 (ms)", "lease_p50_ms", MILLISECONDS },
	{ "lease renewal p99 (ms)", "lease_p99_ms", MILLISECONDS },
};

static struct json_object *find(struct json_object *all, const char *run,
				const char *key)
{
	return json_object_object_get(json_object_object_get(all, run), key);
}

static double value(struct json_object *all, const char *run, const char *key)
{
	struct json_object *found = find(all, run, key);

	if (!found)
		errx(2, "the results have no %s.%s", run, key);
	return json_object_get_double(found);
}

static void format(char *cell, size_t size, struct json_object *found,
		   enum unit unit)
{
	size_t i, len = 0;

	if (!found) {
		snprintf(cell, size, "-");
	} else if (json_object_is_type(found, json_type_array)) {
		for (i = 0; i < json_object_array_length(found); i++) {
			format(cell + len, size - len,
			       json_object_array_get_idx(found, i), unit);
			len += strlen(cell + len);
			if (i + 1 < json_object_array_length(found))
				len += snprintf(cell + len, size - len, " ");
		}
	} else if (unit == MEBIBYTES) {
		snprintf(cell, size, "%.1f",
			 json_object_get_double(found) / MIB);
	} else {
		snprintf(cell, size, unit == NUMBER ? "%.0f" : "%.1f",
			 json_object_get_double(found));
	}
}

static void print_table(struct json_object *all)
{
	struct libscols_table *table = scols_new_table();
	size_t i, run;

	if (!table || !scols_table_new_column(table, "", 0, 0))
		err(2, "table");
	for (run = 0; run < NR_RUNS; run++)
		if (!scols_table_new_column(table, runs[run], 0,
					    SCOLS_FL_RIGHT))
			err(2, "table");
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct libscols_line *line = scols_table_new_line(table, NULL);
		char cell[64];

		if (!line || scols_line_set_data(line, 0, rows[i].title))
			err(2, "table");
		for (run = 0; run < NR_RUNS; run++) {
			format(cell, sizeof(cell),
			       find(all, runs[run], rows[i].key), rows[i].unit);
			if (scols_line_set_data(line, run + 1, cell))
				err(2, "table");
		}
	}
	scols_print_table(table);
	scols_unref_table(table);
}

/* Counts the conditions that do not hold, and says which they are. */
static int expect(bool holds, const char *format, ...)
{
	va_list args;

	if (holds)
		return 0;
	fputs("demo: FAILED: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return 1;
}

static int judge(struct json_object *all)
{
	const double killed_without = value(all, "without", "servers_killed");
	const double killed = value(all, "with", "servers_killed");
	const double room = value(all, "with", "memory_max_bytes") / 2;
	const double above = value(all, "with", "peak_memory_bytes") -
			     value(all, "idle", "peak_memory_bytes");
	const double lost = value(all, "with", "list_lost");
	const double missed = value(all, "with", "lease_missed");
	const double calm = value(all, "idle", "heartbeat_p99_ms");
	const double busy = value(all, "with", "heartbeat_p99_ms");
	const double bound = calm > 10 ? 2 * calm : calm + 10;

	return expect(killed_without >= 2,
		      "without admission at least 2 servers should be killed, not %.0f",
		      killed_without) +
	       expect(!killed, "with admission %.0f servers were killed",
		      killed) +
	       expect(above <= room,
		      "with admission a server took %.1f MiB more than idle; half of its limit is %.1f MiB",
		      above / MIB, room / MIB) +
	       expect(!lost, "with admission %.0f LISTs were lost", lost) +
	       expect(!missed, "with admission %.0f lease renewals were missed",
		      missed) +
	       expect(busy <= bound,
		      "with admission heartbeats took %.1f ms (p99), idle %.1f ms; at most %.1f ms would do",
		      busy, calm, bound);
}

static const char help[] =
"usage: kapf-demo-report RESULTS.json\n"
"\n"
"Prints the figures of kapf-demo as a table, and fails when the cure does not\n"
"show.\n";

int main(int argc, char **argv)
{
	struct json_object *all;
	int failed;

	help_if_asked(argc, argv, help);
	if (argc != 2) {
		fputs(help, stderr);
		return 2;
	}
	all = json_object_from_file(argv[1]);
	if (!all)
		errx(2, "%s", json_util_get_last_err());
	print_table(all);
	failed = judge(all);
	json_object_put(all);
	if (!failed)
		puts("demo: without admission the servers die; with it none does, and the\n"
		     "demo: LISTs are merely slower; heartbeats and leases go on as before\n"
		     "demo: all figures are in build/demo.json");
	return failed ? 1 : 0;
}
