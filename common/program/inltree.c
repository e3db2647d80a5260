// SPDX-License-Identifier: Apache-2.0
#include "program/inltree.h"

#include <stdlib.h>

#include "base/budget.h"
#include "base/mem.h"
#include "machine/flow.h"
#include "program/functab_internal.h"

enum { NODES_MAX = 1 << 20 };

int32_t inltree_parent(const struct inltree *tree, int32_t node)
{
	int32_t parent = node >= 0 && node < tree->count ? tree->nodes[node].parent : -1;

	return parent < tree->count ? parent : -1;
}

static void read_tree(struct inltree *tree, const struct functab *tab,
		      const struct functab_func *fn, int32_t count)
{
	tree->nodes = mem_zalloc(count, sizeof(*tree->nodes));
	tree->count = functab_inlined_all(tab, fn, tree->nodes, count);
}

void inltree_load(struct inltree *tree, const struct functab *tab, const struct functab_func *fn)
{
	int32_t count = functab_inlined_count(tab, fn);

	*tree = (struct inltree){0};
	if (count > 0 && count <= NODES_MAX)
		read_tree(tree, tab, fn, count);
}

bool inltree_load_within(struct inltree *tree, const struct functab *tab,
			 const struct functab_func *fn, struct budget *budget)
{
	int32_t count = functab_inlined_count(tab, fn);

	*tree = (struct inltree){0};
	if (count <= 0)
		return true;
	if (count > NODES_MAX || (uint64_t)count > budget->left)
		return false;
	budget_take(budget, count);
	read_tree(tree, tab, fn, count);
	return true;
}

void inltree_free(struct inltree *tree)
{
	free(tree->nodes);
	free(tree->node_of);
	free(tree->insns);
	free(tree->from);
	free(tree->to);
	*tree = (struct inltree){0};
}

struct attribution {
	const struct flow *flow;
	size_t at;
	struct inltree *tree;
};

static bool attribute(uint64_t from, uint64_t to, int32_t node, void *ctx)
{
	struct attribution *attr = ctx;
	const struct flow *flow = attr->flow;

	for (; attr->at < flow->count && flow->insns[attr->at].addr < to; attr->at++)
		if (flow->insns[attr->at].addr >= from && node < attr->tree->count)
			attr->tree->node_of[attr->at] = node;
	return true;
}

/* Children of each node as lists: first[parent] and next[child], -1 at the end; roots under
 * first[count]. */
static void list_children(const struct inltree *tree, int32_t *first, int32_t *next)
{
	for (int32_t n = 0; n <= tree->count; n++)
		first[n] = -1;
	for (int32_t n = tree->count; n-- > 0;) {
		int32_t parent = inltree_parent(tree, n);
		int32_t *list = &first[parent < 0 ? tree->count : parent];

		next[n] = *list;
		*list = n;
	}
}

/* Numbers the nodes in preorder: pre[n], and what lies below n up to past[n], exclusive. Nodes that
 * are their own ancestors get no number (0 to 0). */
static void number_nodes(const struct inltree *tree, uint32_t *pre, uint32_t *past)
{
	int32_t *first = mem_alloc((tree->count + 1) * sizeof(*first));
	int32_t *next = mem_alloc((tree->count + 1) * sizeof(*next));
	int32_t node;
	uint32_t number = 0;

	list_children(tree, first, next);
	node = first[tree->count];
	while (node >= 0) {
		pre[node] = number++;
		if (first[node] >= 0) {
			node = first[node];
			continue;
		}
		past[node] = number;
		while (node >= 0 && next[node] < 0) {
			node = inltree_parent(tree, node);
			if (node >= 0)
				past[node] = number;
		}
		if (node >= 0)
			node = next[node];
	}
	free(first);
	free(next);
}

/* sorts the instructions by their node's number */
static void sort_insns(struct inltree *tree, const struct flow *flow, const uint32_t *pre,
		       const uint32_t *past)
{
	uint32_t *at = mem_zalloc(tree->count + 1, sizeof(*at));

	for (size_t i = 0; i < flow->count; i++)
		if (tree->node_of[i] >= 0)
			at[pre[tree->node_of[i]] + 1]++;
	for (int32_t n = 0; n < tree->count; n++)
		at[n + 1] += at[n];
	for (int32_t n = 0; n < tree->count; n++) {
		tree->from[n] = at[pre[n]];
		tree->to[n] = past[n] > pre[n] ? at[past[n]] : at[pre[n]];
	}
	for (size_t i = 0; i < flow->count; i++)
		if (tree->node_of[i] >= 0)
			tree->insns[at[pre[tree->node_of[i]]]++] = i;
	free(at);
}

void inltree_join(struct inltree *tree, const struct functab *tab, const struct functab_func *fn,
		  const struct flow *flow)
{
	struct attribution attr = {flow, 0, tree};
	uint32_t *pre = mem_zalloc(tree->count + 1, sizeof(*pre));
	uint32_t *past = mem_zalloc(tree->count + 1, sizeof(*past));

	tree->node_of = mem_alloc(flow->count * sizeof(*tree->node_of));
	tree->insns = mem_alloc(flow->count * sizeof(*tree->insns));
	tree->from = mem_zalloc(tree->count + 1, sizeof(*tree->from));
	tree->to = mem_zalloc(tree->count + 1, sizeof(*tree->to));
	for (size_t i = 0; i < flow->count; i++)
		tree->node_of[i] = -1;
	functab_pcdata(tab, fn, PCLNTAB_PCDATA_INLTREE, attribute, &attr);
	number_nodes(tree, pre, past);
	sort_insns(tree, flow, pre, past);
	free(pre);
	free(past);
}
