/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kapfctl lint: what its rules share.
 */
#ifndef KAPFCTL_LINT_H
#define KAPFCTL_LINT_H

#include "inspect.h"
#include "kapfctl.h"

enum severity {
	WARNING,
	ERROR,
};

/**
 * struct finding - a mistake, or what looks like one
 * @rule: that found it
 * @severity: of it
 * @kind: of the object
 * @name: of the object
 * @file: where it is; NULL: not in a file
 * @line: likewise; 0
 * @order: when it was found
 * @what: it is
 * @why: it matters
 * @change: that would help
 */
struct finding {
	const char *rule;
	enum severity severity;
	const char *kind;
	const char *name;
	const char *file;
	unsigned int line;
	size_t order;
	char *what;
	const char *why;
	const char *change;
};

/**
 * struct live - what an instance shows of its servers
 * @sessions: they
 * @nr_sessions: how many
 * @requests: those in flight, read after the sessions
 * @nr_requests: how many
 */
struct live {
	struct kapf_session_info *sessions;
	size_t nr_sessions;
	struct request *requests;
	size_t nr_requests;
};

/**
 * struct lint - what is judged, and what was found
 * @manifests: the files
 * @incomplete: some of them cannot be read
 * @defaults: the default objects alone
 * @live: with --live, instead of files
 * @config: the default objects and those of the files, with seats; or with --live
 *	the one in force
 * @rule: that is looking
 * @findings: of all rules
 * @nr: how many
 */
struct lint {
	struct manifests manifests;
	bool incomplete;
	struct kapf_configuration *defaults;
	struct live live;
	struct kapf_configuration *config;
	const char *rule;
	struct finding *findings;
	size_t nr;
};

/**
 * struct place - where a finding is
 * @kind: of the object
 * @name: of the object
 * @meta: of the object; NULL: it is not from a file
 * @line: of its file
 */
struct place {
	const char *kind;
	const char *name;
	const struct kapf_meta *meta;
	unsigned int line;
};

static inline struct place level_place(const struct kapf_priority_level *level,
				       const char *path)
{
	return (struct place) {
		"PriorityLevelConfiguration", level->name, &level->meta,
		kapf_meta_line(&level->meta, path),
	};
}

static inline struct place schema_place(const struct kapf_flow_schema *schema,
					const char *path)
{
	return (struct place) {
		"FlowSchema", schema->name, &schema->meta,
		kapf_meta_line(&schema->meta, path),
	};
}

static inline struct place subject_place(const struct kapf_flow_schema *schema,
					 const struct kapf_subject *subject)
{
	return (struct place) {
		"FlowSchema", schema->name, &schema->meta, subject->line,
	};
}

/* Room for a name of a schema or of a subject with what it takes to find it */
#define NAME_ROOM (KAPF_NAME_BYTES + 512)

/* lint.c */
void report(struct lint *lint, enum severity severity, struct place place,
	    const char *why, const char *change, const char *format, ...)
	__attribute__((format(printf, 6, 7)));
bool is_own(const struct kapf_flow_schema *schema);
const char *schema_name(char room[NAME_ROOM],
			const struct kapf_flow_schema *schema);
const char *subject_name(char room[NAME_ROOM],
			 const struct kapf_subject *subject);

/* lint_order.c */
void find_shadowed(struct lint *lint);
void find_behind(struct lint *lint);
void find_taken_over(struct lint *lint);
void find_same_precedence(struct lint *lint);
void find_inverted(struct lint *lint);

/* lint_levels.c */
void find_dangling(struct lint *lint);
void find_unused(struct lint *lint);
void find_no_seats(struct lint *lint);
void find_hand_size(struct lint *lint);
void find_dilution(struct lint *lint);
void find_borrowing(struct lint *lint);

/* lint_flows.c */
bool is_only_caught(const struct lint *lint, const char *group);
void find_one_flow(struct lint *lint);
void find_lost_tenants(struct lint *lint);

/* lint_words.c */
void find_no_match(struct lint *lint);

/* lint_live.c */
void find_fed_flows(struct lint *lint);
void find_caught_tenants(struct lint *lint);

#endif /* KAPFCTL_LINT_H */
