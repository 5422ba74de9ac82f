// SPDX-License-Identifier: GPL-2.0
/*
 * Histograms as metrics.
 */
#include <stdio.h>

#include "metrics.h"

/* Units: of durations, of ratios, of how long a ratio was so (ns), of counts. */
#define NANO (1.0 / NSEC_PER_SEC)
#define MILLI (1.0 / 1000)
#define ONE 1

/**
 * struct histogram_family - what becomes of a kind of histogram
 * @kind: which
 * @name: of the metric, which several kinds may share, one after the other
 * @labels: that tell these apart
 * @bound_unit: that bounds are multiples of
 * @sum_unit: that sums are multiples of
 * @help: what it says
 */
struct histogram_family {
	enum kapf_histogram_kind kind;
	const char *name;
	const char *labels;
	double bound_unit;
	double sum_unit;
	const char *help;
};

#define WEIGHS "; each nanosecond counts as one observation"

static const struct histogram_family families[] = {
	{ KAPF_HISTOGRAM_QUEUE_LENGTH, "request_queue_length_after_enqueue",
	  "", ONE, ONE,
	  "Requests waiting in the queue that a request came into, itself included" },
	{ KAPF_HISTOGRAM_WAIT, "request_wait_duration_seconds",
	  "execute=\"true\"", NANO, NANO,
	  "How long requests waited; execute is false for those refused on arrival" },
	{ KAPF_HISTOGRAM_REFUSED_WAIT, "request_wait_duration_seconds",
	  "execute=\"false\"", NANO, NANO, "" },
	{ KAPF_HISTOGRAM_EXECUTION, "request_execution_seconds",
	  "type=\"regular\"", NANO, NANO,
	  "How long requests executed, watches only until their initial events were sent" },
	{ KAPF_HISTOGRAM_WATCH_EXECUTION, "request_execution_seconds",
	  "type=\"watch\"", NANO, NANO, "" },
	{ KAPF_HISTOGRAM_ESTIMATED_SEATS, "work_estimated_seats", "", ONE, ONE,
	  "Width of each request that came: the larger of its initial and final seats" },
	{ KAPF_HISTOGRAM_WATCH_COUNT, "watch_count_samples", "", ONE, ONE,
	  "Watches that a request was said to concern" },
	{ KAPF_HISTOGRAM_SEATS, "priority_level_seat_utilization",
	  "phase=\"executing\"", MILLI, ONE,
	  "Seats in use as a part of the current limit" WEIGHS },
	{ KAPF_HISTOGRAM_WAITING, "priority_level_request_utilization",
	  "phase=\"waiting\"", MILLI, ONE,
	  "Requests as a part of the current limit in seats, or of the room in all queues" WEIGHS },
	{ KAPF_HISTOGRAM_EXECUTING, "priority_level_request_utilization",
	  "phase=\"executing\"", MILLI, ONE, "" },
	{ KAPF_HISTOGRAM_DEMAND, "demand_seats", "", MILLI, ONE,
	  "Seats in use and waited for as a part of the current limit" WEIGHS },
	{ KAPF_HISTOGRAM_WAITING_READ_ONLY, "read_vs_write_current_requests",
	  "phase=\"waiting\",request_kind=\"readOnly\"", MILLI, ONE,
	  "Requests as a part of the seats, or of the room in all queues, of all levels" WEIGHS },
	{ KAPF_HISTOGRAM_WAITING_MUTATING, "read_vs_write_current_requests",
	  "phase=\"waiting\",request_kind=\"mutating\"", MILLI, ONE, "" },
	{ KAPF_HISTOGRAM_EXECUTING_READ_ONLY, "read_vs_write_current_requests",
	  "phase=\"executing\",request_kind=\"readOnly\"", MILLI, ONE, "" },
	{ KAPF_HISTOGRAM_EXECUTING_MUTATING, "read_vs_write_current_requests",
	  "phase=\"executing\",request_kind=\"mutating\"", MILLI, ONE, "" },
};

#define NR_FAMILIES (sizeof(families) / sizeof(*families))

/* All labels, without the braces; there always are some. */
static void write_labels(FILE *to, const struct histogram_family *family,
			 const struct histogram_series *series)
{
	fputs(family->labels, to);
	if (*series->level)
		fprintf(to, "%spriority_level=\"%s\"",
			*family->labels ? "," : "", series->level);
	if (*series->schema)
		fprintf(to, ",flow_schema=\"%s\"", series->schema);
}

static void write_series(FILE *to, const struct histogram_family *family,
			 const struct histogram_series *series)
{
	const struct kapf_histogram_info *info = series->info;
	uint64_t count = 0;
	uint32_t i;

	for (i = 0; i < info->buckets; i++) {
		count += info->counts[i];
		fprintf(to, APF "%s_bucket{", family->name);
		write_labels(to, family, series);
		if (i == info->buckets - 1)
			fputs(",le=\"+Inf\"}", to);
		else
			fprintf(to, ",le=\"%g\"}",
				info->bounds[i] * family->bound_unit);
		fprintf(to, " %ju\n", (uintmax_t)count);
	}
	fprintf(to, APF "%s_sum{", family->name);
	write_labels(to, family, series);
	fprintf(to, "} %.15g\n", info->sum * family->sum_unit);
	fprintf(to, APF "%s_count{", family->name);
	write_labels(to, family, series);
	fprintf(to, "} %ju\n", (uintmax_t)count);
}

/**
 * write_histograms() - write the metrics that are histograms
 * @to: where
 * @gathering: of which
 */
void write_histograms(FILE *to, const struct gathering *gathering)
{
	size_t i, j;

	for (i = 0; i < NR_FAMILIES; i++) {
		if (*families[i].help)
			write_family(to, APF, families[i].name, "histogram",
				     families[i].help);
		for (j = 0; j < gathering->nr_series; j++)
			if (gathering->series[j].info->kind ==
			    families[i].kind)
				write_series(to, &families[i],
					     &gathering->series[j]);
	}
}
