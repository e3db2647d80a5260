// SPDX-License-Identifier: Apache-2.0
#include "selection_open.h"

#include "base/errmsg.h"
#include "selection/nearest_internal.h"

/* main.a, main.b, main.c are functions of the program, main.inl1 and main.inl2 inlined in it. */
static void test_names(void **state)
{
	static const struct {
		const char *typed, *hint;
	} cases[] = {
		{"main.b", "near names: main.b, main.a, main.c"},
		{"main.inl2", "near names: main.inl2, main.inl1"},
		{"main.inl", "near names: main.inl1, main.inl2"},
		{"nain.c", "near names: main.c"},
		/* the path is another one */
		{"example.com/some/where/main.c", "near names: main.c, main.a, main.b"},
		{"example.com/some/where/other.Thing",
		 "gofuncs lists the names, as in gofuncs 'BINARY:*/other.Thing'; a function that "
		 "was inlined may leave no code: go build -gcflags=-l keeps it"},
		{"fmt.Fprintln*", "gofuncs lists the names, as in gofuncs 'BINARY:main.*'"},
	};
	const struct selection_want want = {0};
	struct subject s;

	(void)state;
	subject_make(&s, &want);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct errmsg err = {0};

		nearest_hint(s.o.tab, cases[i].typed, &err);
		assert_string_equal(err.hint, cases[i].hint);
	}
	subject_drop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
