// SPDX-License-Identifier: GPL-2.0
/*
 * Processes and users by name, where this system knows them.
 */
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kapfctl.h"

/**
 * process_name() - the command of a process
 * @name: out; "": it is not there, or not to be seen
 * @pid: of the process; 0: none
 */
void process_name(char name[PROCESS_ROOM], uint32_t pid)
{
	char path[32];
	FILE *file;

	name[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	file = pid ? fopen(path, "re") : NULL;
	if (!file)
		return;
	if (fgets(name, PROCESS_ROOM, file))
		name[strcspn(name, "\n")] = '\0';
	fclose(file);
}

/**
 * write_process() - a process in a sentence, by number and command
 * @to: where
 * @pid: of the process; 0: not visible
 */
void write_process(FILE *to, uint32_t pid)
{
	char name[PROCESS_ROOM], *printable;

	process_name(name, pid);
	printable = make_printable(*name ? name : "not visible", "\\");
	fprintf(to, "process %u (%s)", pid, printable);
	free(printable);
}

/**
 * user_name() - the name of a user
 * @name: out; the number where there is no name
 * @uid: of the user
 */
void user_name(char name[USER_ROOM], uint32_t uid)
{
	const struct passwd *user = getpwuid(uid);

	if (user)
		snprintf(name, USER_ROOM, "%s", user->pw_name);
	else
		snprintf(name, USER_ROOM, "%u", uid);
}
