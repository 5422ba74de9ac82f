/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KAPF_SNAPSHOT_H
#define KAPF_SNAPSHOT_H

#include <linux/seq_file.h>
#include <linux/kapf.h>

#include "instance.h"
#include "session.h"

/**
 * struct kapf_pieces - elements that are gathered in pieces of a bounded size
 * @read: gathers a piece from a cursor in @get on, and moves the cursor; with
 *	config_lock held; returns how many elements, 0: there are no more
 * @size: of an element
 * @room: of a piece, in elements
 * @array: of the user: where to write them
 * @stride: of the user: distance of two
 */
struct kapf_pieces {
	u32 (*read)(struct kapf_instance *instance, void *get, void *elements,
		    u32 room);
	u32 size;
	u32 room;
	u64 array;
	u32 stride;
};

bool kapf_stride_valid(u32 stride, size_t size);
int kapf_put_array(u64 array, u32 nr, u32 stride, const void *elements,
		   size_t size);
int kapf_snapshot_pieces(struct kapf_instance *instance,
			 const struct kapf_pieces *pieces, void *get, u32 *nr,
			 u64 *generation);
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
int kapf_snapshot_histograms(struct kapf_instance *instance,
			     struct kapf_get_histograms *get);
void kapf_snapshot_fdinfo(const struct kapf_session *session,
			  struct seq_file *seq);

#endif /* KAPF_SNAPSHOT_H */
