// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/utf8.h"
#include "unit.h"

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

/* --- places where what is written is run, or read by a compiler --- */

#define HOSTILE "\x01\x7f\x9b\xc2\x9b\xe2\x80\xa8\xe2\x80\xae\xe2\x81\xa6\xed\xa0\x80"

static const struct {
	const char *raw, *comment, *shell, *literal, *format;
} places[] = {
	{"", "", "", "", ""},
	{"main.(*T).Foo[...]", "main.(*T).Foo[...]", "main.(*T).Foo[...]", "main.(*T).Foo[...]",
	 "main.(*T).Foo[...]"},
	{"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f",
	 "gr\xc3\xbc\xc3\x9f"},
	/* a line that is not ours */
	{"x\nBEGIN { system(\"id\") }", "x\\nBEGIN { system(\"id\") }",
	 "x\\nBEGIN { system(\\x22id\\x22) }", "x?BEGIN { system(?id?) }",
	 "x?BEGIN { system(?id?) }"},
	{"x\r\n\v\f", "x\\r\\n\\x0b\\x0c", "x\\r\\n\\x0b\\x0c", "x????", "x????"},
	{HOSTILE, "\\x01\\x7f\\x9b\\u009b\\u2028\\u202e\\u2066\\xed\\xa0\\x80",
	 "\\x01\\x7f\\x9b\\u009b\\u2028\\u202e\\u2066\\xed\\xa0\\x80", "?????????????????",
	 "?????????????????"},
	/* the end of a comment, and a comment within one */
	{"a*/b/*c", "a*\\x2fb/\\x2ac", "a*/b/*c", "a*/b/*c", "a*/b/*c"},
	{"*/*", "*\\x2f\\x2a", "*/*", "*/*", "*/*"},
	/* the next line is a comment as well */
	{"a\\", "a\\x5c", "a\\x5c", "a?", "a?"},
	{"a\\ ", "a\\x5c ", "a\\x5c ", "a? ", "a? "},
	{"a?\x3f/", "a?\\x3f/", "a?\x3f/", "a?\x3f/", "a?\x3f/"},
	{"??\x3f/", "?\\x3f\\x3f/", "??\x3f/", "??\x3f/", "??\x3f/"},
	/* a shell's */
	{"$(id)`id`", "$(id)`id`", "\\x24(id)\\x60id\\x60", "$(id)`id`", "$(id)`id`"},
	{"a;b&c|d<e>f!g'h\"", "a;b&c|d<e>f!g'h\"",
	 "a\\x3bb\\x26c\\x7cd\\x3ce\\x3ef\\x21g\\x27h\\x22", "a;b&c|d<e>f!g'h?",
	 "a;b&c|d<e>f!g'h?"},
	/* a format's */
	{"yaml%2ev2", "yaml%2ev2", "yaml%2ev2", "yaml%2ev2", "yaml%%2ev2"},
	{"%s%-08.3lld%", "%s%-08.3lld%", "%s%-08.3lld%", "%s%-08.3lld%", "?s?-08.3lld%%"},
	{"a%c3%a4 100%", "a%c3%a4 100%", "a%c3%a4 100%", "a%c3%a4 100%", "a?c3?a4 100%%"},
	{"%%d", "%%d", "%%d", "%%d", "??d"},
	{"%\xc3\xa4", "%\xc3\xa4", "%\xc3\xa4", "%\xc3\xa4", "?\xc3\xa4"},
};

static void check_place(void (*escape)(FILE *, const char *), const char *raw, const char *expected)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	escape(out, raw);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

static void test_places(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const char *raw = places[i].raw;

		check_place(escape_comment, raw, places[i].comment);
		check_place(escape_shell_comment, raw, places[i].shell);
		check_place(escape_literal, raw, places[i].literal);
		check_place(escape_format, raw, places[i].format);
		assert_int_equal(escape_is_literal(raw), !strcmp(raw, places[i].literal));
	}
}

/* Whatever two bytes come together */
static void test_pairs(void **state)
{
	(void)state;
	for (unsigned pair = 0x0101; pair < 0x10000; pair++) {
		char raw[] = {(char)(pair >> 8), (char)pair, 0}, text[32] = "", literal[32] = "";
		FILE *out = fmemopen(text, sizeof(text), "w");
		FILE *quoted = fmemopen(literal, sizeof(literal), "w");

		escape_comment(out, raw);
		escape_literal(quoted, raw);
		fclose(out);
		fclose(quoted);
		assert_null(strstr(text, "*/"));
		assert_null(strstr(text, "/*"));
		assert_null(strpbrk(literal, "\"\\"));
		assert_true(!*text || text[strlen(text) - 1] != '\\');
		for (size_t i = 0; text[i] || literal[i]; i++) {
			assert_false(text[i] > 0 && text[i] < ' ');
			assert_false(literal[i] > 0 && literal[i] < ' ');
			if (!text[i] || !literal[i])
				break;
		}
	}
}

static void test_names(void **state)
{
	static const char *const good[] = {"a", "_", "A9_z"};
	static const char *const bad[] = {"",     "9a",  "a b",      "a.b",   "a\n", "a=1",
					  "a(%)", "a-b", "\xc3\xa4", "a\x80", " a"};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(escape_is_identifier(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(escape_is_identifier(bad[i]));
}

static void test_paths(void **state)
{
	static const char *const good[] = {"/usr/bin/etcd", "/proc/12/root/a-b_c.d+e@f", "./app"};
	static const char *const bad[] = {"/a b",  "/a'b",      "/a\"b", "/a:b",  "/a\nb", "/a*b",
					  "/a$b",  "/a`b",      "/a;b",  "/a,b",  "/a#b",  "-x",
					  "/a\\b", "/\xc3\xa4", "/a\tb", "/a%sb", "/a(b",  "/a{b"};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(escape_is_plain_path(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(escape_is_plain_path(bad[i]));
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

/* what utf8_write() hands on, in brackets */
static void put_bracketed(FILE *out, const char *bytes, size_t len, uint32_t c)
{
	fprintf(out, len ? "[%zu %x]" : "[%zu %02x]", len, len ? c : (unsigned char)*bytes);
}

static void test_utf8_write(void **state)
{
	static const char text[] = "a ~\0\x7f\"\\\xc3\xa4z\xe2\x82\xac\xe2\x82";
	char *written = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&written, &len);

	(void)state;
	assert_non_null(out);
	utf8_write(out, text, sizeof(text) - 1, put_bracketed);
	utf8_write(out, text, 0, put_bracketed);
	fclose(out);
	assert_string_equal(written, "a ~[1 0][1 7f][1 22][1 5c][2 e4]z[3 20ac][0 e2][0 82]");
	free(written);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_no_control_gets_through),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_decode),
		cmocka_unit_test(test_utf8_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
