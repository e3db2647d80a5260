// SPDX-License-Identifier: Apache-2.0
/* Turns the clocks of state_clocks.bpf.c when the scheduler changes a goroutine's state. Inserted
 * where these are; states_on() tells whether calls are timed at all.
 *
 * The runtime orders the changes of one goroutine, on whatever threads they are made, and each hit
 * comes before the change itself is made: so the clock is never touched twice at once. A change
 * from another state than the clock's shows that one was not seen: then the time is unknown.
 *
 *   -DWAITS_AS_ONE      what goroutines wait for is not told apart
 *   -DG_WAITREASON=n    else: byte offset in Go's struct g
 *   -DLATE_REASONS=n    before Go 1.20: waits that do not lead to a run queue are for work of the
 *                       runtime, and note what it is only if it is in this mask, by its number
 */
#ifdef STATES_WANTED
#include "parts/casgstatus.h"

struct state_changed {
	u64 g, from, to; /* states */
	u32 what;        /* enum state_change */
};

/* The g that this thread's m works for, seen from its g0; 0: it cannot be read. */
static inline u64 current_goroutine(struct pt_regs *ctx)
{
	u64 m = 0, g = 0;

	read_user(&m, sizeof(m), goroutine_g(ctx) + G_M);
	read_user(&g, sizeof(g), m + M_CURG);
	return g;
}

/* 0, or an error: it cannot be read */
static inline long read_change(struct pt_regs *ctx, u64 cookie, struct state_changed *change)
{
	struct casgstatus cas = {};
	long error;

	change->from = STATE_RUNNING;
	change->to = STATE_WAITING;
	switch (change->what) {
	case CHANGE_CAS:
		error = casgstatus_read(ctx, cookie, &cas);
		change->g = cas.g;
		change->from = state_of(cas.from);
		change->to = state_of(cas.to);
		return error;
	case CHANGE_PARK:
		return goarg(ctx, cookie, GOARG_1, 0, 8, &change->g);
	case CHANGE_SYSCALL:
		change->to = STATE_SYSCALL;
		change->g = goroutine_g(ctx);
		return 0;
	case CHANGE_RETURNED:
		change->from = STATE_SYSCALL;
		change->to = STATE_RUNNING;
		change->g = goroutine_g(ctx);
		return 0;
	case CHANGE_SWITCHED:
		change->from = STATE_WAITING;
		change->to = STATE_RUNNING;
		/* fall through */
	default:
		change->g = current_goroutine(ctx);
		return !change->g;
	}
}

/* What the goroutine has waited for. It is noted before it waits, or right after it has begun to,
 * but always before it ends. */
static inline u64 state_waited(struct state_clock *clock, struct state_changed *change)
{
#ifdef WAITS_AS_ONE
	return STATE_WAITING;
#else
	u64 reason = 0;

	if (clock->work)
		return clock->work;
	if (read_user(&reason, 1, change->g + G_WAITREASON) || reason >= STATE_REASONS)
		return STATE_UNKNOWN;
#ifdef LATE_REASONS
	if (change->to == STATE_RUNNING && !(LATE_REASONS >> reason & 1))
		return STATE_OTHER_WORK;
#endif
	return STATE_WAITING + reason;
#endif
}

/* Work of the runtime, for which the goroutine counts as waiting; it may also be done by one that
 * does not. */
static inline void state_note_work(struct state_clock *clock, u32 what)
{
	if (clock->state == STATE_WAITING)
		clock->work = STATE_STOP_WORLD + what - CHANGE_STOP_WORLD;
}

static inline void state_change(struct state_clock *clock, struct state_changed *change, u64 now)
{
	u64 spent = clock->state;

	if (change->what >= CHANGE_STOP_WORLD) {
		state_note_work(clock, change->what);
		return;
	}
	/* casgstatus is called only where the runtime's fast path has failed */
	if (change->to == clock->state && (clock->early || change->what == CHANGE_SWITCHED)) {
		clock->early = 0;
		return;
	}
	if (change->from == change->to)
		return;
	if (change->from != clock->state) {
		count_state_loss(STATE_LOSS_UNSEEN);
		spent = STATE_UNKNOWN;
	} else if (spent == STATE_WAITING) {
		spent = state_waited(clock, change);
	}
	clock_turn(clock, spent, now);
	clock->state = change->to;
	clock->early = change->what != CHANGE_CAS;
	clock->work = 0;
}

static inline int on_state_change(struct pt_regs *ctx)
{
	u64 cookie = find_cookie(ctx), now = bpf_ktime_get_ns();
	struct state_changed change = {.what = cookie_copy(cookie)};
	struct goroutine_key who = {};
	struct state_clock *clock;

	if (!states_on() || !probe_wanted() || !probe_is_call(ctx, cookie))
		return 0;
	if (read_change(ctx, cookie, &change) ||
	    (change.from <= STATE_WAITING && change.to <= STATE_WAITING &&
	     read_user(&who.id, sizeof(who.id), change.g + GOID_OFF))) {
		count_state_loss(STATE_LOSS_UNREADABLE);
		return 0;
	}
	/* it begins or ends, and has no calls */
	if (change.from > STATE_WAITING || change.to > STATE_WAITING)
		return 0;
	goroutine_process(&who);
	clock = clocks.lookup(&who);
	if (clock)
		state_change(clock, &change, now);
	return 0;
}
#endif
