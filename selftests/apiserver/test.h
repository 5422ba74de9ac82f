/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of kapf-apiserver that need no device share: results as TAP.
 */
#ifndef APISERVER_TEST_H
#define APISERVER_TEST_H

#include <stdbool.h>

/* main.c */
void ok(bool passed, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void same(const char *what, const char *found, const char *wanted);

void test_flowcontrol(void);
void test_replies(void);
void test_statuses(void);
void test_durations(void);
void test_identities(void);

#endif /* APISERVER_TEST_H */
