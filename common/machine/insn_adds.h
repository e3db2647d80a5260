/* SPDX-License-Identifier: Apache-2.0 */
#ifndef INSN_ADDS_H
#define INSN_ADDS_H

#include "machine/insn.h"

/* x86's lea of memory without an index, and add of a constant: `reg` is set to `other` and `value`
 * together. false: it is none of these, or not of 64 bits. */
bool insn_adds(const struct insn_code *code, uint64_t addr, struct insn_operands *out);
/* Does it put an address on the stack elsewhere than into rsp and rbp? One of these is `other`
 * then, and the address is `value` beyond it, or further. */
bool insn_takes_stack(const struct insn_code *code, uint64_t addr, struct insn_operands *out);

#endif
