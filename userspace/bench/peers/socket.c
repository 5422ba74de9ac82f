// SPDX-License-Identifier: GPL-2.0
/*
 * A daemon on a Unix socket: each worker has a connection to it.  A decision takes
 * a packet there and one back; a finish, which no one waits for, one packet there.
 * When a process dies its connections break, and the daemon takes the seats back.
 *
 * Exempt requests are counted, by worker, and ask nobody.
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../bench.h"
#include "wire.h"

/**
 * struct socket_worker - one connection
 * @fd: of it; 0: none yet
 * @exempt: requests
 */
struct socket_worker {
	LINE int fd;
	uint32_t exempt;
};

/**
 * struct socket_peer - a daemon, and those of its connections that are this
 *	process's
 * @daemon: its process
 * @max_wait: for which one waits
 * @address: of the daemon
 * @workers: one each
 */
struct socket_peer {
	pid_t daemon;
	struct timeval max_wait;
	struct sockaddr_un address;
	struct socket_worker workers[];
};

/* An address that goes away with the socket. */
static void set_address(struct sockaddr_un *address)
{
	static uint32_t number;

	address->sun_family = AF_UNIX;
	snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1,
		 "kapf-bench-%d-%u", getpid(), number++);
}

static void *socket_open(const struct peer_limits *limits)
{
	struct socket_peer *peer = bench_lines(sizeof(*peer) + limits->workers *
					       sizeof(*peer->workers));
	int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	set_address(&peer->address);
	peer->max_wait.tv_sec = limits->max_wait_ns / SECOND_NS;
	peer->max_wait.tv_usec = limits->max_wait_ns % SECOND_NS / 1000;
	if (listener < 0 ||
	    bind(listener, (struct sockaddr *)&peer->address,
		 sizeof(peer->address)) || listen(listener, limits->workers))
		bench_fail("the daemon's socket");
	peer->daemon = bench_fork();
	if (!peer->daemon) {
		/* Beside its only client, where it has one: wakes are cheap. */
		bench_pin(0);
		daemon_serve(listener, limits);
	}
	close(listener);
	return peer;
}

/**
 * socket_connect() - another connection to the daemon
 * @handle: of the socket peer
 *
 * Return: its descriptor.
 */
int socket_connect(void *handle)
{
	struct socket_peer *peer = handle;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&peer->address,
			      sizeof(peer->address)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &peer->max_wait,
		       sizeof(peer->max_wait)))
		bench_fail("connect to the daemon");
	return fd;
}

static void ask(int fd, const struct wire_ask *ask)
{
	if (send(fd, ask, sizeof(*ask), MSG_NOSIGNAL) != sizeof(*ask))
		bench_fail("send to the daemon");
}

static enum peer_verdict socket_admit(void *handle, uint32_t worker,
				      const struct request *request)
{
	struct socket_peer *peer = handle;
	struct socket_worker *me = &peer->workers[worker];
	struct wire_ask admit = {
		.opcode = WIRE_ADMIT,
		.hash = request->hash,
		.level = request->level,
		.seats = request->seats,
	};
	uint8_t verdict;

	if (request->exempt) {
		me->exempt++;
		return PEER_EXECUTE;
	}
	if (!me->fd)
		me->fd = socket_connect(peer);
	ask(me->fd, &admit);
	if (recv(me->fd, &verdict, 1, 0) == 1)
		return verdict;
	if (errno != EAGAIN)
		bench_fail("receive from the daemon");
	ask(me->fd, &(struct wire_ask){ .opcode = WIRE_CANCEL });
	if (recv(me->fd, &verdict, 1, 0) != 1)
		bench_fail("receive from the daemon");
	return verdict;
}

static void socket_finish(void *handle, uint32_t worker,
			  const struct request *request)
{
	struct socket_peer *peer = handle;

	if (request->exempt)
		peer->workers[worker].exempt--;
	else
		ask(peer->workers[worker].fd,
		    &(struct wire_ask){ .opcode = WIRE_FINISH });
}

static void socket_close(void *handle)
{
	struct socket_peer *peer = handle;

	kill(peer->daemon, SIGKILL);
	waitpid(peer->daemon, NULL, 0);
	free(peer);
}

const struct peer peer_socket = {
	.name = "socket",
	.processes = 2,
	.fair = true,
	.returns_seats = true,
	.open = socket_open,
	.admit = socket_admit,
	.finish = socket_finish,
	.close = socket_close,
};
