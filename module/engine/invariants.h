/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Checks of a queue set's state that need no other knowledge of its history.
 */
#ifndef KAPF_INVARIANTS_H
#define KAPF_INVARIANTS_H

#include "queueset.h"

const char *kapf_invariant_broken(const struct kapf_queueset *qs);
bool kapf_invariant_seated(const struct kapf_queueset *qs, u32 width);

#endif /* KAPF_INVARIANTS_H */
