// SPDX-License-Identifier: GPL-2.0
/*
 * The difference of two objects, as diff(1) shows that of their YAML.
 */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <json-c/json.h>

#include "kapfctl.h"

/* A file without a name that diff can open; -1 after a complaint. */
static int yaml_file(struct json_object *tree)
{
	int fd, copy = -1;
	FILE *to = NULL;

	fd = memfd_create("kapfctl", 0);
	if (fd >= 0)
		copy = dup(fd);
	if (copy >= 0)
		to = fdopen(copy, "w");
	if (to && tree)
		yaml_write(tree, to);
	json_object_put(tree);
	if (to && !fclose(to))
		return fd;
	complain("cannot write a file in memory: %s", strerror(errno));
	if (!to && copy >= 0)
		close(copy);
	if (fd >= 0)
		close(fd);
	return -1;
}

static int run_diff(char *const *args)
{
	int ret, status;
	pid_t pid;

	fflush(stdout);
	ret = posix_spawnp(&pid, args[0], NULL, NULL, args, environ);
	if (ret) {
		complain("cannot run diff: %s", strerror(ret));
		return -1;
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	/* That there is a difference is 1. */
	if (WIFEXITED(status) && WEXITSTATUS(status) <= 1)
		return 0;
	complain("diff has failed");
	return -1;
}

static void format_label(char *text, size_t size, const char *side,
			 enum kind kind, const char *name)
{
	snprintf(text, size, "%s/%s/%s", side, kind_type(kind), name);
}

/**
 * print_difference() - print how an object would change
 * @kind: LEVEL or SCHEMA
 * @name: of the object
 * @live: the object as it is, which is freed; NULL: there is none
 * @merged: what it would become, which is freed
 *
 * Return: 0, or -1 after a complaint.
 */
int print_difference(enum kind kind, const char *name, struct json_object *live,
		     struct json_object *merged)
{
	char labels[2][KAPF_NAME_BYTES + 64], paths[2][32];
	char *const args[] = {
		"diff", "-u", "-L", labels[0], "-L", labels[1], paths[0],
		paths[1], NULL
	};
	int i, files[2], ret = -1;

	files[0] = yaml_file(live);
	files[1] = yaml_file(merged);
	format_label(labels[0], sizeof(labels[0]), "live", kind, name);
	format_label(labels[1], sizeof(labels[1]), "merged", kind, name);
	for (i = 0; i < 2; i++)
		snprintf(paths[i], sizeof(paths[i]), "/proc/self/fd/%d",
			 files[i]);
	if (files[0] >= 0 && files[1] >= 0)
		ret = run_diff(args);
	for (i = 0; i < 2; i++)
		if (files[i] >= 0)
			close(files[i]);
	return ret;
}
