/* SPDX-License-Identifier: Apache-2.0 */
/* The user's stack of a gccgo program: GCC keeps no frame pointers, so the innermost part of it is
 * copied, and the tool finds its frames by call frame information. Who called what runs on a new
 * segment stands on the segment before it, from where that was left on.
 *
 *   -DLIBRARY_INDEX=n    virtual address in libgo.so of g's struct split_index; 0: no libgo.so
 *   -DLIBRARY_MAIN=n     and of a word that is filled with the address of main.main; 0: not known
 */
#ifndef STACKCOPY_H
#define STACKCOPY_H

#include "probe.h"
#include "goroutine.h"
#include "shared/trace.h"

/* Where a function returns, the registers that it has restored are said to be below the stack
 * pointer yet: in what signals leave alone (the ABI's red zone). */
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

/* `tls_g`: address of the library's struct split_index of g. Returns one more
 * than there are pieces. */
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
	/* a thread's own stack, or a signal's, ends nowhere that is known */
	end = ctx->sp - low - 1 >= seg.size ? ~0ULL : low + seg.size;
#pragma clang loop unroll(disable)
	for (i = 0; i < TRACE_STACK_PIECES; i = loop_next(i)) {
		len = (at | 4095) + 1 - at; /* a page is there or not, as a whole */
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
		/* the first one may be called from a stack that is none of GCC's */
		end = read_user(&seg, sizeof(seg), low) ? ~0ULL : low + SPLIT_HEADER + seg.size;
	}
	return forget_value(count, noise);
}

#endif
