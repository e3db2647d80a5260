// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "machine/registers_internal.h"
#include "unit.h"

/* Calls `nth` from 0 until it has no more, and joins the names. */
static void check_names(enum arch arch,
			const struct registers_general *(*nth)(enum arch arch, unsigned n),
			const char *want)
{
	const struct registers_general *reg;
	char names[200] = "";

	for (unsigned n = 0; (reg = nth(arch, n)); n++) {
		strcat(names, n ? " " : "");
		strcat(names, reg->name);
	}
	assert_string_equal(names, want);
}

static const struct registers_general *dwarf(enum arch arch, unsigned n)
{
	const struct registers_general *reg = registers_by_dwarf(arch, n);

	if (reg)
		assert_int_equal(reg->dwarf, n);
	return reg;
}

static const struct registers_general *go(enum arch arch, unsigned n)
{
	return registers_nth(arch, REGISTERS_GO, n);
}

static const struct registers_general *c(enum arch arch, unsigned n)
{
	return registers_nth(arch, REGISTERS_C, n);
}

static const struct registers_general *c_result(enum arch arch, unsigned n)
{
	return registers_nth(arch, REGISTERS_C_RESULT, n);
}

#define X0_TO_X15 "x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 x12 x13 x14 x15"
#define X0_TO_X31 X0_TO_X15 " x16 x17 x18 x19 x20 x21 x22 x23 x24 x25 x26 x27 x28 x29 x30 x31"

static void test_numbers(void **state)
{
	(void)state;
	check_names(ARCH_AMD64, dwarf,
		    "rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15");
	check_names(ARCH_AMD64, registers_by_hardware,
		    "rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15");
	check_names(ARCH_ARM64, dwarf, X0_TO_X31);
	check_names(ARCH_ARM64, registers_by_hardware, X0_TO_X31);
	assert_null(registers_by_dwarf(ARCH_AMD64, UINT64_MAX));
	assert_string_equal(registers_by_dwarf(ARCH_AMD64, AMD64_R10)->name, "r10");
	assert_string_equal(registers_by_hardware(ARCH_AMD64, X86_RSP)->name, "rsp");
	assert_string_equal(registers_g(ARCH_AMD64)->name, "r14");
	assert_string_equal(registers_g(ARCH_ARM64)->name, "x28");
}

static void test_orders(void **state)
{
	(void)state;
	check_names(ARCH_AMD64, go, "rax rbx rcx rdi rsi r8 r9 r10 r11");
	check_names(ARCH_ARM64, go, X0_TO_X15);
	check_names(ARCH_AMD64, c, "rdi rsi rdx rcx r8 r9");
	check_names(ARCH_AMD64, c_result, "rax rdx");
	check_names(ARCH_ARM64, c, "");
	assert_int_equal(registers_count(ARCH_AMD64, REGISTERS_GO), 9);
	assert_int_equal(registers_count(ARCH_ARM64, REGISTERS_GO), 16);
	assert_int_equal(registers_count(ARCH_AMD64, REGISTERS_C), 6);
	assert_int_equal(registers_go_floats(ARCH_AMD64), 15);
	assert_int_equal(registers_go_floats(ARCH_ARM64), 16);
}

static void test_floats(void **state)
{
	(void)state;
	assert_int_equal(registers_float(ARCH_AMD64, 16), -1);
	assert_int_equal(registers_float(ARCH_AMD64, 17), 0);
	assert_int_equal(registers_float(ARCH_AMD64, 32), 15);
	assert_int_equal(registers_float(ARCH_AMD64, 33), -1);
	assert_int_equal(registers_float(ARCH_ARM64, 63), -1);
	assert_int_equal(registers_float(ARCH_ARM64, 64), 0);
	assert_int_equal(registers_float(ARCH_ARM64, 95), 31);
	assert_int_equal(registers_float(ARCH_ARM64, 96), -1);
}

static void test_names(void **state)
{
	static const struct {
		enum arch arch;
		uint64_t dwarf;
		const char *names[9]; /* by their size in bytes */
	} cases[] = {
		{ARCH_AMD64, 0, {NULL, "al", "ax", "eax", "eax", "rax", "rax", "rax", "rax"}},
		{ARCH_AMD64, 4, {NULL, "sil", "si", "esi", "esi", "rsi", "rsi", "rsi", "rsi"}},
		{ARCH_AMD64,
		 13,
		 {NULL, "r13b", "r13w", "r13d", "r13d", "r13", "r13", "r13", "r13"}},
		{ARCH_ARM64, 7, {NULL, "w7", "w7", "w7", "w7", "x7", "x7", "x7", "x7"}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (unsigned size = 1; size <= 8; size++) {
			const char *name = cases[i].names[size];
			const struct registers_general *reg =
				registers_by_dwarf(cases[i].arch, cases[i].dwarf);

			assert_string_equal(registers_name(reg, size), name);
			assert_ptr_equal(registers_by_name(cases[i].arch, name), reg);
		}
	assert_int_equal(registers_by_name(ARCH_AMD64, "bh")->dwarf, AMD64_RBX);
	assert_null(registers_by_name(ARCH_AMD64, "rip"));
	assert_null(registers_by_name(ARCH_ARM64, "rax"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_orders),
		cmocka_unit_test(test_floats),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
