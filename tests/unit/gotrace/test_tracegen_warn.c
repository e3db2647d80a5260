// SPDX-License-Identifier: Apache-2.0
/* What is said of expressions that are probably not what was meant. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "machine/arch.h"
#include "genprobe.h"
#include "gotrace/tracegen_told_internal.h"
#include "unit.h"

enum { SAID_MAX = 1000 };

#define HEAD "r:main.f(n int, s int8, w uint32, h uint64, b byte, ok bool, name string, t *main.T)"

/* clang-format off */
static const struct {
	const char *expr, *warning; /* "": none */
} rows[] = {
	{"n & 3 != 0", "(n & 3 != 0) is (n & (3 != 0)); did you mean ((n & 3) != 0)?"},
	{"n&3!=0", "(n&3!=0) is (n&(3!=0)); did you mean ((n&3)!=0)?"},
	{"0 != n & 3", "(0 != n & 3) is ((0 != n) & 3); did you mean (0 != (n & 3))?"},
	{"n ^ 5 <= 2", "(n ^ 5 <= 2) is (n ^ (5 <= 2)); did you mean ((n ^ 5) <= 2)?"},
	{"n | 1 == 1", "(n | 1 == 1) is (n | (1 == 1)); did you mean ((n | 1) == 1)?"},
	{"n > 1 && w & 3 == 1", "(w & 3 == 1) is (w & (3 == 1)); did you mean ((w & 3) == 1)?"},
	{"w & n & 3 == 1", "(w & n & 3 == 1) is (w & n & (3 == 1)); did you mean ((w & n & 3) == 1)?"},
	{"t.a & (n + 1) == 2", "(t.a & (n + 1) == 2) is (t.a & ((n + 1) == 2)); did you mean ((t.a & (n + 1)) == 2)?"},
	{"after(t.a) & 3 == 1", "(after(t.a) & 3 == 1) is (after(t.a) & (3 == 1)); did you mean ((after(t.a) & 3) == 1)?"},
	{"(n & 3) != 0", ""},
	{"n & (3 != 0)", ""},
	{"(n & 3 != 0)", "(n & 3 != 0) is (n & (3 != 0)); did you mean ((n & 3) != 0)?"},
	{"(0 != n) & 3", ""},
	{"ok & n == 1", ""},
	{"n == 1 | n == 2", ""},
	{"n & 3", ""},
	{"n & -1 && !(s ^ s)", ""},
	{"h > -1", "(h > -1) is always false: h is unsigned, and -1 is 18446744073709551615 beside it"},
	{"h <= -1", "(h <= -1) is always true: h is unsigned, and -1 is 18446744073709551615 beside it"},
	{"-1 < h", "(-1 < h) is always false: h is unsigned, and -1 is 18446744073709551615 beside it"},
	{"h == -1", "(h == -1) compares with 18446744073709551615: h is unsigned, and -1 is 18446744073709551615 beside it"},
	{"h < -2", "(h < -2) compares with 18446744073709551614: h is unsigned, and -2 is 18446744073709551614 beside it"},
	{"t.next.b > -1", "(t.next.b > -1) is always true: t.next.b is from 0 to 255"},
	{"w > -1", "(w > -1) is always true: w is from 0 to 4294967295"},
	{"w == -1", "(w == -1) is always false: w is from 0 to 4294967295"},
	{"b > 300", "(b > 300) is always false: b is from 0 to 255"},
	{"b >= 0", "(b >= 0) is always true: b is from 0 to 255"},
	{"b <= 255", "(b <= 255) is always true: b is from 0 to 255"},
	{"b < 256", "(b < 256) is always true: b is from 0 to 255"},
	{"b > 254 || b < 1 || b >= 255 || b <= 0 || b == 255 || b != 0", ""},
	{"s == 128", "(s == 128) is always false: s is from -128 to 127"},
	{"s != 128", "(s != 128) is always true: s is from -128 to 127"},
	{"s < -128", "(s < -128) is always false: s is from -128 to 127"},
	{"s >= -128", "(s >= -128) is always true: s is from -128 to 127"},
	{"s == 127 || s > -128 || s == -128 || s < 0", ""},
	{"h < 0", "(h < 0) is always false: h is never negative"},
	{"h >= 0", "(h >= 0) is always true: h is never negative"},
	{"len(name) == -1", "(len(name) == -1) is always false: len(name) is never negative"},
	{"$latency >= 0", "($latency >= 0) is always true: $latency is never negative"},
	{"$blocked == -1", "($blocked == -1) is always false: $blocked is never negative"},
	{"(n & 3) == 4", "((n & 3) == 4) is always false: (n & 3) is never negative"},
	{"(b > 300)", "(b > 300) is always false: b is from 0 to 255"},
	{"ok == 2", "(ok == 2) is always false: ok is from 0 to 1"},
	{"(n < 10) == 2", "((n < 10) == 2) is always false: (n < 10) is never negative"},
	{"h == 18446744073709551615", ""},
	{"h > 9223372036854775807", ""},
	{"1 == 2 || true == 0", ""},
	{"n > -1 || n == -9223372036854775807", ""},
	{"w > n || b > s || h != n", ""},
	{"n + -1 > 0 || -n < -50 || w + 1 == 0", ""},
	{"(n & 3) == 3 || (n & 3) < 1", ""},
};
/* clang-format on */

static void gather(void *ctx, const char *warning)
{
	char *said = ctx;
	size_t len = strlen(said);

	/* what is computed at entry and at return is generated twice */
	if (!strstr(said, warning))
		snprintf(said + len, SAID_MAX - len, "%s", warning);
}

static void test_warnings(void **state)
{
	char said[SAID_MAX];
	struct tracegen_told told = {gather, said, NULL};
	const struct genprobe_how how = {.arch = ARCH_AMD64, .told = &told};

	int bad = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *probe = mem_printf(HEAD " (%s)", rows[i].expr);
		struct genprobe gp;
		struct errmsg err = {0};

		told.text = probe;
		said[0] = 0;
		if (genprobe_make(&gp, probe, &how, &err))
			fail_msg("%s: %s", rows[i].expr, err.text);
		if (strcmp(said, rows[i].warning)) {
			print_error("%s:\n\t%s\nnot\t%s\n", rows[i].expr, said, rows[i].warning);
			bad++;
		}
		genprobe_free(&gp);
		free(probe);
	}
	assert_int_equal(bad, 0);
}

/* Of several functions, those without the name print "?". */
static void test_without_dollar(void **state)
{
	static const char *const cases[][2] = {
		{"r:main.f(x int) \"%d\", latency",
		 "\"latency\" is \"?\" where no parameter or result is called so; did you mean "
		 "$latency?"},
		{"r:main.f(latency int) \"%d\", latency", ""},
		{"r:main.f(x int) \"%d\", y", ""},
	};
	char said[SAID_MAX];
	struct tracegen_told told = {gather, said, NULL};
	const struct genprobe_how how = {.arch = ARCH_AMD64, .told = &told, .several = true};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct genprobe gp;

		told.text = cases[i][0];
		said[0] = 0;
		assert_int_equal(genprobe_make(&gp, cases[i][0], &how, NULL), 0);
		assert_string_equal(said, cases[i][1]);
		genprobe_free(&gp);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_warnings),
					   cmocka_unit_test(test_without_dollar)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
