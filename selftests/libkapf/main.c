// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of libkapf that need no kernel module, as one program, so that the leak
 * checker sees all of them.
 */
#include <stdarg.h>
#include <stdio.h>

#include "test.h"

static unsigned int nr_tests;
static unsigned int nr_failed;

void ok(bool passed, const char *format, ...)
{
	va_list args;

	printf("%sok %u - ", passed ? "" : "not ", ++nr_tests);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	nr_failed += !passed;
}

/* Says more about the test before. */
void note(const char *format, ...)
{
	va_list args;

	printf("# ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

int merge(struct kapf_configuration *config, const char *text,
	  struct kapf_error *err)
{
	return kapf_config_merge(config, text, strlen(text), "x", err);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n");
	test_manifests();
	test_levels();
	test_schemas();
	test_validation();
	test_configurations();
	test_maintenance();
	test_classification();
	test_classifiers();
	test_covers();
	test_requests();
	test_estimates();
	test_images();
	test_refusals();
	test_writing();
	test_noise();
	test_trees();
	test_local();
	test_gates();
	test_memory();
	printf("1..%u\n", nr_tests);
	return nr_failed != 0;
}
