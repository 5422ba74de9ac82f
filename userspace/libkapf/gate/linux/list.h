/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * Doubly linked lists with the kernel's names, for the engine.  The kernel's own
 * are under the GPL alone, which is not for a library that all may link with.
 */
#ifndef KAPF_GATE_LIST_H
#define KAPF_GATE_LIST_H

#include <linux/kernel.h>
#include <linux/types.h>

struct list_head {
	struct list_head *next;
	struct list_head *prev;
};

#define list_first_entry(head, type, member) \
	container_of((head)->next, type, member)

static inline void INIT_LIST_HEAD(struct list_head *head)
{
	head->next = head;
	head->prev = head;
}

static inline bool list_empty(const struct list_head *head)
{
	return head->next == head;
}

static inline void list_add_tail(struct list_head *node, struct list_head *head)
{
	node->prev = head->prev;
	node->next = head;
	head->prev->next = node;
	head->prev = node;
}

static inline void list_del(struct list_head *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
}

/* What was in the list of @old is in that of @head; @old is not to be used. */
static inline void list_replace(struct list_head *old, struct list_head *head)
{
	*head = *old;
	head->next->prev = head;
	head->prev->next = head;
}

#endif /* KAPF_GATE_LIST_H */
