// SPDX-License-Identifier: Apache-2.0
/* Lengauer and Tarjan, "A Fast Algorithm for Finding Dominators in a Flowgraph", with path
 * compression: near-linear for every graph, whereas iterating until nothing changes is quadratic
 * for hostile ones. The dominator tree has jump pointers (Myers, "An Applicative Random-Access
 * Stack"), by which common ancestors are found in logarithmic time. */
#include "machine/graph_internal.h"

#include <stdlib.h>

#include "base/mem.h"

/* All arrays but `vertex` and `stack` are indexed by block. */
struct search {
	struct graph *graph;
	uint32_t *vertex; /* blocks in the order in which a depth-first walk comes to them */
	uint32_t count;
	uint32_t *number;           /* of a block: its place in `vertex`; GRAPH_UNREACHED: never */
	uint32_t *parent;           /* in the walk's tree */
	uint32_t *semi;             /* of a block: the number of its semidominator */
	uint32_t *ancestor, *label; /* the forest; GRAPH_UNREACHED: a tree's root */
	uint32_t *bucket, *in_bucket; /* first of a list, next in it; GRAPH_UNREACHED: the end */
	uint32_t *stack;
};

static uint32_t *make_array(uint32_t total)
{
	uint32_t *array = mem_alloc(total * sizeof(*array));

	for (uint32_t i = 0; i < total; i++)
		array[i] = GRAPH_UNREACHED;
	return array;
}

static void search_init(struct search *search, struct graph *graph)
{
	uint32_t total = graph->nblocks + 1;

	*search = (struct search){.graph = graph,
				  .vertex = make_array(total),
				  .number = make_array(total),
				  .parent = make_array(total),
				  .semi = make_array(total),
				  .ancestor = make_array(total),
				  .label = make_array(total),
				  .bucket = make_array(total),
				  .in_bucket = make_array(total),
				  .stack = make_array(total)};
}

static void search_free(struct search *search)
{
	free(search->vertex);
	free(search->number);
	free(search->parent);
	free(search->semi);
	free(search->ancestor);
	free(search->label);
	free(search->bucket);
	free(search->in_bucket);
	free(search->stack);
}

static void come_to(struct search *search, uint32_t b, uint32_t from)
{
	search->number[b] = search->semi[b] = search->count;
	search->vertex[search->count++] = b;
	search->parent[b] = from;
	search->label[b] = b;
}

/* Numbers the blocks as the walk comes to them, and in reverse postorder. */
static void walk(struct search *search)
{
	struct graph *graph = search->graph;
	uint32_t *next = mem_zalloc(graph->nblocks + 1, sizeof(*next));
	uint32_t *done = make_array(graph->nblocks + 1);
	uint32_t depth = 0, left = 0;

	for (uint32_t b = 0; b <= graph->nblocks; b++)
		graph->blocks[b].order = graph->blocks[b].dominator = GRAPH_UNREACHED;
	come_to(search, graph->root, GRAPH_UNREACHED);
	search->stack[depth++] = graph->root;
	while (depth) {
		uint32_t b = search->stack[depth - 1];

		if (next[b] == graph->blocks[b].nsucc) {
			done[left++] = search->stack[--depth];
			continue;
		}
		uint32_t to = graph->edges[graph->blocks[b].succ_at + next[b]++];

		if (search->number[to] != GRAPH_UNREACHED)
			continue;
		come_to(search, to, b);
		search->stack[depth++] = to;
	}
	for (uint32_t i = 0; i < left; i++)
		graph->blocks[done[i]].order = left - 1 - i;
	free(next);
	free(done);
}

/* The block of least semidominator on the way from b up to, and without, its tree's root. */
static uint32_t eval(struct search *search, uint32_t b)
{
	uint32_t *ancestor = search->ancestor, *label = search->label, depth = 0;

	if (ancestor[b] == GRAPH_UNREACHED)
		return b;
	for (uint32_t at = b; ancestor[ancestor[at]] != GRAPH_UNREACHED; at = ancestor[at])
		search->stack[depth++] = at;
	while (depth) {
		uint32_t at = search->stack[--depth], above = ancestor[at];

		if (search->semi[label[above]] < search->semi[label[at]])
			label[at] = label[above];
		ancestor[at] = ancestor[above];
	}
	return label[b];
}

static void find_semidominator(struct search *search, uint32_t b)
{
	const struct graph_block *block = &search->graph->blocks[b];

	for (uint32_t i = 0; i < block->npred; i++) {
		uint32_t pred = search->graph->preds[block->pred_at + i];

		if (search->number[pred] == GRAPH_UNREACHED)
			continue;
		uint32_t semi = search->semi[eval(search, pred)];

		if (semi < search->semi[b])
			search->semi[b] = semi;
	}
}

static void empty_bucket(struct search *search, uint32_t parent)
{
	for (uint32_t b = search->bucket[parent]; b != GRAPH_UNREACHED; b = search->in_bucket[b]) {
		uint32_t least = eval(search, b);
		bool below = search->semi[least] < search->semi[b];

		search->graph->blocks[b].dominator = below ? least : parent;
	}
	search->bucket[parent] = GRAPH_UNREACHED;
}

static void find_all(struct search *search)
{
	struct graph_block *blocks = search->graph->blocks;

	for (uint32_t i = search->count; i-- > 1;) {
		uint32_t b = search->vertex[i], home;

		find_semidominator(search, b);
		home = search->vertex[search->semi[b]];
		search->in_bucket[b] = search->bucket[home];
		search->bucket[home] = b;
		search->ancestor[b] = search->parent[b];
		empty_bucket(search, search->parent[b]);
	}
	for (uint32_t i = 1; i < search->count; i++) {
		uint32_t b = search->vertex[i];

		if (blocks[b].dominator != search->vertex[search->semi[b]])
			blocks[b].dominator = blocks[blocks[b].dominator].dominator;
	}
}

/* The walk reaches a dominator before the blocks that it dominates. */
static void make_jumps(const struct search *search)
{
	struct graph_block *blocks = search->graph->blocks;
	struct graph_block *root = &blocks[search->graph->root];

	root->dominator = root->jump = search->graph->root;
	root->depth = 0;
	for (uint32_t i = 1; i < search->count; i++) {
		struct graph_block *block = &blocks[search->vertex[i]];
		const struct graph_block *above = &blocks[block->dominator];
		const struct graph_block *far = &blocks[above->jump];
		bool same = above->depth - far->depth == far->depth - blocks[far->jump].depth;

		block->depth = above->depth + 1;
		block->jump = same ? far->jump : block->dominator;
	}
}

void graph_find_dominators(struct graph *graph)
{
	struct search search;

	search_init(&search, graph);
	walk(&search);
	find_all(&search);
	make_jumps(&search);
	search_free(&search);
}

static uint32_t climb(const struct graph_block *blocks, uint32_t b, uint32_t depth)
{
	while (blocks[b].depth > depth)
		b = blocks[blocks[b].jump].depth >= depth ? blocks[b].jump : blocks[b].dominator;
	return b;
}

bool graph_dominates(const struct graph *graph, uint32_t a, uint32_t b)
{
	const struct graph_block *blocks = graph->blocks;

	return climb(blocks, b, blocks[a].depth) == a;
}

uint32_t graph_common_dominator(const struct graph *graph, uint32_t a, uint32_t b)
{
	const struct graph_block *blocks = graph->blocks;

	a = climb(blocks, a, blocks[b].depth);
	b = climb(blocks, b, blocks[a].depth);
	while (a != b) {
		bool apart = blocks[a].jump != blocks[b].jump;

		a = apart ? blocks[a].jump : blocks[a].dominator;
		b = apart ? blocks[b].jump : blocks[b].dominator;
	}
	return a;
}
