/* SPDX-License-Identifier: Apache-2.0 */
/* The user stack of a gccgo program: GCC keeps no frame pointers, so the innermost part of the
 * stack is copied, and the tool finds the frames by call frame information. Below the frames on a
 * segment, the stack goes on in the previous segment, where that was left.
 *
 *   -DLIBRARY_INDEX=n    virtual address in libgo.so of g's struct split_index; 0: no libgo.so
 *   -DLIBRARY_MAIN=n     and of a word that holds main.main's address once loaded; 0: not known
 */
#ifndef STACKCOPY_H
#define STACKCOPY_H

#include "parts/probe.h"
#include "parts/goroutine.h"
#include "shared/trace.h"

/* At a function's return, call frame information still has the restored registers below the stack
 * pointer: in the ABI's red zone, which signals do not touch. */
#define STACKCOPY_RED_ZONE 128
/* __morestack keeps the caller's frame pointer this far below the arguments on the stack. */
#define STACKCOPY_BELOW 24

static inline void stackcopy_registers(struct pt_regs *ctx, struct trace_stack *to)
{
	to->regs[TRACE_PC] = ctx->ip;
	to->regs[TRACE_SP] = ctx->sp;
	to->regs[TRACE_BP] = ctx->bp;
	to->regs[TRACE_BX] = ctx->bx;
	to->regs[TRACE_R12] = ctx->r12;
	to->regs[TRACE_R13] = ctx->r13;
	to->regs[TRACE_R14] = ctx->r14;
	to->regs[TRACE_R15] = ctx->r15;
}

/* `tls_g`: address of the library's struct split_index of g. Returns how many pieces, plus 1. */
static inline u32 stackcopy(struct pt_regs *ctx, u64 tls_g, struct trace_stack *to)
{
	struct split_segment seg = {};
	u64 guard = 0, at = ctx->sp - STACKCOPY_RED_ZONE, low, end, len = 0, used = 0,
	    noise = ctx->sp;
	u32 i, count = 1;

	stackcopy_registers(ctx, to);
	to->library = LIBRARY_INDEX ? tls_g - LIBRARY_INDEX : 0;
	to->main = 0;
	if (LIBRARY_MAIN)
		read_user(&to->main, sizeof(to->main), to->library + LIBRARY_MAIN);
	read_user(&guard, sizeof(guard), split_thread() + 0x70);
	low = guard - SPLIT_BACKOFF;
	read_user(&seg, sizeof(seg), low - SPLIT_HEADER);
	if (read_user(&len, sizeof(len), at))
		at = ctx->sp;
	/* where a thread's own stack or a signal stack ends is not known */
	end = ctx->sp - low - 1 >= seg.size ? ~0ULL : low + seg.size;
#pragma clang loop unroll(disable)
	for (i = 0; i < TRACE_STACK_PIECES; i = loop_next(i)) {
		len = (at | 4095) + 1 - at; /* page by page: each is either readable or not */
		len = len > end - at ? end - at : len;
		asm volatile("" : "+r"(len), "+r"(used));
		if (len > 4096 || used > TRACE_STACK_BYTES - 4096 ||
		    read_user(to->bytes + used, len, at))
			break;
		to->pieces[i].addr = at;
		to->pieces[i].len = len;
		count = i + 2;
		used += (len + 7) & ~7ULL;
		at += len;
		if (at != end)
			continue;
		low = seg.prev;
		at = seg.old_stack - STACKCOPY_BELOW;
		if (!seg.old_stack)
			break;
		/* the stack before the first segment may be none of GCC's */
		end = read_user(&seg, sizeof(seg), low) ? ~0ULL : low + SPLIT_HEADER + seg.size;
	}
	return forget_value(count, noise);
}

#endif
