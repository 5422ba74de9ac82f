// SPDX-License-Identifier: GPL-2.0
/*
 * kapfctl delete: remove objects from the configuration of an instance.
 */
#include <stdlib.h>
#include <string.h>

#include "kapfctl.h"

/**
 * struct job - what is to be deleted
 * @change: how
 * @selection: what
 * @ignore_not_found: what is not there is deleted already
 * @missing: out: something was not there
 */
struct job {
	struct change change;
	struct selection selection;
	bool ignore_not_found;
	bool missing;
};

static bool is_refused(const struct selected *object)
{
	if (!kapf_is_mandatory(object->name))
		return false;
	complain("%s \"%s\" is mandatory and cannot be deleted: %s",
		 object->kind == LEVEL ? "prioritylevels" : "flowschemas",
		 object->name,
		 "no configuration is without it; nothing has been deleted");
	return true;
}

static int edit(struct change *change, const struct kapf_configuration *before,
		struct kapf_configuration *after)
{
	const struct job *job = change->data;
	size_t i;

	(void)before;
	for (i = 0; i < job->selection.nr; i++)
		if (is_refused(&job->selection.all[i]))
			return -1;
	for (i = 0; i < job->selection.nr; i++) {
		const struct selected *object = &job->selection.all[i];

		if (object->kind == LEVEL)
			kapf_config_remove_level(after, object->name);
		else
			kapf_config_remove_schema(after, object->name);
	}
	return 0;
}

static void warn_of_dangling(const struct kapf_configuration *before,
			     const struct kapf_configuration *after)
{
	size_t i;

	for (i = 0; i < after->nr_schemas; i++) {
		const struct kapf_flow_schema *schema = &after->schemas[i];

		if (schema->dangling &&
		    !kapf_config_schema(before, schema->name)->dangling)
			complain("warning: FlowSchema \"%s\" names the priority level \"%s\", %s",
				 schema->name, schema->level,
				 "which is deleted: it matches nothing now");
	}
}

/* A level is gone for good when its last request is. */
static void tell_of_draining(const struct change *change,
			     const struct kapf_configuration *before,
			     const struct kapf_configuration *after)
{
	struct state state;
	uint32_t i;

	if (change->dry_run)
		return;
	if (read_state(&state, change->fd) < 0)
		state.stats.nr_levels = 0;
	for (i = 0; i < state.stats.nr_levels; i++) {
		const struct kapf_level_stats *level = &state.levels[i];
		uint32_t left = level->executing_requests +
				level->lingering_requests +
				level->waiting_requests;

		if (left && kapf_config_level(before, level->name) &&
		    !kapf_config_level(after, level->name))
			complain("prioritylevels \"%s\" drains: %s %u request%s ended",
				 level->name,
				 "it keeps its seats until its last", left,
				 left == 1 ? " has" : "s have");
	}
	free_state(&state);
}

static void report(struct change *change,
		   const struct kapf_configuration *before,
		   const struct kapf_configuration *after)
{
	struct job *job = change->data;

	if (!output_format)
		report_seats(change, before, after);
	report_deleted(change, before, after);
	warn_of_dangling(before, after);
	tell_of_draining(change, before, after);
	if (!job->ignore_not_found)
		job->missing = complain_of_missing(&job->selection, before);
}

static const struct option options[] = {
	{ "filename", required_argument, NULL, 'f' },
	{ "dry-run", optional_argument, NULL, 'n' },
	{ "ignore-not-found", no_argument, NULL, 'i' },
	{ NULL, 0, NULL, 0 }
};

/* Takes the options, and reads the files that they name. */
static int take_options(struct job *job, struct manifests *manifests, int argc,
			char **argv)
{
	int option;

	while ((option = next_option(&delete_command, argc, argv)) != -1) {
		switch (option) {
		case 'f':
			if (read_manifests(manifests, optarg) < 0)
				return REFUSED;
			break;
		case 'n':
			job->change.dry_run = dry_run_option(&delete_command,
							     optarg);
			break;
		case 'i':
			job->ignore_not_found = true;
			break;
		}
	}
	if (manifests->empty)
		return REFUSED;
	if (manifests->nr && optind < argc)
		return usage_error(&delete_command,
				   "either -f or KIND and NAME, not both");
	return DONE;
}

/* @files: out: the objects of the manifests, to which their names belong */
static int select_all(struct job *job, const struct manifests *manifests,
		      struct kapf_configuration *files, int argc, char **argv)
{
	int status;

	if (manifests->nr) {
		if (merge_manifests(manifests, files) < 0)
			return REFUSED;
		select_manifests(&job->selection, files);
		return DONE;
	}
	if (optind == argc)
		return usage_error(&delete_command,
				   "say what to delete: KIND NAME... or -f FILE");
	status = select_objects(&delete_command, &job->selection,
				argv + optind, argc - optind);
	if (status == DONE && !job->selection.nr)
		return usage_error(&delete_command,
				   "say which to delete: a NAME is missing");
	return status;
}

static int delete_main(int argc, char **argv)
{
	struct job job = { .change = { .edit = edit, .report = report } };
	struct kapf_configuration *files = need(kapf_config_new());
	struct manifests manifests = { .nr = 0 };
	int status;

	job.change.data = &job;
	status = take_options(&job, &manifests, argc, argv);
	if (status == DONE)
		status = select_all(&job, &manifests, files, argc, argv);
	if (status == DONE)
		status = change_config(&job.change);
	if (status == DONE && job.missing)
		status = REFUSED;
	free(job.selection.all);
	kapf_config_free(files);
	free_manifests(&manifests);
	return status;
}

const struct command delete_command = {
	.name = "delete",
	.summary = "delete priority levels and flow schemas",
	.help =
"usage: kapfctl delete KIND NAME... [OPTION]...\n"
"       kapfctl delete KIND/NAME... [OPTION]...\n"
"       kapfctl delete -f FILE|DIRECTORY|- [-f ...]... [OPTION]...\n"
"\n"
"Deletes priority levels and flow schemas, all of them at once, and says which\n"
"levels gain seats, and which flow schemas match nothing from now on because\n"
"their level is gone.  A level that has requests keeps its seats until they have\n"
"ended, and the others gain them then.  What does not exist is complained of, and\n"
"the others are deleted.  The mandatory objects, exempt and catch-all, cannot be\n"
"deleted.  Of KIND see kapfctl get --help; of a manifest, kind and name count.\n"
"\n"
"  -f, --filename PATH     file, directory, or - for standard input; may be\n"
"                          repeated\n"
"      --ignore-not-found  do not complain of what does not exist\n"
"      --dry-run           read the device, but change nothing\n"
"\n"
"With -o name, prints the names of the deleted objects alone.\n",
	.brief = "f:",
	.options = options,
	.formats = "name",
	.words = "prioritylevels flowschemas all",
	.names = "",
	.main = delete_main,
};
