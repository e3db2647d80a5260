// SPDX-License-Identifier: Apache-2.0
/* Dominators, against their definition: a block dominates another if no way leads around it. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "machine/graph_internal.h"
#include "unit.h"

enum { BLOCKS = 12, EDGES = 30 };

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1103515245 + 12345;
	return *state >> 16;
}

/* Edges (from, to) to lists of successors and predecessors; the root is block `nblocks`. */
static void make_graph(struct graph *graph, uint32_t nblocks, const uint32_t (*edges)[2], size_t n)
{
	*graph = (struct graph){.nblocks = nblocks, .root = nblocks};
	graph->blocks = mem_zalloc(nblocks + 1, sizeof(*graph->blocks));
	graph->edges = mem_alloc((n + 1) * sizeof(*graph->edges));
	graph->preds = mem_alloc((n + 1) * sizeof(*graph->preds));
	for (uint32_t b = 0; b <= nblocks; b++) {
		struct graph_block *block = &graph->blocks[b];

		block->succ_at = b ? block[-1].succ_at + block[-1].nsucc : 0;
		block->pred_at = b ? block[-1].pred_at + block[-1].npred : 0;
		for (size_t i = 0; i < n; i++) {
			if (edges[i][0] == b)
				graph->edges[block->succ_at + block->nsucc++] = edges[i][1];
			if (edges[i][1] == b)
				graph->preds[block->pred_at + block->npred++] = edges[i][0];
		}
	}
	graph_find_dominators(graph);
}

static void mark(const struct graph *graph, uint32_t b, uint32_t without, bool *seen)
{
	if (b == without || seen[b])
		return;
	seen[b] = true;
	for (uint32_t i = 0; i < graph->blocks[b].nsucc; i++)
		mark(graph, graph->edges[graph->blocks[b].succ_at + i], without, seen);
}

static bool dominates(const struct graph *graph, uint32_t a, uint32_t b)
{
	bool seen[BLOCKS + 1] = {false};

	mark(graph, graph->root, a, seen);
	return !seen[b];
}

static bool is_reached(const struct graph *graph, uint32_t b)
{
	return graph->blocks[b].order != GRAPH_UNREACHED;
}

static void check_common(const struct graph *graph, uint32_t a, uint32_t b)
{
	uint32_t common = graph_common_dominator(graph, a, b);

	assert_true(dominates(graph, common, a) && dominates(graph, common, b));
	for (uint32_t c = 0; c <= graph->nblocks; c++)
		if (is_reached(graph, c) && dominates(graph, c, a) && dominates(graph, c, b))
			assert_true(dominates(graph, c, common));
}

static void check(const struct graph *graph)
{
	bool seen[BLOCKS + 1] = {false};

	mark(graph, graph->root, GRAPH_UNREACHED, seen);
	for (uint32_t a = 0; a <= graph->nblocks; a++)
		assert_int_equal(is_reached(graph, a), seen[a]);
	for (uint32_t a = 0; a <= graph->nblocks; a++)
		for (uint32_t b = 0; b <= graph->nblocks; b++) {
			if (!seen[a] || !seen[b])
				continue;
			assert_int_equal(graph_dominates(graph, a, b), dominates(graph, a, b));
			check_common(graph, a, b);
		}
}

static void test_any(void **state)
{
	uint32_t seed = 1, edges[EDGES][2];
	struct graph graph;

	(void)state;
	for (unsigned round = 0; round < 3000; round++) {
		uint32_t nblocks = 1 + next_random(&seed) % BLOCKS;
		size_t n = 1 + next_random(&seed) % (nblocks * 2 + 1);

		edges[0][0] = nblocks;
		edges[0][1] = 0;
		for (size_t i = 1; i < n; i++) {
			/* from the root now and then, and never to it */
			edges[i][0] = next_random(&seed) % (nblocks + 1);
			edges[i][1] = next_random(&seed) % nblocks;
		}
		make_graph(&graph, nblocks, (const uint32_t(*)[2])edges, n);
		check(&graph);
		graph_free(&graph);
	}
}

/* Each block goes on to the next or to the last: repeating until nothing changes would take the
 * square of them. */
static void test_deep(void **state)
{
	enum { DEEP = 1 << 20 };
	struct graph graph = {.nblocks = DEEP, .root = DEEP};

	(void)state;
	graph.blocks = mem_zalloc(DEEP + 1, sizeof(*graph.blocks));
	graph.edges = mem_alloc(2 * DEEP * sizeof(*graph.edges));
	graph.preds = mem_alloc(2 * DEEP * sizeof(*graph.preds));
	for (uint32_t b = 0; b + 1 < DEEP; b++) {
		graph.blocks[b].succ_at = 2 * b;
		graph.blocks[b].nsucc = 2;
		graph.edges[2 * b] = DEEP - 1;
		graph.edges[2 * b + 1] = b + 1;
		graph.blocks[b].pred_at = b;
		graph.blocks[b].npred = 1;
		graph.preds[b] = b ? b - 1 : DEEP;
		graph.preds[DEEP + b] = b;
	}
	graph.blocks[DEEP - 1].pred_at = DEEP;
	graph.blocks[DEEP - 1].npred = DEEP - 1;
	graph.blocks[DEEP] = (struct graph_block){.succ_at = 2 * DEEP - 2, .nsucc = 1};
	graph.edges[2 * DEEP - 2] = 0;
	graph_find_dominators(&graph);
	assert_int_equal(graph.blocks[DEEP - 1].dominator, 0);
	assert_int_equal(graph.blocks[DEEP - 2].depth, DEEP - 1);
	for (uint32_t b = 0; b + 1 < DEEP; b++)
		assert_int_equal(graph_common_dominator(&graph, DEEP - 2, b), b);
	graph_free(&graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_any), cmocka_unit_test(test_deep)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
