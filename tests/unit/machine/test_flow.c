// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "machine/arch.h"
#include "machine/flow.h"
#include "machine/graph.h"
#include "machine/insn.h"
#include "unit.h"

enum { BASE = 0x401000, TABLE = 0x500000, PANIC = BASE + 0x1005 };

#define CODE(text) ((struct insn_code){(const uint8_t *)(text), sizeof(text) - 1, BASE})

struct fixture {
	struct insn_decoder *dec;
	struct flow flow;
	struct graph graph;
	const uint64_t *table;
	size_t table_size;
};

static bool never_returns(uint64_t callee, void *ctx)
{
	(void)ctx;
	return callee == PANIC;
}

static bool word(uint64_t addr, uint64_t *out, void *ctx)
{
	const struct fixture *fx = ctx;

	if (addr < TABLE || (addr - TABLE) / 8 >= fx->table_size)
		return false;
	*out = fx->table[(addr - TABLE) / 8];
	return true;
}

static int build(struct fixture *fx, struct insn_code code)
{
	struct graph_source src = {never_returns, word, fx};

	fx->dec = insn_decoder_new(ARCH_AMD64);
	assert_int_equal(flow_decode(&fx->flow, fx->dec, &code), 0);
	return graph_build(&fx->graph, &fx->flow, &src);
}

static void drop(struct fixture *fx)
{
	graph_free(&fx->graph);
	flow_free(&fx->flow);
	insn_decoder_free(fx->dec);
}

static uint32_t block_at(const struct fixture *fx, unsigned off)
{
	return fx->graph.block_of[flow_at(&fx->flow, BASE + off)];
}

static bool leads_to(const struct fixture *fx, uint32_t from, uint32_t to)
{
	const struct graph_block *block = &fx->graph.blocks[from];

	for (uint32_t i = 0; i < block->nsucc; i++)
		if (fx->graph.edges[block->succ_at + i] == to)
			return true;
	return false;
}

static void test_decode(void **state)
{
	struct insn_decoder *dec = insn_decoder_new(ARCH_AMD64);
	struct insn_code good = CODE("\x55\x5d\xc3\xcc\xcc\xcc"), data = CODE("\xc3\x06\x90");
	struct insn_code middle = CODE("\xeb\x01\x48\xb8\1\2\3\4\5\6\7\x08\xc3");
	struct insn_code cut = CODE("\x90\xe8\0\0"), last = CODE("\xc3\xeb\xcc\xcc");
	struct flow flow = {0};

	(void)state;
	assert_int_equal(flow_decode(&flow, dec, &good), 0);
	assert_int_equal(flow.count, 3);
	assert_int_equal(flow.end, BASE + 3);
	assert_int_equal(flow_at(&flow, BASE + 1), 1);
	assert_int_equal(flow_at(&flow, BASE + 3), FLOW_NONE);
	assert_true(flow_is_inside(&flow, BASE) && flow_is_inside(&flow, BASE + 2));
	assert_false(flow_is_inside(&flow, BASE - 1) || flow_is_inside(&flow, BASE + 3));
	assert_int_equal(flow_decode(&flow, dec, &data), -1);
	assert_int_equal(flow_decode(&flow, dec, &middle), -1);
	assert_int_equal(flow_decode(&flow, dec, &cut), -1);
	/* the last byte of the jump is no padding */
	assert_int_equal(flow_decode(&flow, dec, &last), 0);
	assert_int_equal(flow.count, 2);
	flow_free(&flow);
	insn_decoder_free(dec);
}

/* if (x) a; else b; c */
static void test_diamond(void **state)
{
	struct fixture fx = {0};

	(void)state;
	assert_int_equal(build(&fx, CODE("\x74\x03"     /* 0: je 5 */
					 "\x90\xeb\x01" /* 2: nop; jmp 6 */
					 "\x90"         /* 5 */
					 "\xc3")),      /* 6 */
			 0);
	assert_int_equal(fx.graph.nblocks, 4);

	uint32_t top = block_at(&fx, 0), left = block_at(&fx, 2), right = block_at(&fx, 5),
		 join = block_at(&fx, 6);

	assert_true(leads_to(&fx, top, left) && leads_to(&fx, top, right));
	assert_true(leads_to(&fx, left, join) && leads_to(&fx, right, join));
	assert_false(leads_to(&fx, left, right));
	assert_int_equal(fx.graph.blocks[join].dominator, top);
	assert_int_equal(graph_common_dominator(&fx.graph, left, right), top);
	assert_int_equal(graph_common_dominator(&fx.graph, join, join), join);
	assert_int_equal(fx.graph.blocks[top].dominator, fx.graph.root);
	drop(&fx);
}

/* what follows a panic is not reached from it; what nothing leads to comes from the root */
static void test_panic(void **state)
{
	struct fixture fx = {0};

	(void)state;
	assert_int_equal(build(&fx, CODE("\x74\x01\xc3"     /* 0: je 3; ret */
					 "\x90"             /* 3 */
					 "\xe8\xfc\x0f\0\0" /* 4: call 0x1005 */
					 "\x90\xc3")),      /* 9 */
			 0);
	assert_int_equal(fx.graph.blocks[block_at(&fx, 3)].nsucc, 0);
	assert_int_equal(fx.graph.blocks[block_at(&fx, 9)].dominator, fx.graph.root);
	assert_true(leads_to(&fx, fx.graph.root, block_at(&fx, 9)));
	drop(&fx);
}

static const char with_switch[] = "\x48\x8d\x0d\xf9\xef\x0f\0" /* 0: lea rcx, [TABLE] */
				  "\xff\x24\xc1"               /* 7: jmp [rcx+rax*8] */
				  "\xc3"                       /* 10 */
				  "\x90\xc3"                   /* 11 */
				  "\xeb\xf1";                  /* 13: jmp 0 */

static void test_switch(void **state)
{
	static const uint64_t table[] = {BASE + 10, BASE + 13, BASE + 11, BASE + 12, 0};
	struct fixture fx = {.table = table, .table_size = 5};

	(void)state;
	assert_int_equal(build(&fx, CODE(with_switch)), 0);

	uint32_t top = block_at(&fx, 0);

	assert_int_equal(fx.graph.blocks[top].nsucc, 4);
	assert_true(leads_to(&fx, top, block_at(&fx, 13)));
	assert_true(block_at(&fx, 11) != block_at(&fx, 12));
	assert_true(leads_to(&fx, block_at(&fx, 13), top));
	drop(&fx);
}

static void test_switch_unknown(void **state)
{
	struct fixture fx = {0};

	(void)state;
	assert_int_equal(build(&fx, CODE(with_switch)), -1);
	drop(&fx);
}

/* blocks that only reach themselves are reached from nowhere, and that is no endless walk */
static void test_island(void **state)
{
	struct fixture fx = {0};

	(void)state;
	assert_int_equal(build(&fx, CODE("\xc3\x90\xeb\xfd")), 0);
	assert_int_equal(fx.graph.blocks[block_at(&fx, 1)].order, GRAPH_UNREACHED);
	drop(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode),         cmocka_unit_test(test_diamond),
		cmocka_unit_test(test_panic),          cmocka_unit_test(test_switch),
		cmocka_unit_test(test_switch_unknown), cmocka_unit_test(test_island),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
