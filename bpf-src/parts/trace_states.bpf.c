// SPDX-License-Identifier: Apache-2.0
/* How long each call's goroutine was in each state, for trace_calls.bpf.c: -DSTATES_WANTED; else
 * nothing. What is kept with a call begins with a word for each state (struct state_times): what
 * its goroutine's clock (state_clocks.bpf.c) was when the call began, then the difference at its
 * end. So these words are in the record too. */
#ifdef STATES_WANTED
static inline bool states_on(void)
{
	u32 zero = 0, *over = ended.lookup(&zero);

	return over && !*over;
}

/* A call has begun, the goroutine's outermost one if `first`. */
static inline void states_begin(struct pt_regs *ctx, struct goroutine_key *who,
				struct waiting *waiting, bool first)
{
	struct state_times *then = (struct state_times *)waiting->saved;
	struct state_clock *clock, *none;
	u32 zero = 0, i;

	if (first) {
		none = no_clock.lookup(&zero);
		if (none)
			clocks.update(who, none);
	}
	clock = clocks.lookup(who);
	if (!clock) {
		count_state_loss(STATE_LOSS_ROOM);
		return;
	}
	if (first) {
		clock->began_ns = waiting->call.start_ns;
		clock->since_ns = waiting->call.start_ns;
		clock->state = state_here(ctx, who);
	} else {
		clock_turn(clock, clock_state(clock), waiting->call.start_ns);
	}
#pragma clang loop unroll(full)
	for (i = 0; i < STATES_BRIEF; i++)
		then->ns[i] = clock->ns[i];
}

/* A call is over: its states' times sum up to its latency, with what its goroutine has done since
 * the clock was turned last. If they do not there is no clock, and all of it is unknown. Without a
 * branch, which the verifier would follow both ways, for each of many calls that end together. */
static inline void states_end(struct goroutine_key *who, struct waiting *waiting, u64 now)
{
	struct state_times *spent = (struct state_times *)waiting->saved;
	struct clock_read *clock = &waiting->clock;
	u64 latency = now - waiting->call.start_ns, differs = latency, none;
	u32 i;

	/* zeroes if there is none */
	probe_read_kernel(clock, sizeof(*clock), clocks.lookup(who));
	/* as clock_state(): one that waits makes no call */
	clock->state |= -(clock->state >> 2);
	clock->ns[clock->state & STATE_UNKNOWN] += now - clock->since_ns;
#pragma clang loop unroll(full)
	for (i = 0; i < STATES_BRIEF; i++) {
		spent->ns[i] = clock->ns[i] - spent->ns[i];
		differs -= spent->ns[i];
	}
	none = -((differs | -differs | (now - clock->since_ns)) >> 63);
#pragma clang loop unroll(full)
	for (i = 0; i < STATES_BRIEF; i++)
		spent->ns[i] &= ~none;
	spent->ns[STATE_UNKNOWN] |= latency & none;
}

/* The goroutine has no more calls. */
static inline void states_forget(struct goroutine_key *who)
{
	clocks.delete(who);
}
#else
static inline void states_begin(struct pt_regs *ctx, struct goroutine_key *who,
				struct waiting *waiting, bool first)
{
}

static inline void states_end(struct goroutine_key *who, struct waiting *waiting, u64 now)
{
}

static inline void states_forget(struct goroutine_key *who)
{
}
#endif
