/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Numbers that look random and are the same in every run: SplitMix64.
 */
#ifndef KAPF_BENCH_RANDOM_H
#define KAPF_BENCH_RANDOM_H

#include <stdint.h>

/* A permutation of all 64 bit numbers. */
static inline uint64_t random_mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

/* The state of one of the streams of a seed. */
static inline uint64_t random_start(uint64_t seed, uint64_t stream)
{
	return random_mix(seed + random_mix(stream + 1));
}

static inline uint64_t random_next(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15;
	return random_mix(*state);
}

/* In (0, 1]. */
static inline double random_fraction(uint64_t *state)
{
	return ((random_next(state) >> 11) + 1) * (1.0 / (1ULL << 53));
}

#endif /* KAPF_BENCH_RANDOM_H */
