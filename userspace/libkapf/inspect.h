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

/* classify.c */

/**
 * enum kapf_part - a part of a FlowSchema's spec that a request can fail at, in
 *	the order in which they are looked at
 * @KAPF_PART_NONE: none fails
 * @KAPF_PART_LEVEL: priorityLevelConfiguration: it does not exist
 * @KAPF_PART_RULES: rules: there are none
 * @KAPF_PART_SUBJECTS: subjects of a rule: none is the user or one of its groups
 * @KAPF_PART_RESOURCE_RULES: resourceRules of a rule: a resource is asked for, and
 *	there are none
 * @KAPF_PART_PATH_RULES: nonResourceRules of a rule, likewise
 * @KAPF_PART_VERBS: verbs of a resource or non-resource rule, as of here
 * @KAPF_PART_API_GROUPS: apiGroups
 * @KAPF_PART_RESOURCES: resources
 * @KAPF_PART_CLUSTER_SCOPE: clusterScope: the request has no namespace
 * @KAPF_PART_NAMESPACES: namespaces: the request has one
 * @KAPF_PART_URLS: nonResourceURLs
 */
enum kapf_part {
	KAPF_PART_NONE,
	KAPF_PART_LEVEL,
	KAPF_PART_RULES,
	KAPF_PART_SUBJECTS,
	KAPF_PART_RESOURCE_RULES,
	KAPF_PART_PATH_RULES,
	KAPF_PART_VERBS,
	KAPF_PART_API_GROUPS,
	KAPF_PART_RESOURCES,
	KAPF_PART_CLUSTER_SCOPE,
	KAPF_PART_NAMESPACES,
	KAPF_PART_URLS,
};

/**
 * struct kapf_match - how a request compares with one way to match a FlowSchema
 * @part: the first that fails; KAPF_PART_NONE: it matches
 * @rule: index in the schema's rules
 * @subject: index in the rule, of the first subject that matches
 * @entry: index in the rule's resourceRules, or nonResourceRules where a path is
 *	asked for
 *
 * An index of what has not been looked at when a part fails is 0.
 */
struct kapf_match {
	enum kapf_part part;
	size_t rule;
	size_t subject;
	size_t entry;
};

/**
 * typedef kapf_match_fn - a request has been compared
 * @schema: with this
 * @match: with what result
 * @user: as given to kapf_explain()
 */
typedef void kapf_match_fn(const struct kapf_flow_schema *schema,
			   const struct kapf_match *match, void *user);

/**
 * kapf_explain() - kapf_classify(), and how it came to that
 * @config: as kapf_classify()
 * @digest: the request
 * @tell: called for each comparison, in their order; NULL: nobody is told
 * @user: for @tell
 *
 * A schema before the one that matches is told of at least once: once as a whole
 * where it is dangling or has no rules; else once for each rule whose subjects
 * fail or that has no rules of the kind, and for each resource or non-resource
 * rule of the others.  The last call is of the match; there is none where nothing
 * matches, and catch-all is returned all the same.
 *
 * Return: as kapf_classify().
 */
const struct kapf_flow_schema *
kapf_explain(const struct kapf_configuration *config,
	     const struct kapf_digest *digest, kapf_match_fn *tell, void *user);

/* error.c */
const char *kapf_quote(char *buffer, size_t size, const char *text);

/* meta.c */
unsigned int kapf_meta_line(const struct kapf_meta *meta, const char *path);
int kapf_meta_autoupdate(const struct kapf_meta *meta);

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
