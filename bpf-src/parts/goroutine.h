/* SPDX-License-Identifier: Apache-2.0 */
/* Who runs here: the goroutine, known by its goid, and how deep its stack is. A goroutine changes
 * threads and its stack moves, but neither its goid nor the distance from its stack's high end
 * changes. System stacks (g0, gsignal) have goid 0, belong to one thread and never move: they are
 * known by the address of their g.
 *
 *   -DG_REGISTER        ABIInternal's g register holds g (from Go 1.17)
 *   -DTLS_G=n           else g is in the thread's memory at fs:n; 0: not known
 *   -DTLS_WORDS=n       where it is differs: struct tls_word tells, of n probes at most
 *   -DFSBASE_OFF=n      byte offset of the fs base in struct task_struct
 *   -DGOID_OFF=n -DG_M=n -DG_SCHED_SP=n    byte offsets in Go's struct g
 *   -DM_CURG=n                             and in struct m
 *   -DSPLIT_STACK       a gccgo program: see splitstack.h
 */
#ifndef GOROUTINE_H
#define GOROUTINE_H

#include "parts/probe.h"
#include "parts/process_key.h"
#include "shared/latency.h"

struct goroutine_stack { /* the first words of struct g */
	u64 lo, hi;
};

/* How far from fs is g? 0: not known */
#ifdef TLS_WORDS
#define TLS_KNOWN 1
static inline s64 goroutine_tls(struct pt_regs *ctx); /* of find_cookie.bpf.c */
#else
#define TLS_KNOWN (TLS_G)
static inline s64 goroutine_tls(struct pt_regs *ctx)
{
	return TLS_G;
}
#endif

/* the g of the thread; 0: it cannot be read, or the thread has none */
static inline u64 goroutine_tls_g(struct pt_regs *ctx)
{
	u64 base = 0, g = 0;
	char *task = (char *)bpf_get_current_task();

	probe_read_kernel(&base, sizeof(base), task + FSBASE_OFF);
	read_user(&g, sizeof(g), base + goroutine_tls(ctx));
	return g;
}

static inline u64 goroutine_g(struct pt_regs *ctx)
{
#ifdef G_REGISTER
	return probe_register(ctx, REGISTER_G);
#else
	return goroutine_tls_g(ctx);
#endif
}

/* Fills in the process. */
static inline void goroutine_process(struct goroutine_key *key)
{
	process_key_read(&key->process);
}

#ifdef SPLIT_STACK
#include "parts/splitstack.h"
#else
static inline bool goroutine_on_stack(const struct goroutine_stack *stack, u64 sp)
{
	return sp > stack->lo && sp <= stack->hi;
}

/* The g of who runs here, and its stack; 0: cannot be read. */
static inline u64 goroutine_current(struct pt_regs *ctx, struct goroutine_stack *stack)
{
	u64 g = goroutine_g(ctx);

#ifdef G_REGISTER
	/* assembly code may use the register for something else: so the first read does not wait
	 * for memory */
	if (TLS_KNOWN) {
		if (!probe_read_user(stack, sizeof(*stack), (void *)g) &&
		    goroutine_on_stack(stack, probe_sp(ctx)))
			return g;
		g = goroutine_tls_g(ctx);
	}
#endif
	return read_user(stack, sizeof(*stack), g) ? 0 : g;
}

/* Depth, in bytes, of stack pointer `sp` on the stack of who runs here; false: cannot be read. */
static inline bool goroutine_here(struct pt_regs *ctx, u64 sp, struct goroutine_key *key,
				  u64 *depth)
{
	struct goroutine_stack stack = {};
	u64 g = goroutine_current(ctx, &stack), here = probe_sp(ctx), goid = 0;

	if (!g || read_user(&goid, sizeof(goid), g + GOID_OFF))
		return false;
	if (goid && goroutine_on_stack(&stack, here)) {
		key->id = goid;
		*depth = stack.hi - sp;
	} else {
		key->id = g | GOROUTINE_SYSTEM;
		/* a signal handler that has not switched g yet: its stack is not its g's */
		if (!goroutine_on_stack(&stack, here))
			key->id |= GOROUTINE_ELSEWHERE;
		*depth = -sp;
	}
	goroutine_process(key);
	return true;
}

/* The goroutine that this thread's m works for, seen from its g0, and the depth of the stack
 * pointer that it will resume at. */
static inline bool goroutine_resuming(struct pt_regs *ctx, struct goroutine_key *key, u64 *depth)
{
	struct goroutine_stack stack = {};
	u64 m = 0, g = 0, sp = 0, goid = 0;

	/* without branches: a failed read yields 0, and reads from near address 0 fail in turn */
	read_user(&m, sizeof(m), goroutine_g(ctx) + G_M);
	read_user(&g, sizeof(g), m + M_CURG);
	read_user(&stack, sizeof(stack), g);
	read_user(&sp, sizeof(sp), g + G_SCHED_SP);
	if (read_user(&goid, sizeof(goid), g + GOID_OFF) || !goid ||
	    !goroutine_on_stack(&stack, sp))
		return false;
	key->id = goid;
	goroutine_process(key);
	*depth = stack.hi - sp;
	return true;
}

/* The goroutine that a hit is about, and the depth of its call, known by stack pointer `sp`. */
static inline bool goroutine_find(struct pt_regs *ctx, u64 sp, u32 kind, struct goroutine_key *who,
				  u64 *depth)
{
	if (kind == COOKIE_RECOVERED)
		return goroutine_resuming(ctx, who, depth);
	return goroutine_here(ctx, sp, who, depth);
}

#endif

#endif
