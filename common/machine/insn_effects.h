/* SPDX-License-Identifier: Apache-2.0 */
#ifndef INSN_EFFECTS_H
#define INSN_EFFECTS_H

#include "machine/insn.h"

/* What an x86 instruction changes, by capstone. */
struct insn_effects {
	uint32_t writes; /* general registers: bit n is that of DWARF's number n */
	bool stores;     /* to `size` bytes at `disp` above the stack pointer; size UINT32_MAX: who
			  * knows where on the stack */
	bool constant;   /* what it writes to a register depends on nothing */
	int32_t disp;
	uint32_t size;
};

/* amd64 only; false: capstone does not know it. */
bool insn_effects(const struct insn_decoder *dec, const struct insn_code *code, uint64_t addr,
		  struct insn_effects *out);

#endif
