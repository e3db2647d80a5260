/* SPDX-License-Identifier: Apache-2.0 */
/* The stack check at the start of a Go function. It is recognised by its shape, not by names: a
 * conditional branch to a block that spills the arguments, calls runtime.morestack, reloads the
 * arguments and jumps back to the start of the function. Each such detour executes the code before
 * the branch once more, so that code runs more often than the function is called. */
#ifndef PROLOGUE_H
#define PROLOGUE_H

#include <stdbool.h>

#include "machine/insn.h"

struct prologue {
	struct insn branch; /* the last one that goes to that block */
	struct insn after;  /* what follows it: once a call */
};

/* `code` starts with the function. false: the function has no stack check. */
bool prologue_find(const struct insn_decoder *dec, const struct insn_code *code,
		   struct prologue *out);

#endif
