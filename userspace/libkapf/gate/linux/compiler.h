/* SPDX-License-Identifier: LGPL-2.1 */
#ifndef KAPF_GATE_COMPILER_H
#define KAPF_GATE_COMPILER_H

#include <sys/cdefs.h> /* __always_inline */

#define likely(condition)	__builtin_expect(!!(condition), 1)
#define unlikely(condition)	__builtin_expect(!!(condition), 0)

#endif /* KAPF_GATE_COMPILER_H */
