// SPDX-License-Identifier: Apache-2.0
/* Times calls: each goroutine has a stack of its calls that have not returned; latency_sums.bpf.c
 * adds up those that have ended.
 *
 *   -DGOROUTINES=n -DDEEP_CALLS=n    room in the maps
 *
 * A goroutine runs on one thread at a time, so its stack of calls is never touched twice at once. A
 * call is over, however it ended, once its goroutine runs with a stack that no longer reaches down
 * to it. Hooks in the runtime tell of panics and Goexit; any other call that is found to be over
 * without a return counts as lost: its end was not seen.
 */
#include "goroutine.h"
#include "shared/histogram_index.h"
#include "extremes.h"

#define SAME_DEPTH_MAX 8 /* inlined copies nested in one frame that are told apart */
#define DELETED_MAX 16   /* times 64: entries deleted at once, of calls that end together */

#define MARKS_MAX 65536
#define LOSS_KINDS LOSSES
BPF_F_TABLE("hash", struct goroutine_key, struct calls, goroutines, GOROUTINES, BPF_F_NO_PREALLOC);
BPF_F_TABLE("hash", struct deep_key, struct call, deep_calls, DEEP_CALLS, BPF_F_NO_PREALLOC);
/* how stale entries of deep_calls ended; those without a mark ended by a panic */
BPF_F_TABLE("hash", struct goroutine_key, struct end_mark, marks, MARKS_MAX, BPF_F_NO_PREALLOC);
BPF_ARRAY(no_calls, struct calls, 1);

/* file: cost.bpf.c */
/* file: find_cookie.bpf.c */
/* file: follow_exec.bpf.c */
/* file: descendants.bpf.c */
/* file: processes.bpf.c */
/* file: losses.bpf.c */
/* file: latency_sums.bpf.c */
/* file: first_over.bpf.c */
/* file: threads.bpf.c */
/* file: state_clocks.bpf.c */
/* file: states.bpf.c */

static inline struct call *call_at(struct goroutine_key *who, struct calls *calls, u64 index)
{
	struct deep_key key = {};

	if (index < CALLS_INLINE)
		return &calls->call[index & (CALLS_INLINE - 1)];
	key.who = *who;
	key.index = index;
	return deep_calls.lookup(&key);
}

static inline void forget_last(struct goroutine_key *who, struct calls *calls)
{
	struct deep_key key = {};

	calls->count--;
	if (calls->count < CALLS_INLINE)
		return;
	key.who = *who;
	key.index = calls->count;
	deep_calls.delete(&key);
}

/* Ends the calls whose frames are at `depth` or deeper. Entries in deep_calls are left to
 * delete_stale(). Returns the count of calls before. */
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

/* Counts and deletes the entries with indexes in [from, to), up to a limit. Entries that are left
 * are counted when a new call takes their place, or by the tool at the end. */
static inline void delete_stale(struct goroutine_key *who, u64 from, u64 to, enum ending how)
{
	struct deep_key key = {.who = *who, .index = to};
	struct end_mark mark = {.how = how};
	struct call_sums *sum;
	struct call call = {};
	int i, j;

#pragma clang loop unroll(disable)
	for (i = 0; i < DELETED_MAX; i = loop_next(i)) {
		if (key.index <= from)
			break;
			/* without branches, which the verifier would follow both ways */
#pragma clang loop unroll(disable)
		for (j = 0; j < 64; j = loop_next(j)) {
			key.index -= (from - key.index) >> 63;
			probe_read_kernel(&call, sizeof(call), deep_calls.lookup(&key));
			sum = sums.lookup(&call.row);
			if (!sum)
				return;
			__sync_fetch_and_add(&sum->panicked + (how & 3),
					     1 - ((u64)deep_calls.delete(&key) >> 63));
			states_forget_deep(&key);
		}
	}
	if (key.index <= from || how == PANICKED)
		return;
	mark.count = key.index;
	mark.at_ns = bpf_ktime_get_ns();
	marks.update(who, &mark);
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

/* How the call ended whose place a new call takes. */
static inline enum ending stale_ending(struct goroutine_key *who, u64 index, struct call *stale)
{
	struct end_mark *mark = marks.lookup(who);

	if (mark && index < mark->count && stale->start_ns <= mark->at_ns)
		return mark->how;
	return PANICKED;
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
 * it is the very last unless inlined copies are nested. Returns its start, or 0: it began before it
 * could be seen. */
static inline u64 take(struct goroutine_key *who, struct calls *calls, struct call *want)
{
	struct call *call, *above = 0;
	u64 start = 0;
	int i;

	for (i = 1; i <= SAME_DEPTH_MAX && i <= calls->count; i++) {
		call = call_at(who, calls, calls->count - i);
		if (!call || call->depth != want->depth)
			break;
		if (call->row == want->row && call->copy == want->copy) {
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

/* A hit shows that calls of its goroutine at this depth or deeper are over. */
static inline u64 over_from(u32 kind, struct call *call)
{
	if (kind >= COOKIE_GOEXIT)
		return 0;
	/* at a return the call itself is not over yet; inlined copies share their depth */
	if (kind == COOKIE_RETURN || (kind != COOKIE_RECOVERED && call->copy))
		return call->depth + 1;
	return call->depth;
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

/* file: latency_segments.bpf.c */
static inline bool states_on(void)
{
	u32 zero = 0;
	struct control *mode = control.lookup(&zero);

	return mode && mode->active;
}

/* file: state_changes.bpf.c */

#ifdef STATES_WANTED
int on_probe_1(struct pt_regs *ctx)
{
	return on_state_change(ctx);
}
#endif

int on_probe(struct pt_regs *ctx)
{
	u64 cookie = find_cookie(ctx), now = bpf_ktime_get_ns(), start, over, from, stale, to;
	struct call call = {.row = cookie_row(cookie), .copy = cookie_copy(cookie)};
	u32 zero = 0, kind = cookie_kind(cookie);
	struct control *mode = control.lookup(&zero);
	bool begins = probe_is_call(ctx, cookie);
	struct goroutine_key who = {};
	struct calls *calls;
	enum ending how;

	if (!mode || !mode->active || !probe_wanted() || kind == COOKIE_NONE)
		return 0;
	if (kind == COOKIE_CALL_IF_CHECKED && !begins)
		return 0;
	if (!goroutine_find(ctx, probe_sp(ctx) + cookie_adjust(cookie), kind, &who, &call.depth)) {
		if (begins)
			count_loss(LOSS_UNREADABLE);
		return 0;
	}
	over = forget_value(over_from(kind, &call), now);
	how = forget_value(ending_of(kind, &who), now);
	kind = forget_value(kind, now);
	begins = forget_value(begins, now);
	calls = begins ? calls_of(&who) : goroutines.lookup(&who);
#ifdef SPLIT_STACK
	end_others(kind, &who, how);
	if (calls && calls->ended) {
		over = 0;
		how = calls->ended - 1;
		calls->ended = 0;
	}
#endif
	if (!calls)
		return 0;
	to = abandon(&who, calls, over, how);
	if (begins)
		on_call(ctx, &who, calls, &call, to, how);
	start = kind == COOKIE_RETURN ? take(&who, calls, &call) : 0;
	from = calls->count;
	forget_if_idle(&who, calls);
	if (start)
		on_end(call.row, now - start, mode->epoch);
	stale = states_stale(from, start);
	if (to > CALLS_INLINE && stale < to)
		delete_stale(&who, forget_value(stale > CALLS_INLINE ? stale : CALLS_INLINE, now),
			     forget_value(to, now), how);
	/* the last, as the verifier walks through it once for each way that leads there */
	start = states_any(start, now);
	from = states_any(from, now);
	if (start)
		states_end(&who, from, call.row, start, now);
	if (!from)
		states_forget(&who);
	return 0;
}
