// SPDX-License-Identifier: Apache-2.0
/* Names to items, items to probes: on the program of gofile.h. */
#include <string.h>

#include "bpf-src/shared/cookie.h"
#include "selection_open.h"

#include "gofuncs/funclist.h"
#include "sites/goruntime.h"
#include "selection/selection_print_internal.h"
#include "tracing/probes_internal.h"

struct match_case {
	const char *patterns[4];
	bool inlined, regex;
	bool wrapper; /* main.c calls main.a, whose name it has: both together are one */
	const char *rows[6];
	unsigned funcs[6], copies[6];
	const char *notes; /* what is said, a line each; NULL: nothing */
};

#define UNSEEN "main.*: 2 more names exist only as inlined copies, not seen without --inlined\n"

static const struct match_case match_cases[] = {
	{{"main.a"}, .rows = {"main.a"}, .funcs = {1}},
	{{"main.*"}, .rows = {"main.a", "main.b", "main.c"}, .funcs = {1, 1, 1}, .notes = UNSEEN},
	{{"main.a", "main.*", "main.a", "main.*"},
	 .rows = {"main.a", "main.b", "main.c"},
	 .funcs = {1, 1, 1},
	 .notes = UNSEEN},
	{{"main.inl1", "main.*"},
	 .rows = {"main.inl1", "main.a", "main.b", "main.c"},
	 .funcs = {0, 1, 1, 1},
	 .copies = {1},
	 .notes = "main.*: 1 more name exists only as inlined copies, not seen without --inlined\n"
		  "main.inl1 is inlined: tracing 1 copy, in main.b\n"},
	{{"main.*"},
	 .wrapper = true,
	 .rows = {"main.a", "main.b"},
	 .funcs = {1, 1},
	 .notes = UNSEEN},
	{{"main\\.[ab]$"}, .regex = true, .rows = {"main.a", "main.b"}, .funcs = {1, 1}},
	{{"main.inl1"},
	 .rows = {"main.inl1"},
	 .copies = {1},
	 .notes = "main.inl1 is inlined: tracing 1 copy, in main.b\n"},
	{{"main.*"},
	 .inlined = true,
	 .rows = {"main.a", "main.b", "main.c", "main.inl1", "main.inl2"},
	 .funcs = {1, 1, 1},
	 .copies = {0, 0, 0, 1, 1}},
	{{"main.inl2", "main.inl2"},
	 .rows = {"main.inl2"},
	 .copies = {1},
	 .notes = "main.inl2 is inlined: tracing 1 copy, in main.b\n"},
};

static void check_match(const struct match_case *c)
{
	const struct selection_want want = {.regex = c->regex, .inlined = c->inlined};
	struct subject s;
	size_t i;

	subject_write(&s);
	if (c->wrapper)
		gofile_rename(&s.o.g, 2, 0);
	subject_open(&s, &want);
	for (i = 0; i < 4 && c->patterns[i]; i++)
		subject_add(&s, c->patterns[i]);
	for (i = 0; c->rows[i]; i++) {
		assert_true(i < s.sel->row_count);
		assert_string_equal(s.sel->rows[i].name, c->rows[i]);
		assert_int_equal(s.sel->rows[i].funcs, c->funcs[i]);
		assert_int_equal(s.sel->rows[i].copies, c->copies[i]);
	}
	assert_int_equal(s.sel->row_count, i);
	for (i = 0; c->wrapper && i < s.sel->item_count; i++)
		assert_int_not_equal(s.sel->items[i].func, 2);
	subject_notes(&s, c->notes);
	subject_drop(&s);
}

static void test_matches(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(match_cases) / sizeof(*match_cases); i++)
		check_match(&match_cases[i]);
}

/* Two functions that are inlined too: in one copy. The numbers are not each other's. */
static void test_also_inlined(void **state)
{
	enum { NAME_INL1 = 22 }; /* in gofile.c's names */
	const struct selection_want want = {0};
	struct subject s;

	(void)state;
	subject_write(&s);
	elffile_u32(s.o.g.f, gofile_record(&s.o.g, 0) + 4, NAME_INL1);
	gofile_rename(&s.o.g, 2, 0);
	subject_open(&s, &want);
	subject_add(&s, "main.inl1");
	subject_notes(&s, "main.inl1 also has 1 inlined copy, not seen without --inlined\n");
	subject_drop(&s);
}

static void test_no_match(void **state)
{
	const struct {
		const char *pattern, *text, *hint;
	} cases[] = {
		{"main.x", "prog: no function matches \"main.x\"",
		 "near names: main.a, main.b, main.c"},
		{"main.inl*", "prog: no function matches \"main.inl*\"",
		 "2 inlined copies match: --inlined traces them"},
		{"fmt.Println", "prog: no function matches \"fmt.Println\"",
		 "gofuncs lists the names, as in gofuncs 'BINARY:main.*'; a function that was "
		 "inlined may leave no code: go build -gcflags=-l keeps it"},
		{"fmt.Println*", "prog: no function matches \"fmt.Println*\"",
		 "gofuncs lists the names, as in gofuncs 'BINARY:main.*'"},
	};
	const struct selection_want want = {0};
	struct subject s;

	(void)state;
	subject_make(&s, &want);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(selection_add(s.sel, &s.prog, cases[i].pattern, &s.err),
				 SELECTION_NONE);
		assert_string_equal(s.err.text, cases[i].text);
		assert_string_equal(s.err.hint, cases[i].hint);
	}
	subject_drop(&s);
}

/* what cannot be timed is left out, and its row with it */
static void test_skipped(void **state)
{
	const struct selection_want want = {.returns = true};
	struct subject s;

	(void)state;
	subject_make(&s, &want);
	subject_add(&s, "main.*");
	assert_int_equal(selection_find_sites(s.sel, &s.err), 0);
	assert_int_equal(selection_traced(s.sel), 2);
	assert_int_equal(selection_skipped(s.sel), 1);
	assert_string_equal(s.sel->items[2].skipped, "calls never return");
	subject_drop(&s);

	subject_make(&s, &want);
	subject_add(&s, "main.c");
	assert_int_equal(selection_find_sites(s.sel, &s.err), -1);
	assert_string_equal(s.err.text, "main.c cannot be timed: calls never return");
	subject_drop(&s);
}

/* Of several that cannot be traced, the reason that most have */
static void test_most_skipped(void **state)
{
	static const char *const reasons[] = {"one", "two", "two"};
	const struct selection_want want = {0};
	struct subject s;

	(void)state;
	subject_make(&s, &want);
	subject_add(&s, "main.*");
	for (size_t i = 0; i < 3; i++)
		selection_skip(s.sel, &s.sel->items[i], reasons[i]);
	assert_int_equal(selection_find_sites(s.sel, &s.err), -1);
	assert_string_equal(s.err.text, "none of 3 functions and copies can be probed");
	assert_string_equal(s.err.hint, "2 of them, such as main.c: two");
	subject_drop(&s);
}

/* ends before hooks before entries, each with its row, kind and copy */
static void test_probe_order(void **state)
{
	const struct selection_want want = {.returns = true, .inlined = true};
	const struct goruntime rt = {.recovered = {.addr = ELFFILE_TEXT + 2}};
	enum cookie_kind last = COOKIE_RETURN;
	struct probes *probes;
	struct subject s;

	(void)state;
	subject_make(&s, &want);
	subject_add(&s, "main.*");
	assert_int_equal(selection_find_sites(s.sel, &s.err), 0);
	probes = probes_new(&(struct probes_want){.sel = s.sel, .prog = &s.prog, .rt = &rt});
	for (size_t i = 0; i < probes->count; i++) {
		unsigned kind = cookie_kind(probes->items[i].cookie);
		unsigned copy = cookie_copy(probes->items[i].cookie);

		if (kind == COOKIE_RECOVERED) {
			assert_int_equal(last, COOKIE_RETURN);
			assert_int_equal(probes->items[i].off, 0x1002);
		} else if (kind == COOKIE_RETURN) {
			assert_int_equal(last, COOKIE_RETURN);
		} else {
			assert_int_equal(kind, COOKIE_CALL);
			assert_int_not_equal(last, COOKIE_RETURN);
		}
		if (kind != COOKIE_RECOVERED)
			assert_int_equal(copy != 0, cookie_row(probes->items[i].cookie) >= 3);
		last = kind;
	}
	assert_int_equal(last, COOKIE_CALL);
	probes_free(probes);
	subject_drop(&s);
}

/* an entry that the kernel refuses takes its item out; with ends attached, all is to be redone */
static void test_refused(void **state)
{
	const struct selection_want want = {.returns = true};
	struct probes *probes;
	struct subject s;

	(void)state;
	subject_make(&s, &want);
	subject_add(&s, "main.*");
	assert_int_equal(selection_find_sites(s.sel, &s.err), 0);
	probes = probes_new(&(struct probes_want){.sel = s.sel, .prog = &s.prog});
	assert_false(probes_note_refused(probes, s.sel));
	probes->items[probes->count - 1].refused = "no";
	assert_true(probes_note_refused(probes, s.sel));
	assert_string_equal(s.sel->items[1].skipped, "no");
	assert_int_equal(selection_traced(s.sel), 1);
	probes_free(probes);
	probes = probes_new(&(struct probes_want){.sel = s.sel, .prog = &s.prog});
	for (size_t i = 0; i < probes->count; i++)
		assert_int_equal(cookie_row(probes->items[i].cookie), 0);
	probes_free(probes);
	subject_drop(&s);
}

static struct subject *grouped(struct subject *s, const struct selection_want *want)
{
	subject_make(s, want);
	selection_group(s->sel, 0, false);
	subject_add(s, "main.a");
	selection_group(s->sel, 1, true);
	subject_add(s, "main.a");
	subject_add(s, "main.b");
	subject_add(s, "main.a");
	return s;
}

/* a function that two groups match is an item of each, with returns where they are wanted */
static void test_groups(void **state)
{
	const struct selection_want want = {0};
	const struct {
		const char *name;
		uint32_t group;
		bool exits;
	} expected[] = {{"main.a", 0, false}, {"main.a", 1, true}, {"main.b", 1, true}};
	struct subject s;
	size_t i;

	(void)state;
	grouped(&s, &want);
	assert_int_equal(selection_find_sites(s.sel, &s.err), 0);
	for (i = 0; i < 3; i++) {
		const struct selection_item *item = &s.sel->items[i];

		assert_string_equal(s.sel->rows[item->row].name, expected[i].name);
		assert_int_equal(item->row, i);
		assert_int_equal(item->group, expected[i].group);
		assert_int_equal(item->returns, expected[i].exits);
		assert_int_equal(item->sites.exits != 0, expected[i].exits);
	}
	assert_int_equal(s.sel->item_count, i);
	assert_int_equal(selection_traced(s.sel), 2); /* names: main.a counts once */
	subject_drop(&s);
}

/* what the tool leaves out has no sites and no probes, and its row none either */
static void test_left_out(void **state)
{
	const struct selection_want want = {0};
	struct probes *probes;
	struct subject s;

	(void)state;
	grouped(&s, &want);
	selection_skip(s.sel, &s.sel->items[1], "it is not wanted");
	selection_skip(s.sel, &s.sel->items[2], "it is not wanted");
	assert_int_equal(selection_find_sites(s.sel, &s.err), 0);
	assert_int_equal(selection_traced(s.sel), 1);
	assert_int_equal(selection_skipped(s.sel), 2);
	assert_string_equal(s.sel->items[1].skipped, "it is not wanted");
	/* no call that is timed is left: no hooks */
	const struct goruntime rt = {.recovered = {.addr = ELFFILE_TEXT + 2}};

	probes = probes_new(&(struct probes_want){.sel = s.sel, .prog = &s.prog, .rt = &rt});
	assert_int_equal(probes->count, 1);
	probes_free(probes);
	subject_drop(&s);
}

/* the row of a cookie is the number of the probe's place; hooks have none */
static void test_places(void **state)
{
	const struct selection_want want = {.places = true};
	const struct goruntime rt = {.recovered = {.addr = ELFFILE_TEXT + 2}};
	struct probes *probes;
	struct subject s;

	(void)state;
	grouped(&s, &want);
	assert_int_equal(selection_find_sites(s.sel, &s.err), 0);
	probes = probes_new(&(struct probes_want){
		.sel = s.sel, .prog = &s.prog, .rt = &rt, .first_place = 100});
	assert_int_equal(probes->first_place, 100);
	for (size_t i = 0; i < probes->count; i++) {
		bool hook = probes->owners[i] == SIZE_MAX;

		assert_int_equal(cookie_row(probes->items[i].cookie), hook ? 0 : 100 + i);
	}
	/* of those at one place the first group's is attached last */
	for (size_t i = 0, last = SIZE_MAX; i < probes->count; i++) {
		if (cookie_kind(probes->items[i].cookie) != COOKIE_CALL)
			continue;
		assert_true(s.sel->items[probes->owners[i]].group <= last);
		last = s.sel->items[probes->owners[i]].group;
	}
	probes_free(probes);
	subject_drop(&s);
}

static void test_list(void **state)
{
	const struct selection_want want = {.may_miss = true, .inlined = true};
	char *text = NULL;
	struct subject s;
	size_t len;

	(void)state;
	subject_make(&s, &want);
	subject_add(&s, "main.*");
	FILE *out = open_memstream(&text, &len);

	funclist_print(out, s.sel, FUNCLIST_NAMES, false);
	fputs("-\n", out);
	funclist_print(out, s.sel, FUNCLIST_NAMES, true);
	fclose(out);
	assert_string_equal(text, "main.a\nmain.b\nmain.c\nmain.inl1\nmain.inl2\n-\n"
				  "main.a\nmain.b\nmain.c\n");
	free(text);
	subject_drop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_also_inlined), cmocka_unit_test(test_matches),
		cmocka_unit_test(test_no_match),     cmocka_unit_test(test_skipped),
		cmocka_unit_test(test_most_skipped), cmocka_unit_test(test_probe_order),
		cmocka_unit_test(test_refused),      cmocka_unit_test(test_list),
		cmocka_unit_test(test_groups),       cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
