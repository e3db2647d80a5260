// SPDX-License-Identifier: Apache-2.0
#include "machine/registers_internal.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { NO = -1 };

/* Each is at the index of its DWARF number. Its places: in Go's order, C's, that of C's results. */
static const struct registers_general amd64[] = {
	{AMD64_RAX, X86_RAX, {0, NO, 0}, "rax", {"eax", "ax", "al"}, "ah", "AX"},
	{AMD64_RDX, X86_RDX, {NO, 2, 1}, "rdx", {"edx", "dx", "dl"}, "dh", "DX"},
	{AMD64_RCX, X86_RCX, {2, 3, NO}, "rcx", {"ecx", "cx", "cl"}, "ch", "CX"},
	{AMD64_RBX, X86_RBX, {1, NO, NO}, "rbx", {"ebx", "bx", "bl"}, "bh", "BX"},
	{AMD64_RSI, X86_RSI, {4, 1, NO}, "rsi", {"esi", "si", "sil"}, NULL, "SI"},
	{AMD64_RDI, X86_RDI, {3, 0, NO}, "rdi", {"edi", "di", "dil"}, NULL, "DI"},
	{AMD64_RBP, X86_RBP, {NO, NO, NO}, "rbp", {"ebp", "bp", "bpl"}, NULL, "FP"},
	{AMD64_RSP, X86_RSP, {NO, NO, NO}, "rsp", {"esp", "sp", "spl"}, NULL, "SP"},
	{AMD64_R8, 8, {5, 4, NO}, "r8", {"r8d", "r8w", "r8b"}, NULL, "R8"},
	{AMD64_R9, 9, {6, 5, NO}, "r9", {"r9d", "r9w", "r9b"}, NULL, "R9"},
	{AMD64_R10, 10, {7, NO, NO}, "r10", {"r10d", "r10w", "r10b"}, NULL, "R10"},
	{AMD64_R11, 11, {8, NO, NO}, "r11", {"r11d", "r11w", "r11b"}, NULL, "R11"},
	{AMD64_R12, 12, {NO, NO, NO}, "r12", {"r12d", "r12w", "r12b"}, NULL, "R12"},
	{AMD64_R13, 13, {NO, NO, NO}, "r13", {"r13d", "r13w", "r13b"}, NULL, "R13"},
	{AMD64_R14, X86_R14, {NO, NO, NO}, "r14", {"r14d", "r14w", "r14b"}, NULL, "G"},
	{AMD64_R15, 15, {NO, NO, NO}, "r15", {"r15d", "r15w", "r15b"}, NULL, "R15"},
};

#define ARM64(n, go)                                                                               \
	{                                                                                          \
		n, n, {go, NO, NO}, "x" #n, {"w" #n, "w" #n, "w" #n}, NULL, NULL                   \
	}
static const struct registers_general arm64[] = {
	ARM64(0, 0),   ARM64(1, 1),   ARM64(2, 2),   ARM64(3, 3),   ARM64(4, 4),   ARM64(5, 5),
	ARM64(6, 6),   ARM64(7, 7),   ARM64(8, 8),   ARM64(9, 9),   ARM64(10, 10), ARM64(11, 11),
	ARM64(12, 12), ARM64(13, 13), ARM64(14, 14), ARM64(15, 15), ARM64(16, NO), ARM64(17, NO),
	ARM64(18, NO), ARM64(19, NO), ARM64(20, NO), ARM64(21, NO), ARM64(22, NO), ARM64(23, NO),
	ARM64(24, NO), ARM64(25, NO), ARM64(26, NO), ARM64(27, NO), ARM64(28, NO), ARM64(29, NO),
	ARM64(30, NO), ARM64(31, NO), /* the stack pointer */
};
#undef ARM64

static const struct machine {
	const struct registers_general *general;
	unsigned general_count, g, go_floats; /* g: DWARF's number */
	uint64_t float_first, float_count;    /* DWARF's numbers */
} machines[] = {
	[ARCH_AMD64] = {amd64, sizeof(amd64) / sizeof(*amd64), AMD64_R14, 15, 17, 16},
	[ARCH_ARM64] = {arm64, sizeof(arm64) / sizeof(*arm64), 28, 16, 64, 32},
};

const struct registers_general *registers_by_dwarf(enum arch arch, uint64_t number)
{
	return number < machines[arch].general_count ? &machines[arch].general[number] : NULL;
}

const struct registers_general *registers_by_hardware(enum arch arch, unsigned number)
{
	for (unsigned i = 0; i < machines[arch].general_count; i++)
		if (machines[arch].general[i].hardware == number)
			return &machines[arch].general[i];
	return NULL;
}

static bool is_called(const struct registers_general *reg, const char *name)
{
	for (unsigned i = 0; i < 3; i++)
		if (!strcmp(reg->low[i], name))
			return true;
	return !strcmp(reg->name, name) || (reg->high && !strcmp(reg->high, name));
}

const struct registers_general *registers_by_name(enum arch arch, const char *name)
{
	for (unsigned i = 0; i < machines[arch].general_count; i++)
		if (is_called(&machines[arch].general[i], name))
			return &machines[arch].general[i];
	return NULL;
}

const struct registers_general *registers_nth(enum arch arch, enum registers_order order,
					      unsigned n)
{
	for (unsigned i = 0; i < machines[arch].general_count; i++) {
		int place = machines[arch].general[i].place[order];

		if (place >= 0 && (unsigned)place == n)
			return &machines[arch].general[i];
	}
	return NULL;
}

const struct registers_general *registers_g(enum arch arch)
{
	return registers_by_dwarf(arch, machines[arch].g);
}

unsigned registers_count(enum arch arch, enum registers_order order)
{
	unsigned count = 0;

	for (unsigned i = 0; i < machines[arch].general_count; i++)
		count += machines[arch].general[i].place[order] >= 0;
	return count;
}

unsigned registers_go_floats(enum arch arch)
{
	return machines[arch].go_floats;
}

int registers_float(enum arch arch, uint64_t dwarf)
{
	const struct machine *machine = &machines[arch];
	uint64_t n = dwarf - machine->float_first;

	return n < machine->float_count ? (int)n : -1;
}

const char *registers_name(const struct registers_general *reg, unsigned size)
{
	if (size > 4)
		return reg->name;
	return reg->low[size > 2 ? 0 : size == 2 ? 1 : 2];
}
