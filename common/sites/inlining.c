// SPDX-License-Identifier: Apache-2.0
#include "sites/inlining_internal.h"

#include <stdlib.h>

#include "base/budget.h"
#include "base/mem.h"
#include "program/inltree.h"
#include "program/functab.h"
#include "sites/body_internal.h"
#include "sites/placement_internal.h"
#include "sites/site_finder_internal.h"

enum { DEPTH_MAX = 1000 };

struct lowest { /* address of each node's code */
	const struct inltree *tree;
	struct inlining_copy *copies;
};

static bool note_lowest(uint64_t from, uint64_t to, int32_t node, void *ctx)
{
	struct lowest *lowest = ctx;

	(void)to;
	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		if (node < 0 || node >= lowest->tree->count || lowest->copies[node].addr)
			return true;
		lowest->copies[node].addr = from;
		node = inltree_parent(lowest->tree, node);
	}
	return true;
}

static int by_copy_addr(const void *a, const void *b)
{
	const struct inlining_copy *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->node - y->node;
}

struct search { /* for all copies */
	const struct functab *tab;
	bool (*call)(const struct inlining_copy *, void *ctx);
	void *ctx;
	struct budget nodes, names;
	size_t left_out; /* functions */
	bool stopped;
};

/* false: the names are too long */
static bool call_each(struct search *search, const struct inlining_copy *copies, int32_t count)
{
	for (int32_t i = 0; !search->stopped && i < count; i++) {
		if (!copies[i].addr)
			continue;
		if (!budget_take_name(&search->names, copies[i].name))
			return false;
		search->stopped = !search->call(&copies[i], search->ctx);
	}
	return true;
}

static void each_in(struct search *search, const struct functab_func *fn)
{
	struct inltree tree;

	if (!inltree_load_within(&tree, search->tab, fn, &search->nodes)) {
		search->left_out++;
		return;
	}

	struct lowest lowest = {&tree, mem_zalloc(tree.count, sizeof(*lowest.copies))};

	functab_pcdata(search->tab, fn, PCLNTAB_PCDATA_INLTREE, note_lowest, &lowest);
	for (int32_t i = 0; i < tree.count; i++) {
		lowest.copies[i].name = tree.nodes[i].name;
		lowest.copies[i].func = fn->index;
		lowest.copies[i].node = i;
	}
	qsort(lowest.copies, tree.count, sizeof(*lowest.copies), by_copy_addr);
	search->left_out += !call_each(search, lowest.copies, tree.count);
	free(lowest.copies);
	inltree_free(&tree);
}

size_t inlining_each(const struct functab *tab, bool (*fn)(const struct inlining_copy *, void *ctx),
		     void *ctx)
{
	uint64_t size = functab_file_size(tab);
	size_t count = functab_count(tab);
	struct search search = {.tab = tab,
				.call = fn,
				.ctx = ctx,
				.nodes = budget_new(size, BUDGET_TREE_NODES),
				.names = budget_new(size, BUDGET_NAMES)};

	for (size_t i = 0; i < count && !search.stopped; i++) {
		struct functab_func func;

		if (functab_func(tab, i, &func))
			each_in(&search, &func);
	}
	return search.left_out;
}

/* The nop that the compiler leaves at the start of an inlined call, where no other instruction has
 * the call's position: cmd/compile's genssa, inline marks. It is the caller's instruction. */
static long find_mark(const struct site_finder *finder, int32_t node)
{
	uint8_t nop_size = finder->arch == ARCH_ARM64 ? 4 : 1;
	const struct inltree *tree = &finder->tree;
	const struct functab_inlined *call = &tree->nodes[node];
	const struct flow *flow = &finder->flow;
	long at = flow_at(flow, call->parent_pc);

	if (!call->parent_pc || at == FLOW_NONE || tree->node_of[at] != call->parent)
		return FLOW_NONE;
	return flow->insns[at].kind == INSN_NOP && flow->insns[at].size == nop_size ? at
										    : FLOW_NONE;
}

struct copy_view { /* one copy, ready to be looked at */
	const struct site_finder *finder;
	int32_t node;
	struct functab_func fn;
	struct body body;
	bool *inside;
};

static bool view_agrees(const void *ctx, uint32_t b)
{
	const struct copy_view *view = ctx;

	return placement_agrees(view->finder, &view->fn, view->node, b);
}

static int view_open(struct copy_view *view, struct site_finder *finder,
		     const struct inlining_copy *copy, const char **reason)
{
	const struct inltree *tree = &finder->tree;
	const struct flow *flow = &finder->flow;
	const char *never;

	if (!finder->tab || !functab_func(finder->tab, copy->func, &view->fn))
		return site_finder_refuse(reason, "the function around the copy is malformed");
	never = site_finder_never(finder, &view->fn);
	if (never)
		return site_finder_refuse(reason, never);
	if (site_finder_graph(finder, &view->fn, reason))
		return -1;
	if (!tree->node_of) {
		inltree_load(&finder->tree, finder->tab, &view->fn);
		inltree_join(&finder->tree, finder->tab, &view->fn, flow);
	}
	if (copy->node < 0 || copy->node >= tree->count)
		return site_finder_refuse(reason, "the function's inline tree is malformed");

	if (site_finder_take(finder, flow->count / 8 + finder->graph.nblocks, reason))
		return -1;

	uint32_t from = tree->from[copy->node], to = tree->to[copy->node];

	view->inside = mem_zalloc(flow->count, sizeof(*view->inside));
	for (uint32_t i = from; i < to; i++)
		view->inside[tree->insns[i]] = true;
	view->finder = finder;
	view->node = copy->node;
	view->body = (struct body){.graph = &finder->graph,
				   .inside = view->inside,
				   .insns = tree->insns + from,
				   .count = to - from,
				   .mark = find_mark(finder, copy->node),
				   .agrees = view_agrees,
				   .ctx = view};
	return 0;
}

static void view_close(struct copy_view *view)
{
	free(view->inside);
}

/* The instruction, or the first after it that is not executed again. */
static const struct insn *executed_once(const struct flow *flow, long at)
{
	while (flow->insns[at].again && at + 1 < (long)flow->count)
		at++;
	return &flow->insns[at];
}

/* `entry` is the instruction whose SP the run is known by; `kind` tells which end of it this is */
static const char *make_site(const struct site_finder *finder, const struct copy_view *view,
			     long at, long entry, enum site_kind kind, struct site *out)
{
	const struct insn *in = executed_once(&finder->flow, at);
	const char *refusal =
		site_refusal(in, kind == SITE_INLINED_EXIT ? SITE_RUN_ENDS : SITE_RUN_BEGINS);
	int32_t here = 0, there = 0;

	if (refusal)
		return refusal;
	if (!site_finder_sp(finder, &view->fn, in->addr, &here) ||
	    !site_finder_sp(finder, &view->fn, finder->flow.insns[entry].addr, &there))
		return "the stack pointer is not known";
	*out = (struct site){.addr = in->addr,
			     .kind = kind,
			     .emulated = in->probe == INSN_EMULATED,
			     .plain_ret = in->plain_ret,
			     .sp_adjust = here - there};
	return NULL;
}

int inlining_entry(struct site_finder *finder, const struct inlining_copy *copy, struct site *out,
		   const char **reason)
{
	struct copy_view view;
	long start;

	if (view_open(&view, finder, copy, reason))
		return -1;
	*reason = NULL;
	start = body_start(&view.body, reason);
	if (start != FLOW_NONE) {
		long at = body_cheapest(&view.body, start);

		at = at == FLOW_NONE ? start : at; /* make_site() says why not */
		*reason = make_site(finder, &view, at, at, SITE_INLINED, out);
	}
	view_close(&view);
	if (*reason)
		site_finder_take(finder, 1, reason); /* says so if the budget ran out */
	return *reason ? -1 : 0;
}

int inlining_places(struct site_finder *finder, const struct inlining_copy *copy,
		    struct site_list *out, const char **reason)
{
	struct copy_view view;
	long start;

	if (view_open(&view, finder, copy, reason))
		return -1;
	start = body_start(&view.body, reason);
	for (long i = start; start != FLOW_NONE && i <= body_last(&view.body, start); i++) {
		if (finder->flow.insns[i].again)
			continue;
		out->items = mem_grow(out->items, out->count, &out->cap, sizeof(*out->items));
		if (!make_site(finder, &view, i, i, SITE_INLINED, &out->items[out->count]))
			out->count++;
	}
	view_close(&view);
	return start == FLOW_NONE ? -1 : 0;
}

static const char *append_exit(const struct site_finder *finder, const struct copy_view *view,
			       long at, long entry, struct site_list *exits)
{
	const char *why;

	if (at >= (long)finder->flow.count)
		return "no code of the function follows the copy";
	exits->items = mem_grow(exits->items, exits->count, &exits->cap, sizeof(*exits->items));
	why = make_site(finder, view, at, entry, SITE_INLINED_EXIT, &exits->items[exits->count]);
	if (!why)
		exits->count++;
	return why;
}

static const char *span_of(const struct site_finder *finder, const struct copy_view *view,
			   struct site *entry, struct site_list *exits)
{
	const char *reason = NULL;
	struct body_exits found = {0};
	long start = body_start(&view->body, &reason), first, call;

	if (start == FLOW_NONE)
		return reason;
	call = body_only_call(&view->body, start);
	if (call != FLOW_NONE) {
		reason = make_site(finder, view, call, call, SITE_INLINED_CALL, entry);
		return reason ? reason
			      : append_exit(finder, view, body_past_nops(&view->body, call + 1),
					    call, exits);
	}
	first = body_past_nops(&view->body, start);
	reason = make_site(finder, view, first, first, SITE_INLINED, entry);
	if (!reason)
		body_exits(&view->body, start, &found, &reason);
	for (size_t i = 0; !reason && i < found.count; i++)
		reason = append_exit(finder, view, found.items[i], first, exits);
	if (!reason && !found.count)
		reason = "the copy never ends";
	free(found.items);
	return reason;
}

int inlining_span(struct site_finder *finder, const struct inlining_copy *copy, struct site *entry,
		  struct site_list *exits, const char **reason)
{
	size_t before = exits->count;
	struct copy_view view;

	if (view_open(&view, finder, copy, reason))
		return -1;
	*reason = span_of(finder, &view, entry, exits);
	view_close(&view);
	if (*reason)
		site_finder_take(finder, 1, reason); /* says so if the budget ran out */
	if (!*reason)
		return 0;
	exits->count = before;
	return -1;
}

int inlining_sites(struct site_finder *finder, const struct inlining_copy *copy, bool timed,
		   struct site *entry, struct site_list *exits, const char **reason)
{
	/* the kernel side tells copies of one frame apart by 16 bits of their node */
	if (copy->node >= UINT16_MAX)
		return site_finder_refuse(reason, "there are too many copies in one function");
	return timed ? inlining_span(finder, copy, entry, exits, reason)
		     : inlining_entry(finder, copy, entry, reason);
}

/* FLOW_NONE: there is none, or there are several */
static long sole_call(const struct body *body)
{
	long found = FLOW_NONE;

	for (size_t i = 0; i < body->count; i++) {
		if (body->graph->flow->insns[body->insns[i]].kind != INSN_CALL)
			continue;
		if (found != FLOW_NONE)
			return FLOW_NONE;
		found = body->insns[i];
	}
	return found;
}

int inlining_call(struct site_finder *finder, const struct inlining_copy *copy,
		  struct inlining_call *out, const char **reason)
{
	struct copy_view view;
	long at;

	if (view_open(&view, finder, copy, reason))
		return -1;
	at = sole_call(&view.body);
	*reason = at == FLOW_NONE ? "the copy makes no call, or more than one"
				  : make_site(finder, &view, at, at, SITE_INLINED_CALL, &out->site);
	if (!*reason) {
		out->target = finder->flow.insns[at].target;
		out->node = finder->tree.node_of[at];
	}
	view_close(&view);
	return *reason ? -1 : 0;
}
