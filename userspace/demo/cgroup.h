/* SPDX-License-Identifier: GPL-2.0 */
/* A control group (v2) for a server: its memory limit, what it used. */
#ifndef DEMO_CGROUP_H
#define DEMO_CGROUP_H

#include <stdint.h>

#define CGROUP_UNLIMITED UINT64_MAX

/* All end the program with a message when they cannot do it. */
void cgroup_make(const char *path, uint64_t memory_max);
void cgroup_enter(const char *path);
void cgroup_remove(const char *path);
uint64_t cgroup_memory_peak(const char *path);
uint64_t cgroup_oom_kills(const char *path);

#endif /* DEMO_CGROUP_H */
