// SPDX-License-Identifier: Apache-2.0
/* How much of the calls' time was work of their probes: -DNET; else nothing. Each goroutine has a
 * clock that goes on while its hits are handled: by as long as the kernel side is seen to take, and
 * by what a hit costs beside, which is a price that the tool has measured. A call keeps what the
 * clock was when it began: the difference at its end is what the probes in it took, those of calls
 * inside it and its own. What comes before the kernel side runs is the same at the call's beginning
 * and its end, so that of its own two hits one is in it.
 *
 *   -DROWS=n          names that are told apart
 *
 * It has the place of states.bpf.c, with which it is not compiled: a call has one clock.
 */
#ifdef NET
BPF_ARRAY(net_prices, struct net_price, ROWS);

/* A hit has come, of a goroutine with calls. Until net_leave() the clock is `probes_ns` and what
 * time it is. */
static inline void net_come(struct calls *calls, u64 came)
{
	calls->probes_ns -= came;
}

static inline void states_begin(struct pt_regs *ctx, struct goroutine_key *who, u64 index,
				u64 start)
{
	struct deep_key key = {.who = *who, .index = index};
	struct calls *calls = goroutines.lookup(who);
	u64 then;

	if (!calls)
		return;
	then = calls->probes_ns + start;
	clocks_then.update(&key, &then); /* if there is no room, net_end() misses it */
}

/* The row's call has returned, from this index; the clock is `clock`. */
static inline void net_end(struct goroutine_key *who, u64 index, u64 row, u64 clock)
{
	struct deep_key key = {.who = *who, .index = index};
	struct call_sums *sum = sums.lookup(KEY(row));
	u64 *then = clocks_then.lookup(&key);

	if (!sum)
		return;
	if (then)
		__sync_fetch_and_add(&sum->probes_ns, clock - *then);
	else
		__sync_fetch_and_add(&sum->unpriced, 1);
	clocks_then.delete(&key);
}

/* Of a hit, the very last thing to be done. The goroutine has `left` calls; with none its clock is
 * gone. */
static inline void net_leave(struct calls *calls, u64 left, u64 row, u32 kind)
{
	struct net_price *price = net_prices.lookup(KEY(row));
	bool ends = kind == COOKIE_JUMP || kind == COOKIE_RETURN;

	if (!left)
		return;
	calls->probes_ns += bpf_ktime_get_ns();
	if (price)
		calls->probes_ns += ends ? price->end_ns : price->entry_ns;
}

static inline u64 net_now(void)
{
	return bpf_ktime_get_ns();
}

static inline u64 net_clock(struct calls *calls, u64 now)
{
	return calls->probes_ns + now;
}

static inline void states_end_last(struct goroutine_key *who, u64 left, u32 row, u64 start, u64 now)
{
}
#else
static inline u64 net_now(void)
{
	return 0;
}

static inline void net_come(struct calls *calls, u64 came)
{
}

static inline u64 net_clock(struct calls *calls, u64 now)
{
	return 0;
}

static inline void net_end(struct goroutine_key *who, u64 index, u64 row, u64 clock)
{
}

static inline void net_leave(struct calls *calls, u64 left, u64 row, u32 kind)
{
}
#endif
