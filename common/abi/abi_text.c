// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>

#include "abi/abi_parts.h"
#include "machine/arch.h"

enum { RETURN_ADDRESS = 8 /* bytes at the stack pointer, below the first stack argument */ };

/* by DWARF's numbers: of 8, 4, 2 and 1 bytes */
static const char *const amd64_names[][4] = {
	{"rax", "eax", "ax", "al"},      {"rdx", "edx", "dx", "dl"},
	{"rcx", "ecx", "cx", "cl"},      {"rbx", "ebx", "bx", "bl"},
	{"rsi", "esi", "si", "sil"},     {"rdi", "edi", "di", "dil"},
	{"rbp", "ebp", "bp", "bpl"},     {"rsp", "esp", "sp", "spl"},
	{"r8", "r8d", "r8w", "r8b"},     {"r9", "r9d", "r9w", "r9b"},
	{"r10", "r10d", "r10w", "r10b"}, {"r11", "r11d", "r11w", "r11b"},
	{"r12", "r12d", "r12w", "r12b"}, {"r13", "r13d", "r13w", "r13b"},
	{"r14", "r14d", "r14w", "r14b"}, {"r15", "r15d", "r15w", "r15b"},
};

static const char *amd64_name(const struct abi_piece *piece)
{
	static const uint8_t order[] = {0, 3, 2, 5, 4, 8, 9, 10, 11}; /* Go's */
	size_t part = piece->size > 4 ? 0 : piece->size > 2 ? 1 : piece->size == 2 ? 2 : 3;
	size_t n = piece->n;

	if (piece->where == ABI_INT)
		n = n < sizeof(order) ? order[n] : SIZE_MAX;
	return n < sizeof(amd64_names) / sizeof(*amd64_names) ? amd64_names[n][part] : "?";
}

static void register_text(enum arch arch, const struct abi_piece *piece, char *out, size_t size)
{
	bool is_float = piece->where == ABI_FLOAT;

	if (arch == ARCH_ARM64)
		snprintf(out, size, "%c%u", (is_float ? "ds" : "xw")[piece->size <= 4], piece->n);
	else if (is_float)
		snprintf(out, size, "xmm%u", piece->n);
	else
		snprintf(out, size, "%s", amd64_name(piece));
}

void abi_place_text(enum arch arch, const struct abi_piece *piece, char *out, size_t size)
{
	struct abi_piece whole = *piece;
	char reg[8];

	whole.size = piece->from || piece->where == ABI_AT ? ABI_WORD : piece->size;
	register_text(arch, &whole, reg, sizeof(reg));
	if (piece->where == ABI_SLOT)
		snprintf(out, size, "[sp+%" PRIu64 "]", (uint64_t)piece->n + RETURN_ADDRESS);
	else if (piece->where == ABI_SP)
		snprintf(out, size, "[sp+%u]", piece->n);
	else if (piece->where == ABI_AT && !piece->from)
		snprintf(out, size, "[%s]", reg);
	else if (piece->where == ABI_AT)
		snprintf(out, size, "[%s+%u]", reg, piece->from);
	else if (piece->from)
		snprintf(out, size, "%s+%u", reg, piece->from);
	else
		snprintf(out, size, "%s", reg);
}
