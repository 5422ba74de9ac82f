// SPDX-License-Identifier: GPL-2.0
/*
 * Why a priority level is slow: what two readings say of each cause that there can
 * be, as the factor by which it alone makes the level slower.
 *
 * Requests per second that a level serves are its seats / (seats of a request *
 * time that it holds them), by Little's law.  So requests wait because more arrive
 * than that, or because one of the other three is not what it was.
 */
#include "causes.h"

/* Nothing is told of factors that are nearer to 1. */
#define NOTABLE 1.25

/* Where no seat is left a factor would be infinite. */
#define MAX_FACTOR 1000.0

static double factor(double more, double less)
{
	return more < less * MAX_FACTOR ? more / less : MAX_FACTOR;
}

/**
 * struct served - requests that are no watches and have finished
 * @nr: how many
 * @time: for how long they executed, in sum, ns
 */
struct served {
	uint64_t nr;
	uint64_t time;
};

/* All that a level has served up to a reading. */
static struct served level_served(const struct reading *reading, uint32_t level)
{
	struct served served = { .nr = 0 };
	size_t i;
	uint32_t bucket;

	for (i = 0; i < reading->nr_histograms; i++) {
		const struct kapf_histogram_info *info =
			&reading->histograms[i];

		if (info->kind != KAPF_HISTOGRAM_EXECUTION ||
		    info->level != level)
			continue;
		served.time += info->sum;
		for (bucket = 0; bucket < info->buckets; bucket++)
			served.nr += info->counts[bucket];
	}
	return served;
}

/* Their mean, in s; 0: there are none. */
static double mean_service(struct served served)
{
	return served.nr ? served.time / (double)NSEC_PER_SEC / served.nr : 0;
}

static double mean_width(const struct kapf_level_stats *level)
{
	unsigned int requests = level->executing_requests +
				level->lingering_requests +
				level->waiting_requests;

	return requests ? (level->seats_in_use + level->waiting_seats) /
			  (double)requests : 1;
}

/* Those that have held their seats since before the first reading. */
static void find_long(struct causes *causes, const struct reading *first,
		      const struct reading *second)
{
	size_t i;

	for (i = 0; i < second->nr_requests; i++) {
		const struct kapf_request_info *info =
			&second->requests[i].info;
		unsigned int width = info->initial_seats > info->final_seats ?
				     info->initial_seats : info->final_seats;

		if (info->level != causes->level->id || !info->start ||
		    info->start >= first->time)
			continue;
		causes->nr_long++;
		causes->long_seats += width;
		if (second->time - info->start > causes->oldest)
			causes->oldest = second->time - info->start;
	}
}

static void weigh(struct causes *causes)
{
	double usual = causes->usual ? causes->usual : causes->service;
	double left = (double)causes->limit - causes->long_seats;

	causes->factors[CAUSE_ARRIVALS] =
		factor(causes->pace.arrivals * usual * causes->width,
		       causes->full);
	causes->factors[CAUSE_SERVICE] = causes->usual && causes->service ?
		factor(causes->service, causes->usual) : 1;
	causes->factors[CAUSE_LIMIT] = factor(causes->full, causes->limit);
	causes->factors[CAUSE_LONG] = causes->long_seats ?
		factor(causes->limit, left > 0 ? left : 0) : 1;
}

static bool is_slow(const struct kapf_level_stats *a,
		    const struct kapf_level_stats *b, const struct pace *pace)
{
	return a->waiting_requests || b->waiting_requests || pace->refused;
}

/**
 * find_causes() - why is a level slow, if it is?
 * @causes: out
 * @first: a reading
 * @second: a later one, of which @causes keeps a pointer
 * @level: limited; of the later reading
 */
void find_causes(struct causes *causes, const struct reading *first,
		 const struct reading *second,
		 const struct kapf_level_stats *level)
{
	const struct kapf_level_stats *before = level_stats(&first->state,
							    level->id);
	struct served usual = level_served(first, level->id);
	struct served all = level_served(second, level->id);
	enum cause cause;

	*causes = (struct causes){
		.level = level,
		.width = mean_width(level),
		.service = mean_service((struct served){
			.nr = all.nr - usual.nr,
			.time = all.time - usual.time,
		}),
		.usual = mean_service(usual),
		.limit = level->current_seats,
		.full = level->nominal_seats,
		.before = before->current_seats,
	};
	if (causes->full < before->current_seats)
		causes->full = before->current_seats;
	level_pace(&causes->pace, first, second, level->id);
	find_long(causes, first, second);
	weigh(causes);
	causes->slow = is_slow(before, level, &causes->pace);
	/* Where all else is as it was, there is more to do. */
	causes->cause = CAUSE_ARRIVALS;
	for (cause = 0; cause < NR_CAUSES; cause++)
		if (causes->factors[cause] >= NOTABLE &&
		    causes->factors[cause] > causes->factors[causes->cause])
			causes->cause = cause;
}
