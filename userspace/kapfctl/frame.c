// SPDX-License-Identifier: GPL-2.0
/*
 * What top shows, out of two readings: the levels, with what happened in them, and
 * the flows that have most requests in flight.
 */
#include <stdlib.h>
#include <string.h>

#include "frame.h"

const char *const sort_names[NR_SORT_KEYS] = {
	[SORT_SEATS] = "seats",
	[SORT_WAITING] = "waiting",
	[SORT_DISPATCHED] = "dispatched",
	[SORT_REFUSED] = "refused",
	[SORT_NAME] = "name",
};

/* The histogram of the waits of all requests that a level had at a reading. */
static void add_waits(struct kapf_histogram_info *waits,
		      const struct reading *reading, uint32_t level)
{
	size_t i;
	uint32_t bucket;

	*waits = (struct kapf_histogram_info){ .kind = KAPF_HISTOGRAM_WAIT };
	for (i = 0; i < reading->nr_histograms; i++) {
		const struct kapf_histogram_info *one = &reading->histograms[i];

		if (one->kind != KAPF_HISTOGRAM_WAIT || one->level != level)
			continue;
		waits->buckets = one->buckets;
		memcpy(waits->bounds, one->bounds, sizeof(waits->bounds));
		for (bucket = 0; bucket < one->buckets; bucket++)
			waits->counts[bucket] += one->counts[bucket];
	}
}

/*
 * The value below which @part of the others are, in s: within a bucket they are
 * taken to lie evenly, and what is above the last bound to be that, as Prometheus'
 * histogram_quantile() does.
 */
static double quantile(const struct kapf_histogram_info *waits, uint64_t all,
		       double part)
{
	double left = part * all, from = 0;
	uint32_t i;

	for (i = 0; i + 1 < waits->buckets; i++) {
		double bound = waits->bounds[i] / (double)NSEC_PER_SEC;

		if (waits->counts[i] && left <= waits->counts[i])
			return from + (bound - from) * left / waits->counts[i];
		left -= waits->counts[i];
		from = bound;
	}
	return from;
}

static void find_waits(struct level_row *row, const struct reading *first,
		       const struct reading *second)
{
	struct kapf_histogram_info before, waits;
	uint32_t i;

	add_waits(&before, first, row->stats->id);
	add_waits(&waits, second, row->stats->id);
	for (i = 0; i < waits.buckets; i++) {
		waits.counts[i] -= before.counts[i];
		row->waits += waits.counts[i];
	}
	if (!row->waits)
		return;
	row->p50 = quantile(&waits, row->waits, 0.5);
	row->p99 = quantile(&waits, row->waits, 0.99);
}

static double sort_value(const struct level_row *row, enum sort_key sort)
{
	switch (sort) {
	case SORT_SEATS:
		return row->stats->seats_in_use;
	case SORT_WAITING:
		return row->stats->waiting_requests;
	case SORT_DISPATCHED:
		return row->pace.dispatched;
	case SORT_REFUSED:
		return row->pace.refused;
	default:
		return 0;
	}
}

static int compare_levels(const void *one, const void *other, void *sort)
{
	const struct level_row *a = one, *b = other;
	double value_a = sort_value(a, *(enum sort_key *)sort);
	double value_b = sort_value(b, *(enum sort_key *)sort);

	if (value_a != value_b)
		return value_a < value_b ? 1 : -1;
	return strcmp(a->stats->name, b->stats->name);
}

static void add_levels(struct frame *frame, const struct reading *first,
		       enum sort_key sort)
{
	const struct state *state = &frame->reading->state;
	uint32_t i;

	frame->levels = need(calloc(state->stats.nr_levels + 1,
				    sizeof(*frame->levels)));
	for (i = 0; i < state->stats.nr_levels; i++) {
		struct level_row *row = &frame->levels[frame->nr_levels++];

		row->stats = &state->levels[i];
		level_pace(&row->pace, first, frame->reading, row->stats->id);
		find_waits(row, first, frame->reading);
	}
	qsort_r(frame->levels, frame->nr_levels, sizeof(*frame->levels),
		compare_levels, &sort);
}

static int compare_identities(const void *one, const void *other)
{
	const struct flow_row *a = one, *b = other;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return strcmp(a->distinguisher, b->distinguisher);
}

static int compare_flows(const void *one, const void *other)
{
	const struct flow_row *a = one, *b = other;
	uint64_t busy_a = a->seats + a->waiting, busy_b = b->seats + b->waiting;

	if (busy_a != busy_b)
		return busy_a < busy_b ? 1 : -1;
	return compare_identities(one, other);
}

static struct flow_row flow_of(const struct request *request,
			       const struct state *state)
{
	const struct kapf_request_info *info = &request->info;
	bool seated = info->state != KAPF_REQUEST_WAITING;
	unsigned int width = info->initial_seats > info->final_seats ?
			     info->initial_seats : info->final_seats;

	return (struct flow_row){
		.schema = schema_stats(state, info->schema)->name,
		.distinguisher = request->label[LABEL_DISTINGUISHER],
		.id = info->schema,
		.seats = seated ? width : 0,
		.executing = seated,
		.waiting = !seated,
	};
}

/* Requests side by side that are of one flow become one row. */
static void add_flows(struct frame *frame)
{
	const struct reading *reading = frame->reading;
	struct flow_row *flows;
	size_t i, last = 0;

	flows = need(calloc(reading->nr_requests + 1, sizeof(*flows)));
	for (i = 0; i < reading->nr_requests; i++)
		flows[i] = flow_of(&reading->requests[i], &reading->state);
	qsort(flows, reading->nr_requests, sizeof(*flows), compare_identities);
	for (i = 1; i < reading->nr_requests; i++) {
		if (compare_identities(&flows[last], &flows[i])) {
			flows[++last] = flows[i];
			continue;
		}
		flows[last].seats += flows[i].seats;
		flows[last].executing += flows[i].executing;
		flows[last].waiting += flows[i].waiting;
	}
	frame->flows = flows;
	frame->nr_flows = reading->nr_requests ? last + 1 : 0;
	qsort(flows, frame->nr_flows, sizeof(*flows), compare_flows);
}

/**
 * make_frame() - what top shows
 * @frame: out, to be freed before the later reading
 * @first: a reading
 * @second: a later one
 * @sort: order of the levels
 */
void make_frame(struct frame *frame, const struct reading *first,
		const struct reading *second, enum sort_key sort)
{
	*frame = (struct frame){
		.reading = second,
		.seconds = seconds_between(first, second),
	};
	add_levels(frame, first, sort);
	add_flows(frame);
}

/**
 * free_frame() - free what make_frame() made
 * @frame: it
 */
void free_frame(struct frame *frame)
{
	free(frame->levels);
	free(frame->flows);
}
