// SPDX-License-Identifier: Apache-2.0
/* Which values are believed to be a variable's first, in all functions of four pieces
 * (codewords.h), of which those in capitals are the copy's. The variable is said to be in rax from
 * the second piece on, or there alone. Asked of at the end of each: of 4 for rax, of 2 for rdx, of
 * 1 for the slot that is spilled to, the sum of those that are believed. */
#include <string.h>

#include "arguments/provenance_internal.h"
#include "base/mem.h"
#include "codewords.h"
#include "machine/arch.h"
#include "program/functab.h"
#include "sites/site_finder.h"
#include "sites/site_internal.h"
#include "steps.h"
#include "unit.h"

enum { BASE = 0x401000, RAX = 0, RDX = 1, SLOT = -8, FROM_THERE = 64, STEPS = 1000 };

struct subject {
	struct codeword word;
	unsigned from, to; /* where it is said to be in rax */
	struct site_finder *finder;
	struct functab_func fn;
};

static bool located(const void *ctx, uint64_t addr, struct provenance_place *out)
{
	const struct subject *s = ctx;

	*out = (struct provenance_place){.in_register = true, .n = RAX, .size = 8};
	return addr >= BASE + s->from && addr < BASE + s->to;
}

/* The copy is node 0 of the tree. */
static void give_tree(const struct subject *s)
{
	struct site_finder *finder = s->finder;
	struct inltree *tree = &finder->tree;

	tree->count = 1;
	tree->nodes = mem_zalloc(1, sizeof(*tree->nodes));
	tree->nodes[0].parent = -1;
	tree->node_of = mem_zalloc(finder->flow.count, sizeof(*tree->node_of));
	for (size_t i = 0; i < finder->flow.count; i++) {
		char place = codeword_place(&s->word, finder->flow.insns[i].addr - BASE);
		char letter = s->word.pieces[place < 'a' ? place - '0' : place - 'a'];

		tree->node_of[i] = letter < 'a' ? 0 : -1;
	}
}

static void subject_make(struct subject *s, const char *letters, unsigned bytes)
{
	struct insn_code code = {.bytes = s->word.bytes, .addr = BASE};
	const char *reason;

	codeword_make(&s->word, letters, 0x1000);
	code.len = s->word.starts[s->word.count];
	s->from = s->word.starts[1];
	s->to = s->from + bytes;
	s->fn = (struct functab_func){.name = "main.f", .addr = BASE, .end = BASE + code.len};
	s->finder = site_finder_new_code(ARCH_AMD64, &code);
	assert_int_equal(site_finder_graph(s->finder, &s->fn, &reason), 0);
	give_tree(s);
}

static bool ask(const struct subject *s, int n, size_t *sources)
{
	struct provenance_place place = {.in_register = n >= 0, .n = n < 0 ? -n : n, .size = 8};
	unsigned steps = STEPS;
	struct provenance of = {s->finder, &s->fn, 0, located, s, &steps};
	struct provenance_sources found = {0};
	uint64_t at = BASE + s->word.starts[s->word.count - 2];
	bool is_first = provenance_is_first(&of, at, &place, &found);

	*sources += found.count;
	return is_first;
}

static void say(const char *letters, unsigned bytes, char *first, char *sources)
{
	struct subject s = {0};
	size_t count = 0;

	subject_make(&s, letters, bytes);
	*first = (char)('0' + 4 * ask(&s, RAX, &count) + 2 * ask(&s, RDX, &count) +
			ask(&s, SLOT, &count));
	*sources = (char)(count < 10 ? '0' + count : 'a' + count - 10);
	site_finder_free(s.finder);
}

/* behind this piece, three of the letters */
static void rows_are(char before, const char *letters, unsigned bytes)
{
	char word[CODEWORDS_PIECES] = {before}, first[256], sources[256];
	unsigned n = 0, at = 0, each = strlen(letters) * strlen(letters);

	while (codeword_nth(letters, 3, n++, word + 1)) {
		say(word, bytes, first + at, sources + at);
		if (++at != each)
			continue;
		steps_are("%.2s.. %.*s sources %.*s", word, each, first, each, sources);
		at = 0;
	}
}

static void test_from_there(void **state)
{
	(void)state;
	rows_are('v', "vVyzwqitk", FROM_THERE);
	steps_expect("vv.. 0004040000004040000000040000064540440004000000064540440004040000"
		     "00000000000404000 sources "
		     "1121211111121211112222322221121211112232222221121211111121211112"
		     "22222211112121111; vV.. "
		     "0004040000004040000000040000064540440004000000064540440004040000"
		     "00000000000404000 sources "
		     "1121211111121211112222322221121211112232222221121211111121211112"
		     "22222211112121111; vy.. "
		     "2206262202206262202266762662266762643377773752266762642206262202"
		     "26666264226676264 sources "
		     "2222322212222322212222322222222322213333333322222322212222322213"
		     "33233321222232221; vz.. "
		     "0004040000004040002266762660064540441175551550064540440004040000"
		     "04444044006454044 sources "
		     "1121211111121211112222322221121211112232222221121211111121211112"
		     "22122211112121111; vw.. "
		     "1115051101115051103377773761175551541175551551175551541115051101"
		     "15555154117555154 sources "
		     "2232222212232222213333333322232222212232222222232222212232222213"
		     "33332321223222221; vq.. "
		     "0004040000004040002266762660064540441175551550064540440004040000"
		     "04444044006454044 sources "
		     "1121211111121211112222322221121211112232222221121211111121211112"
		     "22221211112121111; vi.. "
		     "0004040000004040000000040000064540440004000000064540440004040000"
		     "00000000000404000 sources "
		     "1121211111121211112222322221121211112232222221121211111121211112"
		     "22222211112121111; vt.. "
		     "0004040040004040040064540440064540400064540440064540400004040040"
		     "04444044006454044 sources "
		     "1141411211141411212223322211141411202232232211141411201141411212"
		     "22222212112121111; vk.. "
		     "0004040000004040002266762660064540441175551550064540440004040000"
		     "04444044006454044 sources "
		     "1121211111121211112222322221121211112232222221121211111121211112"
		     "22222211112121111; ");
}

static void test_there(void **state)
{
	(void)state;
	rows_are('v', "vyitkbI", 1);
	steps_expect("vv.. 0000000000000000000000000000000000000000000000000 sources "
		     "1211111222200212111111211001121100112110011211111; vy.. "
		     "2022002262600220220022626002262600226260022022002 sources "
		     "2222112222200222221122222002222200222220022222112; vi.. "
		     "0000000000000000000000000000000000000000000000000 sources "
		     "1211111222200212111111211001121100112110011211111; vt.. "
		     "0000000060400000000000404000060400006040000000000 sources "
		     "1211001222200212110011211001121100112110011211001; vk.. "
		     "0000000262600200000000404000060400006040000000000 sources "
		     "1211111222200212111111211001121100112110011211111; vb.. "
		     "0000000262600200000000404000060400006040000000000 sources "
		     "1211111222200212111111211001121100112110011211111; vI.. "
		     "0000000000000000000000000000000000000000000000000 sources "
		     "1211111222200212111111211001121100112110011211111; ");
}

static void test_calls(void **state)
{
	(void)state;
	rows_are('c', "vcwysCI", FROM_THERE);
	steps_expect("cv.. 0000000000000000000000000000000000000000000000000 sources "
		     "2232222223222233333332232222223222222322222232222; cc.. "
		     "0000000000000000000000000000000000000000000000000 sources "
		     "2232222223222233333332232222223222222322222232222; cw.. "
		     "1101111110111111575113177713115751111011111101111 sources "
		     "3333333333333333333333333333333333333333333333333; cy.. "
		     "2020202000000031777132076602207660200000002020202 sources "
		     "2232222223222233333332232222223222222322222232222; cs.. "
		     "0000000000000011575112076602005640000000000000000 sources "
		     "2232222223222233333332232222223222222322222232222; cC.. "
		     "0000000000000000000000000000000000000000000000000 sources "
		     "2232222223222233333332232222223222222322222232222; cI.. "
		     "0000000000000000000000000000000000000000000000000 sources "
		     "2232222223222233333332232222223222222322222232222; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_from_there),
		cmocka_unit_test(test_there),
		cmocka_unit_test(test_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
