// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "value_expect.h"
#include "golang/gotype_internal.h"
#include "values/value_internal.h"
#include "unit.h"

static void test_integers(void **state)
{
	static const struct {
		const char *type;
		uint64_t bits;
		const char *text;
	} rows[] = {
		{"int", 42, "42"},
		{"int", -1, "-1"},
		{"int", 1ull << 63, "-9223372036854775808"},
		{"int8", 0x80, "-128"},
		{"int8", 0xff7f, "127"},
		{"int16", 0xffff, "-1"},
		{"int32", 0x80000000, "-2147483648"},
		{"int64", INT64_MAX, "9223372036854775807"},
		{"uint8", 0xff, "255"},
		{"uint16", 0x12345, "9029"},
		{"uint32", UINT32_MAX, "4294967295"},
		{"uint64", UINT64_MAX, "18446744073709551615"},
		{"uintptr", 0xc000012345, "0xc000012345"},
		{"bool", 0, "false"},
		{"bool", 1, "true"},
		{"rune", 0x4e16, "19990"},
		{"unsafe.Pointer", 0xc000012345, "0xc000012345"},
		{"unsafe.Pointer", 0, "nil"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		expect(basic(rows[i].type), &rows[i].bits, VALUE_GO, rows[i].text);
}

/* expectations are what Go 1.22 prints */
static void test_floats(void **state)
{
	static const struct {
		double value;
		const char *text;
	} rows[] = {
		{0, "0"},
		{-0.0, "-0"},
		{1, "1"},
		{2.5, "2.5"},
		{0.1, "0.1"},
		{100000, "100000"},
		{123456, "123456"},
		{1e6, "1e+06"},
		{123456789, "1.23456789e+08"},
		{1e-4, "0.0001"},
		{1.5e-4, "0.00015"},
		{1e-5, "1e-05"},
		{-12.75, "-12.75"},
		{1e20, "1e+20"},
		{1e300, "1e+300"},
		{5e-324, "5e-324"},
		{1.7976931348623157e308, "1.7976931348623157e+308"},
		{3.141592653589793, "3.141592653589793"},
		{0.30000000000000004, "0.30000000000000004"},
		{__builtin_inf(), "+Inf"},
		{-__builtin_inf(), "-Inf"},
		{__builtin_nan(""), "NaN"},
	};
	const float tenth = 0.1f, large = 16777216;
	const double parts[] = {1, -2};
	const float small_parts[] = {0.1f, 1e20f};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		expect(basic("float64"), &rows[i].value, VALUE_GO, rows[i].text);
	/* JSON has no such numbers: they are text */
	expect_json(basic("float64"), &(double){__builtin_nan("")}, "\"NaN\"");
	expect_json(basic("float64"), &(double){__builtin_inf()}, "\"+Inf\"");
	expect_json(basic("float32"), &(float){-__builtin_inff()}, "\"-Inf\"");
	expect_json(basic("float64"), &(double){-12.75}, "-12.75");
	expect_json(basic("float32"), &tenth, "0.1");
	expect(basic("float32"), &tenth, VALUE_GO, "0.1");
	expect(basic("float32"), &large, VALUE_GO, "1.6777216e+07");
	expect(basic("complex128"), parts, VALUE_GO, "(1-2i)");
	expect(basic("complex64"), small_parts, VALUE_GO, "(0.1+1e+20i)");
}

static void test_strings(void **state)
{
	static const struct {
		const char *text;
		int64_t len;
		const char *quoted, *bare;
	} rows[] = {
		{"", 0, "\"\"", ""},
		{"bob", 3, "\"bob\"", "bob"},
		{"a\"b\\", 4, "\"a\\\"b\\\\\"", "a\"b\\"},
		{"\n\t\x1b[2J\a\x7f", 8, "\"\\n\\t\\x1b[2J\\a\\x7f\"", "\\n\\t\\x1b[2J\\x07\\x7f"},
		{"a\0b", 3, "\"a\\x00b\"", "a\\x00b"},
		{"h\u00e9 \u4e16", 7, "\"h\u00e9 \u4e16\"", "h\u00e9 \u4e16"},
		{"\xff\xc0", 2, "\"\\xff\\xc0\"", "\\xff\\xc0"},
		{"\u00a0\u200b\u2028", 8, "\"\\u00a0\\u200b\\u2028\"", "\u00a0\u200b\\u2028"},
		{"\U0001f600\U000e0001", 8, "\"\U0001f600\\U000e0001\"", "\U0001f600\U000e0001"},
		{"0123456789012345678901234567890123456789", 40,
		 "\"0123456789012345678901234567890123456789\"",
		 "0123456789012345678901234567890123456789"},
		{"01234567890123456789012345678901234567890", 41,
		 "\"0123456789012345678901234567890123456789\"...",
		 "0123456789012345678901234567890123456789..."},
		/* a character that the limit cuts in two is left out */
		{"012345678901234567890123456789012345678\u00e9", 41,
		 "\"012345678901234567890123456789012345678\"...",
		 "012345678901234567890123456789012345678..."},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct capture_string s = {rows[i].text, rows[i].len};

		expect(basic("string"), &s, VALUE_GO, rows[i].quoted);
		expect(basic("string"), &s, VALUE_PLAIN, rows[i].quoted);
		expect(basic("string"), &s, VALUE_TEXT, rows[i].bare);
	}
}

static void test_unreadable_strings(void **state)
{
	static const char room[64] = "abc";
	struct capture_string missing = {(void *)0x1000, 5}, negative = {room, -5}, nil = {NULL, 5};

	(void)state;
	expect(basic("string"), &missing, VALUE_GO, "<fault>");
	expect(basic("string"), &missing, VALUE_TEXT, "<fault>");
	expect(basic("string"), &negative, VALUE_GO, "<fault>");
	expect(basic("string"), &nil, VALUE_GO, "<fault>");
	expect_json(basic("string"), &missing, "\"<fault>\"");
}

/* An array of more bytes than are kept of one */
static void test_long_array(void **state)
{
	static const uint16_t many[300] = {1, 2, 3};
	char want[1024] = "[1,2,3";

	(void)state;
	for (size_t i = 3; i < 256; i++)
		strcat(want, ",0");
	strcat(want, ",\"...\"]");
	expect_json(gotypes_array(capture.types, basic("uint16"), 300), many, want);
}

static void test_slices(void **state)
{
	static const int64_t numbers[] = {1, -2, 3, 4, 5, 6, 7, 8, 9, 10};
	const struct capture_string strings[] = {{"a", 1}, {NULL, 0}, {"c\n", 2}, {"d", 1},
						 {"e", 1}, {"f", 1},  {"g", 1},   {"h", 1}};
	struct capture_slice s = {numbers, 3, 3};

	(void)state;
	expect(slice(basic("int")), &s, VALUE_GO, "[]int{1, -2, 3}");
	expect_json(slice(basic("int")), &s, "[1,-2,3]");
	s.len = 10;
	expect(slice(basic("int")), &s, VALUE_GO, "[]int{1, -2, 3, 4, 5, 6, 7, 8, ...}");
	expect_json(slice(basic("int")), &s, "[1,-2,3,4,5,6,7,8,\"...\"]");
	s.len = 0;
	expect(slice(basic("int")), &s, VALUE_GO, "[]int{}");
	s = (struct capture_slice){NULL, 0, 0};
	expect(slice(basic("int")), &s, VALUE_GO, "nil");
	expect_json(slice(basic("int")), &s, "null");
	s = (struct capture_slice){(void *)0x1000, 2, 2};
	expect(slice(basic("int")), &s, VALUE_GO, "<fault>");
	s = (struct capture_slice){strings, 3, 3};
	expect(slice(basic("string")), &s, VALUE_GO, "[]string{\"a\", \"\", \"c\\n\"}");
	expect(slice(basic("string")), &s, VALUE_TEXT, "[]string{\"a\", \"\", \"c\\n\"}");
	expect_json(slice(basic("string")), &s, "[\"a\",\"\",\"c\\n\"]");
	s.len = 9;
	expect(slice(basic("string")), &s, VALUE_GO,
	       "[]string{\"a\", \"\", \"c\\n\", \"d\", \"e\", \"f\", \"g\", \"h\", ...}");
}

static void test_bytes(void **state)
{
	static const char address[] = {127, 0, 0, 1};
	struct capture_slice s = {"he\"y\n", 5, 5};
	struct gotype ip = *slice(basic("uint8"));

	(void)state;
	expect(slice(basic("uint8")), &s, VALUE_GO, "[]byte(\"he\\\"y\\n\")");
	expect(slice(basic("uint8")), &s, VALUE_TEXT, "he\"y\\n");
	s = (struct capture_slice){"0123456789012345678901234567890123456789x", 41, 41};
	expect(slice(basic("uint8")), &s, VALUE_GO,
	       "[]byte(\"0123456789012345678901234567890123456789\"...)");
	ip.name = "main.Key";
	ip.defined = true;
	s = (struct capture_slice){address, 4, 4};
	expect(&ip, &s, VALUE_GO, "main.Key{127, 0, 0, 1}");
	expect_json(&ip, &s, "\"main.Key{127, 0, 0, 1}\"");
	s = (struct capture_slice){"{}", 2, 2};
	expect(&ip, &s, VALUE_GO, "main.Key(\"{}\")");
	expect_json(&ip, &s, "\"{}\"");
}

static void test_arrays(void **state)
{
	static const uint8_t bytes[600] = {1, 2, 3};
	const struct gotype *none = gotypes_array(capture.types, basic("string"), 0);
	const struct gotype *large = gotypes_array(capture.types, basic("uint8"), 600);
	const struct gotype *unit = capture_struct(&capture, "struct {}", 0, NULL);
	char *text;

	(void)state;
	expect(gotypes_array(capture.types, basic("uint8"), 3), bytes, VALUE_GO,
	       "[3]uint8{1, 2, 3}");
	expect_json(gotypes_array(capture.types, basic("uint8"), 3), bytes, "[1,2,3]");
	expect(none, bytes, VALUE_GO, "[0]string{}");
	expect(gotypes_array(capture.types, unit, 2), bytes, VALUE_GO,
	       "[2]struct {}{struct {}{}, struct {}{}}");
	text = expect_text_of(capture_value(&capture, large, bytes), VALUE_GO);
	assert_string_equal(text + strlen(text) - 10, "0, 0, ...}");
	free(text);
}

static void test_structs(void **state)
{
	struct {
		bool loud;
		int64_t n;
		struct capture_string s;
		struct {
			int8_t x;
		} at;
	} value = {true, 3, {"x", 1}, {-1}};
	const struct gotype_field point[] = {{.name = "X", .type = basic("int8")}};
	const struct gotype_field fields[] = {
		{.name = "Loud", .type = basic("bool")},
		{.name = "N", .type = basic("int")},
		{.name = "s\x1b", .type = basic("string")},
		{.name = "At", .type = capture_struct(&capture, "struct { X int8 }", 1, point)},
	};
	const struct gotype *opts = capture_struct(&capture, "main.Opts", 4, fields);

	(void)state;
	expect(opts, &value, VALUE_GO,
	       "main.Opts{Loud:true, N:3, s\\x1b:\"x\", At:struct { X int8 }{X:-1}}");
	expect_json(opts, &value, "{\"Loud\":true,\"N\":3,\"s\\u001b\":\"x\",\"At\":{\"X\":-1}}");
	expect(capture_struct(&capture, "main.E", 0, NULL), &value, VALUE_GO, "main.E{}");
}

static void test_durations(void **state)
{
	static const struct {
		int64_t ns;
		const char *text;
	} rows[] = {
		{0, "0s"},
		{1, "1ns"},
		{999, "999ns"},
		{1000, "1\u00b5s"},
		{1100, "1.1\u00b5s"},
		{999999, "999.999\u00b5s"},
		{1000000, "1ms"},
		{2200000, "2.2ms"},
		{1000000000, "1s"},
		{1500000000, "1.5s"},
		{-1500000000, "-1.5s"},
		{60000000000, "1m0s"},
		{3661000000001, "1h1m1.000000001s"},
		{90000000000000, "25h0m0s"},
		{INT64_MAX, "2562047h47m16.854775807s"},
		{INT64_MIN, "-2562047h47m16.854775808s"},
	};
	const struct gotype *type = capture_defined(&capture, "time.Duration", "int64");

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		expect(type, &rows[i].ns, VALUE_GO, rows[i].text);
	expect_json(type, &(int64_t){1500000000}, "1500000000");
}

static void test_open_flags(void **state)
{
	static const struct {
		int64_t flags;
		const char *text;
	} rows[] = {
		{0, "O_RDONLY"},
		{O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, "O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC"},
		{O_RDWR | O_APPEND | O_EXCL | O_NOCTTY, "O_RDWR|O_EXCL|O_NOCTTY|O_APPEND"},
		{O_ACCMODE, "O_ACCMODE"},
		{O_SYNC, "O_RDONLY|O_SYNC"},
		{O_DSYNC | O_NONBLOCK, "O_RDONLY|O_NONBLOCK|O_DSYNC"},
		{O_TMPFILE | O_RDWR, "O_RDWR|O_TMPFILE"},
		{O_DIRECTORY | O_NOFOLLOW | O_PATH, "O_RDONLY|O_NOFOLLOW|O_PATH|O_DIRECTORY"},
		{O_DIRECT | O_NOATIME | O_ASYNC, "O_RDONLY|O_ASYNC|O_DIRECT|O_NOATIME"},
		{O_CREAT | 0x41000000, "O_RDONLY|O_CREAT|0x41000000"},
		{~0xffffffffll, "O_RDONLY|0xffffffff00000000"},
	};
	const struct gotype *type = capture_defined(&capture, "open.Flags", "int");

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		expect(type, &rows[i].flags, VALUE_PLAIN, rows[i].text);
	expect_json(type, &(int64_t){O_CREAT | O_CLOEXEC}, "524352");
}

static void test_times(void **state)
{
	static const struct {
		uint64_t wall, ext;
		const char *text;
	} rows[] = {
		{0, 0, "0001-01-01 00:00:00 +0000 UTC"},
		{0, 62135596800, "1970-01-01 00:00:00 +0000 UTC"},
		{500000000, 62135596800 + 951782400, "2000-02-29 00:00:00.5 +0000 UTC"},
		{1, 62135596800 - 1, "1969-12-31 23:59:59.000000001 +0000 UTC"},
		{1ull << 63 | 4398046511ull << 30 | 123456789, 77,
		 "2024-05-15 07:35:11.123456789 +0000 UTC m=+0.000000077"},
		{0, 62135596800 + 253402300799, "9999-12-31 23:59:59 +0000 UTC"},
		{0, -1ull, "0000-12-31 23:59:59 +0000 UTC"},
	};
	const struct gotype_field fields[] = {
		{.name = "wall", .type = basic("uint64")},
		{.name = "ext", .type = basic("int64")},
		{.name = "loc", .type = pointer(basic("int"))},
	};
	const struct gotype *type = capture_struct(&capture, "time.Time", 3, fields);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const uint64_t value[] = {rows[i].wall, rows[i].ext, 0};

		expect(type, value, VALUE_GO, rows[i].text);
	}
	const uint64_t far[] = {0, 1ull << 63, 0}, none[] = {UINT64_MAX, 5, 0};
	char *text = expect_text_of(capture_value(&capture, type, far), VALUE_GO);

	free(text);
	expect(type, none, VALUE_GO, "time.Time{wall:18446744073709551615, ext:5, loc:nil}");
	expect_json(type, (uint64_t[3]){0}, "\"0001-01-01T00:00:00Z\"");
}

static void test_holes(void **state)
{
	const struct gotype_field fields[] = {{.name = "N", .type = basic("int32")},
					      {.name = "F", .type = basic("float32")},
					      {.name = "G", .type = basic("float64")}};
	const struct gotype *type = capture_struct(&capture, "main.T", 3, fields);
	struct shape shape = *capture_value(&capture, type, (char[16]){5});

	(void)state;
	shape.holes = 1 << 1 | 1 << 2 | 1 << 3;
	expect_shape(&shape, VALUE_GO, "main.T{N:5, F:<float in register>, G:<float in register>}");
	shape = *capture_value(&capture, basic("complex128"), (char[16]){0});
	shape.size = 8;
	expect_shape(&shape, VALUE_GO, "...");
	shape.size = 16;
	shape.holes = 1 << 3;
	expect_shape(&shape, VALUE_GO, "<float in register>");
}

static void test_int(void **state)
{
	int64_t n;
	const struct capture_string s = {"x", 1};

	(void)state;
	assert_true(value_int(capture_value(&capture, basic("int8"), "\xff"), &capture.source, &n));
	assert_int_equal(n, -1);
	assert_true(
		value_int(capture_value(&capture, basic("uint8"), "\xff"), &capture.source, &n));
	assert_int_equal(n, 255);
	assert_false(value_int(capture_value(&capture, basic("string"), &s), &capture.source, &n));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_long_array, expect_setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_integers, expect_setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_floats, expect_setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_strings, expect_setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_unreadable_strings, expect_setup,
						expect_teardown),
		cmocka_unit_test_setup_teardown(test_slices, expect_setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_bytes, expect_setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_arrays, expect_setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_structs, expect_setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_durations, expect_setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_open_flags, expect_setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_times, expect_setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_holes, expect_setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_int, expect_setup, expect_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
