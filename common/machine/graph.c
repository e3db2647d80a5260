// SPDX-License-Identifier: Apache-2.0
#include "machine/graph_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* TABLES_MAX: entries of all tables of a function; more is no compiler's work. */
enum { TABLE_MAX = 1 << 16, TABLES_MAX = 1 << 20, LEA_SEARCH = 16 };

static bool never_returns(const struct graph_source *src, const struct insn *in)
{
	return in->kind == INSN_CALL && in->target && src->never_returns &&
	       src->never_returns(in->target, src->ctx);
}

static bool ends_block(const struct graph_source *src, const struct insn *in)
{
	return flow_ends_block(in) || never_returns(src, in);
}

/* The table that `jmp [reg+i*8]` reads: what a lea just before put in reg. 0: not found. */
static uint64_t table_of(const struct flow *flow, size_t jump)
{
	uint8_t reg = flow->insns[jump].reg;

	for (size_t i = jump; i-- > 0 && jump - i < LEA_SEARCH;) {
		const struct insn *in = &flow->insns[i];

		if ((in->kind == INSN_MOVE || in->kind == INSN_OTHER) && in->target &&
		    in->reg == reg)
			return in->target;
		if (flow_ends_block(in) || in->kind == INSN_CALL)
			return 0;
	}
	return 0;
}

bool graph_table_entry(const struct flow *flow, const struct graph_source *src, size_t jump,
		       size_t n, uint64_t *target)
{
	uint64_t table = table_of(flow, jump);

	return table && src->word && n < TABLE_MAX && src->word(table + n * 8, target, src->ctx) &&
	       flow_at(flow, *target) != FLOW_NONE;
}

static void lead(bool *leads, long at)
{
	if (at != FLOW_NONE)
		leads[at] = true;
}

static int lead_table(const struct flow *flow, const struct graph_source *src, size_t jump,
		      bool *leads, size_t *total)
{
	uint64_t target;
	size_t n = 0;

	for (; graph_table_entry(flow, src, jump, n, &target); n++)
		lead(leads, flow_at(flow, target));
	*total += n;
	return n && *total <= TABLES_MAX ? 0 : -1;
}

/* marks the first instruction of each block */
static int find_leaders(const struct flow *flow, const struct graph_source *src, bool *leads)
{
	size_t total = 0;

	leads[0] = true;
	for (size_t i = 0; i < flow->count; i++) {
		const struct insn *in = &flow->insns[i];

		if (in->kind == INSN_JUMP || in->kind == INSN_JUMP_IF)
			lead(leads, flow_at(flow, in->target));
		if (in->kind == INSN_JUMP_MEM && lead_table(flow, src, i, leads, &total))
			return -1;
		if (ends_block(src, in) && i + 1 < flow->count)
			leads[i + 1] = true;
	}
	return 0;
}

static void make_blocks(struct graph *graph, const bool *leads)
{
	size_t count = graph->flow->count;

	graph->block_of = mem_alloc(count * sizeof(*graph->block_of));
	for (size_t i = 0; i < count; i++)
		graph->nblocks += leads[i];
	graph->root = graph->nblocks;
	graph->blocks = mem_zalloc(graph->nblocks + 1, sizeof(*graph->blocks));
	for (size_t i = 0, b = 0; i < count; i++) {
		if (leads[i] && i)
			b++;
		if (leads[i])
			graph->blocks[b].first = i;
		graph->blocks[b].last = i;
		graph->block_of[i] = b;
	}
}

static void add_edge(struct graph *graph, uint32_t from, uint32_t to)
{
	graph->edges =
		mem_grow(graph->edges, graph->nedges, &graph->cap_edges, sizeof(*graph->edges));
	graph->edges[graph->nedges++] = to;
	graph->blocks[from].nsucc++;
}

static void add_target(struct graph *graph, uint32_t from, uint64_t target)
{
	long at = flow_at(graph->flow, target);

	if (at != FLOW_NONE)
		add_edge(graph, from, graph->block_of[at]);
}

static void add_successors(struct graph *graph, const struct graph_source *src, uint32_t b)
{
	const struct flow *flow = graph->flow;
	size_t last = graph->blocks[b].last;
	const struct insn *in = &flow->insns[last];
	uint64_t target;

	graph->blocks[b].succ_at = graph->nedges;
	if (in->kind == INSN_JUMP || in->kind == INSN_JUMP_IF)
		add_target(graph, b, in->target);
	for (size_t n = 0;
	     in->kind == INSN_JUMP_MEM && graph_table_entry(flow, src, last, n, &target); n++)
		add_target(graph, b, target);
	if ((in->kind == INSN_JUMP_IF || !ends_block(src, in)) && last + 1 < flow->count)
		add_edge(graph, b, b + 1);
}

static void count_predecessors(struct graph *graph, bool with_root)
{
	uint32_t end = graph->nblocks + with_root;

	for (uint32_t b = 0; b <= graph->nblocks; b++)
		graph->blocks[b].npred = 0;
	for (uint32_t b = 0; b < end; b++)
		for (uint32_t i = 0; i < graph->blocks[b].nsucc; i++)
			graph->blocks[graph->edges[graph->blocks[b].succ_at + i]].npred++;
}

/* nops that align what follows, and that are jumped over */
static bool is_padding(const struct graph *graph, uint32_t b)
{
	for (uint32_t i = graph->blocks[b].first; i <= graph->blocks[b].last; i++)
		if (graph->flow->insns[i].kind != INSN_NOP)
			return false;
	return true;
}

/* the root leads to the first block and to those that nothing else leads to */
static void add_root(struct graph *graph)
{
	graph->blocks[graph->root].succ_at = graph->nedges;
	for (uint32_t b = 0; b < graph->nblocks; b++)
		if (!b || (!graph->blocks[b].npred && !is_padding(graph, b)))
			add_edge(graph, graph->root, b);
}

static void fill_predecessors(struct graph *graph)
{
	uint32_t at = 0;

	graph->preds = mem_alloc(graph->nedges * sizeof(*graph->preds));
	for (uint32_t b = 0; b <= graph->nblocks; b++) {
		graph->blocks[b].pred_at = at;
		at += graph->blocks[b].npred;
		graph->blocks[b].npred = 0;
	}
	for (uint32_t b = 0; b <= graph->nblocks; b++)
		for (uint32_t i = 0; i < graph->blocks[b].nsucc; i++) {
			uint32_t to = graph->edges[graph->blocks[b].succ_at + i];
			struct graph_block *target = &graph->blocks[to];

			graph->preds[target->pred_at + target->npred++] = b;
		}
}

int graph_build(struct graph *graph, const struct flow *flow, const struct graph_source *src)
{
	*graph = (struct graph){.flow = flow};
	if (!flow->count)
		return -1;

	bool *leads = mem_zalloc(flow->count, sizeof(*leads));

	if (find_leaders(flow, src, leads)) {
		free(leads);
		return -1;
	}
	make_blocks(graph, leads);
	free(leads);
	for (uint32_t b = 0; b < graph->nblocks; b++)
		add_successors(graph, src, b);
	count_predecessors(graph, false);
	add_root(graph);
	count_predecessors(graph, true);
	fill_predecessors(graph);
	graph_find_dominators(graph);
	return 0;
}

void graph_free(struct graph *graph)
{
	free(graph->blocks);
	free(graph->block_of);
	free(graph->edges);
	free(graph->preds);
	*graph = (struct graph){0};
}
