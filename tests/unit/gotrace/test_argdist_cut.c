// SPDX-License-Identifier: Apache-2.0
/* Which values in a key of goargdist's are not whole. */
#include "unit.h"

#include <string.h>

#include "bpf-src/shared/trace.h"
#include "capture.h"
#include "gotrace/argdist_internal.h"

enum { STRING_MAX = 16, STATE = CAPTURE_RECORD - 8 };

static struct capture capture;

static int begin(void **state)
{
	const struct shape_limits limits = {.string_max = STRING_MAX, .record_max = 8192};

	(void)state;
	capture_init(&capture, &limits);
	return 0;
}

static int end(void **state)
{
	(void)state;
	capture_free(&capture);
	return 0;
}

/* Of a PROBE whose EXPRs are a number, and this value in a list or by itself */
static bool is_cut_in(const struct shape *shape, bool list, int64_t read)
{
	struct tracegen_arg value = {
		.kind = TRACEGEN_VALUE, .shape = (struct shape *)shape, .at = STATE};
	struct tracegen_arg all = {.kind = TRACEGEN_LIST, .items = &value, .count = 1};
	struct tracegen_arg args[] = {{.kind = TRACEGEN_NUMBER}, list ? all : value};
	const struct traceplan_item item = {.args = args, .arg_count = 2};
	const struct traceprint_event event = {
		.item = &item, .record = capture.record, .record_len = CAPTURE_RECORD};

	memcpy(capture.record + STATE, &read, sizeof(read));
	return argdist_is_cut(&event);
}

static void expect(const struct gotype *type, const void *value, bool is_cut)
{
	const struct shape *shape = capture_value(&capture, type, value);

	assert_int_equal(is_cut_in(shape, false, 8), is_cut);
	assert_int_equal(is_cut_in(shape, true, 0), is_cut);
	assert_false(is_cut_in(shape, false, TRACE_FAULT)); /* it was not read at all */
}

static void test_strings(void **state)
{
	static const char text[] = "0123456789abcdefgh";
	const struct gotype *type = gotypes_basic(capture.types, "string");
	const struct capture_string whole = {text, STRING_MAX}, cut = {text, STRING_MAX + 1},
				    empty = {NULL, 0}, unread = {(void *)0x1000, STRING_MAX + 1};

	(void)state;
	expect(type, &whole, false);
	expect(type, &cut, true);
	expect(type, &empty, false);
	expect(type, &unread, false); /* <fault> is printed of it, and not of another */
}

/* Of elements without strings as many as there is room for; of others fewer */
static void test_slices(void **state)
{
	static const uint64_t numbers[16];
	static const struct capture_string strings[16] = {{"short", 5}};
	const struct gotype *ints =
		gotypes_slice(capture.types, gotypes_basic(capture.types, "int"));
	const struct gotype *texts =
		gotypes_slice(capture.types, gotypes_basic(capture.types, "string"));
	const struct capture_slice whole = {numbers, SHAPE_ELEMS, 16},
				   cut = {numbers, SHAPE_ELEMS + 1, 16}, one = {strings, 1, 16},
				   many = {strings, SHAPE_ELEMS + 1, 16};

	(void)state;
	expect(ints, &whole, false);
	expect(ints, &cut, true);
	expect(texts, &one, false);
	expect(texts, &many, true);
}

/* A string in an element, or in a field */
static void test_within(void **state)
{
	static const struct capture_string strings[] = {{"short", 5}, {"0123456789abcdefgh", 18}};
	const struct gotype *text = gotypes_basic(capture.types, "string");
	const struct gotype_field fields[] = {{.name = "A", .type = text},
					      {.name = "B", .type = text}};
	const struct gotype *pair = capture_struct(&capture, "main.P", 2, fields);
	const struct capture_slice one = {strings, 1, 2}, both = {strings, 2, 2};
	const struct capture_string fit[] = {{"short", 5}, {"short", 5}};

	(void)state;
	expect(gotypes_slice(capture.types, text), &one, false);
	expect(gotypes_slice(capture.types, text), &both, true);
	expect(pair, strings, true);
	expect(pair, fit, false);
}

/* In an interface a string is cut where it fills its room. */
static void test_interfaces(void **state)
{
	static const struct capture_string whole = {"0123456", 7}, cut = {"0123456789abcdefgh", 18};
	struct gotype *type = gotypes_add(capture.types, GOTYPE_INTERFACE, "interface {}");
	uint64_t rtype = capture_rtype(&capture, gotypes_basic(capture.types, "string"), false);
	const struct capture_interface holds = {rtype, &whole}, holds_cut = {rtype, &cut},
				       nil = {0, NULL};

	(void)state;
	type->size = 16;
	type->align = 8;
	expect(type, &holds, false);
	expect(type, &holds_cut, true);
	expect(type, &nil, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_strings, begin, end),
		cmocka_unit_test_setup_teardown(test_slices, begin, end),
		cmocka_unit_test_setup_teardown(test_within, begin, end),
		cmocka_unit_test_setup_teardown(test_interfaces, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
