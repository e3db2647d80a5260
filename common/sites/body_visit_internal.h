/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of body share: walks over the blocks of its function, and its loops. */
#ifndef BODY_VISIT_INTERNAL_H
#define BODY_VISIT_INTERNAL_H

#include <stdlib.h>

#include "base/mem.h"
#include "sites/body_internal.h"

static inline const struct insn *body_insn(const struct body *body, long at)
{
	return &body->graph->flow->insns[at];
}

static inline bool body_dominates(const struct graph *graph, uint32_t home, uint32_t b)
{
	return graph->blocks[b].order != GRAPH_UNREACHED && graph_dominates(graph, home, b);
}

struct body_visit { /* blocks to visit; blocks that were ever among them */
	uint32_t *stack;
	bool *seen;
	uint32_t depth;
};

static inline void body_visit_init(struct body_visit *visit, uint32_t nblocks)
{
	visit->stack = mem_alloc((nblocks + 1) * sizeof(*visit->stack));
	visit->seen = mem_zalloc(nblocks + 1, sizeof(*visit->seen));
	visit->depth = 0;
}

static inline void body_visit_free(struct body_visit *visit)
{
	free(visit->stack);
	free(visit->seen);
}

static inline void body_visit_push(struct body_visit *visit, uint32_t b)
{
	if (visit->seen[b])
		return;
	visit->seen[b] = true;
	visit->stack[visit->depth++] = b;
}

/* Is there a way from block b back to itself on which only the callee's own branches decide? */
bool body_loops(const struct body *body, uint32_t b);
/* The one block outside of the loop at block b that leads to it, and to nothing else: passed once
 * for each run of the loop. GRAPH_UNREACHED: there is no such block, or the loop may be the
 * caller's, `for f(x) { ... }`, in which the callee's branches decide as well. */
uint32_t body_before_loop(const struct body *body, uint32_t b);

#endif
