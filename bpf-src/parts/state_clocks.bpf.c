// SPDX-License-Identifier: Apache-2.0
/* A clock for each goroutine with calls, which adds up its time by state: -DSTATES_WANTED; else
 * nothing. state_changes.bpf.c turns it.
 *
 *   -DGOROUTINES=n    room for them
 *   -DG_STATUS=n      byte offset in Go's struct g
 */
#ifdef STATES_WANTED
#include "parts/threads.bpf.c"
#include "shared/states.h"

BPF_F_TABLE("hash", struct goroutine_key, struct state_clock, clocks, GOROUTINES,
	    BPF_F_NO_PREALLOC);
BPF_ARRAY(no_clock, struct state_clock, 1);
BPF_PERCPU_ARRAY(state_losses, u64, STATE_LOSSES);

static inline void count_state_loss(u64 loss)
{
	u64 *n = state_losses.lookup(KEY(loss));

	if (n)
		__sync_fetch_and_add(n, 1);
}

/* The state that a goroutine's status stands for (Go's src/runtime/runtime2.go), by a nibble each:
 * one whose stack is moved runs, a preempted one and one found leaked wait; 7: no state. */
static inline u32 state_of(u64 status)
{
	return status < 12 ? 0x744077742017 >> (status * 4) & 7 : 7;
}

#ifdef THREADS_WANTED
/* How long since the clock was turned last its thread was off the CPU, as far as it is this one. */
static inline u64 clock_off(struct state_clock *clock, u64 now)
{
	u64 tid = thread_id(), before = clock->off_ns, last = clock->thread;
	struct thread_time *time = thread_here();

	clock->thread = 0;
	if (!time) {
		count_state_loss(STATE_LOSS_THREADS);
		return 0;
	}
	clock->thread = tid;
	clock->off_ns = thread_off(time, now);
	return last == tid ? clock->off_ns - before : 0;
}
#else
static inline u64 clock_off(struct state_clock *clock, u64 now)
{
	return 0;
}
#endif

/* The time since the last change was spent in `state`. A goroutine that runs does so on one thread,
 * which is the one that turns its clock when it begins to run and when it has. */
static inline void clock_turn(struct state_clock *clock, u64 state, u64 now)
{
	u64 off = clock_off(clock, now), spent = now - clock->since_ns;

	if (now < clock->since_ns) {
		count_state_loss(STATE_LOSS_UNSEEN);
		return;
	}
	if (state != STATE_RUNNING)
		off = 0;
	if (off > spent)
		off = spent;
	clock->ns[STATE_OFF_CPU] += off;
	/* the compiler knows the bounds, but the verifier may have lost them: Linux 6.1 does */
	asm volatile("" : "+r"(state));
	clock->ns[state & (STATES - 1)] += spent - off;
	clock->since_ns = now;
}

/* What a goroutine is doing that makes a call. */
static inline u64 clock_state(struct state_clock *clock)
{
	return clock->state < STATE_UNKNOWN ? clock->state : STATE_UNKNOWN;
}

/* Mostly it runs; but the runtime's own functions may be called where it does not. */
static inline u32 state_here(struct pt_regs *ctx, struct goroutine_key *who)
{
	struct goroutine_stack stack = {};
	u32 status = 0, state = STATE_RUNNING;

	if (!(who->id & GOROUTINE_SYSTEM) &&
	    !read_user(&status, sizeof(status), goroutine_current(ctx, &stack) + G_STATUS))
		state = state_of(status & 0xfff);
	return state <= STATE_WAITING ? state : STATE_RUNNING;
}
#endif
