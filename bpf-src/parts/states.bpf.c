// SPDX-License-Identifier: Apache-2.0
/* Where the time of calls goes, by the state of their goroutine: -DSTATES_WANTED; else nothing. A
 * call keeps what its goroutine's clock (state_clocks.bpf.c) was when it began; the difference at
 * its end is its own, and sums up to its latency, as both are taken at the same two instants.
 *
 *   -DSTATE_SUMS=n   room for the sums */
#ifdef STATES_WANTED
BPF_F_TABLE("hash", u64, struct state_sum, state_sums, STATE_SUMS, BPF_F_NO_PREALLOC);

/* The goroutine's call of this index, counted from its outermost one, has begun. */
static inline void states_begin(struct pt_regs *ctx, struct goroutine_key *who, u64 index,
				u64 start)
{
	struct deep_key key = {.who = *who, .index = index};
	struct state_clock *clock, *none;
	u32 zero = 0;

	if (!index) {
		none = no_clock.lookup(&zero);
		if (!none || clocks.update(who, none)) {
			count_state_loss(STATE_LOSS_ROOM);
			return;
		}
	}
	clock = clocks.lookup(who);
	if (!index && clock) {
		clock->began_ns = start;
		clock->since_ns = start;
		clock->state = state_here(ctx, who);
		clock_off(clock, start);
	} else if (clock) {
		clock_turn(clock, clock_state(clock), start);
		if (clocks_then.update(&key, clock))
			count_state_loss(STATE_LOSS_ROOM);
	} else {
		count_state_loss(STATE_LOSS_ROOM);
	}
}

static inline void add_state(u32 row, u32 state, u64 ns)
{
	struct state_sum none = {}, *sum;
	u64 key;

#ifndef PER_ROW
	row = 0;
#endif
	key = latency_place(row, state);
	sum = state_sums.lookup(&key);
	if (!sum) {
		/* several CPUs may try: the first one inserts it */
		state_sums.insert(&key, &none);
		sum = state_sums.lookup(&key);
	}
	if (!sum) {
		count_state_loss(STATE_LOSS_SUMS);
		return;
	}
	__sync_fetch_and_add(&sum->calls, 1);
	__sync_fetch_and_add(&sum->total_ns, ns);
}

/* A call of this row has returned, the last one of its goroutine. */
static inline void states_end(struct goroutine_key *who, u64 index, u32 row, u64 start, u64 now)
{
	struct deep_key key = {.who = *who, .index = index};
	struct state_clock *clock = clocks.lookup(who), *then = clocks_then.lookup(&key);
	u32 i = 0;
	u64 ns;

	if (clock && start == clock->began_ns)
		then = no_clock.lookup(&i);
	else if (clock && then && start != then->since_ns)
		then = 0; /* of a call before */
	if (!clock || !then) {
		add_state(row, STATE_UNKNOWN, now - start);
		return;
	}
	clock_turn(clock, clock_state(clock), now);
#pragma clang loop unroll(disable)
	for (i = 0; i < STATES; i = loop_next(i)) {
		ns = clock->ns[i & (STATES - 1)] - then->ns[i & (STATES - 1)];
		if (ns)
			add_state(row, i, ns);
	}
	clocks_then.delete(&key);
}

/* Of a hit, the last thing to be done, as the verifier walks through it once for each way that
 * leads there; it is told nothing of the numbers, lest there be more ways. The goroutine has `left`
 * calls. `start`: of the row's call that has returned; 0: none has. */
static inline void states_end_last(struct goroutine_key *who, u64 left, u32 row, u64 start, u64 now)
{
	start = forget_value(start, now);
	left = forget_value(left, now);
	if (start)
		states_end(who, left, row, start, now);
	if (!left)
		clocks.delete(who);
}
#elif !defined(NET) /* then they are latency_net.bpf.c's */
static inline void states_begin(struct pt_regs *ctx, struct goroutine_key *who, u64 index,
				u64 start)
{
}

static inline void states_end_last(struct goroutine_key *who, u64 left, u32 row, u64 start, u64 now)
{
}
#endif
