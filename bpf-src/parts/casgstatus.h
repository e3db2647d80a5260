/* SPDX-License-Identifier: Apache-2.0 */
/* runtime.casgstatus(gp, oldval, newval), at its entry: a goroutine's status is about to change. */
#ifndef CASGSTATUS_H
#define CASGSTATUS_H

#include "parts/goarg.h"

enum { RUNNABLE = 1, RUNNING = 2, WAITING = 4 }; /* Go's src/runtime/runtime2.go */

struct casgstatus {
	u64 g, from, to;
};

/* 0, or an error: it cannot be read */
static inline long casgstatus_read(struct pt_regs *ctx, u64 cookie, struct casgstatus *change)
{
	return goarg(ctx, cookie, GOARG_1, 0, 8, &change->g) |
	       goarg(ctx, cookie, GOARG_2, 8, 4, &change->from) |
	       goarg(ctx, cookie, GOARG_3, 12, 4, &change->to);
}

#endif
