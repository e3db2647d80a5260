// SPDX-License-Identifier: Apache-2.0
/* Which characters are printed, quoted, or no text; and numbers with a point. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ranges.h"
#include "steps.h"
#include "unit.h"
#include "values/value_text_internal.h"

static const char *printable(void *ctx, unsigned c)
{
	unsigned char bytes[4] = {
		(unsigned char)(0xf0 | c >> 18), (unsigned char)(0x80 | (c >> 12 & 0x3f)),
		(unsigned char)(0x80 | (c >> 6 & 0x3f)), (unsigned char)(0x80 | (c & 0x3f))};
	size_t skip = c < 0x80 ? 3 : c < 0x800 ? 2 : c < 0x10000 ? 1 : 0;

	(void)ctx;
	bytes[skip] = (unsigned char)(skip == 3   ? c
				      : skip == 2 ? 0xc0 | c >> 6
				      : skip == 1 ? 0xe0 | c >> 12
						  : 0xf0 | c >> 18);
	bool is = value_is_printable((const char *)bytes + skip, 4 - skip);

	return is ? "" : value_is_text((const char *)bytes + skip, 4 - skip) ? "text" : "no";
}

static void test_printable(void **state)
{
	(void)state;
	ranges_are("not printed", 0x110000, printable, NULL);
	steps_expect("not printed: 0-1f no, 7f-a0 no, ad no, 600-605 no, 61c no, 6dd no, 70f no, "
		     "890-891 no, 8e2 no, 1680 no, 180e no, 2000-200f no, 2028-202f no, 205f-206f "
		     "no, 3000 no, d800-f8ff no, fdd0-fdef no, feff no, fff0-fffb no, fffe-ffff "
		     "no, 110bd no, 110cd no, 13430-1343f no, 1bca0-1bca3 no, 1d173-1d17a no, "
		     "e0000-e00ff no, e01f0-10ffff no; ");
}

static void test_text(void **state)
{
	static const char *const texts[] = {"",         " ",     "!",     "\t\n\r ",
					    "\ta",      "a\x01", "a\xff", "a\xc2",
					    "\xc3\xa9", "a\x7f", "a\x0b", "a\x0c"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		steps_are("%zu: %d %d", i, value_is_text(texts[i], strlen(texts[i])),
			  value_is_printable(texts[i], strlen(texts[i])));
	steps_expect("0: 0 1; 1: 0 1; 2: 1 1; 3: 0 0; 4: 1 0; 5: 0 0; 6: 0 0; 7: 0 0; 8: 1 1; 9: 0 "
		     "0; 10: 0 0; 11: 0 0; ");
}

static void test_whole(void **state)
{
	static const char *const texts[] = {"",
					    "a",
					    "ab\xc3",
					    "ab\xc3\xa9",
					    "ab\xe2\x82",
					    "ab\xe2",
					    "\xe2\x82\xac",
					    "a\xf0\x9f\x98",
					    "a\xf0\x9f",
					    "a\xf0",
					    "a\xf0\x9f\x98\x80",
					    "\x80\x80\x80\x80",
					    "a\x80",
					    "a\xc1",
					    "a\xc2",
					    "a\xdf",
					    "a\xe0\x80",
					    "a\xef\x80",
					    "a\xf4\x80",
					    "a\xf5\x80",
					    "a\xf0\x80\x80",
					    "\xe2\x82\x82\x82",
					    "\xc3",
					    "\xe2\x82"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		steps_are("%zu", value_whole_characters(texts[i], strlen(texts[i])));
	steps_expect("0; 1; 2; 4; 2; 2; 3; 1; 1; 1; 5; 4; 2; 2; 1; 1; 1; 1; 1; 3; 1; 4; 0; 0; ");
}

static void test_quote(void **state)
{
	static const char bytes[] =
		"\a\b\f\n\r\t\v\\\"'a\0\x01\x7f\xff\xc2\xa0\xe2\x80\x8b\xf3\xa0\x80\x81\xc3\xa9";
	char text[256] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	(void)state;
	value_quote(out, bytes, sizeof(bytes) - 1);
	fclose(out);
	steps_are("%s", text);
	steps_expect("\"\\a\\b\\f\\n\\r\\t\\v\\\\\\\"'"
		     "a\\x00\\x01\\x7f\\xff\\u00a0\\u200b\\U000e0001\u00e9\"; ");
}

static void test_floats(void **state)
{
	static const double values[] = {
		0,       1,       -1,       0.5,       -0.0,     1.25,
		12.5,    123456,  1234567,  99999.5,   100000,   999999,
		1e6,     1e20,    1e21,     0.1,       0.01,     0.001,
		0.0001,  0.00001, 0.000123, 0.0000123, 1e-7,     3.141592653589793,
		2.0 / 3, 1e308,   5e-324,   1.5e300,   16777216, 0.30000001192092896,
		1e100};
	char text[4096] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		for (int bits = 32; bits <= 64; bits += 32) {
			if (bits == 32 && fabs(values[i]) > 3e38)
				continue;
			value_print_float(out, bits == 32 ? (float)values[i] : values[i], bits,
					  i & 1);
			putc(' ', out);
		}
	value_print_float(out, NAN, 64, false);
	value_print_float(out, NAN, 64, true);
	value_print_float(out, INFINITY, 64, false);
	value_print_float(out, -INFINITY, 64, true);
	fclose(out);
	steps_are("%s", text);
	steps_expect(
		"0 0 +1 +1 -1 -1 +0.5 +0.5 -0 -0 +1.25 +1.25 12.5 12.5 +123456 +123456 "
		"1.234567e+06 1.234567e+06 +99999.5 +99999.5 100000 100000 +999999 +999999 1e+06 "
		"1e+06 +1e+20 +1e+20 1e+21 1e+21 +0.1 +0.1 0.01 0.01 +0.001 +0.001 0.0001 0.0001 "
		"+1e-05 +1e-05 0.000123 0.000123 +1.23e-05 +1.23e-05 1e-07 1e-07 +3.1415927 "
		"+3.141592653589793 0.6666667 0.6666666666666666 +1e+308 0 5e-324 +1.5e+300 "
		"1.6777216e+07 1.6777216e+07 +0.3 +0.30000001192092896 1e+100 NaN+NaN+Inf-Inf; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_printable), cmocka_unit_test(test_text),
		cmocka_unit_test(test_whole),     cmocka_unit_test(test_quote),
		cmocka_unit_test(test_floats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
