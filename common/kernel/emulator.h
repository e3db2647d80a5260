/* SPDX-License-Identifier: Apache-2.0 */
/* The program that carries out a RET: it sets instruction and stack pointer as the RET would, and
 * the kernel no longer executes the instruction, for which it would let the thread run one step,
 * about ten times as long as all the rest of a hit (Linux 6.19; emulation.h tells).
 *
 * A RET must be carried out once, though many programs run at a hit, one after another, on the same
 * registers: those of several PROBEs, and of other tools. The lowest 12 bits of the instruction
 * pointer tell whether it was: at the site they are those of its address in the file, wherever that
 * is loaded, and nobody carries out a RET to an address that has the same. (So each return to one
 * address in 4096 is executed by the kernel; and a RET that returns to itself, after which nothing
 * would seem changed, is not executed twice.)
 *
 * It is a program of its own, without the tool's filters, as it does what the RET does whoever
 * runs; and it needs little stack: from 64 bytes on the kernel (6.13) gives a program a stack for
 * each CPU, which two threads share if one preempts the other at a probe. What a tool reads may be
 * wrong then; a return address must not. */
#ifndef EMULATOR_H
#define EMULATOR_H

#include <stdint.h>

/* `thread_features`: btf_thread_features(); threads with a shadow stack are left to the kernel. A
 * probe's cookie is cookie_low(). A descriptor, the caller's; or -1. */
int emulator_load(int attach_type, uint32_t thread_features);

#endif
