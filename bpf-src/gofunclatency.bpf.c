// SPDX-License-Identifier: Apache-2.0
/* Times calls: each goroutine has a stack of its calls that have not returned; latency_sums.bpf.c
 * adds up those that have ended.
 *
 *   -DGOROUTINES=n    room in the map
 *   -DROOTS=n         calls below a call of ROOT are timed alone: parts/roots.bpf.c
 *
 * A goroutine runs on one thread at a time, so its stack of calls is never touched twice at once. A
 * call is over, however it ended, once its goroutine runs with a stack that no longer reaches down
 * to it. Hooks in the runtime tell of panics and Goexit; any other call that is found to be over
 * without a return counts as lost: its end was not seen.
 */
#include "parts/goroutine.h"
#include "parts/tail.h"

/* calls in one frame, of inlined copies or by jumps, that are told apart */
#define SAME_DEPTH_MAX 8
#define LOSS_KINDS LOSSES

BPF_F_TABLE("hash", struct goroutine_key, struct calls, goroutines, GOROUTINES, BPF_F_NO_PREALLOC);
BPF_ARRAY(no_calls, struct calls, 1);

#include "parts/every_program.bpf.c"
#include "parts/processes.bpf.c"
#include "parts/latency_sums.bpf.c"
#include "parts/latency_errors.bpf.c"
#include "parts/state_clocks.bpf.c"
#include "parts/clocks_then.bpf.c"
#include "parts/states.bpf.c"
#include "parts/latency_net.bpf.c"
#include "parts/latency_deep.bpf.c"
#ifdef ROOTS
#include "parts/roots.bpf.c"
#endif

/* Ends the calls whose frames are at `depth` or deeper. Entries in deep_calls are left to
 * deep_end(). Returns the count of calls before. */
static inline u64 abandon(struct goroutine_key *who, struct calls *calls, u64 depth,
			  enum ending how)
{
	u64 to = calls->count;
	struct call *last;
	int i;

	if (to > CALLS_INLINE)
		calls->count = first_over(who, CALLS_INLINE, to, depth);
	for (i = 0; i < CALLS_INLINE; i++) {
		if (!calls->count || calls->count > CALLS_INLINE)
			break;
		last = &calls->call[(calls->count - 1) & (CALLS_INLINE - 1)];
		if (last->depth < depth)
			break;
		count_abandoned(last->row, how);
		calls->count--;
		states_forget_call(who, calls->count);
	}
	return to;
}

static inline void forget_if_idle(struct goroutine_key *who, struct calls *calls)
{
	if (!calls->count)
		goroutines.delete(who);
}

/* NULL: the call that begins is not tracked, and is counted as a loss */
static inline struct calls *calls_of(struct goroutine_key *who)
{
	struct calls *calls = goroutines.lookup(who), *none;
	u32 zero = 0;
	long error;

	if (calls)
		return calls;
	none = no_calls.lookup(&zero);
	if (!none)
		return 0;
	error = process_note(who);
	if (error) {
		count_refusal(error, LOSS_PROCESSES);
		return 0;
	}
	error = goroutines.update(who, none);
	if (error)
		count_refusal(error, LOSS_GOROUTINES);
	return goroutines.lookup(who);
}

/* Adds a call. Calls with indexes below `to` that are no longer in `calls` have just ended, by
 * `how`. */
static inline long remember(struct goroutine_key *who, struct calls *calls, struct call *call,
			    u64 to, enum ending how)
{
	struct deep_key key = {};
	struct call *stale;
	long error;

	if (calls->count < CALLS_INLINE) {
		calls->call[calls->count & (CALLS_INLINE - 1)] = *call;
	} else {
		key.who = *who;
		key.index = calls->count;
		stale = deep_calls.lookup(&key);
		if (stale)
			count_abandoned(stale->row,
					key.index < to ? how : stale_ending(who, key.index, stale));
		error = deep_calls.update(&key, call);
		if (error)
			return error;
	}
	calls->count++;
	return 0;
}

static inline void on_call(struct pt_regs *ctx, struct goroutine_key *who, struct calls *calls,
			   struct call *call, u64 to, enum ending how)
{
	long error;

	call->start_ns = bpf_ktime_get_ns();
	error = remember(who, calls, call, to, how);
	if (error)
		count_refusal(error, LOSS_DEEP);
	else
		states_begin(ctx, who, calls->count - 1, call->start_ns);
}

/* Removes the call of this row and copy from the goroutine's last ones, which have the same depth:
 * it is the very last unless inlined copies are nested. Of calls that are known by their return
 * address it is the last, of whatever row, which *want is told. Returns its start, or 0: it began
 * before it could be seen. */
static inline u64 take(struct goroutine_key *who, struct calls *calls, struct call *want)
{
	struct call *call, *above = 0;
	u64 start = 0;
	int i;

	for (i = 1; i <= SAME_DEPTH_MAX && i <= calls->count; i++) {
		call = call_at(who, calls, calls->count - i);
		if (!call || call->depth != want->depth)
			break;
		if (call->copy == want->copy && (call->row == want->row || tail_is(want->copy))) {
			want->row = call->row;
			start = call->start_ns;
			break;
		}
	}
	if (!start)
		return 0;
	states_take(who, calls->count - i, i);
	/* close the gap */
	for (; i > 1 && i <= SAME_DEPTH_MAX; i--) {
		call = call_at(who, calls, calls->count - i);
		above = call_at(who, calls, calls->count - i + 1);
		if (call && above)
			*call = *above;
	}
	forget_last(who, calls);
	return start;
}

/* A call begins that is known by its return address: those at its own depth are over as well,
 * except for one that has come here by a jump. 1: they are; else 0. */
static inline u64 over_at_depth(struct goroutine_key *who, struct calls *calls, struct call *begins)
{
	struct call *last = calls->count ? call_at(who, calls, calls->count - 1) : 0;

	return tail_is(begins->copy) & !(last && tail_goes_on(last, begins));
}

/* How these calls ended. */
static inline enum ending ending_of(u32 kind, struct goroutine_key *who)
{
	if (who->id & GOROUTINE_SYSTEM)
		return SWITCHED;
	if (kind < COOKIE_RECOVERED)
		return LOST;
	return kind == COOKIE_GOEXIT ? EXITED : PANICKED;
}

/* A call that began at `start` has left the maps. Has it left by a jump that is not followed? Then
 * 0, and it is counted; else `start`. */
static inline u64 end_jumped(u32 kind, struct goroutine_key *who, u64 index, u32 row, u64 start)
{
	if (!start || kind != COOKIE_JUMP)
		return start;
	count_jumped(row);
	states_forget_call(who, index);
	return 0;
}

/* What a hit says of its goroutine's calls */
struct hit_facts {
	u64 over; /* those at this depth or deeper are over, */
	enum ending how;
	u32 kind; /* of the site */
	bool begins;
};

/* The verifier is told nothing of what is in it: else it would walk through all that follows for
 * each kind of site. `noise`: as forget_value() */
static inline struct hit_facts hit_of(u32 kind, bool begins, struct goroutine_key *who,
				      struct call *call, u64 noise)
{
	struct hit_facts hit;

	hit.over = forget_value(over_from(kind, call), noise);
	hit.how = forget_value(ending_of(kind, who), noise);
	hit.kind = forget_value(kind, noise);
	hit.begins = forget_value(begins, noise);
	return hit;
}

#include "parts/latency_segments.bpf.c"

static inline bool states_on(void)
{
	u32 zero = 0;
	struct control *mode = control.lookup(&zero);

	return mode && mode->active;
}

#include "parts/state_changes.bpf.c"

#ifdef STATES_WANTED
int on_probe_1(struct pt_regs *ctx)
{
	return on_state_change(ctx);
}
#endif

int on_probe(struct pt_regs *ctx)
{
	u64 came = net_now(), clock;
	u64 cookie = find_cookie(ctx), now = bpf_ktime_get_ns(), start, to, from;
	struct call call = {.row = cookie_row(cookie)};
	u32 zero = 0, kind = cookie_kind(cookie);
	struct control *mode = control.lookup(&zero);
	bool begins = probe_is_call(ctx, cookie);
	struct goroutine_key who = {};
	struct calls *calls;
	struct hit_facts hit;

	if (!mode || !mode->active || !probe_wanted() || kind == COOKIE_NONE)
		return 0;
	if (kind == COOKIE_CALL_IF_CHECKED && !begins)
		return 0;
	if (!goroutine_find(ctx, probe_sp(ctx) + cookie_adjust(cookie), kind, &who, &call.depth)) {
		if (begins)
			count_loss(LOSS_UNREADABLE);
		return 0;
	}
#ifdef ROOTS
	begins = begins && root_find(&who);
#endif
	call.copy = tail_copy(ctx, cookie, probe_sp(ctx) + cookie_adjust(cookie));
	hit = hit_of(kind, begins, &who, &call, now);
	calls = hit.begins ? calls_of(&who) : goroutines.lookup(&who);
#ifdef SPLIT_STACK
	end_others(hit.kind, &who, hit.how);
	if (calls && calls->ended) {
		hit.over = 0;
		hit.how = calls->ended - 1;
		calls->ended = 0;
	}
#endif
	if (!calls)
		return 0;
	net_come(calls, came);
	if (hit.begins)
		hit.over -= forget_value(over_at_depth(&who, calls, &call), now);
	to = abandon(&who, calls, hit.over, hit.how);
	if (hit.begins)
		on_call(ctx, &who, calls, &call, to, hit.how);
	start = hit.kind == COOKIE_RETURN || hit.kind == COOKIE_JUMP ? take(&who, calls, &call) : 0;
	from = calls->count;
	clock = net_clock(calls, now);
	forget_if_idle(&who, calls);
	start = end_jumped(hit.kind, &who, from, call.row, start);
	if (start) {
		on_end(call.row, now - start, mode->epoch);
		net_end(&who, from, call.row, clock);
	}
#ifdef ERRORS
	if (start)
		count_error(ctx, probe_sp(ctx) + cookie_adjust(cookie), call.row);
#endif
	deep_end(&who, states_stale(from, start), to, hit.how, now);
	states_end_last(&who, from, call.row, start, now);
	net_leave(calls, from, call.row, kind);
	return 0;
}

/* generated: root_programs */
