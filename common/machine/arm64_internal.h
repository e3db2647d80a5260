/* SPDX-License-Identifier: Apache-2.0 */
/* arm64 instructions by their bit patterns: Arm ARM, section C4. */
#ifndef ARM64_INTERNAL_H
#define ARM64_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/insn.h"

enum {
	ARM64_SCRATCH = 27
}; /* holds what Go's assembler needs for one instruction of the compiler */

struct arm64_op {
	enum insn_kind kind;
	uint8_t cond;   /* of a conditional jump, as in struct insn */
	uint8_t reg;    /* of an indirect jump or call, and ret of a register other than x30 */
	bool simulated; /* by the kernel, rather than stepped */
	bool may_fault; /* a load or store that is based neither on sp nor on g (x28) */
	bool refused;   /* by the kernel */
	bool floats,
		stays;  /* as in struct insn; of two instructions that belong together, the first */
	bool direct;    /* a branch to a fixed offset */
	int64_t offset; /* of a direct branch, bytes from its own address */
};

void arm64_parse(uint32_t word, struct arm64_op *out);

struct access;
/* What access_parse() tells. */
void arm64_access(uint32_t word, struct access *out);
/* adrp or adr, which stands at addr: what it computes */
bool arm64_page(uint32_t word, uint64_t addr, uint64_t *out);

/* `ldr reg, [base, index, lsl #3]` just before `br reg`: a switch. Fills the base register. */
bool arm64_is_table_load(uint32_t word, uint8_t reg, uint8_t *base);
/* `adrp reg, page` at addr, then `add reg, reg, #low`: the address that they compute */
bool arm64_is_address(uint32_t adrp, uint32_t add, uint64_t addr, uint64_t *out, uint8_t *reg);

#endif
