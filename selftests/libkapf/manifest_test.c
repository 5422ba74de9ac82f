// SPDX-License-Identifier: GPL-2.0
/*
 * Manifests as text: what YAML and JSON may look like, and what stands around
 * the spec of an object.
 */
#include <stdio.h>
#include <stdlib.h>

#include "test.h"

#define NOT_YAML "x:1: not valid YAML: while parsing a quoted scalar, "

/* What cannot stand in a file of cases */
static void test_octets(void)
{
	static const char spec[] =
		"{priorityLevelConfiguration: {name: exempt}}\n";
	char text[512];

	try_text("manifest: byte order mark",
		 "\xef\xbb\xbf" SCHEMA("name: x", TO("z")), "");
	snprintf(text, sizeof(text), "apiVersion: " API "v1\r\n"
		 "kind: FlowSchema\r\nmetadata:\r\n  name: x\r\nspec: %s",
		 spec);
	try_text("manifest: carriage returns", text, "");
	try_text("manifest: JSON with tabs and all escapes",
		 "{\n\t\"apiVersion\":\t\"" API "v1\",\n"
		 "\t\"kind\":\"FlowSchema\",\"metadata\":{\"name\":\"x\",\n"
		 "\"annotations\":{\"a\":\"\\/\\u00e9\\ud83d\\ude00\\t\\\"\"}},\n"
		 "\"spec\":{\"priorityLevelConfiguration\":{\n"
		 "\"name\":\"exempt\"}}}", "");
	try_text("manifest: half a surrogate", "{\"kind\": \"\\ud83d\"}",
		 NOT_YAML "found invalid Unicode character escape code");
	try_text("manifest: not UTF-8", "a: b\nc: \xff\n",
		 "x:2: not valid YAML: invalid leading UTF-8 octet");
}

static void test_nul(void)
{
	static const char text[] = "a: b\nc: \0d\n";
	struct kapf_configuration *config = kapf_config_new();
	struct kapf_error err = {};
	int ret = kapf_config_merge(config, text, sizeof(text) - 1, "x", &err);

	ok(ret == -EINVAL && !strncmp(err.text, "x:2: ", 5),
	   "manifest: NUL: %s", err.text);
	kapf_config_free(config);
}

/* Each line stands for ten of the line before. */
static void test_alias_bomb(void)
{
	struct kapf_configuration *config = kapf_config_new();
	struct kapf_error err = {};
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);
	int ret;

	fprintf(to, "a0: &a0 lol\n");
	for (int i = 1; i < 10; i++) {
		fprintf(to, "a%d: &a%d [", i, i);
		for (int j = 0; j < 10; j++)
			fprintf(to, "*a%d%s", i - 1, j < 9 ? ", " : "]\n");
	}
	fclose(to);
	ret = merge(config, text, &err);
	ok(ret == -EINVAL &&
	   !strcmp(err.text, "x:7: aliases make more than 1048576 bytes of this"),
	   "manifest: alias bomb: %s", err.text);
	free(text);
	kapf_config_free(config);
}

/* 1025 anchors, and a text of 8 MiB and one byte */
static void test_limits(void)
{
	struct kapf_configuration *config = kapf_config_new();
	const size_t too_long = KAPF_MAX_IMAGE_BYTES + 1;
	char *text = calloc(1, too_long + 1), *end = text;
	struct kapf_error err = {};

	for (int i = 0; i <= 1024; i++)
		end += sprintf(end, "- &a%d 1\n", i);
	ok(merge(config, text, &err) == -EINVAL &&
	   !strcmp(err.text, "x:1025: a document has at most 1024 anchors"),
	   "manifest: anchors: %s", err.text);
	memset(text, '\n', too_long);
	ok(merge(config, text, &err) == -EINVAL &&
	   !strcmp(err.text, "x:1: is longer than 8388608 bytes"),
	   "manifest: length: %s", err.text);
	free(text);
	kapf_config_free(config);
}

/* Labels and annotations of 64 KiB, as the kernel stores them, and one more */
static void test_metadata(void)
{
	const size_t most = KAPF_MAX_BLOB_BYTES - strlen("{'annotations':{'a':''}}");
	struct kapf_configuration *config = kapf_config_new();
	char *text = malloc(KAPF_MAX_BLOB_BYTES * 2), *begin, *end;
	struct kapf_error err = {};

	begin = stpcpy(text, "apiVersion: " API "v1\nkind: FlowSchema\n"
		       "spec: {" TO("z") "}\n"
		       "metadata: {name: x, annotations: {a: ");
	memset(begin, 'a', most);
	end = begin + most;
	stpcpy(end, "}}\n");
	ok(!merge(config, text, &err), "manifest: 64 KiB of metadata %s",
	   err.text);
	stpcpy(end, "a}}\n");
	ok(merge(config, text, &err) == -EINVAL &&
	   strstr(err.text, "metadata: is 65537 bytes as JSON"),
	   "manifest: too much metadata: %s", err.text);
	free(text);
	kapf_config_free(config);
}

/* What plain scalars mean, seen by what a precedence and a name accept */
static void test_scalars(void)
{
	static const struct {
		const char *text;
		unsigned int precedence; /* 0: not a whole number */
	} numbers[] = {
		{ "900", 900 }, { "+900", 900 }, { "9_00", 900 },
		{ "0x384", 900 }, { "0X384", 900 }, { "0o1604", 900 },
		{ "01604", 900 }, { "0b1110000100", 900 }, { "9e2", 900 },
		{ "900.0", 900 }, { "0900", 900 }, { "900.", 900 },
		{ "900.5", 0 }, { "\"900\"", 0 }, { "'900'", 0 }, { "yes", 0 },
		{ "0x", 0 }, { "9 00", 0 }, { "++9", 0 }, { "1e400", 0 },
		{ "99999999999999999999", 0 }, { "-900", 0 }, { "10001", 0 },
		{ "null", 1000 }, { "~", 1000 }, { "0", 1000 }, { "-0", 1000 },
	};

	for (size_t i = 0; i < SIZE(numbers); i++) {
		struct kapf_configuration *config = kapf_config_new();
		unsigned int found = 0;
		char text[512];

		snprintf(text, sizeof(text),
			 SCHEMA("name: x", "matchingPrecedence: %s, " TO("z")),
			 numbers[i].text);
		if (!merge(config, text, NULL))
			found = kapf_config_schema(config, "x")->precedence;
		ok(found == numbers[i].precedence, "manifest: number %s is %u",
		   numbers[i].text, found);
		kapf_config_free(config);
	}
}

void test_manifests(void)
{
	try_cases("manifest.txt");
	test_octets();
	test_nul();
	test_alias_bomb();
	test_limits();
	test_metadata();
	test_scalars();
}
