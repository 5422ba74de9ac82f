// SPDX-License-Identifier: GPL-2.0
/*
 * kapfctl dump: the debug dumps of a kube-apiserver, in its format, so that what
 * reads the one can read the other; or as JSON, which knows more.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kapfctl.h"

/*
 * ---------------------------------------------------------------------------
 * dump_priority_levels
 */

static const char *boolean(bool value)
{
	return value ? "true" : "false";
}

static void add_level(struct grid *grid, const struct kapf_level_stats *stats)
{
	grid_cell(grid, "%s", stats->name);
	grid_cell(grid, "%u", stats->active_queues);
	grid_cell(grid, "%s", boolean(!stats->waiting_requests &&
				      !stats->executing_requests));
	grid_cell(grid, "%s", boolean(level_drains(stats)));
	grid_cell(grid, "%u", stats->waiting_requests);
	grid_cell(grid, "%u", stats->executing_requests);
	grid_cell(grid, "%llu", stats->dispatched);
	grid_cell(grid, "%llu", stats->rejected_queue_full +
				stats->rejected_concurrency_limit +
				stats->rejected_time_out +
				stats->rejected_cancelled);
	grid_cell(grid, "0");
	grid_cell(grid, "%llu", stats->rejected_time_out +
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

	grid_cells(&grid, columns, grid.columns);
	for (i = 0; i < state->stats.nr_levels; i++)
		add_level(&grid, &state->levels[i]);
	grid_print(&grid);
}

static struct json_object *level_tree(const struct kapf_level_stats *stats)
{
	bool is_exempt = stats->type == KAPF_LEVEL_EXEMPT;
	struct json_object *tree = tree_map();
	size_t i;
	const struct {
		const char *key;
		uint64_t value;
	} numbers[] = {
		{ "nominal_seats", stats->nominal_seats },
		{ "seats_in_use", stats->seats_in_use },
		{ "executing_requests", stats->executing_requests },
		{ "lingering_requests", stats->lingering_requests },
		{ "waiting_requests", stats->waiting_requests },
		{ "waiting_seats", stats->waiting_seats },
		{ "queues", stats->queues },
		{ "active_queues", stats->active_queues },
		{ "dispatched_requests", stats->dispatched },
		{ "rejected_queue_full_requests", stats->rejected_queue_full },
		{ "rejected_concurrency_limit_requests",
		  stats->rejected_concurrency_limit },
		{ "rejected_time_out_requests", stats->rejected_time_out },
		{ "rejected_cancelled_requests", stats->rejected_cancelled },
		{ "retry_after_s", stats->retry_after },
	};

	tree_add(tree, "priority_level", tree_text(stats->name));
	tree_add(tree, "type", tree_text(is_exempt ? "Exempt" : "Limited"));
	tree_add(tree, "draining", tree_bool(level_drains(stats)));
	tree_add(tree, "current_seats",
		 is_exempt ? NULL : tree_number(stats->current_seats));
	for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		tree_add(tree, numbers[i].key, tree_number(numbers[i].value));
	tree_add(tree, "current_r_seat_seconds",
		 tree_seat_seconds(stats->current_r));
	return tree;
}

static void print_level_trees(const struct state *state)
{
	struct json_object *list = tree_list();
	size_t i;

	for (i = 0; i < state->stats.nr_levels; i++)
		tree_append(list, level_tree(&state->levels[i]));
	tree_print(list);
}

/*
 * ---------------------------------------------------------------------------
 * dump_queues
 */

static void add_queue(struct grid *grid, const char *level,
		      const struct kapf_queue_info *queue)
{
	grid_cell(grid, "%s", level);
	grid_cell(grid, "%u", queue->queue);
	grid_cell(grid, "%u", queue->waiting_requests);
	grid_cell(grid, "%u", queue->executing_requests);
	grid_cell(grid, "%llu", queue->seats_in_use);
	grid_seat_seconds(grid, queue->next_dispatch_r);
	grid_cell(grid, "%llu", queue->waiting_initial_seats);
	grid_cell(grid, "%llu", queue->waiting_seats);
	grid_seat_seconds(grid, queue->waiting_work);
}

static struct json_object *queue_tree(const char *level,
				      const struct kapf_queue_info *queue)
{
	struct json_object *tree = tree_map();

	tree_add(tree, "priority_level", tree_text(level));
	tree_add(tree, "queue", tree_number(queue->queue));
	tree_add(tree, "waiting_requests",
		 tree_number(queue->waiting_requests));
	tree_add(tree, "executing_requests",
		 tree_number(queue->executing_requests));
	tree_add(tree, "seats_in_use", tree_number(queue->seats_in_use));
	tree_add(tree, "next_dispatch_r_seat_seconds",
		 tree_seat_seconds(queue->next_dispatch_r));
	tree_add(tree, "waiting_initial_seats",
		 tree_number(queue->waiting_initial_seats));
	tree_add(tree, "waiting_seats", tree_number(queue->waiting_seats));
	tree_add(tree, "waiting_work_seat_seconds",
		 tree_seat_seconds(queue->waiting_work));
	return tree;
}

static void print_queues(const struct queues *queues)
{
	static const char *const columns[] = {
		"PriorityLevelName", "Index", "PendingRequests",
		"ExecutingRequests", "SeatsInUse", "NextDispatchR",
		"InitialSeatsSum", "MaxSeatsSum", "TotalWorkSum",
	};
	struct grid grid = { .columns = sizeof(columns) / sizeof(*columns) };
	size_t i;

	grid_cells(&grid, columns, grid.columns);
	for (i = 0; i < queues->nr; i++)
		add_queue(&grid, level_stats(&queues->state,
					     queues->all[i].level)->name,
			  &queues->all[i]);
	grid_print(&grid);
}

static void print_queue_trees(const struct queues *queues)
{
	struct json_object *list = tree_list();
	size_t i;

	for (i = 0; i < queues->nr; i++)
		tree_append(list, queue_tree(level_stats(&queues->state,
							 queues->all[i].level)->name,
					     &queues->all[i]));
	tree_print(list);
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

/*
 * The rows of a dump.  Lingering requests have been served and are not shown,
 * nor are those of which the level or schema is gone, as these are gone, too;
 * what was deleted is there as long as it drains.
 */
static struct row *make_rows(const struct state *state,
			     const struct request *requests, size_t nr,
			     size_t *nr_rows)
{
	struct row *rows = need(calloc(nr + 1, sizeof(*rows))), *row = rows;
	size_t i;

	for (i = 0; i < nr; i++) {
		const struct kapf_request_info *info = &requests[i].info;
		const struct kapf_level_stats *level =
			level_stats(state, info->level);
		const struct kapf_schema_stats *schema =
			schema_stats(state, info->schema);

		if (level->id && schema->id && info->state != KAPF_REQUEST_LINGERING)
			*row++ = (struct row){ &requests[i], level->name,
					       schema->name };
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

	grid_cell(grid, "%s", rows[at].level);
	grid_cell(grid, "%s", rows[at].schema);
	grid_cell(grid, "%d", info->queue);
	grid_cell(grid, "%ld", index_in_queue(rows, at));
	grid_text(grid, request->label[LABEL_DISTINGUISHER]);
	grid_time(grid, info->arrival);
	grid_cell(grid, "%u", info->initial_seats);
	grid_cell(grid, "%u", info->final_seats);
	grid_duration(grid, info->additional_latency);
	grid_time(grid, info->start);
	if (details)
		for (i = LABEL_USER; i < NR_LABELS; i++)
			grid_text(grid, request->label[i]);
}

/* How long a request has been, or was, in its queue, by a clock that is set. */
static uint64_t wait_of(const struct kapf_request_info *request)
{
	uint64_t end = request->start ? request->start :
					time_now(CLOCK_REALTIME);

	return end < request->arrival ? 0 : end - request->arrival;
}

static struct json_object *request_tree(const struct row *rows, size_t at,
					bool details)
{
	static const char *const labels[NR_LABELS] = {
		[LABEL_DISTINGUISHER] = "flow_distinguisher",
		[LABEL_USER] = "user",
		[LABEL_VERB] = "verb",
		[LABEL_PATH] = "path",
		[LABEL_NAMESPACE] = "namespace",
		[LABEL_NAME] = "name",
		[LABEL_API_VERSION] = "api_version",
		[LABEL_RESOURCE] = "resource",
		[LABEL_SUBRESOURCE] = "subresource",
	};
	const struct request *request = rows[at].request;
	const struct kapf_request_info *info = &request->info;
	struct json_object *tree = tree_map();
	long index = index_in_queue(rows, at);
	int i;

	tree_add(tree, "priority_level", tree_text(rows[at].level));
	tree_add(tree, "flow_schema", tree_text(rows[at].schema));
	tree_add(tree, "session", tree_number(info->session));
	tree_add(tree, "slot", tree_number(info->slot));
	tree_add(tree, "state", tree_text(index < 0 ? "executing" : "waiting"));
	tree_add(tree, "queue",
		 info->queue < 0 ? NULL : tree_number(info->queue));
	tree_add(tree, "index_in_queue", index < 0 ? NULL : tree_number(index));
	tree_add(tree, "arrived_at", tree_time(info->arrival));
	tree_add(tree, "started_at", tree_time(info->start));
	tree_add(tree, "wait_ns", tree_number(wait_of(info)));
	tree_add(tree, "initial_seats", tree_number(info->initial_seats));
	tree_add(tree, "final_seats", tree_number(info->final_seats));
	tree_add(tree, "additional_latency_ns",
		 tree_number(info->additional_latency));
	for (i = 0; i < (details ? NR_LABELS : LABEL_USER); i++)
		tree_add(tree, labels[i], tree_text(request->label[i]));
	return tree;
}

static void print_request_trees(const struct row *rows, size_t nr, bool details)
{
	struct json_object *list = tree_list();
	size_t i;

	for (i = 0; i < nr; i++)
		tree_append(list, request_tree(rows, i, details));
	tree_print(list);
}

static void print_requests(const struct row *rows, size_t nr, bool details)
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
	size_t i;

	grid_cells(&grid, columns, grid.columns);
	for (i = 0; i < nr; i++)
		add_request(&grid, rows, i, details);
	grid_print(&grid);
}

/*
 * ---------------------------------------------------------------------------
 * The command
 */

static int dump_levels(int fd, bool details)
{
	struct state state;
	int status = REFUSED;

	(void)details;
	if (!read_state(&state, fd)) {
		if (output_format)
			print_level_trees(&state);
		else
			print_levels(&state);
		status = DONE;
	}
	free_state(&state);
	return status;
}

static int dump_queues(int fd, bool details)
{
	struct queues queues;
	int status = REFUSED;

	(void)details;
	if (!read_queues(&queues, fd)) {
		if (output_format)
			print_queue_trees(&queues);
		else
			print_queues(&queues);
		status = DONE;
	}
	free_queues(&queues);
	return status;
}

static int dump_requests(int fd, bool details)
{
	struct state state = {};
	struct request *requests;
	int status = REFUSED;
	size_t nr, nr_rows;
	struct row *rows;

	if (!read_requests(&requests, &nr, fd) && !read_state(&state, fd)) {
		rows = make_rows(&state, requests, nr, &nr_rows);
		if (output_format)
			print_request_trees(rows, nr_rows, details);
		else
			print_requests(rows, nr_rows, details);
		free(rows);
		status = DONE;
	}
	free_state(&state);
	free_requests(requests, nr);
	return status;
}

/**
 * struct noun - what can be dumped
 * @name: of it
 * @dump: do it; returns the exit status
 */
struct noun {
	const char *name;
	int (*dump)(int fd, bool details);
};

static const struct noun nouns[] = {
	{ "priority-levels", dump_levels },
	{ "queues", dump_queues },
	{ "requests", dump_requests },
	{ NULL, NULL }
};

static const struct option options[] = {
	{ "details", no_argument, NULL, 'd' },
	{ NULL, 0, NULL, 0 }
};

static int dump_main(int argc, char **argv)
{
	const struct noun *noun = nouns;
	bool details = false;
	int fd, status;

	while (next_option(&dump_command, argc, argv) != -1)
		details = true;
	if (optind == argc)
		return usage_error(&dump_command,
				   "say what to dump: priority-levels, queues or requests");
	while (noun->name && strcmp(noun->name, argv[optind]))
		noun++;
	if (!noun->name)
		return usage_error(&dump_command,
				   "\"%s\" cannot be dumped, only priority-levels, queues and requests",
				   argv[optind]);
	if (optind + 1 < argc)
		return usage_error(&dump_command, "\"%s\" is too much",
				   argv[optind + 1]);
	if (details && noun->dump != dump_requests)
		return usage_error(&dump_command, "--details goes with requests only");

	fd = open_control(O_RDONLY);
	if (fd < 0)
		return REFUSED;
	status = noun->dump(fd, details);
	close(fd);
	return status;
}

const struct command dump_command = {
	.name = "dump",
	.summary = "show levels, queues or requests in the format of a kube-apiserver",
	.help =
"usage: kapfctl dump priority-levels|queues [-o json]\n"
"       kapfctl dump requests [--details] [-o json]\n"
"\n"
"What /debug/api_priority_and_fairness/dump_priority_levels, dump_queues and\n"
"dump_requests of a kube-apiserver show, in the same format.  Control characters,\n"
"commas and backslashes in what clients chose are written as \\xHH.\n"
"\n"
"      --details        user, verb, path and object of each request\n"
"\n"
"With -o, a list of objects.  Points in time (_at) are of RFC 3339, in UTC, or\n"
"null; text that is no UTF-8 has U+FFFD for each byte.  Their keys are, of\n"
"\n"
"  priority-levels  priority_level, type, draining (it is deleted, and has\n"
"                   requests), current_seats (null: no limit), nominal_seats,\n"
"                   seats_in_use, executing_requests, lingering_requests,\n"
"                   waiting_requests, waiting_seats, queues, active_queues,\n"
"                   dispatched_requests, rejected_X_requests (X: queue_full,\n"
"                   concurrency_limit, time_out, cancelled), retry_after_s,\n"
"                   current_r_seat_seconds\n"
"  queues           priority_level, queue, waiting_requests, executing_requests,\n"
"                   seats_in_use, next_dispatch_r_seat_seconds,\n"
"                   waiting_initial_seats, waiting_seats,\n"
"                   waiting_work_seat_seconds\n"
"  requests         priority_level, flow_schema, session, slot, state (waiting or\n"
"                   executing), queue (null: none), index_in_queue (null: does\n"
"                   not wait), arrived_at, started_at, wait_ns, initial_seats,\n"
"                   final_seats, additional_latency_ns, flow_distinguisher; with\n"
"                   --details also user, verb, path, namespace, name,\n"
"                   api_version, resource, subresource\n",
	.formats = "json",
	.options = options,
	.words = "priority-levels queues requests",
	.main = dump_main,
};
