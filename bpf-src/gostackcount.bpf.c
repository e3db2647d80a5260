// SPDX-License-Identifier: Apache-2.0
/* Counts calls by the stacks that lead to them, each from the probed site on.
 *
 *   -DPLACES=n    probed sites
 *   -DCOUNTS=n    stacks of sites of processes
 */
#include "shared/stackcount.h"
#include "shared/trace.h"

#define LOSS_KINDS STACKCOUNT_LOSSES
#define STACK_FRAMES STACK_FRAMES_MAX
#define STACK_SWITCHES 2 /* to a system stack, and to a signal's */

#include "parts/every_program.bpf.c"
#include "parts/losses.bpf.c"
#include "parts/stacks.bpf.c"

BPF_ARRAY(places, struct trace_place, PLACES);
BPF_F_TABLE("hash", struct stackcount_key, u64, counts, COUNTS, BPF_F_NO_PREALLOC);

static inline u64 *count_of(struct stackcount_key *key)
{
	u64 *count = counts.lookup(key), none = 0;

	if (count)
		return count;
	/* several CPUs may try: the first one inserts it */
	counts.insert(key, &none);
	return counts.lookup(key);
}

int on_probe(struct pt_regs *ctx)
{
	u64 cookie = find_cookie(ctx), *count;
	struct stackcount_key key = {.place = cookie_row(cookie), .pid = probe_ids() >> 32};
	struct goroutine_key who = {.id = bpf_get_current_pid_tgid()};
	struct trace_place *place = places.lookup(&key.place);
	u64 sp = probe_sp(ctx) + cookie_adjust(cookie);

	if (!place || !probe_wanted() || !probe_is_call(ctx, cookie))
		return 0;
	key.stack = stack_keep_here(ctx, &who, place->frame < 0 ? 0 : sp + place->frame);
	if (!key.stack)
		count_loss(STACKCOUNT_LOSS_STACKS);
	count = count_of(&key);
	if (count)
		__sync_fetch_and_add(count, 1);
	else
		count_loss(STACKCOUNT_LOSS_ROOM);
	return 0;
}
