// SPDX-License-Identifier: GPL-2.0
/*
 * How long the module holds its spin locks: probes of the kernel's functions that
 * take and drop one (kprobe events) note when its code calls them, in a guest whose
 * time stamp counter counts instructions.
 *
 * With one CPU nobody waits for a lock, and nothing else runs while one is held:
 * what takes it disables bottom halves.  Interrupts do; a hold that one came into
 * is left out.
 *
 * The probes are in what is measured: the end of that which notes the taking, the
 * start of that which notes the dropping.  That is the same for all holds, and so
 * it is known from the shortest one, of a GET_QUEUES that finds no queues and does
 * nothing in between.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "hold.h"

#define TRACING "/sys/kernel/tracing/"

/* For what two passes over 65,536 slots leave behind, and more. */
#define BUFFER_KB "65536"

/* One lock within another. */
#define NESTED 4

static const char *const functions[] = {
	"take _raw_spin_lock", "take_bh _raw_spin_lock_bh",
	"drop _raw_spin_unlock", "drop_bh _raw_spin_unlock_bh",
};

#define NR_FUNCTIONS (sizeof(functions) / sizeof(*functions))

static uint64_t shortest = UINT64_MAX;

/* @flags: O_TRUNC: instead of what it has, where it keeps something */
static void put(const char *file, int flags, const char *text)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), TRACING "%s", file);
	fd = open(path, O_WRONLY | O_CLOEXEC | flags);
	if (fd < 0 || write(fd, text, strlen(text)) < 0 || close(fd))
		bench_fail(path);
}

/* Where the module's code is. */
static void find_module(uint64_t *start, uint64_t *end)
{
	FILE *modules = fopen("/proc/modules", "r");
	unsigned long long size, base;
	char line[256];
	bool found = false;

	if (!modules)
		bench_fail("/proc/modules");
	while (!found && fgets(line, sizeof(line), modules))
		found = sscanf(line, "kapf %llu %*s %*s %*s %llx", &size,
			       &base) == 2;
	fclose(modules);
	if (!found)
		bench_fail("kapf is no module");
	*start = base;
	*end = base + size;
}

/**
 * hold_watch() - set the probes
 */
void hold_watch(void)
{
	uint64_t start, end;
	char text[256];
	size_t i;

	find_module(&start, &end);
	put("tracing_on", 0, "0");
	put("trace_clock", 0, "x86-tsc");
	put("buffer_size_kb", 0, BUFFER_KB);
	for (i = 0; i < NR_FUNCTIONS; i++) {
		snprintf(text, sizeof(text),
			 "p:kapf_bench/%s lock=%%di caller=+0(%%sp)\n",
			 functions[i]);
		put("kprobe_events", 0, text);
	}
	snprintf(text, sizeof(text), "caller >= 0x%llx && caller < 0x%llx\n",
		 (unsigned long long)start, (unsigned long long)end);
	put("events/kapf_bench/filter", 0, text);
	put("events/kapf_bench/enable", 0, "1");
	put("events/irq_vectors/enable", 0, "1");
}

/**
 * hold_unwatch() - as it was before hold_watch()
 */
void hold_unwatch(void)
{
	put("events/irq_vectors/enable", 0, "0");
	put("events/kapf_bench/enable", 0, "0");
	put("kprobe_events", O_TRUNC, "\n");
	put("trace", O_TRUNC, "\n");
	put("buffer_size_kb", 0, "1408");
	put("trace_clock", 0, "local");
	put("tracing_on", 0, "1");
}

/**
 * hold_start() - look at what follows
 */
void hold_start(void)
{
	put("trace", O_TRUNC, "\n");
	put("tracing_on", 0, "1");
}

/* A lock that is held. */
struct held {
	uint64_t lock;
	uint64_t taken_at;
	uint64_t since;
	bool disturbed;
};

/* Locks that are held while the trace is read, and the longest hold yet. */
struct reading {
	struct held held[NESTED];
	unsigned int nr;
	unsigned long total;
	struct hold longest;
};

static uint64_t field(const char *line, const char *name)
{
	const char *at = strstr(line, name);

	if (!at)
		bench_fail("an event without what was asked for");
	return strtoull(at + strlen(name), NULL, 16);
}

static void take(struct reading *reading, const char *line, uint64_t time)
{
	if (reading->nr == NESTED)
		bench_fail("too many locks at once");
	reading->held[reading->nr++] = (struct held){
		.lock = field(line, "lock="),
		.taken_at = field(line, "caller="),
		.since = time,
	};
}

static void drop(struct reading *reading, const char *line, uint64_t time)
{
	const struct held *held;
	uint64_t length;

	if (!reading->nr)
		bench_fail("a lock is dropped that was not taken");
	held = &reading->held[--reading->nr];
	if (held->lock != field(line, "lock="))
		bench_fail("another lock is dropped than was taken");
	reading->total++;
	if (held->disturbed)
		return;
	length = time - held->since;
	if (length < shortest)
		shortest = length;
	if (length > reading->longest.length)
		reading->longest = (struct hold){
			.length = length,
			.taken_at = held->taken_at,
		};
}

static void read_line(struct reading *reading, const char *line)
{
	const char *cpu = strstr(line, "] ");
	unsigned long long time;
	unsigned int i;
	char event[32];

	/* "TASK-PID [CPU] FLAGS TIME: EVENT: ..."; others are comments. */
	if (!cpu || sscanf(cpu + 2, "%*s %llu: %31[a-z_]:", &time, event) != 2)
		return;
	if (!strncmp(event, "take", 4))
		take(reading, line, time);
	else if (!strncmp(event, "drop", 4))
		drop(reading, line, time);
	else
		for (i = 0; i < reading->nr; i++)
			reading->held[i].disturbed = true;
}

static void check_complete(void)
{
	FILE *stats = fopen(TRACING "per_cpu/cpu0/stats", "r");
	unsigned long lost = 1;
	char line[128];

	if (!stats)
		bench_fail(TRACING "per_cpu/cpu0/stats");
	while (fgets(line, sizeof(line), stats))
		if (sscanf(line, "overrun: %lu", &lost) == 1)
			break;
	fclose(stats);
	if (lost)
		bench_fail("the trace is not complete");
}

/**
 * hold_stop() - the end of what hold_start() began
 *
 * Return: the longest hold in between.
 */
struct hold hold_stop(void)
{
	struct reading reading = {};
	char line[512];
	FILE *trace;

	put("tracing_on", 0, "0");
	check_complete();
	trace = fopen(TRACING "trace", "r");
	if (!trace)
		bench_fail(TRACING "trace");
	while (fgets(line, sizeof(line), trace))
		read_line(&reading, line);
	fclose(trace);
	if (reading.nr || !reading.total)
		bench_fail("no lock was taken, or one is still held");
	return reading.longest;
}

/**
 * hold_shortest() - the length of the shortest hold ever seen
 */
uint64_t hold_shortest(void)
{
	return shortest;
}

/**
 * hold_name() - which function took the lock
 * @hold: from hold_stop()
 * @name: out
 * @size: of it
 */
void hold_name(const struct hold *hold, char *name, unsigned int size)
{
	FILE *symbols = fopen("/proc/kallsyms", "r");
	unsigned long long address, best = 0;
	char line[512], symbol[128];

	snprintf(name, size, "?");
	while (symbols && fgets(line, sizeof(line), symbols)) {
		if (!strstr(line, "[kapf]") ||
		    sscanf(line, "%llx %*c %127s", &address, symbol) != 2 ||
		    address >= hold->taken_at || address < best)
			continue;
		best = address;
		snprintf(name, size, "%s", symbol);
	}
	if (symbols)
		fclose(symbols);
}
