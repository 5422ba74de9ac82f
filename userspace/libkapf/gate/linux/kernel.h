/* SPDX-License-Identifier: LGPL-2.1 */
#ifndef KAPF_GATE_KERNEL_H
#define KAPF_GATE_KERNEL_H

#include <stddef.h>

#define container_of(pointer, type, member) \
	((type *)((char *)(pointer) - offsetof(type, member)))

#define min(a, b) ({ \
	__typeof__(a) _a = (a); \
	__typeof__(b) _b = (b); \
	_a < _b ? _a : _b; })
#define max(a, b) ({ \
	__typeof__(a) _a = (a); \
	__typeof__(b) _b = (b); \
	_a > _b ? _a : _b; })
#define clamp(value, least, most) ({ \
	__typeof__(value) _value = (value); \
	__typeof__(least) _least = (least); \
	__typeof__(most) _most = (most); \
	_value < _least ? _least : _value > _most ? _most : _value; })

#endif /* KAPF_GATE_KERNEL_H */
