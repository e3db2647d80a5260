// SPDX-License-Identifier: Apache-2.0
/* The part of gofunclatency.bpf.c for calls that are deep inside others: a goroutine's first ones
 * are in its entry of map `goroutines`, and these in a map of their own.
 *
 *   -DDEEP_CALLS=n    room in the map
 */
#define DELETED_MAX 4 /* times 64: entries deleted at once, of calls that end together */
#define MARKS_MAX 65536

BPF_F_TABLE("hash", struct deep_key, struct call, deep_calls, DEEP_CALLS, BPF_F_NO_PREALLOC);
/* how stale entries of deep_calls ended; those without a mark ended by a panic */
BPF_F_TABLE("hash", struct goroutine_key, struct end_mark, marks, MARKS_MAX, BPF_F_NO_PREALLOC);

#include "parts/first_over.bpf.c"

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

/* How the call ended whose place a new call takes. */
static inline enum ending stale_ending(struct goroutine_key *who, u64 index, struct call *stale)
{
	struct end_mark *mark = marks.lookup(who);

	if (mark && index < mark->count && stale->start_ns <= mark->at_ns)
		return mark->how;
	return PANICKED;
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

/* The calls with indexes in [from, to) have ended; those in `goroutines` are counted already. The
 * verifier is told nothing of the indexes: it would walk through the loops for each. */
static inline void deep_end(struct goroutine_key *who, u64 from, u64 to, enum ending how, u64 noise)
{
	if (to <= CALLS_INLINE || from >= to)
		return;
	from = from > CALLS_INLINE ? from : CALLS_INLINE;
	delete_stale(who, forget_value(from, noise), forget_value(to, noise), how);
}
