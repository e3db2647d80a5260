// SPDX-License-Identifier: Apache-2.0
#include "abi/spill.h"

#include <string.h>

#include "machine/x86.h"
#include "sites/prologue.h"

enum { WORD = 8 };

static bool add_spill(struct spills *out, struct spill spill)
{
	if (out->count == SPILLS_MAX || spill.slot > INT32_MAX || spill.n > SPILLS_MAX)
		return false;
	out->items[out->count++] = spill;
	return true;
}

/* --- amd64: mov [rsp+8+SLOT], reg; movss or movsd --- */

static unsigned x86_argument_register(unsigned reg)
{
	int place = registers_by_hardware(ARCH_AMD64, reg)->place[REGISTERS_GO];

	return place >= 0 ? (unsigned)place : UINT32_MAX;
}

static bool x86_spill(const struct x86_op *op, uint8_t prefix, struct spills *out)
{
	bool is_byte = op->opcode == 0x88, is_word = op->prefixes & X86_OPSIZE;
	unsigned reg = x86_reg(op);
	struct spill spill = {.where = ABI_FLOAT, .n = reg, .slot = (uint32_t)op->disp - WORD};

	if (!op->has_modrm || !op->plain || (op->modrm & 7) != 4 || op->base != X86_RSP)
		return false;
	if (op->map == 1 && op->opcode == 0x11 && (prefix == 0xf3 || prefix == 0xf2)) {
		spill.size = prefix == 0xf3 ? 4 : 8;
		return add_spill(out, spill);
	}
	spill.where = ABI_INT;
	spill.n = x86_argument_register(reg);
	spill.size = is_byte ? 1 : op->rex & 8 ? 8 : is_word ? 2 : 4;
	return op->map == 0 && (is_byte || op->opcode == 0x89) && add_spill(out, spill);
}

/* --- arm64: str or stp to [sp, #8+SLOT] --- */

enum { ARM64_SP = 31, ARM64_MOV_X3_X30 = 0xaa1e03e3 };

static const struct arm64_store {
	uint32_t bits; /* of mask ffc00000 */
	enum abi_where where;
	uint32_t size;
	bool pair;
} STORES[] = {
	{0xf9000000, ABI_INT, 8, false},   {0xb9000000, ABI_INT, 4, false},
	{0x79000000, ABI_INT, 2, false},   {0x39000000, ABI_INT, 1, false},
	{0xfd000000, ABI_FLOAT, 8, false}, {0xbd000000, ABI_FLOAT, 4, false},
	{0xa9000000, ABI_INT, 8, true},    {0x29000000, ABI_INT, 4, true},
	{0x6d000000, ABI_FLOAT, 8, true},  {0x2d000000, ABI_FLOAT, 4, true},
};

static bool arm64_spill(uint32_t word, struct spills *out)
{
	const struct arm64_store *store = STORES, *end = STORES + sizeof(STORES) / sizeof(*STORES);

	while (store < end && (word & 0xffc00000) != store->bits)
		store++;
	if (store == end || (word >> 5 & 31) != ARM64_SP)
		return false;
	uint32_t scaled = store->pair ? word >> 15 & 127 : word >> 10 & 4095;
	struct spill first = {store->where, word & 31, scaled * store->size - WORD, store->size};
	struct spill second = first;

	second.n = word >> 10 & 31;
	second.slot += store->size;
	return add_spill(out, first) && (!store->pair || add_spill(out, second));
}

/* false: none that is understood */
static bool read_spill(enum arch arch, const uint8_t *bytes, size_t len, struct spills *out)
{
	struct x86_op op;
	uint32_t word;

	if (arch == ARCH_AMD64)
		return x86_parse(bytes, len, &op) && x86_spill(&op, bytes[0], out);
	memcpy(&word, bytes, sizeof(word));
	/* morestack's own argument */
	return word == (uint32_t)ARM64_MOV_X3_X30 || arm64_spill(word, out);
}

bool spills_read(const struct insn_decoder *dec, const struct insn_code *code, enum arch arch,
		 struct spills *out)
{
	struct prologue prologue;
	struct insn insn;

	out->count = 0;
	if (!prologue_find(dec, code, &prologue))
		return false;
	for (uint64_t addr = prologue.branch.target;; addr += insn.size) {
		if (!insn_decode(dec, code, addr, &insn))
			return false;
		out->restart = addr + insn.size;
		if (insn.kind == INSN_CALL)
			return true;
		const uint8_t *bytes = code->bytes + (addr - code->addr);

		if (insn.kind != INSN_NOP && !read_spill(arch, bytes, insn.size, out))
			return false;
	}
}

static bool has_spill(const struct spills *spills, const struct abi_piece *piece, uint32_t slot)
{
	for (size_t i = 0; i < spills->count; i++) {
		const struct spill *spill = &spills->items[i];

		if (spill->where == piece->where && spill->n == piece->n &&
		    spill->slot == slot + piece->off && spill->size == piece->size)
			return true;
	}
	return false;
}

static size_t count_pieces(const struct abi_layout *layout)
{
	size_t count = 0;

	for (size_t i = 0; i < layout->param_count; i++)
		if (layout->params[i].count && layout->params[i].pieces[0].where != ABI_SLOT)
			count += layout->params[i].count;
	return count;
}

bool spills_fit(const struct spills *spills, const struct abi_layout *layout, bool dictionary)
{
	size_t count = count_pieces(layout);

	/* the dictionary may be on the stack, where all registers are taken */
	if (spills->count != count && (!dictionary || spills->count != count + 1))
		return false;
	for (size_t i = 0; i < layout->param_count; i++) {
		const struct abi_value *param = &layout->params[i];

		for (size_t j = 0; j < param->count; j++)
			if (param->pieces[j].where != ABI_SLOT &&
			    !has_spill(spills, &param->pieces[j], param->slot))
				return false;
	}
	return true;
}
