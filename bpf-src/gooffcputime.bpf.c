// SPDX-License-Identifier: Apache-2.0
/* Adds up how long goroutines are blocked: see waits.bpf.c. */
#include "parts/goroutine.h"
#include "shared/waits.h"

#define LOSS_KINDS WAIT_LOSSES

#include "parts/every_program.bpf.c"

static inline long waker_read(struct pt_regs *ctx, u64 cookie, struct goroutine_key *who,
			      struct wait_key *key)
{
	return 0;
}

#include "parts/waits.bpf.c"
