// SPDX-License-Identifier: GPL-2.0
/*
 * kapfctl replace: objects become what manifests say, and nothing else.
 */
#include <stdlib.h>

#include "kapfctl.h"

/**
 * struct job - what is to be replaced
 * @change: how
 * @manifests: of all -f
 */
struct job {
	struct change change;
	struct manifests manifests;
};

static int edit(struct change *change, const struct kapf_configuration *before,
		struct kapf_configuration *after)
{
	const struct job *job = change->data;
	struct selection selection = { .nr = 0 };
	bool missing;

	if (merge_manifests(&job->manifests, after) < 0)
		return -1;
	select_manifests(&selection, after);
	missing = complain_of_missing(&selection, before);
	free(selection.all);
	if (missing)
		complain("nothing has been replaced: apply creates what is not there");
	return missing || have_outdated(before, after) ? -1 : 0;
}

static void report(struct change *change,
		   const struct kapf_configuration *before,
		   const struct kapf_configuration *after)
{
	struct selection selection = { .nr = 0 };
	size_t i;

	if (!output_format)
		report_seats(change, before, after);
	select_manifests(&selection, after);
	for (i = 0; i < selection.nr; i++)
		report_object(change, selection.all[i].kind,
			      selection.all[i].name, "replaced");
	free(selection.all);
	warn_of_missing_levels(change, after);
	warn_of_resets(before, after);
}

static const struct option options[] = {
	{ "filename", required_argument, NULL, 'f' },
	{ "dry-run", optional_argument, NULL, 'n' },
	{ NULL, 0, NULL, 0 }
};

static int take_options(struct job *job, int argc, char **argv)
{
	int option;

	while ((option = next_option(&replace_command, argc, argv)) != -1) {
		if (option == 'n')
			job->change.dry_run = dry_run_option(&replace_command,
							     optarg);
		else if (read_manifests(&job->manifests, optarg) < 0)
			return REFUSED;
	}
	if (optind < argc)
		return usage_error(&replace_command,
				   "\"%s\" is too much: files are named by -f",
				   argv[optind]);
	if (job->manifests.empty)
		return REFUSED;
	if (!job->manifests.nr)
		return usage_error(&replace_command,
				   "nothing to replace: -f is missing");
	return DONE;
}

static int replace_main(int argc, char **argv)
{
	struct job job = { .change = { .edit = edit, .report = report } };
	int status;

	job.change.data = &job;
	status = take_options(&job, argc, argv);
	if (status == DONE)
		status = change_config(&job.change);
	free_manifests(&job.manifests);
	return status;
}

const struct command replace_command = {
	.name = "replace",
	.summary = "replace objects by those of manifests",
	.help =
"usage: kapfctl replace -f FILE|DIRECTORY|- [-f ...]... [--dry-run]\n"
"\n"
"Replaces FlowSchemas and PriorityLevelConfigurations: spec, labels and annotations\n"
"become those of the manifest.  All objects have to exist, and where a manifest has\n"
"a metadata.resourceVersion, as what kapfctl get prints, the object must not have\n"
"changed since; else nothing is replaced.  Says which levels gain and lose seats.\n"
"\n"
"  -f, --filename PATH  file, directory, or - for standard input; may be\n"
"                       repeated\n"
"      --dry-run        read the device, but change nothing\n"
"\n"
"With -o name, prints the names of the objects alone.\n",
	.brief = "f:",
	.options = options,
	.formats = "name",
	.main = replace_main,
};
