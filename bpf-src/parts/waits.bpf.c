// SPDX-License-Identifier: Apache-2.0
/* Adds up how long goroutines are blocked, by stack and by what they wait for: from
 * runtime.casgstatus(gp, _Grunning, _Gwaiting) to casgstatus(gp, _Gwaiting, _Grunnable), when
 * something has made it ready. A goroutine that goes from waiting right to running has never left
 * its thread: it did some work of the runtime on another stack. Who includes it
 * has said before who ends a wait:
 *
 *   static inline long waker_read(struct pt_regs *ctx, u64 cookie, struct goroutine_key *who,
 *                                 struct wait_key *key);
 *
 * fills in `waker` and `by`; 0, or an error: that cannot be read. `who` is the goroutine that
 * waited.
 *
 *   -DWAITS=n -DSUMS=n            room in the maps
 *   -DMIN_NS=n -DMAX_NS=n         shortest and longest wait that counts
 *   -DREASONS=n                   what is waited for that counts: a mask, by Go's numbers
 *   -DG_WAITREASON=n              byte offset in Go's struct g
 *
 * The stack is taken when the wait begins: the goroutine does not run any more then, and nobody may
 * move its stack yet, as it does not count as waiting before the probed function has returned. It
 * is known by the address of its g, as gorunqlat knows it.
 */
#include "parts/casgstatus.h"
#include "parts/extremes.h"
#include "parts/losses.bpf.c"
#include "parts/processes.bpf.c"
#include "parts/stacks.bpf.c"
#include "shared/waits.h"

struct control {
	u32 active;
};

BPF_ARRAY(control, struct control, 1);
BPF_F_TABLE("hash", struct goroutine_key, struct wait_begun, waits, WAITS, BPF_F_NO_PREALLOC);
BPF_F_TABLE("hash", struct wait_key, struct wait_sum, sums, SUMS, BPF_F_NO_PREALLOC);

static inline void begin_waiting(struct pt_regs *ctx, struct goroutine_key *who, u64 now)
{
	struct wait_begun wait = {.start_ns = now,
				  .probe = probe_register(ctx, REGISTER_PC),
				  .pid = probe_ids() >> 32};

	if (process_note(who)) {
		count_loss(WAIT_LOSS_WAITS);
		return;
	}
	/* the reason of a wait that goes on at the end; if it cannot be read, that one has none */
	read_user(&wait.reason, 1, who->id + G_WAITREASON);
	wait.stack = stack_keep_parked(who, who->id);
	if (waits.update(who, &wait))
		count_loss(WAIT_LOSS_WAITS);
}

static inline void add(struct wait_key *key, u64 ns)
{
	struct wait_sum none = {}, *sum = sums.lookup(key);

	if (!sum) {
		/* several CPUs may try: the first one inserts it */
		sums.insert(key, &none);
		sum = sums.lookup(key);
	}
	if (!sum) {
		count_loss(WAIT_LOSS_SUMS);
		return;
	}
	if (!key->stack || (key->by && !key->waker))
		count_loss(WAIT_LOSS_STACKS);
	__sync_fetch_and_add(&sum->waits, 1);
	__sync_fetch_and_add(&sum->total_ns, ns);
	extremes_raise(&sum->max_ns, ns);
}

static inline void end_waiting(struct pt_regs *ctx, u64 cookie, struct goroutine_key *who, u64 now)
{
	struct wait_begun *wait = waits.lookup(who);
	struct wait_key key = {};
	u64 ns;

	if (!wait)
		return;
	ns = now - wait->start_ns;
	key.stack = wait->stack;
	key.probe = wait->probe;
	key.pid = wait->pid;
	waits.delete(who);
	if (ns < MIN_NS || ns > MAX_NS)
		return;
	if (read_user(&key.reason, 1, who->id + G_WAITREASON)) {
		count_loss(WAIT_LOSS_UNREADABLE);
		return;
	}
	if (!(REASONS >> (key.reason & 63) & 1))
		return;
	if (waker_read(ctx, cookie, who, &key)) {
		count_loss(WAIT_LOSS_UNREADABLE);
		return;
	}
	add(&key, ns);
}

int on_probe(struct pt_regs *ctx)
{
	u64 cookie = find_cookie(ctx), now = bpf_ktime_get_ns();
	struct casgstatus change = {};
	struct goroutine_key who = {};
	u32 zero = 0;
	struct control *mode = control.lookup(&zero);

	if (!mode || !mode->active || !probe_wanted() || !probe_is_call(ctx, cookie))
		return 0;
	if (casgstatus_read(ctx, cookie, &change)) {
		count_loss(WAIT_LOSS_UNREADABLE);
		return 0;
	}
	who.id = change.g;
	if (change.from == RUNNING && change.to == WAITING) {
		goroutine_process(&who);
		begin_waiting(ctx, &who, now);
	} else if (change.from == WAITING) {
		goroutine_process(&who);
		if (change.to == RUNNABLE)
			end_waiting(ctx, cookie, &who, now);
		else
			waits.delete(&who);
	}
	return 0;
}
