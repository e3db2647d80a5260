// SPDX-License-Identifier: Apache-2.0
/* Where an inlined copy does nothing but compute, its place is believed as far as the source's
 * lines say: on main.b of gofile.h with other code and lines. The copy's call is on the line of the
 * first instruction. */
#include "gofile_open.h"

#include <string.h>

#include "program/program.h"
#include "sites/inlining_internal.h"
#include "sites/site.h"

#define CODE(text) text, sizeof(text) - 1

enum { CALL_LINE = 20, NONE = -1 };

/* The next run of lines has another line, as a table would end where the value stays. */
struct place_case {
	const char *what, *code;
	size_t len;
	unsigned from, to;            /* offsets [from, to) of the copy's code */
	struct gofile_lines lines[3]; /* the last to the end of the function */
	int start;                    /* offset where its runs begin; NONE: not believed */
};

/* 0: test rcx, rcx; 3: je 8; 5: add rax, rbx; 8: ret */
#define BRANCH CODE("\x48\x85\xc9\x74\x03\x48\x01\xd8\xc3"), 5, 8
/* 0: test rcx, rcx; 3: test rdx, rdx; 6: je 16; 8: add rax, rbx; 11: dec rdx; 14: jmp 3; 16: ret */
#define LOOP CODE("\x48\x85\xc9\x48\x85\xd2\x74\x08\x48\x01\xd8\x48\xff\xca\xeb\xf3\xc3"), 8, 11
/* 0: test rcx, rcx; 3: dec rdx; 6: jne 3; 8: test rcx, rcx; 11: je 16; 13: add rax, rbx; 16: ret */
#define AFTER_LOOP                                                                                 \
	CODE("\x48\x85\xc9\x48\xff\xca\x75\xfb\x48\x85\xc9\x74\x03\x48\x01\xd8\xc3"), 13, 16
/* 0: nop of two bytes; 2: test rcx, rcx; 5: je 10; 7: add rax, rbx; 10: ret */
#define LONG_NOP CODE("\x66\x90\x48\x85\xc9\x74\x03\x48\x01\xd8\xc3"), 7, 10
/* the same with a nop of one byte, and a move of one more */
#define MARK CODE("\x90\x4c\x85\xc9\x90\x74\x03\x48\x01\xd8\xc3"), 7, 10

static const struct place_case cases[] = {
	{"a branch before the call", BRANCH, {{3, CALL_LINE}, {8, CALL_LINE - 1}, {64, 9}}, 5},
	{"a branch on the call's own line: if f(x) > 3", BRANCH, {{8, CALL_LINE}, {64, 9}}, NONE},
	{"a branch behind the call: it may have been moved there",
	 BRANCH,
	 {{3, CALL_LINE}, {8, CALL_LINE + 1}, {64, 9}},
	 NONE},
	{"the exit of the loop that it is in, behind it in the source",
	 LOOP,
	 {{3, CALL_LINE}, {8, CALL_LINE + 1}, {64, CALL_LINE}},
	 8},
	{"a branch behind it, after a loop that it is not in",
	 AFTER_LOOP,
	 {{3, CALL_LINE}, {8, CALL_LINE - 1}, {64, CALL_LINE + 1}},
	 NONE},
	{"a loop that ends before it, and a branch before it",
	 AFTER_LOOP,
	 {{3, CALL_LINE}, {8, CALL_LINE + 1}, {64, CALL_LINE - 1}},
	 NONE},
	{"only a nop of one byte is the compiler's mark",
	 LONG_NOP,
	 {{2, CALL_LINE}, {64, CALL_LINE + 1}},
	 NONE},
	{"and such a one is, whatever stands behind it",
	 MARK,
	 {{1, CALL_LINE}, {64, CALL_LINE + 1}},
	 0},
};

/* the copy is node 0, main.inl1; node 1 has no code */
static void put_copy(struct gofile *g, const struct place_case *c)
{
	uint8_t table[8], *at = table;

	at = gofile_put_step(at, 0, c->from);
	at = gofile_put_step(at, 1, c->to - c->from);
	at = gofile_put_step(at, -1, 64 - c->to);
	*at++ = 0;
	elffile_bytes(g->f, GOFILE_TAB + GOFILE_PCS_FREE, table, at - table);
	elffile_u32(g->f, gofile_record(g, 1) + 52, GOFILE_PCS_FREE - GOFILE_PCS);
}

static bool keep_copy(const struct inlining_copy *copy, void *ctx)
{
	*(struct inlining_copy *)ctx = *copy;
	return true;
}

static void check_case(const struct place_case *c)
{
	struct inlining_copy copy = {0};
	const char *reason = "";
	struct opened o = {0};
	struct site site;

	gofile_make(&o.g, 23, EM_X86_64);
	memset(elffile_at(o.g.f, o.g.starts[1]), 0xcc, 0x40);
	elffile_bytes(o.g.f, o.g.starts[1], c->code, c->len);
	gofile_put_lines(&o.g, c->lines);
	put_copy(&o.g, c);
	open_it(&o);

	struct site_finder *finder = site_finder_new(&(struct program){.img = o.img, .tab = o.tab});

	inlining_each(o.tab, keep_copy, &copy);
	assert_string_equal(copy.name, "main.inl1");
	int ret = inlining_entry(finder, &copy, &site, &reason);
	long at = ret ? NONE : (long)(site.addr - o.g.starts[1]);

	/* the cheapest of the place's block may be another */
	if (ret ? c->start != NONE : c->start == NONE || at < c->start)
		fail_msg("%s: %ld, %s", c->what, at, reason);
	if (ret)
		assert_string_equal(reason, "the compiler may have moved the code");
	site_finder_free(finder);
	close_it(&o);
}

static void test_places(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		check_case(&cases[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_places)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
