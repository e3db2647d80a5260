// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>

#include "abi/abi_internal.h"

enum { RETURN_ADDRESS = 8 /* bytes at the stack pointer, below the first stack argument */ };

static void register_text(enum arch arch, const struct abi_piece *piece, char *out, size_t size)
{
	const struct registers_general *reg = abi_register(arch, piece);

	if (reg)
		snprintf(out, size, "%s", registers_name(reg, piece->size));
	else if (piece->where != ABI_FLOAT)
		snprintf(out, size, "?");
	else if (arch == ARCH_ARM64)
		snprintf(out, size, "%c%u", piece->size <= 4 ? 's' : 'd', piece->n);
	else
		snprintf(out, size, "xmm%u", piece->n);
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
