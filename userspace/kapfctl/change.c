// SPDX-License-Identifier: GPL-2.0
/*
 * Changing the configuration of an instance: reading it, having it edited,
 * writing it, and doing so again when somebody else has been faster.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kapfctl.h"

/* In this many races with others somebody else should have lost, too. */
#define MAX_TRIES 16

/**
 * dry_run_option() - read --dry-run, or end the program as wrongly typed
 * @command: whose option it is
 * @value: of the option; NULL: without one
 */
enum dry_run dry_run_option(const struct command *command, const char *value)
{
	if (!value || !strcmp(value, "client"))
		return DRY_RUN_CLIENT;
	if (!strcmp(value, "server"))
		return DRY_RUN_SERVER;
	if (!strcmp(value, "none"))
		return NO_DRY_RUN;
	exit(usage_error(command,
			 "--dry-run=%s is not accepted: must be none, client or server",
			 value));
}

static struct kapf_configuration *present(const struct change *change)
{
	struct kapf_configuration *config;

	config = change->offline ? need(kapf_config_new()) :
				   read_config(change->fd);
	if (config)
		kapf_config_nominal(config);
	return config;
}

static int write_config(const struct change *change,
			struct kapf_configuration *config)
{
	struct kapf_error err;
	int ret;

	ret = kapf_config_write(config, change->fd, &err);
	if (ret < 0 && ret != -ESTALE)
		complain("%s", err.text);
	return ret;
}

static int count_servers(struct change *change)
{
	struct kapf_session_info *sessions;
	int ret;

	change->servers = 0;
	if (change->offline)
		return 0;
	ret = read_sessions(&sessions, &change->servers, change->fd);
	free(sessions);
	return ret;
}

/*
 * Read, edit, write: 0, -ESTALE when another has changed the configuration
 * meanwhile, or another negative value after a complaint.
 */
static int change_once(struct change *change)
{
	struct kapf_configuration *before, *after = NULL;
	int ret = -1;

	before = present(change);
	if (before)
		after = present(change);
	if (!after)
		goto out;
	if (before->generation != after->generation) {
		ret = -ESTALE;
		goto out;
	}
	ret = change->edit(change, before, after);
	if (ret < 0)
		goto out;
	kapf_config_nominal(after);
	ret = count_servers(change);
	if (ret < 0)
		goto out;
	if (!change->dry_run && config_changed(before, after)) {
		ret = write_config(change, after);
		if (ret < 0)
			goto out;
	}
	change->report(change, before, after);
out:
	kapf_config_free(after);
	kapf_config_free(before);
	return ret;
}

static int change_open(struct change *change)
{
	int ret, tries;

	for (tries = 0; tries < MAX_TRIES; tries++) {
		ret = change_once(change);
		if (ret != -ESTALE)
			return ret < 0 ? REFUSED : DONE;
		complain("the configuration has been changed by another; reading it again");
	}
	complain("the configuration keeps changing; nothing has changed by this");
	return REFUSED;
}

/**
 * change_config() - change the configuration of an instance
 * @change: how; its edit() may be called several times, and its report() is once
 *	the change has been made
 *
 * What is no change is not written.
 *
 * Return: DONE, or REFUSED after a complaint.
 */
int change_config(struct change *change)
{
	int status;

	change->fd = -1;
	change->offline = change->spares_device &&
			  change->dry_run == DRY_RUN_CLIENT &&
			  control_is_missing();
	if (change->offline)
		return change_open(change);
	change->fd = open_control(change->dry_run ? O_RDONLY : O_RDWR);
	if (change->fd < 0)
		return REFUSED;
	status = change_open(change);
	close(change->fd);
	return status;
}
