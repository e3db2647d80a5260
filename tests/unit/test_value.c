// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "capture.h"
#include "json.h"

static const struct shape_limits LIMITS = {.string_max = 40, .record_max = 4096};
static const struct shape_limits FOLLOW = {.string_max = 40, .record_max = 8192, .follow = true};

static struct capture capture;

static void with(const struct shape_limits *limits)
{
	capture_free(&capture);
	capture_init(&capture, limits);
}

static int setup(void **state)
{
	(void)state;
	capture_init(&capture, &LIMITS);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	capture_free(&capture);
	return 0;
}

static const struct gotype *basic(const char *name)
{
	const struct gotype *type = gotypes_basic(capture.types, name);

	assert_non_null(type);
	return type;
}

static const struct gotype *pointer(const struct gotype *elem)
{
	return gotypes_pointer(capture.types, elem);
}

static const struct gotype *slice(const struct gotype *elem)
{
	return gotypes_slice(capture.types, elem);
}

static char *printed(const struct shape *shape, enum value_style style)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	value_print(out, shape, &capture.source, style);
	fclose(out);
	assert_int_equal(strlen(text), len);
	return text;
}

static void expect_shape(const struct shape *shape, enum value_style style, const char *expected)
{
	char *text = printed(shape, style);

	assert_string_equal(text, expected);
	free(text);
}

static void expect(const struct gotype *type, const void *value, enum value_style style,
		   const char *expected)
{
	capture.end = 0;
	expect_shape(capture_value(&capture, type, value), style, expected);
}

static void expect_json(const struct gotype *type, const void *value, const char *expected)
{
	char *text;
	size_t len;
	struct json json;
	FILE *out = open_memstream(&text, &len);

	capture.end = 0;
	const struct shape *shape = capture_value(&capture, type, value);

	json_init(&json, out);
	json_array(&json);
	value_json(&json, shape, &capture.source);
	fputc(']', out);
	fclose(out);
	assert_int_equal(text[0], '[');
	text[len - 1] = '\0';
	assert_string_equal(text + 1, expected);
	free(text);
}

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
	struct capture_string missing = {(void *)0x1000, 5}, negative = {(void *)0x1000, -5},
			      nil = {NULL, 5};

	(void)state;
	expect(basic("string"), &missing, VALUE_GO, "<fault>");
	expect(basic("string"), &missing, VALUE_TEXT, "<fault>");
	expect(basic("string"), &negative, VALUE_GO, "<fault>");
	expect(basic("string"), &nil, VALUE_GO, "<fault>");
	expect_json(basic("string"), &missing, "\"<fault>\"");
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
	ip.name = "net.IP";
	ip.defined = true;
	s = (struct capture_slice){address, 4, 4};
	expect(&ip, &s, VALUE_GO, "net.IP{127, 0, 0, 1}");
	expect_json(&ip, &s, "\"net.IP{127, 0, 0, 1}\"");
	s = (struct capture_slice){"{}", 2, 2};
	expect(&ip, &s, VALUE_GO, "net.IP(\"{}\")");
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
	text = printed(capture_value(&capture, large, bytes), VALUE_GO);
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

static void test_pointers(void **state)
{
	const struct gotype_field fields[] = {
		{.name = "Name", .type = basic("string")},
		{.name = "Next", .type = pointer(basic("int"))},
	};
	struct {
		struct capture_string name;
		void *next;
	} node = {{"n", 1}, (void *)0xc000012345}, *at = &node;
	const uint64_t address = 0xc000012345, nil = 0, missing = 0x1000;
	const struct gotype *type = pointer(capture_struct(&capture, "main.N", 2, fields));

	(void)state;
	expect(pointer(basic("int")), &address, VALUE_GO, "0xc000012345");
	expect(pointer(basic("int")), &nil, VALUE_GO, "nil");
	expect_json(pointer(basic("int")), &address, "\"0xc000012345\"");
	expect_json(pointer(basic("int")), &nil, "null");
	capture.limits.follow = true;
	expect(type, &at, VALUE_DEEP, "&main.N{Name:\"n\", Next:0xc000012345}");
	expect_json(type, &at, "{\"Name\":\"n\",\"Next\":\"0xc000012345\"}");
	expect(type, &nil, VALUE_DEEP, "nil");
	expect(type, &missing, VALUE_DEEP, "&<fault>");
	expect(type, &missing, VALUE_GO, "0x1000");
}

static void test_funcs_and_chans(void **state)
{
	const uint64_t closure[] = {0x901000}, unknown[] = {0x902000};
	const uint64_t *known_at = closure, *unknown_at = unknown, *nil = NULL;
	char text[32];
	struct gotype *type = gotypes_add(capture.types, GOTYPE_FUNC, "func()");

	(void)state;
	type->size = type->align = 8;
	snprintf(text, sizeof(text), "%p", (const void *)unknown);
	expect(type, &known_at, VALUE_GO, "main.main.func1");
	expect(type, &unknown_at, VALUE_GO, text);
	expect(type, &nil, VALUE_GO, "nil");
	expect_json(type, &known_at, "\"main.main.func1\"");
	type->kind = GOTYPE_CHAN;
	expect(type, &unknown_at, VALUE_GO, text);
	expect(type, &nil, VALUE_GO, "nil");
}

struct swiss_group {
	uint8_t control[8];
	struct {
		struct capture_string key;
		int64_t value;
	} slots[8];
};

static void test_swiss_map(void **state)
{
	struct swiss_group group = {
		.control = {0x12, 0x80, 0x7f, 0xfe, 0x80, 0x80, 0x80, 0x80},
		.slots = {{{"a", 1}, 1}, {{"x", 1}, 9}, {{"b", 1}, 2}},
	};
	uint64_t table[4] = {0, 0, (uintptr_t)&group, 1};
	uint64_t *directory[] = {table};
	uint64_t header[6] = {2, 0, (uintptr_t)&group, 0}, *at = header, *nil = NULL;
	const struct gotype *type =
		capture_map(&capture, "map[string]int", "string", basic("int"), true);

	(void)state;
	expect(type, &at, VALUE_GO, "map[string]int(len 2)");
	expect(type, &nil, VALUE_GO, "nil");
	expect_json(type, &at, "\"map[string]int(len 2)\"");
	capture.limits.follow = true;
	expect(type, &at, VALUE_GO, "map[string]int(len 2)");
	expect(type, &at, VALUE_DEEP, "map[string]int{\"a\":1, \"b\":2}");
	header[0] = 20;
	header[2] = (uintptr_t)directory;
	header[3] = 1;
	expect(type, &at, VALUE_DEEP, "map[string]int{\"a\":1, \"b\":2, ...}");
	table[2] = 0x1000;
	expect(type, &at, VALUE_DEEP, "map[string]int{...}");
	at = (void *)0x1000;
	expect(type, &at, VALUE_DEEP, "<fault>");
}

static void test_old_map(void **state)
{
	struct {
		uint8_t tops[8];
		int64_t keys[8];
		uint8_t values[8];
		void *overflow;
	} bucket = {{9, 1, 0x80}, {7, 6, -5}, {1, 1, 0}, NULL};
	uint64_t header[6] = {2, 0, (uintptr_t)&bucket}, *at = header;
	const struct gotype *type;

	(void)state;
	with(&FOLLOW);
	type = capture_map(&capture, "map[int]bool", "int", basic("bool"), false);
	expect(type, &at, VALUE_DEEP, "map[int]bool{7:true, -5:false}");
	header[0] = header[2] = 0;
	expect(type, &at, VALUE_DEEP, "map[int]bool{}");
}

static void test_durations(void **state)
{
	static const struct {
		int64_t ns;
		const char *text;
	} rows[] = {
		{0, "0s"},
		{1, "1ns"},
		{1100, "1.1\u00b5s"},
		{2200000, "2.2ms"},
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
	expect_json(type, &rows[4].ns, "1500000000");
}

static void test_times(void **state)
{
	static const struct {
		uint64_t wall, ext;
		const char *text;
	} rows[] = {
		{0, 0, "0001-01-01T00:00:00Z"},
		{0, 62135596800, "1970-01-01T00:00:00Z"},
		{500000000, 62135596800 + 951782400, "2000-02-29T00:00:00.5Z"},
		{1, 62135596800 - 1, "1969-12-31T23:59:59.000000001Z"},
		{1ull << 63 | 4398046511ull << 30 | 123456789, 77,
		 "2024-05-15T07:35:11.123456789Z"},
		{0, 62135596800 + 253402300799, "9999-12-31T23:59:59Z"},
		{0, -1ull, "0000-12-31T23:59:59Z"},
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
	char *text = printed(capture_value(&capture, type, far), VALUE_GO);

	free(text);
	expect(type, none, VALUE_GO, "time.Time{wall:18446744073709551615, ext:5, loc:nil}");
	expect_json(type, (uint64_t[3]){0}, "\"0001-01-01T00:00:00Z\"");
}

static void expect_held(const struct gotype *type, bool direct, const void *data,
			enum value_style style, const char *expected)
{
	struct capture_interface iface = {capture_rtype(&capture, type, direct), data};

	expect(basic("any"), &iface, style, expected);
}

static void test_interfaces(void **state)
{
	const int64_t n = 42, duration = 1500000000;
	const double half = 0.5;
	const struct capture_string s = {"Hello, BPF!", 11};
	const int64_t numbers[] = {1, 2};
	const struct capture_slice list = {numbers, 2, 2}, none = {NULL, 0, 0};
	const struct capture_interface nil = {0, NULL}, unknown = {0x77, &n};
	const struct gotype_field fields[] = {{.name = "N", .type = basic("int")}};
	const struct gotype *type = capture_struct(&capture, "main.T", 1, fields);

	(void)state;
	expect(basic("any"), &nil, VALUE_GO, "nil");
	expect(basic("any"), &nil, VALUE_PLAIN, "nil");
	expect_json(basic("any"), &nil, "null");
	expect(basic("any"), &unknown, VALUE_GO, "<type 0x77>");
	expect_held(basic("int"), false, &n, VALUE_GO, "42");
	expect_held(basic("float64"), false, &half, VALUE_GO, "0.5");
	expect_held(basic("string"), false, &s, VALUE_PLAIN, "\"Hello, BPF!\"");
	expect_held(basic("string"), false, &s, VALUE_TEXT, "Hello, BPF!");
	expect_held(capture_defined(&capture, "main.Color", "int"), false, &n, VALUE_GO,
		    "main.Color(42)");
	expect_held(capture_defined(&capture, "main.Name", "string"), false, &s, VALUE_GO,
		    "main.Name(\"Hello, BPF!\")");
	expect_held(capture_defined(&capture, "main.Name", "string"), false, &s, VALUE_TEXT,
		    "Hello, BPF!");
	expect_held(capture_defined(&capture, "time.Duration", "int64"), false, &duration, VALUE_GO,
		    "1.5s");
	expect_held(slice(basic("int")), false, &list, VALUE_GO, "[]int{1, 2}");
	expect_held(slice(basic("int")), false, &none, VALUE_GO, "[]int(nil)");
	expect_held(type, false, &n, VALUE_GO, "main.T{N:42}");
	expect_held(pointer(type), true, NULL, VALUE_GO, "(*main.T)(nil)");
	expect_held(pointer(type), true, &n, VALUE_DEEP, "&main.T{N:42}");
	expect_held(pointer(type), true, (void *)0x1000, VALUE_GO, "(*main.T)(0x1000)");
	expect_held(pointer(type), true, (void *)0x1000, VALUE_DEEP, "(*main.T)(0x1000)");
	expect_held(basic("int"), false, (void *)0x1000, VALUE_GO, "<fault>");
}

static void test_direct_interfaces(void **state)
{
	const uint64_t closure[] = {0x901000}, header[6] = {5};
	const struct gotype *map =
		capture_map(&capture, "map[string]int", "string", basic("int"), true);
	const struct gotype_field fields[] = {{.name = "P", .type = pointer(basic("int"))}};
	const struct gotype *holder = capture_struct(&capture, "main.P", 1, fields);
	struct gotype *func = gotypes_add(capture.types, GOTYPE_FUNC, "func()");
	struct gotype *chan = gotypes_add(capture.types, GOTYPE_CHAN, "chan int");

	(void)state;
	func->size = chan->size = 8;
	expect_held(map, true, header, VALUE_GO, "map[string]int(len 5)");
	expect_held(map, true, NULL, VALUE_GO, "map[string]int(nil)");
	expect_held(func, true, closure, VALUE_GO, "main.main.func1");
	expect_held(func, true, NULL, VALUE_GO, "(func())(nil)");
	expect_held(chan, true, (void *)0xc000100000, VALUE_GO, "(chan int)(0xc000100000)");
	expect_held(holder, true, (void *)0xc000100000, VALUE_GO, "main.P{P:0xc000100000}");
	expect_held(basic("unsafe.Pointer"), true, (void *)0x10, VALUE_GO, "unsafe.Pointer(0x10)");
}

/* two interfaces, a string or two before them: most errors there are */
struct error_value {
	struct capture_string first, second;
	struct capture_interface source, addr, err;
};

static struct capture_itab itabs[8];

static struct capture_interface error_of(int index, const struct gotype *type, bool direct,
					 const void *data)
{
	itabs[index].rtype = capture_rtype(&capture, type, direct);
	return (struct capture_interface){(uintptr_t)&itabs[index], data};
}

static void expect_error(struct capture_interface err, const char *plain, const char *go)
{
	expect(basic("error"), &err, VALUE_PLAIN, plain);
	expect(basic("error"), &err, VALUE_TEXT, plain);
	expect(basic("error"), &err, VALUE_GO, go);
	expect(basic("error"), &err, VALUE_DEEP, go);
}

static const struct gotype *error_string(void)
{
	const struct gotype_field fields[] = {{.name = "s", .type = basic("string")}};

	return pointer(capture_struct(&capture, "errors.errorString", 1, fields));
}

static void test_errors(void **state)
{
	struct capture_string text = {"no such\nkey", 11};
	const uint64_t number = 2, odd = 9999;
	const struct gotype *errno_type = capture_defined(&capture, "syscall.Errno", "uintptr");
	const struct gotype *exceeded =
		capture_struct(&capture, "context.deadlineExceededError", 0, NULL);

	(void)state;
	expect_error(error_of(0, error_string(), true, &text), "no such\\nkey",
		     "*errors.errorString(\"no such\\nkey\")");
	expect_error(error_of(1, errno_type, false, &number), "no such file or directory",
		     "syscall.Errno(\"no such file or directory\")");
	expect_error(error_of(1, errno_type, false, &odd), "errno 9999",
		     "syscall.Errno(\"errno 9999\")");
	expect_error(error_of(2, exceeded, false, &odd), "context deadline exceeded",
		     "context.deadlineExceededError(\"context deadline exceeded\")");
	struct capture_interface err = error_of(0, error_string(), true, &text), none = {0, NULL};

	expect_json(basic("error"), &err, "\"no such\\nkey\"");
	expect(basic("error"), &none, VALUE_PLAIN, "nil");
	expect(errno_type, &number, VALUE_PLAIN, "no such file or directory");
	expect(errno_type, &number, VALUE_GO, "2");
}

static void test_errors_within(void **state)
{
	const uint64_t number = 111;
	struct capture_string text = {"EOF", 3};
	const struct gotype_field path[] = {{.name = "Op", .type = basic("string")},
					    {.name = "Path", .type = basic("string")},
					    {.name = "Err", .type = basic("error")}};
	const struct gotype_field syscall[] = {{.name = "Syscall", .type = basic("string")},
					       {.name = "Err", .type = basic("error")}};
	struct {
		struct capture_string op, path;
		struct capture_interface err;
	} value = {{"open", 4}, {"/x y", 4}, error_of(0, error_string(), true, &text)};
	struct {
		struct capture_string call;
		struct capture_interface err;
	} call = {{"connect", 7}, {0, NULL}};
	const struct gotype *os = pointer(capture_struct(&capture, "os.SyscallError", 2, syscall));

	(void)state;
	call.err =
		error_of(1, capture_defined(&capture, "syscall.Errno", "uintptr"), false, &number);
	expect_error(error_of(2, pointer(capture_struct(&capture, "fs.PathError", 3, path)), true,
			      &value),
		     "open /x y: EOF", "*fs.PathError(\"open /x y: EOF\")");
	expect_error(error_of(3, os, true, &call), "connect: connection refused",
		     "*os.SyscallError(\"connect: connection refused\")");
	/* what is within what is within is not read */
	value.err = error_of(3, os, true, &call);
	expect(basic("error"),
	       (struct capture_interface[]){
		       error_of(2, pointer(capture_struct(&capture, "fs.PathError", 3, path)), true,
				&value)},
	       VALUE_PLAIN, "open /x y: connect: ...");
}

static void test_net_error(void **state)
{
	struct gotype addr = *basic("error");
	const struct gotype_field fields[] = {{.name = "Op", .type = basic("string")},
					      {.name = "Net", .type = basic("string")},
					      {.name = "Source", .type = &addr},
					      {.name = "Addr", .type = &addr},
					      {.name = "Err", .type = basic("error")}};
	struct capture_string text = {"i/o timeout", 11};
	struct error_value value = {{"dial", 4}, {"tcp", 3}, {0, NULL}, {0, NULL}, {0, NULL}};
	const struct gotype *type;

	(void)state;
	addr.name = "net.Addr";
	type = pointer(capture_struct(&capture, "net.OpError", 5, fields));
	value.err = error_of(0, error_string(), true, &text);
	expect_error(error_of(1, type, true, &value), "dial tcp: i/o timeout",
		     "*net.OpError(\"dial tcp: i/o timeout\")");
	value.addr = value.err;
	expect_error(error_of(1, type, true, &value), "dial tcp ...: i/o timeout",
		     "*net.OpError(\"dial tcp ...: i/o timeout\")");
	value.source = value.err;
	expect_error(error_of(1, type, true, &value), "dial tcp ...->...: i/o timeout",
		     "*net.OpError(\"dial tcp ...->...: i/o timeout\")");
}

static void test_errors_by_value(void **state)
{
	const struct gotype_field fields[] = {{.name = "Code", .type = basic("int")}};
	const int64_t code = 7;
	const struct gotype *type = capture_struct(&capture, "main.Failure", 1, fields);
	const struct gotype *kind = capture_defined(&capture, "main.Kind", "int");
	/* another type of a known name: its fields do not fit */
	const struct gotype *other = capture_struct(&capture, "fs.PathError", 1, fields);
	struct capture_interface nil = {1, NULL};

	(void)state;
	struct capture_interface err = error_of(0, pointer(type), true, &code);

	expect(basic("error"), &err, VALUE_PLAIN, "*main.Failure{Code:7}");
	expect(basic("error"), &err, VALUE_GO, "*main.Failure{Code:7}");
	expect(basic("error"), &err, VALUE_DEEP, "&main.Failure{Code:7}");
	expect_json(basic("error"), &err, "\"*main.Failure{Code:7}\"");
	expect(basic("error"), (struct capture_interface[]){error_of(1, type, false, &code)},
	       VALUE_PLAIN, "main.Failure{Code:7}");
	expect(basic("error"), (struct capture_interface[]){error_of(2, kind, false, &code)},
	       VALUE_PLAIN, "main.Kind(7)");
	expect(basic("error"),
	       (struct capture_interface[]){error_of(3, pointer(other), true, &code)}, VALUE_PLAIN,
	       "*fs.PathError{Code:7}");
	nil = error_of(0, pointer(type), true, NULL);
	expect(basic("error"), &nil, VALUE_PLAIN, "(*main.Failure)(nil)");
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
	shape.holes = 1 << 3;
	expect_shape(&shape, VALUE_GO, "<float in register>");
}

/* nothing but what the record has is read, whatever it says itself */
static void test_hostile(void **state)
{
	const struct gotype_field fields[] = {
		{.name = "s", .type = basic("string")},
		{.name = "l", .type = slice(basic("string"))},
		{.name = "e", .type = basic("error")},
		{.name = "m",
		 .type = capture_map(&capture, "map[int]any", "int", basic("any"), true)},
		{.name = "p", .type = pointer(basic("string"))},
	};
	const struct gotype *type = capture_struct(&capture, "main.T", 5, fields);
	uint32_t end = 0;
	uint64_t random = 88172645463325252ull;
	const struct shape *shape = shape_new(capture.types, type, &FOLLOW, &end);

	(void)state;
	capture_rtype(&capture, error_string(), true);
	capture.source.limits = FOLLOW;
	uint8_t *record = malloc(end); /* the sanitizer sees what lies beyond */

	for (int round = 0; round < 2000; round++) {
		for (uint32_t i = 0; i < end; i++) {
			random = random * 6364136223846793005ull + 1442695040888963407ull;
			record[i] = random >> 60 ? (uint8_t)(random >> 33 & 7) : random >> 40;
		}
		memcpy(record + end / 2, (uint64_t[]){0x1000}, 8);
		capture.source.record = record;
		capture.source.len = round % 3 ? end : (uint32_t)(random >> 32) % end;
		for (enum value_style style = VALUE_PLAIN; style <= VALUE_TEXT; style++)
			free(printed(shape, style));
	}
	free(record);
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
		cmocka_unit_test_setup_teardown(test_integers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_floats, setup, teardown),
		cmocka_unit_test_setup_teardown(test_strings, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unreadable_strings, setup, teardown),
		cmocka_unit_test_setup_teardown(test_slices, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bytes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_arrays, setup, teardown),
		cmocka_unit_test_setup_teardown(test_structs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pointers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_funcs_and_chans, setup, teardown),
		cmocka_unit_test_setup_teardown(test_swiss_map, setup, teardown),
		cmocka_unit_test_setup_teardown(test_old_map, setup, teardown),
		cmocka_unit_test_setup_teardown(test_durations, setup, teardown),
		cmocka_unit_test_setup_teardown(test_times, setup, teardown),
		cmocka_unit_test_setup_teardown(test_interfaces, setup, teardown),
		cmocka_unit_test_setup_teardown(test_direct_interfaces, setup, teardown),
		cmocka_unit_test_setup_teardown(test_errors, setup, teardown),
		cmocka_unit_test_setup_teardown(test_errors_within, setup, teardown),
		cmocka_unit_test_setup_teardown(test_net_error, setup, teardown),
		cmocka_unit_test_setup_teardown(test_errors_by_value, setup, teardown),
		cmocka_unit_test_setup_teardown(test_holes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hostile, setup, teardown),
		cmocka_unit_test_setup_teardown(test_int, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
