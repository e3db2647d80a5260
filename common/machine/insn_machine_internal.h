/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the module `insn`: what an instruction is, by its bytes alone. */
#ifndef INSN_MACHINE_INTERNAL_H
#define INSN_MACHINE_INTERNAL_H

#include "machine/insn.h"

/* `len` bytes at `code`, in->addr set. false: they are no instruction. */
bool insn_x86(const uint8_t *code, size_t len, struct insn *in);
/* `has_before`: the word before is code as well */
bool insn_arm64(const uint8_t *code, size_t len, bool has_before, struct insn *in);

#endif
