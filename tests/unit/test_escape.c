// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "escape.h"
#include "utf8.h"

static const struct {
	const char *raw, *escaped;
} rows[] = {
	{"", ""},
	{"main.(*T).Foo", "main.(*T).Foo"},
	{"a\nb\tc\r", "a\\nb\\tc\\r"},
	{"\x1b[31mred\x07", "\\x1b[31mred\\x07"},
	{"\x7f", "\\x7f"},
	{"gr\xc3\xbc\xc3\x9f \xe4\xb8\x96 \xf0\x9f\x98\x80",
	 "gr\xc3\xbc\xc3\x9f \xe4\xb8\x96 \xf0\x9f\x98\x80"},
	{"\xc2\x9b"
	 "31m",
	 "\\u009b31m"}, /* C1: CSI in one character */
	{"\x9b"
	 "31m",
	 "\\x9b31m"},                                          /* the same as a bare byte */
	{"\xe2\x80\xae", "\\u202e"},                           /* would turn the line round */
	{"\xc0\x9b\xed\xa0\x80", "\\xc0\\x9b\\xed\\xa0\\x80"}, /* overlong; surrogate */
	{"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},          /* above U+10FFFF */
	{"a\xe4\xb8", "a\\xe4\\xb8"},                          /* cut short */
	{"C:\\x", "C:\\x"},
};

static void test_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *escaped = escape_text(rows[i].raw);

		assert_string_equal(escaped, rows[i].escaped);
		free(escaped);
	}
}

static void test_write(void **state)
{
	char buf[64] = "";
	FILE *out = fmemopen(buf, sizeof(buf), "w");

	(void)state;
	escape_write(out, "a\0b\xe4", 4);
	escape_print(out, "\n.");
	fclose(out);
	assert_string_equal(buf, "a\\x00b\\xe4\\n.");
}

static void test_no_control_gets_through(void **state)
{
	(void)state;
	for (unsigned first = 1; first < 256; first++) {
		for (unsigned second = 1; second < 256; second++) {
			char raw[] = {first, second, 0};
			char *text = escape_text(raw);
			size_t len = strlen(text);

			for (size_t i = 0, n; i < len; i += n) {
				uint32_t c = 0;

				n = utf8_decode(text + i, len - i, &c);
				assert_true(n > 0 && !utf8_is_control(c));
			}
			free(text);
		}
	}
}

static void test_decode(void **state)
{
	uint32_t c = 0;

	(void)state;
	assert_int_equal(utf8_decode("", 0, &c), 0);
	assert_int_equal(utf8_decode("\xf0\x9f\x98\x80", 4, &c), 4);
	assert_int_equal(c, 0x1f600);
	assert_int_equal(utf8_decode("\xf0\x9f\x98\x80", 3, &c), 0);
	assert_int_equal(utf8_decode("\xe0\x9f\xbf", 3, &c), 0);
	assert_int_equal(utf8_decode("\xf5\x80\x80\x80", 4, &c), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_no_control_gets_through),
		cmocka_unit_test(test_decode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
