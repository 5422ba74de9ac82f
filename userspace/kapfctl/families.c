// SPDX-License-Identifier: GPL-2.0
/*
 * Metrics in Prometheus' text format: the families, one after the other, with the
 * series of each.  No label needs an escape: names have only [a-z0-9.-].
 */
#include <stdio.h>

#include "queueset.h"

#include "metrics.h"

#define SIZE(array) (sizeof(array) / sizeof(*(array)))

/* What a field of the statistics counts. */
#define WHOLE 1
#define FIXED (1.0 / (1ULL << 32))
#define SEAT_SECONDS (1.0 / SEAT_SECOND)

/**
 * struct field - a number in a struct
 * @offset: of the number
 * @size: of it
 * @unit: that it is a multiple of
 */
struct field {
	size_t offset;
	size_t size;
	double unit;
};

#define U32(type, member, unit) \
	{ offsetof(struct type, member), sizeof(uint32_t), unit }
#define U64(type, member, unit) \
	{ offsetof(struct type, member), sizeof(uint64_t), unit }

static double field_value(const void *object, struct field field)
{
	const char *at = (const char *)object + field.offset;

	return (field.size == sizeof(uint32_t) ? *(const uint32_t *)at :
						 *(const uint64_t *)at) *
	       field.unit;
}

/**
 * write_family() - write what comes before the series of a metric
 * @to: where
 * @prefix: of its name
 * @name: of the metric
 * @type: gauge, counter or histogram
 * @help: what it says
 */
void write_family(FILE *to, const char *prefix, const char *name,
		  const char *type, const char *help)
{
	fprintf(to, "# HELP %s%s %s.\n# TYPE %s%s %s\n", prefix, name, help,
		prefix, name, type);
}

/*
 * ---------------------------------------------------------------------------
 * Of levels
 */

/* Which levels have it. */
enum level_scope {
	EVERY_LEVEL,
	LIMITED_LEVELS,
	QUEUE_LEVELS,
};

struct level_family {
	enum level_scope scope;
	const char *prefix;
	const char *name;
	struct field field;
	const char *help;
};

#define LEVEL_U32(member) U32(kapf_level_stats, member, WHOLE)
#define LEVEL_U64(member, unit) U64(kapf_level_stats, member, unit)

static const struct level_family level_families[] = {
	{ EVERY_LEVEL, APF, "nominal_limit_seats",
	  LEVEL_U32(nominal_seats),
	  "NominalCL: the seats of the budget that the level's shares are worth" },
	{ EVERY_LEVEL, APF, "lower_limit_seats",
	  LEVEL_U32(min_seats),
	  "MinCL: what remains when it lends all that it may" },
	{ EVERY_LEVEL, APF, "upper_limit_seats",
	  LEVEL_U64(max_seats, WHOLE),
	  "MaxCL: what it has when it borrows all that it may" },
	{ EVERY_LEVEL, APF, "current_limit_seats",
	  LEVEL_U32(current_seats),
	  "CurrentCL: the seats that it may use at present" },
	{ EVERY_LEVEL, APF, "demand_seats_high_watermark",
	  LEVEL_U32(demand_high_watermark),
	  "Most seats in use and waited for in the last adjustment period" },
	{ EVERY_LEVEL, APF, "demand_seats_average",
	  LEVEL_U64(demand_average, FIXED),
	  "Seats in use and waited for, on average over the last adjustment period" },
	{ EVERY_LEVEL, APF, "demand_seats_stdev",
	  LEVEL_U64(demand_stdev, FIXED),
	  "Standard deviation of the same" },
	{ EVERY_LEVEL, APF, "demand_seats_smoothed",
	  LEVEL_U64(demand_smoothed, FIXED),
	  "Average and deviation, rising at once and coming down slowly" },
	{ EVERY_LEVEL, APF, "target_seats", LEVEL_U64(target_seats, FIXED),
	  "Seats that the last adjustment would have given if there were enough" },
	{ LIMITED_LEVELS, APF, "current_r",
	  LEVEL_U64(current_r, SEAT_SECONDS),
	  "R, the virtual time, when it last moved, in seat-seconds" },
	{ QUEUE_LEVELS, APF, "dispatch_r",
	  LEVEL_U64(dispatch_r, SEAT_SECONDS),
	  "R when a request was last dispatched from a queue" },
	{ QUEUE_LEVELS, APF, "latest_s", LEVEL_U64(latest_s, SEAT_SECONDS),
	  "S, the virtual time at which that request began" },
	{ LIMITED_LEVELS, OWN, "retry_after_seconds",
	  LEVEL_U32(retry_after),
	  "What a client would be told that is refused now" },
	{ EVERY_LEVEL, OWN, "lingering_requests",
	  LEVEL_U32(lingering_requests),
	  "Requests that have finished and still hold their seats" },
};

static bool in_scope(enum level_scope scope, enum kapf_level_type type)
{
	return scope == EVERY_LEVEL || type == KAPF_LEVEL_QUEUE ||
	       (scope == LIMITED_LEVELS && type == KAPF_LEVEL_REJECT);
}

static void write_level_gauges(FILE *to, const struct state *state)
{
	uint32_t level;
	size_t i;

	for (i = 0; i < SIZE(level_families); i++) {
		const struct level_family *family = &level_families[i];

		write_family(to, family->prefix, family->name, "gauge",
			     family->help);
		for (level = 0; level < state->stats.nr_levels; level++) {
			const struct kapf_level_stats *stats =
				&state->levels[level];

			if (in_scope(family->scope, stats->type))
				fprintf(to, "%s%s{priority_level=\"%s\"} %.15g\n",
					family->prefix, family->name,
					stats->name,
					field_value(stats, family->field));
		}
	}
}

static void write_epochs(FILE *to, const struct state *state)
{
	static const char name[] = "epoch_advance_total";
	uint32_t i;

	write_family(to, APF, name, "counter",
		     "Always 0: this virtual time has no epochs, it may wrap");
	for (i = 0; i < state->stats.nr_levels; i++)
		if (in_scope(LIMITED_LEVELS, state->levels[i].type))
			fprintf(to,
				APF "%s{priority_level=\"%s\",success=\"true\"} 0\n",
				name, state->levels[i].name);
}

static void write_draining(FILE *to, const struct state *state)
{
	uint32_t i;

	write_family(to, OWN, "level_draining", "gauge",
		     "1 for a level that was deleted and still has requests");
	for (i = 0; i < state->stats.nr_levels; i++)
		fprintf(to, OWN "level_draining{priority_level=\"%s\"} %u\n",
			state->levels[i].name,
			!!(state->levels[i].flags & KAPF_STATS_DRAINING));
}

/*
 * Where in virtual time the next requests of a level's queues begin, less, with
 * @is_discounted, what those that execute are taken to need.
 */
static void write_bounds(FILE *to, const struct gathering *gathering,
			 const struct kapf_level_stats *level,
			 const char *name, bool is_discounted)
{
	const struct queues *queues = &gathering->queues;
	double least = 0, most = 0;
	bool any = false;
	size_t i;

	for (i = 0; i < queues->nr; i++) {
		const struct kapf_queue_info *queue = &queues->all[i];
		/* Both may have wrapped, but are not far from each other. */
		double s = ((double)level->current_r +
			    (int64_t)(queue->next_dispatch_r -
				      level->current_r)) * SEAT_SECONDS;

		if (queue->level != level->id || !queue->waiting_requests)
			continue;
		if (is_discounted)
			s -= (double)queue->seats_in_use *
			     KAPF_GUESSED_SERVICE_NS / NSEC_PER_SEC;
		if (!any || s < least)
			least = s;
		if (!any || s > most)
			most = s;
		any = true;
	}
	if (any)
		fprintf(to,
			APF "%s{priority_level=\"%s\",bound=\"min\"} %.15g\n"
			APF "%s{priority_level=\"%s\",bound=\"max\"} %.15g\n",
			name, level->name, least, name, level->name, most);
}

static void write_all_bounds(FILE *to, const struct gathering *gathering,
			     const char *name, bool is_discounted,
			     const char *help)
{
	const struct state *state = &gathering->state;
	uint32_t i;

	write_family(to, APF, name, "gauge", help);
	for (i = 0; i < state->stats.nr_levels; i++)
		write_bounds(to, gathering, &state->levels[i], name,
			     is_discounted);
}

/*
 * ---------------------------------------------------------------------------
 * Of schemas
 */

/**
 * struct schema_family - what becomes of a number that schemas have
 * @prefix: of the metric
 * @name: of the metric, which several numbers may share, one after the other
 * @reason: label that tells these apart; "": there is none
 * @is_counter: it only grows
 * @is_limited: exempt schemas have no such thing
 * @field: the number
 * @help: what it says
 */
struct schema_family {
	const char *prefix;
	const char *name;
	const char *reason;
	bool is_counter;
	bool is_limited;
	struct field field;
	const char *help;
};

#define SCHEMA_U32(member) U32(kapf_schema_stats, member, WHOLE)
#define SCHEMA_U64(member) U64(kapf_schema_stats, member, WHOLE)

static const struct schema_family schema_families[] = {
	{ APF, "rejected_requests_total", ",reason=\"queue-full\"", true, true,
	  SCHEMA_U64(rejected_queue_full),
	  "Requests that were not seated, by reason" },
	{ APF, "rejected_requests_total", ",reason=\"concurrency-limit\"", true,
	  true, SCHEMA_U64(rejected_concurrency_limit), NULL },
	{ APF, "rejected_requests_total", ",reason=\"time-out\"", true, true,
	  SCHEMA_U64(rejected_time_out), NULL },
	{ APF, "rejected_requests_total", ",reason=\"cancelled\"", true, true,
	  SCHEMA_U64(rejected_cancelled), NULL },
	{ APF, "dispatched_requests_total", "", true, false,
	  SCHEMA_U64(dispatched), "Requests that were seated" },
	{ APF, "request_dispatch_no_accommodation_total", "", true, true,
	  SCHEMA_U64(no_accommodation),
	  "Times that seats were free, but too few for the request whose turn it was" },
	{ APF, "current_inqueue_requests", "", false, true,
	  SCHEMA_U32(waiting_requests), "Requests that wait in queues" },
	{ APF, "current_inqueue_seats", "", false, true,
	  SCHEMA_U64(waiting_seats), "The sum of their widths" },
	{ APF, "current_executing_requests", "", false, false,
	  SCHEMA_U32(executing_requests),
	  "Requests that execute, watches only until their initial events are sent" },
	{ APF, "current_executing_seats", "", false, false,
	  SCHEMA_U64(seats_in_use),
	  "Seats in use, also those of requests that have finished and keep them a while" },
	{ OWN, "passing_requests", "", false, true,
	  SCHEMA_U32(passing_requests),
	  "Requests that execute without seats, in the modes observe and off" },
	{ OWN, "observed_rejected_requests_total", ",reason=\"queue-full\"",
	  true, true, SCHEMA_U64(observed.queue_full),
	  "Requests that would not have been seated, in the mode observe, by reason" },
	{ OWN, "observed_rejected_requests_total",
	  ",reason=\"concurrency-limit\"", true, true,
	  SCHEMA_U64(observed.concurrency_limit), NULL },
	{ OWN, "observed_rejected_requests_total", ",reason=\"time-out\"", true,
	  true, SCHEMA_U64(observed.time_out), NULL },
	{ OWN, "observed_rejected_requests_total", ",reason=\"cancelled\"",
	  true, true, SCHEMA_U64(observed.cancelled), NULL },
	{ OWN, "observed_dispatched_requests_total", "", true, true,
	  SCHEMA_U64(observed.dispatched),
	  "Requests that would have been seated, in the mode observe" },
};

static void write_schemas(FILE *to, const struct gathering *gathering)
{
	size_t i, j;

	for (i = 0; i < SIZE(schema_families); i++) {
		const struct schema_family *family = &schema_families[i];

		if (family->help)
			write_family(to, family->prefix, family->name,
				     family->is_counter ? "counter" : "gauge",
				     family->help);
		for (j = 0; j < gathering->nr_schemas; j++) {
			const struct schema_series *series =
				&gathering->schemas[j];

			if (family->is_limited &&
			    series->type == KAPF_LEVEL_EXEMPT)
				continue;
			fprintf(to,
				"%s%s{priority_level=\"%s\",flow_schema=\"%s\"%s} %.15g\n",
				family->prefix, family->name, series->level,
				series->schema, family->reason,
				field_value(family->is_counter ?
					    series->counts : &series->present,
					    family->field));
		}
	}
}

/*
 * ---------------------------------------------------------------------------
 * Of servers
 */

struct server_family {
	const char *name;
	struct field field;
	const char *help;
};

#define SERVER_U32(member) U32(server_series, member, WHOLE)

static const struct server_family server_families[] = {
	{ "sessions", SERVER_U32(nr), "Sessions of servers that are attached" },
	{ "session_slots", SERVER_U32(sum.slots),
	  "Requests that they may have in flight" },
	{ "session_seats_in_use", SERVER_U32(sum.seats_in_use),
	  "Seats that they hold" },
	{ "session_executing_requests", SERVER_U32(sum.executing_requests),
	  "Requests of theirs that execute" },
	{ "session_waiting_requests", SERVER_U32(sum.waiting_requests),
	  "Requests of theirs that wait in queues" },
};

static void write_servers(FILE *to, const struct gathering *gathering)
{
	size_t i, j;

	for (i = 0; i < SIZE(server_families); i++) {
		const struct server_family *family = &server_families[i];

		write_family(to, OWN, family->name, "gauge", family->help);
		for (j = 0; j < gathering->nr_servers; j++) {
			const struct server_series *server =
				&gathering->servers[j];

			fprintf(to, OWN "%s{server=\"%s\",tenant=\"%s\"} %.15g\n",
				family->name, server->sum.server,
				server->sum.tenant,
				field_value(server, family->field));
		}
	}
}

/*
 * ---------------------------------------------------------------------------
 * Of the instance
 */

static void write_number(FILE *to, const char *prefix, const char *name,
			 const char *help, double value)
{
	write_family(to, prefix, name, "gauge", help);
	fprintf(to, "%s%s %.15g\n", prefix, name, value);
}

/* By what requests do, as kube-apiserver counts them outside of its queues, too. */
static void write_kinds(FILE *to, const char *name, const char *help,
			uint32_t read_only, uint32_t mutating)
{
	static const char prefix[] = "apiserver_";

	write_family(to, prefix, name, "gauge", help);
	fprintf(to,
		"%s%s{request_kind=\"readOnly\"} %u\n%s%s{request_kind=\"mutating\"} %u\n",
		prefix, name, read_only, prefix, name, mutating);
}

static void write_mode(FILE *to, uint32_t mode)
{
	static const uint32_t modes[] = {
		KAPF_MODE_ENFORCE, KAPF_MODE_OBSERVE, KAPF_MODE_OFF
	};
	size_t i;

	write_family(to, OWN, "mode", "gauge",
		     "1 for the mode that the instance is in");
	for (i = 0; i < SIZE(modes); i++)
		fprintf(to, OWN "mode{mode=\"%s\"} %u\n", mode_name(modes[i]),
			modes[i] == mode);
}

static void write_instance(FILE *to, const struct gathering *gathering)
{
	const struct kapf_get_stats *stats = &gathering->state.stats;

	write_family(to, OWN, "build_info", "gauge",
		     "1; which kapfctl this is, and which interface the module has");
	fprintf(to, OWN "build_info{version=\"%s\",abi=\"%u\"} 1\n",
		KAPF_VERSION, gathering->info.abi);
	write_mode(to, stats->mode);
	write_number(to, OWN, "server_limit_seats",
		     "ServerCL: the budget that all levels share",
		     stats->server_seats);
	write_number(to, OWN, "configuration_generation",
		     "How often the configuration has changed",
		     stats->generation);
	write_number(to, APF, "seat_fair_frac",
		     "What part of its target each level got that was neither at its lower nor at its upper limit; 0: there was none",
		     stats->fair_frac * FIXED);
	write_kinds(to, "current_inqueue_requests",
		    "Requests that wait in queues, by kind",
		    stats->waiting_read_only_requests,
		    stats->waiting_mutating_requests);
	write_kinds(to, "current_inflight_requests",
		    "Requests that execute, by kind",
		    stats->executing_read_only_requests,
		    stats->executing_mutating_requests);
}

/**
 * write_metrics() - write all metrics
 * @to: where
 * @gathering: what they are made of
 */
void write_metrics(FILE *to, const struct gathering *gathering)
{
	write_instance(to, gathering);
	write_level_gauges(to, &gathering->state);
	write_epochs(to, &gathering->state);
	write_draining(to, &gathering->state);
	write_all_bounds(to, gathering, "next_s_bounds", false,
			 "Least and largest S of the next requests of all queues where any wait");
	write_all_bounds(to, gathering, "next_discounted_s_bounds", true,
			 "The same, less what requests in execution are taken to need");
	write_schemas(to, gathering);
	write_servers(to, gathering);
	write_histograms(to, gathering);
}
