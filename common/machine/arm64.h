/* SPDX-License-Identifier: Apache-2.0 */
/* arm64 instructions by their bit patterns: Arm ARM, section C4. */
#ifndef ARM64_H
#define ARM64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum arm64_class {
	ARM64_OTHER,
	ARM64_BL,
	ARM64_BLR,
	ARM64_B,
	ARM64_B_COND,
	ARM64_CBZ, /* cbz, cbnz, tbz, tbnz */
	ARM64_BR,  /* br, and ret of a register other than x30 */
	ARM64_RET,
	ARM64_TRAP,
	ARM64_MOVE,
	ARM64_NOP,
};

struct arm64_op {
	uint8_t class;
	uint8_t cond;   /* of B_COND */
	uint8_t reg;    /* of BR, BLR */
	bool simulated; /* by the kernel, rather than stepped */
	bool may_fault; /* a load or store that is based neither on sp nor on g (x28) */
	bool refused;   /* by the kernel */
	bool direct;    /* a branch to a fixed offset */
	int64_t offset; /* of a direct branch, bytes from its own address */
};

void arm64_parse(uint32_t word, struct arm64_op *out);

/* `ldr reg, [base, index, lsl #3]` just before `br reg`: a switch. Fills the base register. */
bool arm64_is_table_load(uint32_t word, uint8_t reg, uint8_t *base);
/* `adrp reg, page` at addr, then `add reg, reg, #low`: the address that they compute */
bool arm64_is_address(uint32_t adrp, uint32_t add, uint64_t addr, uint64_t *out, uint8_t *reg);

#endif
