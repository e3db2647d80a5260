// SPDX-License-Identifier: Apache-2.0
/* Lines of source files to places in the code: of main.b of gofile.h, which calls main.a five
 * times, and of main.c if it is asked for, whose lines are those of gofile.h. */
#include "selection_open.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "selection/selection_line_internal.h"

enum { CALL_SIZE = 5, CALLS = 5, FUNC_ID = 4 + 9 * 4 /* in a record */ };

static const struct gofile_lines plain_lines[] = {{5, 20}, {10, 21}, {15, 24}, {20, 29}, {64, 30}};

static void make(struct subject *s, const struct gofile_lines *lines, bool both,
		 const struct selection_want *want)
{
	subject_write(s);
	struct gofile *g = &s->o.g;

	for (unsigned func = 1; func < 3; func++) {
		memset(elffile_at(g->f, g->starts[func]), 0xcc, 0x40);
		for (unsigned i = 0; i < CALLS; i++) {
			uint64_t at = g->starts[func] + i * CALL_SIZE;

			*elffile_at(g->f, at) = 0xe8;
			elffile_u32(g->f, at + 1, (uint32_t)(g->starts[0] - at - CALL_SIZE));
		}
		*elffile_at(g->f, g->starts[func] + CALLS * CALL_SIZE) = 0xc3;
	}
	gofile_put_lines(g, lines);
	elffile_u32(g->f, gofile_record(g, 1) + 52, 0); /* nothing is inlined */
	if (both) { /* main.a is the wrapper instead of main.c */
		*elffile_at(g->f, gofile_record(g, 2) + FUNC_ID) = 3;
		*elffile_at(g->f, gofile_record(g, 0) + FUNC_ID) = gofile_wrapper_id(g);
	}
	subject_open(s, want);
}

static const struct selection_want nothing;

/* "main.b +5 b.go:21", an item each */
static void expect_items(const struct subject *s, const char *wanted)
{
	char text[512] = "";
	size_t len = 0;

	for (size_t i = 0; i < s->sel->item_count; i++) {
		const struct selection_item *item = &s->sel->items[i];

		assert_true(item->sites.known);
		assert_false(item->returns);
		len += snprintf(
			text + len, sizeof(text) - len, "%s +%ld %s:%d%s\n",
			s->sel->rows[item->row].name,
			item->skipped ? -1L
				      : (long)(item->sites.entry.addr - s->o.g.starts[item->func]),
			item->file, item->line, item->skipped ? item->skipped : "");
	}
	assert_string_equal(text, wanted);
}

static void expect(const struct gofile_lines *lines, bool both, const char *pattern,
		   const char *wanted)
{
	struct subject s;

	make(&s, lines, both, &nothing);
	if (selection_add(s.sel, &s.prog, pattern, &s.err))
		fail_msg("%s: %s (%s)", pattern, s.err.text, s.err.hint);
	expect_items(&s, wanted);
	assert_int_equal(s.sel->rows[0].funcs, 1);
	subject_drop(&s);
}

static void expect_none(const struct gofile_lines *lines, bool both, const char *pattern, int ret,
			const char *text, const char *hint)
{
	struct subject s;

	make(&s, lines, both, &nothing);
	assert_int_equal(selection_add(s.sel, &s.prog, pattern, &s.err), ret);
	assert_string_equal(s.err.text, text);
	assert_string_equal(s.err.hint, hint);
	assert_int_equal(s.sel->item_count, 0);
	subject_drop(&s);
}

static void test_found(void **state)
{
	(void)state;
	expect(plain_lines, false, "@b.go:20", "main.b +0 b.go:20\n");
	expect(plain_lines, false, "@b.go:21", "main.b +5 b.go:21\n");
	expect(plain_lines, false, "@b.go:29", "main.b +15 b.go:29\n");
	/* in another function as well */
	expect(plain_lines, true, "@b.go:20", "main.b +0 b.go:20\nmain.c +5 b.go:20\n");
}

static void test_not_there(void **state)
{
	(void)state;
	expect_none(plain_lines, false, "@b.go:22", SELECTION_NONE,
		    "prog: there is no code at line 22 of \"b.go\"",
		    "lines near by that can be probed: 21, 20, 24");
	expect_none(plain_lines, false, "@b.go:37", SELECTION_NONE,
		    "prog: there is no code at line 37 of \"b.go\"",
		    "lines near by that can be probed: 30, 29");
	expect_none(plain_lines, false, "@b.go:38", SELECTION_NONE,
		    "prog: there is no code at line 38 of \"b.go\"",
		    "line near by that can be probed: 30");
	expect_none(plain_lines, false, "@b.go:12", SELECTION_NONE,
		    "prog: there is no code at line 12 of \"b.go\"",
		    "line near by that can be probed: 20");
	expect_none(plain_lines, false, "@b.go:11", SELECTION_NONE,
		    "prog: there is no code at line 11 of \"b.go\"",
		    "no line near by can be probed either");
	expect_none(plain_lines, false, "@b.go:1", SELECTION_NONE,
		    "prog: there is no code at line 1 of \"b.go\"",
		    "no line near by can be probed either");
	expect_none(plain_lines, false, "@c.go:20", SELECTION_NONE,
		    "prog: no code is of a file \"c.go\"",
		    "write the end of its path, as in '@server.go:20'");
	/* a name is a whole one */
	expect_none(plain_lines, false, "@.go:20", SELECTION_NONE,
		    "prog: no code is of a file \".go\"",
		    "write the end of its path, as in '@server.go:20'");
	expect_none(plain_lines, false, "@x/b.go:20", SELECTION_NONE,
		    "prog: no code is of a file \"x/b.go\"",
		    "write the end of its path, as in '@server.go:20'");
}

static void test_malformed(void **state)
{
	static const char *const patterns[] = {
		"@b.go", "@:20", "@b.go:", "@b.go:0", "@b.go:x", "@b.go:2147483640", "@"};

	(void)state;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
		char text[64];

		snprintf(text, sizeof(text), "\"%s\" is not @FILE:LINE", patterns[i]);
		expect_none(plain_lines, false, patterns[i], -1, text, "as in '@server.go:42'");
	}
	expect_none(plain_lines, false, "@b.go:2147483639", SELECTION_NONE,
		    "prog: there is no code at line 2147483639 of \"b.go\"",
		    "no line near by can be probed either");
	assert_true(selection_is_line("@"));
	assert_false(selection_is_line("b.go:1"));
	assert_false(selection_is_line(""));
}

/* One that the compiler may have moved */
static void test_uncertain(void **state)
{
	static const struct gofile_lines lines[] = {{5, 20}, {25, 21}, {26, 24}, {64, 30}};

	(void)state;
	expect_none(lines, false, "@b.go:24", -1,
		    "line 24 of \"b.go\" in main.b cannot be counted: "
		    "the compiler may have moved all of its code",
		    "lines near by that can be probed: 21, 20");
}

static void test_returns(void **state)
{
	const struct selection_want want = {.returns = true},
				    may_miss = {.returns = true, .may_miss = true};
	struct subject s;

	(void)state;
	make(&s, plain_lines, false, &want);
	assert_int_equal(selection_add(s.sel, &s.prog, "@b.go:20", &s.err), -1);
	assert_string_equal(s.err.text, "\"@b.go:20\": a line has no return");
	subject_drop(&s);
	make(&s, plain_lines, false, &may_miss);
	subject_add(&s, "@b.go:20");
	expect_items(&s, "main.b +0 b.go:20\n");
	subject_drop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),     cmocka_unit_test(test_not_there),
		cmocka_unit_test(test_malformed), cmocka_unit_test(test_uncertain),
		cmocka_unit_test(test_returns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
