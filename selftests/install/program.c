// SPDX-License-Identifier: GPL-2.0
/*
 * A program of somebody else: built with an installed libkapf, it says to which
 * schema a request belongs under the default configuration.
 */
#include <libkapf.h>
#include <stdio.h>

int main(void)
{
	const char *const groups[] = { "system:authenticated" };
	const struct kapf_digest digest = {
		.user = "alice",
		.groups = groups,
		.nr_groups = 1,
		.is_resource = true,
		.verb = "list",
		.resource = "pods",
	};
	struct kapf_configuration *config = kapf_config_new();

	if (!config || kapf_config_add_defaults(config) < 0)
		return 1;
	kapf_config_nominal(config);
	printf("%s\n", kapf_classify(config, &digest)->name);
	kapf_config_free(config);
	return 0;
}
