/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Fractions of seats, and what a kernel lacks for them.
 *
 * A u64 has KAPF_FIXED_BITS bits of fraction.  Products and sums of these take
 * 128 bits, which compilers know but modules cannot divide by or take roots of.
 */
#ifndef KAPF_FIXED_H
#define KAPF_FIXED_H

#include <linux/types.h>

#define KAPF_FIXED_BITS 32

/* Not every kernel has a u128. */
#define kapf_u128 unsigned __int128

/**
 * kapf_div() - divide, rounding down
 * @dividend: any
 * @divisor: 1 to 2^127
 * @rest: out: what is left, or NULL
 *
 * A bit at a time: for what is done once in a period.
 *
 * Return: the quotient.
 */
static inline kapf_u128 kapf_div(kapf_u128 dividend, kapf_u128 divisor,
				 kapf_u128 *rest)
{
	kapf_u128 left = 0;
	u32 bit;

	/* Bits of the quotient take the place of those of the dividend. */
	for (bit = 0; bit < 128; bit++) {
		left = left << 1 | dividend >> 127;
		dividend <<= 1;
		if (left >= divisor) {
			left -= divisor;
			dividend |= 1;
		}
	}
	if (rest)
		*rest = left;
	return dividend;
}

/**
 * kapf_sqrt() - square root, rounded down
 * @square: any
 *
 * Return: the root.
 */
static inline u64 kapf_sqrt(kapf_u128 square)
{
	u64 root = 0;
	u64 bit;

	for (bit = 1ULL << 63; bit; bit >>= 1)
		if ((kapf_u128)(root | bit) * (root | bit) <= square)
			root |= bit;
	return root;
}

#endif /* KAPF_FIXED_H */
