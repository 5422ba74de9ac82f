// SPDX-License-Identifier: GPL-2.0
/*
 * Kinds of objects, and objects as the command line names them: KIND NAME...,
 * KIND,KIND NAME... or KIND/NAME..., as in kubectl.
 */
#include <stdlib.h>
#include <string.h>

#include "kapfctl.h"

static bool is_one_of(const char *word, size_t len, const char *const *words)
{
	while (*words && (strncasecmp(word, *words, len) || (*words)[len]))
		words++;
	return *words;
}

/* Is it NAME, NAME.GROUP or NAME.VERSION.GROUP, in any case, as in kubectl? */
static bool is_type(const char *word, size_t len, const char *const *names)
{
	static const char *const suffixes[] = {
		"", "." API_GROUP, ".v1." API_GROUP, ".v1beta3." API_GROUP,
		".v1beta2." API_GROUP, ".v1beta1." API_GROUP, NULL
	};
	size_t name = strcspn(word, ".");

	if (name > len)
		name = len;
	return is_one_of(word, name, names) &&
	       is_one_of(word + name, len - name, suffixes);
}

/* The kinds that one word of @len characters names; 0: it is none. */
static unsigned int kind_of(const char *word, size_t len)
{
	static const char *const levels[] = {
		"prioritylevels", "prioritylevel", "pl",
		"prioritylevelconfigurations", "prioritylevelconfiguration",
		NULL
	};
	static const char *const schemas[] = {
		"flowschemas", "flowschema", "fs", NULL
	};
	static const char *const all[] = { "all", NULL };

	if (is_one_of(word, len, all))
		return LEVEL | SCHEMA;
	if (is_type(word, len, levels))
		return LEVEL;
	return is_type(word, len, schemas) ? SCHEMA : 0;
}

/* The kinds that a list of @len characters names, as in pl,fs */
static int read_kinds(const struct command *command, const char *list,
		      size_t len, unsigned int *kinds)
{
	const char *end = list + len;

	*kinds = 0;
	for (;;) {
		size_t word = strcspn(list, ",");
		unsigned int kind;

		if (word > (size_t)(end - list))
			word = end - list;
		kind = kind_of(list, word);
		if (!kind)
			return usage_error(command,
					   "\"%.*s\" is no kind of object: must be prioritylevels, flowschemas or all",
					   (int)word, list);
		*kinds |= kind;
		list += word;
		if (list == end)
			return DONE;
		list++;
	}
}

/**
 * select_object() - add an object to those that are named
 * @selection: where
 * @kinds: LEVEL, SCHEMA or both: one object of each
 * @name: of the object; not copied
 */
void select_object(struct selection *selection, unsigned int kinds,
		   const char *name)
{
	static const enum kind all[] = { LEVEL, SCHEMA };
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (!(kinds & all[i]))
			continue;
		selection->all = need(reallocarray(selection->all,
						   selection->nr + 1,
						   sizeof(*selection->all)));
		selection->all[selection->nr].kind = all[i];
		selection->all[selection->nr++].name = name;
	}
}

/* KIND/NAME, of which the kind is not known yet */
static int select_by_path(const struct command *command,
			  struct selection *selection, const char *path)
{
	const char *slash = strchr(path, '/');
	unsigned int kinds;

	if (!slash)
		return usage_error(command,
				   "\"%s\" has no kind: KIND/NAME goes with others of its form alone",
				   path);
	if (read_kinds(command, path, slash - path, &kinds) != DONE)
		return USAGE;
	if (!slash[1] || strchr(slash + 1, '/'))
		return usage_error(command, "\"%s\" is not KIND/NAME", path);
	selection->kinds |= kinds;
	select_object(selection, kinds, slash + 1);
	return DONE;
}

/**
 * select_objects() - read which objects the command line names
 * @command: whose
 * @selection: out: zero before; to be freed in any case
 * @args: KIND[,KIND]... [NAME]..., or KIND/NAME...
 * @nr: how many there are, more than 0
 *
 * Return: DONE, or USAGE after a complaint.
 */
int select_objects(const struct command *command, struct selection *selection,
		   char **args, int nr)
{
	int i, status = DONE;

	if (strchr(args[0], '/')) {
		for (i = 0; status == DONE && i < nr; i++)
			status = select_by_path(command, selection, args[i]);
		return status;
	}
	status = read_kinds(command, args[0], strlen(args[0]),
			    &selection->kinds);
	for (i = 1; status == DONE && i < nr; i++) {
		if (!*args[i] || strchr(args[i], '/'))
			status = usage_error(command, "\"%s\" is no name of an object",
					     args[i]);
		else
			select_object(selection, selection->kinds, args[i]);
	}
	return status;
}

/**
 * is_selected() - is an object one of those?
 * @selection: they
 * @kind: of the object
 * @name: of the object
 */
bool is_selected(const struct selection *selection, enum kind kind,
		 const char *name)
{
	size_t i;

	if (!selection->nr)
		return selection->kinds & kind;
	for (i = 0; i < selection->nr; i++)
		if (selection->all[i].kind == kind &&
		    !strcmp(selection->all[i].name, name))
			return true;
	return false;
}

static bool exists(const struct kapf_configuration *config,
		   const struct selected *object)
{
	if (object->kind == LEVEL)
		return kapf_config_level(config, object->name);
	return kapf_config_schema(config, object->name);
}

static bool drains(const struct state *state, const struct selected *object)
{
	uint32_t i;

	if (object->kind == LEVEL) {
		for (i = 0; i < state->stats.nr_levels; i++)
			if (level_drains(&state->levels[i]) &&
			    !strcmp(state->levels[i].name, object->name))
				return true;
		return false;
	}
	for (i = 0; i < state->stats.nr_schemas; i++)
		if (schema_drains(state, &state->schemas[i]) &&
		    !strcmp(state->schemas[i].name, object->name))
			return true;
	return false;
}

static void complain_of(const struct selected *object)
{
	complain("%s \"%s\" not found", object->kind == LEVEL ?
		 "prioritylevels" : "flowschemas", object->name);
}

/**
 * complain_of_missing() - complain of objects that do not exist
 * @selection: those that are named
 * @config: where they should be
 *
 * Return: whether there were any.
 */
bool complain_of_missing(const struct selection *selection,
			 const struct kapf_configuration *config)
{
	bool missing = false;
	size_t i;

	for (i = 0; i < selection->nr; i++) {
		if (exists(config, &selection->all[i]))
			continue;
		complain_of(&selection->all[i]);
		missing = true;
	}
	return missing;
}

/**
 * complain_of_absent() - complain of objects that neither exist nor drain
 * @selection: those that are named
 * @state: where they should be
 *
 * Return: whether there were any.
 */
bool complain_of_absent(const struct selection *selection,
			const struct state *state)
{
	bool absent = false;
	size_t i;

	for (i = 0; i < selection->nr; i++) {
		if (exists(state->config, &selection->all[i]) ||
		    drains(state, &selection->all[i]))
			continue;
		complain_of(&selection->all[i]);
		absent = true;
	}
	return absent;
}

/**
 * kind_type() - a kind as kubectl writes it before the name of an object
 * @kind: LEVEL or SCHEMA
 */
const char *kind_type(enum kind kind)
{
	return kind == LEVEL ? "prioritylevelconfiguration." API_GROUP :
			       "flowschema." API_GROUP;
}
