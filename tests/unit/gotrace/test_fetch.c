// SPDX-License-Identifier: Apache-2.0
/* What generated code computes and reads, compiled for this side: the program's memory is made up.
 */
#include <string.h>

#include "unit.h"

#define STRING_MAX 16

#include "bpf-src/parts/fetch.h"

enum { SIZE = 0x1000, AT = FAKEMEM_BASE + 0x100, NOWHERE = FAKEMEM_BASE + SIZE };

static int begin(void **state)
{
	(void)state;
	fakemem_begin(SIZE);
	for (size_t i = 0; i < 64; i++)
		fakemem.bytes[AT - FAKEMEM_BASE + i] = (uint8_t)(i + 1);
	return 0;
}

/* A value, and the state that was found with it; a state that was there before stays. */
#define EXPECT(call, value, state)                                                                 \
	do {                                                                                       \
		s64 bad = 0;                                                                       \
		assert_int_equal((s64)(call), (s64)(value));                                       \
		assert_int_equal(bad, (state));                                                    \
		bad = TRACE_FAULT;                                                                 \
		(void)(call);                                                                      \
		assert_int_equal(bad, TRACE_FAULT);                                                \
	} while (0)

static void test_division(void **state)
{
	(void)state;
	EXPECT(divide_unsigned(&bad, 17, 5), 3, 0);
	EXPECT(divide_unsigned(&bad, UINT64_MAX, 2), INT64_MAX, 0);
	EXPECT(divide_unsigned(&bad, 17, 0), 0, TRACE_BOUNDS);
	EXPECT(modulo_unsigned(&bad, 17, 5), 2, 0);
	EXPECT(modulo_unsigned(&bad, 17, 0), 0, TRACE_BOUNDS);
	/* as C and Go have it: towards 0, the rest has the sign of what is divided */
	EXPECT(divide_signed(&bad, 17, 5), 3, 0);
	EXPECT(divide_signed(&bad, -17, 5), -3, 0);
	EXPECT(divide_signed(&bad, 17, -5), -3, 0);
	EXPECT(divide_signed(&bad, -17, -5), 3, 0);
	EXPECT(divide_signed(&bad, 0, -5), 0, 0);
	EXPECT(divide_signed(&bad, INT64_MIN, -1), INT64_MIN, 0);
	EXPECT(divide_signed(&bad, -17, 0), 0, TRACE_BOUNDS);
	EXPECT(modulo_signed(&bad, 17, 5), 2, 0);
	EXPECT(modulo_signed(&bad, -17, 5), -2, 0);
	EXPECT(modulo_signed(&bad, 17, -5), 2, 0);
	EXPECT(modulo_signed(&bad, -17, 0), 0, TRACE_BOUNDS);
}

static void test_shifts(void **state)
{
	(void)state;
	assert_int_equal(shift_right_unsigned(UINT64_MAX, 63), 1);
	assert_int_equal(shift_right_unsigned(UINT64_MAX, 64), 0);
	assert_int_equal(shift_right_unsigned(12, 0), 12);
	assert_int_equal(shift_right_signed(-12, 1), -6);
	assert_int_equal(shift_right_signed(-12, 64), -1);
	assert_int_equal(shift_right_signed(12, UINT64_MAX), 0);
	assert_int_equal(shift_right_signed(INT64_MIN, 63), -1);
	assert_int_equal(shift_right_signed(INT64_MIN, 62), -2);
}

static void test_bounds(void **state)
{
	(void)state;
	EXPECT(element(&bad, 100, 2, 3, 8), 116, 0);
	EXPECT(element(&bad, 100, 3, 3, 8), 124, TRACE_BOUNDS);
	EXPECT(element(&bad, 100, UINT64_MAX, 3, 8), 92, TRACE_BOUNDS);
	EXPECT(slice_end(&bad, 1, 3, 5), 3, 0);
	EXPECT(slice_end(&bad, 0, 9, 5), 5, 0);
	EXPECT(slice_end(&bad, 5, 5, 5), 5, 0);
	EXPECT(slice_end(&bad, 0, 0, 5), 0, 0);
	EXPECT(slice_end(&bad, 4, 3, 5), 4, TRACE_BOUNDS);
	EXPECT(slice_end(&bad, 6, 9, 5), 6, TRACE_BOUNDS);
	EXPECT(slice_end(&bad, 1, -1, 5), 1, TRACE_BOUNDS);
	EXPECT(slice_end(&bad, -2, 3, 5), -2, TRACE_BOUNDS);
	assert_int_equal(slice_state(8, 5), 5);
	assert_int_equal(slice_state(5, 8), 5);
	assert_int_equal(slice_state(TRACE_NIL, 5), TRACE_NIL);
	assert_int_equal(slice_state(0, 5), 0);
}

static void test_words(void **state)
{
	(void)state;
	EXPECT(fetch_word(&bad, 2, AT), 0x0201, 0);
	EXPECT(fetch_word(&bad, 8, AT), 0x0807060504030201, 0);
	s64 bad = 0;

	assert_int_equal(fetch_word(&bad, 8, NOWHERE), 0);
	assert_int_equal(bad, TRACE_FAULT);
	bad = TRACE_NIL;
	fetch_word(&bad, 8, NOWHERE);
	assert_int_equal(bad, TRACE_NIL);
	bad = 0;
	must_not_be_nil(&bad, 1);
	assert_int_equal(bad, 0);
	must_not_be_nil(&bad, 0);
	assert_int_equal(bad, TRACE_NIL);
	bad = TRACE_BOUNDS;
	must_not_be_nil(&bad, 0);
	assert_int_equal(bad, TRACE_BOUNDS);
}

/* Registers are lost if the function was resumed at its start, where BX still points. */
static void test_kept(void **state)
{
	struct pt_regs regs = {.ip = 0x1010, .bx = 0x1000};
	struct hit hit = {.restart = (u64)-0x10};
	s64 bad = 0;

	(void)state;
	must_be_kept(&bad, &regs, &hit);
	assert_int_equal(bad, TRACE_ABSENT);
	bad = 0;
	regs.bx++;
	must_be_kept(&bad, &regs, &hit);
	assert_int_equal(bad, 0);
	regs.bx = regs.ip;
	hit.restart = 0; /* it cannot be */
	must_be_kept(&bad, &regs, &hit);
	assert_int_equal(bad, 0);
}

/* What pointed above the call's frame, into the stack, moves with it. */
static void test_moves(void **state)
{
	struct hit hit = {.sp = 0x9000, .depth = 0x100};

	(void)state;
	assert_int_equal(after_move(&hit, 0x5000, 0x5000), 0x9000);
	assert_int_equal(after_move(&hit, 0x5000, 0x50ff), 0x90ff);
	assert_int_equal(after_move(&hit, 0x5000, 0x5100), 0x5100);
	assert_int_equal(after_move(&hit, 0x5000, 0x4fff), 0x4fff);
	assert_int_equal(after_move(&hit, 0x5000, 0xc000000000), 0xc000000000);
}

static void test_elements(void **state)
{
	char to[32] = {0};

	(void)state;
	assert_int_equal(fetch_object(to, 8, AT), 8);
	assert_int_equal(to[7], 8);
	assert_int_equal(fetch_object(to, 8, 0), TRACE_NIL);
	assert_int_equal(fetch_object(to, 8, NOWHERE), TRACE_FAULT);
	memset(to, 0, sizeof(to));
	assert_int_equal(fetch_elements(to, 16, AT, 3, 4), 12);
	assert_int_equal(to[11], 12);
	assert_int_equal(to[12], 0);
	assert_int_equal(fetch_elements(to, 16, AT, 5, 4), 16);
	assert_int_equal(to[15], 16);
	assert_int_equal(to[16], 0);
	assert_int_equal(fetch_elements(to, 16, AT, UINT64_MAX / 2, 4), 16); /* no overflow */
	assert_int_equal(fetch_elements(to, 16, AT, 0, 4), 0);
	assert_int_equal(fetch_elements(to, 16, 0, 3, 4), TRACE_NIL);
	assert_int_equal(fetch_elements(to, 16, NOWHERE, 3, 4), TRACE_FAULT);
	assert_int_equal(fetch_elements(to, 16, NOWHERE, 0, 4), 0);
}

/* A map of the old kind, or a small one, has its first group at 16; a large one by way of tables.
 */
static void test_groups(void **state)
{
	u64 header[4] = {0, 0, AT, 1};
	char to[8];

	(void)state;
	assert_int_equal(fetch_group(to, 8, (char *)header, false), 8);
	assert_int_equal(to[0], 1);
	header[3] = 0;
	assert_int_equal(fetch_group(to, 8, (char *)header, true), 8);
	assert_int_equal(to[0], 1);
	header[2] = FAKEMEM_BASE; /* to a table */
	header[3] = 1;
	fakemem_put(FAKEMEM_BASE, FAKEMEM_BASE + 0x20);
	fakemem_put(FAKEMEM_BASE + 0x30, AT + 8);
	assert_int_equal(fetch_group(to, 8, (char *)header, true), 8);
	assert_int_equal(to[0], 9);
	fakemem_put(FAKEMEM_BASE + 0x30, 1ULL << 56 | AT); /* all eight bytes count */
	assert_int_equal(fetch_group(to, 8, (char *)header, true), TRACE_FAULT);
	fakemem_put(FAKEMEM_BASE + 0x30, AT);
	fakemem_put(FAKEMEM_BASE, 1ULL << 56 | (FAKEMEM_BASE + 0x20));
	assert_int_equal(fetch_group(to, 8, (char *)header, true), TRACE_FAULT);
	fakemem_put(FAKEMEM_BASE, NOWHERE);
	assert_int_equal(fetch_group(to, 8, (char *)header, true), TRACE_FAULT);
	header[2] = NOWHERE;
	assert_int_equal(fetch_group(to, 8, (char *)header, true), TRACE_FAULT);
	header[2] = header[3] = 0;
	assert_int_equal(fetch_group(to, 8, (char *)header, true), TRACE_NIL);
}

static void test_types(void **state)
{
	struct hit hit = {.bias = 0x100000};
	const u64 itab = FAKEMEM_BASE;

	(void)state;
	fakemem_put(itab, 0x100040);
	fakemem_put(itab + 8, 0x100080);
	assert_int_equal(dynamic_type(0, DYNAMIC_ITAB, &hit), 0);
	assert_int_equal(dynamic_type(0x100020, DYNAMIC_TYPE, &hit), 0x20);
	assert_int_equal(dynamic_type(itab, DYNAMIC_ITAB, &hit), 0x80);
	assert_int_equal(dynamic_type(itab, DYNAMIC_ITAB | DYNAMIC_GCCGO, &hit), 0x40);
	assert_int_equal(dynamic_type(NOWHERE, DYNAMIC_ITAB, &hit), UINT64_MAX);
	EXPECT(holds_type(&bad, itab, DYNAMIC_ITAB, 0x80, &hit), true, 0);
	EXPECT(holds_type(&bad, itab, DYNAMIC_ITAB, 0x40, &hit), false, 0);
	EXPECT(holds_type(&bad, NOWHERE, DYNAMIC_ITAB, 0x80, &hit), false, TRACE_FAULT);
	s64 bad = 0;

	must_hold(&bad, 1, 1);
	assert_int_equal(bad, 0);
	must_hold(&bad, 1, 0);
	assert_int_equal(bad, TRACE_OTHER);
	bad = 0;
	must_hold(&bad, 0, 0);
	assert_int_equal(bad, TRACE_NIL);
}

/* Texts that an object refers to, each behind its state, at most STRING_MAX bytes of it */
static void test_refs(void **state)
{
	struct trace_dyntype type = {.refs = 1, .ref = {{.off = 8, .elem = 2}}};
	char object[TRACE_DYN_OBJECT] = {0}, refs[TRACE_DYN_REFS * (8 + STRING_ROOM)];
	const u64 to = AT, len = 3;

	(void)state;
	memcpy(object + 8, &to, 8);
	memcpy(object + 16, &len, 8);
	memset(refs, 'x', sizeof(refs));
	fetch_refs(object, refs, &type);
	assert_int_equal(*(s64 *)refs, 6);
	assert_int_equal(refs[8 + 5], 6);
	assert_int_equal(refs[8 + 6], 'x');
	for (size_t i = 1; i < TRACE_DYN_REFS; i++)
		assert_int_equal(*(s64 *)(refs + i * (8 + STRING_ROOM)), TRACE_NIL);
	type.ref[0].off = TRACE_DYN_OBJECT - 15; /* it would reach beyond the object */
	fetch_refs(object, refs, &type);
	assert_int_equal(*(s64 *)refs, TRACE_NIL);
	memcpy(object + TRACE_DYN_OBJECT - 16, &to, 8);
	memcpy(object + TRACE_DYN_OBJECT - 8, &len, 8);
	type.ref[0].off = TRACE_DYN_OBJECT - 16;
	fetch_refs(object, refs, &type);
	assert_int_equal(*(s64 *)refs, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_division, begin),
		cmocka_unit_test_setup(test_shifts, begin),
		cmocka_unit_test_setup(test_bounds, begin),
		cmocka_unit_test_setup(test_words, begin),
		cmocka_unit_test_setup(test_kept, begin),
		cmocka_unit_test_setup(test_moves, begin),
		cmocka_unit_test_setup(test_elements, begin),
		cmocka_unit_test_setup(test_groups, begin),
		cmocka_unit_test_setup(test_types, begin),
		cmocka_unit_test_setup(test_refs, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
