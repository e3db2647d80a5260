// SPDX-License-Identifier: Apache-2.0
#include "sites/body_visit_internal.h"

/* Does the instruction show where the run is? Those that cannot be moved do; others do where they
 * may belong to a run that began in block `home`. */
static bool counts(const struct body *body, uint32_t home, long at)
{
	const struct insn *in = body_insn(body, at);

	if (!body->inside[at] || in->floats)
		return false;
	return in->stays || body_dominates(body->graph, home, body->graph->block_of[at]);
}

/* The closest block that every way into the body's code leads through, or GRAPH_UNREACHED. */
static uint32_t common_block(const struct body *body, bool only_staying)
{
	const struct graph *graph = body->graph;
	uint32_t found = GRAPH_UNREACHED;

	for (size_t i = 0; i < body->count; i++) {
		const struct insn *in = body_insn(body, body->insns[i]);
		uint32_t b = graph->block_of[body->insns[i]];

		if (in->floats || in->kind == INSN_JUMP || (only_staying && !in->stays))
			continue;
		if (graph->blocks[b].order == GRAPH_UNREACHED)
			return GRAPH_UNREACHED;
		found = found == GRAPH_UNREACHED ? b : graph_common_dominator(graph, found, b);
	}
	return found;
}

static long no_start(const char **reason, const char *why)
{
	*reason = why;
	return FLOW_NONE;
}

long body_start(const struct body *body, const char **reason)
{
	const struct graph *graph = body->graph;
	uint32_t b;

	if (body->mark != FLOW_NONE)
		return body->mark;
	b = common_block(body, true);
	if (b == GRAPH_UNREACHED) {
		b = common_block(body, false);
		if (b == GRAPH_UNREACHED)
			return no_start(reason, "none of the inlined code is left here");
		if (b == graph->root || !body->agrees || !body->agrees(body->ctx, b))
			return no_start(reason, "the compiler may have moved the code");
	}
	/* a branch of the body's may have lost its source position: then the other instructions
	 * show where the body begins */
	if (common_block(body, false) != b)
		return no_start(reason, "the compiler may have moved the code");
	if (b == graph->root)
		return no_start(reason, "no instruction is part of every run");
	for (long i = graph->blocks[b].first; i <= (long)graph->blocks[b].last; i++) {
		if (!body->inside[i] || body_insn(body, i)->floats)
			continue;
		if (!body_loops(body, b))
			return i;
		b = body_before_loop(body, b);
		if (b == GRAPH_UNREACHED || body_loops(body, b))
			return no_start(reason, "the first instruction is also part of a loop");
		return graph->blocks[b].last;
	}
	return no_start(reason, "no instruction is part of every run");
}

static int rank(const struct insn *in)
{
	if (in->probe == INSN_REFUSED || in->long_nop || in->again)
		return 0;
	return in->probe == INSN_EMULATED ? 2 : 1;
}

/* may control leave the block at this instruction other than at its end? */
static bool may_not_go_on(const struct insn *in)
{
	return in->kind == INSN_CALL || in->may_fault;
}

long body_cheapest(const struct body *body, long start)
{
	const struct graph_block *block = &body->graph->blocks[body->graph->block_of[start]];
	long best = start;

	for (long i = start; i <= (long)block->last; i++) {
		if (rank(body_insn(body, i)) > rank(body_insn(body, best)))
			best = i;
		if (may_not_go_on(body_insn(body, i)))
			break;
	}
	for (long i = start - 1; i >= (long)block->first && !may_not_go_on(body_insn(body, i)); i--)
		if (rank(body_insn(body, i)) > rank(body_insn(body, best)))
			best = i;
	return rank(body_insn(body, best)) ? best : FLOW_NONE;
}

long body_last(const struct body *body, long start)
{
	long last = body->graph->blocks[body->graph->block_of[start]].last;

	for (long i = start; i < last; i++)
		if (may_not_go_on(body_insn(body, i)))
			return i;
	return last;
}

long body_only_call(const struct body *body, long start)
{
	const struct graph *graph = body->graph;
	const struct graph_block *block = &graph->blocks[graph->block_of[start]];
	long call = FLOW_NONE;

	for (size_t i = 0; i < body->count; i++) {
		long at = body->insns[i];

		if (flow_ends_block(body_insn(body, at)))
			return FLOW_NONE;
		if (body_insn(body, at)->kind != INSN_CALL)
			continue;
		if (call != FLOW_NONE || at < start || at > (long)block->last)
			return FLOW_NONE;
		call = at;
	}
	return call;
}

/* Blocks from whose first instruction the body can be reached without passing start again. */
static bool *leads_to_body(const struct body *body, long start)
{
	const struct graph *graph = body->graph;
	uint32_t home = graph->block_of[start];
	struct body_visit visit;

	body_visit_init(&visit, graph->nblocks);
	for (size_t i = 0; i < body->count; i++)
		if (counts(body, home, body->insns[i]) && graph->block_of[body->insns[i]] != home)
			body_visit_push(&visit, graph->block_of[body->insns[i]]);
	while (visit.depth) {
		const struct graph_block *block = &graph->blocks[visit.stack[--visit.depth]];

		for (uint32_t i = 0; i < block->npred; i++)
			if (graph->preds[block->pred_at + i] != home)
				body_visit_push(&visit, graph->preds[block->pred_at + i]);
	}
	free(visit.stack);
	return visit.seen;
}

/* The last instruction in [first, last] that is still the run's: the block's last if the run goes
 * on in another block, else the body's own last. first - 1: none. */
static long run_end(const struct body *body, const bool *leads, uint32_t b, uint32_t home,
		    long first)
{
	const struct graph *graph = body->graph;
	const struct graph_block *block = &graph->blocks[b];
	long end = first - 1;

	for (uint32_t i = 0; i < block->nsucc; i++)
		if (leads[graph->edges[block->succ_at + i]])
			return block->last;
	for (long i = first; i <= (long)block->last; i++)
		if (counts(body, home, i))
			end = i;
	return end;
}

long body_past_nops(const struct body *body, long at)
{
	const struct graph *graph = body->graph;
	long i = at, last;

	if (at >= (long)graph->flow->count)
		return at;
	last = graph->blocks[graph->block_of[at]].last;
	while (i < last && body_insn(body, i)->kind == INSN_NOP && !rank(body_insn(body, i)))
		i++;
	return i;
}

static void add_exit(const struct body *body, struct body_exits *out, long at)
{
	at = body_past_nops(body, at);
	for (size_t i = 0; i < out->count; i++)
		if (out->items[i] == at)
			return;
	out->items = mem_grow(out->items, out->count, &out->cap, sizeof(*out->items));
	out->items[out->count++] = at;
}

struct region {
	const struct body *body;
	long start;
	bool *leads;
	struct body_visit visit;
	struct body_exits *out;
};

/* Does the caller do work, a call, between these two instructions of the run? */
static bool is_foreign(const struct body *body, long first, long end)
{
	for (long i = first; i <= end; i++)
		if (!body->inside[i] && i != body->mark && body_insn(body, i)->kind == INSN_CALL)
			return true;
	return false;
}

static const char *region_block(struct region *region, uint32_t b, long first)
{
	const struct body *body = region->body;
	const struct graph *graph = body->graph;
	const struct graph_block *block = &graph->blocks[b];
	uint32_t home = graph->block_of[region->start];
	long end = run_end(body, region->leads, b, home, first);

	if (b == home && end < region->start)
		end = region->start;
	if (is_foreign(body, first, end))
		return "the code is mixed with the caller's";
	if (end < (long)block->last) {
		add_exit(body, region->out, end + 1);
		return NULL;
	}
	for (uint32_t i = 0; i < block->nsucc; i++) {
		uint32_t to = graph->edges[block->succ_at + i];

		if (region->leads[to])
			body_visit_push(&region->visit, to);
		else
			add_exit(body, region->out, graph->blocks[to].first);
	}
	return NULL;
}

/* Is there a loop in the run whose branches are all the caller's? Then it may be several runs. */
static bool is_caller_loop(const struct region *region)
{
	const struct graph *graph = region->body->graph;

	for (uint32_t b = 0; b < graph->nblocks; b++) {
		const struct graph_block *block = &graph->blocks[b];

		if (!region->visit.seen[b] || region->body->inside[block->last])
			continue;
		for (uint32_t i = 0; i < block->nsucc; i++) {
			uint32_t to = graph->edges[block->succ_at + i];

			if (region->leads[to] && graph->blocks[to].order <= block->order)
				return true;
		}
	}
	return false;
}

static bool dominates_all(const struct body *body, uint32_t home)
{
	const struct graph *graph = body->graph;

	for (size_t i = 0; i < body->count; i++)
		if (counts(body, home, body->insns[i]) &&
		    !body_dominates(graph, home, graph->block_of[body->insns[i]]))
			return false;
	return true;
}

int body_exits(const struct body *body, long start, struct body_exits *out, const char **reason)
{
	const struct graph *graph = body->graph;
	uint32_t home = graph->block_of[start];
	struct region region = {.body = body, .start = start, .out = out};

	*reason = NULL;
	if (graph->blocks[home].order == GRAPH_UNREACHED || !dominates_all(body, home)) {
		*reason = "some of the code may run before the first instruction";
		return -1;
	}
	region.leads = leads_to_body(body, start);
	body_visit_init(&region.visit, graph->nblocks);
	region.visit.seen[home] = true;
	*reason = region_block(&region, home, start);
	while (!*reason && region.visit.depth) {
		uint32_t b = region.visit.stack[--region.visit.depth];

		*reason = region_block(&region, b, graph->blocks[b].first);
	}
	if (!*reason && is_caller_loop(&region))
		*reason = "the code is mixed with the caller's";
	for (size_t i = 0; !*reason && i < out->count; i++)
		if (out->items[i] == body_past_nops(body, start))
			*reason = "the end is also the beginning of the next run";
	body_visit_free(&region.visit);
	free(region.leads);
	return *reason ? -1 : 0;
}
