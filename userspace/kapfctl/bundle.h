/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kapfctl report: what its files share.
 */
#ifndef KAPFCTL_BUNDLE_H
#define KAPFCTL_BUNDLE_H

#include "kapfctl.h"

/* What a name is the name of; each has pseudonyms of its own. */
enum name_kind {
	NAME_USER,
	NAME_GROUP,
	NAME_NAMESPACE,
	NAME_ACCOUNT,
	NAME_OBJECT,
	NAME_SERVER,
	NAME_TENANT,
	NAME_PROCESS,
	NAME_LEVEL,
	NAME_SCHEMA,
	NAME_FLOW,
	NR_NAME_KINDS,
};

/**
 * struct pseudonyms - what stands for names in a report
 * @of: the pseudonyms of a kind, by name
 * @nr: how many of a kind have been made up
 */
struct pseudonyms {
	struct json_object *of[NR_NAME_KINDS];
	unsigned int nr[NR_NAME_KINDS];
};

/* pseudonyms.c */
void pseudonyms_init(struct pseudonyms *names);
void pseudonyms_free(struct pseudonyms *names);
const char *pseudonym(struct pseudonyms *names, enum name_kind kind,
		      const char *name);
void pseudonym_of_user(struct pseudonyms *names, const char *user,
		       char **text);
void pseudonym_of_group(struct pseudonyms *names, const char *group,
			char **text);
void replace_in_object(struct pseudonyms *names, struct json_object *object);

/* bundle_log.c */
struct json_object *log_tree(struct pseudonyms *names);

#endif /* KAPFCTL_BUNDLE_H */
