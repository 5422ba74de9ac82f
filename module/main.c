// SPDX-License-Identifier: GPL-2.0
/*
 * kapf: Kubernetes API Priority and Fairness inside the kernel.
 *
 * The module's beginning and end, and its parameters.
 */

#include <linux/init.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "borrow.h"
#include "config.h"
#include "device.h"
#include "instance.h"
#include "kinds.h"

static unsigned int kapf_nr_instances = 1;
module_param_named(instances, kapf_nr_instances, uint, 0444);
MODULE_PARM_DESC(instances, "Number of independent budgets, 1 to 16 (default 1)");

unsigned int kapf_max_inflight = 65536;
module_param_named(max_inflight, kapf_max_inflight, uint, 0444);
MODULE_PARM_DESC(max_inflight, "Most slots of one session, 1 to 65536 (default 65536)");

unsigned int kapf_max_sessions = 64;
module_param_named(max_sessions, kapf_max_sessions, uint, 0444);
MODULE_PARM_DESC(max_sessions, "Most sessions of one user in each instance, from 1 (default 64)");

unsigned int kapf_max_queues = 16384;
module_param_named(max_queues, kapf_max_queues, uint, 0444);
MODULE_PARM_DESC(max_queues, "Most queues of all levels of an instance, from 1 (default 16384)");

bool kapf_loaded;

static struct kapf_instance *kapf_instances[KAPF_MAX_INSTANCES];

static void kapf_instance_destroy(struct kapf_instance *instance)
{
	kapf_device_destroy(instance);
	kapf_borrow_destroy(instance);
	kapf_config_destroy(instance);
	kapf_kinds_destroy(instance->kinds);
	kfree(instance);
}

static struct kapf_instance *kapf_instance_create(unsigned int number)
{
	struct kapf_instance *instance = kzalloc(sizeof(*instance),
						 GFP_KERNEL);
	int ret;

	if (!instance)
		return ERR_PTR(-ENOMEM);
	instance->number = number;
	instance->mode = KAPF_MODE_ENFORCE;
	mutex_init(&instance->mode_lock);
	mutex_init(&instance->config_lock);
	mutex_init(&instance->sessions_lock);
	INIT_LIST_HEAD(&instance->levels);
	INIT_LIST_HEAD(&instance->draining_schemas);
	INIT_LIST_HEAD(&instance->sessions);
	ret = -ENOMEM;
	instance->kinds = kapf_kinds_create(ktime_get_ns());
	if (!instance->kinds)
		goto free;
	ret = kapf_config_init(instance);
	if (ret)
		goto destroy_kinds;
	ret = kapf_borrow_init(instance);
	if (ret)
		goto destroy_config;
	ret = kapf_device_init(instance);
	if (!ret)
		return instance;
	kapf_borrow_destroy(instance);
destroy_config:
	kapf_config_destroy(instance);
destroy_kinds:
	kapf_kinds_destroy(instance->kinds);
free:
	kfree(instance);
	return ERR_PTR(ret);
}

static void kapf_exit(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kapf_instances) && kapf_instances[i]; i++)
		kapf_instance_destroy(kapf_instances[i]);
}

static bool __init kapf_param_valid(const char *name, unsigned int value,
				    unsigned int max)
{
	if (value && value <= max)
		return true;
	pr_err("kapf: %s=%u is not in 1 to %u\n", name, value, max);
	return false;
}

static int __init kapf_module_init(void)
{
	unsigned int i;

	if (!kapf_param_valid("instances", kapf_nr_instances,
			      KAPF_MAX_INSTANCES) ||
	    !kapf_param_valid("max_inflight", kapf_max_inflight, 65536) ||
	    !kapf_param_valid("max_sessions", kapf_max_sessions, UINT_MAX) ||
	    !kapf_param_valid("max_queues", kapf_max_queues, UINT_MAX))
		return -EINVAL;
	for (i = 0; i < kapf_nr_instances; i++) {
		struct kapf_instance *instance = kapf_instance_create(i);

		if (IS_ERR(instance)) {
			kapf_exit();
			return PTR_ERR(instance);
		}
		kapf_instances[i] = instance;
	}
	/* From here on nothing can fail, so that nodes may be opened. */
	smp_store_release(&kapf_loaded, true);
	pr_info("kapf: version %s, ABI %u, %u instances\n", THIS_MODULE->version,
		KAPF_ABI, kapf_nr_instances);
	return 0;
}

static void __exit kapf_module_exit(void)
{
	kapf_exit();
}

module_init(kapf_module_init);
module_exit(kapf_module_exit);
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1");
MODULE_DESCRIPTION("Kubernetes API Priority and Fairness");
MODULE_AUTHOR("The kapf authors");
