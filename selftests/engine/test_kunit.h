/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests use of kselftest_harness.h, in terms of KUnit: a file is a
 * suite, each TEST() in it a case.
 */
#ifndef ENGINE_TEST_KUNIT_H
#define ENGINE_TEST_KUNIT_H

#include <kunit/test.h>
#include <linux/module.h>
#include <linux/sched.h>

#define PRIu64 "llu"
#define PRIx64 "llx"

/* Helpers take it by the name that it has in the harness. */
#define __test_metadata kunit

#define TEST(name)							\
	static void name(struct kunit *_metadata __always_unused)

/* TEST_CASES is what Kbuild found. */
#define TEST_HARNESS_MAIN						\
	static struct kunit_case test_cases[] = { TEST_CASES {} };	\
	static struct kunit_suite test_suite = {			\
		.name = KBUILD_BASENAME,				\
		.test_cases = test_cases,				\
	};								\
	kunit_test_suite(test_suite);					\
	MODULE_DESCRIPTION("Tests of kapf's engine");			\
	MODULE_LICENSE("GPL")

#define ksft_print_msg(...) pr_info("# " __VA_ARGS__)
#define TH_LOG(fmt, ...) pr_info("# " fmt "\n", ##__VA_ARGS__)

/* Outside of a test's own function */
#define assert(condition) KUNIT_ASSERT_TRUE(current->kunit_test, condition)

static bool test_broken(struct kunit *test, int line, bool holds,
			const char *expected, s64 e, const char *op,
			const char *seen, s64 s)
{
	if (holds)
		return false;
	kunit_err(test, KBUILD_BASENAME ".c:%d: expected %s (%lld) %s %s (%lld)",
		  line, expected, e, op, seen, s);
	kunit_set_failure(test);
	return true;
}

/* Return: false, to end the loop of TEST_CHECK() */
static bool test_checked(struct kunit *test, bool stop)
{
	if (stop)
		kunit_try_catch_throw(&test->try_catch);
	return false;
}

/*
 * A failure runs the block that may follow, where a test says more about it;
 * then the test stops, or goes on.
 */
#define TEST_CHECK(expected, op, seen, stop)				\
	for (bool broken = ({						\
			__typeof__(expected) e = (expected);		\
			__typeof__(seen) s = (seen);			\
									\
			test_broken(_metadata, __LINE__, e op s,	\
				    #expected, (s64)e, #op, #seen, (s64)s); \
		}); broken; broken = test_checked(_metadata, stop))

#define ASSERT_EQ(expected, seen) TEST_CHECK(expected, ==, seen, true)
#define ASSERT_NE(expected, seen) TEST_CHECK(expected, !=, seen, true)
#define ASSERT_LT(expected, seen) TEST_CHECK(expected, <, seen, true)
#define ASSERT_LE(expected, seen) TEST_CHECK(expected, <=, seen, true)
#define ASSERT_GE(expected, seen) TEST_CHECK(expected, >=, seen, true)
#define ASSERT_TRUE(seen) TEST_CHECK(false, !=, !!(seen), true)
#define EXPECT_EQ(expected, seen) TEST_CHECK(expected, ==, seen, false)
#define EXPECT_NE(expected, seen) TEST_CHECK(expected, !=, seen, false)
#define EXPECT_LT(expected, seen) TEST_CHECK(expected, <, seen, false)
#define EXPECT_LE(expected, seen) TEST_CHECK(expected, <=, seen, false)
#define EXPECT_GT(expected, seen) TEST_CHECK(expected, >, seen, false)
#define EXPECT_GE(expected, seen) TEST_CHECK(expected, >=, seen, false)
#define EXPECT_TRUE(seen) TEST_CHECK(false, !=, !!(seen), false)
#define EXPECT_FALSE(seen) TEST_CHECK(false, ==, !!(seen), false)

#endif /* ENGINE_TEST_KUNIT_H */
