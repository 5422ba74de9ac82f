/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the module takes of memory, for those in user space who reckon with it; the
 * module checks that these are the sizes.
 */
#ifndef KAPF_FOOTPRINT_H
#define KAPF_FOOTPRINT_H

/* A slot, where a request waits; its label is beside it. */
#define KAPF_SLOT_BYTES 128

#endif /* KAPF_FOOTPRINT_H */
