// SPDX-License-Identifier: LGPL-2.1
/*
 * A session: what one server process has with one instance of kapf, from its
 * opening to its end.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "internal.h"
#include "label.h"
#include "session.h"

int kapf_get_info(int fd, struct kapf_info *info, struct kapf_error *err)
{
	int ret;

	*info = (struct kapf_info){ .size = sizeof(*info) };
	if (ioctl(fd, KAPF_GET_INFO, info) < 0) {
		ret = -errno;
		kapf_error_set(err, "not a node of kapf: %s", strerror(-ret));
		return ret;
	}
	if (info->abi != KAPF_ABI) {
		kapf_error_set(err, "the module has interface %u, this program knows %u",
			       info->abi, KAPF_ABI);
		return -EPROTO;
	}
	return 0;
}

/* Say why a node cannot be opened. */
static void refuse_open(int ret, const char *node, struct kapf_error *err)
{
	if (ret == -ENOENT || ret == -ENXIO || ret == -ENODEV)
		kapf_error_set(err, "%s is not there: is the module kapf loaded?",
			       node);
	else if (ret == -EACCES || ret == -EPERM)
		kapf_error_set(err,
			       "%s: no permission to open it: must be in the group kapf, as installed, or root",
			       node);
	else
		kapf_error_set(err, "%s: %s", node, strerror(-ret));
}

/* Say why KAPF_ATTACH failed. */
static void refuse_attach(int ret, const struct kapf_server *server,
			  unsigned int slots, const struct kapf_info *info,
			  struct kapf_error *err)
{
	const char *server_name = server->name ? server->name : "";
	const char *tenant = server->tenant ? server->tenant : "";
	char name[128], tenant_name[128];

	if (ret == -EINVAL)
		kapf_error_set(err,
			       "cannot be server %s%s%s with %u slot%s: a name is 1 to %d of [a-z0-9.-], slots are 1 to max_inflight of the module kapf, %u",
			       kapf_quote(name, sizeof(name), server_name),
			       *tenant ? " of tenant " : "",
			       *tenant ? kapf_quote(tenant_name,
						    sizeof(tenant_name),
						    tenant) : "",
			       slots, slots == 1 ? "" : "s",
			       KAPF_SERVER_BYTES - 1, info->max_inflight);
	else if (ret == -EDQUOT)
		kapf_error_set(err,
			       "this user has as many sessions as max_sessions of the module kapf allows, %u",
			       info->max_sessions);
	else if (ret == -ENOTTY)
		kapf_error_set(err,
			       "this is a control node: servers attach to a submit node: /dev/kapf%u",
			       info->instance);
	else
		kapf_error_set(err, "cannot attach: %s", strerror(-ret));
}

/* One that is too long stays without its NUL, which is refused. */
static void copy_name(char *to, size_t size, const char *name)
{
	if (name)
		memcpy(to, name, strnlen(name, size));
}

static int attach_node(int fd, const struct kapf_server *server,
		       unsigned int *slots, struct kapf_error *err)
{
	struct kapf_attach attach = {
		.size = sizeof(attach),
		.label_bytes = LABEL_BYTES,
	};
	struct kapf_info info;
	int ret;

	ret = kapf_get_info(fd, &info, err);
	if (ret < 0)
		return ret;
	*slots = server->slots ? server->slots : info.max_inflight;
	attach.slots = *slots;
	copy_name(attach.server, sizeof(attach.server), server->name);
	copy_name(attach.tenant, sizeof(attach.tenant), server->tenant);

	if (!ioctl(fd, KAPF_ATTACH, &attach))
		return 0;
	ret = -errno;
	refuse_attach(ret, server, *slots, &info, err);
	return ret;
}

/* What a session needs besides the attached node. */
static int session_init(struct kapf_session *session, unsigned int slots,
			struct kapf_error *err)
{
	int ret = snapshots_init(&session->snapshots, session->fd, err);

	if (ret < 0)
		return ret;
	ret = slots_init(&session->slots, slots);
	if (ret < 0)
		goto no_memory;
	session->pending = calloc(slots, sizeof(*session->pending));
	if (session->pending)
		return 0;
	slots_destroy(&session->slots);
no_memory:
	kapf_error_set(err, "not enough memory");
	snapshots_destroy(&session->snapshots);
	return -ENOMEM;
}

int kapf_session_open(struct kapf_session **session,
		      const struct kapf_server *server, struct kapf_error *err)
{
	const char *node = server->node ? server->node : KAPF_SUBMIT_NODE;
	struct kapf_session *fresh = calloc(1, sizeof(*fresh));
	unsigned int slots;
	int ret;

	if (!fresh) {
		kapf_error_set(err, "not enough memory");
		return -ENOMEM;
	}
	fresh->fd = open(node, O_RDWR | O_CLOEXEC);
	if (fresh->fd < 0) {
		ret = -errno;
		refuse_open(ret, node, err);
		goto free;
	}
	ret = attach_node(fresh->fd, server, &slots, err);
	if (!ret)
		ret = session_init(fresh, slots, err);
	if (ret < 0)
		goto close;
	copy_name(fresh->tenant, sizeof(fresh->tenant), server->tenant);
	*session = fresh;
	return 0;

close:
	close(fresh->fd);
free:
	free(fresh);
	return ret;
}

void kapf_session_close(struct kapf_session *session)
{
	if (!session)
		return;
	close(session->fd);
	free(session->pending);
	slots_destroy(&session->slots);
	snapshots_destroy(&session->snapshots);
	free(session);
}

int kapf_session_fd(const struct kapf_session *session)
{
	return session->fd;
}
