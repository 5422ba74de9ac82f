// SPDX-License-Identifier: GPL-2.0
/* A control group (v2) for a server: its memory limit, what it used. */
#include <err.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cgroup.h"

static FILE *open_file(const char *path, const char *name, const char *mode)
{
	char file[PATH_MAX];
	FILE *f;

	snprintf(file, sizeof(file), "%s/%s", path, name);
	f = fopen(file, mode);
	if (!f)
		err(1, "%s", file);
	return f;
}

static void write_file(const char *path, const char *name, const char *value)
{
	FILE *f = open_file(path, name, "we");

	if (fputs(value, f) < 0 || fclose(f))
		err(1, "%s/%s", path, name);
}

void cgroup_make(const char *path, uint64_t memory_max)
{
	char value[32];

	if (mkdir(path, 0755))
		err(1, "%s", path);
	if (memory_max == CGROUP_UNLIMITED)
		return;
	snprintf(value, sizeof(value), "%" PRIu64, memory_max);
	write_file(path, "memory.max", value);
}

/* The calling process enters. */
void cgroup_enter(const char *path)
{
	write_file(path, "cgroup.procs", "0");
}

void cgroup_remove(const char *path)
{
	if (rmdir(path))
		err(1, "%s", path);
}

uint64_t cgroup_memory_peak(const char *path)
{
	FILE *f = open_file(path, "memory.peak", "re");
	uint64_t peak;

	if (fscanf(f, "%" SCNu64, &peak) != 1)
		errx(1, "%s/memory.peak: not a number", path);
	fclose(f);
	return peak;
}

uint64_t cgroup_oom_kills(const char *path)
{
	FILE *f = open_file(path, "memory.events", "re");
	char event[32];
	uint64_t count;

	while (fscanf(f, "%31s %" SCNu64, event, &count) == 2) {
		if (!strcmp(event, "oom_kill")) {
			fclose(f);
			return count;
		}
	}
	errx(1, "%s/memory.events: no oom_kill", path);
}
