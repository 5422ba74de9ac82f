/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * The slots of a session, as far as the server's side knows of them: which one
 * the next request can have.
 */
#ifndef KAPF_SLOTS_H
#define KAPF_SLOTS_H

#include <pthread.h>
#include <stdint.h>
#include <sys/queue.h>

TAILQ_HEAD(slot_list, slot);

/**
 * struct slots - the slots of a session
 * @lock: protects the lists
 * @freed: signalled when a slot may be had earlier than was known
 * @free: those to take; the one used last is first, as it is still in the cache
 * @lingering: those that the kernel holds for a time, by its end
 * @all: every one, by index
 */
struct slots {
	pthread_mutex_t lock;
	pthread_cond_t freed;
	struct slot_list free;
	struct slot_list lingering;
	struct slot *all;
};

int slots_init(struct slots *slots, unsigned int nr);
void slots_destroy(struct slots *slots);
int slots_take(struct slots *slots, uint64_t deadline);
void slots_put(struct slots *slots, unsigned int slot, uint64_t linger);

uint64_t slots_now(void);

#endif /* KAPF_SLOTS_H */
