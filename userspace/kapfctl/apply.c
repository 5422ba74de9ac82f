// SPDX-License-Identifier: GPL-2.0
/*
 * kapfctl apply: merge manifests into the configuration of an instance.
 *
 * Shows which levels gain and lose seats by it, since every share that is added
 * dilutes all others; after the change, lest a refused one look like a fact.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <json-c/json.h>

#include "kapfctl.h"

/* In this many races with others somebody else should have lost, too. */
#define MAX_TRIES 16

/**
 * struct job - what is to be applied
 * @fd: the control node; -1: a dry run, which begins with an empty instance
 * @manifests: of all -f
 * @defaults: add the default objects
 * @reads: max-requests-inflight; -1: as it is
 * @writes: max-mutating-requests-inflight; -1: as it is
 */
struct job {
	int fd;
	struct manifests manifests;
	bool defaults;
	int reads;
	int writes;
};

/*
 * ---------------------------------------------------------------------------
 * What has changed
 */

static bool same_meta(const struct kapf_meta *a, const struct kapf_meta *b)
{
	return json_object_equal(a->annotations, b->annotations) &&
	       json_object_equal(a->labels, b->labels);
}

static bool same_level(const struct kapf_priority_level *a,
		       const struct kapf_priority_level *b)
{
	return a->type == b->type &&
	       a->nominal_shares == b->nominal_shares &&
	       a->lendable_percent == b->lendable_percent &&
	       a->borrowing_limit_percent == b->borrowing_limit_percent &&
	       a->queues == b->queues && a->hand_size == b->hand_size &&
	       a->queue_length_limit == b->queue_length_limit &&
	       same_meta(&a->meta, &b->meta);
}

static bool same_schema(const struct kapf_flow_schema *a,
			const struct kapf_flow_schema *b)
{
	return a->precedence == b->precedence &&
	       a->distinguisher == b->distinguisher &&
	       !strcmp(a->level, b->level) &&
	       !strcmp(a->rules_json, b->rules_json) &&
	       same_meta(&a->meta, &b->meta);
}

static const char *level_change(const struct kapf_configuration *before,
				const struct kapf_priority_level *level)
{
	const struct kapf_priority_level *old;

	old = kapf_config_level(before, level->name);
	if (!old)
		return "created";
	return same_level(old, level) ? "unchanged" : "configured";
}

static const char *schema_change(const struct kapf_configuration *before,
				 const struct kapf_flow_schema *schema)
{
	const struct kapf_flow_schema *old = find_schema(before, schema->name);

	if (!old)
		return "created";
	return same_schema(old, schema) ? "unchanged" : "configured";
}

/* Nothing is ever removed, so it is enough to look at what is there after. */
static bool has_changed(const struct kapf_configuration *before,
			const struct kapf_configuration *after)
{
	size_t i;

	if (before->max_requests_inflight != after->max_requests_inflight ||
	    before->max_mutating_requests_inflight !=
		    after->max_mutating_requests_inflight)
		return true;
	for (i = 0; i < after->nr_levels; i++)
		if (strcmp(level_change(before, &after->levels[i]),
			   "unchanged"))
			return true;
	for (i = 0; i < after->nr_schemas; i++)
		if (strcmp(schema_change(before, &after->schemas[i]),
			   "unchanged"))
			return true;
	return false;
}

/*
 * ---------------------------------------------------------------------------
 * Reports
 */

static uint32_t server_seats(const struct kapf_configuration *config)
{
	return config->max_requests_inflight +
	       config->max_mutating_requests_inflight;
}

static void print_seats(const struct job *job, size_t servers,
			const struct kapf_configuration *before,
			const struct kapf_configuration *after)
{
	static const char *const columns[] = {
		"PRIORITYLEVEL", "SEATS-BEFORE", "SEATS-AFTER", "CHANGE", NULL
	};
	struct libscols_table *table = table_new(columns);
	size_t i;

	for (i = 0; i < after->nr_levels; i++) {
		const struct kapf_priority_level *old, *new = &after->levels[i];
		char seats[3][16];
		uint32_t had;

		old = kapf_config_level(before, new->name);
		had = old ? old->nominal_seats : 0;
		if (had == new->nominal_seats)
			continue;
		snprintf(seats[0], sizeof(seats[0]), "%u", had);
		snprintf(seats[1], sizeof(seats[1]), "%u",
			 new->nominal_seats);
		snprintf(seats[2], sizeof(seats[2]), "%+d",
			 (int)(new->nominal_seats - had));
		table_row(table, new->name, old ? seats[0] : "-", seats[1],
			  seats[2]);
	}
	if (!table_print(table))
		return;

	printf("\nbudget: %u seat%s", server_seats(after),
	       plural(server_seats(after)));
	if (server_seats(before) != server_seats(after))
		printf(", before %u", server_seats(before));
	if (job->fd >= 0)
		printf(", shared by %zu attached server%s", servers,
		       plural(servers));
	printf("\n\n");
}

static struct kapf_configuration *default_config(void)
{
	struct kapf_configuration *config = need(kapf_config_new());

	if (kapf_config_add_defaults(config) < 0)
		need(NULL);
	return config;
}

/* What was applied: all of the manifests, and the defaults if asked for. */
static void print_changes(const struct job *job,
			  const struct kapf_configuration *before,
			  const struct kapf_configuration *after)
{
	struct kapf_configuration *defaults = default_config();
	const char *suffix = job->fd < 0 ? " (dry run)" : "";
	size_t i;

	for (i = 0; i < after->nr_levels; i++) {
		const struct kapf_priority_level *level = &after->levels[i];

		if (level->meta.file ||
		    (job->defaults && kapf_config_level(defaults, level->name)))
			printf("prioritylevelconfiguration." API_GROUP
			       "/%s %s%s\n", level->name,
			       level_change(before, level), suffix);
	}
	for (i = 0; i < after->nr_schemas; i++) {
		const struct kapf_flow_schema *schema = &after->schemas[i];

		if (schema->meta.file ||
		    (job->defaults && find_schema(defaults, schema->name)))
			printf("flowschema." API_GROUP "/%s %s%s\n",
			       schema->name, schema_change(before, schema),
			       suffix);
	}
	kapf_config_free(defaults);
}

/*
 * A schema may come before its level, as in Kubernetes, but more often its name
 * is mistyped.  A dry run cannot know whether the defaults have been applied.
 */
static void warn_of_missing_levels(const struct job *job,
				   const struct kapf_configuration *after)
{
	struct kapf_configuration *defaults = default_config();
	size_t i;

	for (i = 0; i < after->nr_schemas; i++) {
		const struct kapf_flow_schema *schema = &after->schemas[i];

		if (!schema->meta.file || !schema->dangling ||
		    (job->fd < 0 && kapf_config_level(defaults, schema->level)))
			continue;
		complain("warning: %s:%u: FlowSchema \"%s\" names the priority level \"%s\", %s",
			 schema->meta.file, schema->meta.line, schema->name,
			 schema->level,
			 "which does not exist: it matches nothing");
	}
	kapf_config_free(defaults);
}

/*
 * ---------------------------------------------------------------------------
 * Applying
 */

static struct kapf_configuration *present(const struct job *job)
{
	struct kapf_configuration *config;

	config = job->fd < 0 ? need(kapf_config_new()) : read_config(job->fd);
	if (config)
		kapf_config_nominal(config);
	return config;
}

static int check_limits(const struct kapf_configuration *config)
{
	unsigned int reads = config->max_requests_inflight;
	unsigned int writes = config->max_mutating_requests_inflight;
	char allowed[32] = "something positive";

	if (reads + writes && reads + writes <= KAPF_MAX_SERVER_SEATS)
		return 0;
	if (reads + writes)
		snprintf(allowed, sizeof(allowed), "at most %d",
			 KAPF_MAX_SERVER_SEATS);
	complain("MaxRequestsInFlight=%u and MaxMutatingRequestsInFlight=%u; %s %s",
		 reads, writes, "they must add up to", allowed);
	return -1;
}

/* Change a configuration as the job says. */
static int change(const struct job *job, struct kapf_configuration *config)
{
	if (job->defaults && kapf_config_add_defaults(config) < 0)
		need(NULL);
	if (merge_manifests(&job->manifests, config) < 0)
		return -1;
	if (job->reads >= 0)
		config->max_requests_inflight = job->reads;
	if (job->writes >= 0)
		config->max_mutating_requests_inflight = job->writes;
	if (check_limits(config) < 0)
		return -1;
	kapf_config_nominal(config);
	return 0;
}

static int write_config(const struct job *job,
			struct kapf_configuration *config)
{
	struct kapf_error err;
	int ret;

	ret = kapf_config_write(config, job->fd, &err);
	if (ret < 0 && ret != -ESTALE)
		complain("%s", err.text);
	return ret;
}

static int count_servers(const struct job *job, size_t *servers)
{
	struct kapf_session_info *sessions;
	int ret;

	*servers = 0;
	if (job->fd < 0)
		return 0;
	ret = read_sessions(&sessions, servers, job->fd);
	free(sessions);
	return ret;
}

/*
 * Read, change, write: 0, -ESTALE when another has changed the configuration
 * meanwhile, or another negative value after a complaint.
 */
static int apply_once(const struct job *job)
{
	struct kapf_configuration *before, *after = NULL;
	size_t servers;
	int ret = -1;

	before = present(job);
	if (before)
		after = present(job);
	if (!after)
		goto out;
	if (before->generation != after->generation) {
		ret = -ESTALE;
		goto out;
	}
	ret = change(job, after);
	if (ret < 0)
		goto out;
	ret = count_servers(job, &servers);
	if (ret < 0)
		goto out;
	if (job->fd >= 0 && has_changed(before, after)) {
		ret = write_config(job, after);
		if (ret < 0)
			goto out;
	}
	print_seats(job, servers, before, after);
	print_changes(job, before, after);
	warn_of_missing_levels(job, after);
	if (job->fd < 0)
		complain("dry run: compared with an unconfigured instance, %s",
			 "which has only the mandatory objects; no device was read");
out:
	kapf_config_free(after);
	kapf_config_free(before);
	return ret;
}

static int apply(const struct job *job)
{
	int ret, tries;

	for (tries = 0; tries < MAX_TRIES; tries++) {
		ret = apply_once(job);
		if (ret != -ESTALE)
			return ret < 0 ? REFUSED : DONE;
		complain("the configuration has been changed by another; reading it again");
	}
	complain("the configuration keeps changing; nothing has been applied");
	return REFUSED;
}

/*
 * ---------------------------------------------------------------------------
 * The command
 */

static int parse_limit(const char *name, const char *value)
{
	return number_option(&apply_command, name, value, 0,
			     KAPF_MAX_SERVER_SEATS);
}

static const struct option options[] = {
	{ "filename", required_argument, NULL, 'f' },
	{ "defaults", no_argument, NULL, 'd' },
	{ "max-requests-inflight", required_argument, NULL, 'r' },
	{ "max-mutating-requests-inflight", required_argument, NULL, 'w' },
	{ "dry-run", no_argument, NULL, 'n' },
	{ NULL, 0, NULL, 0 }
};

static int take_options(struct job *job, bool *dry_run, int argc, char **argv)
{
	int option;

	while ((option = next_option(&apply_command, argc, argv)) != -1) {
		switch (option) {
		case 'f':
			if (read_manifests(&job->manifests, optarg) < 0)
				return REFUSED;
			break;
		case 'd':
			job->defaults = true;
			break;
		case 'r':
			job->reads = parse_limit("max-requests-inflight",
						 optarg);
			break;
		case 'w':
			job->writes =
				parse_limit("max-mutating-requests-inflight",
					    optarg);
			break;
		case 'n':
			*dry_run = true;
			break;
		}
	}
	if (optind < argc)
		return usage_error(&apply_command,
				   "\"%s\" is too much: files are named by -f",
				   argv[optind]);
	if (job->manifests.empty && !job->defaults)
		return REFUSED;
	if (!job->manifests.nr && !job->defaults && job->reads < 0 &&
	    job->writes < 0)
		return usage_error(&apply_command, "nothing to apply");
	return DONE;
}

static int apply_main(int argc, char **argv)
{
	struct job job = { .fd = -1, .reads = -1, .writes = -1 };
	bool dry_run = false;
	int status;

	status = take_options(&job, &dry_run, argc, argv);
	if (status == DONE && !dry_run) {
		job.fd = open_control(O_RDWR);
		if (job.fd < 0)
			status = REFUSED;
	}
	if (status == DONE)
		status = apply(&job);
	if (job.fd >= 0)
		close(job.fd);
	free_manifests(&job.manifests);
	return status;
}

const struct command apply_command = {
	.name = "apply",
	.summary = "merge manifests into the configuration",
	.help =
"usage: kapfctl apply [-f FILE|DIRECTORY|-]... [OPTION]...\n"
"\n"
"Merges FlowSchemas and PriorityLevelConfigurations into the configuration,\n"
"whole or not at all.  Says which levels gain and lose seats, and warns of\n"
"FlowSchemas whose level does not exist.  Of a directory, takes *.yaml, *.yml and\n"
"*.json in the order of their names; it may have none of them only beside\n"
"--defaults.\n"
"\n"
"  -f, --filename PATH  file, directory, or - for standard input; may be\n"
"                       repeated\n"
"      --defaults       the default objects of Kubernetes, before those of -f;\n"
"                       one whose annotation apf.kubernetes.io/autoupdate-spec\n"
"                       is \"false\" is left as it is\n"
"      --max-requests-inflight N\n"
"      --max-mutating-requests-inflight N\n"
"                       the sum of both is the budget of seats; at first 400\n"
"                       and 200\n"
"      --dry-run        change nothing and use no device: shows what would\n"
"                       become of an instance with only the mandatory objects\n",
	.brief = "f:",
	.options = options,
	.main = apply_main,
};
