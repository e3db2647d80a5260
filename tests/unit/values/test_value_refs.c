// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "value_expect.h"
#include "unit.h"

static const struct shape_limits FOLLOW = {.string_max = 40, .record_max = 8192, .follow = true};

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
	expect_json(type, &at, "\"map[string]int{\\\"a\\\":1, \\\"b\\\":2}\"");
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
	expect_with(&FOLLOW);
	type = capture_map(&capture, "map[int]bool", "int", basic("bool"), false);
	expect(type, &at, VALUE_DEEP, "map[int]bool{7:true, -5:false}");
	header[0] = header[2] = 0;
	expect(type, &at, VALUE_DEEP, "map[int]bool{}");
}

static void expect_pair(uint64_t first, uint64_t second, const char *expected, const char *json)
{
	const uint64_t words[] = {first, second};
	struct gotype *type = gotypes_add(capture.types, GOTYPE_PAIR, "");

	type->size = 16;
	type->align = 8;
	expect(type, words, VALUE_GO, expected);
	if (json)
		expect_json(type, words, json);
}

static uint64_t address(const void *at)
{
	return (uintptr_t)at;
}

/* text is a guess, and said to be one; what else two words may be is shown as the words */
static void test_pairs(void **state)
{
	static const char text[] = "Hello, \"BPF\"\n", binary[] = "\1\2\3\0\0\0\0\0",
			  white[] = "\n\t";
	static const char wide[] = "0123456789012345678901234567890123456789\xc3\xbcml\xc3\xa4ut";
	char expected[80], numbers[80];

	(void)state;
	expect_pair(address(text), 13, "?\"Hello, \\\"BPF\\\"\\n\"",
		    "{\"guess\":\"Hello, \\\"BPF\\\"\\n\"}");
	expect_pair(address(text), 5, "?\"Hello\"", "{\"guess\":\"Hello\"}");
	/* longer than what is read */
	expect_pair(address(wide), 1 << 20, "?\"0123456789012345678901234567890123456789\"...",
		    "{\"guess\":\"0123456789012345678901234567890123456789...\"}");
	/* a character is cut in two */
	expect_pair(address(wide + 1), 47, "?\"123456789012345678901234567890123456789\"...", NULL);
	expect_pair(0, 0, "{0x0, 0x0}", "[0,0]");
	expect_pair(1, 2, "{0x1, 0x2}", "[1,2]");
	expect_pair(0x1000, 3, "{0x1000, 0x3}", "[4096,3]");
	for (uint64_t len = 1; len <= 8; len++) {
		snprintf(expected, sizeof(expected), "{0x%" PRIx64 ", 0x%" PRIx64 "}",
			 address(binary), len);
		snprintf(numbers, sizeof(numbers), "[%" PRIu64 ",%" PRIu64 "]", address(binary),
			 len);
		expect_pair(address(binary), len, expected, numbers);
	}
	snprintf(expected, sizeof(expected), "{0x%" PRIx64 ", 0x2}", address(white));
	expect_pair(address(white), 2, expected, NULL);
	/* no process holds so long a text */
	snprintf(expected, sizeof(expected), "{0x%" PRIx64 ", 0xffffffffffffffff}", address(wide));
	expect_pair(address(wide), UINT64_MAX, expected, NULL);
	snprintf(expected, sizeof(expected), "{0x%" PRIx64 ", 0x0}", address(text));
	expect_pair(address(text), 0, expected, NULL);
}

/* a type in the first word makes them an interface, unless there is nothing of it to be seen */
static void test_pairs_of_types(void **state)
{
	const int64_t n = 42;
	uint64_t rtype, pointer_rtype;
	char expected[80];

	(void)state;
	rtype = capture_rtype(&capture, basic("int"), false);
	pointer_rtype = capture_rtype(&capture, pointer(basic("int")), true);
	expect_pair(rtype, address(&n), "42", "42");
	expect_pair(pointer_rtype, 0x1000, "(*int)(0x1000)", "\"(*int)(0x1000)\"");
	snprintf(expected, sizeof(expected), "{0x%" PRIx64 ", 0x1000}", rtype);
	expect_pair(rtype, 0x1000, expected, NULL);
	snprintf(expected, sizeof(expected), "{0x%" PRIx64 ", 0x0}", rtype);
	expect_pair(rtype, 0, expected, NULL);
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
	const struct capture_slice list = {numbers, 2, 2}, none = {NULL, 0, 0}, texts = {&s, 1, 1};
	const struct capture_interface nil = {0, NULL}, unknown = {0x77, &n};
	const struct gotype_field fields[] = {{.name = "N", .type = basic("int")}};
	const struct gotype *type = capture_struct(&capture, "main.T", 1, fields);
	char address[40];

	(void)state;
	expect(basic("any"), &nil, VALUE_GO, "nil");
	expect(basic("any"), &nil, VALUE_PLAIN, "nil");
	expect_json(basic("any"), &nil, "null");
	expect(basic("any"), &unknown, VALUE_GO, "<unknown type>");
	expect(basic("any"), (struct capture_interface[]){{UINT64_MAX, &n}}, VALUE_GO, "<fault>");
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
	expect_held(slice(basic("string")), false, &texts, VALUE_GO, "[]string{...}");
	expect_held(slice(basic("int")), false, &none, VALUE_GO, "[]int(nil)");
	expect_held(type, false, &n, VALUE_GO, "main.T{N:42}");
	expect_held(pointer(type), true, NULL, VALUE_GO, "(*main.T)(nil)");
	snprintf(address, sizeof(address), "(*main.T)(%p)", (const void *)&n);
	expect_held(pointer(type), true, &n, VALUE_GO, address);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_pointers, expect_setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_funcs_and_chans, expect_setup,
						expect_teardown),
		cmocka_unit_test_setup_teardown(test_swiss_map, expect_setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_old_map, expect_setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_pairs, expect_setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_pairs_of_types, expect_setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_interfaces, expect_setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_direct_interfaces, expect_setup,
						expect_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
