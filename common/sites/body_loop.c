// SPDX-License-Identifier: Apache-2.0
#include "sites/body_visit_internal.h"

bool body_loops(const struct body *body, uint32_t b)
{
	const struct graph *graph = body->graph;
	struct body_visit visit;
	uint32_t at = b;

	body_visit_init(&visit, graph->nblocks);
	do {
		const struct graph_block *block = &graph->blocks[at];
		const struct insn *last = body_insn(body, block->last);

		if (flow_ends_block(last) && !body->inside[block->last])
			continue; /* the caller's branch: what comes after it is another run */
		for (uint32_t i = 0; i < block->nsucc; i++)
			body_visit_push(&visit, graph->edges[block->succ_at + i]);
	} while (visit.depth && !visit.seen[b] && (at = visit.stack[--visit.depth], true));

	bool loops = visit.seen[b];

	body_visit_free(&visit);
	return loops;
}

static bool is_all_inside(const struct body *body, uint32_t b)
{
	const struct graph_block *block = &body->graph->blocks[b];

	for (uint32_t i = block->first; i <= block->last; i++)
		if (!body->inside[i] && !body_insn(body, i)->floats &&
		    body_insn(body, i)->kind != INSN_JUMP)
			return false;
	return true;
}

/* Is the loop at block b all the callee's? If not, it may be the caller's, `for f(x) { ... }`, in
 * which the callee's branches decide as well. */
static bool is_own_loop(const struct body *body, uint32_t b)
{
	const struct graph *graph = body->graph;
	struct body_visit visit;
	bool own = is_all_inside(body, b);

	body_visit_init(&visit, graph->nblocks);
	visit.seen[b] = true;
	for (uint32_t at = b; own; at = visit.stack[--visit.depth]) {
		const struct graph_block *block = &graph->blocks[at];

		own = is_all_inside(body, at);
		for (uint32_t i = 0; i < block->npred; i++) {
			uint32_t pred = graph->preds[block->pred_at + i];

			if (at != b || body_dominates(graph, b, pred))
				body_visit_push(&visit, pred);
		}
		if (!visit.depth)
			break;
	}
	body_visit_free(&visit);
	return own;
}

uint32_t body_before_loop(const struct body *body, uint32_t b)
{
	const struct graph *graph = body->graph;
	const struct graph_block *block = &graph->blocks[b];
	uint32_t found = GRAPH_UNREACHED;

	if (!is_own_loop(body, b))
		return GRAPH_UNREACHED;
	for (uint32_t i = 0; i < block->npred; i++) {
		uint32_t pred = graph->preds[block->pred_at + i];

		if (graph->blocks[pred].order == GRAPH_UNREACHED || body_dominates(graph, b, pred))
			continue;
		if (found != GRAPH_UNREACHED || pred == graph->root ||
		    graph->blocks[pred].nsucc != 1)
			return GRAPH_UNREACHED;
		found = pred;
	}
	return found;
}
