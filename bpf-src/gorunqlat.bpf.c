// SPDX-License-Identifier: Apache-2.0
/* Times goroutines that wait for a processor: from runtime.casgstatus(gp, ..., _Grunnable), which
 * is called before gp is put into a run queue, to casgstatus(gp, _Grunnable, _Grunning).
 *
 *   -DGOROUTINES=n    that may wait at a time
 *
 * The goroutine whose status changes is not the one that runs here, and if it is new it has no goid
 * yet: it is known by the address of its g. It has one wait at a time.
 */
#include "parts/goroutine.h"
#include "parts/casgstatus.h"

#define LOSS_KINDS LOSSES

BPF_F_TABLE("hash", struct goroutine_key, struct only_call, goroutines, GOROUTINES,
	    BPF_F_NO_PREALLOC);

#include "parts/every_program.bpf.c"
#include "parts/processes.bpf.c"
#include "parts/latency_sums.bpf.c"

static inline void begin_waiting(struct goroutine_key *who, u64 now)
{
	struct only_call wait = {.count = 1, .call.start_ns = now};
	long error = process_note(who);

	if (error) {
		count_refusal(error, LOSS_PROCESSES);
		return;
	}
	error = goroutines.update(who, &wait);
	if (error)
		count_refusal(error, LOSS_GOROUTINES);
}

/* Removes the goroutine from the map. Returns when its wait began; 0: that was not seen. */
static inline u64 began_waiting(struct goroutine_key *who)
{
	struct only_call *wait = goroutines.lookup(who);
	u64 start = 0;

	if (wait) {
		start = wait->call.start_ns;
		goroutines.delete(who);
	}
	return start;
}

int on_probe(struct pt_regs *ctx)
{
	u64 cookie = find_cookie(ctx), now = bpf_ktime_get_ns(), start;
	struct casgstatus change = {};
	struct goroutine_key who = {};
	u32 zero = 0;
	struct control *mode = control.lookup(&zero);

	if (!mode || !mode->active || !probe_wanted() || !probe_is_call(ctx, cookie))
		return 0;
	if (casgstatus_read(ctx, cookie, &change)) {
		count_loss(LOSS_UNREADABLE);
		return 0;
	}
	if (change.from != RUNNABLE && change.to != RUNNABLE)
		return 0;
	who.id = change.g;
	goroutine_process(&who);
	start = began_waiting(&who);
	/* since Go 1.22 coroutines are runnable for a moment without being queued */
	if (start && change.from == RUNNABLE && change.to == RUNNING)
		on_end(0, now - start, mode->epoch);
	else if (start && change.from != RUNNABLE)
		count_abandoned(0, LOST);
	if (change.to == RUNNABLE)
		begin_waiting(&who, now);
	return 0;
}
