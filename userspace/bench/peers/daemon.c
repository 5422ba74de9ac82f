// SPDX-License-Identifier: GPL-2.0
/*
 * The daemon of the socket peer: one thread, and the engine.  What is readable at
 * once is taken at once.
 *
 * A client that breaks the rules of wire.h is hung up on, and, as with one that
 * dies, what it had or waited for is taken back.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "../bench.h"
#include "limiter.h"
#include "wire.h"

#define LISTENER	~0u	/* as the number of a connection */
#define EVENTS		64	/* looked at together */
#define PACKETS		2	/* of one connection: FINISH, and the next ADMIT */

enum state { IDLE, WAITS, EXECUTES };

/**
 * struct connection - a client, and its request
 * @fd: of it; -1: none
 * @state: of its request, which has the same number
 */
struct connection {
	int fd;
	enum state state;
};

/**
 * struct server - the daemon
 * @load: with its levels
 * @limiter: these
 * @epoll: of all connections, and of the listener
 * @listener: new ones come here
 * @nr: how many connections there can be
 * @now: when it began to look at what had come
 * @connections: all
 */
struct server {
	const struct workload *load;
	struct limiter *limiter;
	int epoll;
	int listener;
	uint32_t nr;
	uint64_t now;
	struct connection *connections;
};

static void watch(struct server *server, int fd, uint32_t number)
{
	struct epoll_event event = {
		.events = EPOLLIN, .data.u32 = number,
	};

	if (epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event))
		bench_fail("epoll_ctl");
}

/* One that does not read what it is told is as good as dead. */
static void answer(const struct connection *client, enum peer_verdict verdict)
{
	uint8_t byte = verdict;

	if (send(client->fd, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL) != 1)
		shutdown(client->fd, SHUT_RDWR);
}

static void answer_granted(struct server *server)
{
	uint32_t number;

	while (limiter_granted(server->limiter, &number)) {
		struct connection *client = &server->connections[number];

		client->state = EXECUTES;
		answer(client, PEER_EXECUTE);
	}
}

static void end_request(struct server *server, uint32_t number)
{
	struct connection *client = &server->connections[number];

	if (client->state == EXECUTES)
		limiter_finish(server->limiter, number, server->now);
	if (client->state == WAITS)
		limiter_cancel(server->limiter, number, server->now);
	client->state = IDLE;
}

static void hang_up(struct server *server, uint32_t number)
{
	end_request(server, number);
	close(server->connections[number].fd);
	server->connections[number].fd = -1;
}

static void accept_client(struct server *server)
{
	int fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
	uint32_t number;

	for (number = 0; number < server->nr; number++)
		if (server->connections[number].fd < 0)
			break;
	if (fd < 0 || number == server->nr) {
		close(fd);
		return;
	}
	server->connections[number].fd = fd;
	watch(server, fd, number);
}

/* Return: whether the client may go on. */
static bool admit(struct server *server, uint32_t number,
		  const struct wire_ask *ask)
{
	struct connection *client = &server->connections[number];
	struct request request = {
		.hash = ask->hash, .level = ask->level, .seats = ask->seats,
	};

	if (client->state != IDLE || ask->level >= server->load->levels ||
	    !ask->seats || ask->seats > server->load->seats)
		return false;
	switch (limiter_admit(server->limiter, number, &request, server->now)) {
	case LIMITER_SEATED:
		client->state = EXECUTES;
		answer(client, PEER_EXECUTE);
		break;
	case LIMITER_QUEUED:
		client->state = WAITS;
		break;
	case LIMITER_REFUSED:
		answer(client, PEER_REFUSED);
		break;
	}
	return true;
}

/* Likewise. */
static bool take(struct server *server, uint32_t number,
		 const struct wire_ask *ask)
{
	struct connection *client = &server->connections[number];

	switch (ask->opcode) {
	case WIRE_ADMIT:
		return admit(server, number, ask);
	case WIRE_FINISH:
		if (client->state != EXECUTES)
			return false;
		end_request(server, number);
		return true;
	case WIRE_CANCEL:
		/* One that executes by now has been answered. */
		if (client->state == WAITS) {
			end_request(server, number);
			answer(client, PEER_TIME_OUT);
		}
		return true;
	default:
		return false;
	}
}

static void read_client(struct server *server, uint32_t number)
{
	struct connection *client = &server->connections[number];
	struct { struct wire_ask ask; char more; } packets[PACKETS];
	struct iovec parts[PACKETS];
	struct mmsghdr headers[PACKETS] = {};
	int i, nr;

	/* Hung up on, earlier in this round. */
	if (client->fd < 0)
		return;
	for (i = 0; i < PACKETS; i++) {
		parts[i].iov_base = &packets[i];
		parts[i].iov_len = sizeof(packets[i]);
		headers[i].msg_hdr.msg_iov = &parts[i];
		headers[i].msg_hdr.msg_iovlen = 1;
	}
	nr = recvmmsg(client->fd, headers, PACKETS, MSG_DONTWAIT, NULL);
	if (nr < 0 && errno != EAGAIN) {
		hang_up(server, number);
		answer_granted(server);
	}
	for (i = 0; i < nr; i++) {
		bool good = headers[i].msg_len == sizeof(struct wire_ask) &&
			    take(server, number, &packets[i].ask);

		if (!good)
			hang_up(server, number);
		answer_granted(server);
		if (!good)
			break;
	}
}

/**
 * daemon_serve() - be the daemon
 * @listener: bound and listening
 * @limits: what to give out, and to how many
 */
void daemon_serve(int listener, const struct peer_limits *limits)
{
	struct server server = {
		.load = limits->load,
		.epoll = epoll_create1(EPOLL_CLOEXEC),
		.listener = listener,
		.nr = limits->workers,
		.limiter = calloc(1, limiter_size(limits->load,
						  limits->workers)),
		.connections = calloc(limits->workers,
				      sizeof(struct connection)),
	};
	struct epoll_event events[EVENTS];
	uint32_t i;

	if (server.epoll < 0 || !server.limiter || !server.connections)
		bench_fail("no memory for the daemon");
	limiter_init(server.limiter, limits->load, limits->workers);
	for (i = 0; i < server.nr; i++)
		server.connections[i].fd = -1;
	watch(&server, listener, LISTENER);
	for (;;) {
		int nr = epoll_wait(server.epoll, events, EVENTS, -1);

		server.now = bench_now();
		while (nr-- > 0)
			if (events[nr].data.u32 == LISTENER)
				accept_client(&server);
			else
				read_client(&server, events[nr].data.u32);
	}
}
