// SPDX-License-Identifier: Apache-2.0
#include "machine/arm64_internal.h"

enum { NO_COND = 16, SP = 31 };

static int64_t field(uint32_t word, unsigned at, unsigned width)
{
	uint32_t value = word >> at & ((1u << width) - 1);
	int64_t sign = 1ll << (width - 1);

	return ((int64_t)(value ^ sign) - sign) * 4;
}

static bool parse_direct(uint32_t word, struct arm64_op *out)
{
	if ((word & 0x7c000000) == 0x14000000) {
		out->kind = word >> 31 ? INSN_CALL : INSN_JUMP;
		out->offset = field(word, 0, 26);
	} else if ((word & 0xff000010) == 0x54000000) {
		out->kind = INSN_JUMP_IF;
		out->cond = word & 15;
		out->offset = field(word, 5, 19);
	} else if ((word & 0x7e000000) == 0x34000000) {
		out->kind = INSN_JUMP_IF; /* cbz, cbnz */
		out->cond = NO_COND;
		out->offset = field(word, 5, 19);
	} else if ((word & 0x7e000000) == 0x36000000) {
		out->kind = INSN_JUMP_IF; /* tbz, tbnz */
		out->cond = NO_COND;
		out->offset = field(word, 5, 14);
	} else {
		return false;
	}
	out->direct = true;
	return true;
}

static bool parse_indirect(uint32_t word, struct arm64_op *out)
{
	uint32_t op = word & 0xfffffc1f;

	out->reg = word >> 5 & 31;
	if (word == 0xd65f03c0)
		out->kind = INSN_RET;
	else if (op == 0xd63f0000)
		out->kind = INSN_CALL;
	else if (op == 0xd61f0000 || op == 0xd65f0000)
		out->kind = INSN_JUMP_REG;
	else
		return false;
	return true;
}

/* from an address given by its distance: ldr, ldrsw, prfm */
static bool is_literal(uint32_t word)
{
	return (word & 0x3b000000) == 0x18000000;
}

static bool may_fault(uint32_t word)
{
	uint32_t base = word >> 5 & 31;

	return (word & 0x0a000000) == 0x08000000 && !is_literal(word) && base != 31 && base != 28;
}

/* loads, stores and register moves, as blocks that spill arguments hold */
static bool is_move(uint32_t word)
{
	if ((word & 0x0a000000) == 0x08000000)            /* loads and stores */
		return (word & 0x3f000000) != 0x08000000; /* not the exclusive ones */
	return (word & 0x7fe0ffe0) == 0x2a0003e0 ||       /* mov */
	       (word & 0x7fffffc0) == 0x11000000;         /* mov to and from sp */
}

/* exceptions, system registers, barriers, hints other than nop, exclusive loads and stores; loads
 * of literals, which kernels before 6.12 take a probe for, but read from the wrong place */
static bool is_refused(uint32_t word)
{
	if ((word & 0xff000000) == 0xd4000000 || !word || is_literal(word))
		return true;
	if ((word & 0xffc00000) == 0xd5000000)
		return word != 0xd503201f;
	return (word & 0x3f000000) == 0x08000000;
}

static bool is_store(uint32_t word)
{
	unsigned opc = word >> 22 & 3;
	bool vector = word >> 26 & 1;

	if ((word & 0x3b200c00) == 0x38200000) /* atomic operations: ldadd, swp, ... */
		return true;
	switch (word & 0x3a000000) {
	case 0x28000000: /* pairs */
		return !(opc & 1);
	case 0x38000000:
		return !opc || (vector && opc == 2 && !(word >> 30));
	case 0x08000000: /* exclusive and ordered ones; cas */
		return !vector && (!(opc & 1) || (word & 0x3fa07c00) == 0x08a07c00);
	default:
		return false;
	}
}

/* a store, but to the stack, or a nil check, which loads into Go's scratch register */
static bool stays(uint32_t word)
{
	if ((word >> 5 & 31) == SP)
		return false;
	return is_store(word) || (word & 0xffc0001f) == (0x39800000 | ARM64_SCRATCH);
}

/* A constant, or a move between registers or to or from the stack; see x86kind_floats(). The second
 * half of an address: arm64_is_address(). */
static bool floats(uint32_t word)
{
	if ((word & 0x0a000000) == 0x08000000)
		return is_literal(word) || (word >> 5 & 31) == SP;
	return word == 0xd503201f ||                /* nop */
	       (word & 0x7fe0ffe0) == 0x2a0003e0 || /* mov */
	       (word & 0x1f800000) == 0x12800000 || /* movz, movn, movk */
	       (word & 0x7f8003e0) == 0x320003e0 || /* mov of a bit mask */
	       (word & 0xff8003e0) == 0x910003e0 || /* add x, sp, # */
	       ((word & 0x9f000000) == 0x90000000 && (word & 31) != ARM64_SCRATCH) || /* adrp */
	       (word & 0xff3ffc00) == 0x1e204000 || /* fmov d, d */
	       (word & 0xff201fe0) == 0x1e201000 || /* fmov d, # */
	       (word & 0x7f3fffe0) == 0x1e2703e0;   /* fmov d, xzr */
}

void arm64_parse(uint32_t word, struct arm64_op *out)
{
	*out = (struct arm64_op){
		.kind = INSN_OTHER,
		.refused = is_refused(word),
		.may_fault = may_fault(word),
		.stays = stays(word),
		.floats = floats(word),
	};
	if (parse_direct(word, out) || parse_indirect(word, out) ||
	    (word & 0x1f000000) == 0x10000000) { /* adr, adrp */
		out->simulated = true;
	} else if (word == 0xd503201f) {
		out->kind = INSN_NOP;
	} else if (!word || (word & 0xffe0001f) == 0xd4200000) {
		out->kind = INSN_TRAP;
	} else if (is_move(word)) {
		out->kind = INSN_MOVE;
	}
}

bool arm64_is_table_load(uint32_t word, uint8_t reg, uint8_t *base)
{
	*base = word >> 5 & 31;
	return (word & 0xffe0fc00) == 0xf8607800 && (word & 31) == reg;
}

bool arm64_is_address(uint32_t adrp, uint32_t add, uint64_t addr, uint64_t *out, uint8_t *reg)
{
	bool paged = arm64_page(adrp, addr, out);

	*reg = add & 31;
	*out += add >> 10 & 0xfff;
	return paged && adrp >> 31 && (add & 0xffc00000) == 0x91000000 && (adrp & 31) == *reg &&
	       (add >> 5 & 31) == *reg;
}
