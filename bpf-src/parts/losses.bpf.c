// SPDX-License-Identifier: Apache-2.0
/* Counts what was lost, by why: LOSS_KINDS is how many reasons there are. */
#include "parts/assembly.h"

BPF_PERCPU_ARRAY(losses, u64, LOSS_KINDS);

static inline void count_loss(u64 loss)
{
	u64 *n = losses.lookup(KEY(loss));

	if (n)
		__sync_fetch_and_add(n, 1);
}
