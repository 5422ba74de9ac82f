/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The protocol between the demo's clients and servers: on a Unix stream socket
 * a client sends one request after the other and reads the answer to each.
 *
 * It stands where HTTP stands for a Kubernetes API server, and carries what
 * HTTP would carry: who asks (user and groups, as authentication finds them),
 * for what (verb, group, resource, namespace, name), and back comes a status
 * with Retry-After, and a body in chunks.
 */
#ifndef DEMO_WIRE_H
#define DEMO_WIRE_H

#include <stddef.h>
#include <stdint.h>
#include "libkapf.h"

#define WIRE_REQUEST_BYTES	1024
#define WIRE_GROUPS		8

enum wire_status {
	WIRE_OK = 200,
	WIRE_TOO_MANY_REQUESTS = 429,
	WIRE_SERVER_ERROR = 500,
};

/**
 * struct wire_request - a request as a server receives it
 * @digest: what classification looks at; points into the other two
 * @groups: of the user
 * @text: the strings of the request, one after the other
 */
struct wire_request {
	struct kapf_digest digest;
	const char *groups[WIRE_GROUPS];
	char text[WIRE_REQUEST_BYTES];
};

/**
 * struct wire_status_line - head of an answer; a body follows WIRE_OK only
 * @status: enum wire_status
 * @retry_after: s that the client is asked to stay away; else 0
 * @verdict: enum kapf_verdict with WIRE_TOO_MANY_REQUESTS; else 0
 */
struct wire_status_line {
	uint32_t status;
	uint32_t retry_after;
	uint32_t verdict;
};

/* All return 0, or -1 when the connection is no longer of use. */
int wire_send_request(int fd, const struct kapf_digest *digest);
int wire_recv_request(int fd, struct wire_request *request);

int wire_send_status(int fd, const struct wire_status_line *line);
int wire_send_chunk(int fd, const void *data, size_t len);
int wire_send_end(int fd);
int wire_recv_status(int fd, struct wire_status_line *line);
int wire_recv_body(int fd);

#endif /* DEMO_WIRE_H */
