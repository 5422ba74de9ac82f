/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of libkapf share: results as TAP, and manifests as strings.
 */
#ifndef LIBKAPF_TEST_H
#define LIBKAPF_TEST_H

#include <stdbool.h>
#include <stddef.h>

#include "internal.h"

#define API		"flowcontrol.apiserver.k8s.io/"
#define SIZE(array)	(sizeof(array) / sizeof((array)[0]))

/* Objects, of which several can follow each other; what is in @limited ends in a comma */
#define OBJECT(kind, metadata, spec) \
	"---\napiVersion: " API "v1\nkind: " kind "\n" \
	"metadata: {" metadata "}\nspec: {" spec "}\n"
#define LEVEL(metadata, limited) \
	OBJECT("PriorityLevelConfiguration", metadata, \
	       "type: Limited, limited: {" limited REJECT "}")
#define SCHEMA(metadata, spec)	OBJECT("FlowSchema", metadata, spec)
#define REJECT		"limitResponse: {type: Reject}"
#define TO(level)	"priorityLevelConfiguration: {name: " level "}"

/* main.c */
void ok(bool passed, const char *format, ...) __printf(2, 3);
void note(const char *format, ...) __printf(1, 2);
int merge(struct kapf_configuration *config, const char *text,
	  struct kapf_error *err);

/* cases.c */
void try_text(const char *name, const char *text, const char *sentence);
void try_cases(const char *file);

void test_manifests(void);
void test_levels(void);
void test_schemas(void);
void test_validation(void);
void test_configurations(void);
void test_maintenance(void);
void test_classification(void);
void test_classifiers(void);
void test_covers(void);
void test_requests(void);
void test_estimates(void);
void test_images(void);
void test_refusals(void);
void test_writing(void);
void test_noise(void);
void test_trees(void);
void test_local(void);
void test_gates(void);
void test_memory(void);

#endif /* LIBKAPF_TEST_H */
