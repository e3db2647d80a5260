// SPDX-License-Identifier: Apache-2.0
/* Goroutines that are started by those that the program follows, and that end.
 *
 *   -DCALLER_SECOND     newproc1's argument callergp is the second, not the fourth
 *
 * runtime.newproc1 makes each goroutine, on the system stack of the thread that its starter is
 * stopped on. It is told the function and the starter, and returns the new goroutine, which has not
 * run yet. The program that this is inserted into defines what is declared here.
 */
#include "parts/goarg.h"
#include "shared/starts.h"

#define STARTING_MAX 4096 /* threads in newproc1 at a time, and some more */

struct starting {
	struct goroutine_key by;
	u64 func; /* its address, less that of the probe in newproc1 */
};

/* by thread */
BPF_TABLE("lru_hash", u64, struct starting, starting, STARTING_MAX);

/* Is the starter followed? */
static inline bool starts_wanted(struct goroutine_key *by);
/* A goroutine that is followed has started another one. */
static inline void starts_begun(struct starting *it, struct goroutine_key *newborn, u64 now);
/* A goroutine, followed or not, ends: it runs no more. */
static inline void starts_ended(struct goroutine_key *who, u64 now);
/* Who starts or ends could not be read. */
static inline void starts_lost(void);

/* newproc1(fn, argp, narg, callergp, callerpc), and since Go 1.18 newproc1(fn, callergp, callerpc).
 * What `fn` points to begins with the function's address. */
static inline void newproc1_begins(struct pt_regs *ctx, u64 cookie)
{
	u64 thread = bpf_get_current_pid_tgid(), fn = 0, g = 0;
	struct starting it = {};

#ifdef CALLER_SECOND
	goarg(ctx, cookie, GOARG_2, 8, 8, &g);
#else
	goarg(ctx, cookie, GOARG_4, 24, 8, &g);
#endif
	if (read_user(&it.by.id, sizeof(it.by.id), g + GOID_OFF)) {
		starts_lost();
		return;
	}
	goroutine_process(&it.by);
	if (!starts_wanted(&it.by))
		return;
	if (goarg(ctx, cookie, GOARG_1, 0, 8, &fn) || read_user(&it.func, sizeof(it.func), fn)) {
		starts_lost();
		return;
	}
	it.func -= probe_register(ctx, REGISTER_PC);
	starting.update(&thread, &it);
}

/* newproc1 returns: in a register, or on the stack above its five arguments. */
static inline void newproc1_returns(struct pt_regs *ctx, u64 cookie, u64 now)
{
	u64 thread = bpf_get_current_pid_tgid(), g = 0;
	struct starting *it = starting.lookup(&thread), copy;
	struct goroutine_key newborn = {};

	if (!it)
		return;
	copy = *it;
	starting.delete(&thread);
	if (goarg(ctx, cookie, GOARG_1, 40, 8, &g) ||
	    read_user(&newborn.id, sizeof(newborn.id), g + GOID_OFF)) {
		starts_lost();
		return;
	}
	newborn.process = copy.by.process;
	starts_begun(&copy, &newborn, now);
}

/* gdestroy(gp), or before Go 1.22 goexit0(gp): on a system stack, for the last time. */
static inline void gdestroy_begins(struct pt_regs *ctx, u64 cookie, u64 now)
{
	struct goroutine_key who = {};
	u64 g;

	if (goarg(ctx, cookie, GOARG_1, 0, 8, &g) ||
	    read_user(&who.id, sizeof(who.id), g + GOID_OFF)) {
		starts_lost();
		return;
	}
	goroutine_process(&who);
	starts_ended(&who, now);
}

/* A hit of one of these functions. */
static inline void starts_hit(struct pt_regs *ctx, u64 cookie, u64 now)
{
	if (!probe_wanted())
		return;
	if (cookie_kind(cookie) == COOKIE_RETURN)
		newproc1_returns(ctx, cookie, now);
	else if (!probe_is_call(ctx, cookie))
		return;
	else if (cookie_copy(cookie) == FOLLOW_START)
		newproc1_begins(ctx, cookie);
	else
		gdestroy_begins(ctx, cookie, now);
}
