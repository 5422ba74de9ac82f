// SPDX-License-Identifier: GPL-2.0
/*
 * FlowSchemas: every rule of their validation from just inside and just
 * outside, and the size of their rules.
 */
#include <stdio.h>
#include <stdlib.h>

#include "test.h"

/* A rule that is 116 bytes long in the canonical form, with a comma */
#define RULE \
	"{subjects: [{kind: Group, group: {name: g}}], " \
	"nonResourceRules: [{verbs: [get], nonResourceURLs: [/]}]}"
#define RULE_BYTES 116

static void test_size(void)
{
	struct kapf_configuration *config = kapf_config_new();
	struct kapf_error err = {};
	char *text = malloc(KAPF_MAX_BLOB_BYTES * 2), *end;

	end = stpcpy(text, "apiVersion: " API "v1\nkind: FlowSchema\n"
		     "metadata: {name: x}\nspec:\n"
		     "  priorityLevelConfiguration: {name: z}\n  rules:\n");
	for (int i = 0; i < KAPF_MAX_BLOB_BYTES / RULE_BYTES; i++)
		end = stpcpy(end, "  - " RULE "\n");
	ok(!merge(config, text, &err), "rules: 64 KiB %s", err.text);
	stpcpy(end, "  - " RULE "\n");
	ok(merge(config, text, &err) == -EINVAL &&
	   strstr(err.text, "bytes as JSON: at most 65536 are accepted"),
	   "rules: too long: %s", err.text);
	free(text);
	kapf_config_free(config);
}

void test_schemas(void)
{
	try_cases("schema.txt");
	test_size();
}
