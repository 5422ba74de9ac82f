/* SPDX-License-Identifier: GPL-2.0 */
/* A client's connection to one of several servers. */
#ifndef DEMO_CLIENT_H
#define DEMO_CLIENT_H

#include <stdint.h>
#include "wire.h"

/**
 * struct client - one client
 * @servers: paths of the servers' sockets
 * @nr: how many
 * @server: index of the one it is connected to, or tries next
 * @fd: the connection, or -1
 * @timeout: ns after which a silent server counts as dead
 */
struct client {
	char *const *servers;
	unsigned int nr;
	unsigned int server;
	int fd;
	uint64_t timeout;
};

void client_init(struct client *client, char *const *servers,
		 unsigned int nr, unsigned int first, uint64_t timeout);
void client_connect(struct client *client);
void client_close(struct client *client);
int client_call(struct client *client, const struct kapf_digest *digest,
		struct wire_status_line *answer);

#endif /* DEMO_CLIENT_H */
