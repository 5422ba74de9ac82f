/* SPDX-License-Identifier: GPL-2.0 */
/* The number of elements of an array, which user space has no header for. */
#ifndef DEMO_ARRAY_SIZE_H
#define DEMO_ARRAY_SIZE_H

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#endif /* DEMO_ARRAY_SIZE_H */
