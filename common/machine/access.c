// SPDX-License-Identifier: Apache-2.0
#include "machine/access.h"

#include <string.h>

#include "machine/arm64_internal.h"
#include "machine/insn.h"
#include "machine/x86.h"

/* --- amd64 --- */

enum { REX_W = 8 };

static uint8_t operand_bytes(const struct x86_op *op)
{
	if (op->rex & REX_W)
		return 8;
	return op->prefixes & X86_OPSIZE ? 2 : 4;
}

static void classify_two_bytes(const struct x86_op *op, struct access *out)
{
	bool is_byte = op->opcode == 0xb6, is_word = op->opcode == 0xb7; /* movzx */

	out->how = is_byte || is_word ? ACCESS_LOAD : ACCESS_OTHER;
	out->bytes = is_byte ? 1 : is_word ? 2 : 0;
}

static void classify(const struct x86_op *op, struct access *out)
{
	out->how = ACCESS_OTHER;
	if (op->form == X86_LEGACY && op->map == 1)
		classify_two_bytes(op, out);
	if (op->form != X86_LEGACY || op->map)
		return;
	switch (op->opcode) {
	case 0x8a:
	case 0x8b:
		out->how = ACCESS_LOAD;
		break;
	case 0x88:
	case 0x89:
	case 0xc6:
	case 0xc7:
		out->how = ACCESS_STORE;
		out->constant = op->opcode >= 0xc6;
		break;
	case 0x8d:
		out->how = ACCESS_ADDRESS;
		return;
	default:
		break;
	}
	/* of pairs, the even one is that of bytes; 83 has a short constant for a long operand */
	out->bytes = op->opcode & 1 ? operand_bytes(op) : 1;
}

static bool parse_amd64(const struct insn_code *code, size_t at, struct access *out)
{
	struct x86_op op;
	int32_t disp;

	if (!x86_parse(code->bytes + at, code->len - at, &op))
		return false;
	*out = (struct access){.size = op.size};
	if (!op.plain && !op.disp_at)
		return true;
	classify(&op, out);
	out->plain = op.plain && !op.prefixes && !op.absolute;
	out->reg = x86_reg(&op);
	out->base = op.base;
	out->disp = op.disp;
	if (op.disp_at) {
		memcpy(&disp, code->bytes + at + op.disp_at, sizeof(disp));
		out->absolute = true;
		out->addr = code->addr + at + op.size + (int64_t)disp;
	}
	return true;
}

/* --- arm64 --- */

static bool parse_arm64(const struct insn_code *code, size_t at, struct access *out)
{
	uint32_t word;

	if (code->len - at < sizeof(word))
		return false;
	memcpy(&word, code->bytes + at, sizeof(word));
	arm64_access(word, out);
	return true;
}

/* --- either --- */

bool access_parse(enum arch arch, const struct insn_code *code, size_t at, struct access *out)
{
	static bool (*const parsers[])(const struct insn_code *, size_t, struct access *) = {
		[ARCH_AMD64] = parse_amd64, [ARCH_ARM64] = parse_arm64};

	return at < code->len && parsers[arch](code, at, out);
}
