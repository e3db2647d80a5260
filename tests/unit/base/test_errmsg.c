// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/errmsg.h"
#include "unit.h"

/* A hint is of the message before it: the next message has none. */
static void test_hints(void **state)
{
	struct errmsg err = {0};

	(void)state;
	assert_int_equal(errmsg_set(&err, "\"%s\" is not there: %d", "x", 5), -1);
	errmsg_hint(&err, "try %s", "y");
	assert_string_equal(err.text, "\"x\" is not there: 5");
	assert_string_equal(err.hint, "try y");
	errmsg_hint(&err, "or z");
	assert_string_equal(err.hint, "or z");
	assert_int_equal(errmsg_set(&err, "other"), -1);
	assert_string_equal(err.text, "other");
	assert_string_equal(err.hint, "");
}

static void test_nobody_listens(void **state)
{
	(void)state;
	assert_int_equal(errmsg_set(NULL, "x"), -1);
	errmsg_hint(NULL, "x");
}

static void test_long(void **state)
{
	char text[sizeof(((struct errmsg *)NULL)->text) + 10];
	struct errmsg err = {0};

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	errmsg_set(&err, "%s", text);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	errmsg_hint(&err, "%s", text);
	assert_true(strlen(err.hint) < sizeof(err.hint));
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
}

static void test_after_column(void **state)
{
	static const char *const rows[][2] = {
		{"col 7: what", "what"},    {"col 7: a: b", "a: b"},        {"col 7", "col 7"},
		{"column: x", "column: x"}, {"at col 7: x", "at col 7: x"}, {"", ""}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct errmsg err = {0};

		errmsg_set(&err, "%s", rows[i][0]);
		assert_string_equal(errmsg_after_col(&err), rows[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hints),
		cmocka_unit_test(test_nobody_listens),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_after_column),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
