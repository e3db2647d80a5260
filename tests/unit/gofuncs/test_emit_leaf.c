// SPDX-License-Identifier: Apache-2.0
/* Parameters as bpftrace's expressions, and as fetch arguments of uprobe_events. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/abi.h"
#include "base/errmsg.h"
#include "machine/arch.h"
#include "gofuncs/emit_args_internal.h"
#include "gofuncs/emit_leaf_internal.h"
#include "golang/gotype.h"
#include "golang/signature.h"
#include "sites/site.h"
#include "unit.h"

struct subject {
	struct gotypes *types;
	struct gofunc fn;
	struct abi_layout layout;
	struct emit_leaf_site at;
	struct emit_leaves leaves;
};

static void subject_make(struct subject *s, const char *signature, enum arch arch,
			 enum abi_convention convention)
{
	const struct signature_names names = {.release = 23};
	struct errmsg err = {0};

	*s = (struct subject){.types = gotypes_new(),
			      .at = {.arch = arch, .addr = 0x1000, .prefix = "arg"}};
	if (signature_parse(s->types, &names, signature, &s->fn, NULL, &err))
		fail_msg("%s: %s", signature, err.text);
	abi_layout(&s->fn, arch, convention, &s->layout);
}

static void subject_drop(struct subject *s)
{
	emit_leaves_free(&s->leaves);
	abi_layout_free(&s->layout);
	gotypes_free(s->types);
}

static void read_all(struct subject *s)
{
	for (size_t i = 0; i < s->fn.param_count; i++) {
		s->at.value = &s->layout.params[i];
		emit_leaf_param(&s->leaves, &s->at, &s->fn.params[i], i + 1);
	}
}

/* "n int %lld (int64)reg("ax")", a line each; what is lost: "n int: reason" */
static void check_leaves(const struct subject *s, const char *expected)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (size_t i = 0; i < s->leaves.count; i++) {
		const struct emit_leaf *leaf = &s->leaves.items[i];

		fprintf(out, "%s %s", leaf->name, leaf->type);
		if (leaf->lost)
			fprintf(out, ": %s\n", leaf->lost);
		else
			fprintf(out, " %s %s\n%s", leaf->format, leaf->args, leaf->setup);
	}
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

static const struct row {
	const char *signature, *leaves;
	bool on_stack, is_arm64;
} rows[] = {
	{"()", "", false, false},
	{"(a int, b int8, c uint16, d uintptr)",
	 "a int %lld (int64)reg(\"ax\")\n"
	 "b int8 %lld (int8)reg(\"bx\")\n"
	 "c uint16 %llu (uint16)reg(\"cx\")\n"
	 "d uintptr %llu (uint64)reg(\"di\")\n",
	 false, false},
	{"(a bool, p *int, m map[int]int, c chan int, f func())",
	 "a bool %s (uint8)reg(\"ax\") ? \"true\" : \"false\"\n"
	 "p *int 0x%llx (uint64)reg(\"bx\")\n"
	 "m map[int]int 0x%llx (uint64)reg(\"cx\")\n"
	 "c chan int 0x%llx (uint64)reg(\"di\")\n"
	 "f func() 0x%llx (uint64)reg(\"si\")\n",
	 false, false},
	{"(s string, b []byte, x []int)",
	 "s string \\\"%s\\\"(%lld) str((uint64)reg(\"ax\"), (int64)reg(\"bx\")), "
	 "(int64)reg(\"bx\")\n"
	 "b []uint8 \\\"%r\\\"(%lld) buf((uint64)reg(\"cx\"), (int64)reg(\"di\")), "
	 "(int64)reg(\"di\")\n"
	 "x []int [0x%llx len %lld cap %lld] (uint64)reg(\"r8\"), (int64)reg(\"r9\"), "
	 "(int64)reg(\"r10\")\n",
	 false, false},
	{"(a float64, b complex128, c float32, d int)",
	 "a float64: it is in a floating-point register\n"
	 "b complex128: bpftrace has no such numbers\n"
	 "c float32: it is in a floating-point register\n"
	 "d int %lld (int64)reg(\"ax\")\n",
	 false, false},
	{"(a float32, b complex64, c int32)",
	 "a float32 bits 0x%llx *(uint32 *)(reg(\"sp\") + 8)\n"
	 "b complex64: bpftrace has no such numbers\n"
	 "c int32 %lld *(int32 *)(reg(\"sp\") + 20)\n",
	 true, false},
	{"(s struct{a int; b struct{c string; d bool}}, e [2]int8, n [1]uint8)",
	 "s.a int %lld (int64)reg(\"ax\")\n"
	 "s.b.c string \\\"%s\\\"(%lld) str((uint64)reg(\"bx\"), (int64)reg(\"cx\")), "
	 "(int64)reg(\"cx\")\n"
	 "s.b.d bool %s (uint8)reg(\"di\") ? \"true\" : \"false\"\n"
	 "e[0] int8 %lld *(int8 *)(reg(\"sp\") + 8)\n"
	 "e[1] int8 %lld *(int8 *)(reg(\"sp\") + 9)\n"
	 "n[0] uint8 %llu (uint8)reg(\"si\")\n",
	 false, false},
	{"(a struct{}, b [0]int, c [17]int8)",
	 "a struct {}: it has no fields\n"
	 "b [0]int: it has no elements\n"
	 "c [17]int8: it has too many elements\n",
	 false, false},
	{"(_ int, b int)", "arg1 int %lld (int64)reg(\"ax\")\nb int %lld (int64)reg(\"bx\")\n",
	 false, false},
	{"(a int, s string, b []byte)",
	 "a int %lld (int64)reg(\"r0\")\n"
	 "s string \\\"%s\\\"(%lld) str((uint64)reg(\"r1\"), (int64)reg(\"r2\")), "
	 "(int64)reg(\"r2\")\n"
	 "b []uint8 \\\"%r\\\"(%lld) buf((uint64)reg(\"r3\"), (int64)reg(\"r4\")), "
	 "(int64)reg(\"r4\")\n",
	 false, true},
	{"(a int, s string)",
	 "a int %lld *(int64 *)(reg(\"sp\") + 8)\n"
	 "s string \\\"%s\\\"(%lld) str(*(uint64 *)(reg(\"sp\") + 16), *(int64 *)(reg(\"sp\") + "
	 "24)), "
	 "*(int64 *)(reg(\"sp\") + 24)\n",
	 true, false},
	/* their types' names are not known */
	{"(e error, x interface{})",
	 "e error type 0x%llx(0x%llx) $t1, (int64)reg(\"bx\")\n"
	 "\t$t1 = *(uint64 *)((uint64)reg(\"ax\") + 8);\n"
	 "x interface {} type 0x%llx(0x%llx) $t2, (int64)reg(\"di\")\n"
	 "\t$t2 = (uint64)reg(\"cx\");\n",
	 false, false},
	{"(a, b, c, d struct{e struct{f struct{g struct{h struct{i int}}}}})",
	 "a.e.f.g.h struct { i int }: it has too many fields\n"
	 "b.e.f.g.h struct { i int }: it has too many fields\n"
	 "c.e.f.g.h struct { i int }: it has too many fields\n"
	 "d.e.f.g.h struct { i int }: it has too many fields\n",
	 false, false},
};

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct subject s;

		subject_make(&s, rows[i].signature, rows[i].is_arm64 ? ARCH_ARM64 : ARCH_AMD64,
			     rows[i].on_stack ? ABI_STACK : ABI_REGISTERS);
		read_all(&s);
		check_leaves(&s, rows[i].leaves);
		subject_drop(&s);
	}
}

/* The stack pointer has moved where the probe is. */
static void test_moved_stack(void **state)
{
	struct subject s;

	(void)state;
	subject_make(&s, "(a int64, b int16)", ARCH_AMD64, ABI_STACK);
	s.at.sp_adjust = 0x20;
	read_all(&s);
	check_leaves(&s, "a int64 %lld *(int64 *)(reg(\"sp\") + 40)\n"
			 "b int16 %lld *(int16 *)(reg(\"sp\") + 48)\n");
	subject_drop(&s);
}

/* A type's name is read from its descriptor: by its address, or in a program that may lie anywhere
 * by the distance from the probe. */
static void test_type_names(void **state)
{
	static const char *const with[] = {
		"\t$n1 = 0x500000 + *(uint32 *)($t1 + 40);\n",
		"\t$n1 = reg(\"ip\") - 0x1000 + 0x500000 + *(uint32 *)($t1 + 40);\n"};

	(void)state;
	for (int is_pie = 0; is_pie < 2; is_pie++) {
		struct subject s;

		subject_make(&s, "(x interface{})", ARCH_AMD64, ABI_REGISTERS);
		s.at.type_names = 0x500000;
		s.at.is_pie = is_pie;
		read_all(&s);
		assert_int_equal(s.leaves.count, 1);
		assert_string_equal(s.leaves.items[0].format, "%s(0x%llx)");
		assert_string_equal(s.leaves.items[0].args, "$e1, (int64)reg(\"bx\")");
		assert_non_null(strstr(s.leaves.items[0].setup, with[is_pie]));
		assert_non_null(strstr(s.leaves.items[0].setup, "$e1 = \"nil\""));
		subject_drop(&s);
	}
}

/* What the argument tables tell: sizes, not types; and where there are more that they do not. */
static void test_pieces(void **state)
{
	struct abi_piece pieces[] = {
		{.where = ABI_INT, .n = 0, .off = 0, .size = 8},
		{.where = ABI_AT, .n = 3, .off = 8, .size = 4, .from = 16},
		{.where = ABI_HARDWARE, .n = 5, .off = 12, .size = 2, .from = 2},
		{.where = ABI_INT, .n = 1, .off = 16, .size = 3},
	};
	struct gotype unknown = {.kind = GOTYPE_UNKNOWN, .name = "?", .size = 19};
	struct abi_value value = {.pieces = pieces, .count = 4}, none = {0};
	struct goparam param = {.name = "", .type = &unknown, .is_guess = true};
	struct goparam more = {.name = "...", .type = &unknown};
	struct emit_leaf_site at = {.arch = ARCH_AMD64, .prefix = "arg", .value = &value};
	struct subject s = {0};

	(void)state;
	emit_leaf_param(&s.leaves, &at, &param, 7);
	assert_true(s.leaves.items[0].is_guess);
	at.value = &none;
	emit_leaf_param(&s.leaves, &at, &param, 8);
	emit_leaf_param(&s.leaves, &at, &more, 9);
	check_leaves(&s, "arg7_0  0x%llx (uint64)reg(\"ax\")\n"
			 "arg7_1  0x%llx *(uint32 *)(reg(\"bx\") + 16)\n"
			 "arg7_2  0x%llx (uint16)(reg(\"di\") >> 16)\n"
			 "arg7_3 : it is not a number of 1, 2, 4 or 8 bytes\n"
			 "arg8 ?: its place is not known\n"
			 "... ?: the argument tables end here\n");
	emit_leaves_free(&s.leaves);
}

/* How much of bpftrace's stack each takes decides what is left out. */
static void test_stack(void **state)
{
	struct subject s;

	(void)state;
	subject_make(&s, "(a int, t bool, s string, x []int, e error)", ARCH_AMD64, ABI_REGISTERS);
	read_all(&s);
	const unsigned expected[] = {8, 32, 80, 24, 16};

	assert_int_equal(s.leaves.count, 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(s.leaves.items[i].stack, expected[i]);
	subject_drop(&s);
}

/* --- fetch arguments --- */

static const struct {
	const char *signature, *args;
	bool on_stack, is_arm64;
	int32_t sp_adjust;
} fetched[] = {
	{"()", "", false, false, 0},
	{"(a int, b uint8, c bool, p *int)", " a=%ax:s64 b=%bx:u8 c=%cx:u8 p=%di:x64", false, false,
	 0},
	{"(s string, e error)", " s_0=%ax:x64 s_1=%bx:x64 e_0=%cx:x64 e_1=%di:x64", false, false,
	 0},
	{"(a float64, b int)", " b=%ax:s64", false, false, 0},
	{"(a int8, b uint32, s string)",
	 " a=+8(%sp):s8 b=+12(%sp):u32 s_0=+16(%sp):x64 s_1=+24(%sp):x64", true, false, 0},
	{"(a int)", " a=+24(%sp):s64", true, false, 16},
	{"(a [3]int, b int16)", " a_0=+8(%sp):x64 a_1=+16(%sp):x64 a_2=+24(%sp):x64 b=%ax:s16",
	 false, false, 0},
	{"(a int, s []byte)", " a=%x0:s64 s_0=%x1:x64 s_1=%x2:x64 s_2=%x3:x64", false, true, 0},
	/* names that the kernel has already, and such as it does not take */
	{"(flags, goid, common_pid, _x, \u00e4, _ int)",
	 " arg1=%ax:s64 arg2=%bx:s64 arg3=%cx:s64 arg4=%di:s64 arg5=%si:s64 arg6=%r8:s64", false,
	 false, 0},
	{"(aNameThatIsLongerThanTheKernelTakes int)", " arg1=%ax:s64", false, false, 0},
};

static void test_fetched(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(fetched) / sizeof(*fetched); i++) {
		const struct site site = {.sp_adjust = fetched[i].sp_adjust};
		enum arch arch = fetched[i].is_arm64 ? ARCH_ARM64 : ARCH_AMD64;
		struct subject s;
		char *text = NULL;
		size_t len;
		FILE *out = open_memstream(&text, &len);

		subject_make(&s, fetched[i].signature, arch,
			     fetched[i].on_stack ? ABI_STACK : ABI_REGISTERS);
		emit_args(out, arch, s.fn.params, s.layout.params, s.fn.param_count, &site, "arg");
		fclose(out);
		assert_string_equal(text, fetched[i].args);
		free(text);
		subject_drop(&s);
	}
}

/* The kernel takes 128 arguments of a probe. */
static void test_many_fetched(void **state)
{
	struct abi_piece piece = {.where = ABI_INT, .size = 8};
	struct gotype word = {.kind = GOTYPE_INT, .name = "int", .size = 8};
	struct goparam params[150];
	struct abi_value values[150];
	char *text = NULL;
	size_t len, count = 0;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	for (size_t i = 0; i < 150; i++) {
		params[i] = (struct goparam){.name = "", .type = &word};
		values[i] = (struct abi_value){.pieces = &piece, .count = 1};
	}
	emit_args(out, ARCH_AMD64, params, values, 150, &(struct site){0}, "ret");
	fclose(out);
	for (const char *c = text; (c = strstr(c, " ret")); c++)
		count++;
	assert_in_range(count, 100, 128);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),         cmocka_unit_test(test_moved_stack),
		cmocka_unit_test(test_type_names),   cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_stack),        cmocka_unit_test(test_fetched),
		cmocka_unit_test(test_many_fetched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
