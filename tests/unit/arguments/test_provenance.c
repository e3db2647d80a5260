// SPDX-License-Identifier: Apache-2.0
/* Which values are believed to be the first of a variable, from bytes. */
#include <string.h>

#include "arguments/provenance_internal.h"
#include "base/mem.h"
#include "machine/arch.h"
#include "program/functab.h"
#include "sites/site_internal.h"
#include "sites/site_finder.h"
#include "unit.h"

enum { BASE = 0x401000, RAX = 0, RDX = 1, RCX = 2, SLOT8 = -8, NOWHERE = -100 };

#define CODE(text) text, sizeof(text) - 1

struct said { /* at [from, to) the variable is said to be there: a register, or -slot */
	unsigned from, to;
	int place;
};

struct row {
	const char *what, *code;
	size_t len;
	struct said said[3];
	unsigned own[2]; /* code of the copy's */
	unsigned site;
	int place;
	bool is_first;
};

static const struct row rows[] = {
	{"computed, then there",
	 CODE("\x48\x8b\x03"       /* 0: mov rax, [rbx] */
	      "\x48\x89\x01\xc3"), /* 3: mov [rcx], rax; ret */
	 {{3, 6, RAX}},
	 {3, 6},
	 3,
	 RAX,
	 true},
	{"the function's own argument",
	 CODE("\x90\x48\x89\x01\xc3"),
	 {{0, 4, RAX}},
	 {1, 4},
	 1,
	 RAX,
	 true},
	{"another register is said to be it",
	 CODE("\x90\x48\x89\x01\xc3"),
	 {{0, 4, RCX}},
	 {1, 4},
	 1,
	 RAX,
	 false},
	{"changed in its place",
	 CODE("\x48\x8b\x03"       /* 0: mov rax, [rbx] */
	      "\x48\xff\xc0"       /* 3: inc rax */
	      "\x48\x89\x01\xc3"), /* 6: mov [rcx], rax; ret */
	 {{3, 9, RAX}},
	 {6, 9},
	 6,
	 RAX,
	 false},
	{"a part of it changed",
	 CODE("\x48\x8b\x03"       /* 0: mov rax, [rbx] */
	      "\xb0\x01"           /* 3: mov al, 1 */
	      "\x48\x89\x01\xc3"), /* 5: mov [rcx], rax; ret */
	 {{3, 8, RAX}},
	 {5, 8},
	 5,
	 RAX,
	 false},
	{"a value that the name has later, computed ahead",
	 CODE("\x48\x8b\x03"       /* 0: mov rax, [rbx] */
	      "\x48\x8d\x50\x01"   /* 3: lea rdx, [rax + 1] */
	      "\x48\x89\x11\xc3"), /* 7: mov [rcx], rdx; ret */
	 {{3, 7, RAX}, {7, 10, RDX}},
	 {7, 10},
	 7,
	 RDX,
	 false},
	{"the same, the first being lost before",
	 CODE("\x48\x8b\x03"       /* 0: mov rax, [rbx] */
	      "\x48\xff\xc0"       /* 3: inc rax */
	      "\x48\x89\xc2"       /* 6: mov rdx, rax */
	      "\x48\xff\xc2"       /* 9: inc rdx */
	      "\x48\x89\x11\xc3"), /* c: mov [rcx], rdx; ret */
	 {{3, 6, RAX}, {12, 15, RDX}},
	 {12, 15},
	 12,
	 RDX,
	 false},
	{"what the copy's own code computes",
	 CODE("\x48\x8b\x03\x48\x89\x01\xc3"),
	 {{3, 6, RAX}},
	 {0, 6},
	 3,
	 RAX,
	 false},
	{"a constant, which may be made of another",
	 CODE("\xb8\x05\0\0\0"     /* 0: mov eax, 5 */
	      "\x48\x89\x01\xc3"), /* 5: mov [rcx], rax; ret */
	 {{5, 8, RAX}},
	 {5, 8},
	 5,
	 RAX,
	 false},
	{"copied elsewhere, which is not said",
	 CODE("\x48\x8b\x03"       /* 0: mov rax, [rbx] */
	      "\x48\x89\xc2"       /* 3: mov rdx, rax */
	      "\x31\xc0"           /* 6: xor eax, eax */
	      "\x48\x89\x11\xc3"), /* 8: mov [rcx], rdx; ret */
	 {{3, 6, RAX}},
	 {8, 11},
	 8,
	 RDX,
	 true},
	{"spilled",
	 CODE("\x48\x8b\x03"         /* 0: mov rax, [rbx] */
	      "\x48\x89\x44\x24\x08" /* 3: mov [rsp + 8], rax */
	      "\x31\xc0"             /* 8: xor eax, eax */
	      "\x48\x89\x01\xc3"),   /* a: mov [rcx], rax; ret */
	 {{3, 8, RAX}, {8, 13, SLOT8}},
	 {10, 13},
	 10,
	 SLOT8,
	 true},
	{"spilled, and the slot written to again",
	 CODE("\x48\x8b\x03"         /* 0: mov rax, [rbx] */
	      "\x48\x89\x44\x24\x08" /* 3: mov [rsp + 8], rax */
	      "\x89\x4c\x24\x0c"     /* 8: mov [rsp + 12], ecx */
	      "\x48\x89\x01\xc3"),   /* c: mov [rcx], rax; ret */
	 {{3, 8, RAX}, {8, 15, SLOT8}},
	 {12, 15},
	 12,
	 SLOT8,
	 false},
	{"a loop's counter: what is left of the round before is not the first value of this one",
	 CODE("\x31\xc9"         /* 0: xor ecx, ecx */
	      "\x48\x89\x0a"     /* 2: mov [rdx], rcx */
	      "\x48\xff\xc1"     /* 5: inc rcx */
	      "\x48\x83\xf9\x09" /* 8: cmp rcx, 9 */
	      "\x7c\xf4\xc3"),   /* c: jl 2; ret */
	 {{2, 8, RCX}},
	 {2, 5},
	 2,
	 RCX,
	 true},
	{"the same for all rounds",
	 CODE("\x48\x8d\x48\x01" /* 0: lea rcx, [rax + 1] */
	      "\x48\x89\x0a"     /* 4: mov [rdx], rcx */
	      "\x48\xff\xcb"     /* 7: dec rbx */
	      "\x75\xf8\xc3"),   /* a: jne 4; ret */
	 {{4, 12, RCX}},
	 {4, 7},
	 4,
	 RCX,
	 true},
	{"the same for all rounds, but another value",
	 CODE("\x48\x8d\x48\x01\x48\x89\x0a\x48\xff\xcb\x75\xf8\xc3"),
	 {{0, 4, RAX}, {4, 12, RCX}},
	 {4, 7},
	 4,
	 RCX,
	 false},
	{"said in the round before only",
	 CODE("\x31\xc9"       /* 0: xor ecx, ecx */
	      "\x48\x89\x0a"   /* 2: mov [rdx], rcx */
	      "\x48\x8b\x0b"   /* 5: mov rcx, [rbx] */
	      "\x90"           /* 8: nop */
	      "\x48\xff\xce"   /* 9: dec rsi */
	      "\x75\xf4\xc3"), /* c: jne 2; ret */
	 {{8, 9, RCX}},
	 {2, 5},
	 2,
	 RCX,
	 false},
	{"one of two values",
	 CODE("\x48\x85\xdb"       /* 0: test rbx, rbx */
	      "\x74\x05"           /* 3: je 10 */
	      "\x48\x8b\x03"       /* 5: mov rax, [rbx] */
	      "\xeb\x03"           /* 8: jmp 13 */
	      "\x48\x89\xf0"       /* a: mov rax, rsi */
	      "\x48\x89\x01\xc3"), /* d: mov [rcx], rax; ret */
	 {{13, 16, RAX}},
	 {13, 16},
	 13,
	 RAX,
	 true},
	{"one of two, of which one is a later value",
	 CODE("\x48\x85\xdb\x74\x05\x48\x8b\x03\xeb\x03\x48\x89\xf0\x48\x89\x01\xc3"),
	 {{0, 8, RDX}, {13, 16, RAX}},
	 {13, 16},
	 13,
	 RAX,
	 false},
};

static struct provenance_place place_of(int place)
{
	return (struct provenance_place){
		.in_register = place >= 0, .n = place >= 0 ? place : -place, .size = 8};
}

static bool located(const void *ctx, uint64_t addr, struct provenance_place *out)
{
	const struct row *row = ctx;

	for (size_t i = 0; i < 3; i++)
		if (addr >= BASE + row->said[i].from && addr < BASE + row->said[i].to) {
			*out = place_of(row->said[i].place);
			return true;
		}
	return false;
}

/* The copy is node 0 of the tree. */
static void give_tree(struct site_finder *finder, const struct row *row)
{
	struct inltree *tree = &finder->tree;

	tree->count = 1;
	tree->nodes = mem_zalloc(1, sizeof(*tree->nodes));
	tree->nodes[0].parent = -1;
	tree->node_of = mem_zalloc(finder->flow.count, sizeof(*tree->node_of));
	for (size_t i = 0; i < finder->flow.count; i++) {
		uint64_t off = finder->flow.insns[i].addr - BASE;

		tree->node_of[i] = off >= row->own[0] && off < row->own[1] ? 0 : -1;
	}
}

static bool ask(const struct row *row, unsigned steps, struct provenance_sources *sources)
{
	struct insn_code code = {(const uint8_t *)row->code, row->len, BASE};
	struct functab_func fn = {.name = "main.f", .addr = BASE, .end = BASE + row->len};
	struct site_finder *finder = site_finder_new_code(ARCH_AMD64, &code);
	struct provenance of = {finder, &fn, 0, located, row, &steps};
	struct provenance_place place = place_of(row->place);
	const char *reason;

	assert_int_equal(site_finder_graph(finder, &fn, &reason), 0);
	give_tree(finder, row);
	bool is_first = provenance_is_first(&of, BASE + row->site, &place, sources);

	site_finder_free(finder);
	return is_first;
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct provenance_sources sources = {0}, again = {0};
		bool is_first = ask(&rows[i], 1000, &sources);

		if (is_first != rows[i].is_first)
			fail_msg("%s: %d", rows[i].what, is_first);
		/* always by the same computation; and never in no time */
		ask(&rows[i], 1000, &again);
		assert_memory_equal(&sources, &again, sizeof(sources));
		assert_true(!is_first || sources.count);
		if (rows[i].site && rows[i].said[0].from)
			assert_false(ask(&rows[i], 0, &again));
	}
}

/* Two that are computed by one call, in two registers, are not one value. */
static void test_sources(void **state)
{
	static const char code[] = "\xe8\0\x10\0\0\x48\x89\x01\xc3"; /* call; mov [rcx], rax; ret */
	struct row row = {"", code, 9, {{5, 8, RAX}}, {5, 8}, 5, RAX, true};
	struct provenance_sources rax = {0}, rdx = {0};

	(void)state;
	assert_true(ask(&row, 1000, &rax));
	row.place = row.said[0].place = RDX;
	assert_true(ask(&row, 1000, &rdx));
	assert_int_equal(rax.count, 1);
	assert_int_equal(rdx.count, 1);
	assert_true(rax.ids[0] != rdx.ids[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_sources),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
