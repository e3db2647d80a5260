/* SPDX-License-Identifier: Apache-2.0 */
/* One machine instruction of x86-64 or arm64, as far as probing needs to know it. Decoded by
 * capstone, with the few encodings added that capstone 4 does not know. */
#ifndef INSN_H
#define INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum insn_kind {
	INSN_OTHER,
	INSN_CALL,     /* target 0: indirect */
	INSN_JUMP,     /* direct, unconditional */
	INSN_JUMP_IF,  /* direct, conditional */
	INSN_JUMP_REG, /* through a register: a tail call, or hand-written assembly */
	INSN_JUMP_MEM, /* through memory: a switch table */
	INSN_RET,      /* c3; arm64: d65f03c0 */
	INSN_TRAP,     /* int3, ud2, hlt, brk: nothing follows */
	INSN_MOVE,     /* register, memory and vector moves, lea: what spill blocks are made of */
	INSN_NOP,
};

/* What this kernel does with a uprobe on the instruction (arch/x86/kernel/uprobes.c). */
enum insn_probe {
	INSN_STEPPED,  /* executed out of line, single-stepped */
	INSN_EMULATED, /* about ten times cheaper */
	INSN_REFUSED,  /* ENOTSUPP, or probing it would break the program (49 90) */
};

struct insn {
	uint64_t addr;
	uint64_t target; /* of a direct call or jump */
	uint8_t size;	 /* bytes */
	uint8_t cond;	 /* JUMP_IF on x86: condition code 0..15, low nibble of the opcode */
	uint8_t kind;	 /* enum insn_kind */
	uint8_t probe;	 /* enum insn_probe */
	uint32_t writes; /* argument registers overwritten: bit n = n-th integer argument register of
			  * ABIInternal (rax rbx rcx rdi rsi r8 r9 r10 r11; arm64 x0..x15) */
};

struct insn_decoder;

/* `arch` is an enum image_arch. Dies when capstone lacks it. Not shared between threads. */
struct insn_decoder *insn_decoder_new(int arch);
void insn_decoder_free(struct insn_decoder *dec);

/* Decodes the instruction at `code`, `len` bytes of which are there, standing at `addr`.
 * false: not an instruction known here; nothing must then be assumed of what follows. */
bool insn_decode(struct insn_decoder *dec, const void *code, size_t len, uint64_t addr,
		 struct insn *out);
/* as above, with `writes` filled (slower) */
bool insn_decode_writes(struct insn_decoder *dec, const void *code, size_t len, uint64_t addr,
			struct insn *out);

#endif
