// SPDX-License-Identifier: GPL-2.0
/*
 * A peer that is a program of its own, beside this one or in PATH: how it is run
 * and what it prints is said in workload.h.
 */
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../bench.h"
#include "program.h"

const struct peer peer_reference = {
	.name = "reference",
	.processes = 1,
	.fair = true,
	.program = "kapf-bench-reference",
};

static void execute(const char *program, const struct workload *load,
		    double seconds, uint64_t seed)
{
	char *argv[WORKLOAD_ARGUMENTS + 2] = { (char *)program };
	char self[PATH_MAX] = "", path[PATH_MAX + 64];

	workload_arguments(load, seconds, seed, argv + 1);
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) > 0) {
		snprintf(path, sizeof(path), "%s/%s", dirname(self), program);
		execv(path, argv);
	}
	execvp(program, argv);
	bench_fail(program);
}

static void take_line(const char *line, struct program_result *results)
{
	char key[32];
	double value;

	if (sscanf(line, "%31s %lf", key, &value) != 2)
		return;
	for (; results->key; results++)
		if (!strcmp(key, results->key))
			results->value = value;
}

/**
 * program_run() - run a workload
 * @peer: with a program
 * @load: the workload
 * @seconds: for how long
 * @seed: of the requests
 * @results: keys that it has to print, and a NULL; out: their values, above 0
 */
void program_run(const struct peer *peer, const struct workload *load,
		 double seconds, uint64_t seed, struct program_result *results)
{
	int fds[2], status;
	char line[256];
	FILE *out;
	pid_t pid;

	if (pipe(fds))
		bench_fail("pipe");
	pid = bench_fork();
	if (!pid) {
		dup2(fds[1], STDOUT_FILENO);
		close(fds[0]);
		close(fds[1]);
		execute(peer->program, load, seconds, seed);
	}
	close(fds[1]);
	out = fdopen(fds[0], "r");
	if (!out)
		bench_fail("fdopen");
	while (fgets(line, sizeof(line), out))
		take_line(line, results);
	fclose(out);
	if (waitpid(pid, &status, 0) < 0 || status)
		bench_wrong("a peer's program has failed");
	for (; results->key; results++)
		if (results->value <= 0)
			bench_wrong("a peer's program has not printed all");
}
