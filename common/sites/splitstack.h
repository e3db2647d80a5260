/* SPDX-License-Identifier: Apache-2.0 */
/* The stack check at the start of a gccgo function (GCC's -fsplit-stack on x86-64), recognised by
 * its shape: the stack pointer is compared with the guard in the thread's memory, and where there
 * is no room
 *         mov FRAME,%r10; mov ARGUMENTS,%r11; call __morestack; ret; jmp BODY
 * is executed. __morestack calls what follows that RET, with the stack pointer on a new segment,
 * and returns to the RET when this has returned. So BODY is reached once a call either way, and the
 * RET is not the end of a call. */
#ifndef SPLITSTACK_H
#define SPLITSTACK_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/insn.h"

enum { SPLITSTACK_GUARD = 0x70 }; /* the guard is at fs:0x70 */

struct splitstack {
	struct insn body;   /* its first instruction */
	uint64_t branch;    /* address of the conditional jump */
	uint64_t morestack; /* address of __morestack */
	uint64_t ret;       /* address of the RET after the call of __morestack */
	uint64_t back;      /* address of the jump to the body after `ret`; 0: the body follows */
};

#endif
