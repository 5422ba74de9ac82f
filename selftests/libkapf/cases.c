// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the files of the directory cases, in which manifests stand with what
 * becomes of them:
 *
 *	%prefix			lines follow that begin every manifest from here
 *	%case NAME		the rest of a manifest follows
 *	%accepted		so is the manifest that ends here, or
 *	%refused SENTENCE	with this sentence, or
 *	%rules JSON		accepted, its FlowSchema x having these rules
 *
 * Lines before the first of these are comments.
 */
#include <stdio.h>
#include <stdlib.h>

#include "test.h"

void try_text(const char *name, const char *text, const char *sentence)
{
	struct kapf_configuration *config = kapf_config_new();
	struct kapf_error err = {};
	int wanted = *sentence ? -EINVAL : 0;
	int ret = merge(config, text, &err);
	bool unchanged = config->nr_levels == 2 && config->nr_schemas == 2;
	bool passed = ret == wanted && !strcmp(err.text, sentence) &&
		      (!ret || unchanged);

	if (!passed)
		note("%d, \"%s\"\n# not %d, \"%s\"", ret, err.text, wanted,
		     sentence);
	ok(passed, "%s", name);
	kapf_config_free(config);
}

/* Are the rules in their canonical form, which makes the same rules again? */
static void try_rules(const char *name, const char *text, const char *json)
{
	struct kapf_configuration *config = kapf_config_new();
	const struct kapf_flow_schema *schema;
	struct kapf_rules *rules = NULL;
	struct kapf_error err = {};
	char *again = NULL;

	merge(config, text, &err);
	schema = kapf_config_schema(config, "x");
	ok(schema && !strcmp(schema->rules_json, json), "%s %s", name,
	   schema ? schema->rules_json : err.text);
	if (!kapf_rules_parse(json, strlen(json), &rules, &err))
		again = kapf_rules_json(rules);
	ok(again && !strcmp(again, json), "%s, there and back %s", name,
	   again ? again : err.text);
	free(again);
	kapf_rules_free(rules);
	kapf_config_free(config);
}

/* What follows @word in @line; NULL: it does not begin so. */
static const char *after(const char *line, const char *word)
{
	size_t len = strlen(word);

	return strncmp(line, word, len) ? NULL : line + len;
}

struct reader {
	char prefix[1024];
	char text[4096];
	char name[128];
	char *end;	/* of @prefix or @text, where lines go; NULL: nowhere */
};

static void read_line(struct reader *reader, const char *file,
		      const char *line)
{
	const char *name = after(line, "%case ");
	const char *sentence = after(line, "%refused ");
	const char *rules = after(line, "%rules ");

	if (after(line, "%prefix")) {
		reader->end = reader->prefix;
		*reader->end = '\0';
	} else if (name) {
		snprintf(reader->name, sizeof(reader->name), "%s: %s", file,
			 name);
		reader->end = stpcpy(reader->text, reader->prefix);
	} else if (sentence) {
		try_text(reader->name, reader->text, sentence);
	} else if (rules) {
		try_rules(reader->name, reader->text, rules);
	} else if (after(line, "%accepted")) {
		try_text(reader->name, reader->text, "");
	} else if (reader->end) {
		reader->end = stpcpy(reader->end, line);
		reader->end = stpcpy(reader->end, "\n");
	}
}

void try_cases(const char *file)
{
	struct reader reader = {};
	char path[512], *line = NULL;
	size_t size = 0;
	ssize_t len;
	FILE *from;

	snprintf(path, sizeof(path), CASES "/%s", file);
	from = fopen(path, "r");
	ok(from, "%s can be read", file);
	while (from && (len = getline(&line, &size, from)) > 0) {
		line[len - 1] = '\0';
		read_line(&reader, file, line);
	}
	free(line);
	if (from)
		fclose(from);
}
