/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random numbers that a seed repeats (splitmix64).
 */
#ifndef ENGINE_RANDOM_H
#define ENGINE_RANDOM_H

#include <linux/types.h>

static inline u64 random_next(u64 *state)
{
	u64 x = *state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/* From low to high, both possible. */
static inline u64 random_between(u64 *state, u64 low, u64 high)
{
	return low + random_next(state) % (high - low + 1);
}

/* True percent times in a hundred. */
static inline bool random_chance(u64 *state, u32 percent)
{
	return random_next(state) % 100 < percent;
}

#endif /* ENGINE_RANDOM_H */
