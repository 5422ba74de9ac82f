// SPDX-License-Identifier: GPL-2.0
/*
 * The control node: opening it, and reading from it what is too long for one
 * call.  All functions complain when they fail.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "kapfctl.h"

/* Elements that are read in one call. */
#define CHUNK 64

/* Queues, of which the kernel reads some hundred at one moment. */
#define QUEUE_CHUNK 1024

/* A submit node knows GET_INFO, too, but nothing of other sessions. */
static int check_control(int fd)
{
	struct kapf_get_sessions get = {
		.size = sizeof(get),
		.session_size = sizeof(struct kapf_session_info),
	};
	struct kapf_error err;
	struct kapf_info info;

	if (kapf_get_info(fd, &info, &err) < 0) {
		complain("%s: %s", control_node, err.text);
		return -1;
	}
	if (!ioctl(fd, KAPF_GET_SESSIONS, &get) || errno != ENOTTY)
		return 0;
	complain("%s is a submit node, for servers: must be a control node: /dev/kapfctl%u",
		 control_node, info.instance);
	return -1;
}

static bool is_missing(int error)
{
	return error == ENOENT || error == ENXIO || error == ENODEV;
}

/**
 * control_is_missing() - is there no control node?
 *
 * One that may not be opened is there.
 */
bool control_is_missing(void)
{
	int fd = open(control_node, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return is_missing(errno);
	close(fd);
	return false;
}

/**
 * open_control() - open the control node
 * @flags: O_RDONLY or O_RDWR
 *
 * Return: its file, or -1.
 */
int open_control(int flags)
{
	int fd;

	/* Somebody else's FIFO would make it wait. */
	fd = open(control_node, flags | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		if (is_missing(errno))
			complain("%s is not there: is the module kapf loaded?",
				 control_node);
		else if (errno == EACCES || errno == EPERM)
			complain("%s: no permission to open it for %s: only root may, as installed",
				 control_node,
				 flags == O_RDWR ? "writing" : "reading");
		else
			complain("%s: %s", control_node, strerror(errno));
		return -1;
	}
	if (check_control(fd) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/**
 * look() - all that a command does which takes no arguments, and only shows
 * @command: it
 * @argc: of @argv
 * @argv: the arguments, as of next_option()
 * @show: shows it, and returns the exit status
 *
 * Return: the exit status.
 */
int look(const struct command *command, int argc, char **argv,
	 int (*show)(int fd))
{
	int fd, ret;

	next_option(command, argc, argv);
	if (optind < argc)
		return usage_error(command, "\"%s\" is too much",
				   argv[optind]);
	fd = open_control(O_RDONLY);
	if (fd < 0)
		return REFUSED;
	ret = show(fd);
	close(fd);
	return ret;
}

/**
 * read_config() - read the configuration
 * @fd: of the control node
 *
 * Return: it, or NULL.
 */
struct kapf_configuration *read_config(int fd)
{
	struct kapf_configuration *config;
	struct kapf_error err;

	if (kapf_config_read(&config, fd, &err) < 0) {
		complain("%s: %s", control_node, err.text);
		return NULL;
	}
	return config;
}

static int failed(const char *what)
{
	complain("%s: cannot read %s: %s", control_node, what, strerror(errno));
	return -1;
}

static int compare_names(const void *left, const void *right)
{
	const struct kapf_level_stats *a = left, *b = right;

	return strcmp(a->name, b->name);
}

/**
 * read_state() - read configuration and statistics that belong together
 * @state: out; to be freed in any case
 * @fd: of the control node
 *
 * Return: 0 or -1.
 */
int read_state(struct state *state, int fd)
{
	state->config = NULL;
	/* Those that drain are at most as many as those that are configured. */
	state->levels = need(calloc(2 * KAPF_MAX_LEVELS,
				    sizeof(*state->levels)));
	state->schemas = need(calloc(2 * KAPF_MAX_SCHEMAS,
				     sizeof(*state->schemas)));
	do {
		kapf_config_free(state->config);
		state->config = read_config(fd);
		if (!state->config)
			return -1;
		state->stats = (struct kapf_get_stats){
			.size = sizeof(state->stats),
			.level_size = sizeof(*state->levels),
			.schema_size = sizeof(*state->schemas),
			.nr_levels = 2 * KAPF_MAX_LEVELS,
			.nr_schemas = 2 * KAPF_MAX_SCHEMAS,
			.levels = (uintptr_t)state->levels,
			.schemas = (uintptr_t)state->schemas,
		};
		if (ioctl(fd, KAPF_GET_STATS, &state->stats) < 0)
			return failed("statistics");
	} while (state->stats.generation != state->config->generation);
	/* The kernel has the order of who wrote the configuration. */
	qsort(state->levels, state->stats.nr_levels, sizeof(*state->levels),
	      compare_names);
	return 0;
}

/**
 * free_state() - free what read_state() made
 * @state: it
 */
void free_state(struct state *state)
{
	kapf_config_free(state->config);
	free(state->levels);
	free(state->schemas);
}

/**
 * level_by_id() - the level that the kernel means
 * @config: where
 * @id: of the level
 *
 * Return: NULL: it is gone, or drains.
 */
const struct kapf_priority_level *
level_by_id(const struct kapf_configuration *config, uint32_t id)
{
	size_t i;

	for (i = 0; i < config->nr_levels; i++)
		if (config->levels[i].id == id)
			return &config->levels[i];
	return NULL;
}

/**
 * schema_by_id() - the schema that the kernel means
 * @config: where
 * @id: of the schema
 *
 * Return: NULL: it is gone.
 */
const struct kapf_flow_schema *
schema_by_id(const struct kapf_configuration *config, uint32_t id)
{
	size_t i;

	for (i = 0; i < config->nr_schemas; i++)
		if (config->schemas[i].id == id)
			return &config->schemas[i];
	return NULL;
}

/**
 * level_stats() - find the statistics of a level
 * @state: where
 * @id: of the level
 *
 * Return: they; zeros where there are none.
 */
const struct kapf_level_stats *level_stats(const struct state *state,
					   uint32_t id)
{
	static const struct kapf_level_stats none;
	uint32_t i;

	for (i = 0; i < state->stats.nr_levels; i++)
		if (state->levels[i].id == id)
			return &state->levels[i];
	return &none;
}

/**
 * schema_stats() - find the statistics of a schema
 * @state: where
 * @id: of the schema
 *
 * Return: they; zeros where there are none.
 */
const struct kapf_schema_stats *schema_stats(const struct state *state,
					     uint32_t id)
{
	static const struct kapf_schema_stats none;
	uint32_t i;

	for (i = 0; i < state->stats.nr_schemas; i++)
		if (state->schemas[i].id == id)
			return &state->schemas[i];
	return &none;
}

/**
 * schema_drains() - was a schema deleted that has requests yet?
 * @state: where it was
 * @stats: of the schema
 *
 * One that only leads to another level than before is not: it has other statistics,
 * too.
 */
bool schema_drains(const struct state *state,
		   const struct kapf_schema_stats *stats)
{
	return stats->flags & KAPF_STATS_DRAINING &&
	       !schema_by_id(state->config, stats->id);
}

/* Take a request out of the answer; strings that were cut off are empty. */
static void take_request(struct request *request, const char *answer)
{
	const char *text, *end;
	int i;

	memcpy(&request->info, answer, sizeof(request->info));
	request->text = need(calloc(1, request->info.label_len + 1));
	memcpy(request->text, answer + sizeof(request->info),
	       request->info.label_len);

	text = request->text;
	end = text + request->info.label_len;
	for (i = 0; i < NR_LABELS; i++) {
		request->label[i] = text;
		if (text < end)
			text += strlen(text) + 1;
		if (text > end)
			text = end;
	}
}

/**
 * read_requests() - read the requests in flight, of all sessions
 * @requests: out; to be freed in any case
 * @nr: out: how many
 * @fd: of the control node
 *
 * Return: 0 or -1.
 */
int read_requests(struct request **requests, size_t *nr, int fd)
{
	const size_t stride = sizeof(struct kapf_request_info) +
			      KAPF_MAX_LABEL_BYTES;
	struct kapf_get_requests get = {
		.size = sizeof(get),
		.request_size = sizeof(struct kapf_request_info),
		.label_bytes = KAPF_MAX_LABEL_BYTES,
	};
	char *answer = need(malloc(CHUNK * stride));
	int ret = 0;
	size_t i;

	*requests = NULL;
	*nr = 0;
	get.requests = (uintptr_t)answer;
	do {
		get.nr = CHUNK;
		if (ioctl(fd, KAPF_GET_REQUESTS, &get) < 0) {
			ret = failed("requests");
			break;
		}
		*requests = need(reallocarray(*requests, *nr + CHUNK,
					      sizeof(**requests)));
		for (i = 0; i < get.nr; i++)
			take_request(*requests + (*nr)++, answer + i * stride);
	} while (get.nr);
	free(answer);
	return ret;
}

/**
 * free_requests() - free what read_requests() made
 * @requests: they
 * @nr: how many
 */
void free_requests(struct request *requests, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		free(requests[i].text);
	free(requests);
}

/*
 * All queues; only some when the configuration changes meanwhile, which
 * @generation tells.
 */
static int read_all_queues(struct queues *queues, uint64_t *generation, int fd)
{
	struct kapf_get_queues get = {
		.size = sizeof(get),
		.queue_size = sizeof(*queues->all),
	};

	queues->nr = 0;
	do {
		queues->all = need(reallocarray(queues->all,
						queues->nr + QUEUE_CHUNK,
						sizeof(*queues->all)));
		get.queues = (uintptr_t)(queues->all + queues->nr);
		get.nr = QUEUE_CHUNK;
		if (ioctl(fd, KAPF_GET_QUEUES, &get) < 0)
			return failed("queues");
		queues->nr += get.nr;
	} while (get.nr && get.generation == queues->state.stats.generation);
	*generation = get.generation;
	return 0;
}

static void sort_queues(struct queues *queues)
{
	const struct state *state = &queues->state;
	struct kapf_queue_info *sorted, *unsorted = queues->all;
	size_t i, level, nr = 0;

	sorted = need(calloc(queues->nr + 1, sizeof(*sorted)));
	for (level = 0; level < state->stats.nr_levels; level++)
		for (i = 0; i < queues->nr; i++)
			if (unsorted[i].level == state->levels[level].id)
				sorted[nr++] = unsorted[i];
	queues->all = sorted;
	queues->nr = nr;
	free(unsorted);
}

/**
 * read_queues() - read the queues of all levels, also of those that drain
 * @queues: out; to be freed in any case
 * @fd: of the control node
 *
 * Return: 0 or -1.
 */
int read_queues(struct queues *queues, int fd)
{
	uint64_t generation;

	*queues = (struct queues){ .nr = 0 };
	do {
		free_state(&queues->state);
		if (read_state(&queues->state, fd) < 0 ||
		    read_all_queues(queues, &generation, fd) < 0)
			return -1;
	} while (generation != queues->state.stats.generation);
	sort_queues(queues);
	return 0;
}

/**
 * free_queues() - free what read_queues() made
 * @queues: they
 */
void free_queues(struct queues *queues)
{
	free_state(&queues->state);
	free(queues->all);
}

/**
 * read_sessions() - read the sessions
 * @sessions: out; to be freed in any case
 * @nr: out: how many
 * @fd: of the control node
 *
 * Return: 0 or -1.
 */
int read_sessions(struct kapf_session_info **sessions, size_t *nr, int fd)
{
	struct kapf_get_sessions get = {
		.size = sizeof(get),
		.session_size = sizeof(struct kapf_session_info),
	};

	*sessions = NULL;
	*nr = 0;
	do {
		*sessions = need(reallocarray(*sessions, *nr + CHUNK,
					      sizeof(**sessions)));
		get.sessions = (uintptr_t)(*sessions + *nr);
		get.nr = CHUNK;
		if (ioctl(fd, KAPF_GET_SESSIONS, &get) < 0)
			return failed("sessions");
		*nr += get.nr;
	} while (get.nr);
	return 0;
}

/**
 * read_histograms() - read the histograms of all schemas and levels
 * @histograms: out; to be freed in any case
 * @nr: out: how many
 * @fd: of the control node
 *
 * Return: 0 or -1.
 */
int read_histograms(struct kapf_histogram_info **histograms, size_t *nr, int fd)
{
	struct kapf_get_histograms get = {
		.size = sizeof(get),
		.histogram_size = sizeof(struct kapf_histogram_info),
	};
	uint64_t generation = 0;

	*histograms = NULL;
	*nr = 0;
	do {
		*histograms = need(reallocarray(*histograms, *nr + CHUNK,
						sizeof(**histograms)));
		get.histograms = (uintptr_t)(*histograms + *nr);
		get.nr = CHUNK;
		if (ioctl(fd, KAPF_GET_HISTOGRAMS, &get) < 0)
			return failed("histograms");
		*nr += get.nr;
		if (generation && get.generation != generation) {
			get.cursor = 0;
			*nr = 0;
		}
		generation = get.generation;
	} while (get.nr);
	return 0;
}
