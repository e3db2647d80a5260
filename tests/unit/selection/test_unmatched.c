// SPDX-License-Identifier: Apache-2.0
#include "selection_open.h"

#include "base/errmsg.h"
#include "golang/pattern.h"
#include "selection/unmatched.h"

/* Functions, and those that exist as inlined copies alone, are matched. */
static void test_all(void **state)
{
	static const struct {
		const char *typed, *hint; /* NULL: there is one */
	} cases[] = {
		{"main.a", NULL},
		{"main.*", NULL},
		{"main.inl2", NULL},
		{"*inl*", NULL},
		{"main.d", "near names: main.a, main.b, main.c"},
		{"c", "near names: main.c"},
		{"other.*", "gofuncs lists the names, as in gofuncs 'BINARY:main.*'"},
	};
	const struct selection_want want = {0};
	struct subject s;

	(void)state;
	subject_make(&s, &want);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct pattern *pat = pattern_new(cases[i].typed, false, NULL);
		struct errmsg err = {0};

		assert_int_equal(unmatched_by_all(&s.prog, pat, &err), cases[i].hint != NULL);
		assert_string_equal(err.hint, cases[i].hint ? cases[i].hint : "");
		if (cases[i].hint)
			assert_non_null(strstr(err.text, "no function matches \""));
		pattern_free(pat);
	}
	subject_drop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
