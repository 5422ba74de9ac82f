/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * Ordered trees with the kernel's names, for the engine.
 *
 * They are no red-black trees, but treaps: each node has a priority that looks
 * random, no node has a higher one than its parent, and so the tree is as deep as
 * one whose nodes came in random order, some 2 * log(n).
 */
#ifndef KAPF_GATE_RBTREE_H
#define KAPF_GATE_RBTREE_H

#include <linux/kernel.h>
#include <linux/types.h>

struct rb_node {
	struct rb_node *parent;
	struct rb_node *rb_left;
	struct rb_node *rb_right;
	u64 priority;
};

struct rb_root {
	struct rb_node *rb_node;
};

struct rb_root_cached {
	struct rb_root rb_root;
	struct rb_node *rb_leftmost;
};

#define RB_ROOT			((struct rb_root){ NULL })
#define RB_ROOT_CACHED		((struct rb_root_cached){ { NULL }, NULL })
#define rb_entry(node, type, member) container_of(node, type, member)

struct rb_node *rb_first(const struct rb_root *root);
struct rb_node *rb_next(const struct rb_node *node);
void rb_insert(struct rb_node *node, struct rb_node *parent,
	       struct rb_node **link, struct rb_root *root);
void rb_erase(struct rb_node *node, struct rb_root *root);
void rb_replace_node(struct rb_node *old, struct rb_node *node,
		     struct rb_root *root);

/* Behind those that are equal.  Return: whether it is the first of all. */
static inline bool rb_add(struct rb_node *node, struct rb_root *root,
			  bool (*less)(struct rb_node *a,
				       const struct rb_node *b))
{
	struct rb_node **link = &root->rb_node;
	struct rb_node *parent = NULL;
	bool is_first = true;

	while (*link) {
		parent = *link;
		if (less(node, parent)) {
			link = &parent->rb_left;
		} else {
			link = &parent->rb_right;
			is_first = false;
		}
	}
	rb_insert(node, parent, link, root);
	return is_first;
}

static inline struct rb_node *rb_first_cached(const struct rb_root_cached *tree)
{
	return tree->rb_leftmost;
}

static inline void rb_add_cached(struct rb_node *node,
				 struct rb_root_cached *tree,
				 bool (*less)(struct rb_node *a,
					      const struct rb_node *b))
{
	if (rb_add(node, &tree->rb_root, less))
		tree->rb_leftmost = node;
}

static inline void rb_erase_cached(struct rb_node *node,
				   struct rb_root_cached *tree)
{
	if (tree->rb_leftmost == node)
		tree->rb_leftmost = rb_next(node);
	rb_erase(node, &tree->rb_root);
}

static inline void rb_replace_node_cached(struct rb_node *old,
					  struct rb_node *node,
					  struct rb_root_cached *tree)
{
	if (tree->rb_leftmost == old)
		tree->rb_leftmost = node;
	rb_replace_node(old, node, &tree->rb_root);
}

#endif /* KAPF_GATE_RBTREE_H */
