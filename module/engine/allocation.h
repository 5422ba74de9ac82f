/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * How the seats of a server are divided among its priority levels.
 */
#ifndef KAPF_ALLOCATION_H
#define KAPF_ALLOCATION_H

#include <linux/types.h>

/**
 * kapf_nominal_limit() - NominalCL = ceil(ServerCL * NCS / sum of NCS)
 * @server_seats: ServerCL, below 2^31
 * @shares: NCS of the level, below 2^32
 * @sum: of the NCS of all levels, exempt ones included, below 2^63
 *
 * Rounding up may hand out a few seats more than the server has.
 *
 * Return: seats; 0 where no level has any share.
 */
static inline u32 kapf_nominal_limit(u64 server_seats, u64 shares, u64 sum)
{
	return sum ? (server_seats * shares + sum - 1) / sum : 0;
}

#endif /* KAPF_ALLOCATION_H */
