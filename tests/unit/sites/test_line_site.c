// SPDX-License-Identifier: Apache-2.0
/* Where a source line is probed, or why nowhere: on main.b of gofile.h with other code and lines.
 * The line that is asked for is LINE; calls are of main.a. */
#include "gofile_open.h"

#include <string.h>

#include "program/program.h"
#include "sites/line_site.h"
#include "sites/site.h"

#define CODE(text) text, sizeof(text) - 1

enum { LINE = 20, CALL_SIZE = 5 };

struct line_case {
	const char *what, *code;
	size_t len;
	struct gofile_lines lines[8]; /* the last to the end of the function */
	int at;                       /* offset of the site; -1: none */
	const char *reason;
};

#define CALL "\xe8\0\0\0\0" /* to be made one of main.a */

static const struct line_case cases[] = {
	{"a call, and another line's",
	 CODE(CALL CALL "\xc3"),
	 {{5, LINE - 1}, {10, LINE}, {64, LINE + 1}},
	 5,
	 NULL},
	{"no code of it",
	 CODE(CALL "\xc3"),
	 {{5, LINE - 1}, {64, LINE + 1}},
	 -1,
	 "none of its code is left here"},
	{"only what may have been moved",
	 CODE("\x48\x01\xd8" CALL "\xc3"), /* add rax, rbx */
	 {{3, LINE}, {64, LINE + 1}},
	 -1,
	 "the compiler may have moved all of its code"},
	/* 2: the condition's call; 9: je 18; 11: call; 16: jmp 2 */
	{"a for: its condition is tested again and again",
	 CODE("\x85\xdb" CALL "\x85\xc0\x74\x07" CALL "\xeb\xf0\xc3"),
	 {{2, LINE - 1}, {11, LINE}, {18, LINE + 1}, {64, LINE + 2}},
	 -1,
	 "the line decides whether a loop goes on"},
	{"a line in a loop",
	 CODE("\x85\xc0\x74\x07" CALL "\xeb\xf5\xc3"),
	 {{4, LINE - 1}, {9, LINE}, {64, LINE + 1}},
	 4,
	 NULL},
	{"a loop on the line",
	 CODE(CALL CALL "\x85\xc0\x75\xf7" CALL "\xc3"),
	 {{19, LINE}, {64, LINE + 1}},
	 -1,
	 "a loop is part of the line"},
	{"an if on the line: its call is made each time",
	 CODE(CALL "\x85\xc0\x74\x05" CALL CALL "\xc3"),
	 {{9, LINE}, {14, LINE + 1}, {64, LINE + 2}},
	 0,
	 NULL},
	{"both ways of an earlier if have code of it",
	 CODE("\x85\xc0\x74\x06" CALL "\xc3" CALL "\xc3"),
	 {{4, LINE - 1}, {9, LINE}, {10, LINE + 1}, {15, LINE}, {64, LINE + 1}},
	 -1,
	 "its code is not all executed as often"},
	{"the body of an if",
	 CODE("\x85\xc0\x74\x05" CALL CALL "\xc3"),
	 {{4, LINE - 1}, {9, LINE}, {64, LINE + 1}},
	 4,
	 NULL},
	{"what is left of a && f(): the jump past it is on the same line or a later one",
	 CODE("\x85\xc0\x74\x05" CALL CALL "\xc3"),
	 {{4, LINE + 1}, {9, LINE}, {64, LINE + 1}},
	 -1,
	 "some executions of the line may pass by its code"},
	{"a jump around a call that is on the line decides",
	 CODE("\x85\xc0\x74\x09" CALL "\x85\xc0\x74\0" CALL "\xc3"),
	 {{4, LINE - 1}, {13, LINE}, {64, LINE + 1}},
	 -1,
	 "some executions of the line may pass by its code"},
	{"a jump by a table that is not there",
	 CODE(CALL "\xff\x24\xc0\xc3"), /* jmp [rax+rax*8] */
	 {{5, LINE}, {64, LINE + 1}},
	 -1,
	 "the table of a switch was not found"},
	{"a jump to a panic decides nothing",
	 CODE("\x85\xc0\x74\x0e" CALL "\x85\xc0\x74\x06" CALL "\xc3" CALL "\x0f\x0b"),
	 {{4, LINE - 1}, {13, LINE}, {64, LINE + 1}},
	 4,
	 NULL},
};

static void put_code(struct gofile *g, const struct line_case *c)
{
	uint64_t start = g->starts[1];

	memset(elffile_at(g->f, start), 0xcc, 0x40);
	elffile_bytes(g->f, start, c->code, c->len);
	for (size_t i = 0; i + CALL_SIZE <= c->len; i++)
		if (!memcmp(c->code + i, CALL, CALL_SIZE))
			elffile_u32(g->f, start + i + 1, g->starts[0] - start - i - CALL_SIZE);
}

static void check_case(const struct line_case *c)
{
	const struct line_place place = {"b.go", LINE, -1};
	struct functab_func fn;
	const char *reason = NULL;
	struct opened o = {0};
	struct site site;

	gofile_make(&o.g, 23, EM_X86_64);
	put_code(&o.g, c);
	gofile_put_lines(&o.g, c->lines);
	elffile_u32(o.g.f, gofile_record(&o.g, 1) + 52, 0); /* nothing is inlined */
	open_it(&o);
	get(&o, 1, &fn);
	struct site_finder *finder = site_finder_new(&(struct program){.img = o.img, .tab = o.tab});
	int ret = line_site(finder, &fn, &place, &site, &reason);
	long at = ret ? -1 : (long)(site.addr - fn.addr);

	if (at != c->at)
		fail_msg("%s: %ld, %s", c->what, at, ret ? reason : "");
	if (ret && strcmp(reason, c->reason) != 0)
		fail_msg("%s: %s", c->what, reason);
	if (!ret)
		assert_int_equal(site.kind, SITE_LINE);
	site_finder_free(finder);
	close_it(&o);
}

static void test_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		check_case(&cases[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
