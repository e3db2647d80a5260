// SPDX-License-Identifier: Apache-2.0
#include "sites/placement_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "program/functab.h"
#include "sites/site_finder.h"

enum { DEPTH_MAX = 100, LINE_UNKNOWN = -1 };

struct question {
	const struct site_finder *finder;
	const struct functab_func *fn;
	int32_t node; /* the copy */
};

/* line of the call that node n was inlined for, in the function of its parent */
static int call_line(const struct question *q, int32_t n)
{
	const struct functab_inlined *call = &q->finder->tree.nodes[n];
	long at = call->parent_pc ? flow_at(&q->finder->flow, call->parent_pc) : FLOW_NONE;
	const char *file;
	int line;

	if (call->call_line)
		return call->call_line;
	if (at == FLOW_NONE || q->finder->tree.node_of[at] != call->parent)
		return LINE_UNKNOWN;
	return functab_line(q->finder->tab, q->fn, call->parent_pc, &file, &line) ? line
										  : LINE_UNKNOWN;
}

static bool is_within(const struct question *q, int32_t n, int32_t ancestor)
{
	for (int depth = 0; n != ancestor && depth < DEPTH_MAX; depth++) {
		if (n < 0)
			return false;
		n = inltree_parent(&q->finder->tree, n);
	}
	return n == ancestor;
}

/* the child of `level` that n is, or is inlined into; n itself must be below level */
static int32_t child_of(const struct question *q, int32_t n, int32_t level)
{
	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		int32_t parent = inltree_parent(&q->finder->tree, n);

		if (parent == level || parent < 0)
			break;
		n = parent;
	}
	return n;
}

/* Lines of a branch and of the copy's call, both in the innermost function that holds the two. */
static bool lines_of(const struct question *q, long branch, int *branch_line, int *copy_line)
{
	int32_t at = q->finder->tree.node_of[branch], level = at;
	const char *file;

	for (int depth = 0; level >= 0 && depth < DEPTH_MAX; depth++) {
		if (level != q->node && is_within(q, q->node, level))
			break;
		level = inltree_parent(&q->finder->tree, level);
	}
	*copy_line = call_line(q, child_of(q, q->node, level));
	if (at != level)
		*branch_line = call_line(q, child_of(q, at, level));
	else if (!functab_line(q->finder->tab, q->fn, q->finder->flow.insns[branch].addr, &file,
			       branch_line))
		return false;
	return *copy_line != LINE_UNKNOWN && *branch_line != LINE_UNKNOWN;
}

/* Blocks reached from block `from` on ways that do not pass block `without`. */
static bool *reached(const struct graph *graph, uint32_t from, uint32_t without)
{
	uint32_t *stack = mem_alloc((graph->nblocks + 1) * sizeof(*stack)), depth = 0;
	bool *seen = mem_zalloc(graph->nblocks + 1, sizeof(*seen));

	seen[from] = from != without;
	if (seen[from])
		stack[depth++] = from;
	while (depth) {
		const struct graph_block *block = &graph->blocks[stack[--depth]];

		for (uint32_t i = 0; i < block->nsucc; i++) {
			uint32_t to = graph->edges[block->succ_at + i];

			if (to == without || seen[to])
				continue;
			seen[to] = true;
			stack[depth++] = to;
		}
	}
	free(stack);
	return seen;
}

static bool goes_to(const struct graph *graph, const struct graph_block *block, uint32_t to)
{
	for (uint32_t i = 0; i < block->nsucc; i++)
		if (graph->edges[block->succ_at + i] == to)
			return true;
	return false;
}

/* Can control, from block `from`, leave the function or return to `from` without passing b? */
static bool may_miss(const struct graph *graph, uint32_t from, uint32_t b)
{
	bool *seen = reached(graph, from, b), miss = false;

	for (uint32_t i = 0; i < graph->nblocks && !miss; i++)
		miss = seen[i] &&
		       (!graph->blocks[i].nsucc || goes_to(graph, &graph->blocks[i], from));
	free(seen);
	return miss;
}

static bool leads_to(const struct graph *graph, uint32_t from, uint32_t to)
{
	bool *seen = reached(graph, from, GRAPH_UNREACHED), found = seen[to];

	free(seen);
	return found;
}

/* Does block d decide whether a loop that b is in goes on? */
static bool is_loop_exit(const struct graph *graph, uint32_t d, uint32_t b)
{
	const struct graph_block *block = &graph->blocks[d];
	unsigned stay = 0;

	for (uint32_t i = 0; i < block->nsucc; i++)
		stay += leads_to(graph, graph->edges[block->succ_at + i], d);
	return stay == 1 && block->nsucc == 2 && leads_to(graph, b, d);
}

bool placement_agrees(const struct site_finder *finder, const struct functab_func *fn, int32_t node,
		      uint32_t b)
{
	const struct question q = {finder, fn, node};
	const struct graph *graph = &finder->graph;
	int branch_line, copy_line;
	const char *reason;

	for (uint32_t d = graph->blocks[b].dominator; d != graph->root;
	     d = graph->blocks[d].dominator) {
		if (graph->blocks[d].nsucc < 2)
			continue;
		/* for the walks from d and from the blocks that it branches to */
		if (site_finder_take(finder, graph->nblocks * 4ULL, &reason))
			return false;
		if (!may_miss(graph, d, b))
			continue;
		if (!lines_of(&q, graph->blocks[d].last, &branch_line, &copy_line))
			return false;
		if (branch_line < copy_line)
			continue;
		if (!is_loop_exit(graph, d, b))
			return false;
	}
	return true;
}
