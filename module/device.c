// SPDX-License-Identifier: GPL-2.0
/*
 * The two nodes of an instance: file operations, and the table of calls of each.
 *
 * Arguments come in and go out here; what a call does is elsewhere.
 */

#include <linux/compat.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include "batch.h"
#include "config.h"
#include "device.h"
#include "mode.h"
#include "session.h"
#include "slot.h"
#include "snapshot.h"

/* The nodes' structures are the same for callers of 32 and of 64 bits. */
static_assert(sizeof(struct kapf_info) == 40);
static_assert(sizeof(struct kapf_attach) == 152);
static_assert(sizeof(struct kapf_op) == 64);
static_assert(offsetof(struct kapf_op, flow_hash) == 24);
static_assert(sizeof(struct kapf_event) == 32);
static_assert(sizeof(struct kapf_finish) == 8);
static_assert(sizeof(struct kapf_submit) == 72);
static_assert(offsetof(struct kapf_submit, finish) == 32);
static_assert(sizeof(struct kapf_config) == 24);
static_assert(sizeof(struct kapf_config_level) == 336);
static_assert(sizeof(struct kapf_config_schema) == 576);
static_assert(sizeof(struct kapf_get_config) == 24);
static_assert(sizeof(struct kapf_config_error) == 40);
static_assert(sizeof(struct kapf_set_config) == 64);
static_assert(sizeof(struct kapf_set_mode) == 8);
static_assert(sizeof(struct kapf_level_stats) == 480);
static_assert(sizeof(struct kapf_schema_stats) == 384);
static_assert(sizeof(struct kapf_get_stats) == 104);
static_assert(sizeof(struct kapf_request_info) == 64);
static_assert(sizeof(struct kapf_get_requests) == 40);
static_assert(sizeof(struct kapf_session_info) == 176);
static_assert(sizeof(struct kapf_get_sessions) == 32);
static_assert(sizeof(struct kapf_evict) == 32);
static_assert(sizeof(struct kapf_queue_info) == 56);
static_assert(sizeof(struct kapf_get_queues) == 40);
static_assert(sizeof(struct kapf_histogram_info) == 280);
static_assert(sizeof(struct kapf_get_histograms) == 40);

/* Any argument that begins with its size. */
union kapf_args {
	u32 size;
	struct kapf_info info;
	struct kapf_attach attach;
	struct kapf_submit submit;
	struct kapf_get_config get_config;
	struct kapf_set_config set_config;
	struct kapf_set_mode set_mode;
	struct kapf_get_stats get_stats;
	struct kapf_get_requests get_requests;
	struct kapf_get_sessions get_sessions;
	struct kapf_get_queues get_queues;
	struct kapf_evict evict;
	struct kapf_get_histograms get_histograms;
};

static int kapf_get_info(struct kapf_instance *instance,
			 struct kapf_info *info)
{
	const struct kapf_active_config *config;
	int ret;

	if (info->reserved)
		return -EINVAL;
	ret = mutex_lock_interruptible(&instance->config_lock);
	if (ret)
		return ret;
	config = kapf_config_locked(instance);
	info->server_seats = kapf_server_seats(config);
	mutex_unlock(&instance->config_lock);
	info->abi = KAPF_ABI;
	info->features = 0;
	info->instance = instance->number;
	info->max_inflight = kapf_max_inflight;
	info->max_sessions = kapf_max_sessions;
	info->max_queues = kapf_max_queues;
	return 0;
}

/* What a call needs to know of the file that it came by. */
struct kapf_caller {
	struct kapf_instance *instance;
	struct kapf_session *session; /* NULL on the control node */
	struct file *file;
};

static int kapf_ioctl_get_info(struct kapf_caller *caller,
			       union kapf_args *args)
{
	return kapf_get_info(caller->instance, &args->info);
}

static int kapf_ioctl_attach(struct kapf_caller *caller, union kapf_args *args)
{
	struct kapf_session *session = caller->session;
	int ret = kapf_session_attach(session, &args->attach);

	if (ret)
		return ret;
	/* A close that came while this was no session yet did not end it. */
	kapf_session_end_orphan(session, caller->file);
	return kapf_session_check(session);
}

static int kapf_ioctl_submit(struct kapf_caller *caller, union kapf_args *args)
{
	return kapf_submit(caller->session, &args->submit);
}

static int kapf_ioctl_get_config(struct kapf_caller *caller,
				 union kapf_args *args)
{
	struct kapf_session *session = caller->session;
	int ret = session ? kapf_session_check(session) : 0;

	if (!ret)
		ret = kapf_config_get(caller->instance, &args->get_config);
	if (!ret && session)
		WRITE_ONCE(session->generation, args->get_config.generation);
	return ret;
}

static int kapf_ioctl_set_config(struct kapf_caller *caller,
				 union kapf_args *args)
{
	int ret;

	if (!(caller->file->f_mode & FMODE_WRITE))
		return -EPERM;
	ret = kapf_config_set(caller->instance, &args->set_config);
	if (ret)
		return ret;
	kapf_session_tell_all(caller->instance);
	pr_info_ratelimited("kapf%u: configuration %llu by process %d (%*pEp), user %u\n",
			    caller->instance->number,
			    args->set_config.generation, task_tgid_nr(current),
			    (int)strlen(current->comm), current->comm,
			    from_kuid(&init_user_ns, current_uid()));
	return 0;
}

static int kapf_ioctl_set_mode(struct kapf_caller *caller,
			       union kapf_args *args)
{
	static const char *const names[] = {
		[KAPF_MODE_ENFORCE] = "enforce",
		[KAPF_MODE_OBSERVE] = "observe",
		[KAPF_MODE_OFF] = "off",
	};
	int ret;

	if (!(caller->file->f_mode & FMODE_WRITE))
		return -EPERM;
	ret = kapf_mode_set(caller->instance, args->set_mode.mode);
	if (ret)
		return ret;
	pr_info_ratelimited("kapf%u: mode %s by process %d (%*pEp), user %u\n",
			    caller->instance->number,
			    names[args->set_mode.mode], task_tgid_nr(current),
			    (int)strlen(current->comm), current->comm,
			    from_kuid(&init_user_ns, current_uid()));
	return 0;
}

static int kapf_ioctl_evict(struct kapf_caller *caller, union kapf_args *args)
{
	if (!(caller->file->f_mode & FMODE_WRITE))
		return -EPERM;
	return kapf_session_evict(caller->instance, &args->evict);
}

static int kapf_ioctl_get_stats(struct kapf_caller *caller,
				union kapf_args *args)
{
	return kapf_snapshot_stats(caller->instance, &args->get_stats);
}

static int kapf_ioctl_get_requests(struct kapf_caller *caller,
				   union kapf_args *args)
{
	struct kapf_session *session = caller->session;
	int ret = session ? kapf_session_check(session) : 0;

	if (ret)
		return ret;
	return kapf_snapshot_requests(caller->instance, session,
				      &args->get_requests);
}

static int kapf_ioctl_get_sessions(struct kapf_caller *caller,
				   union kapf_args *args)
{
	return kapf_snapshot_sessions(caller->instance, &args->get_sessions);
}

static int kapf_ioctl_get_queues(struct kapf_caller *caller,
				 union kapf_args *args)
{
	return kapf_snapshot_queues(caller->instance, &args->get_queues);
}

static int kapf_ioctl_get_histograms(struct kapf_caller *caller,
				     union kapf_args *args)
{
	return kapf_snapshot_histograms(caller->instance,
					&args->get_histograms);
}

/**
 * struct kapf_call - a call whose argument begins with its size
 * @cmd: KAPF_*
 * @size: of the argument, as we know it and as it was first published
 * @run: does it
 * @explains: it writes something when it fails, too
 */
struct kapf_call {
	unsigned int cmd;
	size_t size;
	int (*run)(struct kapf_caller *caller, union kapf_args *args);
	bool explains;
};

static const struct kapf_call kapf_submit_calls[] = {
	{ KAPF_GET_INFO, sizeof(struct kapf_info), kapf_ioctl_get_info },
	{ KAPF_ATTACH, sizeof(struct kapf_attach), kapf_ioctl_attach },
	{ KAPF_SUBMIT, sizeof(struct kapf_submit), kapf_ioctl_submit },
	{ KAPF_GET_CONFIG, sizeof(struct kapf_get_config),
	  kapf_ioctl_get_config, true },
	{ KAPF_GET_REQUESTS, sizeof(struct kapf_get_requests),
	  kapf_ioctl_get_requests },
	{ }
};

static const struct kapf_call kapf_control_calls[] = {
	{ KAPF_GET_INFO, sizeof(struct kapf_info), kapf_ioctl_get_info },
	{ KAPF_GET_CONFIG, sizeof(struct kapf_get_config),
	  kapf_ioctl_get_config, true },
	{ KAPF_SET_CONFIG, sizeof(struct kapf_set_config),
	  kapf_ioctl_set_config, true },
	{ KAPF_SET_MODE, sizeof(struct kapf_set_mode), kapf_ioctl_set_mode },
	{ KAPF_EVICT, sizeof(struct kapf_evict), kapf_ioctl_evict },
	{ KAPF_GET_STATS, sizeof(struct kapf_get_stats), kapf_ioctl_get_stats },
	{ KAPF_GET_REQUESTS, sizeof(struct kapf_get_requests),
	  kapf_ioctl_get_requests },
	{ KAPF_GET_SESSIONS, sizeof(struct kapf_get_sessions),
	  kapf_ioctl_get_sessions },
	{ KAPF_GET_QUEUES, sizeof(struct kapf_get_queues),
	  kapf_ioctl_get_queues },
	{ KAPF_GET_HISTOGRAMS, sizeof(struct kapf_get_histograms),
	  kapf_ioctl_get_histograms },
	{ }
};

/* That the argument cannot be written is to be known before anything is done. */
static long kapf_call_run(const struct kapf_call *call, unsigned int cmd,
			  struct kapf_caller *caller, void __user *uargs)
{
	union kapf_args args;
	u32 size;
	int ret;

	while (call->run && call->cmd != cmd)
		call++;
	if (!call->run)
		return -ENOTTY;
	if (get_user(size, (u32 __user *)uargs))
		return -EFAULT;
	if (size < call->size)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	ret = copy_struct_from_user(&args, call->size, uargs, size);
	if (ret)
		return ret;
	args.size = size;
	if (copy_to_user(uargs, &args, call->size))
		return -EFAULT;
	ret = call->run(caller, &args);
	if (ret && !call->explains)
		return ret;
	return copy_to_user(uargs, &args, call->size) ? -EFAULT : ret;
}

/* By itself, so that those that are called often need no stack for it. */
static noinline long kapf_submit_call(struct file *file, unsigned int cmd,
				      unsigned long arg)
{
	struct kapf_session *session = file->private_data;
	struct kapf_caller caller = {
		.instance = session->instance,
		.session = session,
		.file = file,
	};

	return kapf_call_run(kapf_submit_calls, cmd, &caller,
			     (void __user *)arg);
}

static long kapf_submit_ioctl(struct file *file, unsigned int cmd,
			      unsigned long arg)
{
	if (likely(cmd == KAPF_ADMIT))
		return kapf_slot_admit(file, (void __user *)arg);
	if (likely(cmd == KAPF_FINISH))
		return kapf_slot_finish(file->private_data, arg);
	if (cmd == KAPF_CANCEL)
		return kapf_slot_cancel(file->private_data, arg);
	return kapf_submit_call(file, cmd, arg);
}

static ssize_t kapf_submit_read(struct kiocb *iocb, struct iov_iter *to)
{
	bool nowait = iocb->ki_filp->f_flags & O_NONBLOCK ||
		      iocb->ki_flags & IOCB_NOWAIT;

	return kapf_batch_read(iocb->ki_filp->private_data, to, !nowait);
}

static ssize_t kapf_submit_write(struct kiocb *iocb, struct iov_iter *from)
{
	return kapf_batch_write(iocb->ki_filp->private_data, from);
}

static __poll_t kapf_submit_poll(struct file *file,
				 struct poll_table_struct *table)
{
	return kapf_batch_poll(file->private_data, file, table);
}

static long kapf_control_ioctl(struct file *file, unsigned int cmd,
			       unsigned long arg)
{
	struct kapf_caller caller = {
		.instance = file->private_data,
		.file = file,
	};

	return kapf_call_run(kapf_control_calls, cmd, &caller,
			     (void __user *)arg);
}

static int kapf_submit_open(struct inode *inode, struct file *file)
{
	struct kapf_instance *instance = container_of(file->private_data,
						      struct kapf_instance,
						      submit);

	if (!smp_load_acquire(&kapf_loaded)) /* Pairs with main.c. */
		return -ENODEV;
	file->private_data = kapf_session_create(instance);
	if (!file->private_data)
		return -ENOMEM;
	/*
	 * Else io_uring polls before it writes; but a write never waits, and may
	 * be the one that frees a slot.
	 */
	file->f_mode |= FMODE_NOWAIT;
	return nonseekable_open(inode, file);
}

static int kapf_submit_flush(struct file *file, fl_owner_t id)
{
	kapf_session_end_orphan(file->private_data, file);
	return 0;
}

static int kapf_submit_release(struct inode *inode, struct file *file)
{
	kapf_session_destroy(file->private_data);
	return 0;
}

static void kapf_submit_show_fdinfo(struct seq_file *seq, struct file *file)
{
	kapf_snapshot_fdinfo(file->private_data, seq);
}

static int kapf_control_open(struct inode *inode, struct file *file)
{
	if (!smp_load_acquire(&kapf_loaded)) /* Pairs with main.c. */
		return -ENODEV;
	file->private_data = container_of(file->private_data,
					  struct kapf_instance, control);
	return nonseekable_open(inode, file);
}

static const struct file_operations kapf_submit_fops = {
	.owner = THIS_MODULE,
	.open = kapf_submit_open,
	.flush = kapf_submit_flush,
	.release = kapf_submit_release,
	.read_iter = kapf_submit_read,
	.write_iter = kapf_submit_write,
	.poll = kapf_submit_poll,
	.show_fdinfo = kapf_submit_show_fdinfo,
	.unlocked_ioctl = kapf_submit_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static const struct file_operations kapf_control_fops = {
	.owner = THIS_MODULE,
	.open = kapf_control_open,
	.unlocked_ioctl = kapf_control_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

/**
 * kapf_device_init() - make the nodes of an instance
 * @instance: ready to be used
 *
 * Return: 0 or an errno.
 */
int kapf_device_init(struct kapf_instance *instance)
{
	int ret;

	snprintf(instance->submit_name, sizeof(instance->submit_name),
		 "kapf%u", instance->number);
	instance->submit.minor = MISC_DYNAMIC_MINOR;
	instance->submit.name = instance->submit_name;
	instance->submit.fops = &kapf_submit_fops;
	instance->submit.mode = 0660;
	snprintf(instance->control_name, sizeof(instance->control_name),
		 "kapfctl%u", instance->number);
	instance->control.minor = MISC_DYNAMIC_MINOR;
	instance->control.name = instance->control_name;
	instance->control.fops = &kapf_control_fops;
	instance->control.mode = 0600;

	ret = misc_register(&instance->submit);
	if (ret)
		return ret;
	ret = misc_register(&instance->control);
	if (ret)
		misc_deregister(&instance->submit);
	return ret;
}

/**
 * kapf_device_destroy() - remove the nodes of an instance
 * @instance: whose nodes nobody has open
 */
void kapf_device_destroy(struct kapf_instance *instance)
{
	misc_deregister(&instance->control);
	misc_deregister(&instance->submit);
}
