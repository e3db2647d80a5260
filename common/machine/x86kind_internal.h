/* SPDX-License-Identifier: Apache-2.0 */
/* What an x86-64 instruction is to control flow, and what the kernel does with a uprobe on it:
 * arch/x86/kernel/uprobes.c, checked against Linux 6.18 for each opcode of Go's compiler. */
#ifndef X86KIND_INTERNAL_H
#define X86KIND_INTERNAL_H

#include <stdbool.h>

#include "machine/insn.h"

struct x86_op;

enum insn_kind x86kind_of(const struct x86_op *op);
bool x86kind_refused(const struct x86_op *op); /* by the kernel, or as a probe breaks it: */
bool x86kind_breaks(const struct x86_op *op);  /* the kernel accepts it, but executes it wrongly */
bool x86kind_emulated(const struct x86_op *op);
/* What a kernel makes a call when it is probed, of a function that saves registers: up to 160 bytes
 * below SP are written to. Measured on Linux 6.18 to 7.3: nops of 5 bytes before 7.2, from 7.0 on
 * moves of a register to itself as well (arch/x86/lib/insn-eval.c, insn_is_nop), and a jump to what
 * follows, which the caller knows; from 7.2 on just 66 2e 0f 1f 84, with any operand, which kernels
 * before refuse. */
bool x86kind_long_nop(const struct x86_op *op);
/* accesses memory that is neither the stack's (rsp), nor g's (r14), nor at a fixed address */
bool x86kind_may_fault(const struct x86_op *op);

/* a constant, or a move between registers or to or from the stack: the register allocator puts such
 * instructions where it needs them, with the source position of the value and not of the place */
bool x86kind_floats(const struct x86_op *op);
/* a store (but to the stack) or a nil check: compilers leave it in its place */
bool x86kind_stays(const struct x86_op *op);

#endif
