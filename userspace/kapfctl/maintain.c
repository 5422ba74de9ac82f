// SPDX-License-Identifier: GPL-2.0
/*
 * kapfctl maintain: keep the default objects as Kubernetes brings them along.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kapfctl.h"

/* A day: who wants less may say so in a timer. */
#define MAX_PERIOD 86400

static int edit(struct change *change, const struct kapf_configuration *before,
		struct kapf_configuration *after)
{
	(void)change;
	(void)before;
	if (kapf_config_maintain(after) < 0)
		need(NULL);
	return 0;
}

static void report(struct change *change,
		   const struct kapf_configuration *before,
		   const struct kapf_configuration *after)
{
	enum change_kind what;
	size_t i;

	for (i = 0; i < after->nr_levels; i++) {
		what = level_change(before, &after->levels[i]);
		if (what != UNCHANGED)
			report_object(change, LEVEL, after->levels[i].name,
				      change_name(what));
	}
	for (i = 0; i < after->nr_schemas; i++) {
		what = schema_change(before, &after->schemas[i]);
		if (what != UNCHANGED)
			report_object(change, SCHEMA, after->schemas[i].name,
				      change_name(what));
	}
	report_deleted(change, before, after);
	fflush(stdout);
}

/* 90s, 5m or 2h */
static unsigned int parse_period(const char *value)
{
	static const struct {
		const char *unit;
		unsigned long seconds;
	} units[] = {
		{ "s", 1 }, { "m", 60 }, { "h", 3600 },
	};
	unsigned long number;
	char *end;
	size_t i;

	number = strtoul(value, &end, 10);
	for (i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (*value >= '0' && *value <= '9' && number &&
		    !strcmp(end, units[i].unit) &&
		    number <= MAX_PERIOD / units[i].seconds)
			return number * units[i].seconds;
	exit(usage_error(&maintain_command,
			 "--every \"%s\" is not accepted: must be 1s to 24h, as in 90s, 5m or 2h",
			 value));
}

/* Until a signal asks for an end.  What fails may succeed the next time. */
static int maintain_every(struct change *change, unsigned int period)
{
	const struct timespec timeout = { .tv_sec = period };
	sigset_t ends;
	int ret;

	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	for (;;) {
		change_config(change);
		do {
			ret = sigtimedwait(&ends, NULL, &timeout);
		} while (ret < 0 && errno == EINTR);
		if (ret > 0)
			return DONE;
	}
}

static const struct option options[] = {
	{ "every", required_argument, NULL, 'e' },
	{ "dry-run", optional_argument, NULL, 'n' },
	{ NULL, 0, NULL, 0 }
};

static int maintain_main(int argc, char **argv)
{
	struct change change = { .edit = edit, .report = report };
	unsigned int period = 0;
	int option;

	while ((option = next_option(&maintain_command, argc, argv)) != -1) {
		if (option == 'e')
			period = parse_period(optarg);
		else
			change.dry_run = dry_run_option(&maintain_command,
							optarg);
	}
	if (optind < argc)
		return usage_error(&maintain_command, "\"%s\" is too much",
				   argv[optind]);
	return period ? maintain_every(&change, period) :
			change_config(&change);
}

const struct command maintain_command = {
	.name = "maintain",
	.summary = "keep the default objects as they should be",
	.help =
"usage: kapfctl maintain [--every TIME] [--dry-run]\n"
"\n"
"Does what a kube-apiserver does every minute for the default objects of\n"
"Kubernetes, and says what it did.  The annotation\n"
"apf.kubernetes.io/autoupdate-spec tells whose an object is:\n"
"\n"
"  \"true\"   the spec becomes the default one; what is no default object is\n"
"           deleted\n"
"  \"false\"  the object is left alone\n"
"  none     \"true\" for a default object that has never been changed\n"
"           (metadata.generation 1), \"false\" for one that has; it is annotated\n"
"           so\n"
"\n"
"A default object that was deleted is created anew.  The mandatory ones are always\n"
"annotated \"true\".  Labels and other annotations stay.\n"
"\n"
"      --every TIME  again and again, until SIGTERM or SIGINT: 1s to 24h, as in\n"
"                    90s, 5m or 2h; what fails is complained of, and tried again\n"
"      --dry-run     read the device, but change nothing\n",
	.options = options,
	.main = maintain_main,
};
