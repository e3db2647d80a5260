// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>

#include "base/column_internal.h"
#include "unit.h"

static const struct {
	const char *text;
	unsigned width;
	const char *in_six; /* in a column of that width */
} rows[] = {
	{"", 0, "      |"},
	{"main", 4, "main  |"},
	{"gr\xc3\xb6\xc3\x9f"
	 "e",
	 5,
	 "gr\xc3\xb6\xc3\x9f"
	 "e |"},
	{"\xe4\xb8\x96\xe7\x95\x8c", 4, "\xe4\xb8\x96\xe7\x95\x8c  |"}, /* two wide ones */
	{"e\xcc\x81", 1, "e\xcc\x81     |"},                            /* a combining accent */
	{"\xf0\x9f\x98\x80", 2, "\xf0\x9f\x98\x80    |"},
	{"\\x1b[31m", 8, "\\x1b[31m|"},
	{"a\xff", 2, "a\xff    |"}, /* no character: a column each */
	{"sixsix", 6, "sixsix|"},
	{"seven77", 7, "seven77|"},
	{"a\001b", 3, "a\001b   |"}, /* no locale knows its width */
};

static void test_width(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char *text = NULL;
		size_t len;
		FILE *out = open_memstream(&text, &len);

		assert_int_equal(column_width(rows[i].text), rows[i].width);
		column_print(out, rows[i].text, 6);
		fputc('|', out);
		fclose(out);
		assert_string_equal(text, rows[i].in_six);
		free(text);
	}
}

static void test_fit(void **state)
{
	(void)state;
	assert_int_equal(column_fit(3, 6, "main"), 4);
	assert_int_equal(column_fit(5, 6, "main"), 5);
	assert_int_equal(column_fit(3, 6, "sixsix"), 6);
	assert_int_equal(column_fit(3, 6, "seven77"), 3);
	assert_int_equal(column_fit(36, 0, "main"), 36);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_width),
					   cmocka_unit_test(test_fit)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
