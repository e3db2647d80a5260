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
 *   -DPARKED=n                    wall-clock time: waits that had begun before count as well, which
 *                                 the tool puts into map `parked`, with room for so many; and so
 *                                 does the time in which goroutines are runnable
 *   -DG_LABELS=n                  with labels of goroutines: parts/label_sets.bpf.c
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

#ifdef G_LABELS
#include "parts/label_sets.bpf.c"
#else
static inline u64 labels_keep(struct goroutine_key *who)
{
	return 0;
}
#endif

struct control {
	u32 active;
};

BPF_ARRAY(control, struct control, 1);
BPF_F_TABLE("hash", struct goroutine_key, struct wait_begun, waits, WAITS, BPF_F_NO_PREALLOC);
BPF_F_TABLE("hash", struct wait_key, struct wait_sum, sums, SUMS, BPF_F_NO_PREALLOC);
#ifdef PARKED
/* by the address of g: what has noted them does not know a process's key, but it is just one */
BPF_F_TABLE("hash", u64, struct wait_begun, parked, PARKED, BPF_F_NO_PREALLOC);

static inline struct wait_begun *parked_before(struct goroutine_key *who)
{
	return parked.lookup(&who->id);
}

static inline void parked_forget(struct goroutine_key *who)
{
	parked.delete(&who->id);
}
#else
static inline struct wait_begun *parked_before(struct goroutine_key *who)
{
	return 0;
}

static inline void parked_forget(struct goroutine_key *who)
{
}
#endif

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
	wait.labels = labels_keep(who);
	parked_forget(who);
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

/* False: its beginning was not seen. */
static inline bool take_wait(struct goroutine_key *who, struct wait_begun *out)
{
	struct wait_begun *wait = waits.lookup(who);

	if (!wait)
		wait = parked_before(who);
	if (!wait)
		return false;
	*out = *wait;
	waits.delete(who);
	parked_forget(who);
	return true;
}

static inline void end_waiting(struct pt_regs *ctx, u64 cookie, struct goroutine_key *who, u64 now,
			       struct wait_begun *wait)
{
	struct wait_key key = {};
	u64 ns;

	if (!take_wait(who, wait))
		return;
	ns = now - wait->start_ns;
	key.stack = wait->stack;
	key.labels = wait->labels;
	key.probe = wait->probe;
	key.pid = wait->pid;
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

#ifdef PARKED
/* It waits for a processor, where `wait` has ended or where it was taken from one. */
static inline void begin_runnable(struct pt_regs *ctx, struct goroutine_key *who, u64 now,
				  struct wait_begun *wait)
{
	if (!wait->stack) {
		wait->stack = stack_keep_parked(who, who->id);
		wait->labels = labels_keep(who);
	}
	wait->start_ns = now;
	wait->probe = probe_register(ctx, REGISTER_PC);
	wait->pid = probe_ids() >> 32;
	wait->reason = WAIT_RUNNABLE;
	if (process_note(who) || waits.update(who, wait))
		count_loss(WAIT_LOSS_WAITS);
}

static inline void end_runnable(struct goroutine_key *who, u64 now)
{
	struct wait_begun wait = {};
	struct wait_key key = {.reason = WAIT_RUNNABLE};

	if (!take_wait(who, &wait))
		return;
	key.stack = wait.stack;
	key.labels = wait.labels;
	key.probe = wait.probe;
	key.pid = wait.pid;
	add(&key, now - wait.start_ns);
}

static inline void follow_runnable(struct pt_regs *ctx, struct casgstatus *change,
				   struct goroutine_key *who, u64 now, struct wait_begun *wait)
{
	if (change->to != RUNNABLE && change->from != RUNNABLE)
		return;
	goroutine_process(who);
	if (change->from == RUNNABLE)
		end_runnable(who, now);
	else
		begin_runnable(ctx, who, now, wait);
}
#else
static inline void follow_runnable(struct pt_regs *ctx, struct casgstatus *change,
				   struct goroutine_key *who, u64 now, struct wait_begun *wait)
{
}
#endif

int on_probe(struct pt_regs *ctx)
{
	u64 cookie = find_cookie(ctx), now = bpf_ktime_get_ns();
	struct casgstatus change = {};
	struct goroutine_key who = {};
	struct wait_begun wait = {};
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
			end_waiting(ctx, cookie, &who, now, &wait);
		else
			take_wait(&who, &wait);
	}
	follow_runnable(ctx, &change, &who, now, &wait);
	return 0;
}
