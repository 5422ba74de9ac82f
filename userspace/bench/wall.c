// SPDX-License-Identifier: GPL-2.0
/*
 * kapf-bench-wall: kapf and its peers by the clock, one beside the other.  Prints
 * lines "KEY VALUE", each key as often as there are repeats.
 *
 * In each repeat all peers run a workload in turn, with the same seed, so that the
 * i-th samples of all keys belong together.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "bench.h"
#include "count.h"
#include "handoff.h"
#include "loads.h"
#include "peers/program.h"

/* Latencies take so many times --seconds. */
#define OPEN_FACTOR 5
#define FAIR_FACTOR 10

#define MOST 32 /* peers or workloads that can be named */

static const struct peer *const peers[] = {
	&peer_kapf, &peer_mutex, &peer_sysv, &peer_socket, &peer_shm,
	&peer_reference, NULL
};

/* What can be measured besides the workloads. */
static const char *const extras[] = { "handoff", "scaling", "kill", NULL };

/**
 * struct plan - what is to be done
 * @peers: with these; NULL ends them
 * @works: names of workloads and extras; likewise
 * @repeats: how often
 * @seconds: for how long one run counts requests
 * @seed: of the first repeat
 * @host: this is a machine on which times mean something
 */
struct plan {
	const struct peer *peers[MOST + 1];
	const char *works[MOST + 1];
	unsigned long repeats;
	double seconds;
	unsigned long seed;
	bool host;
};

static const char usage[] =
"usage: kapf-bench-wall [OPTION]...\n"
"\n"
"  --peer PEER          kapf, mutex, sysv, socket, shm or reference; may come\n"
"                       more than once; default: all\n"
"  --workload WORKLOAD  uncontended, saturated, levels8, wide, mix, poisson,\n"
"                       onoff, fairness, kill, or, of kapf alone, handoff,\n"
"                       scaling; likewise\n"
"  --repeats N          of each; default 10\n"
"  --seconds S          that each run counts requests; 5 times as long for poisson\n"
"                       and onoff, 10 for fairness; default 0.1, with --host 1\n"
"  --seed N             of the requests; default 1\n"
"  --host               this is a real machine: say which, and measure longer\n"
"  --help\n"
"\n"
"Measures kapf and what one would use without it, one beside the other: an\n"
"engine like kapf's in the process (mutex), in shared memory (shm) and in a daemon\n"
"(socket); semaphores (sysv); the queues of an API server (reference).  kapf has to\n"
"be loaded, and is configured anew, and stays so.\n"
"\n"
"  uncontended   one flow, and always a free seat: what asking costs\n"
"  saturated     64 flows, 12 workers of each process for 4 seats\n"
"  levels8       8 priority levels, with 2 seats each\n"
"  wide          many requests of 1 seat and a few of 8, for 10 seats\n"
"  mix           exempt requests among such as wait\n"
"  poisson       800 requests/s, whatever becomes of them: their latency\n"
"  onoff         the same in bursts\n"
"  fairness      a heavy flow, two others, and a light one\n"
"  kill          does a killed process give back its seats?\n"
"  handoff       from a process that finishes to one that waits\n"
"  scaling       exempt requests on two processors, by those on one\n"
"\n"
"Prints lines \"KEY VALUE\", a key as often as there are repeats: wall.ns.PEER.\n"
"WORKLOAD.PROCESSES is the time by request, in ns.\n";

static void die(const char *what, const char *name)
{
	fprintf(stderr, "kapf-bench-wall: %s%s; --help lists what there is\n",
		what, name);
	exit(2);
}

static void add_peer(struct plan *plan, const char *name)
{
	const struct peer *const *peer;
	int nr = 0;

	while (plan->peers[nr])
		nr++;
	for (peer = peers; *peer && strcmp((*peer)->name, name);)
		peer++;
	if (!*peer || nr == MOST)
		die("no peer ", name);
	plan->peers[nr] = *peer;
}

static void add_work(struct plan *plan, const char *name)
{
	const char *const *extra;
	int nr = 0;

	while (plan->works[nr])
		nr++;
	for (extra = extras; *extra && strcmp(*extra, name);)
		extra++;
	if ((!*extra && !workload_find(name)) || nr == MOST)
		die("no workload ", name);
	plan->works[nr] = name;
}

/* The rest of a word is to be a number above 0. */
static double parse_number(const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (*end || !(value > 0) || value > 1e9)
		die("no such number: ", text);
	return value;
}

static void set_count(unsigned long *count, const char *text)
{
	if (!parse_count(text, count))
		die("no whole number from 1 to a million: ", text);
}

static void parse(struct plan *plan, int argc, char **argv)
{
	static const struct option options[] = {
		{ "peer", required_argument, NULL, 'p' },
		{ "workload", required_argument, NULL, 'w' },
		{ "repeats", required_argument, NULL, 'r' },
		{ "seconds", required_argument, NULL, 's' },
		{ "seed", required_argument, NULL, 'e' },
		{ "host", no_argument, NULL, 'h' },
		{ "help", no_argument, NULL, '?' + 1 },
		{ }
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0)
		switch (option) {
		case 'p':
			add_peer(plan, optarg);
			break;
		case 'w':
			add_work(plan, optarg);
			break;
		case 'r':
			set_count(&plan->repeats, optarg);
			break;
		case 's':
			plan->seconds = parse_number(optarg);
			break;
		case 'e':
			set_count(&plan->seed, optarg);
			break;
		case 'h':
			plan->host = true;
			break;
		case '?' + 1:
			fputs(usage, stdout);
			exit(0);
		default:
			fputs("kapf-bench-wall: --help lists what there is\n",
			      stderr);
			exit(2);
		}
	if (optind < argc)
		die("no such argument: ", argv[optind]);
}

static bool has_kapf(const struct plan *plan)
{
	const struct peer *const *peer;

	for (peer = plan->peers; *peer; peer++)
		if (*peer == &peer_kapf)
			return true;
	return false;
}

static bool is_of_kapf(const char *work)
{
	return !strcmp(work, "handoff") || !strcmp(work, "scaling");
}

static void set_defaults(struct plan *plan)
{
	const struct workload *load;
	int i;

	if (!plan->peers[0])
		for (i = 0; peers[i]; i++)
			add_peer(plan, peers[i]->name);
	if (!plan->works[0]) {
		for (load = workloads; load->name; load++)
			add_work(plan, load->name);
		for (i = 0; extras[i]; i++)
			if (has_kapf(plan) || !is_of_kapf(extras[i]))
				add_work(plan, extras[i]);
	}
	for (i = 0; plan->works[i]; i++)
		if (is_of_kapf(plan->works[i]) && !has_kapf(plan))
			die("only of kapf: ", plan->works[i]);
	if (!plan->repeats)
		plan->repeats = 10;
	if (!plan->seconds)
		plan->seconds = plan->host ? 1 : 0.1;
	if (!plan->seed)
		plan->seed = 1;
}

static void measure_closed(const struct peer *peer,
			   const struct workload *load, double seconds,
			   uint64_t seed)
{
	uint32_t processes;

	for (processes = 1; processes <= peer->processes; processes++) {
		struct program_result result[] = { { .key = "ns" }, { } };

		if (peer->program)
			program_run(peer, load, seconds, seed, result);
		else
			result->value = loads_closed(peer, load, processes,
						     seconds, seed);
		printf("wall.ns.%s.%s.%u %.1f\n", peer->name, load->name,
		       processes, result->value);
	}
}

static void measure_open(const struct peer *peer, const struct workload *load,
			 double seconds, uint64_t seed)
{
	struct program_result results[] = {
		{ .key = "p50_ms" }, { .key = "p99_ms" }, { }
	};

	if (peer->program) {
		program_run(peer, load, seconds, seed, results);
	} else {
		struct loads_open open = loads_open(peer, load, seconds, seed);

		results[0].value = open.p50_ms;
		results[1].value = open.p99_ms;
	}
	printf("wall.open.%s.%s.p50_ms %.3f\n", peer->name, load->name,
	       results[0].value);
	printf("wall.open.%s.%s.p99_ms %.3f\n", peer->name, load->name,
	       results[1].value);
}

static void measure_fairness(const struct peer *peer,
			     const struct workload *load, double seconds,
			     uint64_t seed)
{
	struct program_result results[] = {
		{ .key = "jain" }, { .key = "light_p99_ms" }, { }
	};

	if (peer->program) {
		program_run(peer, load, seconds, seed, results);
	} else {
		struct loads_fair fair = loads_fair(peer, load, seconds);

		results[0].value = fair.jain;
		results[1].value = fair.light_p99_ms;
	}
	printf("fairness.%s.jain %.4f\n", peer->name, results[0].value);
	printf("fairness.%s.light_p99_ms %.3f\n", peer->name,
	       results[1].value);
}

/* Where one process alone can use a peer, its seats die with it. */
static void kill_holder(const struct peer *peer)
{
	if (peer->processes > 1)
		printf("fairness.%s.seats_return_after_kill %d\n", peer->name,
		       loads_kill(peer));
}

static void run_work(const struct plan *plan, const char *work, uint64_t seed)
{
	const struct workload *load = workload_find(work);
	double seconds = plan->seconds;
	const struct peer *const *peer;

	for (peer = plan->peers; *peer; peer++) {
		if (!load)
			kill_holder(*peer);
		else if (load->kind == WORKLOAD_CLOSED)
			measure_closed(*peer, load, seconds, seed);
		else if (load->kind == WORKLOAD_OPEN)
			measure_open(*peer, load, OPEN_FACTOR * seconds, seed);
		else
			measure_fairness(*peer, load, FAIR_FACTOR * seconds, seed);
	}
}

static void print_handoffs(const char *name,
			   const uint64_t ns[HANDOFF_ROUNDS])
{
	int i;

	for (i = 0; i < HANDOFF_ROUNDS; i++)
		printf("wall.handoff.%s %llu\n", name,
		       (unsigned long long)ns[i]);
}

static void run_handoff(void)
{
	uint64_t ns[HANDOFF_ROUNDS];

	handoff_kapf(ns);
	print_handoffs("kapf", ns);
	handoff_futex(ns);
	print_handoffs("futex", ns);
}

/* What two processes finish, over what one does. */
static void run_scaling(double seconds, uint64_t seed)
{
	struct workload load = *workload_find("uncontended");
	double one, two;

	load.exempt = 256;
	one = loads_closed(&peer_kapf, &load, 1, seconds, seed);
	two = loads_closed(&peer_kapf, &load, 2, seconds, seed);
	printf("wall.exempt_scaling_2cpu %.3f\n", one / two);
}

static void run_repeat(const struct plan *plan, unsigned long repeat)
{
	const char *const *work;

	for (work = plan->works; *work; work++) {
		/* It has an answer, not a figure. */
		if (!strcmp(*work, "kill") && repeat)
			continue;
		if (!is_of_kapf(*work))
			run_work(plan, *work, plan->seed + repeat);
		else if (!strcmp(*work, "handoff"))
			run_handoff();
		else
			run_scaling(plan->seconds, plan->seed + repeat);
		fflush(stdout);
	}
}

static void say_machine(void)
{
	char line[256];
	struct utsname name;
	FILE *file = fopen("/proc/cpuinfo", "r");

	uname(&name);
	fprintf(stderr, "kernel: %s %s %s\n", name.sysname, name.release,
		name.machine);
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, "model name", 10)) {
			fputs(line, stderr);
			break;
		}
	if (file)
		fclose(file);
}

int main(int argc, char **argv)
{
	struct plan plan = {};
	unsigned long i;

	parse(&plan, argc, argv);
	set_defaults(&plan);
	if (plan.host)
		say_machine();
	for (i = 0; i < plan.repeats; i++)
		run_repeat(&plan, i);
	return 0;
}
