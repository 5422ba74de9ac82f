/* SPDX-License-Identifier: LGPL-2.1 */
/* The kernel's names of integers, for the engine. */
#ifndef KAPF_GATE_TYPES_H
#define KAPF_GATE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include_next <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;

#endif /* KAPF_GATE_TYPES_H */
