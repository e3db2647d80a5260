/* SPDX-License-Identifier: Apache-2.0 */
#ifndef INSN_REGS_H
#define INSN_REGS_H

#include "machine/insn.h"

/* What an instruction does with the registers that arguments are passed in, and with the stack. */
struct insn_regs {
	uint32_t reads, writes; /* bit n: n-th integer argument register, as `writes` above */
	uint32_t float_reads, float_writes; /* n-th floating-point one: x0 to x15, f0 to f15 */
	bool stack_read, stack_written;     /* memory at stack pointer + stack_off, no index; an
					     * address taken is read */
	int32_t stack_off;                  /* bytes */
};

/* By capstone; false as above. What a call reads and writes is not told. */
bool insn_decode_regs(const struct insn_decoder *dec, const struct insn_code *code, uint64_t addr,
		      struct insn *out, struct insn_regs *regs);

#endif
