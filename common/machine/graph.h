/* SPDX-License-Identifier: Apache-2.0 */
/* The basic blocks of one function, the edges between them, and their dominators: which block
 * every path to another one passes. */
#ifndef GRAPH_H
#define GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/flow.h"

struct graph_block {
	uint32_t first, last;    /* its instructions: indices into the flow, inclusive */
	uint32_t succ_at, nsucc; /* successors: graph.edges[succ_at ...], numbers of blocks */
	uint32_t pred_at, npred; /* predecessors: graph.preds[pred_at ...] */
	uint32_t order;          /* in reverse postorder; GRAPH_UNREACHED: never */
	uint32_t dominator;      /* the closest; the root for those that have none */
	uint32_t depth;          /* how many dominators it has; the root has none */
	uint32_t jump;           /* one of them, or the root itself: the way to far ones is short */
};

enum { GRAPH_UNREACHED = UINT32_MAX };

struct graph {
	const struct flow *flow;
	struct graph_block *blocks; /* nblocks, and the root: a block without instructions, from
				     * which the first block and those without predecessors (the
				     * runtime enters them, after a recovered panic) are reached */
	uint32_t nblocks, root;
	uint32_t *block_of; /* of each instruction */
	uint32_t *edges, *preds;
	size_t nedges, cap_edges;
};

struct graph_source { /* what the code alone does not tell; either function may be NULL */
	bool (*never_returns)(uint64_t callee, void *ctx);
	bool (*word)(uint64_t addr, uint64_t *out, void *ctx); /* of a switch table */
	void *ctx;
};

/* The n-th target of the switch whose jump is instruction `jump`; false: it has no more. More than
 * the switch has may be found where another table of the function follows. */
bool graph_table_entry(const struct flow *flow, const struct graph_source *src, size_t jump,
		       size_t n, uint64_t *target);

/* Returns 0; -1 when a jump's targets are not known. Free after both. */
int graph_build(struct graph *graph, const struct flow *flow, const struct graph_source *src);
void graph_free(struct graph *graph);

/* These are quick however deep the blocks lie. */
/* the closest block that must be passed to reach a as well as b; both must be reached */
uint32_t graph_common_dominator(const struct graph *graph, uint32_t a, uint32_t b);
/* must a be passed to reach b? Both must be reached. */
bool graph_dominates(const struct graph *graph, uint32_t a, uint32_t b);

#endif
