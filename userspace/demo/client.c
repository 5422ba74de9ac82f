// SPDX-License-Identifier: GPL-2.0
/*
 * A client's connection to one of several servers.  It keeps the connection for
 * as long as it lasts; when that breaks, or cannot be made, the next call tries
 * the next server.
 */
#include <err.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>
#include "client.h"
#include "timing.h"

void client_init(struct client *client, char *const *servers,
		 unsigned int nr, unsigned int first, uint64_t timeout)
{
	*client = (struct client){
		.servers = servers,
		.nr = nr,
		.server = first % nr,
		.fd = -1,
		.timeout = timeout,
	};
}

void client_close(struct client *client)
{
	if (client->fd >= 0)
		close(client->fd);
	client->fd = -1;
}

void client_connect(struct client *client)
{
	const struct timeval timeout = {
		.tv_sec = client->timeout / SEC_NS,
		.tv_usec = client->timeout % SEC_NS / 1000,
	};
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(address.sun_path, sizeof(address.sun_path), "%s",
		 client->servers[client->server]);
	client->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (client->fd < 0)
		err(1, "socket");
	setsockopt(client->fd, SOL_SOCKET, SO_RCVTIMEO, &timeout,
		   sizeof(timeout));
	setsockopt(client->fd, SOL_SOCKET, SO_SNDTIMEO, &timeout,
		   sizeof(timeout));
	if (connect(client->fd, (struct sockaddr *)&address, sizeof(address)))
		client_close(client);
}

/**
 * client_call() - send a request and read all of the answer
 * @client: connects if it is not
 * @digest: the request
 * @answer: out
 *
 * Return: 0 and @answer; or -1 when the server is or went away: the next call
 * goes to the next server.
 */
int client_call(struct client *client, const struct kapf_digest *digest,
		struct wire_status_line *answer)
{
	if (client->fd < 0)
		client_connect(client);
	if (client->fd >= 0 &&
	    !wire_send_request(client->fd, digest) &&
	    !wire_recv_status(client->fd, answer) &&
	    (answer->status != WIRE_OK || !wire_recv_body(client->fd)))
		return 0;
	client_close(client);
	client->server = (client->server + 1) % client->nr;
	return -1;
}
