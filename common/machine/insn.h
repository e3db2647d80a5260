/* SPDX-License-Identifier: Apache-2.0 */
/* One machine instruction of x86-64 or arm64, as far as probing needs to know it. Its kind is
 * decoded from its bytes here; capstone tells which registers it writes. */
#ifndef INSN_H
#define INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/arch.h"

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

/* What the kernel does with a uprobe on the instruction (its arch/x86/kernel/uprobes.c, measured
 * on 6.18; arch/arm64/kernel/probes/decode-insn.c). */
enum insn_probe {
	INSN_STEPPED,  /* executed out of line, single-stepped */
	INSN_EMULATED, /* about ten times cheaper */
	INSN_REFUSED,  /* ENOTSUPP; or, where `breaks`, it would execute it wrongly (49 90) */
};

struct insn {
	uint64_t addr;
	uint64_t target; /* of a direct call or jump; for lea reg,[rip+N] and adrp, add the address
			  */
	uint8_t size;    /* bytes */
	uint8_t cond;    /* JUMP_IF: condition code, low nibble of the opcode (x86: 16 for loop and
			  * jrcxz; arm64: 16 for cbz, tbz) */
	uint8_t kind;    /* enum insn_kind */
	uint8_t probe;   /* enum insn_probe */
	uint8_t reg;     /* a rip-relative lea's result; the base register of an indirect jump */
	bool may_fault;  /* accesses memory other than the stack, g or a constant address */
	bool floats;     /* its place says nothing of its source position: see x86kind_floats() */
	bool stays;      /* calls, branches, stores, nil checks: never moved by the compiler */
	bool padding;    /* int3, zeros: what linkers put between functions */
	/* `long_nop`: x86kind_long_nop(), a probe there makes kernels from 6.18 on write below SP,
	 * where goroutines may have no room. `breaks`: the kernel takes a probe, and does it wrong.
	 * `again`: set by sites/restart_internal.h, may be executed again in the same run.
	 * `plain_ret`: c3
	 */
	bool long_nop, breaks, again, plain_ret;
	uint32_t writes; /* argument registers overwritten: bit n = n-th integer argument register
			  * of ABIInternal: REGISTERS_GO */
};

struct insn_code { /* machine code: `len` bytes that stand at virtual address `addr` */
	const uint8_t *bytes;
	size_t len;
	uint64_t addr;
};

/* What a simple 8-byte x86 instruction does with one register and another place. */
struct insn_operands {
	enum { INSN_LOAD, INSN_STORE, INSN_COMPARE, INSN_COPY, INSN_SET } what;
	uint8_t reg;   /* number in the machine's order: rax 0, rcx 1, rdx 2, rbx 3, rsp 4, ... */
	uint8_t other; /* COPY: the register copied; else the base register */
	bool fs;       /* the memory is thread-local */
	bool no_base;  /* the memory is at `value` itself, or at `addr` */
	int32_t value; /* displacement; SET: the constant */
	uint64_t addr; /* of memory at a distance from the instruction; 0: it is not */
};

/* Dies when capstone lacks it. Not shared between threads. */
struct insn_decoder *insn_decoder_new(enum arch arch);
void insn_decoder_free(struct insn_decoder *dec);

/* Decodes the instruction at `addr`. false: addr is outside, or what is there is no instruction;
 * nothing must then be assumed of what follows. */
bool insn_decode(const struct insn_decoder *dec, const struct insn_code *code, uint64_t addr,
		 struct insn *out);
/* The same, with `writes` filled, by capstone (slower); false too where capstone does not know
 * the instruction. */
bool insn_decode_writes(const struct insn_decoder *dec, const struct insn_code *code, uint64_t addr,
			struct insn *out);

/* amd64 only: false for any but mov and cmp of a 64-bit register with a register, memory without an
 * index, or a constant. */
bool insn_operands(const struct insn_code *code, uint64_t addr, struct insn_operands *out);

#endif
