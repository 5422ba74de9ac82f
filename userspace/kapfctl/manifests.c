// SPDX-License-Identifier: GPL-2.0
/*
 * Manifests: reading the files that -f names, and merging their objects into a
 * configuration.  All functions complain when they fail.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <json-c/json.h>

#include "kapfctl.h"

/* Bytes that are read at once. */
#define CHUNK 65536

static int read_stream(struct manifests *manifests, const char *name, FILE *in)
{
	struct manifest *manifest;
	size_t len = 0, got;
	char *text = NULL;

	do {
		text = need(realloc(text, len + CHUNK));
		got = fread(text + len, 1, CHUNK, in);
		len += got;
	} while (got && len <= KAPF_MAX_IMAGE_BYTES);
	if (ferror(in) || len > KAPF_MAX_IMAGE_BYTES) {
		complain("%s: %s", name, ferror(in) ? strerror(errno) :
			 "more than 8 MiB: no configuration is so long");
		free(text);
		return -1;
	}
	manifests->all = need(reallocarray(manifests->all, manifests->nr + 1,
					   sizeof(*manifests->all)));
	manifest = &manifests->all[manifests->nr++];
	manifest->file = need(strdup(name));
	manifest->text = text;
	manifest->len = len;
	return 0;
}

static int read_file(struct manifests *manifests, const char *path)
{
	FILE *in = fopen(path, "re");
	int ret;

	if (!in) {
		complain("%s: %s", path, strerror(errno));
		return -1;
	}
	ret = read_stream(manifests, path, in);
	fclose(in);
	return ret;
}

/* Of a directory, in which somebody may have put anything. */
static int read_regular(struct manifests *manifests, const char *path)
{
	struct stat st;

	if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
		complain("%s: is no regular file", path);
		return -1;
	}
	return read_file(manifests, path);
}

static int is_manifest(const struct dirent *entry)
{
	const char *suffix = strrchr(entry->d_name, '.');

	return suffix && (!strcmp(suffix, ".yaml") || !strcmp(suffix, ".yml") ||
			  !strcmp(suffix, ".json"));
}

static int read_directory(struct manifests *manifests, const char *path)
{
	struct dirent **entries;
	int i, nr, ret = 0, len = strlen(path);
	char *file;

	nr = scandir(path, &entries, is_manifest, alphasort);
	if (nr < 0) {
		complain("%s: %s", path, strerror(errno));
		return -1;
	}
	if (!nr) {
		complain("%s: no *.yaml, *.yml or *.json in it", path);
		manifests->empty = true;
	}
	while (len && path[len - 1] == '/')
		len--;
	for (i = 0; i < nr; i++) {
		if (asprintf(&file, "%.*s/%s", len, path,
			     entries[i]->d_name) < 0)
			need(NULL);
		if (read_regular(manifests, file) < 0)
			ret = -1;
		free(file);
		free(entries[i]);
	}
	free(entries);
	return ret;
}

/**
 * read_manifests() - read what one -f names
 * @manifests: what was read before; files are added
 * @path: a file, a directory or "-"
 *
 * Complains of a directory without manifests, too, which is for the caller to
 * refuse.
 *
 * Return: 0 or -1.
 */
int read_manifests(struct manifests *manifests, const char *path)
{
	struct stat st;

	if (!strcmp(path, "-"))
		return read_stream(manifests, "stdin", stdin);
	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return read_directory(manifests, path);
	return read_file(manifests, path);
}

/**
 * free_manifests() - free what read_manifests() made
 * @manifests: they
 */
void free_manifests(struct manifests *manifests)
{
	size_t i;

	for (i = 0; i < manifests->nr; i++) {
		free(manifests->all[i].file);
		free(manifests->all[i].text);
	}
	free(manifests->all);
}

/* The metadata of an object if it comes from a manifest, else NULL. */
static const struct kapf_meta *level_meta(const struct kapf_configuration *in,
					  const char *name)
{
	const struct kapf_priority_level *level = kapf_config_level(in, name);

	return level && level->meta.file ? &level->meta : NULL;
}

static const struct kapf_meta *schema_meta(const struct kapf_configuration *in,
					   const char *name)
{
	const struct kapf_flow_schema *schema = kapf_config_schema(in, name);

	return schema && schema->meta.file ? &schema->meta : NULL;
}

static bool is_duplicate(const char *kind, const char *name,
			 const struct kapf_meta *meta,
			 const struct kapf_meta *earlier)
{
	if (!earlier)
		return false;
	complain("%s:%u: %s \"%s\": also in %s:%u; each object may be given once",
		 meta->file, meta->line, kind, name, earlier->file,
		 earlier->line);
	return true;
}

/* Is an object of one file also in another that was read earlier? */
static bool have_common(const struct kapf_configuration *file,
			const struct kapf_configuration *earlier)
{
	size_t i;

	for (i = 0; i < file->nr_levels; i++) {
		const struct kapf_priority_level *level = &file->levels[i];

		if (level->meta.file &&
		    is_duplicate("PriorityLevelConfiguration", level->name,
				 &level->meta,
				 level_meta(earlier, level->name)))
			return true;
	}
	for (i = 0; i < file->nr_schemas; i++) {
		const struct kapf_flow_schema *schema = &file->schemas[i];

		if (schema->meta.file &&
		    is_duplicate("FlowSchema", schema->name, &schema->meta,
				 schema_meta(earlier, schema->name)))
			return true;
	}
	return false;
}

static int merge(struct kapf_configuration *config,
		 const struct manifest *manifest)
{
	struct kapf_error err;

	if (kapf_config_merge(config, manifest->text, manifest->len,
			      manifest->file, &err) < 0) {
		complain("%s", err.text);
		return -1;
	}
	return 0;
}

/**
 * merge_manifests() - merge all files into a configuration
 * @manifests: they
 * @config: changed even when this fails
 *
 * A file may replace an object of @config, but not of another file: which of
 * the two was meant?  So each is also read on its own, to be compared with
 * those before it.  Where one is refused, the others are still looked at: whoever
 * has several to correct learns of the first error of each.
 *
 * Return: 0 or -1.
 */
int merge_manifests(const struct manifests *manifests,
		    struct kapf_configuration *config)
{
	struct kapf_configuration *earlier = need(kapf_config_new()), *file;
	int ret = 0;
	size_t i;

	for (i = 0; i < manifests->nr; i++) {
		file = need(kapf_config_new());
		if (merge(file, &manifests->all[i]) < 0 ||
		    have_common(file, earlier) ||
		    merge(earlier, &manifests->all[i]) < 0 ||
		    merge(config, &manifests->all[i]) < 0)
			ret = -1;
		kapf_config_free(file);
	}
	kapf_config_free(earlier);
	return ret;
}

/**
 * select_manifests() - select the objects that have come from files
 * @selection: where they are added
 * @config: to which their names belong
 */
void select_manifests(struct selection *selection,
		      const struct kapf_configuration *config)
{
	size_t i;

	for (i = 0; i < config->nr_levels; i++)
		if (config->levels[i].meta.file)
			select_object(selection, LEVEL, config->levels[i].name);
	for (i = 0; i < config->nr_schemas; i++)
		if (config->schemas[i].meta.file)
			select_object(selection, SCHEMA,
				      config->schemas[i].name);
}

/* Was the manifest made from an object that has changed since? */
static bool is_outdated(const char *kind, const char *name,
			const struct kapf_meta *meta, uint64_t present)
{
	struct json_object *metadata, *value;
	const char *given;
	char version[24];

	if (!json_object_object_get_ex(meta->object, "metadata", &metadata) ||
	    !json_object_object_get_ex(metadata, "resourceVersion", &value) ||
	    !value)
		return false;
	given = json_object_get_string(value);
	snprintf(version, sizeof(version), "%ju", (uintmax_t)present);
	if (!*given || !strcmp(given, version))
		return false;
	complain("%s:%u: %s \"%s\": metadata.resourceVersion: \"%.32s\" is not \"%s\": %s",
		 meta->file, kapf_meta_line(meta, "metadata.resourceVersion"),
		 kind, name, given, version,
		 "the object has changed; get it and edit it anew, or leave this out to overwrite it");
	return true;
}

/**
 * have_outdated() - complain of manifests of objects that have changed since
 * @before: the configuration as it is
 * @after: the same with the manifests merged into it
 *
 * A manifest says by metadata.resourceVersion which object it was made from.  That
 * of an object which is not there any more tells nothing, as for kubectl.
 *
 * Return: are there any?
 */
bool have_outdated(const struct kapf_configuration *before,
		   const struct kapf_configuration *after)
{
	bool have = false;
	size_t i;

	for (i = 0; i < after->nr_levels; i++) {
		const struct kapf_priority_level *new = &after->levels[i];
		const struct kapf_priority_level *old =
			kapf_config_level(before, new->name);

		have |= old && is_outdated("PriorityLevelConfiguration",
					   new->name, &new->meta,
					   old->resource_version);
	}
	for (i = 0; i < after->nr_schemas; i++) {
		const struct kapf_flow_schema *new = &after->schemas[i];
		const struct kapf_flow_schema *old =
			kapf_config_schema(before, new->name);

		have |= old && is_outdated("FlowSchema", new->name, &new->meta,
					   old->resource_version);
	}
	return have;
}
