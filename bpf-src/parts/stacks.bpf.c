// SPDX-License-Identifier: Apache-2.0
/* Keeps each stack once, by its hash. It is read by frame pointer, which all Go code keeps.
 *
 *   -DSTACKS=n                           room for them
 *   -DG_SCHED_SP=n -DG_SCHED_BP=n        byte offsets in Go's struct g; the latter not defined: no
 *                                        stacks of goroutines that do not run
 *
 * Who includes it may define before
 *
 *   STACK_FRAMES      how many of a stack's frames are kept
 *   STACK_SWITCHES    how often a stack may go on at lower addresses, where the runtime has
 * switched from one to another; 0: a stack ends there
 */
#ifndef STACKS_BPF
#define STACKS_BPF

#include "parts/frame_link.h"
#include "parts/goroutine.h"
#include "parts/no_text.h"
#include "shared/stack.h"

#ifndef STACK_SWITCHES
#define STACK_SWITCHES 0
#endif
#define STACKS_READING 32768 /* no machine has more threads that read one at the same time */

/* while a stack is read: memory of a CPU would be another's as soon as the program waits */
NO_TEXT(reading);
BPF_F_TABLE("hash", struct goroutine_key, struct stack, reading, STACKS_READING, BPF_F_NO_PREALLOC);
NO_TEXT(stacks);
BPF_F_TABLE("hash", u64, struct stack, stacks, STACKS, BPF_F_NO_PREALLOC);
NO_TEXT(no_stack);
BPF_ARRAY(no_stack, struct stack, 1);

static inline u64 stack_hash(u64 hash, u64 addr)
{
	hash = (hash ^ addr) * 0x100000001b3;
	return hash ^ hash >> 29;
}

/* Appends `link` and its callers to the `n` frames that there are. No frames at `end` and beyond.
 * Returns the stack's hash. */
static inline u64 stack_read(struct frames_link link, u64 end, struct stack *stack, u32 n, u64 hash)
{
	u64 bp = 0, switches = 0;

#pragma clang loop unroll(disable)
	for (; n < STACK_FRAMES; n = loop_next(n)) {
		stack->frames[n & (STACK_FRAMES - 1)] = link.ret;
		hash = stack_hash(hash, link.ret);
		stack->count = n + 1;
		/* callers are at higher addresses; a shift, as the compiler makes a branch of a
		 * comparison, which the verifier would follow both ways, at each frame */
		switches += (link.caller - bp - 1) >> 63;
		if (switches > STACK_SWITCHES || !link.caller || link.caller & 7 ||
		    link.caller >= end)
			break;
		bp = link.caller;
		if (read_user(&link, sizeof(link), bp) || !link.ret)
			break;
	}
	return hash;
}

/* Reads and keeps the stack of `here`, if that is asked for, and of `link`, up to address `end`;
 * `who` reads no other meanwhile. Returns its hash; 0: it could not be kept. */
static inline u64 stack_keep_from(struct goroutine_key *who, const bool has_here, u64 here,
				  struct frames_link link, u64 end)
{
	u32 zero = 0;
	struct stack *none = no_stack.lookup(&zero), *stack;
	u64 hash = 0xcbf29ce484222325;

	if (!none || reading.update(who, none))
		return 0;
	stack = reading.lookup(who);
	if (stack) {
		if (has_here) {
			stack->frames[0] = here;
			stack->count = 1;
			hash = stack_hash(hash, here);
		}
		if (link.ret)
			hash = stack_read(link, end, stack, has_here, hash);
		if (!stacks.lookup(&hash) && stacks.update(&hash, stack))
			hash = 0;
	}
	reading.delete(who);
	return hash;
}

static inline u64 stack_keep(struct goroutine_key *who, struct frames_link link, u64 end)
{
	return stack_keep_from(who, false, 0, link, end);
}

#ifdef G_SCHED_BP
/* ... of goroutine `g`, which does not run and is not moved meanwhile. */
static inline u64 stack_keep_parked(struct goroutine_key *who, u64 g)
{
	struct frames_link link = {};

	read_user(&link.ret, sizeof(link.ret), g + G_SCHED_SP + 8);
	read_user(&link.caller, sizeof(link.caller), g + G_SCHED_BP);
	return stack_keep(who, link, ~0ULL);
}

/* How far below its stack pointer a function keeps its caller's frame pointer: on arm64 Go puts
 * that below the frame. */
#ifdef __aarch64__
#define FRAME_BELOW 8
#else
#define FRAME_BELOW 0
#endif

/* ... of goroutine `g`, for which runtime.systemstack calls something on this thread's system
 * stack. To Go 1.20 that has no frame of its own on amd64: the stack pointer leads to where it
 * returns to, and the frame pointer is its caller's. */
static inline u64 stack_keep_switched(struct goroutine_key *who, u64 g)
{
	struct frames_link link = {};
	u64 sp = 0;

	read_user(&sp, sizeof(sp), g + G_SCHED_SP);
	read_user(&link.caller, sizeof(link.caller), g + G_SCHED_BP);
	if (sp == link.caller + FRAME_BELOW)
		read_user(&link, sizeof(link), link.caller);
	else
		read_user(&link.ret, sizeof(link.ret), sp);
	return link.ret ? stack_keep(who, link, ~0ULL) : 0;
}

#endif

/* ... of who runs here, from the probed instruction on, which is told as if it were a call: by the
 * address after its first byte. `entry_sp` as below. */
static inline u64 stack_keep_here(struct pt_regs *ctx, struct goroutine_key *who, u64 entry_sp)
{
	struct frames_link link = {};

	if (!frames_first(ctx, entry_sp, &link))
		link.caller = link.ret = 0;
	return stack_keep_from(who, true, probe_register(ctx, REGISTER_PC) + 1, link, ~0ULL);
}

/* ... of who runs here, from the caller on of the function that the probe stands in, up to address
 * `end`; `entry_sp`: the stack pointer at that function's first instruction. */
static inline u64 stack_keep_caller(struct pt_regs *ctx, struct goroutine_key *who, u64 entry_sp,
				    u64 end)
{
	struct frames_link link = {};

	return frames_first(ctx, entry_sp, &link) ? stack_keep(who, link, end) : 0;
}

#endif
