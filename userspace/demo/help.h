/* SPDX-License-Identifier: GPL-2.0 */
/* What the demo's programs do when they are asked what they are for. */
#ifndef DEMO_HELP_H
#define DEMO_HELP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void help_if_asked(int argc, char **argv, const char *help)
{
	if (argc < 2 || (strcmp(argv[1], "--help") && strcmp(argv[1], "-h")))
		return;
	fputs(help, stdout);
	exit(0);
}

#endif /* DEMO_HELP_H */
