// SPDX-License-Identifier: Apache-2.0
/* Adds up how long goroutines are blocked: see waits.bpf.c. */
#include "goroutine.h"
#include "casgstatus.h"
#include "extremes.h"
#include "frame_link.h"
#include "shared/stack.h"
#include "shared/waits.h"

#define LOSS_KINDS WAIT_LOSSES

/* file: cost.bpf.c */
/* file: find_cookie.bpf.c */
/* file: follow_exec.bpf.c */
/* file: descendants.bpf.c */
/* file: processes.bpf.c */
/* file: stacks.bpf.c */
/* file: losses.bpf.c */

static inline long waker_read(struct pt_regs *ctx, u64 cookie, struct goroutine_key *who,
			      struct wait_key *key)
{
	return 0;
}

/* file: waits.bpf.c */
