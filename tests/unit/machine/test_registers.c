// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "machine/registers_internal.h"
#include "steps.h"
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

static void dump_register(const struct registers_general *reg)
{
	steps_are("%u %u %s %s %s %s %d %d %d %s", reg->dwarf, reg->hardware, reg->name,
		  reg->low[0], reg->low[1], reg->low[2], reg->place[0], reg->place[1],
		  reg->place[2], reg->probe ? reg->probe : "-");
	if (reg->high)
		steps_are("%s", reg->high);
}

/* Numbers, names, and the places in Go's order, C's, and that of C's results */
static void test_table(void **state)
{
	(void)state;
	memset(&steps, 0, sizeof(steps));
	for (unsigned n = 0; n < 16; n++)
		dump_register(registers_by_dwarf(ARCH_AMD64, n));
	assert_null(registers_by_dwarf(ARCH_AMD64, 16));
	steps_expect(
		"0 0 rax eax ax al 0 -1 0 AX; ah; 1 2 rdx edx dx dl -1 2 1 DX; dh; 2 1 rcx ecx cx "
		"cl 2 3 -1 CX; ch; 3 3 rbx ebx bx bl 1 -1 -1 BX; bh; 4 6 rsi esi si sil 4 1 -1 SI; "
		"5 7 rdi edi di dil 3 0 -1 DI; 6 5 rbp ebp bp bpl -1 -1 -1 FP; 7 4 rsp esp sp spl "
		"-1 -1 -1 SP; 8 8 r8 r8d r8w r8b 5 4 -1 R8; 9 9 r9 r9d r9w r9b 6 5 -1 R9; 10 10 "
		"r10 r10d r10w r10b 7 -1 -1 R10; 11 11 r11 r11d r11w r11b 8 -1 -1 R11; 12 12 r12 "
		"r12d r12w r12b -1 -1 -1 R12; 13 13 r13 r13d r13w r13b -1 -1 -1 R13; 14 14 r14 "
		"r14d r14w r14b -1 -1 -1 G; 15 15 r15 r15d r15w r15b -1 -1 -1 R15; ");
	for (unsigned n = 0; n < 32; n++)
		dump_register(registers_by_dwarf(ARCH_ARM64, n));
	assert_null(registers_by_dwarf(ARCH_ARM64, 32));
	steps_expect(
		"0 0 x0 w0 w0 w0 0 -1 -1 -; 1 1 x1 w1 w1 w1 1 -1 -1 -; 2 2 x2 w2 w2 w2 2 -1 -1 -; "
		"3 3 x3 w3 w3 w3 3 -1 -1 -; 4 4 x4 w4 w4 w4 4 -1 -1 -; 5 5 x5 w5 w5 w5 5 -1 -1 -; "
		"6 6 x6 w6 w6 w6 6 -1 -1 -; 7 7 x7 w7 w7 w7 7 -1 -1 -; 8 8 x8 w8 w8 w8 8 -1 -1 -; "
		"9 9 x9 w9 w9 w9 9 -1 -1 -; 10 10 x10 w10 w10 w10 10 -1 -1 -; 11 11 x11 w11 w11 "
		"w11 11 -1 -1 -; 12 12 x12 w12 w12 w12 12 -1 -1 -; 13 13 x13 w13 w13 w13 13 -1 -1 "
		"-; 14 14 x14 w14 w14 w14 14 -1 -1 -; 15 15 x15 w15 w15 w15 15 -1 -1 -; 16 16 x16 "
		"w16 w16 w16 -1 -1 -1 -; 17 17 x17 w17 w17 w17 -1 -1 -1 -; 18 18 x18 w18 w18 w18 "
		"-1 -1 -1 -; 19 19 x19 w19 w19 w19 -1 -1 -1 -; 20 20 x20 w20 w20 w20 -1 -1 -1 -; "
		"21 21 x21 w21 w21 w21 -1 -1 -1 -; 22 22 x22 w22 w22 w22 -1 -1 -1 -; 23 23 x23 w23 "
		"w23 w23 -1 -1 -1 -; 24 24 x24 w24 w24 w24 -1 -1 -1 -; 25 25 x25 w25 w25 w25 -1 -1 "
		"-1 -; 26 26 x26 w26 w26 w26 -1 -1 -1 -; 27 27 x27 w27 w27 w27 -1 -1 -1 -; 28 28 "
		"x28 w28 w28 w28 -1 -1 -1 -; 29 29 x29 w29 w29 w29 -1 -1 -1 -; 30 30 x30 w30 w30 "
		"w30 -1 -1 -1 -; 31 31 x31 w31 w31 w31 -1 -1 -1 -; ");
}

static void test_ranges(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 100; n++) {
		assert_int_equal(registers_float(ARCH_AMD64, n),
				 n < 17 || n > 32 ? -1 : (int)n - 17);
		assert_int_equal(registers_float(ARCH_ARM64, n),
				 n < 64 || n > 95 ? -1 : (int)n - 64);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers), cmocka_unit_test(test_orders),
		cmocka_unit_test(test_floats),  cmocka_unit_test(test_names),
		cmocka_unit_test(test_table),   cmocka_unit_test(test_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
