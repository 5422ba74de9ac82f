// SPDX-License-Identifier: GPL-2.0
/*
 * kapf-bench-keep COMMAND...: runs benchmarks on a machine that has a configuration
 * of its own, and puts that back at the end, also when they fail or are
 * interrupted.
 *
 * Objects that the benchmarks do without are made anew, and have another UID then:
 * the module gives no UID twice.  Exit status: that of the command; 2 when it was not
 * run.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/kapf.h>
#include "libkapf.h"

#define NODE "/dev/kapfctl0"

static void fail(const char *what)
{
	fprintf(stderr, "bench: %s\n", what);
	exit(2);
}

static int open_node(void)
{
	int fd = open(NODE, O_RDWR | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	if (errno == ENOENT)
		fail("there is no " NODE ": is the module loaded?");
	if (errno == EACCES)
		fail("no access to " NODE ": benchmarks have their own levels, which takes root");
	fail(NODE " cannot be opened");
	return -1;
}

/* Nobody is to be disturbed, and nothing to be let pass. */
static void check_quiet(int fd)
{
	struct kapf_get_stats stats = {
		.size = sizeof(stats),
		.level_size = sizeof(struct kapf_level_stats),
		.schema_size = sizeof(struct kapf_schema_stats),
	};

	if (ioctl(fd, KAPF_GET_STATS, &stats) < 0)
		fail("GET_STATS fails");
	if (stats.nr_sessions)
		fail("servers have sessions, which benchmarks would disturb: see kapfctl sessions");
	if (stats.mode != KAPF_MODE_ENFORCE)
		fail("kapf does not enforce: kapfctl mode enforce");
}

static struct kapf_configuration *read_config(int fd)
{
	struct kapf_configuration *config;
	struct kapf_error err = {};

	if (kapf_config_read(&config, fd, &err) < 0)
		fail(err.text);
	return config;
}

/* An object that is gone gets a new UID.  Return: how many did. */
static unsigned int forget_uids(struct kapf_configuration *saved,
				const struct kapf_configuration *present)
{
	unsigned int nr = 0;
	size_t i;

	for (i = 0; i < saved->nr_levels; i++) {
		struct kapf_priority_level *level = &saved->levels[i];

		if (kapf_config_level(present, level->name))
			continue;
		memset(level->uid, 0, sizeof(level->uid));
		nr++;
	}
	for (i = 0; i < saved->nr_schemas; i++) {
		struct kapf_flow_schema *schema = &saved->schemas[i];

		if (kapf_config_schema(present, schema->name))
			continue;
		memset(schema->uid, 0, sizeof(schema->uid));
		nr++;
	}
	return nr;
}

static void put_back(int fd, struct kapf_configuration *saved)
{
	struct kapf_configuration *present = read_config(fd);
	unsigned int nr = forget_uids(saved, present);
	struct kapf_error err = {};

	saved->generation = present->generation;
	kapf_config_free(present);
	if (kapf_config_write(saved, fd, &err) < 0)
		fail(err.text);
	fprintf(stderr, "bench: the configuration is put back; %u of its objects have a new UID\n",
		nr);
}

static pid_t child;

/* It ends, and we go on. */
static void pass_on(int signal)
{
	if (child > 0)
		kill(child, signal);
}

static int run(char **command)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	sigset_t set, before;
	int status;
	size_t i;

	/* Until it is known to whom they go. */
	sigemptyset(&set);
	for (i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaddset(&set, signals[i]);
	sigprocmask(SIG_BLOCK, &set, &before);
	child = fork();
	if (!child) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		execvp(command[0], command);
		_exit(127);
	}
	for (i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		signal(signals[i], pass_on);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return 2;
	return WIFEXITED(status) ? WEXITSTATUS(status) :
				   128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	struct kapf_configuration *saved;
	int fd, status;

	if (argc < 2 || argv[1][0] == '-') {
		fputs("usage: kapf-bench-keep COMMAND [ARGUMENT]...\n\n"
		      "Runs a command, and puts the configuration of kapf back at the end.\n",
		      argc > 1 && !strcmp(argv[1], "--help") ? stdout :
							       stderr);
		return argc > 1 && !strcmp(argv[1], "--help") ? 0 : 2;
	}
	fd = open_node();
	check_quiet(fd);
	saved = read_config(fd);
	fputs("bench: the configuration of kapf is another one until the end\n",
	      stderr);
	status = run(argv + 1);
	put_back(fd, saved);
	kapf_config_free(saved);
	close(fd);
	return status;
}
