// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/abi_internal.h"
#include "abi_rows.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "machine/arch.h"
#include "golang/signature.h"
#include "unit.h"

static void test_registers_amd64(void **state)
{
	static const struct abi_row rows[] = {
		{"()", "", 0, 0},
		{"(a int, b int8, c bool)", "i0 i1 i2", 0, 16},
		{"(a int8, b int64)", "i0 i1", 0, 16},
		{"(a string, b []int, c error, d any)", "i0+i1 i2+i3+i4 i5+i6 i7+i8", 0, 72},
		{"(a string, b []int, c error, d any, e int)", "i0+i1 i2+i3+i4 i5+i6 i7+i8 [0]", 8,
		 80},
		/* what does not fit leaves its registers to those after it */
		{"(a, b, c, d, e, f, g, h int, s string, z int)", "i0 i1 i2 i3 i4 i5 i6 i7 [0] i8",
		 16, 88},
		{"(a float64, b int, c float32, d complex128, e complex64)", "f0 i0 f1 f2+f3 f4+f5",
		 0, 48},
		{"(m map[int]int, c chan int, f func(), p *int, u uintptr)", "i0 i1 i2 i3 i4", 0,
		 40},
		{"(s struct{a int8; b float32; c string})", "i0+f0+i1+i2", 0, 24},
		{"(s struct{a struct{b struct{c int; d int}}; e float64})", "i0+i1+f0", 0, 24},
		{"(a [0]int, b int)", "-0 i0", 0, 8},
		{"(a [1]int, b int)", "i0 i1", 0, 16},
		{"(a [1][1]string, b int)", "i0+i1 i2", 0, 24},
		{"(a [2]int, b int)", "[0] i0", 16, 24},
		{"(a [2]struct{}, b int)", "-0 i0", 0, 8},
		{"(s struct{a int; b [2]int}, c int)", "[0] i0", 24, 32},
		{"(s struct{a int; b [0]int; c struct{}}, d int)", "i0 i1", 0, 24},
		/* an array of two is not passed in registers, even where it has no size */
		{"(s struct{a int; b [2]struct{}}, d int)", "[0] i0", 16, 24},
		{"(s struct{}, a int)", "-0 i0", 0, 8},
		{"(_ int, a int)", "i0 i1", 0, 16},
		{"(a [3]int8, b [2]int32, c [3]int8, d [0]int64)", "[0] [4] [12] -16", 16, 16},
		{"(a [3]int8) (b [3]int8, c [2]int16)", "[0] -> [8] [12]", 16, 16},
		{"(a string) (n int, err error)", "i0+i1 -> i0 i1+i2", 0, 16},
		{"() (a [2]int, b float64, c int)", " -> [0] f0 i0", 16, 16},
		{"(a uint8, b [2]uintptr, c uint8) (d struct{x uintptr; y [2]uintptr}, e string)",
		 "i0 [0] i1 -> [16] i0+i1", 40, 48},
		{"(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p float32)",
		 "f0 f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f11 f12 f13 f14 [0]", 8, 72},
		{"() (a, b, c, d string, e []int, f int)", " -> i0+i1 i2+i3 i4+i5 i6+i7 [0] i8", 24,
		 24},
		{"(t time.Time, d time.Duration)", "i0+i1+i2 i3", 0, 32},
	};

	(void)state;
	abi_rows_check(rows, sizeof(rows) / sizeof(rows[0]), ARCH_AMD64, ABI_REGISTERS);
}

static void test_registers_arm64(void **state)
{
	static const struct abi_row rows[] = {
		{"(a, b, c, d, e, f, g, h string, z int)",
		 "i0+i1 i2+i3 i4+i5 i6+i7 i8+i9 i10+i11 i12+i13 i14+i15 [0]", 8, 136},
		{"(a, b, c, d, e, f, g, h complex128, z float32)",
		 "f0+f1 f2+f3 f4+f5 f6+f7 f8+f9 f10+f11 f12+f13 f14+f15 [0]", 8, 136},
	};

	(void)state;
	abi_rows_check(rows, sizeof(rows) / sizeof(rows[0]), ARCH_ARM64, ABI_REGISTERS);
}

static void test_stack(void **state)
{
	static const struct abi_row rows[] = {
		{"()", "", 0, 0},
		{"(a int, b string) (c int)", "[0] [8] -> [24]", 32, 32},
		{"(a int8, b int16, c int8) (d int8, e error)", "[0] [2] [4] -> [8] [16]", 32, 32},
		{"(a bool) bool", "[0] -> [8]", 16, 16},
		{"(a struct{}, b int8, c [0]int64) int8", "-0 [0] -8 -> [8]", 16, 16},
		{"(a float32, b float64, c [3]int8) complex64", "[0] [8] [16] -> [24]", 32, 32},
	};

	(void)state;
	abi_rows_check(rows, sizeof(rows) / sizeof(rows[0]), ARCH_AMD64, ABI_STACK);
	abi_rows_check(rows, sizeof(rows) / sizeof(rows[0]), ARCH_ARM64, ABI_STACK);
}

static void test_dictionaries(void **state)
{
	static const struct abi_row first = {"(a int, b string)", "i1 i2+i3", 0, 32};
	static const struct abi_row second = {"(a int, b string)", "i0 i2+i3", 0, 32};
	static const struct abi_row last = {"(a int, b string)", "i0 i1+i2", 0, 32};
	static const struct abi_row alone = {"()", "", 0, 8};
	static const struct abi_row full = {"(a, b, c, d string, e, f int)",
					    "i0+i1 i2+i3 i4+i5 i6+i7 i8 [8]", 16, 88};
	static const struct abi_row on_stack = {"(a int8, b string)", "[0] [16]", 32, 32};

	(void)state;
	abi_rows_check_one(&first, ARCH_AMD64, ABI_REGISTERS, 0);
	abi_rows_check_one(&second, ARCH_AMD64, ABI_REGISTERS, 1);
	abi_rows_check_one(&last, ARCH_AMD64, ABI_REGISTERS, 2);
	abi_rows_check_one(&alone, ARCH_AMD64, ABI_REGISTERS, 0);
	abi_rows_check_one(&full, ARCH_AMD64, ABI_REGISTERS, 5);
	abi_rows_check_one(&on_stack, ARCH_AMD64, ABI_STACK, 1);
}

static void test_pieces(void **state)
{
	struct gotypes *types = gotypes_new();
	struct abi_layout layout;
	struct gofunc fn;

	(void)state;
	assert_false(signature_parse(types, NULL,
				     "(s struct{a int8; b complex64; c string; d [1]int16})", &fn,
				     NULL, NULL));
	abi_layout(&fn, ARCH_AMD64, ABI_REGISTERS, &layout);
	static const struct abi_piece pieces[] = {
		{ABI_INT, 0, 0, 1, 0},  {ABI_FLOAT, 0, 4, 4, 0}, {ABI_FLOAT, 1, 8, 4, 0},
		{ABI_INT, 1, 16, 8, 0}, {ABI_INT, 2, 24, 8, 0},  {ABI_INT, 3, 32, 2, 0},
	};

	assert_int_equal(layout.params[0].count, sizeof(pieces) / sizeof(pieces[0]));
	for (size_t i = 0; i < layout.params[0].count; i++) {
		assert_int_equal(layout.params[0].pieces[i].where, pieces[i].where);
		assert_int_equal(layout.params[0].pieces[i].n, pieces[i].n);
		assert_int_equal(layout.params[0].pieces[i].off, pieces[i].off);
		assert_int_equal(layout.params[0].pieces[i].size, pieces[i].size);
	}
	abi_layout_free(&layout);
	gotypes_free(types);
}

/* Where a function keeps parameters that came in registers. */
static void test_slots(void **state)
{
	struct gotypes *types = gotypes_new();
	struct abi_layout layout;
	struct gofunc fn;

	(void)state;
	assert_false(signature_parse(types, NULL, "(a int8, b [2]int, c int32, d string) [2]int",
				     &fn, NULL, NULL));
	abi_layout(&fn, ARCH_AMD64, ABI_REGISTERS, &layout);
	assert_int_equal(layout.params[0].slot, 32);
	assert_int_equal(layout.params[1].slot, 0);
	assert_int_equal(layout.params[2].slot, 36);
	assert_int_equal(layout.params[3].slot, 40);
	assert_int_equal(layout.results[0].slot, 16);
	assert_int_equal(layout.args_size, 56);
	abi_layout_free(&layout);
	gotypes_free(types);
}

static void lay_out_one(const struct gotype *type, struct abi_layout *layout)
{
	struct goparam params[] = {{.name = "a", .type = type}, {.name = "b", .type = type}};
	struct gofunc fn = {.params = params, .param_count = 2, .dictionary = -1};

	abi_layout(&fn, ARCH_AMD64, ABI_REGISTERS, layout);
}

static void test_unknown_types(void **state)
{
	static const struct {
		unsigned size;
		enum abi_where where;
	} rows[] = {{1, ABI_INT}, {8, ABI_INT}, {9, ABI_SLOT}, {16, ABI_SLOT}};
	struct gotypes *types = gotypes_new();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct gotype *type = gotypes_add(types, GOTYPE_UNKNOWN, "?");
		struct abi_layout layout;

		type->size = rows[i].size;
		lay_out_one(type, &layout);
		assert_int_equal(layout.params[1].count, 1);
		assert_int_equal(layout.params[1].pieces[0].where, rows[i].where);
		assert_int_equal(layout.params[1].pieces[0].size, rows[i].size);
		abi_layout_free(&layout);
	}
	gotypes_free(types);
}

/* Types that no compiler makes end on the stack, in bounded time. */
static void test_hostile_types(void **state)
{
	struct gotypes *types = gotypes_new();
	struct gotype *type = gotypes_add(types, GOTYPE_STRUCT, "main.T");
	struct abi_layout layout;

	(void)state;
	type->fields = gotypes_alloc(types, 3, sizeof(*type->fields));
	type->field_count = 3;
	type->size = 8;
	for (size_t i = 0; i < 3; i++)
		type->fields[i].type = type; /* contains itself, thrice */
	lay_out_one(type, &layout);
	assert_int_equal(layout.params[0].pieces[0].where, ABI_SLOT);
	abi_layout_free(&layout);

	type->size = UINT64_MAX;
	lay_out_one(type, &layout);
	assert_int_equal(layout.params[0].count, 0);
	assert_int_equal(layout.params[1].count, 0);
	abi_layout_free(&layout);

	type->fields = NULL; /* fields that are not known */
	type->field_count = 0;
	type->size = 8;
	lay_out_one(type, &layout);
	assert_int_equal(layout.params[0].pieces[0].where, ABI_SLOT);
	abi_layout_free(&layout);
	gotypes_free(types);
}

static enum abi_where where_if_fitting(const char *signature, int32_t args, bool *fits)
{
	struct gotypes *types = gotypes_new();
	struct abi_layout layout;
	struct gofunc fn;

	assert_false(signature_parse(types, NULL, signature, &fn, NULL, NULL));
	*fits = abi_layout_fitting(&fn, ARCH_AMD64, ABI_REGISTERS, args, &layout);
	enum abi_where where = layout.params[0].pieces[0].where;

	abi_layout_free(&layout);
	gotypes_free(types);
	return where;
}

static void test_fitting(void **state)
{
	bool fits;

	(void)state;
	assert_int_equal(where_if_fitting("(a int) int", 8, &fits), ABI_INT);
	assert_true(fits);
	assert_int_equal(where_if_fitting("(a int) int", 16, &fits), ABI_SLOT);
	assert_true(fits);
	assert_int_equal(where_if_fitting("(a int) int", 24, &fits), ABI_INT);
	assert_false(fits);
	assert_int_equal(where_if_fitting("(a int) int", INT32_MIN, &fits), ABI_INT);
	assert_true(fits);
}

static bool covers(const char *signature, unsigned without, uint64_t off)
{
	struct gotypes *types = gotypes_new();
	struct signature_names names = {NULL, NULL, 27};
	struct errmsg err = {0};
	struct gofunc fn = {.dictionary = -1};
	struct abi_layout layout;

	if (signature_parse(types, &names, signature, &fn, NULL, &err))
		fail_msg("%s: %s", signature, err.text);
	fn.dictionary = -1;
	abi_layout(&fn, ARCH_AMD64, ABI_REGISTERS, &layout);
	for (size_t i = 0; i < layout.params[0].count; i++)
		if (without >> i & 1)
			layout.params[0].pieces[i].size = 0;
	bool all = abi_covers(&layout.params[0], fn.params[0].type, off);

	abi_layout_free(&layout);
	gotypes_free(types);
	return all;
}

/* padding is nobody's, a word that is missing is missed; in memory all is one piece */
static void test_covers(void **state)
{
	(void)state;
	assert_true(covers("(a int)", 0, 0));
	assert_false(covers("(a int)", 1, 0));
	assert_false(covers("(a int)", 0, 1));
	assert_true(covers("(a string)", 0, 0));
	assert_false(covers("(a string)", 1, 0));
	assert_false(covers("(a string)", 2, 0));
	assert_false(covers("(a []int)", 4, 0));
	assert_false(covers("(a error)", 2, 0));
	assert_true(covers("(a struct{x int8; y int})", 0, 0));
	assert_false(covers("(a struct{x int8; y int})", 2, 0));
	assert_true(covers("(a [1]int)", 0, 0));
	assert_true(covers("(a [5]int)", 0, 0));
	assert_false(covers("(a [5]int)", 1, 0));
	assert_true(covers("(a struct{})", 0, 0));
	assert_false(covers("(a complex128)", 2, 0));
}

static void test_conventions(void **state)
{
	(void)state;
	assert_int_equal(abi_convention(ARCH_AMD64, 15), ABI_STACK);
	assert_int_equal(abi_convention(ARCH_AMD64, 16), ABI_STACK);
	assert_int_equal(abi_convention(ARCH_AMD64, 17), ABI_REGISTERS);
	assert_int_equal(abi_convention(ARCH_ARM64, 17), ABI_STACK);
	assert_int_equal(abi_convention(ARCH_ARM64, 18), ABI_REGISTERS);
	assert_int_equal(abi_convention(ARCH_ARM64, 27), ABI_REGISTERS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registers_amd64), cmocka_unit_test(test_registers_arm64),
		cmocka_unit_test(test_stack),           cmocka_unit_test(test_dictionaries),
		cmocka_unit_test(test_pieces),          cmocka_unit_test(test_slots),
		cmocka_unit_test(test_unknown_types),   cmocka_unit_test(test_hostile_types),
		cmocka_unit_test(test_fitting),         cmocka_unit_test(test_conventions),
		cmocka_unit_test(test_covers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
