/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KAPFCTL_FRAME_H
#define KAPFCTL_FRAME_H

#include "kapfctl.h"

enum sort_key {
	SORT_SEATS,
	SORT_WAITING,
	SORT_DISPATCHED,
	SORT_REFUSED,
	SORT_NAME,
	NR_SORT_KEYS,
};

extern const char *const sort_names[NR_SORT_KEYS];

/**
 * struct level_row - a level as top shows it
 * @stats: of the later reading
 * @pace: what happened between the two
 * @waits: requests whose wait ended between the two, also those that waited not at
 *	all, but not those that were refused at once
 * @p50: half of these waited no longer, in s
 * @p99: 99 of 100 waited no longer, in s
 */
struct level_row {
	const struct kapf_level_stats *stats;
	struct pace pace;
	uint64_t waits;
	double p50;
	double p99;
};

/**
 * struct flow_row - the requests in flight of a flow
 * @schema: name of its schema
 * @distinguisher: of the flow
 * @id: of the schema
 * @seats: that they hold
 * @executing: how many hold seats
 * @waiting: how many wait
 */
struct flow_row {
	const char *schema;
	const char *distinguisher;
	uint32_t id;
	uint64_t seats;
	unsigned int executing;
	unsigned int waiting;
};

/**
 * struct frame - what top shows at one moment
 * @reading: the later of its two readings
 * @seconds: between the two
 * @levels: sorted
 * @nr_levels: how many
 * @flows: those that hold and wait for most first
 * @nr_flows: how many
 */
struct frame {
	const struct reading *reading;
	double seconds;
	struct level_row *levels;
	size_t nr_levels;
	struct flow_row *flows;
	size_t nr_flows;
};

void make_frame(struct frame *frame, const struct reading *first,
		const struct reading *second, enum sort_key sort);
void free_frame(struct frame *frame);

/**
 * struct lines - text, line by line
 * @all: the lines
 * @nr: how many
 */
struct lines {
	char **all;
	size_t nr;
};

void frame_lines(struct lines *lines, const struct frame *frame,
		 const char *note);
void free_lines(struct lines *lines);
struct json_object *frame_tree(const struct frame *frame);

/* screen.c */
int run_screen(uint64_t interval, enum sort_key sort, int fd);

#endif /* KAPFCTL_FRAME_H */
