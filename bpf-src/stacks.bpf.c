// SPDX-License-Identifier: Apache-2.0
/* Keeps each stack once, by its hash. It is read by frame pointer, which all Go code keeps.
 * Inserted into each program's own text, the only place where libbcc finds maps; needs goroutine.h,
 * frame_link.h and shared/stack.h.
 *
 *   -DSTACKS=n                           room for them
 *   -DG_SCHED_SP=n -DG_SCHED_BP=n        byte offsets in Go's struct g
 */
#define STACKS_READING 32768 /* no machine has more threads that read one at the same time */

/* while a stack is read: memory of a CPU would be another's as soon as the program waits */
BPF_F_TABLE("hash", struct goroutine_key, struct stack, reading, STACKS_READING, BPF_F_NO_PREALLOC);
BPF_F_TABLE("hash", u64, struct stack, stacks, STACKS, BPF_F_NO_PREALLOC);
BPF_ARRAY(no_stack, struct stack, 1);

/* No frames at `end` and beyond. Returns the stack's hash. */
static inline u64 stack_read(struct frames_link link, u64 end, struct stack *stack)
{
	u64 hash = 0xcbf29ce484222325, bp = 0;
	u32 n;

#pragma clang loop unroll(disable)
	for (n = 0; n < STACK_FRAMES; n = loop_next(n)) {
		stack->frames[n & (STACK_FRAMES - 1)] = link.ret;
		hash = (hash ^ link.ret) * 0x100000001b3;
		hash ^= hash >> 29;
		stack->count = n + 1;
		/* callers are at higher addresses */
		if (link.caller <= bp || link.caller & 7 || link.caller >= end)
			break;
		bp = link.caller;
		if (read_user(&link, sizeof(link), bp) || !link.ret)
			break;
	}
	return hash;
}

/* Reads and keeps the stack of which `link` is the first frame, up to address `end`; `who` reads no
 * other meanwhile. Returns its hash; 0: it could not be kept. */
static inline u64 stack_keep(struct goroutine_key *who, struct frames_link link, u64 end)
{
	u32 zero = 0;
	struct stack *none = no_stack.lookup(&zero), *stack;
	u64 hash = 0;

	if (!none || reading.update(who, none))
		return 0;
	stack = reading.lookup(who);
	if (stack) {
		hash = stack_read(link, end, stack);
		if (!stacks.lookup(&hash) && stacks.update(&hash, stack))
			hash = 0;
	}
	reading.delete(who);
	return hash;
}

/* ... of goroutine `g`, which does not run and is not moved meanwhile. */
static inline u64 stack_keep_parked(struct goroutine_key *who, u64 g)
{
	struct frames_link link = {};

	read_user(&link.ret, sizeof(link.ret), g + G_SCHED_SP + 8);
	read_user(&link.caller, sizeof(link.caller), g + G_SCHED_BP);
	return stack_keep(who, link, ~0ULL);
}

/* ... of goroutine `g`, for which runtime.systemstack calls something on this thread's system
 * stack. To Go 1.20 that has no frame of its own: the stack pointer leads to where it returns to,
 * and the frame pointer is its caller's. */
static inline u64 stack_keep_switched(struct goroutine_key *who, u64 g)
{
	struct frames_link link = {};
	u64 sp = 0;

	read_user(&sp, sizeof(sp), g + G_SCHED_SP);
	read_user(&link.caller, sizeof(link.caller), g + G_SCHED_BP);
	if (sp == link.caller)
		read_user(&link, sizeof(link), sp);
	else
		read_user(&link.ret, sizeof(link.ret), sp);
	return link.ret ? stack_keep(who, link, ~0ULL) : 0;
}

/* ... of who runs here, from the caller on of the function that the probe stands in, up to address
 * `end`; `entry_sp`: the stack pointer at that function's first instruction. */
static inline u64 stack_keep_caller(struct pt_regs *ctx, struct goroutine_key *who, u64 entry_sp,
				    u64 end)
{
	struct frames_link link = {};

	return frames_first(ctx, entry_sp, &link) ? stack_keep(who, link, end) : 0;
}
