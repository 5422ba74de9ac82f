/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KAPF_BATCH_H
#define KAPF_BATCH_H

#include <linux/fs.h>
#include <linux/poll.h>
#include <linux/uio.h>
#include <linux/kapf.h>

#include "session.h"

ssize_t kapf_batch_read(struct kapf_session *session, struct iov_iter *to,
			bool wait);
ssize_t kapf_batch_write(struct kapf_session *session, struct iov_iter *from);
ssize_t kapf_batch_events(struct kapf_session *session, struct iov_iter *to);
bool kapf_batch_readable(const struct kapf_session *session);
__poll_t kapf_batch_poll(struct kapf_session *session, struct file *file,
			 struct poll_table_struct *table);

/* submit.c */
int kapf_submit(struct kapf_session *session, struct kapf_submit *submit);

#endif /* KAPF_BATCH_H */
