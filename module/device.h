/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KAPF_DEVICE_H
#define KAPF_DEVICE_H

#include "instance.h"

int kapf_device_init(struct kapf_instance *instance);
void kapf_device_destroy(struct kapf_instance *instance);

#endif /* KAPF_DEVICE_H */
