// SPDX-License-Identifier: Apache-2.0
#include "machine/insn_machine_internal.h"

#include <string.h>

#include "machine/arm64_internal.h"
#include "machine/insn_adds.h"
#include "machine/registers.h"
#include "machine/x86.h"
#include "machine/x86kind_internal.h"

static int64_t signed_at(const uint8_t *at, unsigned size)
{
	int8_t one;
	int32_t four;

	if (size == 1) {
		memcpy(&one, at, 1);
		return one;
	}
	memcpy(&four, at, 4);
	return four;
}

/* where a direct branch goes, or what a rip-relative lea computes */
static void x86_target(const uint8_t *code, const struct x86_op *op, struct insn *in)
{
	uint64_t next = in->addr + op->size;
	bool direct = in->kind == INSN_JUMP || in->kind == INSN_JUMP_IF ||
		      (in->kind == INSN_CALL && op->opcode == 0xe8);

	if (direct && op->imm_size)
		in->target = next + signed_at(code + op->size - op->imm_size, op->imm_size);
	if (op->map == 0 && op->opcode == 0x8d && op->disp_at) {
		in->target = next + signed_at(code + op->disp_at, 4);
		in->reg = x86_reg(op);
	}
}

static bool is_control(const struct insn *in)
{
	return in->kind == INSN_CALL || in->kind == INSN_JUMP_IF || in->kind == INSN_JUMP_MEM;
}

bool insn_x86(const uint8_t *code, size_t len, struct insn *in)
{
	struct x86_op op;

	if (!x86_parse(code, len, &op))
		return false;
	in->size = op.size;
	in->kind = x86kind_of(&op);
	in->probe = x86kind_refused(&op)    ? INSN_REFUSED
		    : x86kind_emulated(&op) ? INSN_EMULATED
					    : INSN_STEPPED;
	in->may_fault = x86kind_may_fault(&op);
	in->floats = x86kind_floats(&op);
	in->stays = x86kind_stays(&op) || is_control(in);
	x86_target(code, &op, in);
	if (in->kind == INSN_JUMP_IF)
		in->cond = (op.opcode & 0xfc) == 0xe0 && !op.map ? 16 : op.opcode & 15;
	if (in->kind == INSN_JUMP_REG || in->kind == INSN_JUMP_MEM)
		in->reg = op.base;
	in->plain_ret = in->size == 1 && code[0] == 0xc3;
	in->padding = code[0] == 0xcc || (op.size == 2 && !code[0] && !code[1]);
	in->breaks = x86kind_breaks(&op);
	in->long_nop = x86kind_long_nop(&op) || (in->kind == INSN_JUMP && in->size == 5 &&
						 in->target == in->addr + in->size);
	return true;
}

/* What two instructions do together; `before` is the first of them. */
static void arm64_pair(uint32_t before, uint32_t word, struct insn *in)
{
	uint64_t address;
	uint8_t reg;

	if (in->kind == INSN_JUMP_REG && arm64_is_table_load(before, in->reg, &reg)) {
		in->kind = INSN_JUMP_MEM;
		in->reg = reg;
	} else if (arm64_is_address(before, word, in->addr - sizeof(word), &address, &reg)) {
		in->target = address;
		in->reg = reg;
		in->floats = reg != ARM64_SCRATCH;
	}
}

bool insn_arm64(const uint8_t *code, size_t len, bool has_before, struct insn *in)
{
	struct arm64_op op;
	uint32_t word, before;

	if (len < sizeof(word) || in->addr % sizeof(word))
		return false;
	memcpy(&word, code, sizeof(word));
	arm64_parse(word, &op);
	in->size = sizeof(word);
	in->kind = op.kind;
	in->cond = op.cond;
	in->reg = op.reg;
	in->target = op.direct ? in->addr + op.offset : 0;
	in->probe = op.refused ? INSN_REFUSED : op.simulated ? INSN_EMULATED : INSN_STEPPED;
	in->may_fault = op.may_fault;
	in->floats = op.floats;
	in->padding = !word;
	if (has_before) {
		memcpy(&before, code - sizeof(before), sizeof(before));
		arm64_pair(before, word, in);
	}
	in->stays = op.stays || is_control(in);
	return true;
}

static bool operands_what(const struct x86_op *op, struct insn_operands *out)
{
	bool memory = op->modrm >> 6 != 3;

	switch (op->opcode) {
	case 0x8b:
		out->what = memory ? INSN_LOAD : INSN_COPY;
		return true;
	case 0x89:
		out->what = memory ? INSN_STORE : INSN_COPY;
		return true;
	case 0x3b:
	case 0x39:
		out->what = INSN_COMPARE;
		return memory;
	case 0xc7:
		out->what = INSN_SET;
		return !memory;
	default:
		return false;
	}
}

bool insn_operands(const struct insn_code *code, uint64_t addr, struct insn_operands *out)
{
	uint64_t at = addr - code->addr;
	struct x86_op op;
	int32_t constant;

	*out = (struct insn_operands){0};
	if (addr < code->addr || at >= code->len ||
	    !x86_parse(code->bytes + at, code->len - at, &op) || op.form != X86_LEGACY || op.map ||
	    !(op.rex & 8) || !operands_what(&op, out))
		return false;
	if (op.modrm >> 6 != 3 && !op.plain && !op.disp_at)
		return false;
	out->reg = x86_reg(&op);
	out->other = op.base;
	out->fs = op.prefixes & X86_SEG;
	out->no_base = op.absolute || op.disp_at;
	out->value = op.disp;
	if (op.disp_at)
		out->addr = addr + op.size + (int64_t)op.disp;
	if (out->what == INSN_SET) {
		memcpy(&constant, code->bytes + at + op.size - sizeof(constant), sizeof(constant));
		out->value = constant;
	}
	if (out->what == INSN_SET || (out->what == INSN_COPY && op.opcode == 0x89)) {
		out->other = out->reg;
		out->reg = op.base;
	}
	return true;
}

static int32_t constant_at_end(const uint8_t *code, const struct x86_op *op)
{
	int32_t wide;

	if (op->imm_size == 1)
		return (int8_t)code[op->size - 1];
	memcpy(&wide, code + op->size - sizeof(wide), sizeof(wide));
	return wide;
}

bool insn_adds(const struct insn_code *code, uint64_t addr, struct insn_operands *out)
{
	uint64_t at = addr - code->addr;
	struct x86_op op;

	*out = (struct insn_operands){.what = INSN_SET};
	if (addr < code->addr || at >= code->len ||
	    !x86_parse(code->bytes + at, code->len - at, &op) || op.form != X86_LEGACY || op.map ||
	    !(op.rex & 8))
		return false;
	bool memory = op.modrm >> 6 != 3;

	if (op.opcode == 0x8d && memory && op.plain && !op.absolute &&
	    !(op.prefixes & X86_ADDRSIZE)) {
		out->reg = x86_reg(&op);
		out->other = op.base;
		out->value = op.disp;
		return true;
	}
	bool adds = (op.opcode == 0x81 || op.opcode == 0x83) && !memory && !(op.modrm & 0x38);

	if (!adds && op.opcode != 0x05)
		return false;
	out->reg = out->other = op.opcode == 0x05 ? X86_RAX : op.base;
	out->value = constant_at_end(code->bytes + at, &op);
	return true;
}

bool insn_takes_stack(const struct insn_code *code, uint64_t addr, struct insn_operands *out)
{
	uint64_t at = addr - code->addr;
	struct x86_op op;

	if (addr < code->addr || at >= code->len ||
	    !x86_parse(code->bytes + at, code->len - at, &op) || op.form != X86_LEGACY || op.map)
		return false;
	bool memory = op.modrm >> 6 != 3;
	uint8_t to = x86_reg(&op), from = op.base;

	if (op.opcode == 0x89 && !memory) {
		to = op.base;
		from = x86_reg(&op);
	} else if (op.opcode == 0x8b ? memory : op.opcode != 0x8d || op.disp_at || op.absolute) {
		return false;
	}
	*out = (struct insn_operands){
		.what = INSN_SET, .reg = to, .other = from, .value = memory ? op.disp : 0};
	return (from == X86_RSP || from == X86_RBP) && to != X86_RSP && to != X86_RBP;
}
