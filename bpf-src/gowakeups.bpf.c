// SPDX-License-Identifier: Apache-2.0
/* Adds up how long goroutines are blocked, as waits.bpf.c does, by who makes them ready as well:
 * the goroutine that this thread's m works for. It runs here, or runtime.systemstack calls the
 * scheduler for it. Where there is none, the scheduler does so by itself, as when it looks at the
 * network and at timers: what its own stack tells of that, the tool finds out. */
#include "shared/waits.h"

#define LOSS_KINDS WAIT_LOSSES

#include "parts/every_program.bpf.c"
#include "parts/stacks.bpf.c"

static inline long waker_read(struct pt_regs *ctx, u64 cookie, struct goroutine_key *who,
			      struct wait_key *key)
{
	u64 g = goroutine_g(ctx), m = 0, user = 0;
	struct goroutine_stack stack = {};

	read_user(&m, sizeof(m), g + G_M);
	if (read_user(&user, sizeof(user), m + M_CURG) || read_user(&stack, sizeof(stack), g))
		return -1;
	key->by = user ? WAKER_GOROUTINE : WAKER_SCHEDULER;
	/* the scheduler's frames lead on into the stack of the goroutine that it was called from,
	 * which does not run any more */
	if (!user || user == g)
		key->waker = stack_keep_caller(ctx, who, probe_sp(ctx) + cookie_adjust(cookie),
					       stack.hi);
	else
		key->waker = stack_keep_switched(who, user);
	return 0;
}

#include "parts/waits.bpf.c"
