/* SPDX-License-Identifier: Apache-2.0 */
/* How Go calls functions, and what that leaves on the stack. Go's src/runtime/traceback.go,
 * unwinder.next, and stubs.go, usesLR; src/internal/goarch/goarch_arm64.go. */
#ifndef CALLS_H
#define CALLS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "machine/arch.h"

enum { CALLS_ALL = INT_MIN };

struct calls {
	/* The return address is in a register: who calls in turn keeps it where its own frame ends,
	 * at the stack pointer. Otherwise the call has pushed it, and it stands above the frame. */
	bool link;
	uint8_t injected; /* bytes that the runtime pushes, with the register, before a call that
			   * the code has not made; 0: nothing but a return address */
	/* From which release of Go on (golang/release.h) arguments are in registers, frame pointers
	 * lead to callers on a stack that has moved, and g is in a register: CALLS_ALL, in all. */
	int args_from, frames_from, g_from;
};

const struct calls *calls_of(enum arch arch);

#endif
