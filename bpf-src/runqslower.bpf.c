// SPDX-License-Identifier: Apache-2.0
/* Tells of each goroutine that has waited for a processor for long, as gorunqlat.bpf.c times them,
 * and which goroutines have had that processor (P) meanwhile. What is known of a P is its last
 * turns: from casgstatus(gp, ..., _Grunning) to casgstatus(gp, _Grunning, ...) on the thread that
 * has the P, or to the next turn there, as system calls bypass casgstatus from Go 1.26 on.
 *
 *   -DGOROUTINES=n    that may wait at a time
 *   -DMIN_NS=n        the shortest wait that is told
 *   -DRING_PAGES=n    size of the ring buffer, a power of two
 *   -DM_P=n -DG_GOPC=n    byte offsets in Go's struct m and g: after gopc, ancestors and startpc
 */
#include "parts/goroutine.h"
#include "parts/casgstatus.h"
#include "shared/runqslower.h"

#define LOSS_KINDS RUNQ_LOSSES
#define PROCESSORS 8192 /* of all processes */

struct processor {
	u64 count; /* turns begun, of which the last ones are kept */
	struct runq_turn turns[RUNQ_TURNS];
};

BPF_ARRAY(active, u32, 1);
BPF_ARRAY(no_processor, struct processor, 1);
BPF_RINGBUF_OUTPUT(events, RING_PAGES);
BPF_F_TABLE("hash", struct goroutine_key, u64, waiting, GOROUTINES, BPF_F_NO_PREALLOC);
BPF_TABLE("lru_hash", struct goroutine_key, struct processor, processors, PROCESSORS);

#include "parts/every_program.bpf.c"
#include "parts/losses.bpf.c"

/* The P that this thread has; NULL: none, or it cannot be read. */
static inline struct processor *processor_here(struct pt_regs *ctx, struct goroutine_key *who)
{
	struct goroutine_key key = {.process = who->process};
	u32 zero = 0;
	struct processor *none = no_processor.lookup(&zero);
	u64 m = 0;

	read_user(&m, sizeof(m), goroutine_g(ctx) + G_M);
	if (!none || read_user(&key.id, sizeof(key.id), m + M_P) || !key.id)
		return 0;
	processors.insert(&key, none);
	return processors.lookup(&key);
}

/* The last turn is over now, if it is of `g`, or if `g` is 0; and if it goes on. */
static inline void end_turn(struct processor *on, u64 g, u64 now)
{
	struct runq_turn *turn = &on->turns[(on->count - 1) & (RUNQ_TURNS - 1)];

	if (!turn->to_ns && turn->from_ns && (!g || turn->g == g))
		turn->to_ns = now;
}

static inline void begin_turn(struct processor *on, const struct runq_turn *turn)
{
	u64 index = on->count & (RUNQ_TURNS - 1);

	on->turns[index] = *turn;
	on->count++;
}

static inline void tell(struct pt_regs *ctx, struct processor *on, const struct runq_turn *turn,
			u64 wait_ns)
{
	struct runq_slow *event = events.ringbuf_reserve(sizeof(*event));
	u64 ids = probe_ids();

	if (!event) {
		count_loss(RUNQ_LOSS_EVENTS);
		return;
	}
	event->time_ns = turn->from_ns;
	event->wait_ns = wait_ns;
	event->goid = turn->goid;
	event->start = turn->start;
	event->probe = probe_register(ctx, REGISTER_PC);
	event->pid = ids >> 32;
	event->tid = ids;
	event->cpu = bpf_get_smp_processor_id();
	event->count = on->count < RUNQ_TURNS ? on->count : RUNQ_TURNS;
	probe_read_kernel(event->turns, sizeof(event->turns), on->turns);
	bpf_get_current_comm(event->comm, sizeof(event->comm));
	events.ringbuf_submit(event, BPF_RB_NO_WAKEUP);
}

/* Who waits from now on, and since when who does not any more; 0: that was not seen. */
static inline u64 note_wait(struct goroutine_key *who, const struct casgstatus *change, u64 now)
{
	u64 *begun = waiting.lookup(who), since = 0;

	if (begun) {
		since = *begun;
		waiting.delete(who);
	}
	if (change->to == RUNNABLE && waiting.update(who, &now))
		count_loss(RUNQ_LOSS_WAITS);
	return change->from == RUNNABLE ? since : 0;
}

static inline void change_status(struct pt_regs *ctx, const struct casgstatus *change, u64 now)
{
	struct goroutine_key who = {.id = change->g};
	struct runq_turn turn = {.g = change->g, .from_ns = now};
	struct processor *on;
	u64 since = 0;

	goroutine_process(&who);
	if (change->from == RUNNABLE || change->to == RUNNABLE)
		since = note_wait(&who, change, now);
	if (change->from != RUNNING && change->to != RUNNING)
		return;
	on = processor_here(ctx, &who);
	if (!on)
		return;
	end_turn(on, change->from == RUNNING ? change->g : 0, now);
	if (change->to != RUNNING)
		return;
	if (read_user(&turn.goid, sizeof(turn.goid), change->g + GOID_OFF) ||
	    read_user(&turn.start, sizeof(turn.start), change->g + G_GOPC + 16))
		count_loss(RUNQ_LOSS_UNREADABLE);
	if (since && now - since >= MIN_NS)
		tell(ctx, on, &turn, now - since);
	begin_turn(on, &turn);
}

int on_probe(struct pt_regs *ctx)
{
	u64 cookie = find_cookie(ctx), now = bpf_ktime_get_ns();
	struct casgstatus change = {};
	u32 zero = 0, *on = active.lookup(&zero);

	if (!on || !*on || !probe_wanted() || !probe_is_call(ctx, cookie))
		return 0;
	if (casgstatus_read(ctx, cookie, &change)) {
		count_loss(RUNQ_LOSS_UNREADABLE);
		return 0;
	}
	change_status(ctx, &change, now);
	return 0;
}
