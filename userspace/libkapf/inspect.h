/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * What a tool that judges FlowSchemas and PriorityLevelConfigurations has to see
 * of them.  Not part of the library's interface: it is not installed, and the
 * shared library does not export it.
 */
#ifndef KAPF_INSPECT_H
#define KAPF_INSPECT_H

#include "libkapf.h"

/* Groups with this before the name of a tenant have its requests. */
#define KAPF_TENANT_PREFIX "kapf:tenant:"

enum kapf_subject_kind {
	KAPF_USER,
	KAPF_GROUP,
	KAPF_SERVICE_ACCOUNT,
};

/**
 * struct kapf_subject - who makes a request
 * @kind: what @name is the name of
 * @ns: namespace of a service account; else NULL
 * @name: or "*"
 * @line: of the manifest that it stands in; else 0
 */
struct kapf_subject {
	enum kapf_subject_kind kind;
	const char *ns;
	const char *name;
	unsigned int line;
};

/* error.c */
const char *kapf_quote(char *buffer, size_t size, const char *text);

/* meta.c */
unsigned int kapf_meta_line(const struct kapf_meta *meta, const char *path);

/* rules.c */
const struct kapf_subject *
kapf_schema_subject(const struct kapf_flow_schema *schema, size_t index);

/* cover.c */
bool kapf_schema_covers(const struct kapf_flow_schema *schema,
			const struct kapf_flow_schema *other);
bool kapf_schema_catches(const struct kapf_flow_schema *schema,
			 const struct kapf_flow_schema *other,
			 const struct kapf_subject *subject);
bool kapf_schemas_overlap(const struct kapf_flow_schema *schema,
			  const struct kapf_flow_schema *other);

#endif /* KAPF_INSPECT_H */
