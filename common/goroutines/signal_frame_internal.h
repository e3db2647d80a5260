/* SPDX-License-Identifier: Apache-2.0 */
/* What a signal has interrupted: the registers that the kernel has put on the signal stack (Linux's
 * arch/x86/include/uapi/asm/sigcontext.h, include/uapi/asm-generic/ucontext.h). */
#ifndef SIGNAL_FRAME_INTERNAL_H
#define SIGNAL_FRAME_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

struct memory;

struct signal_frame {
	uint64_t pc, sp;
	int call; /* the number of the system call that goes on after the handler; -1: none */
};

/* Of a thread whose stack pointer `sp` is on its signal stack, from `lo` to `hi`; false: there is
 * none. */
bool signal_frame_find(const struct memory *mem, uint64_t sp, uint64_t lo, uint64_t hi,
		       struct signal_frame *out);

#endif
