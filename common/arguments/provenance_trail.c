// SPDX-License-Identifier: Apache-2.0
#include "arguments/provenance_trail_internal.h"

#include <stdlib.h>

#include "base/mem.h"
#include "machine/insn_effects.h"
#include "machine/registers.h"

const struct flow *trail_flow(const struct trail *trail)
{
	return &trail->of->finder->flow;
}

const struct graph *trail_graph(const struct trail *trail)
{
	return &trail->of->finder->graph;
}

bool trail_same(const struct provenance_place *a, const struct provenance_place *b)
{
	return a->in_register == b->in_register && a->n == b->n;
}

unsigned trail_place(struct trail *trail, const struct provenance_place *place)
{
	unsigned i = 0;

	while (i < trail->place_count && !trail_same(&trail->places[i], place))
		i++;
	if (i == TRAIL_PLACES) {
		trail->failed = true;
		return 0;
	}
	if (i == trail->place_count)
		trail->places[trail->place_count++] = *place;
	return i;
}

void trail_front_init(struct trail_front *front, struct trail *trail, bool inner)
{
	*front = (struct trail_front){.trail = trail, .inner = inner};
	front->seen = mem_zalloc(trail_flow(trail)->count * TRAIL_PLACES, sizeof(*front->seen));
}

void trail_front_free(struct trail_front *front)
{
	free(front->seen);
	free(front->stack);
}

void trail_push(struct trail_front *front, uint32_t at, unsigned place)
{
	bool *seen = &front->seen[(size_t)at * TRAIL_PLACES + place];

	if (*seen)
		return;
	*seen = true;
	front->stack = mem_grow(front->stack, front->depth, &front->cap, sizeof(*front->stack));
	front->stack[front->depth++] = (struct trail_spot){at, place};
}

/* Turns an offset from SP at addr into bytes above SP at the function's entry. false: not known. */
static bool slot_at(const struct trail *trail, uint64_t addr, int32_t disp, int64_t *slot)
{
	int32_t below;

	if (!site_finder_sp(trail->of->finder, trail->of->fn, addr, &below))
		return false;
	*slot = (int64_t)disp - below;
	return true;
}

/* Does the instruction change what is in the place? */
static bool changes(struct trail *trail, uint64_t addr, const struct insn_effects *effects,
		    const struct provenance_place *place)
{
	int64_t slot = 0;

	if (place->in_register)
		return effects->writes >> place->n & 1;
	if (!effects->stores)
		return false;
	if (effects->size == UINT32_MAX || !slot_at(trail, addr, effects->disp, &slot))
		return true;
	return slot < place->n + place->size && place->n < slot + effects->size;
}

/* If the instruction only copies the value into the place: where from. Else false. */
static bool copied_from(struct trail *trail, uint64_t addr, const struct provenance_place *place,
			struct provenance_place *from)
{
	const struct registers_general *reg, *other;
	struct insn_operands ops;
	int64_t slot = 0;

	if (!insn_operands(&trail->code, addr, &ops))
		return false;
	reg = registers_by_hardware(ARCH_AMD64, ops.reg);
	other = registers_by_hardware(ARCH_AMD64, ops.other);
	if (!reg || !other)
		return false;
	bool on_stack = ops.other == X86_RSP && !ops.fs && !ops.no_base &&
			slot_at(trail, addr, ops.value, &slot);

	*from = *place;
	if (ops.what == INSN_STORE && !place->in_register && on_stack && slot == place->n) {
		from->in_register = true;
		from->n = reg->dwarf;
		return true;
	}
	if (!place->in_register || reg->dwarf != place->n)
		return false;
	from->in_register = ops.what == INSN_COPY;
	from->n = ops.what == INSN_COPY ? other->dwarf : on_stack ? slot : 0;
	return ops.what == INSN_COPY || (ops.what == INSN_LOAD && on_stack);
}

/* One instruction, or one loop, may set several registers: the place tells the values apart. */
void trail_add_source(struct trail *trail, uint64_t at, unsigned number, bool loop)
{
	const struct provenance_place *place = &trail->places[number];
	struct provenance_sources *sources = trail->sources;

	if (!sources)
		return;
	if (sources->count == PROVENANCE_SOURCES)
		trail->failed = true;
	else
		sources->ids[sources->count++] = at << 32 | (uint64_t)loop << 31 |
						 (uint64_t)place->in_register << 30 |
						 ((uint64_t)place->n & 0x3fffffff);
}

static void define(struct trail_front *front, uint32_t at, unsigned number)
{
	struct trail *trail = front->trail;

	front->made = true;
	if (front->inner)
		return;
	trail_add_source(trail, at, number, false);
	if (trail->definition_count == TRAIL_DEFINITIONS)
		trail->failed = true;
	else
		trail->definitions[trail->definition_count++] = at;
}

bool trail_may_go_on(struct trail *trail)
{
	trail->failed |= !*trail->of->steps;
	*trail->of->steps -= !trail->failed;
	return !trail->failed;
}

void trail_step_over(struct trail_front *front, uint32_t at, unsigned number)
{
	struct trail *trail = front->trail;
	const struct provenance_place *place = &trail->places[number];
	uint64_t addr = trail_flow(trail)->insns[at].addr;
	struct provenance_place from;
	struct insn_effects effects;

	if (!trail_may_go_on(trail) ||
	    !insn_effects(trail->of->finder->dec, &trail->code, addr, &effects))
		trail->failed = true;
	else if (!changes(trail, addr, &effects, place))
		trail_push(front, at, number);
	else if (copied_from(trail, addr, place, &from))
		trail_push(front, at, trail_place(trail, &from));
	else
		define(front, at, number);
}

bool trail_is_back(const struct graph *graph, uint32_t from, uint32_t to)
{
	return graph->blocks[from].order >= graph->blocks[to].order;
}

bool trail_has_back(const struct graph *graph, uint32_t b)
{
	const struct graph_block *block = &graph->blocks[b];

	for (uint32_t i = 0; i < block->npred; i++) {
		uint32_t from = graph->preds[block->pred_at + i];

		if (from != graph->root && graph->blocks[from].order != GRAPH_UNREACHED &&
		    trail_is_back(graph, from, b))
			return true;
	}
	return false;
}

/* Over the edges into block `to`: back edges, forward edges, or both */
void trail_step_edges(struct trail_front *front, uint32_t to, unsigned place, bool back,
		      bool forward)
{
	const struct graph *graph = trail_graph(front->trail);
	const struct graph_block *block = &graph->blocks[to];

	for (uint32_t i = 0; i < block->npred; i++) {
		uint32_t from = graph->preds[block->pred_at + i];

		if (from == graph->root)
			front->trail->failed |= to != 0;
		else if (graph->blocks[from].order != GRAPH_UNREACHED &&
			 (trail_is_back(graph, from, to) ? back : forward))
			trail_step_over(front, graph->blocks[from].last, place);
	}
	if (!block->npred)
		front->trail->failed |= to != 0;
}
