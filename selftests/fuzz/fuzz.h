/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What fuzz targets share: taking values off the input, and giving up where
 * something is not as it has to be.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* What a target defines, and a fuzzer or replay.c calls. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What has to hold, whatever the input is. */
#define insist(condition)						\
	do {								\
		if (!(condition)) {					\
			fprintf(stderr, "%s:%d: not so: %s\n",		\
				__FILE__, __LINE__, #condition);	\
			abort();					\
		}							\
	} while (0)

/**
 * struct input - what is left of it
 * @at: the next byte
 * @left: how many there are
 */
struct input {
	const uint8_t *at;
	size_t left;
};

/* 0, once there is nothing left: what an input does not say is least. */
static inline uint8_t input_byte(struct input *input)
{
	if (!input->left)
		return 0;
	input->left--;
	return *input->at++;
}

/* So many bytes, low ones first */
static inline uint64_t input_number(struct input *input, unsigned int bytes)
{
	uint64_t number = 0;
	unsigned int i;

	for (i = 0; i < bytes; i++)
		number |= (uint64_t)input_byte(input) << (8 * i);
	return number;
}

/* Below limit, which is at most 65536 */
static inline uint32_t input_below(struct input *input, uint32_t limit)
{
	return input_number(input, limit > 256 ? 2 : 1) % limit;
}

#endif /* FUZZ_H */
