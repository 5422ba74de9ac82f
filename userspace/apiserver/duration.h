/* SPDX-License-Identifier: GPL-2.0 */
#ifndef APISERVER_DURATION_H
#define APISERVER_DURATION_H

#include <stdbool.h>
#include <stdint.h>

/**
 * duration_parse() - read a duration as clients of Kubernetes write it
 * @ns: out; what is longer than an hour counts as an hour
 * @text: numbers with units, as in 1m30s, 1.5s or 250ms; or 0
 *
 * Return: whether it is one; none below zero is.
 */
bool duration_parse(uint64_t *ns, const char *text);

#endif /* APISERVER_DURATION_H */
