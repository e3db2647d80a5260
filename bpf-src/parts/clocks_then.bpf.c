// SPDX-License-Identifier: Apache-2.0
/* What a goroutine's clock was when each of its calls began, by the call's index, which counts from
 * its outermost one: -DSTATES_WANTED or -DNET; else nothing.
 *
 *   -DNESTED=n        room for calls inside calls
 */
#ifdef STATES_WANTED
#define CLOCK struct state_clock
#elif defined(NET)
#define CLOCK u64
#endif

#ifdef CLOCK
/* of states: calls inside calls only; since_ns is when they began */
BPF_F_TABLE("hash", struct deep_key, CLOCK, clocks_then, NESTED, BPF_F_NO_PREALLOC);

/* Makes the call of this index, the i-th from the last, the last one: the others move down. */
static inline void states_take(struct goroutine_key *who, u64 index, int i)
{
	struct deep_key key = {.who = *who, .index = index}, aside = {.who = *who, .index = -1};
	CLOCK *then;

	if (i < 2)
		return;
	then = clocks_then.lookup(&key);
	if (then)
		clocks_then.update(&aside, then);
	for (; i > 1 && i <= SAME_DEPTH_MAX; i--) {
		key.index++;
		then = clocks_then.lookup(&key);
		key.index--;
		if (then)
			clocks_then.update(&key, then);
		key.index++;
	}
	then = clocks_then.lookup(&aside);
	if (then)
		clocks_then.update(&key, then);
	clocks_then.delete(&aside);
}

/* The first call, by its index, that has ended beside the one that has returned from index `from`
 * (`start`: 0, there is none). */
static inline u64 states_stale(u64 from, u64 start)
{
	return from + !!start;
}

/* The call is over without having returned. */
static inline void states_forget_deep(struct deep_key *key)
{
	clocks_then.delete(key);
}

static inline void states_forget_call(struct goroutine_key *who, u64 index)
{
	struct deep_key key = {.who = *who, .index = index};

	states_forget_deep(&key);
}
#else
static inline void states_take(struct goroutine_key *who, u64 index, int i)
{
}

static inline u64 states_stale(u64 from, u64 start)
{
	return from;
}

static inline void states_forget_deep(struct deep_key *key)
{
}

static inline void states_forget_call(struct goroutine_key *who, u64 index)
{
}
#endif
