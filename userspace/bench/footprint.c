// SPDX-License-Identifier: GPL-2.0
/*
 * What a memory cgroup is charged for a slot and for a queue, all that goes with
 * them and what the allocator rounds up included.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "insn.h"

#define SLOTS	65536	/* most of a session */
#define QUEUES	16384	/* most of an instance */

#define CGROUP "/sys/fs/cgroup/kapf-bench"

static void enter(const char *cgroup)
{
	char path[128];
	FILE *to;

	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	to = fopen(path, "w");
	if (!to || fprintf(to, "%d\n", getpid()) < 0 || fclose(to))
		bench_fail(path);
}

/* Memory of the kernel that the cgroup is charged. */
static double charged(void)
{
	FILE *stat = fopen(CGROUP "/memory.stat", "r");
	unsigned long long bytes = 0;
	char line[128];

	if (!stat)
		bench_fail(CGROUP "/memory.stat");
	while (fgets(line, sizeof(line), stat))
		if (sscanf(line, "kernel %llu", &bytes) == 1)
			break;
	fclose(stat);
	return bytes;
}

/**
 * footprint() - how much memory slots and queues take
 * @per_slot: out: bytes, of a session without labels
 * @per_queue: out: bytes
 */
void footprint(double *per_slot, double *per_queue)
{
	struct bench bench;
	double before;

	if (mkdir(CGROUP, 0755) && errno != EEXIST)
		bench_fail(CGROUP);
	enter(CGROUP);
	bench_configure(1, 1, 50);
	before = charged();
	bench_configure(1, QUEUES, 50);
	*per_queue = (charged() - before) / (QUEUES - 1);
	before = charged();
	bench_attach(&bench, SLOTS);
	*per_slot = (charged() - before) / SLOTS;
	bench_close(&bench);
	bench_configure(1, 1, 50);
	enter("/sys/fs/cgroup");
}
