/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that leave their function by a jump: what they jump to has the same frame, and returns for
 * them. Several such calls, and one of the function that is jumped to, may be at one depth of a
 * goroutine's stack; all have the same return address, which no other call there has. */
#ifndef TAIL_H
#define TAIL_H

#include "parts/probe.h"
#include "shared/latency.h"

#define TAIL_BIT (1U << 31) /* of a call's `copy` (see shared/latency.h): it is such a call */

/* Where the call returns to, whose stack pointer was `sp` when it began; 0: cannot be read. */
static inline u64 tail_return_address(struct pt_regs *ctx, u64 sp)
{
#ifdef __aarch64__
	return probe_register(ctx, REGISTER_LR);
#else
	u64 addr = 0;

	read_user(&addr, sizeof(addr), sp);
	return addr;
#endif
}

/* What tells calls at one depth apart: struct call's `copy`. */
static inline u32 tail_copy(struct pt_regs *ctx, u64 cookie, u64 sp)
{
	u32 copy = cookie_copy(cookie);

	return copy == COOKIE_TAIL ? (u32)tail_return_address(ctx, sp) | TAIL_BIT : copy;
}

/* 1: the call is known by its return address; else 0. Without a branch, which the verifier would
 * follow both ways, as all that follows. */
static inline u64 tail_is(u32 copy)
{
	return copy >> 31;
}

/* Of two calls at one depth, is the function of one gone on with by the other's? `row`: of the one
 * that begins. */
static inline bool tail_goes_on(struct call *last, struct call *begins)
{
	return last->depth == begins->depth && last->copy == begins->copy &&
	       last->row != begins->row;
}

/* A hit shows that calls of its goroutine at this depth or deeper are over. */
static inline u64 over_from(u32 kind, struct call *call)
{
	if (kind >= COOKIE_GOEXIT)
		return 0;
	/* at an end the call itself is not over yet; inlined copies share their depth */
	if (kind == COOKIE_RETURN || kind == COOKIE_JUMP ||
	    (kind != COOKIE_RECOVERED && call->copy))
		return call->depth + 1;
	return call->depth;
}

#endif
