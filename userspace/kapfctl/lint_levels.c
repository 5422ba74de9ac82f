// SPDX-License-Identifier: GPL-2.0
/*
 * What kapfctl lint says of priority levels: whether there is one, whether it is
 * used, and what its shares make of it and of the others.
 */
#include <string.h>

#include "lint.h"

/*
 * A level that has at most this part of the seats that its requests would have
 * without it is there to hold them back.
 */
#define SMALL_PART 8

/* The next limited level of a file; after NULL the first one */
static const struct kapf_priority_level *
next_own(const struct lint *lint, const struct kapf_priority_level *level)
{
	const struct kapf_priority_level *end =
		lint->config->levels + lint->config->nr_levels;

	level = level ? level + 1 : lint->config->levels;
	while (level < end &&
	       (!level->meta.file || level->type == KAPF_LEVEL_EXEMPT))
		level++;
	return level < end ? level : NULL;
}

void find_dangling(struct lint *lint)
{
	size_t i;

	for (i = 0; i < lint->config->nr_schemas; i++) {
		const struct kapf_flow_schema *schema =
			&lint->config->schemas[i];

		if (schema->dangling && schema->meta.file)
			report(lint, ERROR,
			       schema_place(schema, "spec.priorityLevelConfiguration.name"),
			       "Such a schema matches nothing; its requests go to those behind it.",
			       "Correct the name, or give the level, too.",
			       "the priority level \"%s\" is neither given nor a default one",
			       schema->level);
	}
}

static bool is_used(const struct lint *lint, const char *level)
{
	size_t i;

	for (i = 0; i < lint->config->nr_schemas; i++)
		if (!strcmp(lint->config->schemas[i].level, level))
			return true;
	return false;
}

void find_unused(struct lint *lint)
{
	const struct kapf_priority_level *level = NULL;

	while ((level = next_own(lint, level)))
		if (!is_used(lint, level->name))
			report(lint, WARNING, level_place(level, ""),
			       "No request ever comes to it, but its shares take seats from all others.",
			       "Name it in a FlowSchema, or remove it.",
			       "no FlowSchema names it; it has %u seat%s",
			       level->nominal_seats,
			       plural(level->nominal_seats));
}

/* Percents of no seats are no seats, to lend and to borrow. */
void find_no_seats(struct lint *lint)
{
	static const char field[] = "spec.limited.nominalConcurrencyShares";
	const struct kapf_priority_level *level = NULL;

	while ((level = next_own(lint, level))) {
		if (level->nominal_shares)
			continue;
		if (level->borrowing_limit_percent != KAPF_BORROWING_UNLIMITED)
			report(lint, ERROR, level_place(level, field),
			       "All of its requests wait in vain, or are rejected.",
			       "Give it a share; a limit of borrowing is a part of that.",
			       "has no share of the seats, and may borrow %u%% of none",
			       level->borrowing_limit_percent);
		else
			report(lint, WARNING, level_place(level, field),
			       "While the others are busy, all of its requests wait in vain, or are rejected.",
			       "Give it a share, if only of 1.",
			       "has no share of the seats, only what others lend");
	}
}

/*
 * The widest request is min(15 % of the seats, seats div hand size), at least 1:
 * a hand of such requests fills a level of more seats than that only to the last
 * few, which is no mistake but what the formula is for.  It gives out where there
 * are no more seats than queues in a hand.
 */
void find_hand_size(struct lint *lint)
{
	const struct kapf_priority_level *level = NULL;

	while ((level = next_own(lint, level)))
		if (level->type == KAPF_LEVEL_QUEUE && level->nominal_seats &&
		    level->nominal_seats <= level->hand_size)
			report(lint, WARNING,
			       level_place(level, "spec.limited.limitResponse.queuing.handSize"),
			       "One flow can be next in so many queues that it takes all seats, which dealing hands is to prevent; and the widest request counts 1 seat here, so that a large list costs no more than a small one.",
			       "Give it a smaller handSize, or more shares.",
			       "deals hands of %u queues, but has no more than %u seat%s",
			       level->hand_size, level->nominal_seats,
			       plural(level->nominal_seats));
}

/*
 * ---------------------------------------------------------------------------
 * Dilution
 */

static uint64_t sum_of_shares(const struct kapf_configuration *config)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < config->nr_levels; i++)
		sum += config->levels[i].nominal_shares;
	return sum;
}

static uint32_t default_shares(const struct lint *lint, const char *name)
{
	const struct kapf_priority_level *level =
		kapf_config_level(lint->defaults, name);

	return level ? level->nominal_shares : 0;
}

/* How many shares a level has that it would not have by default */
static int64_t more_shares(const struct lint *lint,
			   const struct kapf_priority_level *level)
{
	return (int64_t)level->nominal_shares -
	       default_shares(lint, level->name);
}

/* The largest of those that are as they were; NULL: none */
static const struct kapf_priority_level *largest(const struct lint *lint)
{
	const struct kapf_priority_level *found = NULL;
	size_t i;

	for (i = 0; i < lint->config->nr_levels; i++) {
		const struct kapf_priority_level *level =
			&lint->config->levels[i];

		if (default_shares(lint, level->name) &&
		    !more_shares(lint, level) &&
		    (!found || level->nominal_shares > found->nominal_shares))
			found = level;
	}
	return found;
}

/* NominalCL = ceil(ServerCL * NCS / sum of NCS) */
static unsigned int seats_of(const struct kapf_configuration *config,
			     const struct kapf_priority_level *level,
			     uint64_t sum)
{
	uint64_t seats = (uint64_t)config->max_requests_inflight +
			 config->max_mutating_requests_inflight;

	return (seats * level->nominal_shares + sum - 1) / sum;
}

static void report_dilution(struct lint *lint,
			    const struct kapf_priority_level *level,
			    const char *who, uint64_t before)
{
	const struct kapf_priority_level *other = largest(lint);

	if (other)
		report(lint, WARNING,
		       level_place(level, "spec.limited.nominalConcurrencyShares"),
		       "All levels share one budget: each share takes seats from every other level, the ones of the system among them.",
		       "Give it fewer shares; what others do not use it borrows anyway.",
		       "%s more than half of the seats of others: \"%s\" has %u, and %u without",
		       who, other->name, other->nominal_seats,
		       seats_of(lint->config, other, before));
}

/* All levels of files together; compared with the defaults, and told of one. */
static void find_common_dilution(struct lint *lint, uint64_t sum)
{
	const struct kapf_priority_level *level = NULL, *most = NULL;
	uint64_t before = sum_of_shares(lint->defaults);

	while ((level = next_own(lint, level)))
		if (more_shares(lint, level) > 0 &&
		    (!most || more_shares(lint, level) >
			      more_shares(lint, most)))
			most = level;
	if (most && sum > 2 * before)
		report_dilution(lint, most,
				"and the other levels given take together",
				before);
}

/* Seats go as 1 / sum of shares. */
void find_dilution(struct lint *lint)
{
	const struct kapf_priority_level *level = NULL;
	uint64_t sum = sum_of_shares(lint->config);
	bool found = false;

	while ((level = next_own(lint, level))) {
		int64_t more = more_shares(lint, level);

		if (more <= 0 || sum <= 2 * (sum - more) || sum == (uint64_t)more)
			continue;
		report_dilution(lint, level, "takes", sum - more);
		found = true;
	}
	if (!found)
		find_common_dilution(lint, sum);
}

/*
 * ---------------------------------------------------------------------------
 * Borrowing
 */

/* The level that a schema's requests would go to without it; NULL: none */
static const struct kapf_priority_level *
next_level(const struct lint *lint, const struct kapf_flow_schema *schema)
{
	const struct kapf_configuration *config = lint->config;
	const struct kapf_flow_schema *end = config->schemas + config->nr_schemas;
	const struct kapf_flow_schema *next;

	for (next = schema + 1; next < end; next++)
		if (!next->dangling && kapf_schema_catches(next, schema, NULL))
			return kapf_config_level(config, next->level);
	return NULL;
}

/* The largest level that requests of @level would go to without it; NULL: none */
static const struct kapf_priority_level *
level_without(const struct lint *lint, const struct kapf_priority_level *level)
{
	const struct kapf_priority_level *found = NULL;
	size_t i;

	for (i = 0; i < lint->config->nr_schemas; i++) {
		const struct kapf_flow_schema *schema =
			&lint->config->schemas[i];
		const struct kapf_priority_level *next;

		if (strcmp(schema->level, level->name))
			continue;
		next = next_level(lint, schema);
		if (next && (!found ||
			     next->nominal_seats > found->nominal_seats))
			found = next;
	}
	return found;
}

/*
 * A level can be small to hold requests back, or because they need no more; the
 * latter can say so by any borrowingLimitPercent.
 */
void find_borrowing(struct lint *lint)
{
	const struct kapf_priority_level *level = NULL, *other;

	while ((level = next_own(lint, level))) {
		if (level->borrowing_limit_percent != KAPF_BORROWING_UNLIMITED ||
		    !level->nominal_shares)
			continue;
		other = level_without(lint, level);
		if (other && (uint64_t)level->nominal_shares * SMALL_PART <=
			     other->nominal_shares)
			report(lint, WARNING, level_place(level, "spec.limited"),
			       "It borrows what others do not use, up to all seats, so that it holds its requests back only while the others are busy.",
			       "Say borrowingLimitPercent: 0 if it is to hold them back; if not, say how much it may borrow, in percent of its own seats.",
			       "has %u seat%s for requests that had a share of \"%s\" (%u seats), but may borrow without limit",
			       level->nominal_seats,
			       plural(level->nominal_seats), other->name,
			       other->nominal_seats);
	}
}
