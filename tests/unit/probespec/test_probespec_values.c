// SPDX-License-Identifier: Apache-2.0
/* goargdist's PROBEs: EXPRs in the format's place; and bcc's argdist's in our words. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "probespec/probespec.h"

static void expect(const char *probe, const char *format, size_t count, const char *last)
{
	struct errmsg err = {0};
	struct probespec spec;

	if (probespec_parse_values(probe, false, &spec, &err))
		fail_msg("%s: %s", probe, err.text);
	assert_string_equal(spec.format, format);
	assert_int_equal(spec.format_len, strlen(format));
	assert_int_equal(spec.arg_count, count);
	if (count) {
		assert_string_equal(spec.arg_texts[count - 1], last);
		/* the format's parts are told to stand where their EXPRs do */
		assert_int_equal(spec.format_cols[0], spec.args[0]->col);
		assert_int_equal(spec.format_cols[spec.format_len - 1], spec.args[count - 1]->col);
	}
	assert_int_equal(spec.format_cols[spec.format_len], 1);
	probespec_free(&spec);
}

static void test_values(void **state)
{
	(void)state;
	expect("b:main.f n", "n = %v", 1, "n");
	expect("b:main.f n, len(s)", "n = %v, len(s) = %v", 2, "len(s)");
	expect("b:main.f (n > 2) n % 2", "n %% 2 = %v", 1, "n % 2");
	expect("r:b:main.f(n int) n", "n = %v", 1, "n");
	expect("b:main.f", "", 0, NULL);
	expect("b:main.f (n > 2)", "", 0, NULL);
	expect("r:b:main.f", "goret1 = %v", 1, "goret1");
	expect("r:b:main.f (n > 2)", "goret1 = %v", 1, "goret1");
}

/* Of returns without any EXPR, there is the first result. */
static void test_default(void **state)
{
	struct probespec spec;

	(void)state;
	assert_int_equal(probespec_parse_values("r:b:main.f (n)", false, &spec, NULL), 0);
	assert_int_equal(spec.args[0]->kind, EXPR_RESULT);
	assert_int_equal(spec.args[0]->number, 1);
	assert_string_equal(spec.predicate->text, "n");
	assert_true(spec.at_return);
	probespec_free(&spec);
}

static void expect_refused(const char *probe, const char *text, const char *hint)
{
	struct errmsg err = {0};
	struct probespec spec;

	if (!probespec_parse_values(probe, false, &spec, &err))
		fail_msg("%s: no error", probe);
	assert_string_equal(err.text, text);
	assert_string_equal(err.hint, hint);
}

static void test_errors(void **state)
{
	(void)state;
	expect_refused("b:main.f \"%d\", n", "col 10: values are counted, there is no format",
		       "write EXPRs alone");
	expect_refused("b:main.f (n) \"%d\"", "col 14: values are counted, there is no format",
		       "write EXPRs alone");
	expect_refused("b:main.f ,",
		       "col 10: expected \"(PREDICATE)\", an EXPR or the end, found \",\"", "");
	expect_refused("b:main.f a b",
		       "col 12: expected an operator, \",\" or the end, found \"b\"",
		       "write a comma before each EXPR");
}

#define THEIRS "types, expressions and filters after colons are those of bcc's argdist"

static void test_theirs(void **state)
{
	(void)state;
	expect_refused("b:main.f(int x):int:x#label", THEIRS, "'b:main.f x'");
	expect_refused("r:b:main.f(int x):int:$retval:$entry(x)>2", THEIRS,
		       "'r:b:main.f (x>2) goret1'");
	expect_refused("r:b:main.f():u64:$latency", THEIRS, "'r:b:main.f $latency'");
	expect_refused("b:main.f():int", THEIRS, "'b:main.f'");
	expect_refused("b:main.f(func(int) x):int:a[1:2],\"a:b\":$entry(f(x))==$PID", THEIRS,
		       "'b:main.f (f(x)==$pid) a[1:2],\"a:b\"'");
	expect_refused("b:main.(*T).f(int x):int,int:$TID,$COMM:$CPU", THEIRS,
		       "'b:main.(*T).f ($cpu) $tid,$comm'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_default),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_theirs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
