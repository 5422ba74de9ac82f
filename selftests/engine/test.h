/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The frame of a test file: kselftest's harness in a program, and in the kernel
 * the same words for KUnit.
 */
#ifndef ENGINE_TEST_H
#define ENGINE_TEST_H

#ifdef __KERNEL__
#include "test_kunit.h"
#else
#include <assert.h>
#include <inttypes.h>

#include "kselftest_harness.h"
#endif

#endif /* ENGINE_TEST_H */
