// SPDX-License-Identifier: Apache-2.0
/* Adds up how long goroutines are blocked, by stack and by what they wait for: from
 * runtime.casgstatus(gp, _Grunning, _Gwaiting) to casgstatus(gp, _Gwaiting, _Grunnable), when
 * something has made it ready. A goroutine that goes from waiting right to running has never left
 * its thread: it did some work of the runtime on another stack.
 *
 *   -DWAITS=n -DSTACKS=n -DSUMS=n    room in the maps
 *   -DMIN_NS=n -DMAX_NS=n            shortest and longest wait that counts
 *   -DG_WAITREASON=n -DG_SCHED_BP=n  byte offsets in Go's struct g
 *
 * The stack is taken when the wait begins: the goroutine does not run any more then, and nobody may
 * move its stack yet, as it does not count as waiting before the probed function has returned. It
 * is known by the address of its g, as gorunqlat knows it.
 */
#include "goroutine.h"
#include "goarg.h"
#include "extremes.h"
#include "shared/offcpu.h"

enum { RUNNABLE = 1, RUNNING = 2, WAITING = 4 }; /* Go's src/runtime/runtime2.go */

struct control {
	u32 active, epoch;
};

struct link {
	u64 caller; /* frame pointer */
	u64 ret;
};

BPF_ARRAY(control, struct control, 1);
BPF_F_TABLE("hash", struct goroutine_key, struct offcpu_wait, waits, WAITS, BPF_F_NO_PREALLOC);
/* while a stack is read: memory of a CPU would be another's as soon as the program waits */
BPF_F_TABLE("hash", struct goroutine_key, struct offcpu_stack, reading, WAITS, BPF_F_NO_PREALLOC);
BPF_F_TABLE("hash", u64, struct offcpu_stack, stacks, STACKS, BPF_F_NO_PREALLOC);
BPF_F_TABLE("hash", struct offcpu_key, struct offcpu_sum, sums, SUMS, BPF_F_NO_PREALLOC);
BPF_ARRAY(no_stack, struct offcpu_stack, 1);
BPF_PERCPU_ARRAY(losses, u64, OFFCPU_LOSSES);

/* file: cost.bpf.c */
/* file: find_cookie.bpf.c */
/* file: follow_exec.bpf.c */
/* file: descendants.bpf.c */
/* file: processes.bpf.c */

static inline void count_loss(u32 loss)
{
	u64 *n = losses.lookup(&loss);

	if (n)
		__sync_fetch_and_add(n, 1);
}

/* By frame pointer, which all Go code keeps. Returns the stack's hash. */
static inline u64 read_frames(u64 g, struct offcpu_stack *stack)
{
	u64 bp = 0, hash = 0xcbf29ce484222325;
	struct link link = {};
	u32 n;

	read_user(&link.ret, sizeof(link.ret), g + G_SCHED_SP + 8);
	read_user(&link.caller, sizeof(link.caller), g + G_SCHED_BP);
#pragma clang loop unroll(disable)
	for (n = 0; n < OFFCPU_FRAMES; n = loop_next(n)) {
		stack->frames[n & (OFFCPU_FRAMES - 1)] = link.ret;
		hash = (hash ^ link.ret) * 0x100000001b3;
		hash ^= hash >> 29;
		bp = link.caller;
		stack->count = n + 1;
		if (!bp || bp & 7 || read_user(&link, sizeof(link), bp) || !link.ret ||
		    link.caller <= bp && link.caller)
			break;
	}
	return hash;
}

/* Reads and keeps the stack. Returns its hash; 0: it could not be kept. */
static inline u64 stack_of(u64 g, struct goroutine_key *who)
{
	u32 zero = 0;
	struct offcpu_stack *none = no_stack.lookup(&zero), *stack;
	u64 hash = 0;

	if (!none || reading.update(who, none))
		return 0;
	stack = reading.lookup(who);
	if (stack) {
		hash = read_frames(g, stack);
		if (!stacks.lookup(&hash) && stacks.update(&hash, stack))
			hash = 0;
	}
	reading.delete(who);
	return hash;
}

static inline void begin_waiting(u64 g, struct goroutine_key *who, u64 now)
{
	struct offcpu_wait wait = {.start_ns = now};

	if (process_note(who)) {
		count_loss(OFFCPU_LOSS_WAITS);
		return;
	}
	wait.stack = stack_of(g, who);
	if (waits.update(who, &wait))
		count_loss(OFFCPU_LOSS_WAITS);
}

static inline void add(struct offcpu_key *key, u64 ns)
{
	struct offcpu_sum none = {}, *sum = sums.lookup(key);

	if (!sum) {
		/* several CPUs may try: the first one inserts it */
		sums.insert(key, &none);
		sum = sums.lookup(key);
	}
	if (!sum) {
		count_loss(OFFCPU_LOSS_SUMS);
		return;
	}
	if (!key->stack)
		count_loss(OFFCPU_LOSS_STACKS);
	__sync_fetch_and_add(&sum->waits, 1);
	__sync_fetch_and_add(&sum->total_ns, ns);
	extremes_raise(&sum->max_ns, ns);
}

static inline void end_waiting(struct pt_regs *ctx, u64 g, struct goroutine_key *who, u64 now)
{
	struct offcpu_wait *wait = waits.lookup(who);
	struct offcpu_key key = {};
	u64 ns;

	if (!wait)
		return;
	ns = now - wait->start_ns;
	key.stack = wait->stack;
	waits.delete(who);
	if (ns < MIN_NS || ns > MAX_NS)
		return;
	if (read_user(&key.reason, 1, g + G_WAITREASON)) {
		count_loss(OFFCPU_LOSS_UNREADABLE);
		return;
	}
	key.pid = who->process.tgid;
	key.probe = probe_register(ctx, REGISTER_PC);
	add(&key, ns);
}

int on_probe(struct pt_regs *ctx)
{
	u64 cookie = find_cookie(ctx), now = bpf_ktime_get_ns(), g, from, to;
	struct goroutine_key who = {};
	u32 zero = 0;
	struct control *mode = control.lookup(&zero);

	if (!mode || !mode->active || !probe_wanted() || !probe_is_call(ctx, cookie))
		return 0;
	if (goarg(ctx, cookie, GOARG_1, 0, 8, &g) || goarg(ctx, cookie, GOARG_2, 8, 4, &from) ||
	    goarg(ctx, cookie, GOARG_3, 12, 4, &to)) {
		count_loss(OFFCPU_LOSS_UNREADABLE);
		return 0;
	}
	who.id = g;
	if (from == RUNNING && to == WAITING) {
		goroutine_process(&who);
		begin_waiting(g, &who, now);
	} else if (from == WAITING) {
		goroutine_process(&who);
		if (to == RUNNABLE)
			end_waiting(ctx, g, &who, now);
		else
			waits.delete(&who);
	}
	return 0;
}
