/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KAPF_BORROW_H
#define KAPF_BORROW_H

#include "instance.h"

int kapf_borrow_init(struct kapf_instance *instance);
void kapf_borrow_destroy(struct kapf_instance *instance);
void kapf_borrow_share(struct kapf_instance *instance, u32 server_seats);
void kapf_borrow_update(struct kapf_instance *instance, u64 generation);

#endif /* KAPF_BORROW_H */
