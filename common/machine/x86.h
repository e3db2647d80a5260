/* SPDX-License-Identifier: Apache-2.0 */
/* Lengths and fields of x86-64 instructions, without their meaning. Encoding: Intel SDM volume 2,
 * chapter 2 and appendix A; VEX and EVEX maps 1 to 6. */
#ifndef X86_H
#define X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum x86_prefix_bit { /* bits */
		      X86_LOCK = 1,
		      X86_SEG_OLD = 2, /* es, cs, ss, ds: without effect in 64-bit mode */
		      X86_SEG = 4,     /* fs, gs */
		      X86_OPSIZE = 8,
		      X86_ADDRSIZE = 16,
		      X86_REP = 32, /* f2, f3 */
};

enum x86_form { X86_LEGACY, X86_VEX, X86_EVEX };

struct x86_op {
	uint8_t size; /* bytes, at most 15 */
	uint8_t form; /* enum x86_form */
	uint8_t map;  /* 0: one byte, 1: 0f, 2: 0f38, 3: 0f3a, 5 and 6: EVEX only */
	uint8_t opcode;
	uint8_t prefixes; /* enum x86_prefix_bit */
	uint8_t rex;      /* 0: none */
	bool has_modrm;
	uint8_t modrm; /* 0 when there is none */
	uint8_t base;  /* register of modrm's operand, its base if it is memory */
	bool plain;    /* the operand is memory at base + disp, without an index */
	bool absolute; /* the same without a base */
	int32_t disp;
	uint8_t imm_size; /* bytes at the end: immediate or relative target */
	uint8_t disp_at;  /* offset of a 4-byte displacement relative to rip, or 0 */
};

/* false: not an instruction, or cut off by `len` */
bool x86_parse(const uint8_t *code, size_t len, struct x86_op *out);

/* modrm's other operand, which is a register: its number */
uint8_t x86_reg(const struct x86_op *op);

#endif
