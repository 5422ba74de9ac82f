// SPDX-License-Identifier: GPL-2.0
/*
 * The protocol between the demo's clients and servers, both ends of it.
 *
 * A request is a 32 bit length and strings that each end with a NUL: user,
 * verb, API group, API version, resource, subresource, namespace, name, and the
 * user's groups.  An answer is a struct wire_status_line and, if all is well,
 * chunks that each begin with a 32 bit length, up to one of length 0.
 */
#include <string.h>
#include <sys/socket.h>
#include "array_size.h"
#include "wire.h"

/* What a reader takes at a time of a body that it does not look at. */
#define DISCARD_BYTES 8192

static int send_all(int fd, const void *data, size_t len)
{
	while (len) {
		ssize_t n = send(fd, data, len, MSG_NOSIGNAL);

		if (n <= 0)
			return -1;
		data = (const char *)data + n;
		len -= n;
	}
	return 0;
}

static int recv_all(int fd, void *data, size_t len)
{
	return recv(fd, data, len, MSG_WAITALL) == (ssize_t)len ? 0 : -1;
}

/* Appends a string; returns the new length, or 0 when there is no room. */
static size_t put_string(char *text, size_t used, const char *string)
{
	size_t len = strlen(string ?: "") + 1;

	if (!used || used + len > WIRE_REQUEST_BYTES)
		return 0;
	memcpy(text + used, string ?: "", len);
	return used + len;
}

int wire_send_request(int fd, const struct kapf_digest *digest)
{
	const char *const fields[] = {
		digest->user, digest->verb, digest->api_group,
		digest->api_version, digest->resource, digest->subresource,
		digest->ns, digest->name,
	};
	char text[WIRE_REQUEST_BYTES];
	size_t used = sizeof(uint32_t);
	uint32_t len;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fields); i++)
		used = put_string(text, used, fields[i]);
	for (i = 0; i < digest->nr_groups; i++)
		used = put_string(text, used, digest->groups[i]);
	if (!used)
		return -1;
	len = used - sizeof(len);
	memcpy(text, &len, sizeof(len));
	return send_all(fd, text, used);
}

int wire_recv_request(int fd, struct wire_request *request)
{
	struct kapf_digest *digest = &request->digest;
	const char **const fields[] = {
		&digest->user, &digest->verb, &digest->api_group,
		&digest->api_version, &digest->resource, &digest->subresource,
		&digest->ns, &digest->name,
	};
	const char *at = request->text, *end;
	uint32_t len;
	size_t i;

	if (recv_all(fd, &len, sizeof(len)) ||
	    !len || len > sizeof(request->text) ||
	    recv_all(fd, request->text, len) || request->text[len - 1])
		return -1;
	end = at + len;
	*digest = (struct kapf_digest){
		.is_resource = true,
		.groups = request->groups,
	};
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		if (at == end)
			return -1;
		*fields[i] = at;
		at += strlen(at) + 1;
	}
	for (; at != end; at += strlen(at) + 1) {
		if (digest->nr_groups == WIRE_GROUPS)
			return -1;
		request->groups[digest->nr_groups++] = at;
	}
	return 0;
}

int wire_send_status(int fd, const struct wire_status_line *line)
{
	return send_all(fd, line, sizeof(*line));
}

int wire_send_chunk(int fd, const void *data, size_t len)
{
	uint32_t head = len;

	return send_all(fd, &head, sizeof(head)) || send_all(fd, data, len) ?
	       -1 : 0;
}

int wire_send_end(int fd)
{
	return wire_send_chunk(fd, NULL, 0);
}

int wire_recv_status(int fd, struct wire_status_line *line)
{
	return recv_all(fd, line, sizeof(*line)) ||
	       line->verdict >= KAPF_RECLASSIFY ? -1 : 0;
}

int wire_recv_body(int fd)
{
	char data[DISCARD_BYTES];
	uint32_t len;

	for (;;) {
		if (recv_all(fd, &len, sizeof(len)))
			return -1;
		if (!len)
			return 0;
		while (len) {
			size_t part = len < sizeof(data) ? len : sizeof(data);

			if (recv_all(fd, data, part))
				return -1;
			len -= part;
		}
	}
}
