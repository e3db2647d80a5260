/* SPDX-License-Identifier: Apache-2.0 */
/* Which variables machine code refers to. */
#ifndef CODEREFS_H
#define CODEREFS_H

#include <stdint.h>

#include "machine/access.h"

struct insn_code;

struct coderef {
	uint64_t addr;
	uint8_t bytes; /* as in struct access */
	enum access_how how;
};

/* Calls fn for each, in the order of the code, as often as they occur, up to where no instruction
 * is. arm64 puts addresses together of two halves, and reaches what is beside: what is added to, or
 * reached from, an address in a register is found up to where other code may join. */
void coderefs_each(enum arch arch, const struct insn_code *code,
		   void (*fn)(const struct coderef *ref, void *ctx), void *ctx);
/* Calls fn for each access to what is `off` bytes beyond an address in a register: a field of a
 * struct. Far ones are of several instructions on arm64. */
void coderefs_fields(enum arch arch, const struct insn_code *code,
		     void (*fn)(int32_t off, void *ctx), void *ctx);

#endif
