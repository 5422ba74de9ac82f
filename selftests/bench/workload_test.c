// SPDX-License-Identifier: GPL-2.0
/*
 * The workloads of the benchmark: what is drawn is what workload.h says.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "bench.h"
#include "peers/program.h"
#include "workload.h"

#define ROOM 4000

static uint32_t draw(const char *name, uint64_t seed,
		     struct arrival arrivals[ROOM])
{
	memset(arrivals, 0, ROOM * sizeof(*arrivals));
	return workload_arrivals(workload_find(name), seed, 2, arrivals, ROOM);
}

TEST(the_same_seed_gives_the_same_arrivals)
{
	static struct arrival a[ROOM], b[ROOM];
	uint32_t nr = draw("poisson", 7, a);

	ASSERT_EQ(nr, draw("poisson", 7, b));
	EXPECT_EQ(memcmp(a, b, sizeof(a)), 0);
	draw("poisson", 8, b);
	EXPECT_NE(memcmp(a, b, sizeof(a)), 0);
}

TEST(arrivals_come_at_their_rate_and_in_order)
{
	const struct workload *load = workload_find("poisson");
	static struct arrival arrivals[ROOM];
	uint32_t i, first = 0, nr = draw("poisson", 1, arrivals);

	EXPECT_GT(nr, 2 * load->rate * 9 / 10);
	EXPECT_LT(nr, 2 * load->rate * 11 / 10);
	for (i = 1; i < nr; i++) {
		EXPECT_GE(arrivals[i].ns, arrivals[i - 1].ns);
		EXPECT_LT(arrivals[i].ns, 2000000000);
		EXPECT_LT(arrivals[i].flow, load->flows);
		first += arrivals[i].flow == 0;
	}
	/* 1 / (1 + 1/2 + ... + 1/64) = 0.21 */
	EXPECT_GT(first, nr * 18 / 100);
	EXPECT_LT(first, nr * 24 / 100);
}

TEST(onoff_arrivals_come_while_it_is_on)
{
	const struct workload *load = workload_find("onoff");
	static struct arrival arrivals[ROOM];
	uint32_t i, nr = draw("onoff", 1, arrivals);

	EXPECT_GT(nr, 2 * load->rate * 9 / 10);
	EXPECT_LT(nr, 2 * load->rate * 11 / 10);
	for (i = 0; i < nr; i++)
		EXPECT_LT(arrivals[i].ns / 1000000 %
			  (load->on_ms + load->off_ms), load->on_ms);
}

TEST(as_many_requests_are_wide_or_exempt_as_are_to_be)
{
	const struct workload *wide = workload_find("wide");
	const struct workload *mix = workload_find("mix");
	uint64_t a = random_start(1, 0), b = random_start(1, 0);
	uint32_t i, nr_wide = 0, nr_exempt = 0;

	for (i = 0; i < 25600; i++) {
		struct request request = workload_draw(wide, &a);

		EXPECT_EQ(request.exempt, 0);
		nr_wide += request.seats == wide->wide_seats;
		nr_exempt += workload_draw(mix, &b).exempt;
	}
	EXPECT_GT(nr_wide, 95 * wide->wide);
	EXPECT_LT(nr_wide, 105 * wide->wide);
	EXPECT_GT(nr_exempt, 95 * mix->exempt);
	EXPECT_LT(nr_exempt, 105 * mix->exempt);
}

TEST(requests_of_levels_are_for_all_of_them)
{
	const struct workload *load = workload_find("levels8");
	uint64_t random = random_start(1, 0);
	uint32_t i, seen = 0;

	for (i = 0; i < 1000; i++)
		seen |= 1u << workload_draw(load, &random).level;
	EXPECT_EQ(seen, (1u << load->levels) - 1);
}

/* What the reference's program, in Go, draws; NULL: it could not be built. */
static FILE *start_reference(const struct workload *load)
{
	char *arguments[WORKLOAD_ARGUMENTS + 1], command[1024];
	int i, len;

	if (access(REFERENCE, X_OK))
		return NULL;
	len = snprintf(command, sizeof(command), "%s --draw", REFERENCE);
	workload_arguments(load, 2, 7, arguments);
	for (i = 0; arguments[i]; i++) {
		len += snprintf(command + len, sizeof(command) - len, " %s",
				arguments[i]);
		free(arguments[i]);
	}
	return popen(command, "r");
}

/* Return: how many of the program's requests are like ours, which are as many. */
static uint32_t compare_closed(const struct workload *load, FILE *from)
{
	uint64_t random = random_start(7, 0), hash;
	uint32_t level, seats, alike = 0, i;
	char exempt[8];

	for (i = 0; i < WORKLOAD_DRAWN; i++) {
		struct request request = workload_draw(load, &random);

		if (fscanf(from, "%u %u %7s %lu", &level, &seats, exempt,
			   &hash) == 4)
			alike += level == request.level &&
				 seats == request.seats &&
				 hash == request.hash &&
				 !strcmp(exempt, request.exempt ? "true" :
								  "false");
	}
	return alike;
}

/* Logarithms need not be the same to the last bit. */
static uint32_t compare_open(const struct workload *load, FILE *from,
			     uint32_t *nr)
{
	static struct arrival arrivals[ROOM];
	uint64_t ns, hash;
	uint32_t alike = 0, i;

	*nr = draw(load->name, 7, arrivals);
	for (i = 0; i < *nr; i++)
		if (fscanf(from, "%lu %lu", &ns, &hash) == 2)
			alike += ns - arrivals[i].ns + 2 <= 4 &&
				 hash == workload_request(load, arrivals[i].flow).hash;
	return alike;
}

TEST(the_reference_is_given_the_same)
{
	const struct workload *load;

	for (load = workloads; load->name; load++) {
		FILE *from = start_reference(load);
		uint32_t alike, nr = WORKLOAD_DRAWN;

		if (!from)
			SKIP(return, "no kapf-bench-reference");
		if (load->kind == WORKLOAD_OPEN)
			alike = compare_open(load, from, &nr);
		else
			alike = compare_closed(load, from);
		EXPECT_EQ(alike, nr)
			TH_LOG("%s", load->name);
		EXPECT_EQ(fgetc(from), '\n');
		EXPECT_EQ(fgetc(from), EOF);
		EXPECT_EQ(pclose(from), 0);
	}
}

/* A program of three lines, in a directory of its own, which becomes PATH. */
static void make_program(const char *name, const char *text)
{
	char dir[] = "/tmp/kapf-bench-XXXXXX", path[256];
	FILE *file;

	if (!mkdtemp(dir))
		abort();
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	if (!file)
		abort();
	fprintf(file, "#!/bin/sh\n%s\nrm -r %s\n", text, dir);
	fclose(file);
	chmod(path, 0700);
	snprintf(path, sizeof(path), "%s:/usr/bin:/bin", dir);
	setenv("PATH", path, 1);
}

TEST(a_program_gets_its_workload_as_arguments)
{
	const struct peer peer = { .program = "kapf-bench-test" };
	struct program_result results[] = {
		{ .key = "options" }, { .key = "seats" }, { .key = "seed" }, {}
	};

	make_program(peer.program, "echo options $#\n"
		     "for option; do case $option in\n"
		     "--seats=*) echo seats ${option#*=};;\n"
		     "--seed=*) echo seed ${option#*=};;\n"
		     "esac; done");
	program_run(&peer, workload_find("wide"), 1.5, 42, results);
	EXPECT_EQ(results[0].value, WORKLOAD_ARGUMENTS);
	EXPECT_EQ(results[1].value, workload_find("wide")->seats);
	EXPECT_EQ(results[2].value, 42);
}

/* Whether a run of a program that does this ends as one that fails. */
static bool fails(const char *text)
{
	const struct peer peer = { .program = "kapf-bench-test" };
	struct program_result results[] = { { .key = "ns" }, {} };
	int status;
	pid_t pid;

	make_program(peer.program, text);
	pid = bench_fork();
	if (!pid) {
		program_run(&peer, workload_find("mix"), 1, 1, results);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

TEST(a_program_that_fails_or_says_too_little_ends_the_run)
{
	EXPECT_FALSE(fails("echo ns 5"));
	EXPECT_TRUE(fails("echo ns 5; rm -r ${0%/*}; exit 1"));
	EXPECT_TRUE(fails("echo nanoseconds 5"));
	EXPECT_TRUE(fails("echo ns -5"));
	EXPECT_TRUE(fails("echo ns five"));
}

TEST_HARNESS_MAIN
