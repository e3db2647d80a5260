// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "value_expect.h"
#include "values/format.h"
#include "golang/gotype_internal.h"
#include "unit.h"

enum { COL = 10, FORMAT_MAX = 200 };

static const struct shape_limits LIMITS = {.string_max = 16, .record_max = 4096};

static int setup(void **state)
{
	(void)state;
	capture_init(&capture, &LIMITS);
	return 0;
}

static struct format *parse(const char *text, struct errmsg *err)
{
	unsigned cols[FORMAT_MAX];

	assert_true(strlen(text) < FORMAT_MAX);
	for (unsigned i = 0; i < FORMAT_MAX; i++)
		cols[i] = COL + i;
	return format_parse(text, strlen(text), cols, err);
}

static void expect_format(const char *format_text, const struct format_arg *args, size_t count,
			  const char *expected)
{
	char *text;
	size_t len;
	struct errmsg err = {0};
	struct format *format = parse(format_text, &err);
	FILE *out = open_memstream(&text, &len);

	assert_string_equal(err.text, "");
	assert_int_equal(format_verbs(format), count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(format_check(format, i, &args[i], "x", &err), 0);
	format_print(out, format, args, count, &capture.source);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
	format_free(format);
}

static struct format_arg value(const struct gotype *type, const void *bytes)
{
	return (struct format_arg){.kind = FORMAT_SHAPE,
				   .shape = capture_value(&capture, type, bytes)};
}

static void test_integers(void **state)
{
	static const struct {
		const char *format;
		int64_t number;
		const char *text;
	} rows[] = {
		{"%d", 42, "42"},
		{"%i|", -1, "-1|"},
		{"%5d|", 42, "   42|"},
		{"%-5d|", 42, "42   |"},
		{"%05d|", -42, "-0042|"},
		{"%-05d|", 42, "42   |"},
		{"%+d", 42, "+42"},
		{"%.4d", -7, "-0007"},
		{"%6.4d", -7, " -0007"},
		{"%lld %%", INT64_MIN, "-9223372036854775808 %"},
		{"%hhu", 7, "7"},
		{"%u", -1, "18446744073709551615"},
		{"%x", 255, "ff"},
		{"%08x", 0xbeef, "0000beef"},
		{"%#x", 255, "0xff"},
		{"%X", 255, "FF"},
		{"%o", 8, "10"},
		{"%p", 0xc000012345, "0xc000012345"},
		{"%c", 'a', "a"},
		{"%c", 0xe9, "\u00e9"},
		{"%c", 0x4e16, "\u4e16"},
		{"%c", 0x1f600, "\U0001f600"},
		{"%c", 0x1b, "\\x1b"},
		{"%c", -1, "\ufffd"},
		{"%c", 0xd7ff, "\ud7ff"},
		{"%c", 0xd800, "\ufffd"},
		{"%c", 0xdfff, "\ufffd"},
		{"%c", 0xe000, "\ue000"},
		{"%c", 0x10ffff, "\U0010ffff"},
		{"%c", 0x110000, "\ufffd"},
		{"%c", 0, "\\x00"},
		{"%q", 'a', "'a'"},
		{"%v", -3, "-3"},
		{"a\n%d\tb", 1, "a\n1\tb"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct format_arg arg = {.kind = FORMAT_INT, .number = rows[i].number};

		expect_format(rows[i].format, &arg, 1, rows[i].text);
	}
	struct format_arg arg = {.kind = FORMAT_INT, .number = 1, .is_bool = true};

	expect_format("%t", &arg, 1, "true");
	expect_format("%v", &arg, 1, "true");
	expect_format("%d", &arg, 1, "1");
	arg = (struct format_arg){.kind = FORMAT_INT, .number = -1, .is_unsigned = true};
	expect_format("%d", &arg, 1, "18446744073709551615");
}

/* Only numbers and values are guessed. */
static void test_guesses(void **state)
{
	struct format_arg args[] = {
		{.kind = FORMAT_INT, .number = 7, .is_guess = true},
		{.kind = FORMAT_TEXT, .text = "text", .is_guess = true},
		{.kind = FORMAT_INT, .number = 8},
		value(basic("int8"), "\x09"),
	};

	(void)state;
	args[3].is_guess = true;
	expect_format("%d %s %d %d", args, 4, "?7 text 8 ?9");
}

static void test_typed_integers(void **state)
{
	struct format_arg arg = value(basic("int8"), "\xff");

	(void)state;
	expect_format("%d", &arg, 1, "-1");
	expect_format("%x", &arg, 1, "ff");
	expect_format("%u", &arg, 1, "255");
	expect_format("%4v|", &arg, 1, "  -1|");
	arg = value(basic("bool"), "\x01");
	expect_format("%t", &arg, 1, "true");
	expect_format("%d", &arg, 1, "1");
	arg = value(basic("uintptr"), (uint64_t[]){4096});
	expect_format("%d", &arg, 1, "4096");
	expect_format("%v", &arg, 1, "0x1000");
	arg = value(capture_defined(&capture, "time.Duration", "int64"), (int64_t[]){1500000});
	expect_format("%d", &arg, 1, "1500000");
	expect_format("%v", &arg, 1, "1.5ms");
	expect_format("%8s|", &arg, 1, "   1.5ms|");
	arg = value(gotypes_pointer(capture.types, basic("int")), (uint64_t[]){0xc000012345});
	expect_format("%p", &arg, 1, "0xc000012345");
	expect_format("%x", &arg, 1, "c000012345");
}

static void test_floats(void **state)
{
	const double number = 2.5;
	struct format_arg arg = value(basic("float64"), &number);

	(void)state;
	expect_format("%f", &arg, 1, "2.500000");
	expect_format("%.2f", &arg, 1, "2.50");
	expect_format("%8.2f|", &arg, 1, "    2.50|");
	expect_format("%-8.2f|", &arg, 1, "2.50    |");
	expect_format("%08.2f|", &arg, 1, "00002.50|");
	expect_format("%e", &arg, 1, "2.500000e+00");
	expect_format("%g", &arg, 1, "2.5");
	expect_format("%v", &arg, 1, "2.5");
	const struct {
		double number;
		float narrow;
	} tenth = {0.1, 0.1F};

	arg = value(basic("float64"), &tenth.number);
	expect_format("%g %%", &arg, 1, "0.1 %");
	expect_format("%+G", &arg, 1, "+0.1");
	expect_format("%.3g", &arg, 1, "0.1");
	arg = value(basic("float32"), &tenth.narrow);
	expect_format("%g", &arg, 1, "0.1");
	expect_format("%.10g", &arg, 1, "0.1000000015");
	expect_format("%+08.3f|", &arg, 1, "+000.100|");
	expect_format("%-08.3f|", &arg, 1, "0.100   |");
	struct shape shape = *arg.shape;

	shape.holes = 3;
	arg.shape = &shape;
	expect_format("%.2f", &arg, 1, "<float in register>");
}

static void test_strings(void **state)
{
	static const struct {
		const char *format, *value, *text;
	} rows[] = {
		{"%s", "bob", "bob"},
		{"%5s|", "bob", "  bob|"},
		{"%-5s|", "bob", "bob  |"},
		{"%.2s", "\u00e9\u00e9\u00e9", "\u00e9\u00e9"},
		{"%5s|", "\u00e9", "    \u00e9|"},
		{"%q", "bo\"b", "\"bo\\\"b\""},
		{"%v", "bob", "\"bob\""},
		{"%+v", "bob", "\"bob\""},
		{"%x", "bob", "626f62"},
		{"%X", "\xfe", "FE"},
		{"%s", "a\x1b[2J", "a\\x1b[2J"},
		{"%s", "0123456789abcdefg", "0123456789abcdef..."},
		{"%q", "0123456789abcdefg", "\"0123456789abcdef\"..."},
		{"%.3s", "0123456789abcdefg", "012"},
		{"%x", "0123456789abcdefg", "30313233343536373839616263646566..."},
		/* with a precision it is cut as that asks, but for what was not read */
		{"%.0s|", "bob", "|"},
		{"%.0x|", "bob", "|"},
		{"%.2x", "bob", "626f"},
		{"%.3X", "bob\xfe", "626F62"},
		{"%.4x", "bob", "626f62"},
		{"%.16s", "0123456789abcdefg", "0123456789abcdef..."},
		{"%.16x", "0123456789abcdefg", "30313233343536373839616263646566..."},
		{"%.15x", "0123456789abcdefg", "303132333435363738396162636465"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct capture_string s = {rows[i].value, (int64_t)strlen(rows[i].value)};
		struct format_arg arg = value(basic("string"), &s);

		expect_format(rows[i].format, &arg, 1, rows[i].text);
	}
	struct format_arg arg = {.kind = FORMAT_TEXT, .text = "comm\x1b"};

	expect_format("%s", &arg, 1, "comm\\x1b");
	expect_format("%v", &arg, 1, "\"comm\\x1b\"");
}

static void test_bytes(void **state)
{
	struct capture_slice s = {"a\0b", 3, 3}, nil = {NULL, 0, 0};
	const struct gotype *bytes = gotypes_slice(capture.types, basic("byte"));
	struct format_arg arg = value(bytes, &s);

	(void)state;
	expect_format("%s", &arg, 1, "a\\x00b");
	expect_format("%x", &arg, 1, "610062");
	expect_format("%v", &arg, 1, "[]byte(\"a\\x00b\")");
	arg = value(bytes, &nil);
	expect_format("%s|", &arg, 1, "|");
	expect_format("%v", &arg, 1, "nil");
	expect_format("%p", &arg, 1, "0x0");
	arg = value(gotypes_array(capture.types, basic("byte"), 4), "\x01\x02\x03\xff");
	expect_format("%x", &arg, 1, "010203ff");
	arg = value(basic("string"), &(struct capture_string){(void *)0x1000, 3});
	expect_format("%s", &arg, 1, "<fault>");
	expect_format("%q", &arg, 1, "<fault>");
	expect_format("%x", &arg, 1, "<fault>");
}

/* Of an array, what the record has of it */
static void test_array_cut(void **state)
{
	const int64_t before = 42;

	(void)state;
	value(basic("int"), &before);
	struct format_arg arg =
		value(gotypes_array(capture.types, basic("byte"), 4), "\x01\x02\x03\xff");
	size_t whole = arg.shape->at + 4;

	assert_true(capture.source.len >= whole);
	capture.source.len = whole;
	expect_format("%x", &arg, 1, "010203ff");
	capture.source.len = whole - 1;
	expect_format("%x", &arg, 1, "010203...");
	capture.source.len = whole - 4;
	expect_format("%x|", &arg, 1, "...|");
	capture.source.len = whole - 5;
	expect_format("%x|", &arg, 1, "[4]uint8{..., ..., ..., ...}|");
}

static void test_interfaces(void **state)
{
	const int64_t n = 42;
	const struct capture_string s = {"hi", 2};
	struct capture_interface number = {capture_rtype(&capture, basic("int"), false), &n};
	struct capture_interface text = {capture_rtype(&capture, basic("string"), false), &s};
	struct capture_interface nil = {0, NULL};
	struct format_arg arg = value(basic("any"), &number);

	(void)state;
	expect_format("%d", &arg, 1, "42");
	expect_format("%04x", &arg, 1, "002a");
	expect_format("%v", &arg, 1, "42");
	expect_format("%t", &arg, 1, "42");
	expect_format("%s", &arg, 1, "42"); /* not known before: what it is, is printed */
	arg = value(basic("any"), &text);
	expect_format("%s", &arg, 1, "hi");
	expect_format("%q", &arg, 1, "\"hi\"");
	expect_format("%v", &arg, 1, "\"hi\"");
	expect_format("%d", &arg, 1, "\"hi\"");
	arg = value(basic("any"), &nil);
	expect_format("%s", &arg, 1, "nil");
	expect_format("%d", &arg, 1, "nil");
	arg = value(basic("error"), &nil);
	expect_format("%v", &arg, 1, "nil");
}

static void test_errors_of_the_program(void **state)
{
	static struct capture_itab itab;
	const struct gotype_field fields[] = {{.name = "s", .type = basic("string")}};
	const struct gotype *type = gotypes_pointer(
		capture.types, capture_struct(&capture, "errors.errorString", 1, fields));
	struct capture_string text = {"no \"key\"", 8};
	struct capture_interface err = {(uintptr_t)&itab, &text};

	(void)state;
	itab.rtype = capture_rtype(&capture, type, true);
	struct format_arg arg = value(basic("error"), &err);

	expect_format("%v", &arg, 1, "no \"key\"");
	expect_format("%s", &arg, 1, "no \"key\"");
	expect_format("%.2s", &arg, 1, "no");
	expect_format("%10.2s|", &arg, 1, "        no|");
	expect_format("%q", &arg, 1, "\"no \\\"key\\\"\"");
	expect_format("%#v", &arg, 1, "*errors.errorString(\"no \\\"key\\\"\")");
	arg = value(capture_defined(&capture, "syscall.Errno", "uintptr"), &(uint64_t){2});
	expect_format("%s", &arg, 1, "no such file or directory");
	expect_format("%.2q", &arg, 1, "\"no\"");
}

static void test_others(void **state)
{
	const struct format_arg fault = {.kind = FORMAT_FAULT, .text = "<fault>"}, missing = {0};
	const int64_t n = 3;
	const struct format_list_item items[] = {
		{.name = "n", .shape = capture_value(&capture, basic("int"), &n)},
		{.name = "", .shape = capture_value(&capture, basic("bool"), "\x01")},
		{.name = "~r0", .shape = capture_value(&capture, basic("int"), &n)},
		{.name = "gone"},
		{.name = "cold", .fault = "<fault>"},
	};
	struct format_arg list = {.kind = FORMAT_LIST, .list = items, .list_count = 5};

	(void)state;
	expect_format("%d|", &fault, 1, "<fault>|");
	expect_format("%s|", &missing, 1, "?|");
	expect_format("(%v)", &list, 1, "(n=3 true 3 gone=? cold=<fault>)");
	expect_format("", NULL, 0, "");
	expect_format("100%% sure", NULL, 0, "100% sure");
}

static void test_bad_formats(void **state)
{
	static const struct {
		const char *format, *message;
	} rows[] = {
		{"%", "col 10: the format ends within a verb"},
		{"ab%", "col 12: the format ends within a verb"},
		{"%d %5", "col 13: the format ends within a verb"},
		{"%y", "col 10: unknown verb %y"},
		{"abc %-5k", "col 14: unknown verb %k"},
		{"%\xc3\xa9", "col 10: unknown verb %\u00e9"},
		{"%\x1b", "col 10: unknown verb %\\x1b"},
		{"%*d", "col 10: unknown verb %*"},
		{"%n", "col 10: unknown verb %n"},
		{"%1001d", "col 11: the width is above 1000"},
		{"%99999999999999999999d", "col 11: the width is above 1000"},
		{"%5.2000d", "col 13: the precision is above 1000"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct errmsg err = {0};

		assert_null(parse(rows[i].format, &err));
		assert_string_equal(err.text, rows[i].message);
		if (strstr(err.text, "ends within"))
			assert_string_equal(err.hint, "%% prints a percent sign");
		else if (strstr(err.text, "unknown"))
			assert_string_equal(err.hint,
					    "verbs are %d %i %u %x %X %o %c %t %s %q %v %+v %p %f "
					    "%e %g; %% prints a percent sign");
		else
			assert_string_equal(err.hint, "");
	}
}

static void expect_misfit(const char *text, const struct format_arg *arg, const char *what,
			  const char *message, const char *hint)
{
	struct errmsg err = {0};
	struct format *format = parse(text, &err);

	assert_non_null(format);
	assert_int_equal(format_check(format, format_verbs(format) - 1, arg, what, &err), -1);
	assert_string_equal(err.text, message);
	assert_string_equal(err.hint, hint);
	format_free(format);
}

static void test_misfits(void **state)
{
	static const struct {
		const char *format, *type, *message, *hint;
	} rows[] = {
		{"%d", "string", "col 10: %d does not print a string (x is a string)",
		 "use %s or %v"},
		{"a %% %v %c", "string", "col 18: %c does not print a string (x is a string)",
		 "use %s or %v"},
		{"%s", "int", "col 10: %s does not print an integer (x is an int)", "use %d or %v"},
		{"%t", "uint8", "col 10: %t does not print an integer (x is a uint8)",
		 "use %d or %v"},
		{"%x", "bool", "col 10: %x does not print a bool (x is a bool)", "use %t or %v"},
		{"%d", "float64", "col 10: %d does not print a float (x is a float64)",
		 "use %g, %f or %v"},
		{"%f", "int", "col 10: %f does not print an integer (x is an int)", "use %d or %v"},
		{"%d", "error", "col 10: %d does not print an error (x is an error)",
		 "use %v or %s"},
		{"%s", "unsafe.Pointer",
		 "col 10: %s does not print a pointer (x is an unsafe.Pointer)", "use %p or %v"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct shape shape = {.type = basic(rows[i].type)};
		struct format_arg arg = {.kind = FORMAT_SHAPE, .shape = &shape};

		expect_misfit(rows[i].format, &arg, "x", rows[i].message, rows[i].hint);
	}
	struct format_arg number = {.kind = FORMAT_INT}, text = {.kind = FORMAT_TEXT};
	struct format_arg list = {.kind = FORMAT_LIST};

	expect_misfit("%s", &number, "a+1",
		      "col 10: %s does not print an integer (a+1 is an integer)", "use %d or %v");
	expect_misfit("%d", &text, "$comm",
		      "col 10: %d does not print a string ($comm is a string)", "use %s or %v");
	expect_misfit("%s", &list, "goargs",
		      "col 10: %s does not print a list of values (goargs is a list of values)",
		      "use %v");
}

static void test_more_misfits(void **state)
{
	struct shape shape = {.type = gotypes_slice(capture.types, basic("int"))};
	const struct format_arg arg = {.kind = FORMAT_SHAPE, .shape = &shape};

	(void)state;
	expect_misfit("%s", &arg, "x", "col 10: %s does not print a slice (x is a []int)",
		      "use %v");
	shape.type = capture_struct(&capture, "main.T", 0, NULL);
	expect_misfit("%s", &arg, "x", "col 10: %s does not print a struct (x is a main.T)",
		      "use %v, or print its fields");
	shape.type = capture_map(&capture, "map[int]int", "int", basic("int"), true);
	expect_misfit("%d", &arg, "x", "col 10: %d does not print a map (x is a map[int]int)",
		      "use %v");
}

static void test_follows(void **state)
{
	struct format *format = parse("%v %% %+v %#v %+d", NULL);

	(void)state;
	assert_int_equal(format_verbs(format), 4);
	assert_false(format_follows(format, 0));
	assert_true(format_follows(format, 1));
	assert_false(format_follows(format, 2));
	assert_false(format_follows(format, 3));
	format_free(format);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_integers, setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_typed_integers, setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_guesses, setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_floats, setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_strings, setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_bytes, setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_array_cut, setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_interfaces, setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_errors_of_the_program, setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_others, setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_bad_formats, setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_misfits, setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_more_misfits, setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_follows, setup, expect_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
