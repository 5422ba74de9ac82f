// SPDX-License-Identifier: LGPL-2.1
/*
 * The slots of a session: a list of free ones, a list of those that the kernel
 * still holds, and the wait for one when all are taken.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "slots.h"

#define NSEC_PER_SEC 1000000000ULL

/**
 * struct slot - a slot
 * @link: in one of the two lists, or in none while a request is in the slot
 * @free_at: when it stops lingering
 */
struct slot {
	TAILQ_ENTRY(slot) link;
	uint64_t free_at;
};

/**
 * slots_now() - the clock of this file
 *
 * Return: CLOCK_MONOTONIC, in ns.
 */
uint64_t slots_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/**
 * slots_init() - all slots are free
 * @slots: out
 * @nr: how many
 *
 * Return: 0 or -ENOMEM.
 */
int slots_init(struct slots *slots, unsigned int nr)
{
	unsigned int i;

	slots->all = calloc(nr, sizeof(*slots->all));
	if (!slots->all)
		return -ENOMEM;
	pthread_mutex_init(&slots->lock, NULL);
	pthread_cond_init(&slots->freed, NULL);
	TAILQ_INIT(&slots->free);
	TAILQ_INIT(&slots->lingering);
	for (i = 0; i < nr; i++)
		TAILQ_INSERT_TAIL(&slots->free, &slots->all[i], link);
	return 0;
}

/**
 * slots_destroy() - free what slots_init() made
 * @slots: of which no thread waits for one
 */
void slots_destroy(struct slots *slots)
{
	pthread_cond_destroy(&slots->freed);
	pthread_mutex_destroy(&slots->lock);
	free(slots->all);
}

/* Called with the lock held; returns the first that lingers on. */
static struct slot *end_lingering(struct slots *slots, uint64_t time)
{
	struct slot *slot;

	while ((slot = TAILQ_FIRST(&slots->lingering)) &&
	       slot->free_at <= time) {
		TAILQ_REMOVE(&slots->lingering, slot, link);
		TAILQ_INSERT_TAIL(&slots->free, slot, link);
	}
	return slot;
}

/**
 * slots_take() - take a slot, once there is one
 * @slots: where
 * @deadline: when to give up
 *
 * Return: its index, or -ETIMEDOUT.
 */
int slots_take(struct slots *slots, uint64_t deadline)
{
	struct slot *slot, *next;
	struct timespec until;
	uint64_t time, wake;

	pthread_mutex_lock(&slots->lock);
	for (;;) {
		time = slots_now();
		next = end_lingering(slots, time);
		slot = TAILQ_FIRST(&slots->free);
		if (slot || time >= deadline)
			break;

		wake = next && next->free_at < deadline ? next->free_at :
							  deadline;
		until.tv_sec = wake / NSEC_PER_SEC;
		until.tv_nsec = wake % NSEC_PER_SEC;
		pthread_cond_clockwait(&slots->freed, &slots->lock,
				       CLOCK_MONOTONIC, &until);
	}
	if (slot)
		TAILQ_REMOVE(&slots->free, slot, link);
	pthread_mutex_unlock(&slots->lock);
	return slot ? slot - slots->all : -ETIMEDOUT;
}

/**
 * slots_put() - give a slot back
 * @slots: where it was taken
 * @slot: its index
 * @linger: ns for which the kernel still holds it
 *
 * Times come mostly in order, so that the search from the end is short.  All
 * who wait for a slot have to learn of one that lingers, as each sleeps until
 * the first of them is free.
 */
void slots_put(struct slots *slots, unsigned int slot, uint64_t linger)
{
	struct slot *this = &slots->all[slot], *before;

	pthread_mutex_lock(&slots->lock);
	if (!linger) {
		TAILQ_INSERT_HEAD(&slots->free, this, link);
		pthread_cond_signal(&slots->freed);
	} else {
		this->free_at = slots_now() + linger;
		before = TAILQ_LAST(&slots->lingering, slot_list);
		while (before && before->free_at > this->free_at)
			before = TAILQ_PREV(before, slot_list, link);
		if (before)
			TAILQ_INSERT_AFTER(&slots->lingering, before, this,
					   link);
		else
			TAILQ_INSERT_HEAD(&slots->lingering, this, link);
		pthread_cond_broadcast(&slots->freed);
	}
	pthread_mutex_unlock(&slots->lock);
}
