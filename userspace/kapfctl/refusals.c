// SPDX-License-Identifier: GPL-2.0
/*
 * The requests that a level or a schema has refused, by reason, and what they ask
 * for.
 */
#include <string.h>

#include "describe.h"

static const char *const reason_names[] = {
	[QUEUE_FULL] = "queue-full",
	[CONCURRENCY_LIMIT] = "concurrency-limit",
	[TIME_OUT] = "time-out",
	[CANCELLED] = "cancelled",
};

static const char *asked_by_limit(const struct kapf_level_stats *level)
{
	if (level->type == KAPF_LEVEL_QUEUE)
		return "the servers, which did not want these requests queued";
	if (!strcmp(level->name, "catch-all"))
		return "another schema: one for these requests, which no other matches";
	return "queues (limitResponse Queue), or more seats (nominalConcurrencyShares)";
}

static const char *asked_by_time_out(const struct kapf_level_stats *level)
{
	if (level->current_seats < level->nominal_seats)
		return "more seats, so lend fewer (lendablePercent), not longer queues";
	if (level->current_seats >= level->max_seats)
		return "more seats (more shares, or borrowingLimitPercent), not longer queues";
	return "more seats (nominalConcurrencyShares), not longer queues";
}

/*
 * Longer queues take a burst; of a load that lasts they only make time-outs.
 * handSize is no remedy: a larger hand lets a light flow find a queue that is not
 * full more often, and a heavy one fill more queues.
 */
static const char full_queue_asks[] =
	"longer queues (queueLengthLimit) for bursts; else more seats, or a level for a heavy flow";

/* What would have been needed instead. */
static const char *asked_by(const struct refusals *refusals, enum reason reason)
{
	switch (reason) {
	case QUEUE_FULL:
		return full_queue_asks;
	case CONCURRENCY_LIMIT:
		return asked_by_limit(refusals->level);
	case TIME_OUT:
		return asked_by_time_out(refusals->level);
	default:
		return "shorter waits, so more seats, if clients gave up; else nothing";
	}
}

/**
 * print_refusals() - print them, with what was lacking
 * @refusals: they
 */
void print_refusals(const struct refusals *refusals)
{
	enum reason reason;

	printf("Rejected:\n");
	for (reason = 0; reason < NR_REASONS; reason++) {
		uintmax_t nr = refusals->nr[reason];
		uintmax_t observed = refusals->observed[reason];

		if (observed)
			say(2, reason_names[reason],
			    "%ju, and in mode observe %ju; asks for %s", nr,
			    observed, asked_by(refusals, reason));
		else if (nr)
			say(2, reason_names[reason], "%ju; asks for %s", nr,
			    asked_by(refusals, reason));
		else
			say(2, reason_names[reason], "0");
	}
}

/**
 * refusals_tree() - the same as JSON
 * @refusals: they
 */
struct json_object *refusals_tree(const struct refusals *refusals)
{
	struct json_object *list = tree_list();
	enum reason reason;

	for (reason = 0; reason < NR_REASONS; reason++) {
		uint64_t nr = refusals->nr[reason];
		uint64_t observed = refusals->observed[reason];
		struct json_object *tree = tree_map();

		tree_add(tree, "reason", tree_text(reason_names[reason]));
		tree_add(tree, "requests", tree_number(nr));
		tree_add(tree, "observed_requests", tree_number(observed));
		tree_add(tree, "asks_for", nr || observed ?
			 tree_text(asked_by(refusals, reason)) : NULL);
		tree_append(list, tree);
	}
	return list;
}

static void take_observed(struct refusals *refusals,
			  const struct kapf_observed *observed)
{
	refusals->observed[QUEUE_FULL] = observed->queue_full;
	refusals->observed[CONCURRENCY_LIMIT] = observed->concurrency_limit;
	refusals->observed[TIME_OUT] = observed->time_out;
	refusals->observed[CANCELLED] = observed->cancelled;
}

/**
 * level_refusals() - what a level has refused
 * @stats: of the level, to which a pointer is kept
 */
struct refusals level_refusals(const struct kapf_level_stats *stats)
{
	struct refusals refusals = {
		.level = stats,
		.nr = {
			[QUEUE_FULL] = stats->rejected_queue_full,
			[CONCURRENCY_LIMIT] = stats->rejected_concurrency_limit,
			[TIME_OUT] = stats->rejected_time_out,
			[CANCELLED] = stats->rejected_cancelled,
		},
	};

	take_observed(&refusals, &stats->observed);
	return refusals;
}

/**
 * schema_refusals() - what was refused of a schema
 * @state: that has its level, to which a pointer is kept
 * @stats: of the schema
 */
struct refusals schema_refusals(const struct state *state,
				const struct kapf_schema_stats *stats)
{
	struct refusals refusals = {
		.level = level_stats(state, stats->level),
		.nr = {
			[QUEUE_FULL] = stats->rejected_queue_full,
			[CONCURRENCY_LIMIT] = stats->rejected_concurrency_limit,
			[TIME_OUT] = stats->rejected_time_out,
			[CANCELLED] = stats->rejected_cancelled,
		},
	};

	take_observed(&refusals, &stats->observed);
	return refusals;
}
