// SPDX-License-Identifier: GPL-2.0
/*
 * A frame of top as text, for a screen and for scripts; and as JSON.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"

#define BAR 24

/* Names are cut to this, so that columns stay where they are. */
#define NAME 24

/* Flows that are shown; a screen may have less room. */
#define MAX_FLOWS 100

static void __attribute__((format(printf, 2, 3)))
add_line(struct lines *lines, const char *format, ...)
{
	va_list args;
	int ret;

	lines->all = need(reallocarray(lines->all, lines->nr + 1,
				       sizeof(*lines->all)));
	va_start(args, format);
	ret = vasprintf(&lines->all[lines->nr], format, args);
	va_end(args);
	if (ret < 0)
		need(NULL);
	lines->nr++;
}

/*
 * Of the larger of the limits, and of what is in use: # in use, - free, . nominal
 * seats that are others' at present.
 */
static void draw_bar(char bar[BAR + 1], const struct kapf_level_stats *stats)
{
	uint64_t current = stats->current_seats, nominal = stats->nominal_seats;
	uint64_t whole = current > nominal ? current : nominal;
	size_t i;

	if (whole < stats->seats_in_use)
		whole = stats->seats_in_use;
	for (i = 0; i < BAR; i++) {
		/* A seat that is in use is seen, however many there are. */
		if (i * whole < stats->seats_in_use * BAR)
			bar[i] = '#';
		else if (i * whole < current * BAR)
			bar[i] = '-';
		else
			bar[i] = whole ? '.' : ' ';
	}
	bar[BAR] = '\0';
}

static void add_level_line(struct lines *lines, const struct level_row *row)
{
	const struct kapf_level_stats *stats = row->stats;
	char bar[BAR + 1], p50[16] = "-", p99[16] = "-";

	draw_bar(bar, stats);
	if (row->waits) {
		snprintf(p50, sizeof(p50), "%.0f", row->p50 * 1000);
		snprintf(p99, sizeof(p99), "%.0f", row->p99 * 1000);
	}
	add_line(lines,
		 "%-*.*s [%s] %6llu %7u %7u %7u %9.1f %7.1f %7.1f %7.1f %7.1f %6s %6s",
		 NAME, NAME, stats->name, bar, stats->seats_in_use,
		 stats->current_seats, stats->nominal_seats,
		 stats->waiting_requests, row->pace.dispatched,
		 row->pace.queue_full, row->pace.concurrency_limit,
		 row->pace.time_out, row->pace.cancelled, p50, p99);
}

static void add_flow_line(struct lines *lines, const struct flow_row *flow)
{
	char *distinguisher = make_printable(flow->distinguisher, "\\");

	add_line(lines, "%-*.*s %6ju %9u %7u %s", NAME, NAME,
		 *flow->schema ? flow->schema : NONE, (uintmax_t)flow->seats,
		 flow->executing, flow->waiting,
		 *distinguisher ? distinguisher : NONE);
	free(distinguisher);
}

static void add_head(struct lines *lines, const struct frame *frame,
		     const char *note)
{
	const struct kapf_get_stats *stats = &frame->reading->state.stats;
	bool observes = stats->mode == KAPF_MODE_OBSERVE;
	unsigned long long in_use = 0, exempt = 0, waiting = 0, passing = 0;
	char now[TIME_ROOM], mode[80] = "";
	size_t i;

	for (i = 0; i < frame->nr_levels; i++) {
		const struct kapf_level_stats *level = frame->levels[i].stats;

		*(level->type == KAPF_LEVEL_EXEMPT ? &exempt : &in_use) +=
			level->seats_in_use;
		waiting += level->waiting_requests;
		passing += level->passing_requests;
	}
	format_time(now, frame->reading->time / NSEC_PER_SEC * NSEC_PER_SEC);
	if (stats->mode != KAPF_MODE_ENFORCE)
		snprintf(mode, sizeof(mode), "mode %s: %llu without seats; ",
			 mode_name(stats->mode), passing);
	add_line(lines, "%s  %s%llu of %u seats %s, %llu exempt; %llu %s; %.1f s%s%s",
		 now, mode, in_use, stats->server_seats,
		 observes ? "would be in use" : "in use", exempt, waiting,
		 observes ? "would wait" : "waiting", frame->seconds,
		 *note ? "; " : "", note);
}

/**
 * frame_lines() - a frame as text
 * @lines: out
 * @frame: it
 * @note: what else is to be said in the first line; or ""
 *
 * The first line is about the whole; the second and the one behind an empty line
 * are headings.
 */
void frame_lines(struct lines *lines, const struct frame *frame,
		 const char *note)
{
	size_t i;

	*lines = (struct lines){ .nr = 0 };
	add_head(lines, frame, note);
	add_line(lines,
		 "%-*s %-*s %6s %7s %7s %7s %9s %7s %7s %7s %7s %6s %6s", NAME,
		 "LEVEL", BAR + 2, "SEATS", "IN-USE", "CURRENT", "NOMINAL",
		 "WAITING", "DISPATCH", "FULL", "LIMIT", "TIMEOUT", "CANCEL",
		 "P50", "P99");
	for (i = 0; i < frame->nr_levels; i++)
		add_level_line(lines, &frame->levels[i]);
	add_line(lines, "%s", "");
	add_line(lines, "%-*s %6s %9s %7s %s", NAME, "SCHEMA", "SEATS",
		 "EXECUTING", "WAITING", "FLOW");
	for (i = 0; i < frame->nr_flows && i < MAX_FLOWS; i++)
		add_flow_line(lines, &frame->flows[i]);
}

/**
 * free_lines() - free what frame_lines() made
 * @lines: they
 */
void free_lines(struct lines *lines)
{
	while (lines->nr)
		free(lines->all[--lines->nr]);
	free(lines->all);
}

static struct json_object *level_tree(const struct level_row *row)
{
	const struct kapf_level_stats *stats = row->stats;
	struct json_object *tree = tree_map();

	tree_add(tree, "priority_level", tree_text(stats->name));
	tree_add(tree, "seats_in_use", tree_number(stats->seats_in_use));
	tree_add(tree, "current_seats", tree_number(stats->current_seats));
	tree_add(tree, "nominal_seats", tree_number(stats->nominal_seats));
	tree_add(tree, "waiting_requests",
		 tree_number(stats->waiting_requests));
	tree_add(tree, "arrivals_per_s", tree_real(row->pace.arrivals));
	tree_add(tree, "dispatched_per_s", tree_real(row->pace.dispatched));
	tree_add(tree, "queue_full_per_s", tree_real(row->pace.queue_full));
	tree_add(tree, "concurrency_limit_per_s",
		 tree_real(row->pace.concurrency_limit));
	tree_add(tree, "time_out_per_s", tree_real(row->pace.time_out));
	tree_add(tree, "cancelled_per_s", tree_real(row->pace.cancelled));
	tree_add(tree, "wait_p50_s", row->waits ? tree_real(row->p50) : NULL);
	tree_add(tree, "wait_p99_s", row->waits ? tree_real(row->p99) : NULL);
	return tree;
}

static struct json_object *flow_tree(const struct flow_row *flow)
{
	struct json_object *tree = tree_map();

	tree_add(tree, "flow_schema", *flow->schema ?
		 tree_text(flow->schema) : NULL);
	tree_add(tree, "flow_distinguisher", tree_text(flow->distinguisher));
	tree_add(tree, "seats_in_use", tree_number(flow->seats));
	tree_add(tree, "executing_requests", tree_number(flow->executing));
	tree_add(tree, "waiting_requests", tree_number(flow->waiting));
	return tree;
}

/**
 * frame_tree() - a frame as JSON
 * @frame: it
 */
struct json_object *frame_tree(const struct frame *frame)
{
	struct json_object *tree = tree_map();
	struct json_object *levels = tree_list(), *flows = tree_list();
	size_t i;

	for (i = 0; i < frame->nr_levels; i++)
		tree_append(levels, level_tree(&frame->levels[i]));
	for (i = 0; i < frame->nr_flows; i++)
		tree_append(flows, flow_tree(&frame->flows[i]));
	tree_add(tree, "mode",
		 tree_text(mode_name(frame->reading->state.stats.mode)));
	tree_add(tree, "interval_s", tree_real(frame->seconds));
	tree_add(tree, "budget_seats",
		 tree_number(frame->reading->state.stats.server_seats));
	tree_add(tree, "levels", levels);
	tree_add(tree, "flows", flows);
	return tree;
}
