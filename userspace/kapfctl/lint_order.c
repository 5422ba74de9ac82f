// SPDX-License-Identifier: GPL-2.0
/*
 * What kapfctl lint says of the order in which schemas are tried: a schema gets
 * what none before it matches.
 */
#include <string.h>

#include "lint.h"

/* Behind this one, everything that is not a node or a person is taken. */
#define GENERAL_PRECEDENCE 9000

static const char why_none[] =
	"A request goes to the first schema that matches it, so this one is without effect.";

/* The first schema before another that gets all of its requests; NULL: none */
static const struct kapf_flow_schema *
shadow(const struct lint *lint, const struct kapf_flow_schema *schema)
{
	const struct kapf_flow_schema *before;

	for (before = lint->config->schemas; before != schema; before++)
		if (!before->dangling && kapf_schema_covers(before, schema))
			return before;
	return NULL;
}

/* The same by the groups of users; of one subject, or NULL: of all */
static const struct kapf_flow_schema *
catcher(const struct lint *lint, const struct kapf_flow_schema *schema,
	const struct kapf_subject *subject)
{
	const struct kapf_flow_schema *before;

	for (before = lint->config->schemas; before != schema; before++)
		if (!before->dangling &&
		    kapf_schema_catches(before, schema, subject))
			return before;
	return NULL;
}

/* The next schema of a file that has a level; after NULL the first one */
static const struct kapf_flow_schema *
next_own(const struct lint *lint, const struct kapf_flow_schema *schema)
{
	const struct kapf_flow_schema *end =
		lint->config->schemas + lint->config->nr_schemas;

	schema = schema ? schema + 1 : lint->config->schemas;
	while (schema < end && (!is_own(schema) || schema->dangling))
		schema++;
	return schema < end ? schema : NULL;
}

void find_shadowed(struct lint *lint)
{
	const struct kapf_flow_schema *schema = NULL, *before;
	char name[NAME_ROOM];

	while ((schema = next_own(lint, schema))) {
		before = shadow(lint, schema);
		if (before)
			report(lint, ERROR,
			       schema_place(schema, "spec.matchingPrecedence"),
			       why_none,
			       "Give it a lower matchingPrecedence than that one has, or have that one match less, or remove it.",
			       "matches nothing: %s matches all of its requests before it",
			       schema_name(name, before));
	}
}

static void find_subjects_behind(struct lint *lint,
				 const struct kapf_flow_schema *schema)
{
	const struct kapf_subject *subject;
	const struct kapf_flow_schema *before;
	char name[NAME_ROOM], whom[NAME_ROOM];
	size_t i;

	for (i = 0; (subject = kapf_schema_subject(schema, i)); i++) {
		before = catcher(lint, schema, subject);
		if (before)
			report(lint, WARNING, subject_place(schema, subject),
			       "A request goes to the first schema that matches it, so for this subject this one is without effect.",
			       "Give the schema a lower matchingPrecedence than that one has, or remove the subject.",
			       "gets nothing of %s: %s matches all of that before it",
			       subject_name(whom, subject),
			       schema_name(name, before));
	}
}

void find_behind(struct lint *lint)
{
	const struct kapf_flow_schema *schema = NULL, *before;
	char name[NAME_ROOM];

	while ((schema = next_own(lint, schema))) {
		if (shadow(lint, schema))
			continue;
		before = catcher(lint, schema, NULL);
		if (!before)
			find_subjects_behind(lint, schema);
		else
			report(lint, WARNING,
			       schema_place(schema, "spec.matchingPrecedence"),
			       why_none,
			       "Give it a lower matchingPrecedence than that one has: lower is tried earlier.",
			       "matches nothing: by the groups that its users are in, %s matches all of their requests before it",
			       schema_name(name, before));
	}
}

/* The first schema of a file that gets all requests of a default one before it */
static const struct kapf_flow_schema *
usurper(const struct lint *lint, const struct kapf_flow_schema *schema)
{
	const struct kapf_flow_schema *before = NULL;

	while ((before = next_own(lint, before)) && before < schema)
		if (kapf_schema_catches(before, schema, NULL))
			return before;
	return NULL;
}

/* But for catch-all, which is there for what nobody else wants */
void find_taken_over(struct lint *lint)
{
	const struct kapf_flow_schema *schema = lint->config->schemas, *by;
	size_t i;

	for (i = 0; i < lint->config->nr_schemas; i++, schema++) {
		if (schema->meta.file || !strcmp(schema->name, "catch-all"))
			continue;
		by = usurper(lint, schema);
		if (by)
			report(lint, WARNING,
			       schema_place(by, "spec.matchingPrecedence"),
			       "What that one was to keep apart comes here, and its level gets less or nothing.",
			       "Have it match less, or give it a higher matchingPrecedence; to replace a default schema, give one of its name with the annotation apf.kubernetes.io/autoupdate-spec: \"false\".",
			       "takes all requests of the default FlowSchema \"%s\" (matchingPrecedence %u)",
			       schema->name, schema->precedence);
	}
}

static void report_same(struct lint *lint,
			const struct kapf_flow_schema *first,
			const struct kapf_flow_schema *second)
{
	const struct kapf_flow_schema *own = is_own(second) ? second : first;
	char name[NAME_ROOM];

	report(lint, WARNING, schema_place(own, "spec.matchingPrecedence"),
	       "That is no decision that one sees; renaming a schema changes it.",
	       "Give them different numbers, the lower one to the schema that is to get these requests.",
	       "has the same matchingPrecedence as %s; of the requests that both match, \"%s\" gets all, by its name",
	       schema_name(name, own == second ? first : second), first->name);
}

/* Those of one number stand one after the other. */
void find_same_precedence(struct lint *lint)
{
	const struct kapf_flow_schema *first = lint->config->schemas, *second;
	const struct kapf_flow_schema *end = first + lint->config->nr_schemas;

	for (; first < end; first++)
		for (second = first + 1; second < end &&
		     second->precedence == first->precedence; second++)
			if ((is_own(first) || is_own(second)) &&
			    !first->dangling && !second->dangling &&
			    kapf_schemas_overlap(first, second) &&
			    !kapf_schema_catches(first, second, NULL))
				report_same(lint, first, second);
}

static bool is_urgent(const char *level)
{
	return !strcmp(level, "exempt") || !strcmp(level, "system") ||
	       !strcmp(level, "node-high") || !strcmp(level, "workload-high") ||
	       !strcmp(level, "leader-election");
}

/* Where it gets nothing at all, that has been said. */
void find_inverted(struct lint *lint)
{
	const struct kapf_flow_schema *schema = NULL;

	while ((schema = next_own(lint, schema)))
		if (schema->precedence > GENERAL_PRECEDENCE &&
		    is_urgent(schema->level) && !catcher(lint, schema, NULL))
			report(lint, WARNING,
			       schema_place(schema, "spec.matchingPrecedence"),
			       "A lower matchingPrecedence is tried first: those for everybody come at 9000 and 9900, the urgent ones before 1000.",
			       "Give it a number below 1000.",
			       "has matchingPrecedence %u, nearly the last, for the priority level \"%s\"",
			       schema->precedence, schema->level);
}
