// SPDX-License-Identifier: Apache-2.0
#include "insn.h"

#include <capstone/capstone.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arm64.h"
#include "image.h"
#include "mem.h"
#include "x86.h"

enum { X86_ARGS = 9, ARM64_ARGS = 16 };

struct insn_decoder {
	int arch;
	csh capstone;
	cs_insn *scratch;
};

/* Opcodes of the one-byte map that the kernel refuses: what is invalid in 64-bit mode, in and out,
 * int, iret, int1, hlt, cli, sti. It looks VEX opcodes up in the same table. */
static bool refused_one_byte(uint8_t opcode)
{
	static const uint8_t list[] = {
		0x06, 0x07, 0x0e, 0x16, 0x17, 0x1e, 0x1f, 0x27, 0x2f, 0x37, 0x3f, 0x60, 0x61, 0x62,
		0x6c, 0x6d, 0x6e, 0x6f, 0x82, 0x9a, 0xc4, 0xc5, 0xcc, 0xcd, 0xce, 0xcf, 0xd4, 0xd5,
		0xd6, 0xe4, 0xe5, 0xe6, 0xe7, 0xea, 0xec, 0xed, 0xee, 0xef, 0xf1, 0xf4, 0xfa, 0xfb,
	};

	return memchr(list, opcode, sizeof(list));
}

/* The same for the 0f map: system instructions, syscall, ud2, and the group of fences and xsave. */
static bool refused_two_byte(uint8_t opcode)
{
	static const uint8_t list[] = {
		0x00, 0x01, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b,
		0x0c, 0x0e, 0x0f, 0x30, 0x34, 0x35, 0x36, 0x37, 0x39, 0x3b,
		0x3c, 0x3d, 0x3e, 0x3f, 0x78, 0x79, 0xa6, 0xa7, 0xae, 0xff,
	};

	return memchr(list, opcode, sizeof(list));
}

static bool is_x86_branch(const struct x86_op *op)
{
	if (op->form != X86_LEGACY || op->map > 1)
		return false;
	if (op->map)
		return (op->opcode & 0xf0) == 0x80;
	return op->opcode == 0xe8 || op->opcode == 0xe9 || op->opcode == 0xeb ||
	       (op->opcode & 0xf0) == 0x70;
}

static bool is_x86_nop(const struct x86_op *op)
{
	if (op->form != X86_LEGACY)
		return false;
	return (op->map == 0 && op->opcode == 0x90 && !(op->rex & 1)) ||
	       (op->map == 1 && op->opcode == 0x1f);
}

static bool x86_is_string(const struct x86_op *op)
{
	return op->form == X86_LEGACY && !op->map &&
	       ((op->opcode & 0xfc) == 0x6c || (op->opcode & 0xfc) == 0xa4 ||
		(op->opcode >= 0xaa && op->opcode <= 0xaf));
}

/* What the kernel accepts and does wrong: pushf would save the flag that single-stepping sets,
 * and popf lose it; a repeated string instruction is hit once for each repetition. 49 90
 * exchanges rax and r8, but is taken for a nop. */
static bool x86_breaks(const struct x86_op *op)
{
	if (op->form != X86_LEGACY || op->map)
		return false;
	return op->opcode == 0x9c || op->opcode == 0x9d || (op->opcode == 0x90 && op->rex & 1) ||
	       (x86_is_string(op) && op->prefixes & X86_REP);
}

static int x86_probe(const struct x86_op *op)
{
	if (op->prefixes & (X86_LOCK | X86_SEG_OLD) || op->form == X86_EVEX)
		return INSN_REFUSED;
	if (x86_breaks(op))
		return INSN_REFUSED;
	if (op->form == X86_VEX || op->map == 0) {
		if (refused_one_byte(op->opcode))
			return INSN_REFUSED;
	} else if (op->map == 1 && refused_two_byte(op->opcode)) {
		return INSN_REFUSED;
	}
	if (is_x86_branch(op))
		return op->prefixes & X86_OPSIZE ? INSN_REFUSED : INSN_EMULATED;
	if (op->form != X86_LEGACY || op->map)
		return INSN_STEPPED;
	if (op->opcode == 0x90)
		return INSN_EMULATED;
	if ((op->opcode & 0xf8) == 0x50 && (op->size == 1 || (op->size == 2 && op->rex == 0x41)))
		return INSN_EMULATED;
	return INSN_STEPPED;
}

static int x86_ff_kind(const struct x86_op *op)
{
	switch (op->modrm >> 3 & 7) {
	case 2:
	case 3:
		return INSN_CALL;
	case 4:
		return op->modrm >> 6 == 3 ? INSN_JUMP_REG : INSN_JUMP_MEM;
	case 5:
		return INSN_JUMP_REG;
	default:
		return INSN_OTHER;
	}
}

static int x86_one_byte_kind(const struct x86_op *op)
{
	switch (op->opcode) {
	case 0xe8:
		return INSN_CALL;
	case 0xe9:
	case 0xeb:
		return INSN_JUMP;
	case 0xc2:
	case 0xc3:
		return INSN_RET;
	case 0xca: /* far returns go who knows where */
	case 0xcb:
	case 0xcf:
		return INSN_JUMP_REG;
	case 0xcc:
	case 0xf1:
	case 0xf4:
		return INSN_TRAP;
	case 0xff:
		return x86_ff_kind(op);
	case 0xc6:
	case 0xc7:
		return op->modrm >> 3 & 7 ? INSN_OTHER : INSN_MOVE;
	case 0x63:
	case 0x8d:
		return INSN_MOVE;
	default:
		break;
	}
	if ((op->opcode & 0xf0) == 0x70 || (op->opcode & 0xfc) == 0xe0)
		return INSN_JUMP_IF;
	if ((op->opcode & 0xfc) == 0x88 || (op->opcode & 0xf0) == 0xb0 ||
	    (op->opcode & 0xfc) == 0xa0)
		return INSN_MOVE;
	return INSN_OTHER;
}

static int x86_two_byte_kind(const struct x86_op *op)
{
	static const uint8_t moves[] = {
		0x10, 0x11, 0x12, 0x13, 0x16, 0x17, 0x28, 0x29, 0x6e,
		0x6f, 0x7e, 0x7f, 0xb6, 0xb7, 0xbe, 0xbf, 0xd6,
	};

	if (memchr(moves, op->opcode, sizeof(moves)))
		return INSN_MOVE;
	if (op->form != X86_LEGACY)
		return INSN_OTHER;
	if ((op->opcode & 0xf0) == 0x80)
		return INSN_JUMP_IF;
	if (op->opcode == 0x0b || op->opcode == 0xb9 || op->opcode == 0xff)
		return INSN_TRAP;
	return INSN_OTHER;
}

static int x86_kind(const struct x86_op *op)
{
	if (is_x86_nop(op))
		return INSN_NOP;
	if (op->map == 1)
		return x86_two_byte_kind(op);
	return op->map == 0 && op->form == X86_LEGACY ? x86_one_byte_kind(op) : INSN_OTHER;
}

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

/* memory that is neither the stack's (rsp), nor g's (r14), nor at a fixed address */
static bool x86_may_fault(const struct x86_op *op, int kind)
{
	bool memory = op->has_modrm && op->modrm >> 6 != 3;
	bool lea = op->form == X86_LEGACY && !op->map && op->opcode == 0x8d;

	if (kind == INSN_NOP || lea || (op->prefixes & X86_SEG))
		return false;
	if (x86_is_string(op))
		return true;
	return memory && !op->disp_at && op->base != 4 && op->base != 14;
}

static bool x86_decode(const uint8_t *code, size_t len, struct insn *in)
{
	static const uint8_t nop5[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
	struct x86_op op;

	if (!x86_parse(code, len, &op))
		return false;
	in->size = op.size;
	in->kind = x86_kind(&op);
	in->probe = x86_probe(&op);
	in->may_fault = x86_may_fault(&op, in->kind);
	x86_target(code, &op, in);
	if (in->kind == INSN_JUMP_IF)
		in->cond = (op.opcode & 0xfc) == 0xe0 && !op.map ? 16 : op.opcode & 15;
	if (in->kind == INSN_JUMP_REG || in->kind == INSN_JUMP_MEM)
		in->reg = op.base;
	in->padding = code[0] == 0xcc || (op.size == 2 && !code[0] && !code[1]);
	in->nop5 = op.size == 5 && !memcmp(code, nop5, 5);
	return true;
}

static bool arm64_decode(const uint8_t *code, size_t len, struct insn *in)
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
	uint32_t word;

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
	return dec->arch == IMAGE_ARM64 ? arm64_decode(bytes, len, out)
					: x86_decode(bytes, len, out);
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
