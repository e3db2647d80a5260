// SPDX-License-Identifier: Apache-2.0
#include "arguments/origin.h"

#include <string.h>

#include "machine/insn_adds.h"
#include "machine/insn_effects.h"
#include "machine/registers.h"
#include "program/functab.h"
#include "sites/site_finder.h"

enum {
	RETURN = 8,      /* bytes that a call pushes */
	STATES_MAX = 64, /* of the search */
};

struct state { /* the word is made of what is there, before the block's instruction `at` */
	uint32_t at;
	struct origin origin;
};

struct search {
	struct site_finder *finder;
	const struct functab_func *fn;
	struct insn_code code;
	struct state states[STATES_MAX]; /* those before `count`: gone on with, or to be */
	size_t count;
	bool found;
	struct origin result; /* n of a slot: bytes above SP at the function's first instruction */
};

static bool is_same(const struct origin *a, const struct origin *b)
{
	return a->in_register == b->in_register && a->n == b->n && a->loads == b->loads &&
	       !memcmp(a->adds, b->adds, (a->loads + 1) * sizeof(*a->adds));
}

/* false: there are too many */
static bool add_state(struct search *search, uint32_t at, const struct origin *origin)
{
	for (size_t i = 0; i < search->count; i++)
		if (search->states[i].at == at && is_same(&search->states[i].origin, origin))
			return true;
	if (search->count == STATES_MAX)
		return false;
	search->states[search->count++] = (struct state){at, *origin};
	return true;
}

/* --- the stack --- */

static bool slot_at(const struct search *search, uint64_t addr, int64_t disp, int64_t *slot)
{
	int32_t below;

	if (!site_finder_sp(search->finder, search->fn, addr, &below))
		return false;
	*slot = disp - below;
	return true;
}

/* Does the function take the address of something on the stack that this slot may be a part of, so
 * that it is written to by others? */
static bool is_shared(const struct search *search, int64_t slot)
{
	const struct flow *flow = &search->finder->flow;
	struct insn_operands ops;
	int64_t from;

	for (size_t i = 0; i < flow->count; i++) {
		uint64_t addr = flow->insns[i].addr;

		/* what is below the return address does not reach above it */
		if (insn_takes_stack(&search->code, addr, &ops) &&
		    (ops.other == X86_RBP || !slot_at(search, addr, ops.value, &from) ||
		     (from <= slot && (from >= 0 || slot < 0))))
			return true;
	}
	return false;
}

/* Do calls leave the slot as it is? Functions may write to where they are passed arguments, and
 * have their results. */
static bool survives(const struct search *search, const struct insn *call, int64_t slot)
{
	struct functab_func callee;
	int32_t size;
	int64_t from;

	if (slot >= RETURN)
		return true;
	return call->target && search->finder->tab &&
	       functab_find(search->finder->tab, call->target, &callee) &&
	       functab_args_size(search->finder->tab, &callee, &size) && size >= 0 &&
	       slot_at(search, call->addr, 0, &from) && slot >= from + size;
}

/* --- one instruction --- */

/* Over what sets the register; false: the word is not known before it. */
static bool before_register(const struct search *search, uint64_t addr, struct origin *origin)
{
	const struct registers_general *other;
	struct insn_operands ops;
	bool adds = insn_adds(&search->code, addr, &ops);

	if (!adds && !insn_operands(&search->code, addr, &ops))
		return false;
	const struct registers_general *reg = registers_by_hardware(ARCH_AMD64, ops.reg);

	other = registers_by_hardware(ARCH_AMD64, ops.other);
	if (!reg || !other || reg->dwarf != origin->n || ops.fs || ops.no_base)
		return false;
	if (!adds && ops.what == INSN_LOAD && ops.other == X86_RSP) {
		origin->in_register = false;
		return slot_at(search, addr, ops.value, &origin->n) &&
		       !is_shared(search, origin->n);
	}
	if (ops.other == X86_RSP || (!adds && ops.what != INSN_COPY && ops.what != INSN_LOAD))
		return false;
	origin->n = other->dwarf;
	if (adds) {
		origin->adds[0] += ops.value;
	} else if (ops.what == INSN_LOAD) {
		if (origin->loads++ == ORIGIN_LOADS)
			return false;
		memmove(origin->adds + 1, origin->adds, origin->loads * sizeof(*origin->adds));
		origin->adds[0] = ops.value;
	}
	return true;
}

/* Over what may store to the slot. */
static bool before_slot(const struct search *search, const struct insn *in,
			const struct insn_effects *effects, struct origin *origin)
{
	const struct registers_general *reg;
	struct insn_operands ops;
	int64_t slot;

	if (in->kind == INSN_CALL && !survives(search, in, origin->n))
		return false;
	if (!effects->stores)
		return true;
	if (effects->size == UINT32_MAX || !slot_at(search, in->addr, effects->disp, &slot))
		return false;
	if (slot >= origin->n + RETURN || origin->n >= slot + (int64_t)effects->size)
		return true;
	if (!insn_operands(&search->code, in->addr, &ops) || ops.what != INSN_STORE ||
	    ops.other != X86_RSP || ops.fs || ops.no_base || slot != origin->n)
		return false;
	reg = registers_by_hardware(ARCH_AMD64, ops.reg);
	if (!reg)
		return false;
	origin->in_register = true;
	origin->n = reg->dwarf;
	return true;
}

static bool before_insn(const struct search *search, const struct insn *in, struct origin *origin)
{
	struct insn_effects effects;

	if (!insn_effects(search->finder->dec, &search->code, in->addr, &effects))
		return false;
	if (!origin->in_register)
		return before_slot(search, in, &effects, origin);
	return !(effects.writes >> origin->n & 1) || before_register(search, in->addr, origin);
}

/* --- all ways --- */

static bool at_entry(struct search *search, const struct origin *origin)
{
	if ((search->found && !is_same(&search->result, origin)) ||
	    (!origin->in_register && origin->n < RETURN))
		return false;
	search->found = true;
	search->result = *origin;
	return true;
}

static bool enter_before(struct search *search, uint32_t b, const struct origin *origin)
{
	const struct graph *graph = &search->finder->graph;
	const struct graph_block *block = &graph->blocks[b];

	if (b == 0 && !at_entry(search, origin))
		return false;
	if (b != 0 && !block->npred)
		return false;
	for (uint32_t i = 0; i < block->npred; i++) {
		uint32_t from = graph->preds[block->pred_at + i];

		if (from == graph->root && b != 0)
			return false;
		if (from != graph->root && graph->blocks[from].order != GRAPH_UNREACHED &&
		    !add_state(search, graph->blocks[from].last + 1, origin))
			return false;
	}
	return true;
}

static bool go_back(struct search *search, const struct state *from)
{
	const struct flow *flow = &search->finder->flow;
	const struct graph *graph = &search->finder->graph;
	uint32_t b = graph->block_of[from->at - 1];
	struct origin origin = from->origin;
	const char *reason;

	if (site_finder_take(search->finder, from->at - graph->blocks[b].first, &reason))
		return false;
	for (uint32_t at = from->at; at > graph->blocks[b].first; at--)
		if (!before_insn(search, &flow->insns[at - 1], &origin))
			return false;
	return enter_before(search, b, &origin);
}

/* The call that returns to `ret`, and nothing else may have been called in between; FLOW_NONE. */
static long find_call(const struct flow *flow, uint64_t ret, uint64_t callee)
{
	for (size_t i = 0; i < flow->count; i++) {
		const struct insn *in = &flow->insns[i];

		if (in->addr + in->size == ret)
			return in->kind == INSN_CALL && in->target == callee ? (long)i : FLOW_NONE;
	}
	return FLOW_NONE;
}

/* The word's place where the function is called, for the caller. */
static bool start(struct search *search, uint32_t call, const struct origin *origin)
{
	const struct graph *graph = &search->finder->graph;
	struct origin from = *origin;
	uint32_t b = graph->block_of[call];

	if (graph->blocks[b].order == GRAPH_UNREACHED)
		return false;
	if (!from.in_register &&
	    (!slot_at(search, search->finder->flow.insns[call].addr, from.n - RETURN, &from.n) ||
	     is_shared(search, from.n)))
		return false;
	for (uint32_t at = call; at > graph->blocks[b].first; at--)
		if (!before_insn(search, &search->finder->flow.insns[at - 1], &from))
			return false;
	return enter_before(search, b, &from);
}

bool origin_of(struct site_finder *finder, const struct functab_func *fn, uint64_t ret,
	       uint64_t callee, struct origin *origin)
{
	struct search search = {.finder = finder, .fn = fn};
	const char *reason;

	if (finder->arch != ARCH_AMD64 || !site_finder_code(finder, fn, &search.code) ||
	    site_finder_graph(finder, fn, &reason))
		return false;
	long call = find_call(&finder->flow, ret, callee);

	if (call == FLOW_NONE || !start(&search, call, origin))
		return false;
	for (size_t i = 0; i < search.count; i++)
		if (!go_back(&search, &search.states[i]))
			return false;
	*origin = search.result;
	return search.found;
}
