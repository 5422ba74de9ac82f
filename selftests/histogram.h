/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Histograms, as the test programs read them.
 */
#ifndef KAPF_TEST_HISTOGRAM_H
#define KAPF_TEST_HISTOGRAM_H

#include "kapf_test.h"

#define NO_BOUND (~0ULL)
#define MS NSEC_PER_MSEC

/* Histograms of all levels and schemas of a test, and some more. */
#define ROOM 64

/* All of them, @step at a time: how many. */
static inline __u32 get_histograms(int control,
				   struct kapf_histogram_info *infos,
				   __u32 step)
{
	struct kapf_get_histograms get = {
		.size = sizeof(get),
		.histogram_size = sizeof(infos[0]),
	};
	__u32 nr = 0;

	do {
		get.nr = step < ROOM - nr ? step : ROOM - nr;
		get.histograms = (uintptr_t)(infos + nr);
		errno = -call(control, KAPF_GET_HISTOGRAMS, &get);
		if (errno || get.nr > step)
			die("GET_HISTOGRAMS");
		nr += get.nr;
	} while (get.nr);
	return nr;
}

/* The one of this kind; of a level where @schema is 0. */
static inline struct kapf_histogram_info
histogram_of(int control, __u32 kind, __u32 level, __u32 schema)
{
	struct kapf_histogram_info infos[ROOM];
	__u32 nr = get_histograms(control, infos, ROOM);
	__u32 i;

	for (i = 0; i < nr; i++)
		if (infos[i].kind == kind && infos[i].level == level &&
		    infos[i].schema == schema)
			return infos[i];
	errno = ENOENT;
	die("no such histogram");
	return infos[0];
}

static inline __u64 total(const struct kapf_histogram_info *info)
{
	__u64 total = 0;
	__u32 i;

	for (i = 0; i < info->buckets; i++)
		total += info->counts[i];
	return total;
}

/* How often a value was at most @bound, which is one of the histogram's. */
static inline __u64 up_to(const struct kapf_histogram_info *info, __u64 bound)
{
	__u64 total = 0;
	__u32 i;

	for (i = 0; i < info->buckets; i++) {
		total += info->counts[i];
		if (info->bounds[i] == bound)
			return total;
	}
	errno = EINVAL;
	die("no such bound");
	return 0;
}

/* What has come to the count of the bucket of @bound, and to no other. */
static inline __u64 gained(const struct kapf_histogram_info *before,
			   const struct kapf_histogram_info *after,
			   __u64 bound)
{
	__u64 gained = 0;
	__u32 i;

	for (i = 0; i < after->buckets; i++)
		if (after->bounds[i] == bound)
			gained = after->counts[i] - before->counts[i];
	return gained;
}

/*
 * Give level "test" so many seats, and its schema to level @level; what is there of
 * these stays.
 */
static inline void configure(int control, __u32 seats, const char *level)
{
	struct image image;

	image_init(&image);
	image_queues(&image, "test", seats, 1, 1, 20);
	image_schema(&image, "test", 100, level, "[]");
	errno = -set_image(control, &image, NULL);
	if (errno)
		die("SET_CONFIG");
	image_free(&image);
}

static inline void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	/* Where there is one CPU, all is on that. */
	sched_setaffinity(0, sizeof(set), &set);
}

#endif /* KAPF_TEST_HISTOGRAM_H */
