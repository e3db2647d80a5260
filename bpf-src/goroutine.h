/* SPDX-License-Identifier: Apache-2.0 */
/* Which goroutine is running, and where it is on its stack.
 *
 *   -DG_REGISTER         the ABI keeps g in a register (Go 1.17 and later)
 *   -DFSBASE_OFF=, -DTLS_G=   amd64: byte offset of thread.fsbase in struct task_struct, and of g
 *                        from there; needed without G_REGISTER, and for assembly that uses r14
 *   -DG_GOID=            byte offset of goid in struct g
 */
#ifndef GOROUTINE_H
#define GOROUTINE_H

#include <uapi/linux/ptrace.h>

struct goroutine {
	u64 lo, hi; /* of its stack */
	u64 goid;   /* 0: a system stack */
};

#ifdef __x86_64__
#define goroutine_register(ctx) ((ctx)->r14)
#else
#define goroutine_register(ctx) ((ctx)->regs[28])
#endif

static inline u64 goroutine_word(u64 addr)
{
	u64 word = 0;

	bpf_probe_read_user(&word, sizeof(word), (void *)addr);
	return word;
}

static inline bool goroutine_read(u64 g, struct goroutine *out)
{
	return !bpf_probe_read_user(out, 2 * sizeof(u64), (void *)g) &&
	       !bpf_probe_read_user(&out->goid, sizeof(u64), (void *)(g + G_GOID));
}

#ifdef FSBASE_OFF
static inline u64 goroutine_of_thread(void)
{
	u64 task = bpf_get_current_task();
	u64 base = 0;

	bpf_probe_read_kernel(&base, sizeof(base), (void *)(task + FSBASE_OFF));
	return base ? goroutine_word(base + TLS_G) : 0;
}
#endif

/* The g that runs, read into *out; 0 where there is none. What is in the register is believed when
 * its stack is the one in use: assembly may use that register for something else. */
static inline u64 goroutine_current(struct pt_regs *ctx, struct goroutine *out)
{
#ifdef G_REGISTER
	u64 g = goroutine_register(ctx);

	if (goroutine_read(g, out) && ctx->sp > out->lo && ctx->sp <= out->hi)
		return g;
#endif
#ifdef FSBASE_OFF
	u64 own = goroutine_of_thread();

	if (own && goroutine_read(own, out))
		return own;
#endif
	return 0;
}

#endif
