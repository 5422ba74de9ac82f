/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Checks of a queue set's state that need no other knowledge of its history.
 */
#ifndef ENGINE_INVARIANT_H
#define ENGINE_INVARIANT_H

#include "queueset.h"

const char *invariant_broken(const struct kapf_queueset *qs);
bool invariant_seated(const struct kapf_queueset *qs, u32 width);

#endif /* ENGINE_INVARIANT_H */
