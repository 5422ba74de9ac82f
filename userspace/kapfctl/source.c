// SPDX-License-Identifier: GPL-2.0
/*
 * The configuration that a command is asked about: that of the device, or what
 * -f and --defaults make of manifests alone.
 */
#include <fcntl.h>
#include <unistd.h>

#include "kapfctl.h"

/**
 * source_option() - take an option that says where a configuration is
 * @source: where to put it
 * @option: -f as 'f', --defaults as 'd'
 * @value: of the option
 *
 * Return: 0, or -1 for a file that cannot be read.
 */
int source_option(struct source *source, int option, const char *value)
{
	if (option != 'd')
		return read_manifests(&source->manifests, value);
	source->defaults = true;
	return 0;
}

/**
 * source_is_device() - is the device asked?
 * @source: the options
 */
bool source_is_device(const struct source *source)
{
	return !source->manifests.nr && !source->manifests.empty &&
	       !source->defaults;
}

/**
 * source_read() - read the configuration
 * @source: where it is
 *
 * Return: with nominal limits and dangling schemas found out; NULL, having
 * complained, where there is none.
 */
struct kapf_configuration *source_read(const struct source *source)
{
	struct kapf_configuration *config;
	int fd;

	if (source->manifests.empty && !source->defaults)
		return NULL;
	if (source_is_device(source)) {
		fd = open_control(O_RDONLY);
		if (fd < 0)
			return NULL;
		config = read_config(fd);
		close(fd);
		return config;
	}

	config = need(kapf_config_new());
	if (source->defaults && kapf_config_add_defaults(config) < 0)
		need(NULL);
	if (merge_manifests(&source->manifests, config) < 0) {
		kapf_config_free(config);
		return NULL;
	}
	kapf_config_nominal(config);
	return config;
}
