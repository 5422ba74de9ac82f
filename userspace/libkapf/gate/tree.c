// SPDX-License-Identifier: LGPL-2.1
/*
 * Treaps: what linux/rbtree.h here does not do inline.
 */
#include <linux/rbtree.h>
#include <stdint.h>

/* Where a node hangs. */
static struct rb_node **place_of(const struct rb_node *node,
				 struct rb_root *root)
{
	struct rb_node *parent = node->parent;

	if (!parent)
		return &root->rb_node;
	return parent->rb_left == node ? &parent->rb_left : &parent->rb_right;
}

/* Addresses are in rows; what is made of them is not. */
static u64 priority_of(const struct rb_node *node)
{
	u64 bits = (uintptr_t)node;

	bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
	bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
	return bits ^ bits >> 31;
}

/* A node and its parent change places. */
static void rotate_up(struct rb_node *node, struct rb_root *root)
{
	struct rb_node *parent = node->parent;
	struct rb_node *child;

	*place_of(parent, root) = node;
	node->parent = parent->parent;
	parent->parent = node;
	if (parent->rb_left == node) {
		child = node->rb_right;
		parent->rb_left = child;
		node->rb_right = parent;
	} else {
		child = node->rb_left;
		parent->rb_right = child;
		node->rb_left = parent;
	}
	if (child)
		child->parent = parent;
}

/**
 * rb_first() - the least node
 * @root: of the tree
 *
 * Return: NULL in an empty tree.
 */
struct rb_node *rb_first(const struct rb_root *root)
{
	struct rb_node *node = root->rb_node;

	while (node && node->rb_left)
		node = node->rb_left;
	return node;
}

/**
 * rb_next() - the next node
 * @node: in a tree
 *
 * Return: NULL behind the last.
 */
struct rb_node *rb_next(const struct rb_node *node)
{
	struct rb_node *next = node->rb_right;

	if (next) {
		while (next->rb_left)
			next = next->rb_left;
		return next;
	}
	for (next = node->parent; next && next->rb_right == node;
	     next = node->parent)
		node = next;
	return next;
}

/**
 * rb_insert() - put a node where it belongs
 * @node: in no tree
 * @parent: under which it belongs, or NULL
 * @link: where it hangs there, or in the root
 * @root: of the tree
 */
void rb_insert(struct rb_node *node, struct rb_node *parent,
	       struct rb_node **link, struct rb_root *root)
{
	*node = (struct rb_node){
		.parent = parent,
		.priority = priority_of(node),
	};
	*link = node;
	while (node->parent && node->parent->priority < node->priority)
		rotate_up(node, root);
}

/**
 * rb_erase() - take a node out
 * @node: in the tree
 * @root: of the tree
 */
void rb_erase(struct rb_node *node, struct rb_root *root)
{
	struct rb_node *left, *right, *child;

	while ((left = node->rb_left) && (right = node->rb_right))
		rotate_up(left->priority > right->priority ? left : right,
			  root);
	child = node->rb_left ? node->rb_left : node->rb_right;
	if (child)
		child->parent = node->parent;
	*place_of(node, root) = child;
}

/**
 * rb_replace_node() - another node for one in a tree
 * @old: that leaves it
 * @node: that belongs where @old is
 * @root: of the tree
 */
void rb_replace_node(struct rb_node *old, struct rb_node *node,
		     struct rb_root *root)
{
	*place_of(old, root) = node;
	*node = *old;
	if (node->rb_left)
		node->rb_left->parent = node;
	if (node->rb_right)
		node->rb_right->parent = node;
}
