// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the trees and lists that the engine is embedded with: their order,
 * whatever is put in, taken out and replaced, and their depth.
 */
#include <linux/list.h>
#include <linux/rbtree.h>
#include <stdlib.h>

#include "test.h"

#define NODES 512
#define STEPS 20000

struct item {
	struct rb_node node;
	unsigned int key;
	unsigned int since;
	bool present;
};

static bool less(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct item, node)->key <
	       rb_entry(b, struct item, node)->key;
}

static unsigned int depth_of(const struct rb_node *node)
{
	unsigned int left, right;

	if (!node)
		return 0;
	left = depth_of(node->rb_left);
	right = depth_of(node->rb_right);
	return 1 + (left > right ? left : right);
}

/* Are there so many, in order, and equal ones in that in which they came? */
static bool in_order(const struct rb_root_cached *tree, size_t wanted)
{
	struct rb_node *node = rb_first(&tree->rb_root);
	const struct item *last = NULL;
	size_t nr = 0;

	if (node != rb_first_cached(tree))
		return false;
	for (; node; node = rb_next(node), nr++) {
		const struct item *item = rb_entry(node, struct item, node);

		if (last && (last->key > item->key ||
			     (last->key == item->key &&
			      last->since > item->since)))
			return false;
		last = item;
	}
	return nr == wanted;
}

static void test_order(void)
{
	static struct item items[NODES], spare[NODES];
	struct rb_root_cached tree = RB_ROOT_CACHED;
	size_t nr = 0, step;
	bool right = true;

	srandom(1);
	for (step = 0; right && step < STEPS; step++) {
		size_t i = random() % NODES;
		struct item *item = &items[i];

		if (!item->present) {
			item->key = random() % (NODES / 4);
			item->since = step;
			rb_add_cached(&item->node, &tree, less);
			nr++;
		} else if (random() % 4) {
			rb_erase_cached(&item->node, &tree);
			nr--;
		} else {
			spare[i] = *item;
			rb_replace_node_cached(&item->node, &spare[i].node,
					       &tree);
			*item = spare[i];
			rb_replace_node_cached(&spare[i].node, &item->node,
					       &tree);
			continue;
		}
		item->present = !item->present;
		right = in_order(&tree, nr);
	}
	ok(right && nr, "trees: %zu steps leave all in order", step);
}

static void test_depth(void)
{
	static struct item items[4096];
	struct rb_root_cached tree = RB_ROOT_CACHED;
	unsigned int depth;

	for (size_t i = 0; i < SIZE(items); i++) {
		items[i].key = i;
		rb_add_cached(&items[i].node, &tree, less);
	}
	depth = depth_of(tree.rb_root.rb_node);
	ok(depth >= 13 && depth <= 48, "trees: 4096 nodes that come sorted lie below 48 deep");
	note("depth %u", depth);
}

static void test_lists(void)
{
	struct list_head head, other, nodes[3];

	INIT_LIST_HEAD(&head);
	for (size_t i = 0; i < SIZE(nodes); i++)
		list_add_tail(&nodes[i], &head);
	list_del(&nodes[1]);
	list_replace(&head, &other);
	ok(other.next == &nodes[0] && nodes[0].next == &nodes[2] &&
	   nodes[2].next == &other && other.prev == &nodes[2] &&
	   nodes[2].prev == &nodes[0],
	   "lists: what is left of a list moves to another head");
}

void test_trees(void)
{
	test_order();
	test_depth();
	test_lists();
}
