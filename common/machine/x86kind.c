// SPDX-License-Identifier: Apache-2.0
#include "machine/x86kind_internal.h"

#include <string.h>

#include "machine/registers.h"
#include "machine/x86.h"

/* Opcodes of the one-byte map that the kernel refuses: what is invalid in 64-bit mode, in and out,
 * int, iret, int1, hlt, cli, sti. The kernel looks VEX opcodes up in the same table. */
static bool is_refused_one_byte(uint8_t opcode)
{
	static const uint8_t list[] = {
		0x06, 0x07, 0x0e, 0x16, 0x17, 0x1e, 0x1f, 0x27, 0x2f, 0x37, 0x3f, 0x60, 0x61, 0x62,
		0x6c, 0x6d, 0x6e, 0x6f, 0x82, 0x9a, 0xc4, 0xc5, 0xcc, 0xcd, 0xce, 0xcf, 0xd4, 0xd5,
		0xd6, 0xe4, 0xe5, 0xe6, 0xe7, 0xea, 0xec, 0xed, 0xee, 0xef, 0xf1, 0xf4, 0xfa, 0xfb,
	};

	return memchr(list, opcode, sizeof(list));
}

/* The same for the 0f map: system instructions, syscall, ud2, and the group of fences and xsave. */
static bool is_refused_two_byte(uint8_t opcode)
{
	static const uint8_t list[] = {
		0x00, 0x01, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b,
		0x0c, 0x0e, 0x0f, 0x30, 0x34, 0x35, 0x36, 0x37, 0x39, 0x3b,
		0x3c, 0x3d, 0x3e, 0x3f, 0x78, 0x79, 0xa6, 0xa7, 0xae, 0xff,
	};

	return memchr(list, opcode, sizeof(list));
}

static bool is_branch(const struct x86_op *op)
{
	if (op->form != X86_LEGACY || op->map > 1)
		return false;
	if (op->map)
		return (op->opcode & 0xf0) == 0x80;
	return op->opcode == 0xe8 || op->opcode == 0xe9 || op->opcode == 0xeb ||
	       (op->opcode & 0xf0) == 0x70;
}

static bool is_nop(const struct x86_op *op)
{
	if (op->form != X86_LEGACY)
		return false;
	return (op->map == 0 && op->opcode == 0x90 && !(op->rex & 1)) ||
	       (op->map == 1 && op->opcode == 0x1f);
}

static bool is_string(const struct x86_op *op)
{
	return op->form == X86_LEGACY && !op->map &&
	       ((op->opcode & 0xfc) == 0x6c || (op->opcode & 0xfc) == 0xa4 ||
		(op->opcode >= 0xaa && op->opcode <= 0xaf));
}

/* What the kernel accepts and does wrong: pushf would save the flag that single-stepping sets, and
 * popf would lose it; a repeated string instruction is hit once for each repetition; 49 90
 * exchanges rax and r8, but is taken for a nop. */
bool x86kind_breaks(const struct x86_op *op)
{
	if (op->form != X86_LEGACY || op->map)
		return false;
	return op->opcode == 0x9c || op->opcode == 0x9d || (op->opcode == 0x90 && op->rex & 1) ||
	       (is_string(op) && op->prefixes & X86_REP);
}

bool x86kind_refused(const struct x86_op *op)
{
	if (op->prefixes & (X86_LOCK | X86_SEG_OLD) || op->form == X86_EVEX || x86kind_breaks(op))
		return true;
	if (is_branch(op))
		return op->prefixes & X86_OPSIZE;
	if (op->form == X86_VEX || op->map == 0)
		return is_refused_one_byte(op->opcode);
	return op->map == 1 && is_refused_two_byte(op->opcode);
}

bool x86kind_emulated(const struct x86_op *op)
{
	if (x86kind_refused(op))
		return false;
	if (is_branch(op))
		return true;
	if (op->form != X86_LEGACY || op->map)
		return false;
	if (op->opcode == 0x90)
		return true;
	return (op->opcode & 0xf8) == 0x50 && (op->size == 1 || (op->size == 2 && op->rex == 0x41));
}

/* mov or lea of a 64-bit register to itself; the kernel knows it by one of mov's two opcodes */
static bool moves_nothing(const struct x86_op *op)
{
	if (op->form != X86_LEGACY || op->map || !(op->rex & 8) || x86_reg(op) != op->base)
		return false;
	if (op->opcode == 0x8d)
		return op->plain && !op->absolute && !op->disp;
	return op->opcode == 0x89 && op->modrm >> 6 == 3;
}

bool x86kind_long_nop(const struct x86_op *op)
{
	return (op->size == 5 && (is_nop(op) || moves_nothing(op))) ||
	       (op->size == 10 && is_nop(op));
}

static enum insn_kind ff_kind(const struct x86_op *op)
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

static enum insn_kind one_byte_kind(const struct x86_op *op)
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
	case 0xca: /* a far return may go anywhere */
	case 0xcb:
	case 0xcf:
		return INSN_JUMP_REG;
	case 0xcc:
	case 0xf1:
	case 0xf4:
		return INSN_TRAP;
	case 0xff:
		return ff_kind(op);
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

static enum insn_kind two_byte_kind(const struct x86_op *op)
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

enum insn_kind x86kind_of(const struct x86_op *op)
{
	if (is_nop(op))
		return INSN_NOP;
	if (op->map == 1)
		return two_byte_kind(op);
	return op->map == 0 && op->form == X86_LEGACY ? one_byte_kind(op) : INSN_OTHER;
}

bool x86kind_may_fault(const struct x86_op *op)
{
	bool memory = op->has_modrm && op->modrm >> 6 != 3;
	bool lea = op->form == X86_LEGACY && !op->map && op->opcode == 0x8d;

	if (is_nop(op) || lea || (op->prefixes & X86_SEG))
		return false;
	if (is_string(op))
		return true;
	return memory && !op->disp_at && op->base != X86_RSP && op->base != X86_R14;
}

static bool is_memory(const struct x86_op *op)
{
	return op->has_modrm && op->modrm >> 6 != 3;
}

static bool is_stack(const struct x86_op *op)
{
	return is_memory(op) && !op->disp_at && op->base == X86_RSP;
}

bool x86kind_floats(const struct x86_op *op)
{
	bool same = op->has_modrm && (op->modrm & 7) == (op->modrm >> 3 & 7);
	enum insn_kind kind = x86kind_of(op);

	if (kind == INSN_NOP)
		return true;
	/* moves that the register allocator makes */
	if (kind == INSN_MOVE && op->has_modrm && !is_memory(op) && op->form == X86_LEGACY &&
	    (op->map == 0 ? op->opcode == 0x89 || op->opcode == 0x8b
			  : op->map == 1 && (op->opcode == 0x28 || op->opcode == 0x10)))
		return true;
	if (kind == INSN_MOVE && (is_stack(op) || op->disp_at))
		return !is_memory(op) || is_stack(op) || op->opcode == 0x8d;
	if (op->form != X86_LEGACY || op->map)
		return op->map == 1 && op->opcode == 0x57 && !is_memory(op) && same; /* xorps */
	if ((op->opcode & 0xf0) == 0xb0 || (op->opcode == 0xc7 && !is_memory(op)))
		return true;
	return (op->opcode == 0x31 || op->opcode == 0x33) && !is_memory(op) && same; /* xor */
}

static bool one_byte_stays(const struct x86_op *op)
{
	uint8_t reg = op->modrm >> 3 & 7;

	if (op->opcode < 0x40) /* arithmetic that writes memory, except cmp */
		return (op->opcode & 7) < 2 && op->opcode < 0x38;
	switch (op->opcode) {
	case 0x80:
	case 0x81:
	case 0x83:
		return reg != 7;
	case 0xf6:
	case 0xf7:
		return reg == 2 || reg == 3;
	case 0xfe:
	case 0xff:
		return reg < 2;
	case 0x84: /* test [reg], al is Go's nil check */
	case 0x86:
	case 0x87:
	case 0x88:
	case 0x89:
	case 0xc6:
	case 0xc7:
		return true;
	default:
		return false;
	}
}

bool x86kind_stays(const struct x86_op *op)
{
	static const uint8_t stores[] = {0x11, 0x13, 0x17, 0x29, 0x7f, 0xb0,
					 0xb1, 0xc0, 0xc1, 0xd6, 0xe7};

	if (!is_memory(op) || is_stack(op))
		return false;
	if (op->map == 1)
		return memchr(stores, op->opcode, sizeof(stores));
	return op->map == 0 && op->form == X86_LEGACY && one_byte_stays(op);
}
