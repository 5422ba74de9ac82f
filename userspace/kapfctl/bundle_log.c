// SPDX-License-Identifier: GPL-2.0
/*
 * kapfctl report: what the kernel's log has of kapf.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <json-c/json.h>

#include "bundle.h"

/* Of syslog(2). */
#define READ_ALL 3
#define SIZE_BUFFER 10

/* What a line says, behind priority, time and maybe caller. */
static const char *message(const char *line)
{
	const char *end;

	while ((*line == '<' && (end = strchr(line, '>'))) ||
	       (*line == '[' && (end = strchr(line, ']'))))
		for (line = end + 1; *line == ' '; line++)
			;
	return line;
}

/* A line of the module, or one of a trace that leads through it. */
static bool is_of_kapf(const char *line)
{
	const char *text = message(line);

	if (strstr(text, "+0x") && strstr(text, " [kapf]"))
		return true;
	if (strncmp(text, "kapf", 4))
		return false;
	for (text += 4; isdigit(*text); text++)
		;
	return *text == ':';
}

/* Replaces what stands between two texts. */
static void replace_between(struct pseudonyms *names, char **line,
			    enum name_kind kind, char *begin, char *end)
{
	char *name = need(strndup(begin, end - begin)), *text;

	if (asprintf(&text, "%.*s%s%s", (int)(begin - *line), *line,
		     pseudonym(names, kind, name), end) < 0)
		need(NULL);
	free(name);
	free(*line);
	*line = text;
}

/*
 * A process may call itself what it likes, also what a line of the log looks
 * like: so its name comes first, from the first to the last that can be.
 */
static struct json_object *line_tree(struct pseudonyms *names, char *line)
{
	static const char server[] = " of server ", process[] = " by process ";
	struct json_object *tree;
	char *at, *begin, *end = NULL, *next;

	at = strstr(line, process);
	begin = at ? strchr(at, '(') : NULL;
	for (next = begin; next; next = strstr(next + 1, "), user "))
		end = next;
	if (begin && end > begin)
		replace_between(names, &line, NAME_PROCESS, begin + 1, end);

	at = strstr(line, server);
	if (at) {
		begin = at + strlen(server);
		replace_between(names, &line, NAME_SERVER, begin,
				begin + strcspn(begin, " "));
	}
	tree = tree_text(line);
	free(line);
	return tree;
}

/**
 * log_tree() - what the kernel's log has of kapf
 * @names: that stand for those in it
 *
 * Return: a list of lines; NULL where it may not be read.
 */
struct json_object *log_tree(struct pseudonyms *names)
{
	int size = klogctl(SIZE_BUFFER, NULL, 0);
	struct json_object *list;
	char *log, *line, *rest;

	if (size <= 0)
		return NULL;
	log = need(calloc(1, size + 1));
	if (klogctl(READ_ALL, log, size) < 0) {
		free(log);
		return NULL;
	}
	list = tree_list();
	rest = log;
	while ((line = strsep(&rest, "\n")))
		if (is_of_kapf(line))
			tree_append(list, line_tree(names, need(strdup(line))));
	free(log);
	return list;
}
