// SPDX-License-Identifier: Apache-2.0
/* Which functions are in a tree. */
#include <stdlib.h>

#include "gotree/treescope.h"
#include "selection_open.h"

static const struct selection_want want = {.regex = true, .returns = true, .endless = true};

static void test_package(void **state)
{
	char *taken = NULL;
	struct subject s;

	(void)state;
	subject_make(&s, &want);
	subject_add(&s, "main.a");
	assert_int_equal(treescope_add_module(s.sel, 1, &taken, &s.err), 0);
	assert_string_equal(taken, "package main");
	assert_int_equal(s.sel->row_count, 3);
	assert_string_equal(s.sel->rows[0].name, "main.a");
	assert_true(s.sel->want.regex && !s.sel->want.may_miss);
	subject_notes(&s, NULL);
	free(taken);
	subject_drop(&s);
}

static void test_patterns(void **state)
{
	char *patterns[] = {"main.[bc]", "app:main.b", ":main.a"}, *other[] = {"/other:main.b"};
	struct subject s;

	(void)state;
	subject_make(&s, &want);
	subject_add(&s, "main.a");
	assert_int_equal(treescope_add_patterns(s.sel, 1, patterns, 3, "app", &s.err), 0);
	assert_int_equal(s.sel->row_count, 3);
	assert_int_equal(s.sel->item_count, 3);
	assert_int_equal(treescope_add_patterns(s.sel, 1, other, 1, "app", &s.err), -1);
	assert_string_equal(s.err.hint, "leave out \"/other:\"");
	assert_int_equal(treescope_add_patterns(s.sel, 1, other, 1, NULL, &s.err), -1);
	subject_drop(&s);
}

/* The program's own functions are added once, however many ROOTs it has. */
static void test_many_roots(void **state)
{
	char *taken = NULL, *patterns[] = {"main.[bc]"};
	struct subject s;

	(void)state;
	subject_make(&s, &want);
	subject_add(&s, "main.[ab]");
	assert_true(treescope_is_first(s.sel, 0) && !treescope_is_first(s.sel, 1));
	assert_int_equal(treescope_add_module(s.sel, 2, &taken, &s.err), 0);
	assert_string_equal(taken, "package main");
	assert_int_equal(s.sel->row_count, 3);
	assert_int_equal(treescope_add_patterns(s.sel, 2, patterns, 1, NULL, &s.err), 0);
	assert_int_equal(s.sel->row_count, 3);
	subject_notes(&s, NULL);
	free(taken);
	subject_drop(&s);
}

static void test_nothing(void **state)
{
	char *patterns[] = {"main.nosuch"}, *bad[] = {"main.("};
	struct subject s;

	(void)state;
	subject_make(&s, &want);
	subject_add(&s, "main.a");
	assert_int_equal(treescope_add_patterns(s.sel, 1, patterns, 1, NULL, &s.err), 0);
	assert_int_equal(s.sel->row_count, 1);
	assert_int_equal(s.sel->note_count, 1);
	assert_int_equal(treescope_add_patterns(s.sel, 1, bad, 1, NULL, &s.err), -1);
	subject_drop(&s);
}

/* A function that never returns is one of them. */
static void test_endless(void **state)
{
	struct subject s;

	(void)state;
	subject_make(&s, &want);
	subject_add(&s, "main.c");
	assert_int_equal(selection_find_sites(s.sel, &s.err), 0);
	assert_null(s.sel->items[0].skipped);
	assert_int_equal(s.sel->items[0].sites.exits, 0);
	subject_drop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_package),    cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_many_roots), cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_endless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
