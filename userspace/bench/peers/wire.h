/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What goes over the socket of the daemon, a packet each.  A connection is for one
 * request at a time; FINISH has no answer, the others have one: a byte, enum
 * peer_verdict.
 */
#ifndef KAPF_BENCH_WIRE_H
#define KAPF_BENCH_WIRE_H

#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "peer.h"

enum wire_opcode {
	WIRE_ADMIT = 1,
	WIRE_FINISH,
	WIRE_CANCEL,	/* waiting; answered as the ADMIT that it ends */
};

/**
 * struct wire_ask - from a client
 * @hash: of its flow
 * @opcode: of enum wire_opcode; ADMIT alone uses the rest
 * @level: from 0
 * @seats: 1 to what the level has
 */
struct wire_ask {
	uint64_t hash;
	uint16_t opcode;
	uint16_t seats;
	uint32_t level;
};

void daemon_serve(int listener, const struct peer_limits *limits)
	__attribute__((noreturn));
int socket_connect(void *handle);

#endif /* KAPF_BENCH_WIRE_H */
