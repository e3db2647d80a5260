// SPDX-License-Identifier: Apache-2.0
#include "arguments/provenance_internal.h"

#include <stdlib.h>

#include "arguments/provenance_trail_internal.h"
#include "base/mem.h"
#include "machine/insn_effects.h"
#include "program/functab.h"

enum { DEPTH_MAX = 1000 };

/* Goes one round of a loop back from its first block: is the value computed within the loop? If
 * not, it has come through unchanged, in the same place or in another. */
static bool goes_round(struct trail_front *outer, uint32_t header, unsigned place)
{
	struct trail *trail = outer->trail;
	const struct graph *graph = trail_graph(trail);
	uint32_t first = graph->blocks[header].first;
	struct trail_front front;

	trail_front_init(&front, trail, true);
	trail_step_edges(&front, header, place, true, false);
	while (front.depth && !trail->failed) {
		struct trail_spot spot = front.stack[--front.depth];
		uint32_t b = graph->block_of[spot.at];

		if (spot.at == first)
			trail_push(outer, first, spot.place);
		else if (spot.at != graph->blocks[b].first)
			trail_step_over(&front, spot.at - 1, spot.place);
		else if (b == 0)
			trail->failed = true;
		else
			trail_step_edges(&front, b, spot.place, true, true);
	}
	trail_front_free(&front);
	return front.made;
}

static void step_back(struct trail_front *front, const struct trail_spot *spot)
{
	struct trail *trail = front->trail;
	const struct graph *graph = trail_graph(trail);
	uint32_t b = graph->block_of[spot->at];

	if (spot->at != graph->blocks[b].first) {
		trail_step_over(front, spot->at - 1, spot->place);
		return;
	}
	if (b == 0) {
		trail->at_entry = true;
		trail_add_source(trail, UINT32_MAX, spot->place, false);
	}
	if (goes_round(front, b, spot->place)) {
		trail->goes_round = true;
		trail_add_source(trail, spot->at, spot->place, true);
	} else {
		trail_step_edges(front, b, spot->place, false, true);
	}
}

static bool is_of_copy(const struct provenance *of, uint32_t at)
{
	int32_t node = of->finder->tree.node_of[at];

	for (int depth = 0; node >= 0 && node != of->node && depth < DEPTH_MAX; depth++)
		node = inltree_parent(&of->finder->tree, node);
	return node == of->node;
}

static bool is_located(const struct trail *trail, uint32_t at, struct provenance_place *out)
{
	return trail->of->located(trail->of->ctx, trail_flow(trail)->insns[at].addr, out);
}

/* Was the variable anywhere on a way to instruction `at`, not counting earlier rounds of loops? */
static bool was_located(struct trail *trail, uint32_t at)
{
	const struct graph *graph = trail_graph(trail);
	bool *seen = mem_zalloc(graph->nblocks + 1, sizeof(*seen)), found = false;
	uint32_t *stack = mem_alloc((graph->nblocks + 1) * sizeof(*stack)), depth = 0;
	uint32_t home = graph->block_of[at];
	struct provenance_place where;

	seen[home] = true;
	stack[depth++] = home;
	while (depth && !found) {
		uint32_t b = stack[--depth];
		const struct graph_block *block = &graph->blocks[b];

		for (uint32_t i = block->first; i <= (b == home ? at : block->last) && !found; i++)
			found = !trail_may_go_on(trail) || is_located(trail, i, &where);
		for (uint32_t i = 0; i < block->npred; i++) {
			uint32_t from = graph->preds[block->pred_at + i];

			if (from == graph->root || seen[from] || trail_is_back(graph, from, b))
				continue;
			seen[from] = true;
			stack[depth++] = from;
		}
	}
	free(seen);
	free(stack);
	return found;
}

/* A constant proves nothing: the compiler may have folded the callee's computation into it. */
static bool is_lone_constant(const struct trail *trail)
{
	struct insn_effects effects;
	uint64_t addr;

	if (trail->definition_count != 1 || trail->at_entry || trail->goes_round)
		return false;
	addr = trail_flow(trail)->insns[trail->definitions[0]].addr;
	return !insn_effects(trail->of->finder->dec, &trail->code, addr, &effects) ||
	       effects.constant;
}

static bool is_believed(struct trail *trail)
{
	if (trail->failed || is_lone_constant(trail))
		return false;
	for (size_t i = 0; i < trail->definition_count; i++)
		if (is_of_copy(trail->of, trail->definitions[i]) ||
		    was_located(trail, trail->definitions[i]))
			return false;
	return trail->definition_count || trail->at_entry || trail->goes_round;
}

/* The finder's flow, graph and tree, of the function */
static bool load_flow(const struct provenance *of)
{
	struct site_finder *finder = of->finder;
	const char *reason;

	if (site_finder_graph(finder, of->fn, &reason))
		return false;
	if (!finder->tree.node_of) {
		inltree_load(&finder->tree, finder->tab, of->fn);
		inltree_join(&finder->tree, finder->tab, of->fn, &finder->flow);
	}
	return of->node >= 0 && of->node < finder->tree.count;
}

/* Debug information has the variable in this place there: is that its first value? */
static bool is_first_here(const struct trail *parent, uint32_t at,
			  const struct provenance_place *place)
{
	struct trail trail = {.of = parent->of, .code = parent->code, .sources = parent->sources};
	struct trail_front front;

	trail_front_init(&front, &trail, false);
	trail_push(&front, at, trail_place(&trail, place));
	while (front.depth && !trail.failed) {
		struct trail_spot spot = front.stack[--front.depth];

		step_back(&front, &spot);
	}
	trail_front_free(&front);
	return is_believed(&trail);
}

/* Did debug information, on every path to where the front began (loops not repeated), have the
 * variable in the place that the value came from? */
static bool was_said(struct trail_front *front)
{
	struct trail *trail = front->trail;
	const struct graph *graph = trail_graph(trail);

	while (front->depth && !trail->failed && !trail->definition_count) {
		struct trail_spot spot = front->stack[--front->depth];
		const struct provenance_place *place = &trail->places[spot.place];
		uint32_t b = graph->block_of[spot.at];
		struct provenance_place said;

		if (is_located(trail, spot.at, &said) && trail_same(&said, place))
			trail->failed = !is_first_here(trail, spot.at, place);
		else if (spot.at != graph->blocks[b].first)
			trail_step_over(front, spot.at - 1, spot.place);
		else if (b == 0 || trail_has_back(graph, b))
			trail->failed = true;
		else
			trail_step_edges(front, b, spot.place, false, true);
	}
	return !trail->failed && !trail->definition_count;
}

bool provenance_is_first(const struct provenance *of, uint64_t addr,
			 const struct provenance_place *place, struct provenance_sources *sources)
{
	struct trail trail = {.of = of, .sources = sources};
	const struct graph *graph = trail_graph(&trail);
	struct trail_front front;
	long at;

	if (of->finder->arch != ARCH_AMD64 || !load_flow(of) ||
	    !site_finder_code(of->finder, of->fn, &trail.code) ||
	    (place->in_register && (place->n < 0 || place->n > 15)))
		return false;
	at = flow_at(&of->finder->flow, addr);
	if (at == FLOW_NONE || graph->blocks[graph->block_of[at]].order == GRAPH_UNREACHED)
		return false;
	trail_front_init(&front, &trail, false);
	trail_push(&front, at, trail_place(&trail, place));
	bool said = was_said(&front);

	trail_front_free(&front);
	return said;
}
