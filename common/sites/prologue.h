/* SPDX-License-Identifier: Apache-2.0 */
/* The stack check at the start of a Go function, recognised by its shape and not by names: a
 * conditional branch to a block that spills the arguments, calls (runtime.morestack), reloads them
 * and jumps back to exactly the function's start. The call runs once more for each such detour:
 * what stands before the branch is executed more often than the function is called. */
#ifndef PROLOGUE_H
#define PROLOGUE_H

#include <stdbool.h>

#include "machine/insn.h"

struct prologue {
	struct insn branch; /* the last one that goes to that block */
	struct insn after;  /* what follows it: once a call */
};

/* `code` starts with the function. false: it has no check. */
bool prologue_find(const struct insn_decoder *dec, const struct insn_code *code,
		   struct prologue *out);

#endif
