// SPDX-License-Identifier: GPL-2.0
/*
 * What a change of the configuration has done, in the words of kubectl; and who
 * gains and loses seats by it, since every share that is added dilutes all others.
 */
#include <stdio.h>
#include <string.h>

#include "kapfctl.h"

/**
 * default_config() - the mandatory and the suggested objects
 *
 * Return: to be freed, never NULL.
 */
struct kapf_configuration *default_config(void)
{
	struct kapf_configuration *config = need(kapf_config_new());

	if (kapf_config_add_defaults(config) < 0)
		need(NULL);
	return config;
}

static const char *suffix(const struct change *change)
{
	static const char *const suffixes[] = {
		[NO_DRY_RUN] = "",
		[DRY_RUN_CLIENT] = " (dry run)",
		[DRY_RUN_SERVER] = " (server dry run)",
	};

	return suffixes[change->dry_run];
}

/**
 * report_object() - print what has become of an object; with -o, its name alone
 * @change: that has been made
 * @kind: LEVEL or SCHEMA
 * @name: of the object
 * @what: has become of it
 */
void report_object(const struct change *change, enum kind kind,
		   const char *name, const char *what)
{
	if (output_format)
		printf("%s/%s\n", kind_type(kind), name);
	else
		printf("%s/%s %s%s\n", kind_type(kind), name, what,
		       suffix(change));
}

static void print_deleted(const struct change *change, enum kind kind,
			  const char *name)
{
	if (output_format)
		printf("%s/%s\n", kind_type(kind), name);
	else
		printf("%s \"%s\" deleted%s\n", kind_type(kind), name,
		       suffix(change));
}

/**
 * report_deleted() - print which objects are gone; with -o, their names alone
 * @change: that has been made
 * @before: the configuration before
 * @after: the configuration after
 */
void report_deleted(const struct change *change,
		    const struct kapf_configuration *before,
		    const struct kapf_configuration *after)
{
	size_t i;

	for (i = 0; i < before->nr_levels; i++)
		if (!kapf_config_level(after, before->levels[i].name))
			print_deleted(change, LEVEL, before->levels[i].name);
	for (i = 0; i < before->nr_schemas; i++)
		if (!kapf_config_schema(after, before->schemas[i].name))
			print_deleted(change, SCHEMA, before->schemas[i].name);
}

/**
 * change_name() - how an object has come to be what it is
 * @kind: the same
 */
const char *change_name(enum change_kind kind)
{
	static const char *const names[] = {
		[UNCHANGED] = "unchanged",
		[CREATED] = "created",
		[CONFIGURED] = "configured",
	};

	return names[kind];
}

static uint32_t server_seats(const struct kapf_configuration *config)
{
	return config->max_requests_inflight +
	       config->max_mutating_requests_inflight;
}

/* Adds a row for a level, unless it has as many seats as before. */
static void add_seats(struct libscols_table *table, const char *name,
		      const struct kapf_configuration *before,
		      const struct kapf_configuration *after)
{
	const struct kapf_priority_level *old = kapf_config_level(before, name);
	const struct kapf_priority_level *new = kapf_config_level(after, name);
	uint32_t had = old ? old->nominal_seats : 0;
	uint32_t has = new ? new->nominal_seats : 0;
	char seats[3][16];

	if (had == has)
		return;
	snprintf(seats[0], sizeof(seats[0]), "%u", had);
	snprintf(seats[1], sizeof(seats[1]), "%u", has);
	snprintf(seats[2], sizeof(seats[2]), "%+d", (int)(has - had));
	table_row(table, name, old ? seats[0] : "-", new ? seats[1] : "-",
		  seats[2]);
}

/* Is it not in the configuration any more, and has requests? */
static bool is_kept(const struct kapf_level_stats *level,
		    const struct kapf_configuration *after)
{
	return !kapf_config_level(after, level->name) &&
	       (level->executing_requests || level->lingering_requests ||
		level->waiting_requests);
}

/* A level that drains keeps its shares, so that the others have fewer seats yet. */
static void tell_of_draining(const struct change *change,
			     const struct kapf_configuration *after)
{
	struct state state;
	uint32_t i, kept = 0;

	if (change->offline)
		return;
	if (read_state(&state, change->fd) < 0)
		state.stats.nr_levels = 0;
	for (i = 0; i < state.stats.nr_levels; i++)
		if (is_kept(&state.levels[i], after))
			printf("%s%s", kept++ ? ", " : "SEATS-AFTER: after ",
			       state.levels[i].name);
	if (kept)
		printf(" %s drained; until then %s keep%s shares\n",
		       kept == 1 ? "has" : "have", kept == 1 ? "it" : "they",
		       kept == 1 ? "s its" : " their");
	free_state(&state);
}

/**
 * report_seats() - print which levels have gained and lost seats, if any, and
 *	how many servers share them
 * @change: that has been made
 * @before: the configuration before, with nominal limits
 * @after: the configuration after, likewise
 */
void report_seats(const struct change *change,
		  const struct kapf_configuration *before,
		  const struct kapf_configuration *after)
{
	static const char *const columns[] = {
		"PRIORITYLEVEL", "SEATS-BEFORE", "SEATS-AFTER", "CHANGE", NULL
	};
	struct libscols_table *table = table_new(columns);
	size_t i;

	for (i = 0; i < after->nr_levels; i++)
		add_seats(table, after->levels[i].name, before, after);
	for (i = 0; i < before->nr_levels; i++)
		if (!kapf_config_level(after, before->levels[i].name))
			add_seats(table, before->levels[i].name, before, after);
	if (!table_print(table))
		return;
	tell_of_draining(change, after);

	printf("\nbudget: %u seat%s", server_seats(after),
	       plural(server_seats(after)));
	if (server_seats(before) != server_seats(after))
		printf(", before %u", server_seats(before));
	if (!change->offline)
		printf(", shared by %zu attached server%s", change->servers,
		       plural(change->servers));
	printf("\n\n");
}

/**
 * warn_of_missing_levels() - warn of schemas of manifests that match nothing
 * @change: that has been made
 * @after: the configuration after
 *
 * A schema may come before its level, as in Kubernetes, but more often its name
 * is mistyped.  Without an instance it cannot be known whether the defaults have
 * been applied.
 */
void warn_of_missing_levels(const struct change *change,
			    const struct kapf_configuration *after)
{
	struct kapf_configuration *defaults = default_config();
	size_t i;

	for (i = 0; i < after->nr_schemas; i++) {
		const struct kapf_flow_schema *schema = &after->schemas[i];

		if (!schema->meta.file || !schema->dangling ||
		    (change->offline &&
		     kapf_config_level(defaults, schema->level)))
			continue;
		complain("warning: %s:%u: FlowSchema \"%s\" names the priority level \"%s\", %s",
			 schema->meta.file, schema->meta.line, schema->name,
			 schema->level,
			 "which does not exist: it matches nothing");
	}
	kapf_config_free(defaults);
}

static void warn_of_reset(const char *kind, const char *name,
			  const struct kapf_meta *meta)
{
	if (kapf_is_mandatory(name) || !kapf_meta_autoupdate(meta))
		return;
	complain("warning: %s:%u: %s \"%s\" is a default object and %s: %s",
		 meta->file, meta->line, kind, name,
		 "not annotated apf.kubernetes.io/autoupdate-spec: \"false\"",
		 "its spec will be reset by maintain or apply --defaults");
}

/**
 * warn_of_resets() - warn of specs of manifests that will not last, as those of
 *	default objects whose annotation leaves them to Kubernetes
 * @before: the configuration before
 * @after: the configuration after
 */
void warn_of_resets(const struct kapf_configuration *before,
		    const struct kapf_configuration *after)
{
	struct kapf_configuration *defaults = default_config();
	size_t i;

	for (i = 0; i < after->nr_levels; i++) {
		const struct kapf_priority_level *new = &after->levels[i];
		const struct kapf_priority_level *theirs =
			kapf_config_level(defaults, new->name);
		const struct kapf_priority_level *old =
			kapf_config_level(before, new->name);

		if (new->meta.file && theirs && !same_level_spec(new, theirs) &&
		    (!old || !same_level_spec(new, old)))
			warn_of_reset("PriorityLevelConfiguration", new->name,
				      &new->meta);
	}
	for (i = 0; i < after->nr_schemas; i++) {
		const struct kapf_flow_schema *new = &after->schemas[i];
		const struct kapf_flow_schema *theirs =
			kapf_config_schema(defaults, new->name);
		const struct kapf_flow_schema *old =
			kapf_config_schema(before, new->name);

		if (new->meta.file && theirs &&
		    !same_schema_spec(new, theirs) &&
		    (!old || !same_schema_spec(new, old)))
			warn_of_reset("FlowSchema", new->name, &new->meta);
	}
	kapf_config_free(defaults);
}
