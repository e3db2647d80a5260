// SPDX-License-Identifier: Apache-2.0
/* The part of gotrace.bpf.c that follows calls until they return. Inserted there. */

#define ABANDONED_MAX 64 /* so many of the calls that one panic ends are reported, each */
#define FORGOTTEN_MAX 4  /* times 64: how many entries of the other calls are deleted at once */

/* A call that did not return, and whose predicate asks for what only a return tells. */
static inline void count_untested(u32 item, u32 how)
{
	u64 key = trace_untested(item, how), one = 1, *calls = untested.lookup(&key);

	count(TRACE_UNTESTED);
	if (calls)
		__sync_fetch_and_add(calls, 1);
	else
		untested.update(&key, &one);
}

#ifdef KEYED
/* A call that did not return has no results: it is counted by itself, whatever its arguments are.
 */
static inline void report_abandoned(struct hit *hit, struct waiting *call, u32 how)
{
	if (!call->done)
		count_untested(call->call.row, how);
}
#else
/* Reports a call that did not return: only what was kept at entry is known. */
static inline void report_abandoned(struct hit *hit, struct waiting *call, u32 how)
{
	struct trace_event *event;

	if (call->done)
		return;
	if (tests_results(call->plan)) {
		count_untested(call->call.row, how);
		return;
	}
	event = events.ringbuf_reserve(sizeof(*event) + SAVED_ROOM);
	if (!event) {
		count(TRACE_LOST);
		return;
	}
	hit_describe(hit, event, how);
	root_describe(event, call->saved);
	event->bias = call->bias;
	event->item = call->call.row;
	event->latency_ns = hit->now - call->call.start_ns;
	probe_read_kernel(event + 1, SAVED_ROOM, call->saved);
	submit(event, sizeof(*event) + SAVED_ROOM);
}
#endif

/* Deletes what was kept of a goroutine's calls with indexes in [from, to), up to a limit: the
 * goroutine's next calls overwrite what is left. */
static inline void forget_calls(struct goroutine_key *who, u64 from, u64 to)
{
	struct deep_key key = {.who = *who, .index = to};
	int i, j;

#pragma clang loop unroll(disable)
	for (i = 0; i < FORGOTTEN_MAX; i = loop_next(i)) {
		if (key.index <= from)
			break;
			/* without a branch, which the verifier would follow both ways */
#pragma clang loop unroll(disable)
		for (j = 0; j < 64; j = loop_next(j)) {
			key.index -= (from - key.index) >> 63;
			deep_calls.delete(&key);
		}
	}
}

/* As abandon(), but only counts the calls: they are too many to report each. */
static inline void abandon_rest(struct goroutine_key *who, u64 *calls, u64 depth)
{
	u64 from = first_over(who, 0, *calls, depth), to = *calls;
	u64 unreported = TRACE_UNREPORTED;
	u64 *n = counters.lookup(KEY(unreported));

	if (n)
		__sync_fetch_and_add(n, to - from);
	*calls = from;
	forget_calls(who, from, to);
}

/* Is a call over? Calls at `depth` or deeper are. Where a function begins (`fresh` is 1, else 0),
 * `depth` is its own plus 1, and calls at its own depth are over as well, except those that began
 * at the same site: several PROBEs of one function have calls at one depth. Of calls that are known
 * by their return address (`copy`; see tail.h) except those that return there too. */
static inline bool is_over(struct waiting *waiting, u64 depth, u64 fresh, u64 site, u64 copy)
{
	u64 tail = -tail_is(copy);
	u64 other = ((waiting->site ^ site) & ~tail) | ((waiting->call.copy ^ copy) & tail);

	/* without a branch, which the verifier would follow both ways */
	return waiting->call.depth + (fresh & ((other | -other) >> 63)) >= depth;
}

/* Ends the calls that are over. */
static inline void abandon(struct hit *hit, struct goroutine_key *who, u64 *calls, u64 depth,
			   u64 fresh, u64 copy, u32 how)
{
	struct deep_key key = {.who = *who};
	struct waiting *last;
	int i;

	for (i = 0; i < ABANDONED_MAX; i = loop_next(i)) {
		if (!*calls)
			return;
		key.index = *calls - 1;
		last = deep_calls.lookup(&key);
		if (last && !is_over(last, depth, fresh, hit->site, copy))
			return;
		if (last) {
			states_end(who, last, hit->now);
			report_abandoned(hit, last, how);
		}
		deep_calls.delete(&key);
		*calls = key.index;
	}
	abandon_rest(who, calls, depth);
}

/* Counts why a map took no entry for a call: it had no room, or the kernel no memory. */
static inline void count_refusal(long error)
{
	count(error == -E2BIG ? TRACE_UNTRACKED : TRACE_NO_MEMORY);
}

/* NULL: the call that begins is not tracked, and is counted as such */
static inline u64 *calls_of(struct goroutine_key *who)
{
	u64 *calls = goroutines.lookup(who), none = 0;
	long error;

	if (calls)
		return calls;
	error = process_note(who);
	if (!error)
		error = goroutines.update(who, &none);
	if (error) {
		count_refusal(error);
		return 0;
	}
	return goroutines.lookup(who);
}

/* The index for a call that begins: beyond the others, or that of the same function's last call at
 * the same depth, whose end was not seen. */
static inline u64 index_for(struct goroutine_key *who, u64 end, struct call *call)
{
	struct deep_key key = {.who = *who};
	struct waiting *waiting;
	int i;

#pragma clang loop unroll(disable)
	for (i = 1; i <= TRACE_SAME_DEPTH; i = loop_next(i)) {
		if (i > end)
			break;
		key.index = end - i;
		waiting = deep_calls.lookup(&key);
		if (!waiting || waiting->call.depth != call->depth)
			break;
		if (waiting->call.row != call->row || waiting->call.copy != call->copy)
			continue;
		return key.index;
	}
	return end;
}

/* Reads what is kept with the call until it returns. A call for which there is no room counts as
 * done. */
static inline void save(struct pt_regs *ctx, struct hit *hit, struct waiting *waiting, u32 part)
{
#if TABLES
	if (part == TABLE_BEGINS) {
		waiting->table = hit->table;
		waiting->done = !table_save(ctx, hit, waiting->saved);
		return;
	}
#endif
	save_arguments(ctx, hit, waiting->saved, part);
	fetch_later(hit, waiting->saved);
}

static inline void remember(struct pt_regs *ctx, struct hit *hit, struct goroutine_key *who,
			    u64 *calls, struct call *call, u32 how, u32 part)
{
	struct deep_key key = {.who = *who};
	struct waiting *waiting;
	long error = 0;
	bool first;
	u32 zero = 0;

	key.index = forget_value(index_for(who, *calls, call), hit->now);
	waiting = key.index < *calls ? deep_calls.lookup(&key) : 0;
	if (waiting) {
		states_end(who, waiting, hit->now);
		report_abandoned(hit, waiting, how);
	}
	waiting = no_call.lookup(&zero);
	if (waiting)
		error = deep_calls.update(&key, waiting);
	waiting = deep_calls.lookup(&key);
	if (!waiting) {
		count_refusal(error);
		return;
	}
	waiting->call = *call;
	waiting->site = hit->site;
	waiting->bias = hit->bias;
	waiting->plan = hit->plan;
	waiting->done = 0;
	waiting->part = part;
	root_keep(waiting, hit);
	first = forget_value(!*calls, hit->now);
	if (key.index == *calls)
		*calls = key.index + 1;
	save(ctx, hit, waiting, part);
	waiting->call.start_ns = bpf_ktime_get_ns();
	states_begin(ctx, who, waiting, first);
}

#define NO_CALL (~0ULL)

/* Is it the call that a hit ends, the one of `call`'s row and copy? Of calls that are known by
 * their return address any of this part's. */
static inline bool is_returning(struct waiting *waiting, struct call *call, u32 part)
{
	if (waiting->call.copy != call->copy || waiting->done)
		return false;
	if (!tail_is(call->copy))
		return waiting->call.row == call->row;
	return waiting->part == (part == TABLE_ENDS ? TABLE_BEGINS : part);
}

/* The index of the call that a hit ends: the last one; of several PROBEs of one function, which
 * have begun at one site, the first. NO_CALL: it began before it could be seen. */
static inline u64 returning(struct goroutine_key *who, u64 calls, struct call *call, u32 part)
{
	struct deep_key key = {.who = *who};
	u64 found = NO_CALL, site = 0;
	struct waiting *waiting;
	int i;

#pragma clang loop unroll(disable)
	for (i = 1; i <= TRACE_SAME_DEPTH; i = loop_next(i)) {
		if (i > calls)
			break;
		key.index = calls - i;
		waiting = deep_calls.lookup(&key);
		if (!waiting || waiting->call.depth != call->depth)
			break;
		if (!is_returning(waiting, call, part))
			continue;
		if (site && waiting->site != site)
			break;
		found = forget_value(key.index, call->depth);
		site = waiting->site;
		if (!tail_is(call->copy))
			break;
	}
	return found;
}

static inline void on_return(struct pt_regs *ctx, struct hit *hit, struct goroutine_key *who,
			     u64 *calls, struct call *call, u32 kind, u32 part)
{
	struct deep_key key = {.who = *who, .index = returning(who, *calls, call, part)};
	struct waiting *waiting = key.index == NO_CALL ? 0 : deep_calls.lookup(&key);
	u64 if_returned;

	if (!waiting)
		return;
	hit->item = waiting->call.row;
	hit->plan = waiting->plan;
	if (part == TABLE_ENDS)
		hit->table = waiting->table;
	if_returned = waiting->bias & -(u64)hit->returned;
	hit->bias += if_returned;
	hit->site += if_returned;
	hit->latency = hit->now - waiting->call.start_ns;
	states_end(who, waiting, hit->now);
	if (kind == COOKIE_JUMP)
		report_abandoned(hit, waiting, TRACE_JUMPED);
	else
		report(ctx, hit, waiting->saved, TRACE_RETURNED, part);
	waiting->done = 1;
}

/* Removes the last calls of the goroutine that have returned. */
static inline void forget_done(struct goroutine_key *who, u64 *calls)
{
	struct deep_key key = {.who = *who};
	struct waiting *last;
	int i;

	for (i = 0; i < TRACE_SAME_DEPTH; i = loop_next(i)) {
		if (!*calls)
			break;
		key.index = *calls - 1;
		last = deep_calls.lookup(&key);
		if (last && !last->done)
			return;
		deep_calls.delete(&key);
		*calls = key.index;
	}
	if (!*calls) {
		goroutines.delete(who);
		states_forget(who);
	}
}

/* How the calls ended that a hit shows to be over. */
static inline u32 ending_of(u32 kind, struct goroutine_key *who)
{
	if (who->id & GOROUTINE_SYSTEM)
		return TRACE_LEFT;
	if (kind < COOKIE_RECOVERED)
		return TRACE_UNSEEN;
	return kind == COOKIE_GOEXIT ? TRACE_EXITED : TRACE_PANICKED;
}

/* Makes unknown to the verifier what a hit has of its place, and a hook of the runtime has not: all
 * that follows is then verified once for both. */
static inline void forget_place(struct hit *hit, struct call *call)
{
	hit->site = forget_value(hit->site, hit->now);
	hit->bias = forget_value(hit->bias, hit->now);
	hit->entry_sp = forget_value(hit->entry_sp, hit->now);
	hit->item = forget_value(hit->item, hit->now);
	hit->plan = forget_value(hit->plan, hit->now);
	hit->program = forget_value(hit->program, hit->now);
	hit->restart = forget_value(hit->restart, hit->now);
	hit->returned = forget_value(hit->returned, hit->now);
	hit->goid = forget_value(hit->goid, hit->now);
	hit->created_by = forget_value(hit->created_by, hit->now);
	hit->parent_goid = forget_value(hit->parent_goid, hit->now);
	root_forget(hit);
	call->row = forget_value(call->row, hit->now);
	call->copy = forget_value(call->copy, hit->now);
}

static inline void follow_call(struct pt_regs *ctx, struct hit *hit, struct goroutine_key *who,
			       struct call *call, u32 kind, bool begins, u32 part)
{
	u64 *calls, over = forget_value(hit_ends(kind, call->depth), hit->now);
	u32 how = forget_value(ending_of(kind, who), hit->now);
	u64 fresh = forget_value(begins && (!call->copy || tail_is(call->copy)), hit->now);
	u64 wanted = forget_value(begins && root_entered(hit) && wants_at_entry(ctx, hit, part),
				  hit->now);

	kind = forget_value(kind, hit->now);
	who->id = forget_value(who->id, hit->now);
	call->depth = forget_value(call->depth, hit->now);
	hit->depth = call->depth;
	forget_place(hit, call);
	calls = forget_value(wanted, hit->now) ? calls_of(who) : goroutines.lookup(who);
	if (!calls)
		return;
	abandon(hit, who, calls, over, fresh, call->copy, how);
	/* the conditions on `part` are decided when this is compiled */
	if (part != TABLE_ENDS && wanted)
		remember(ctx, hit, who, calls, call, how, part);
	else if (part != TABLE_BEGINS && (kind == COOKIE_RETURN || kind == COOKIE_JUMP))
		on_return(ctx, hit, who, calls, call, kind, part);
	forget_done(who, calls);
}
