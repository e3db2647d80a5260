// SPDX-License-Identifier: Apache-2.0
#include "sites/line_site.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "program/functab.h"
#include "program/inltree.h"
#include "sites/body_internal.h"
#include "sites/site.h"
#include "sites/site_finder_internal.h"

enum { DEPTH_MAX = 100, WALKS = 8 /* over all blocks, at most, for each block of a line */ };

/* What an instruction is to the line. */
enum part {
	PART_NONE,
	PART_MOVED,  /* the line's, but where it stands says nothing */
	PART_BRANCH, /* the line's own conditional branch */
	PART_OWN,    /* the line's own, which may have been moved */
	PART_SOLID,  /* of the line, or of what is inlined in it: it never moves */
};

struct view {
	struct site_finder *finder;
	const struct functab_func *fn;
	const struct line_place *place;
	const struct graph *graph;
	uint8_t *part; /* enum part, of each instruction */
	bool *cold;    /* of each block: it ends in a panic */
	bool *seen;    /* scratch, of each block */
	uint32_t *stack;
	bool branches; /* there is a PART_BRANCH that leads to no panic */
};

static const struct insn *insn_at(const struct view *view, long at)
{
	return &view->finder->flow.insns[at];
}

static bool is_call_of(const struct view *view, const struct insn *in, const char *prefix)
{
	struct functab_func callee;

	return in->kind == INSN_CALL && in->target &&
	       functab_find(view->finder->tab, in->target, &callee) && callee.name &&
	       !strncmp(callee.name, prefix, strlen(prefix));
}

/* Something of a program's own doing that stays where its statement is. */
static bool is_solid(const struct view *view, const struct insn *in)
{
	return in->stays && in->kind != INSN_JUMP_IF && in->kind != INSN_JUMP_MEM &&
	       !is_call_of(view, in, "runtime.gcWriteBarrier") &&
	       !is_call_of(view, in, "runtime.morestack") &&
	       !is_call_of(view, in, "runtime.wbZero") && !is_call_of(view, in, "runtime.wbMove");
}

static bool is_line(const struct view *view, uint64_t addr)
{
	const char *file;
	int line;

	return functab_line(view->finder->tab, view->fn, addr, &file, &line) &&
	       line == view->place->line && !strcmp(file, view->place->file);
}

/* Does an instruction of this node belong to a call in the line that was inlined? */
static bool is_inlined_there(const struct view *view, int32_t node)
{
	const struct inltree *tree = &view->finder->tree;

	for (int depth = 0; node >= 0 && depth < DEPTH_MAX; depth++) {
		int32_t parent = inltree_parent(tree, node);

		if (parent == view->place->node)
			return tree->nodes[node].parent_pc &&
			       is_line(view, tree->nodes[node].parent_pc);
		node = parent;
	}
	return false;
}

static enum part own_part(const struct view *view, const struct insn *in)
{
	if (in->floats || in->kind == INSN_JUMP)
		return PART_MOVED;
	if (in->kind == INSN_JUMP_IF || in->kind == INSN_JUMP_MEM)
		return PART_BRANCH;
	return is_solid(view, in) ? PART_SOLID : PART_OWN;
}

static enum part part_of(const struct view *view, size_t at)
{
	const struct inltree *tree = &view->finder->tree;
	const struct insn *in = insn_at(view, at);
	int32_t node = tree->node_of[at];

	if (view->cold[view->graph->block_of[at]])
		return PART_NONE;
	if (node == view->place->node)
		return is_line(view, in->addr) ? own_part(view, in) : PART_NONE;
	if (node < 0 || !is_solid(view, in) || !is_inlined_there(view, node))
		return PART_NONE;
	return PART_SOLID;
}

/* A block that nothing follows, not because the function returns. */
static void find_cold(struct view *view)
{
	const struct graph *graph = view->graph;

	for (uint32_t b = 0; b < graph->nblocks; b++) {
		const struct insn *last = insn_at(view, graph->blocks[b].last);

		view->cold[b] = !graph->blocks[b].nsucc &&
				(last->kind == INSN_CALL || last->kind == INSN_TRAP);
	}
}

/* Does the branch decide anything but whether there is a panic? */
static bool decides(const struct view *view, size_t at)
{
	const struct graph_block *block = &view->graph->blocks[view->graph->block_of[at]];
	unsigned ways = 0;

	for (uint32_t i = 0; i < block->nsucc; i++)
		ways += !view->cold[view->graph->edges[block->succ_at + i]];
	return ways > 1;
}

static void find_parts(struct view *view)
{
	find_cold(view);
	for (size_t i = 0; i < view->finder->flow.count; i++) {
		view->part[i] = part_of(view, i);
		view->branches |= view->part[i] == PART_BRANCH && decides(view, i);
	}
}

/* The closest block that is passed on every way to the line's code; GRAPH_UNREACHED: none. */
static uint32_t home_of(const struct view *view)
{
	const struct graph *graph = view->graph;
	uint32_t home = GRAPH_UNREACHED;

	for (size_t i = 0; i < view->finder->flow.count; i++) {
		uint32_t b = graph->block_of[i];

		if (view->part[i] < PART_BRANCH)
			continue;
		if (graph->blocks[b].order == GRAPH_UNREACHED)
			return GRAPH_UNREACHED;
		home = home == GRAPH_UNREACHED ? b : graph_common_dominator(graph, home, b);
	}
	return home == graph->root ? GRAPH_UNREACHED : home;
}

/* Marks the blocks that can be reached after block `from` without passing `without`. */
static void reach(struct view *view, uint32_t from, uint32_t without)
{
	const struct graph *graph = view->graph;
	uint32_t depth = 0;

	memset(view->seen, 0, graph->nblocks + 1);
	view->stack[depth++] = from;
	while (depth) {
		const struct graph_block *block = &graph->blocks[view->stack[--depth]];

		for (uint32_t i = 0; i < block->nsucc; i++) {
			uint32_t to = graph->edges[block->succ_at + i];

			if (to == without || view->seen[to])
				continue;
			view->seen[to] = true;
			view->stack[depth++] = to;
		}
	}
}

/* Is the block in a loop that does not pass block `home`? */
static bool loops_within(struct view *view, uint32_t b, uint32_t home)
{
	if (b == home)
		return false;
	reach(view, b, home);
	return view->seen[b];
}

/* Does each run that passes `home`, and does not panic, pass b before home again or the end? */
static bool always_leads(struct view *view, uint32_t home, uint32_t b)
{
	const struct graph *graph = view->graph;

	if (b == home)
		return true;
	reach(view, home, b);
	if (view->seen[home])
		return false;
	for (uint32_t i = 0; i < graph->nblocks; i++)
		if (view->seen[i] && !graph->blocks[i].nsucc && !view->cold[i])
			return false;
	return graph_dominates(graph, home, b) && !loops_within(view, b, home);
}

static bool is_loop_header(const struct view *view, uint32_t b)
{
	const struct graph *graph = view->graph;
	const struct graph_block *block = &graph->blocks[b];

	for (uint32_t i = 0; i < block->npred; i++) {
		uint32_t pred = graph->preds[block->pred_at + i];

		if (graph->blocks[pred].order != GRAPH_UNREACHED && pred != graph->root &&
		    graph_dominates(graph, b, pred))
			return true;
	}
	return false;
}

/* The first instruction of the line in the block that never moves, or FLOW_NONE. */
static long first_solid(const struct view *view, uint32_t b)
{
	for (long i = view->graph->blocks[b].first; i <= (long)view->graph->blocks[b].last; i++)
		if (view->part[i] == PART_SOLID)
			return i;
	return FLOW_NONE;
}

/* Is there work of another line in the block, after the line's own? */
static bool goes_on(const struct view *view, uint32_t b, long *last)
{
	bool after = false;

	*last = FLOW_NONE;
	for (long i = view->graph->blocks[b].first; i <= (long)view->graph->blocks[b].last; i++) {
		if (view->part[i] == PART_SOLID) {
			*last = i;
			after = false;
		} else if (view->part[i] < PART_BRANCH && is_solid(view, insn_at(view, i))) {
			after = true;
		}
	}
	return after;
}

/* Is the way from `pred` to a block past the line that of an `if` around the line: a branch of an
 * earlier line, which leads to the line or past it, and nothing else happens on that way? */
static bool is_if_around(const struct view *view, uint32_t pred, uint32_t home)
{
	const struct graph *graph = view->graph;
	const struct insn *last;
	const char *file;
	int line;

	if (view->branches || pred == graph->root || graph->blocks[home].dominator != pred)
		return false;
	last = insn_at(view, graph->blocks[pred].last);
	return last->kind == INSN_JUMP_IF &&
	       view->finder->tree.node_of[graph->blocks[pred].last] == view->place->node &&
	       functab_line(view->finder->tab, view->fn, last->addr, &file, &line) &&
	       line < view->place->line;
}

/* Of the head of a loop that the line is in, only the ways back to it count. */
static bool is_entered_elsewhere(const struct view *view, uint32_t b, uint32_t home)
{
	const struct graph *graph = view->graph;
	const struct graph_block *block = &graph->blocks[b];
	bool head = graph_dominates(graph, b, home);

	for (uint32_t i = 0; i < block->npred; i++) {
		uint32_t pred = graph->preds[block->pred_at + i];

		if (graph->blocks[pred].order == GRAPH_UNREACHED)
			continue;
		if (head && (pred == graph->root || !graph_dominates(graph, b, pred)))
			continue;
		if (pred == graph->root ||
		    (!graph_dominates(graph, home, pred) && !is_if_around(view, pred, home)))
			return true;
	}
	return false;
}

static bool has_others_work(const struct view *view, uint32_t b)
{
	for (long i = view->graph->blocks[b].first; i <= (long)view->graph->blocks[b].last; i++)
		if (view->part[i] < PART_BRANCH && is_solid(view, insn_at(view, i)))
			return true;
	return false;
}

/* Can what comes right after the line be reached without it? Where the compiler knows how a
 * condition of the line comes out, as of `a && f()`, it jumps past the whole line, and what is left
 * of it looks like the body of an `if`. */
static bool may_be_passed_by(struct view *view, uint32_t home, uint32_t b)
{
	const struct graph *graph = view->graph;
	uint32_t depth = 0;
	long last;

	if (goes_on(view, b, &last))
		return false;
	if (!view->branches && insn_at(view, last)->kind != INSN_CALL)
		return false; /* a statement's store is no part of a condition */
	memset(view->seen, 0, graph->nblocks + 1);
	view->stack[depth++] = b;
	while (depth) {
		const struct graph_block *block = &graph->blocks[view->stack[--depth]];

		for (uint32_t i = 0; i < block->nsucc; i++) {
			uint32_t to = graph->edges[block->succ_at + i];

			if (view->seen[to] || view->cold[to] || to == home)
				continue;
			view->seen[to] = true;
			if (is_entered_elsewhere(view, to, home))
				return true;
			if (!has_others_work(view, to) && !graph_dominates(graph, to, home))
				view->stack[depth++] = to;
		}
	}
	return false;
}

static bool any_loop(struct view *view, uint32_t home)
{
	uint32_t last = GRAPH_UNREACHED;

	for (size_t i = 0; i < view->finder->flow.count; i++) {
		uint32_t b = view->graph->block_of[i];
		bool own = view->finder->tree.node_of[i] == view->place->node;

		if (b == last || !own || view->part[i] < PART_BRANCH)
			continue;
		last = b;
		if (loops_within(view, b, home))
			return true;
	}
	return false;
}

/* The closest to the beginning of the blocks that each run of the line passes once. */
static long choose(struct view *view, uint32_t home, const char **reason)
{
	const struct graph *graph = view->graph;
	uint32_t found = GRAPH_UNREACHED;

	*reason = "the compiler may have moved all of its code";
	for (uint32_t b = 0; b < graph->nblocks; b++) {
		if (graph->blocks[b].order == GRAPH_UNREACHED || first_solid(view, b) == FLOW_NONE)
			continue;
		*reason = "its code is not all executed as often";
		if (site_finder_take(view->finder, graph->nblocks, reason))
			return FLOW_NONE;
		if (always_leads(view, home, b) &&
		    (found == GRAPH_UNREACHED ||
		     graph->blocks[b].order < graph->blocks[found].order))
			found = b;
	}
	if (found == GRAPH_UNREACHED)
		return FLOW_NONE;
	*reason = "some executions of the line may pass by its code";
	return may_be_passed_by(view, home, found) ? FLOW_NONE : first_solid(view, found);
}

static const char *find(struct view *view, struct site *out)
{
	const char *reason = "none of its code is left here", *refusal;
	struct body body = {.graph = view->graph};
	uint32_t home = home_of(view);
	int32_t below;
	long at, best;

	if (home == GRAPH_UNREACHED)
		return reason;
	if (any_loop(view, home))
		return "a loop is part of the line";
	if (view->branches && is_loop_header(view, home))
		return "the line decides whether a loop goes on";
	at = choose(view, home, &reason);
	if (at == FLOW_NONE)
		return reason;
	best = body_cheapest(&body, at);
	at = best == FLOW_NONE ? at : best;
	refusal = site_refusal(insn_at(view, at), SITE_RUN_BEGINS);
	if (refusal)
		return refusal;
	if (!site_finder_sp(view->finder, view->fn, insn_at(view, at)->addr, &below))
		return "the stack pointer is not known";
	*out = (struct site){.addr = insn_at(view, at)->addr,
			     .kind = SITE_LINE,
			     .emulated = insn_at(view, at)->probe == INSN_EMULATED,
			     .sp_adjust = below};
	return NULL;
}

static int open_tree(struct site_finder *finder, const struct functab_func *fn, const char **reason)
{
	const char *never = site_finder_never(finder, fn);

	if (never)
		return site_finder_refuse(reason, never);
	if (site_finder_graph(finder, fn, reason))
		return -1;
	if (!finder->tree.node_of) {
		inltree_load(&finder->tree, finder->tab, fn);
		inltree_join(&finder->tree, finder->tab, fn, &finder->flow);
	}
	return site_finder_take(finder, finder->flow.count * WALKS, reason);
}

int line_site(struct site_finder *finder, const struct functab_func *fn,
	      const struct line_place *place, struct site *out, const char **reason)
{
	struct view view = {.finder = finder, .fn = fn, .place = place};

	if (place->node < 0 && functab_start_line(finder->tab, fn) == place->line)
		return site_entry(finder, fn, false, out, reason);
	if (open_tree(finder, fn, reason))
		return -1;
	view.graph = &finder->graph;
	view.part = mem_zalloc(finder->flow.count, sizeof(*view.part));
	view.cold = mem_zalloc(view.graph->nblocks + 1, sizeof(*view.cold));
	view.seen = mem_zalloc(view.graph->nblocks + 1, sizeof(*view.seen));
	view.stack = mem_alloc((view.graph->nblocks + 1) * sizeof(*view.stack));
	find_parts(&view);
	*reason = find(&view, out);
	free(view.part);
	free(view.cold);
	free(view.seen);
	free(view.stack);
	return *reason ? -1 : 0;
}
