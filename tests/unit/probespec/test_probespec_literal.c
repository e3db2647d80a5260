// SPDX-License-Identifier: Apache-2.0
/* Numbers, characters and strings as they are written in probes: what each is, where it ends, or
 * what is wrong. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "probespec/probespec_literal_internal.h"
#include "steps.h"
#include "unit.h"

static void say(const char *text, size_t end, uint64_t value, const struct errmsg *err)
{
	if (end)
		steps_are("%s = %" PRIu64 " to %zu", text, value, end);
	else
		steps_are("%s: %s%s%s", text, err->text, *err->hint ? " / " : "", err->hint);
}

static const char numbers_said[] =
	"(0 = 0 to 2; (7 = 7 to 2; (12 = 12 to 3; (1_000 = 1000 to 6; (1__0: col 2: "
	"expected a number, found \"1__0\"; (1_: col 2: expected a number, found \"1_\"; "
	"(_1: col 2: expected a number, found \"_1\"; (0x1f = 31 to 5; (0XaF = 175 to 5; "
	"(0x: col 2: expected a number, found \"0x\"; (0x_1 = 1 to 5; (0x1_: col 2: "
	"expected a number, found \"0x1_\"; (0xg: col 2: expected a number, found \"0xg\"; "
	"(0o17 = 15 to 5; (0O8: col 2: expected a number, found \"0O8\"; (017 = 15 to 4; "
	"(018: col 2: expected a number, found \"018\"; (0_7 = 7 to 4; (00 = 0 to 3; "
	"(0b101 = 5 to 6; (0B2: col 2: expected a number, found \"0B2\"; (0b: col 2: "
	"expected a number, found \"0b\"; (08: col 2: expected a number, found \"08\"; "
	"(12u: col 2: expected a number, found \"12u\" / numbers need no suffix; (12UL: "
	"col 2: expected a number, found \"12UL\" / numbers need no suffix; (12x: col 2: "
	"expected a number, found \"12x\" / units are ns us ms s m h, KB MB GB, KiB MiB "
	"GiB; (0u: col 2: expected a number, found \"0u\" / numbers need no suffix; (1.5: "
	"col 2: expected an integer, found \"1.5\" / with a unit it may have a fraction: "
	"ns us ms s m h, KB MB GB, KiB MiB GiB; (1. = 1 to 2; (1.x = 1 to 2; (10ms = "
	"10000000 to 5; (1.5s = 1500000000 to 5; (1m30s = 90000000000 to 6; (4KiB = 4096 "
	"to 5; (1KB = 1000 to 4; (2GB = 2000000000 to 4; (0ns = 0 to 4; (0s = 0 to 3; "
	"(0b1s: col 2: expected a number, found \"0b1s\"; (0.0000000001s: col 2: "
	"\"0.0000000001s\" is not a whole number of ns or bytes, or too large; (1.5ns: col "
	"2: \"1.5ns\" is not a whole number of ns or bytes, or too large; "
	"(99999999999999GiB: col 2: \"99999999999999GiB\" is not a whole number of ns or "
	"bytes, or too large; (18446744073709551615 = 18446744073709551615 to 21; "
	"(18446744073709551616: col 2: \"18446744073709551616\" does not fit into 64 bits; "
	"(0xffffffffffffffff = 18446744073709551615 to 19; (0x10000000000000000: col 2: "
	"\"0x10000000000000000\" does not fit into 64 bits; (01777777777777777777777 = "
	"18446744073709551615 to 24; (5) = 5 to 2; (5  = 5 to 2; (5é: col 2: expected a "
	"number, found \"5é\"; (5a_b: col 2: expected a number, found \"5a_b\"; (3zz: col "
	"2: expected a number, found \"3zz\" / units are ns us ms s m h, KB MB GB, KiB MiB "
	"GiB; (1.2.3: col 2: expected an integer, found \"1.2\" / with a unit it may have "
	"a fraction: ns us ms s m h, KB MB GB, KiB MiB GiB; ";

static const char *const numbers[] = {"0",
				      "7",
				      "12",
				      "1_000",
				      "1__0",
				      "1_",
				      "_1",
				      "0x1f",
				      "0XaF",
				      "0x",
				      "0x_1",
				      "0x1_",
				      "0xg",
				      "0o17",
				      "0O8",
				      "017",
				      "018",
				      "0_7",
				      "00",
				      "0b101",
				      "0B2",
				      "0b",
				      "08",
				      "12u",
				      "12UL",
				      "12x",
				      "0u",
				      "1.5",
				      "1.",
				      "1.x",
				      "10ms",
				      "1.5s",
				      "1m30s",
				      "4KiB",
				      "1KB",
				      "2GB",
				      "0ns",
				      "0s",
				      "0b1s",
				      "0.0000000001s",
				      "1.5ns",
				      "99999999999999GiB",
				      "18446744073709551615",
				      "18446744073709551616",
				      "0xffffffffffffffff",
				      "0x10000000000000000",
				      "01777777777777777777777",
				      "5)",
				      "5 ",
				      "5\xc3\xa9",
				      "5a_b",
				      "3zz",
				      "1.2.3"};

static void test_numbers(void **state)
{

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		struct errmsg err = {0};
		uint64_t value = 0;
		char text[64] = "(";

		strcat(text, numbers[i]);
		size_t end = probespec_literal_number(text, 1, &value, &err);

		say(text, end, value, &err);
	}
	steps_expect(numbers_said);
}

static const char characters_said[] =
	"'a' = 97 to 3; 'é' = 233 to 4; '😀' = 128512 to 6; '\\n' = 10 to 4; '\\a' = 7 to "
	"4; '\\b' = 8 to 4; '\\f' = 12 to 4; '\\r' = 13 to 4; '\\t' = 9 to 4; '\\v' = 11 "
	"to 4; '\\e' = 27 to 4; '\\\\' = 92 to 4; '\\'' = 39 to 4; '\\\"' = 34 to 4; '\\?' "
	"= 63 to 4; '\\0' = 0 to 4; '\\101' = 65 to 6; '\\377' = 255 to 6; '\\400': col 2: "
	"expected an escape such as \\n, \\x1b or \\u00e9, found \"\\4\"; '\\8': col 2: "
	"expected an escape such as \\n, \\x1b or \\u00e9, found \"\\8\"; '\\x41' = 65 to "
	"6; '\\xFf' = 255 to 6; '\\x4': col 2: expected an escape such as \\n, \\x1b or "
	"\\u00e9, found \"\\x\"; '\\x411': col 1: expected one character between quotes, "
	"found '\\x411' / write strings and formats in double quotes; '\\u00e9' = 233 to "
	"8; '\\u00e': col 2: expected an escape such as \\n, \\x1b or \\u00e9, found "
	"\"\\u\"; '\\ud7ff' = 55295 to 8; '\\ud800': col 2: expected an escape such as "
	"\\n, \\x1b or \\u00e9, found \"\\u\"; '\\udfff': col 2: expected an escape such "
	"as \\n, \\x1b or \\u00e9, found \"\\u\"; '\\ue000' = 57344 to 8; '\\U0010ffff' = "
	"1114111 to 12; '\\U00110000': col 2: expected an escape such as \\n, \\x1b or "
	"\\u00e9, found \"\\U\"; '\\U0001F60': col 2: expected an escape such as \\n, "
	"\\x1b or \\u00e9, found \"\\U\"; '\\q': col 2: expected an escape such as \\n, "
	"\\x1b or \\u00e9, found \"\\q\"; '\\: col 2: expected an escape such as \\n, "
	"\\x1b or \\u00e9, found \"\\\"; '': col 1: expected one character between quotes, "
	"found '' / write strings and formats in double quotes; 'ab': col 1: expected one "
	"character between quotes, found 'ab' / write strings and formats in double "
	"quotes; 'a: col 1: expected a closing ' before the end / write strings and "
	"formats in double quotes; ': col 1: expected a closing ' before the end / write "
	"strings and formats in double quotes; ";

static void test_characters(void **state)
{
	static const char *const texts[] = {"'a'",
					    "'\xc3\xa9'",
					    "'\xf0\x9f\x98\x80'",
					    "'\\n'",
					    "'\\a'",
					    "'\\b'",
					    "'\\f'",
					    "'\\r'",
					    "'\\t'",
					    "'\\v'",
					    "'\\e'",
					    "'\\\\'",
					    "'\\''",
					    "'\\\"'",
					    "'\\?'",
					    "'\\0'",
					    "'\\101'",
					    "'\\377'",
					    "'\\400'",
					    "'\\8'",
					    "'\\x41'",
					    "'\\xFf'",
					    "'\\x4'",
					    "'\\x411'",
					    "'\\u00e9'",
					    "'\\u00e'",
					    "'\\ud7ff'",
					    "'\\ud800'",
					    "'\\udfff'",
					    "'\\ue000'",
					    "'\\U0010ffff'",
					    "'\\U00110000'",
					    "'\\U0001F60'",
					    "'\\q'",
					    "'\\",
					    "''",
					    "'ab'",
					    "'a",
					    "'"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct errmsg err = {0};
		uint64_t value = 0;

		size_t end = probespec_literal_char(texts[i], 0, &value, &err);

		say(texts[i], end, value, &err);
	}
	steps_expect(characters_said);
}

static void test_strings(void **state)
{
	static const char *const texts[] = {"\"\"",
					    "\"ab\"",
					    "\"a\\nb\"",
					    "\"\\x80\\u0080\"",
					    "\"\\u007f\\u07ff\\u0800\"",
					    "\"\\uffff\\U00010000\"",
					    "\"\\U0010ffff\\0z\"",
					    "\"\xc3\xa9\\\"\\\\\" rest",
					    "\"\\q\"",
					    "\"a\\u12\""};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct probespec_string string = {0};
		struct errmsg err = {0};

		steps_are("%s ends at %zu", texts[i], probespec_literal_end(texts[i], 0));
		if (probespec_literal_string(texts[i], 0, &string, &err)) {
			steps_are("%s", err.text);
			continue;
		}
		for (size_t k = 0; k < string.len; k++)
			steps_are("%02x@%u", (unsigned char)string.bytes[k], string.cols[k]);
		steps_are("%zu@%u", string.len, string.cols[string.len]);
		free(string.bytes);
		free(string.cols);
	}
	assert_int_equal(probespec_literal_end("\"ab", 0), 0);
	assert_int_equal(probespec_literal_end("\"ab\\\"", 0), 0);
	assert_int_equal(probespec_literal_end("\"ab\\", 0), 0);
	steps_expect("\"\" ends at 2; 0@2; \"ab\" ends at 4; 61@2; 62@3; 2@4; \"a\\nb\" ends at 6; "
		     "61@2; 0a@3; 62@5; 3@6; \"\\x80\\u0080\" ends at 12; 80@2; c2@6; 80@6; 3@12; "
		     "\"\\u007f\\u07ff\\u0800\" ends at 20; 7f@2; df@8; bf@8; e0@14; a0@14; 80@14; "
		     "6@20; \"\\uffff\\U00010000\" ends at 18; ef@2; bf@2; bf@2; f0@8; 90@8; 80@8; "
		     "80@8; 7@18; \"\\U0010ffff\\0z\" ends at 15; f4@2; 8f@2; bf@2; bf@2; 00@12; "
		     "7a@14; 6@15; \"é\\\"\\\\\" rest ends at 8; c3@2; a9@3; 22@4; 5c@6; 4@8; "
		     "\"\\q\" ends at 4; col 2: expected an escape such as \\n, \\x1b or \\u00e9, "
		     "found \"\\q\"; \"a\\u12\" ends at 7; col 3: expected an escape such as \\n, "
		     "\\x1b or \\u00e9, found \"\\u\"; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_characters),
		cmocka_unit_test(test_strings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
