// SPDX-License-Identifier: Apache-2.0
#include "insn.h"

#include <capstone/capstone.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arm64.h"
#include "image.h"
#include "insn_effects.h"
#include "mem.h"
#include "x86.h"
#include "x86kind.h"

enum { X86_ARGS = 9, ARM64_ARGS = 16 };

struct insn_decoder {
	int arch;
	csh capstone;
	cs_insn *scratch;
};

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
		in->reg = (op->modrm >> 3 & 7) | (op->rex & 4 ? 8 : 0);
	}
}

static bool is_control(const struct insn *in)
{
	return in->kind == INSN_CALL || in->kind == INSN_JUMP_IF || in->kind == INSN_JUMP_MEM;
}

static bool x86_decode(const uint8_t *code, size_t len, struct insn *in)
{
	static const uint8_t nop5[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
	static const uint8_t kinds[] = {
		[X86_OTHER] = INSN_OTHER,       [X86_CALL] = INSN_CALL,
		[X86_JUMP] = INSN_JUMP,         [X86_JUMP_IF] = INSN_JUMP_IF,
		[X86_JUMP_REG] = INSN_JUMP_REG, [X86_JUMP_MEM] = INSN_JUMP_MEM,
		[X86_RET] = INSN_RET,           [X86_TRAP] = INSN_TRAP,
		[X86_MOVE] = INSN_MOVE,         [X86_NOP] = INSN_NOP,
	};
	struct x86_op op;

	if (!x86_parse(code, len, &op))
		return false;
	in->size = op.size;
	in->kind = kinds[x86kind_of(&op)];
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
	in->padding = code[0] == 0xcc || (op.size == 2 && !code[0] && !code[1]);
	in->nop5 = op.size == 5 && !memcmp(code, nop5, 5);
	return true;
}

/* what takes two instructions to say: `before` is the one before */
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
	}
}

static bool arm64_decode(const uint8_t *code, size_t len, bool has_before, struct insn *in)
{
	static const uint8_t kinds[] = {
		[ARM64_OTHER] = INSN_OTHER,    [ARM64_BL] = INSN_CALL,
		[ARM64_BLR] = INSN_CALL,       [ARM64_B] = INSN_JUMP,
		[ARM64_B_COND] = INSN_JUMP_IF, [ARM64_CBZ] = INSN_JUMP_IF,
		[ARM64_BR] = INSN_JUMP_REG,    [ARM64_RET] = INSN_RET,
		[ARM64_TRAP] = INSN_TRAP,      [ARM64_MOVE] = INSN_MOVE,
		[ARM64_NOP] = INSN_NOP,
	};
	struct arm64_op op;
	uint32_t word, before;

	if (len < sizeof(word) || in->addr % sizeof(word))
		return false;
	memcpy(&word, code, sizeof(word));
	arm64_parse(word, &op);
	in->size = sizeof(word);
	in->kind = kinds[op.class];
	in->cond = op.class == ARM64_CBZ ? 16 : op.cond;
	in->reg = op.reg;
	in->target = op.direct ? in->addr + op.offset : 0;
	in->probe = op.refused ? INSN_REFUSED : op.simulated ? INSN_EMULATED : INSN_STEPPED;
	in->may_fault = op.may_fault;
	in->padding = !word;
	if (has_before) {
		memcpy(&before, code - sizeof(before), sizeof(before));
		arm64_pair(before, word, in);
	}
	in->stays = is_control(in);
	return true;
}

static _Noreturn void no_capstone(cs_err err)
{
	fprintf(stderr, "capstone: %s\n", cs_strerror(err));
	exit(1);
}

struct insn_decoder *insn_decoder_new(int arch)
{
	struct insn_decoder *dec = mem_zalloc(1, sizeof(*dec));
	bool arm = arch == IMAGE_ARM64;
	cs_err err = cs_open(arm ? CS_ARCH_ARM64 : CS_ARCH_X86, arm ? CS_MODE_ARM : CS_MODE_64,
			     &dec->capstone);

	if (err)
		no_capstone(err);
	cs_option(dec->capstone, CS_OPT_DETAIL, CS_OPT_ON);
	dec->arch = arch;
	dec->scratch = cs_malloc(dec->capstone);
	if (!dec->scratch)
		no_capstone(CS_ERR_MEM);
	return dec;
}

void insn_decoder_free(struct insn_decoder *dec)
{
	if (!dec)
		return;
	cs_free(dec->scratch, 1);
	cs_close(&dec->capstone);
	free(dec);
}

/* the bytes from addr on; NULL when it is outside */
static const uint8_t *code_at(const struct insn_code *code, uint64_t addr, size_t *len)
{
	if (addr < code->addr || addr - code->addr >= code->len)
		return NULL;
	*len = code->len - (addr - code->addr);
	return code->bytes + (addr - code->addr);
}

bool insn_decode(const struct insn_decoder *dec, const struct insn_code *code, uint64_t addr,
		 struct insn *out)
{
	size_t len = 0;
	const uint8_t *bytes = code_at(code, addr, &len);

	*out = (struct insn){.addr = addr};
	if (!bytes)
		return false;
	if (dec->arch == IMAGE_ARM64)
		return arm64_decode(bytes, len, addr - code->addr >= sizeof(uint32_t), out);
	return x86_decode(bytes, len, out);
}

static const uint16_t x86_args[X86_ARGS][5] = {
	{X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH},
	{X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH},
	{X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH},
	{X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL, 0},
	{X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL, 0},
	{X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B, 0},
	{X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B, 0},
	{X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B, 0},
	{X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B, 0},
};

static uint32_t x86_arg_bit(uint16_t reg)
{
	for (int i = 0; i < X86_ARGS; i++)
		for (int j = 0; j < 5; j++)
			if (reg && x86_args[i][j] == reg)
				return 1u << i;
	return 0;
}

static uint32_t arm64_arg_bit(uint16_t reg)
{
	if (reg >= ARM64_REG_X0 && reg < ARM64_REG_X0 + ARM64_ARGS)
		return 1u << (reg - ARM64_REG_X0);
	if (reg >= ARM64_REG_W0 && reg < ARM64_REG_W0 + ARM64_ARGS)
		return 1u << (reg - ARM64_REG_W0);
	return 0;
}

bool insn_decode_writes(const struct insn_decoder *dec, const struct insn_code *code, uint64_t addr,
			struct insn *out)
{
	size_t len = 0;
	const uint8_t *bytes = code_at(code, addr, &len);
	cs_regs read, written;
	uint8_t nread = 0, nwritten = 0;

	if (!insn_decode(dec, code, addr, out))
		return false;
	if (out->kind == INSN_CALL) {
		out->writes = ~0u;
		return true;
	}
	if (!cs_disasm_iter(dec->capstone, &bytes, &len, &addr, dec->scratch) ||
	    cs_regs_access(dec->capstone, dec->scratch, read, &nread, written, &nwritten))
		return false;
	for (int i = 0; i < nwritten; i++)
		out->writes |= dec->arch == IMAGE_ARM64 ? arm64_arg_bit(written[i])
							: x86_arg_bit(written[i]);
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
	size_t len = 0;
	const uint8_t *bytes = code_at(code, addr, &len);
	struct x86_op op;

	*out = (struct insn_operands){0};
	if (!bytes || !x86_parse(bytes, len, &op) || op.form != X86_LEGACY || op.map ||
	    !(op.rex & 8) || !operands_what(&op, out))
		return false;
	if (op.modrm >> 6 != 3 && !op.plain)
		return false;
	out->reg = (op.modrm >> 3 & 7) | (op.rex & 4 ? 8 : 0);
	out->other = op.base;
	out->fs = op.prefixes & X86_SEG;
	out->no_base = op.absolute;
	out->value = out->what == INSN_SET ? signed_at(bytes + op.size - 4, 4) : op.disp;
	if (out->what == INSN_SET || (out->what == INSN_COPY && op.opcode == 0x89)) {
		out->other = out->reg;
		out->reg = op.base;
	}
	return true;
}

/* by DWARF's numbers: System V ABI, AMD64 supplement, figure 3.36 */
static uint32_t hardware_bit(uint16_t reg)
{
	static const uint16_t names[16][5] = {
		{X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH},
		{X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH},
		{X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH},
		{X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH},
		{X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL},
		{X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL},
		{X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL},
		{X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL},
		{X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B},
		{X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B},
		{X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B},
		{X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B},
		{X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B},
		{X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B},
		{X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B},
		{X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B},
	};

	for (unsigned i = 0; i < 16; i++)
		for (unsigned j = 0; j < 5; j++)
			if (reg && names[i][j] == reg)
				return 1u << i;
	return 0;
}

static bool reads_only(unsigned id)
{
	return id == X86_INS_CMP || id == X86_INS_TEST || id == X86_INS_NOP || id == X86_INS_CALL ||
	       id == X86_INS_JMP || id == X86_INS_PUSH || id == X86_INS_UCOMISD ||
	       id == X86_INS_UCOMISS;
}

/* What capstone says of reading and writing is not right for all: the first operand is taken for
 * written, and of an exchange both. */
static void stack_store(const cs_insn *insn, struct insn_effects *out)
{
	const cs_x86 *x86 = &insn->detail->x86;

	if (reads_only(insn->id))
		return;
	for (unsigned i = 0; i < x86->op_count && i < 2; i++) {
		const cs_x86_op *op = &x86->operands[i];

		if (op->type != X86_OP_MEM || (i && insn->id != X86_INS_XCHG))
			continue;
		if (op->mem.base != X86_REG_RSP && op->mem.index != X86_REG_RSP)
			continue;
		out->stores = true;
		out->disp = op->mem.disp;
		out->size = op->mem.index == X86_REG_INVALID ? op->size : UINT32_MAX;
	}
}

static bool is_constant(const cs_insn *insn)
{
	const cs_x86_op *ops = insn->detail->x86.operands;
	bool two = insn->detail->x86.op_count == 2;

	if (insn->id == X86_INS_LEA)
		return two && ops[1].mem.base == X86_REG_RIP;
	if (insn->id == X86_INS_XOR || insn->id == X86_INS_SUB)
		return two && ops[1].type == X86_OP_REG && ops[0].type == X86_OP_REG &&
		       ops[0].reg == ops[1].reg;
	return (insn->id == X86_INS_MOV || insn->id == X86_INS_MOVABS) && two &&
	       ops[1].type == X86_OP_IMM;
}

bool insn_effects(const struct insn_decoder *dec, const struct insn_code *code, uint64_t addr,
		  struct insn_effects *out)
{
	size_t len = 0;
	const uint8_t *bytes = code_at(code, addr, &len);
	cs_regs read, written;
	uint8_t nread = 0, nwritten = 0;

	*out = (struct insn_effects){0};
	if (dec->arch == IMAGE_ARM64 || !bytes ||
	    !cs_disasm_iter(dec->capstone, &bytes, &len, &addr, dec->scratch) ||
	    cs_regs_access(dec->capstone, dec->scratch, read, &nread, written, &nwritten))
		return false;
	if (dec->scratch->id == X86_INS_CALL)
		out->writes = ~(1u << 7); /* all but the stack pointer */
	for (int i = 0; i < nwritten; i++)
		out->writes |= hardware_bit(written[i]);
	stack_store(dec->scratch, out);
	out->constant = is_constant(dec->scratch);
	return true;
}
