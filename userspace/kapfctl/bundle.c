// SPDX-License-Identifier: GPL-2.0
/*
 * kapfctl report: all that somebody needs to know who has to find out what is
 * wrong, but for the names of those it concerns.
 *
 * Numbers have the names that they have in linux/kapf.h, so that whoever reads it
 * finds there what they mean.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <json-c/json.h>

#include "bundle.h"

#define MODULE "/sys/module/kapf/"

/* @expression is map->member; the member is the key. */
static void add_number(struct json_object *map, const char *expression,
		       uint64_t number)
{
	tree_add(map, strchr(expression, '>') + 1, tree_number(number));
}

#define ADD(map, number) add_number(map, #number, number)

static struct json_object *
observed_numbers(const struct kapf_observed *observed)
{
	struct json_object *map = tree_map();

	ADD(map, observed->dispatched);
	ADD(map, observed->queue_full);
	ADD(map, observed->concurrency_limit);
	ADD(map, observed->time_out);
	ADD(map, observed->cancelled);
	return map;
}

static struct json_object *info_numbers(const struct kapf_info *info)
{
	struct json_object *map = tree_map();

	ADD(map, info->abi);
	ADD(map, info->features);
	ADD(map, info->instance);
	ADD(map, info->max_inflight);
	ADD(map, info->max_sessions);
	ADD(map, info->max_queues);
	ADD(map, info->server_seats);
	return map;
}

static struct json_object *
config_numbers(const struct kapf_configuration *config)
{
	struct json_object *map = tree_map();

	ADD(map, config->generation);
	ADD(map, config->max_requests_inflight);
	ADD(map, config->max_mutating_requests_inflight);
	ADD(map, config->adjustment_period_ms);
	return map;
}

static struct json_object *stats_numbers(const struct kapf_get_stats *stats)
{
	struct json_object *map = tree_map();

	ADD(map, stats->generation);
	ADD(map, stats->time);
	ADD(map, stats->nr_sessions);
	ADD(map, stats->fair_frac);
	ADD(map, stats->passing_requests);
	ADD(map, stats->passing_mutating_requests);
	return map;
}

static struct json_object *level_numbers(const struct kapf_level_stats *level)
{
	struct json_object *map = tree_map();

	ADD(map, level->id);
	ADD(map, level->type);
	ADD(map, level->nominal_seats);
	ADD(map, level->current_seats);
	ADD(map, level->min_seats);
	ADD(map, level->max_seats);
	ADD(map, level->flags);
	ADD(map, level->executing_requests);
	ADD(map, level->waiting_requests);
	ADD(map, level->passing_requests);
	ADD(map, level->seats_in_use);
	ADD(map, level->waiting_seats);
	ADD(map, level->dispatched);
	ADD(map, level->rejected_queue_full);
	ADD(map, level->rejected_concurrency_limit);
	ADD(map, level->rejected_time_out);
	ADD(map, level->rejected_cancelled);
	tree_add(map, "observed", observed_numbers(&level->observed));
	ADD(map, level->lingering_requests);
	ADD(map, level->queues);
	ADD(map, level->active_queues);
	ADD(map, level->retry_after);
	ADD(map, level->no_accommodation);
	ADD(map, level->demand_average);
	ADD(map, level->demand_stdev);
	ADD(map, level->demand_smoothed);
	ADD(map, level->demand_high_watermark);
	ADD(map, level->target_seats);
	ADD(map, level->current_r);
	return map;
}

static struct json_object *
schema_numbers(const struct kapf_schema_stats *schema)
{
	struct json_object *map = tree_map();

	ADD(map, schema->id);
	ADD(map, schema->level);
	ADD(map, schema->flags);
	ADD(map, schema->executing_requests);
	ADD(map, schema->waiting_requests);
	ADD(map, schema->passing_requests);
	ADD(map, schema->seats_in_use);
	ADD(map, schema->waiting_seats);
	ADD(map, schema->dispatched);
	ADD(map, schema->rejected_queue_full);
	ADD(map, schema->rejected_concurrency_limit);
	ADD(map, schema->rejected_time_out);
	ADD(map, schema->rejected_cancelled);
	tree_add(map, "observed", observed_numbers(&schema->observed));
	return map;
}

static struct json_object *
session_numbers(const struct kapf_session_info *session)
{
	struct json_object *map = tree_map();

	ADD(map, session->session);
	ADD(map, session->pid);
	ADD(map, session->uid);
	ADD(map, session->slots);
	ADD(map, session->waiting_requests);
	ADD(map, session->executing_requests);
	ADD(map, session->lingering_requests);
	ADD(map, session->seats_in_use);
	return map;
}

static struct json_object *queue_numbers(const struct kapf_queue_info *queue)
{
	struct json_object *map = tree_map();

	ADD(map, queue->level);
	ADD(map, queue->queue);
	ADD(map, queue->waiting_requests);
	ADD(map, queue->executing_requests);
	ADD(map, queue->seats_in_use);
	ADD(map, queue->next_dispatch_r);
	ADD(map, queue->waiting_initial_seats);
	ADD(map, queue->waiting_seats);
	ADD(map, queue->waiting_work);
	return map;
}

static struct json_object *
request_numbers(const struct kapf_request_info *request)
{
	struct json_object *map = tree_map();

	ADD(map, request->session);
	ADD(map, request->slot);
	ADD(map, request->state);
	ADD(map, request->level);
	ADD(map, request->schema);
	ADD(map, request->queue_position);
	ADD(map, request->initial_seats);
	ADD(map, request->final_seats);
	ADD(map, request->flags);
	ADD(map, request->additional_latency);
	return map;
}

/* The first line of a file of the kernel's, or null. */
static struct json_object *file_tree(const char *path)
{
	FILE *file = fopen(path, "re");
	struct json_object *tree = NULL;
	char line[256];

	if (!file)
		return NULL;
	if (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		tree = tree_text(line);
	}
	fclose(file);
	return tree;
}

static struct json_object *parameters_tree(void)
{
	DIR *dir = opendir(MODULE "parameters");
	struct json_object *tree = tree_map();
	struct dirent *entry;
	char path[512];

	while (dir && (entry = readdir(dir))) {
		if (*entry->d_name == '.')
			continue;
		snprintf(path, sizeof(path), MODULE "parameters/%s",
			 entry->d_name);
		tree_add(tree, entry->d_name, file_tree(path));
	}
	if (dir)
		closedir(dir);
	return tree;
}

static struct json_object *module_tree(void)
{
	struct json_object *tree;

	if (access(MODULE, F_OK))
		return NULL;
	tree = tree_map();
	tree_add(tree, "version", file_tree(MODULE "version"));
	tree_add(tree, "srcversion", file_tree(MODULE "srcversion"));
	tree_add(tree, "taint", file_tree(MODULE "taint"));
	tree_add(tree, "parameters", parameters_tree());
	return tree;
}

/* But for the name of the machine. */
static struct json_object *kernel_tree(void)
{
	struct json_object *tree = tree_map();
	struct utsname name;

	uname(&name);
	tree_add(tree, "release", tree_text(name.release));
	tree_add(tree, "version", tree_text(name.version));
	tree_add(tree, "machine", tree_text(name.machine));
	tree_add(tree, "tainted", file_tree("/proc/sys/kernel/tainted"));
	return tree;
}

static struct json_object *config_tree(struct pseudonyms *names,
				       const struct kapf_configuration *config)
{
	struct json_object *tree = config_numbers(config);
	struct json_object *list = tree_list(), *object;
	size_t i;

	for (i = 0; i < config->nr_levels; i++) {
		object = level_object(&config->levels[i]);
		replace_in_object(names, object);
		tree_append(list, object);
	}
	for (i = 0; i < config->nr_schemas; i++) {
		object = schema_object(&config->schemas[i]);
		replace_in_object(names, object);
		tree_append(list, object);
	}
	tree_add(tree, "objects", list_of(list));
	return tree;
}

static void add_schemas(struct json_object *tree, struct pseudonyms *names,
			int fd)
{
	struct kapf_schema_stats *schemas;
	struct kapf_get_stats get = {
		.size = sizeof(get),
		.level_size = sizeof(struct kapf_level_stats),
		.schema_size = sizeof(*schemas),
		.nr_schemas = 2 * KAPF_MAX_SCHEMAS,
	};
	struct json_object *list = tree_list(), *map;
	uint32_t i;

	schemas = need(calloc(get.nr_schemas, sizeof(*schemas)));
	get.schemas = (uintptr_t)schemas;
	if (ioctl(fd, KAPF_GET_STATS, &get) < 0)
		get.nr_schemas = 0;
	for (i = 0; i < get.nr_schemas; i++) {
		map = schema_numbers(&schemas[i]);
		tree_add(map, "name", tree_text(pseudonym(names, NAME_SCHEMA,
							  schemas[i].name)));
		tree_append(list, map);
	}
	tree_add(tree, "schemas", list);
	free(schemas);
}

static void add_state(struct json_object *tree, struct pseudonyms *names,
		      int fd)
{
	struct json_object *stats, *list, *map;
	struct state state;
	uint32_t i;

	if (read_state(&state, fd) < 0)
		goto out;
	list = tree_list();
	tree_add(tree, "configuration", config_tree(names, state.config));
	stats = stats_numbers(&state.stats);
	tree_add(stats, "mode", tree_text(mode_name(state.stats.mode)));
	for (i = 0; i < state.stats.nr_levels; i++) {
		map = level_numbers(&state.levels[i]);
		tree_add(map, "name",
			 tree_text(pseudonym(names, NAME_LEVEL,
					     state.levels[i].name)));
		tree_append(list, map);
	}
	tree_add(stats, "levels", list);
	add_schemas(stats, names, fd);
	tree_add(tree, "statistics", stats);
out:
	free_state(&state);
}

static void add_sessions(struct json_object *tree, struct pseudonyms *names,
			 int fd)
{
	struct kapf_session_info *sessions = NULL;
	struct json_object *list = tree_list(), *map;
	size_t i, nr = 0;

	read_sessions(&sessions, &nr, fd);
	for (i = 0; i < nr; i++) {
		map = session_numbers(&sessions[i]);
		tree_add(map, "attached", tree_time(sessions[i].attached));
		tree_add(map, "server",
			 tree_text(pseudonym(names, NAME_SERVER,
					     sessions[i].server)));
		tree_add(map, "tenant",
			 tree_text(pseudonym(names, NAME_TENANT,
					     sessions[i].tenant)));
		tree_append(list, map);
	}
	tree_add(tree, "sessions", list);
	free(sessions);
}

/* Those in which there is something. */
static void add_queues(struct json_object *tree, int fd)
{
	struct json_object *list = tree_list();
	struct queues queues;
	size_t i;

	if (!read_queues(&queues, fd))
		for (i = 0; i < queues.nr; i++)
			if (queues.all[i].waiting_requests ||
			    queues.all[i].executing_requests ||
			    queues.all[i].seats_in_use)
				tree_append(list,
					    queue_numbers(&queues.all[i]));
	tree_add(tree, "queues", list);
	free_queues(&queues);
}

static struct json_object *request_tree(struct pseudonyms *names,
					const struct request *request)
{
	struct json_object *tree = request_numbers(&request->info);
	const char *const *label = request->label;
	const char *flow = label[LABEL_DISTINGUISHER];
	char *user;

	pseudonym_of_user(names, label[LABEL_USER], &user);
	if (!strcmp(flow, label[LABEL_USER]))
		flow = user;
	else if (!strcmp(flow, label[LABEL_NAMESPACE]))
		flow = pseudonym(names, NAME_NAMESPACE, flow);
	else
		flow = pseudonym(names, NAME_FLOW, flow);
	tree_add(tree, "queue", request->info.queue < 0 ? NULL :
				tree_number(request->info.queue));
	tree_add(tree, "arrival", tree_time(request->info.arrival));
	tree_add(tree, "start", tree_time(request->info.start));
	tree_add(tree, "flow_distinguisher", tree_text(flow));
	tree_add(tree, "user", tree_text(user));
	tree_add(tree, "verb", tree_text(label[LABEL_VERB]));
	tree_add(tree, "namespace",
		 tree_text(pseudonym(names, NAME_NAMESPACE,
				     label[LABEL_NAMESPACE])));
	tree_add(tree, "name", tree_text(pseudonym(names, NAME_OBJECT,
						   label[LABEL_NAME])));
	tree_add(tree, "api_version", tree_text(label[LABEL_API_VERSION]));
	tree_add(tree, "resource", tree_text(label[LABEL_RESOURCE]));
	tree_add(tree, "subresource", tree_text(label[LABEL_SUBRESOURCE]));
	free(user);
	return tree;
}

static void add_requests(struct json_object *tree, struct pseudonyms *names,
			 int fd)
{
	struct json_object *list = tree_list();
	struct request *requests;
	size_t i, nr;

	read_requests(&requests, &nr, fd);
	for (i = 0; i < nr; i++)
		tree_append(list, request_tree(names, &requests[i]));
	tree_add(tree, "requests", list);
	free_requests(requests, nr);
}

static void add_instance(struct json_object *tree, struct pseudonyms *names,
			 int fd)
{
	struct kapf_info info;

	if (!kapf_get_info(fd, &info, NULL))
		tree_add(tree, "instance", info_numbers(&info));
	add_state(tree, names, fd);
	add_sessions(tree, names, fd);
	add_queues(tree, fd);
	add_requests(tree, names, fd);
}

static struct json_object *report_tree(int fd)
{
	struct json_object *tree = tree_map();
	struct pseudonyms names;
	struct timespec now;

	pseudonyms_init(&names);
	clock_gettime(CLOCK_REALTIME, &now);
	tree_add(tree, "made_at",
		 tree_time(now.tv_sec * NSEC_PER_SEC + now.tv_nsec));
	tree_add(tree, "kapfctl", tree_text(KAPF_VERSION));
	tree_add(tree, "abi", tree_number(KAPF_ABI));
	tree_add(tree, "kernel", kernel_tree());
	tree_add(tree, "module", module_tree());
	if (fd >= 0)
		add_instance(tree, &names, fd);
	tree_add(tree, "log", log_tree(&names));
	pseudonyms_free(&names);
	return tree;
}

static int report_main(int argc, char **argv)
{
	const char *file = NULL;
	int option, fd;

	while ((option = next_option(&report_command, argc, argv)) != -1)
		if (option == 'o')
			file = optarg;
	if (optind < argc)
		return usage_error(&report_command, "\"%s\" is too much",
				   argv[optind]);
	if (file && strcmp(file, "-") && !freopen(file, "w", stdout)) {
		complain("%s: %s", file, strerror(errno));
		return REFUSED;
	}
	/* Without a device there is all the more to report. */
	fd = open_control(O_RDONLY);
	output_format = "json";
	tree_print(report_tree(fd));
	if (fd >= 0)
		close(fd);
	return fd >= 0 ? DONE : REFUSED;
}

static const struct option report_options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ NULL, 0, NULL, 0 }
};

const struct command report_command = {
	.name = "report",
	.summary = "all that a bug report needs, without names, in one file",
	.help =
"usage: kapfctl report [-o FILE]\n"
"\n"
"Writes one JSON object for whoever has to find out what is wrong:\n"
"\n"
"  made_at, kapfctl, abi   when, and by which version of the tool\n"
"  kernel, module          versions and parameters\n"
"  instance                its limits\n"
"  configuration           all objects, which apply -f takes\n"
"  statistics              of levels and schemas\n"
"  sessions, queues, requests\n"
"                          in flight; of queues those in use\n"
"  log                     lines of the kernel's log; null: not to be read\n"
"\n"
"Numbers have the names that they have in linux/kapf.h.  What no device tells is\n"
"lacking, if there is none; exit status 1.\n"
"\n"
"Names are replaced, one by the same pseudonym wherever it is: users, groups,\n"
"service accounts, namespaces, names of objects, servers, tenants, processes,\n"
"priority levels and flow schemas, in requests and in rules, but for those that\n"
"the default objects of Kubernetes have.  Left out are labels, annotations and\n"
"the paths of requests.  What stays: verbs, API groups, resources, paths in\n"
"rules, process and user numbers.  Look through it before it is sent.\n"
"\n"
"  -o, --output FILE    default: -, standard output\n",
	.brief = "o:",
	.options = report_options,
	.main = report_main,
};
