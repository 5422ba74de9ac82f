/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KAPF_SNAPSHOT_H
#define KAPF_SNAPSHOT_H

#include <linux/seq_file.h>
#include <linux/kapf.h>

#include "instance.h"
#include "session.h"

bool kapf_stride_valid(u32 stride, size_t size);
int kapf_put_array(u64 array, u32 nr, u32 stride, const void *elements,
		   size_t size);
struct kapf_level *kapf_level_at(struct kapf_instance *instance, u32 place);

int kapf_snapshot_stats(struct kapf_instance *instance,
			struct kapf_get_stats *get);
int kapf_snapshot_requests(struct kapf_instance *instance,
			   struct kapf_session *own,
			   struct kapf_get_requests *get);
int kapf_snapshot_sessions(struct kapf_instance *instance,
			   struct kapf_get_sessions *get);
int kapf_snapshot_queues(struct kapf_instance *instance,
			 struct kapf_get_queues *get);
void kapf_snapshot_fdinfo(const struct kapf_session *session,
			  struct seq_file *seq);

#endif /* KAPF_SNAPSHOT_H */
