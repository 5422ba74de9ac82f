// SPDX-License-Identifier: GPL-2.0
/*
 * What metrics are made of: read from the kernel, and put in the order of their
 * labels, of which no two things have the same.
 *
 * The kernel knows schemas by id, metrics by name.  A schema that was deleted and
 * is there again, or went to another level and came back, has several elements
 * while requests of the first one last.  Of what is there at present metrics show
 * the sum.  A counter is that of the schema which is configured, alone: it begins
 * again at 0 then, which rate() knows about, and the sum would be less, though not
 * 0, when the first one goes, so that rate() would count what is left twice.
 */
#include <stdlib.h>
#include <string.h>

#include "metrics.h"

static int compare_names(const char *level, const char *schema,
			 const char *other_level, const char *other_schema)
{
	int order = strcmp(level, other_level);

	return order ? order : strcmp(schema, other_schema);
}

/* The kernel has what is configured before what drains. */
static int compare_places(const void *a, const void *b)
{
	return (a > b) - (a < b);
}

static int compare_schemas(const void *a, const void *b)
{
	const struct schema_series *x = a, *y = b;
	int order = compare_names(x->level, x->schema, y->level, y->schema);

	return order ? order : compare_places(x->counts, y->counts);
}

static void add_up(struct kapf_schema_stats *sum,
		   const struct kapf_schema_stats *more)
{
	sum->executing_requests += more->executing_requests;
	sum->waiting_requests += more->waiting_requests;
	sum->passing_requests += more->passing_requests;
	sum->seats_in_use += more->seats_in_use;
	sum->waiting_seats += more->waiting_seats;
}

static void gather_schemas(struct gathering *gathering)
{
	const struct state *state = &gathering->state;
	struct schema_series *all =
		need(calloc(state->stats.nr_schemas + 1, sizeof(*all)));
	size_t i, nr = 0, last = 0;

	for (i = 0; i < state->stats.nr_schemas; i++) {
		const struct kapf_schema_stats *stats = &state->schemas[i];
		const struct kapf_level_stats *level =
			level_stats(state, stats->level);

		if (stats->level)
			all[nr++] = (struct schema_series){
				.level = level->name,
				.schema = stats->name,
				.type = level->type,
				.counts = stats,
				.present = *stats,
			};
	}
	qsort(all, nr, sizeof(*all), compare_schemas);
	for (i = 1; i < nr; i++) {
		if (compare_names(all[last].level, all[last].schema,
				  all[i].level, all[i].schema))
			all[++last] = all[i];
		else
			add_up(&all[last].present, &all[i].present);
	}
	gathering->schemas = all;
	gathering->nr_schemas = nr ? last + 1 : 0;
}

static int compare_histograms(const void *a, const void *b)
{
	const struct histogram_series *x = a, *y = b;
	int order = (x->info->kind > y->info->kind) -
		    (x->info->kind < y->info->kind);

	if (!order)
		order = compare_names(x->level, x->schema, y->level, y->schema);
	return order ? order : compare_places(x->info, y->info);
}

static bool is_same(const struct histogram_series *a,
		    const struct histogram_series *b)
{
	return a->info->kind == b->info->kind &&
	       !compare_names(a->level, a->schema, b->level, b->schema);
}

static bool has_counts(const struct kapf_histogram_info *info)
{
	uint32_t i;

	for (i = 0; i < info->buckets; i++)
		if (info->counts[i])
			return true;
	return false;
}

static void gather_histograms(struct gathering *gathering, size_t nr_infos)
{
	const struct state *state = &gathering->state;
	struct histogram_series *all =
		need(calloc(nr_infos + 1, sizeof(*all)));
	struct histogram_series *kept =
		need(calloc(nr_infos + 1, sizeof(*kept)));
	size_t i, nr = 0, nr_kept = 0;

	for (i = 0; i < nr_infos; i++) {
		const struct kapf_histogram_info *info =
			&gathering->histograms[i];
		const struct histogram_series series = {
			.level = level_stats(state, info->level)->name,
			.schema = schema_stats(state, info->schema)->name,
			.info = info,
		};

		/* Made after the statistics were read, it has no name yet. */
		if ((info->level && !*series.level) ||
		    (info->schema && !*series.schema))
			continue;
		all[nr++] = series;
	}
	qsort(all, nr, sizeof(*all), compare_histograms);
	/* With thousands of schemas most have seen no request at all. */
	for (i = 0; i < nr; i++)
		if ((!i || !is_same(&all[i], &all[i - 1])) &&
		    (!*all[i].schema || has_counts(all[i].info)))
			kept[nr_kept++] = all[i];
	free(all);
	gathering->series = kept;
	gathering->nr_series = nr_kept;
}

static int compare_servers(const void *a, const void *b)
{
	const struct server_series *x = a, *y = b;

	return compare_names(x->sum.server, x->sum.tenant, y->sum.server,
			     y->sum.tenant);
}

static void gather_servers(struct gathering *gathering,
			   const struct kapf_session_info *sessions, size_t nr)
{
	struct server_series *all = need(calloc(nr + 1, sizeof(*all)));
	size_t i, last = 0;

	for (i = 0; i < nr; i++)
		all[i] = (struct server_series){ .sum = sessions[i], .nr = 1 };
	qsort(all, nr, sizeof(*all), compare_servers);
	for (i = 1; i < nr; i++) {
		struct kapf_session_info *sum = &all[last].sum;

		if (compare_servers(&all[last], &all[i])) {
			all[++last] = all[i];
			continue;
		}
		all[last].nr++;
		sum->slots += all[i].sum.slots;
		sum->waiting_requests += all[i].sum.waiting_requests;
		sum->executing_requests += all[i].sum.executing_requests;
		sum->seats_in_use += all[i].sum.seats_in_use;
	}
	gathering->servers = all;
	gathering->nr_servers = nr ? last + 1 : 0;
}

/**
 * gather() - read all that metrics are made of
 * @gathering: out; to be freed in any case
 * @fd: of the control node
 *
 * Return: 0, or -1 after a complaint.
 */
int gather(struct gathering *gathering, int fd)
{
	struct kapf_session_info *sessions = NULL;
	size_t nr_histograms, nr_sessions;
	struct kapf_error err;

	*gathering = (struct gathering){ .nr_schemas = 0 };
	if (kapf_get_info(fd, &gathering->info, &err) < 0) {
		complain("%s: %s", control_node, err.text);
		return -1;
	}
	if (read_state(&gathering->state, fd) < 0 ||
	    read_queues(&gathering->queues, fd) < 0 ||
	    read_histograms(&gathering->histograms, &nr_histograms, fd) < 0 ||
	    read_sessions(&sessions, &nr_sessions, fd) < 0) {
		free(sessions);
		return -1;
	}
	gather_schemas(gathering);
	gather_histograms(gathering, nr_histograms);
	gather_servers(gathering, sessions, nr_sessions);
	free(sessions);
	return 0;
}

/**
 * free_gathering() - free what gather() made
 * @gathering: it
 */
void free_gathering(struct gathering *gathering)
{
	free(gathering->servers);
	free(gathering->series);
	free(gathering->schemas);
	free(gathering->histograms);
	free_queues(&gathering->queues);
	free_state(&gathering->state);
}
