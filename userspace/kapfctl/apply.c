// SPDX-License-Identifier: GPL-2.0
/*
 * kapfctl apply and kapfctl diff: merge manifests into the configuration of an
 * instance; and show what that would change.
 *
 * apply says which levels gain and lose seats; after the change, lest a refused
 * one look like a fact.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>

#include "kapfctl.h"

/**
 * struct job - what is to be applied
 * @change: how
 * @manifests: of all -f
 * @defaults: add the default objects
 * @reads: max-requests-inflight; -1: as it is
 * @writes: max-mutating-requests-inflight; -1: as it is
 * @period_ms: adjustment-period; 0: as it is
 * @found: diff: out: something would change
 * @failed: diff: out: a difference could not be shown
 */
struct job {
	struct change change;
	struct manifests manifests;
	bool defaults;
	int reads;
	int writes;
	uint32_t period_ms;
	bool found;
	bool failed;
};

/*
 * ---------------------------------------------------------------------------
 * The change
 */

/* Adds the pairs of @before that @pairs has no value for. */
static void keep_pairs(struct json_object **pairs, struct json_object *before)
{
	struct json_object_iterator it, end;

	if (!before)
		return;
	if (!*pairs)
		*pairs = tree_map();
	it = json_object_iter_begin(before);
	end = json_object_iter_end(before);
	for (; !json_object_iter_equal(&it, &end); json_object_iter_next(&it)) {
		const char *key = json_object_iter_peek_name(&it);

		if (!json_object_object_get_ex(*pairs, key, NULL))
			tree_add(*pairs, key,
				 json_object_get(json_object_iter_peek_value(&it)));
	}
}

static void keep_meta(struct kapf_meta *meta, const struct kapf_meta *before)
{
	keep_pairs(&meta->annotations, before->annotations);
	keep_pairs(&meta->labels, before->labels);
}

/* Labels and annotations that a manifest does not mention are somebody else's. */
static void keep_metadata(struct kapf_configuration *after,
			  const struct kapf_configuration *before)
{
	size_t i;

	for (i = 0; i < after->nr_levels; i++) {
		const struct kapf_priority_level *old =
			kapf_config_level(before, after->levels[i].name);

		if (old)
			keep_meta(&after->levels[i].meta, &old->meta);
	}
	for (i = 0; i < after->nr_schemas; i++) {
		const struct kapf_flow_schema *old =
			kapf_config_schema(before, after->schemas[i].name);

		if (old)
			keep_meta(&after->schemas[i].meta, &old->meta);
	}
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

static int edit(struct change *change, const struct kapf_configuration *before,
		struct kapf_configuration *after)
{
	const struct job *job = change->data;

	if (job->defaults && kapf_config_add_defaults(after) < 0)
		need(NULL);
	if (merge_manifests(&job->manifests, after) < 0)
		return -1;
	/* A new instance has no versions that a manifest could have. */
	if (!change->offline && have_outdated(before, after))
		return -1;
	keep_metadata(after, before);
	if (job->reads >= 0)
		after->max_requests_inflight = job->reads;
	if (job->writes >= 0)
		after->max_mutating_requests_inflight = job->writes;
	if (job->period_ms)
		after->adjustment_period_ms = job->period_ms;
	return check_limits(after);
}

/*
 * ---------------------------------------------------------------------------
 * Reports
 */

/* What was applied: all of the manifests, and the defaults if asked for. */
static void report_objects(const struct job *job,
			   const struct kapf_configuration *before,
			   const struct kapf_configuration *after)
{
	struct kapf_configuration *defaults = default_config();
	size_t i;

	for (i = 0; i < after->nr_levels; i++) {
		const struct kapf_priority_level *level = &after->levels[i];

		if (level->meta.file ||
		    (job->defaults && kapf_config_level(defaults, level->name)))
			report_object(&job->change, LEVEL, level->name,
				      change_name(level_change(before, level)));
	}
	for (i = 0; i < after->nr_schemas; i++) {
		const struct kapf_flow_schema *schema = &after->schemas[i];

		if (schema->meta.file ||
		    (job->defaults &&
		     kapf_config_schema(defaults, schema->name)))
			report_object(&job->change, SCHEMA, schema->name,
				      change_name(schema_change(before,
								schema)));
	}
	kapf_config_free(defaults);
}

static void report_period(const struct kapf_configuration *before,
			  const struct kapf_configuration *after)
{
	char was[PERIOD_ROOM], is[PERIOD_ROOM];

	if (period_ms(before) == period_ms(after))
		return;
	format_period(was, before);
	format_period(is, after);
	printf("adjustment period: %s, before %s\n\n", is, was);
}

static void report(struct change *change,
		   const struct kapf_configuration *before,
		   const struct kapf_configuration *after)
{
	const struct job *job = change->data;

	if (!output_format) {
		report_seats(change, before, after);
		report_period(before, after);
	}
	report_objects(job, before, after);
	warn_of_missing_levels(change, after);
	warn_of_resets(before, after);
	if (change->offline)
		complain("no device: compared with a new instance, %s",
			 "which has only the mandatory objects");
}

static void report_differences(struct change *change,
			       const struct kapf_configuration *before,
			       const struct kapf_configuration *after)
{
	struct job *job = change->data;
	size_t i;

	for (i = 0; i < after->nr_levels; i++) {
		const struct kapf_priority_level *new = &after->levels[i], *old;

		if (level_change(before, new) == UNCHANGED)
			continue;
		old = kapf_config_level(before, new->name);
		job->found = true;
		if (print_difference(LEVEL, new->name,
				     old ? level_object(old) : NULL,
				     level_object(new)) < 0)
			job->failed = true;
	}
	for (i = 0; i < after->nr_schemas; i++) {
		const struct kapf_flow_schema *new = &after->schemas[i], *old;

		if (schema_change(before, new) == UNCHANGED)
			continue;
		old = kapf_config_schema(before, new->name);
		job->found = true;
		if (print_difference(SCHEMA, new->name,
				     old ? schema_object(old) : NULL,
				     schema_object(new)) < 0)
			job->failed = true;
	}
}

/*
 * ---------------------------------------------------------------------------
 * The commands
 */

static int parse_limit(const char *name, const char *value)
{
	return number_option(&apply_command, name, value, 0,
			     KAPF_MAX_SERVER_SEATS);
}

/* In ms. */
static uint32_t parse_period(const char *value)
{
	unsigned long number, unit = 0;
	char *end;

	number = strtoul(value, &end, 10);
	if (!strcmp(end, "ms"))
		unit = 1;
	else if (!strcmp(end, "s"))
		unit = 1000;
	if (*value >= '0' && *value <= '9' &&
	    number <= KAPF_MAX_ADJUSTMENT_PERIOD_MS &&
	    number * unit >= KAPF_MIN_ADJUSTMENT_PERIOD_MS &&
	    number * unit <= KAPF_MAX_ADJUSTMENT_PERIOD_MS)
		return number * unit;
	exit(usage_error(&apply_command,
			 "--adjustment-period \"%s\" is not a duration of %dms to %ds",
			 value, KAPF_MIN_ADJUSTMENT_PERIOD_MS,
			 KAPF_MAX_ADJUSTMENT_PERIOD_MS / 1000));
}

static const struct option apply_options[] = {
	{ "filename", required_argument, NULL, 'f' },
	{ "defaults", no_argument, NULL, 'd' },
	{ "max-requests-inflight", required_argument, NULL, 'r' },
	{ "max-mutating-requests-inflight", required_argument, NULL, 'w' },
	{ "adjustment-period", required_argument, NULL, 'p' },
	{ "dry-run", optional_argument, NULL, 'n' },
	{ NULL, 0, NULL, 0 }
};

static const struct option diff_options[] = {
	{ "filename", required_argument, NULL, 'f' },
	{ "defaults", no_argument, NULL, 'd' },
	{ NULL, 0, NULL, 0 }
};

static int take_options(const struct command *command, struct job *job,
			int argc, char **argv)
{
	int option;

	while ((option = next_option(command, argc, argv)) != -1) {
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
		case 'p':
			job->period_ms = parse_period(optarg);
			break;
		case 'n':
			job->change.dry_run = dry_run_option(command, optarg);
			break;
		}
	}
	if (optind < argc)
		return usage_error(command,
				   "\"%s\" is too much: files are named by -f",
				   argv[optind]);
	if (job->manifests.empty && !job->defaults)
		return REFUSED;
	if (!job->manifests.nr && !job->defaults && job->reads < 0 &&
	    job->writes < 0 && !job->period_ms)
		return usage_error(command, "nothing to %s", command->name);
	return DONE;
}

static int apply_main(int argc, char **argv)
{
	struct job job = { .reads = -1, .writes = -1 };
	int status;

	job.change.spares_device = true;
	job.change.edit = edit;
	job.change.report = report;
	job.change.data = &job;
	status = take_options(&apply_command, &job, argc, argv);
	if (status == DONE)
		status = change_config(&job.change);
	free_manifests(&job.manifests);
	return status;
}

/* As of kubectl and of diff(1), 1 means that there is a difference. */
static int diff_main(int argc, char **argv)
{
	struct job job = { .reads = -1, .writes = -1 };
	int status;

	job.change.dry_run = DRY_RUN_SERVER;
	job.change.edit = edit;
	job.change.report = report_differences;
	job.change.data = &job;
	status = take_options(&diff_command, &job, argc, argv);
	if (status == DONE)
		status = change_config(&job.change);
	free_manifests(&job.manifests);
	if (status != DONE || job.failed)
		return TROUBLE;
	return job.found ? DIFFERENT : DONE;
}

const struct command apply_command = {
	.name = "apply",
	.summary = "merge manifests into the configuration",
	.help =
"usage: kapfctl apply [-f FILE|DIRECTORY|-]... [OPTION]...\n"
"\n"
"Merges FlowSchemas and PriorityLevelConfigurations into the configuration,\n"
"whole or not at all.  Says which levels gain and lose seats, and warns of\n"
"FlowSchemas whose level does not exist, and of changes to default objects that\n"
"kapfctl maintain or --defaults would reset.\n"
"\n"
"The spec of an object becomes that of the manifest; labels and annotations that\n"
"the manifest does not mention stay.  An object whose manifest has a\n"
"metadata.resourceVersion, as what kapfctl get prints, must not have changed\n"
"since, if it is there; else nothing is changed.\n"
"\n"
"Of a directory, takes *.yaml, *.yml and *.json in the order of their names; it\n"
"may have none of them only beside --defaults.\n"
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
"      --adjustment-period DURATION\n"
"                       how often levels lend and borrow anew, as in 500ms or\n"
"                       10s, which it is at first\n"
"      --dry-run[=client]\n"
"                       read the device, but change nothing; where there is no\n"
"                       device, compare with a new instance, which has only the\n"
"                       mandatory objects, and say so\n"
"      --dry-run=server the same, but refused where there is no device\n"
"\n"
"With -o name, prints the names of the objects alone.\n",
	.brief = "f:",
	.options = apply_options,
	.formats = "name",
	.main = apply_main,
};

const struct command diff_command = {
	.name = "diff",
	.summary = "show what apply would change",
	.help =
"usage: kapfctl diff [-f FILE|DIRECTORY|-]... [--defaults]\n"
"\n"
"Shows what kapfctl apply with the same options would change, as a unified diff\n"
"of the YAML of each object.  Exit status: 0 nothing, 1 something, 2 wrongly typed\n"
"or not to be found out.  Runs diff(1).\n"
"\n"
"  -f, --filename PATH  file, directory, or - for standard input; may be\n"
"                       repeated\n"
"      --defaults       the default objects of Kubernetes, as in apply\n",
	.brief = "f:",
	.options = diff_options,
	.main = diff_main,
};
