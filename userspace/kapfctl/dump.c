// SPDX-License-Identifier: GPL-2.0
/*
 * kapfctl dump: the debug dumps of a kube-apiserver, in its format, so that what
 * reads the one can read the other.
 *
 * Cells end in a comma and are padded to the width of their column, but for the
 * last one of a row.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kapfctl.h"

#define NSEC_PER_SEC 1000000000ULL

/* Columns are at least so wide. */
#define MIN_WIDTH 8

/*
 * ---------------------------------------------------------------------------
 * Cells
 */

/**
 * struct grid - a dump before it is printed
 * @columns: number of cells in a row
 * @cells: all cells, row by row
 * @nr: number of cells
 */
struct grid {
	size_t columns;
	char **cells;
	size_t nr;
};

__attribute__((format(printf, 2, 3)))
static void add_cell(struct grid *grid, const char *format, ...)
{
	va_list args;

	grid->cells = need(reallocarray(grid->cells, grid->nr + 1,
					sizeof(*grid->cells)));
	va_start(args, format);
	if (vasprintf(&grid->cells[grid->nr++], format, args) < 0)
		need(NULL);
	va_end(args);
}

static void add_cells(struct grid *grid, const char *const *cells, size_t nr)
{
	while (nr--)
		add_cell(grid, "%s", *cells++);
}

/* Bytes of the printable UTF-8 character that @text begins with; 0: none. */
static size_t character(const char *text)
{
	static const uint32_t least[] = { 0x20, 0xa0, 0x800, 0x10000 };
	unsigned char first = *text;
	size_t i, more = (first >= 0xc0) + (first >= 0xe0) + (first >= 0xf0);
	uint32_t code = more ? first & (0x3f >> more) : first;

	for (i = 1; i <= more; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (text[i] & 0x3f);
	}
	if (code < least[more] || (!more && code > 0x7e) || first > 0xf4 ||
	    code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	return more + 1;
}

/*
 * Text that a client chose.  What would break the table or command a terminal
 * is written as \xHH, byte by byte.
 */
static void add_text(struct grid *grid, const char *text)
{
	char *cell = need(malloc(4 * strlen(text) + 1)), *end = cell;
	size_t len;

	while (*text) {
		len = character(text);
		if (len && *text != ',' && *text != '\\')
			end = mempcpy(end, text, len);
		else
			end += sprintf(end, "\\x%02x", (unsigned char)*text);
		text += len ? len : 1;
	}
	*end = '\0';
	add_cell(grid, "%s", cell);
	free(cell);
}

/* In characters: all bytes but those that continue one. */
static size_t width_of(const char *cell)
{
	size_t width = 0;

	while (*cell)
		width += (*cell++ & 0xc0) != 0x80;
	return width;
}

/* Print a dump and free it. */
static void print_grid(struct grid *grid)
{
	size_t *widths = need(calloc(grid->columns, sizeof(*widths)));
	size_t i, column, width;

	for (i = 0; i < grid->nr; i++) {
		width = width_of(grid->cells[i]) + strlen(", ");
		column = i % grid->columns;
		if (width < MIN_WIDTH)
			width = MIN_WIDTH;
		if (widths[column] < width)
			widths[column] = width;
	}
	for (i = 0; i < grid->nr; i++) {
		column = i % grid->columns;
		if (column == grid->columns - 1)
			printf("%s\n", grid->cells[i]);
		else
			printf("%s,%*s", grid->cells[i],
			       (int)(widths[column] - 1 -
				     width_of(grid->cells[i])), "");
		free(grid->cells[i]);
	}
	free(grid->cells);
	free(widths);
}

/* A fraction without the zeros at its end: "" or ".5". */
static void add_fraction(char *end, uint64_t part, int digits)
{
	int len = sprintf(end, ".%0*ju", digits, (uintmax_t)part);

	while (len && (end[len - 1] == '0' || end[len - 1] == '.'))
		end[--len] = '\0';
}

/* RFC 3339 with as many digits as it takes; 0 is the zero time of Go. */
static void add_time(struct grid *grid, uint64_t ns)
{
	time_t seconds = ns / NSEC_PER_SEC;
	char text[64];
	struct tm utc;
	size_t len;

	if (!ns) {
		add_cell(grid, "0001-01-01T00:00:00Z");
		return;
	}
	gmtime_r(&seconds, &utc);
	len = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &utc);
	add_fraction(text + len, ns % NSEC_PER_SEC, 9);
	add_cell(grid, "%sZ", text);
}

/* A duration as Go writes it: 0s, 1.5ms, 1h0m2.5s. */
static void add_duration(struct grid *grid, uint64_t ns)
{
	unsigned int seconds = ns / NSEC_PER_SEC;
	char fraction[16], hours[16] = "", minutes[16] = "";

	if (!ns) {
		add_cell(grid, "0s");
	} else if (ns < 1000) {
		add_cell(grid, "%uns", (unsigned int)ns);
	} else if (ns < 1000000) {
		add_fraction(fraction, ns % 1000, 3);
		add_cell(grid, "%u%s\u00b5s", (unsigned int)(ns / 1000),
			 fraction);
	} else if (!seconds) {
		add_fraction(fraction, ns % 1000000, 6);
		add_cell(grid, "%u%sms", (unsigned int)(ns / 1000000),
			 fraction);
	} else {
		add_fraction(fraction, ns % NSEC_PER_SEC, 9);
		if (seconds >= 3600)
			sprintf(hours, "%uh", seconds / 3600);
		if (seconds >= 60)
			sprintf(minutes, "%um", seconds / 60 % 60);
		add_cell(grid, "%s%s%u%ss", hours, minutes, seconds % 60,
			 fraction);
	}
}

/*
 * ---------------------------------------------------------------------------
 * dump_priority_levels
 */

static const char *boolean(bool value)
{
	return value ? "true" : "false";
}

static void add_level(struct grid *grid, const struct state *state,
		      const struct kapf_priority_level *level)
{
	const struct kapf_level_stats *stats = level_stats(state, level->id);

	add_cell(grid, "%s", level->name);
	add_cell(grid, "%u", stats->active_queues);
	add_cell(grid, "%s", boolean(!stats->waiting_requests &&
				     !stats->executing_requests));
	add_cell(grid, "%s", boolean(false)); /* none drains */
	add_cell(grid, "%u", stats->waiting_requests);
	add_cell(grid, "%u", stats->executing_requests);
	add_cell(grid, "%llu", stats->dispatched);
	add_cell(grid, "%llu", stats->rejected_queue_full +
			       stats->rejected_concurrency_limit +
			       stats->rejected_time_out +
			       stats->rejected_cancelled);
	add_cell(grid, "0");
	add_cell(grid, "%llu", stats->rejected_time_out +
			       stats->rejected_cancelled);
}

static void print_levels(const struct state *state)
{
	static const char *const columns[] = {
		"PriorityLevelName", "ActiveQueues", "IsIdle", "IsQuiescing",
		"WaitingRequests", "ExecutingRequests", "DispatchedRequests",
		"RejectedRequests", "TimedoutRequests", "CancelledRequests",
	};
	struct grid grid = { .columns = sizeof(columns) / sizeof(*columns) };
	size_t i;

	add_cells(&grid, columns, grid.columns);
	for (i = 0; i < state->config->nr_levels; i++)
		add_level(&grid, state, &state->config->levels[i]);
	print_grid(&grid);
}

/*
 * ---------------------------------------------------------------------------
 * dump_requests
 */

/**
 * struct row - a request, and the names that it is sorted and shown by
 * @request: it
 * @level: name of its level
 * @schema: name of its schema
 */
struct row {
	const struct request *request;
	const char *level;
	const char *schema;
};

static int order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* By level, queue (none comes last), waiting ones first, then by their turn. */
static int compare_rows(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	const struct kapf_request_info *x = &a->request->info;
	const struct kapf_request_info *y = &b->request->info;
	int ret;

	ret = strcmp(a->level, b->level);
	if (!ret)
		ret = order((uint32_t)x->queue, (uint32_t)y->queue);
	if (!ret)
		ret = order(x->state, y->state);
	if (!ret && x->state == KAPF_REQUEST_WAITING)
		ret = (int32_t)(x->queue_position - y->queue_position);
	if (!ret)
		ret = order(x->arrival, y->arrival);
	return ret;
}

static const char *level_name(const struct kapf_configuration *config,
			      uint32_t id)
{
	size_t i;

	for (i = 0; i < config->nr_levels; i++)
		if (config->levels[i].id == id)
			return config->levels[i].name;
	return NULL;
}

static const char *schema_name(const struct kapf_configuration *config,
			       uint32_t id)
{
	size_t i;

	for (i = 0; i < config->nr_schemas; i++)
		if (config->schemas[i].id == id)
			return config->schemas[i].name;
	return NULL;
}

/*
 * The rows of a dump.  Lingering requests have been served and are not shown,
 * nor are those of which the level or schema is gone, as these are gone, too.
 */
static struct row *make_rows(const struct kapf_configuration *config,
			     const struct request *requests, size_t nr,
			     size_t *nr_rows)
{
	struct row *rows = need(calloc(nr + 1, sizeof(*rows))), *row = rows;
	size_t i;

	for (i = 0; i < nr; i++) {
		row->request = &requests[i];
		row->level = level_name(config, requests[i].info.level);
		row->schema = schema_name(config, requests[i].info.schema);
		if (row->level && row->schema &&
		    requests[i].info.state != KAPF_REQUEST_LINGERING)
			row++;
	}
	*nr_rows = row - rows;
	qsort(rows, *nr_rows, sizeof(*rows), compare_rows);
	return rows;
}

/* How many wait before this one, in the same queue; -1: it does not wait. */
static long index_in_queue(const struct row *rows, size_t at)
{
	const struct kapf_request_info *request = &rows[at].request->info;
	size_t first = at;

	if (request->state != KAPF_REQUEST_WAITING)
		return -1;
	while (first && !strcmp(rows[first - 1].level, rows[at].level) &&
	       rows[first - 1].request->info.queue == request->queue)
		first--;
	return at - first;
}

static void add_request(struct grid *grid, const struct row *rows, size_t at,
			bool details)
{
	const struct request *request = rows[at].request;
	const struct kapf_request_info *info = &request->info;
	int i;

	add_cell(grid, "%s", rows[at].level);
	add_cell(grid, "%s", rows[at].schema);
	add_cell(grid, "%d", info->queue);
	add_cell(grid, "%ld", index_in_queue(rows, at));
	add_text(grid, request->label[LABEL_DISTINGUISHER]);
	add_time(grid, info->arrival);
	add_cell(grid, "%u", info->initial_seats);
	add_cell(grid, "%u", info->final_seats);
	add_duration(grid, info->additional_latency);
	add_time(grid, info->start);
	if (details)
		for (i = LABEL_USER; i < NR_LABELS; i++)
			add_text(grid, request->label[i]);
}

static void print_requests(const struct kapf_configuration *config,
			   const struct request *requests, size_t nr,
			   bool details)
{
	static const char *const columns[] = {
		"PriorityLevelName", "FlowSchemaName", "QueueIndex",
		"RequestIndexInQueue", "FlowDistingsher", "ArriveTime",
		"InitialSeats", "FinalSeats", "AdditionalLatency", "StartTime",
		/* the details */
		"UserName", "Verb", "APIPath", "Namespace", "Name",
		"APIVersion", "Resource", "SubResource",
	};
	struct grid grid = { .columns = details ? 18 : 10 };
	struct row *rows;
	size_t i, nr_rows;

	rows = make_rows(config, requests, nr, &nr_rows);
	add_cells(&grid, columns, grid.columns);
	for (i = 0; i < nr_rows; i++)
		add_request(&grid, rows, i, details);
	print_grid(&grid);
	free(rows);
}

/*
 * ---------------------------------------------------------------------------
 * The command
 */

static int dump_requests(int fd, bool details)
{
	struct kapf_configuration *config = NULL;
	struct request *requests;
	int status = REFUSED;
	size_t nr;

	if (!read_requests(&requests, &nr, fd))
		config = read_config(fd);
	if (config) {
		print_requests(config, requests, nr, details);
		status = DONE;
	}
	kapf_config_free(config);
	free_requests(requests, nr);
	return status;
}

static int dump_levels(int fd)
{
	struct state state;
	int status = REFUSED;

	if (!read_state(&state, fd)) {
		print_levels(&state);
		status = DONE;
	}
	free_state(&state);
	return status;
}

static const struct option options[] = {
	{ "details", no_argument, NULL, 'd' },
	{ NULL, 0, NULL, 0 }
};

static int dump_main(int argc, char **argv)
{
	bool details = false, levels;
	int fd, status;

	while (next_option(&dump_command, argc, argv) != -1)
		details = true;
	if (optind == argc)
		return usage_error(&dump_command, "say what to dump: priority-levels or requests");
	levels = !strcmp(argv[optind], "priority-levels");
	if (!levels && strcmp(argv[optind], "requests"))
		return usage_error(&dump_command,
				   "\"%s\" cannot be dumped, only priority-levels and requests",
				   argv[optind]);
	if (optind + 1 < argc)
		return usage_error(&dump_command, "\"%s\" is too much",
				   argv[optind + 1]);
	if (levels && details)
		return usage_error(&dump_command, "--details goes with requests only");

	fd = open_control(O_RDONLY);
	if (fd < 0)
		return REFUSED;
	status = levels ? dump_levels(fd) : dump_requests(fd, details);
	close(fd);
	return status;
}

const struct command dump_command = {
	.name = "dump",
	.summary = "show levels or requests in the format of a kube-apiserver",
	.help =
"usage: kapfctl dump priority-levels\n"
"       kapfctl dump requests [--details]\n"
"\n"
"What /debug/api_priority_and_fairness/dump_priority_levels and dump_requests of\n"
"a kube-apiserver show, in the same format.  Control characters, commas and\n"
"backslashes in what clients chose are written as \\xHH.\n"
"\n"
"      --details        user, verb, path and object of each request\n",
	.options = options,
	.main = dump_main,
};
