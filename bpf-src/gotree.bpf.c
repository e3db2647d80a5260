// SPDX-License-Identifier: Apache-2.0
/* Keeps what each call of ROOT calls, as a tree, and sends it when ROOT's call has ended, if that
 * took long enough.
 *
 *   -DTREES=n         calls of ROOT at a time
 *   -DROOT_ROWS=n     rows below n are ROOT's
 *   -DSLOWER_NS=n     calls of ROOT that took less are not sent
 *   -DRING_PAGES=n    size of the ring buffer, a power of two
 *   -DFOLLOW          with what ROOT's goroutine starts: see parts/follow.bpf.c
 *   -DCHANNELS        and with those that receive what these send
 *
 * A goroutine runs on one thread at a time, so its tree is never touched twice at once. A call is
 * over, however it ended, once its goroutine runs with a stack that no longer reaches down to it.
 * Hooks in the runtime tell of panics and Goexit.
 *
 * A tree keeps the calls that began first. Others are counted when they begin, and their ends find
 * no call: none that is kept has both their depth and their function, as what is kept and goes on
 * is less deep, or another copy in the same frame.
 */
#include "parts/goroutine.h"
#include "parts/no_text.h"
#include "parts/tail.h"
#include "shared/tree.h"

/* calls in one frame, of inlined copies or by jumps, that are told apart */
#define SAME_DEPTH_MAX 8
#define LOSS_KINDS TREE_COUNTERS

BPF_ARRAY(active, u32, 1);
BPF_RINGBUF_OUTPUT(events, RING_PAGES);
/* all of its memory is there from the beginning: entries are large */
NO_TEXT(trees);
BPF_F_TABLE("hash", struct goroutine_key, struct tree, trees, TREES, 0);
NO_TEXT(no_tree);
BPF_ARRAY(no_tree, struct tree, 1);

#include "parts/every_program.bpf.c"
#include "parts/processes.bpf.c"
#include "parts/losses.bpf.c"

static inline struct tree_call *call_at(struct tree *tree, u32 index)
{
	return &tree->calls[index & (TREE_CALLS - 1)];
}

/* The innermost call that goes on has ended. */
static inline void end_last(struct tree *tree, u32 how, u64 now)
{
	struct tree_call *call = call_at(tree, tree->head.last);

	call->latency_ns = now - call->start_ns;
	call->how = how;
	tree->head.last = call->parent;
}

/* Ends the calls whose frames are at `depth` or deeper. */
static inline void end_from(struct tree *tree, u64 depth, u32 how, u64 now)
{
	u32 i;

#pragma clang loop unroll(disable)
	for (i = 0; i < TREE_CALLS; i = loop_next(i)) {
		if (tree->head.last == TREE_NONE || call_at(tree, tree->head.last)->depth < depth)
			break;
		end_last(tree, how, now);
	}
}

/* Is it the call that ends here? Of calls that are known by their return address it is the last, of
 * whatever function. */
static inline bool is_ending(struct tree_call *call, struct call *ends)
{
	return call->copy == ends->copy && (call->row == ends->row || tail_is(ends->copy));
}

/* How many calls end with this one, which is among the goroutine's last ones and at their depth: 1
 * unless inlined copies are nested, which then end at the same place. 0: it began before ROOT, or
 * is not kept. */
static inline u32 count_ending(struct tree *tree, struct call *ends)
{
	u32 index = tree->head.last, i;
	struct tree_call *call;

	for (i = 1; i <= SAME_DEPTH_MAX; i++) {
		if (index == TREE_NONE)
			break;
		call = call_at(tree, index);
		if (call->depth != (u32)ends->depth)
			break;
		if (is_ending(call, ends))
			return i;
		index = call->parent;
	}
	return 0;
}

static inline void end_call(struct tree *tree, struct call *ends, u32 how, u64 now)
{
	u32 count = count_ending(tree, ends), i;

	for (i = 0; i < SAME_DEPTH_MAX; i++) {
		if (i >= count)
			break;
		end_last(tree, how, now);
	}
}

static inline void note_cut(struct tree *tree, u32 row)
{
	struct tree_cut *cut;
	u32 i;

	tree->head.cut++;
#pragma clang loop unroll(disable)
	for (i = 0; i < TREE_CUT_FUNCS; i = loop_next(i)) {
		cut = &tree->head.cut_funcs[i & (TREE_CUT_FUNCS - 1)];
		if (cut->calls && cut->row != row)
			continue;
		cut->row = row;
		cut->calls++;
		break;
	}
}

static inline void add_call(struct tree *tree, struct call *begins)
{
	struct tree_call *call;

	if (tree->head.count >= TREE_CALLS) {
		note_cut(tree, begins->row);
		return;
	}
	call = call_at(tree, tree->head.count);
	call->row = begins->row;
	call->copy = begins->copy;
	call->depth = begins->depth;
	call->parent = tree->head.last;
	call->how = TREE_RUNNING;
	call->latency_ns = 0;
	tree->head.last = tree->head.count++;
	call->start_ns = bpf_ktime_get_ns();
}

/* NULL: there is no room, which is counted */
static inline struct tree *new_tree(struct goroutine_key *who)
{
	u32 zero = 0;
	struct tree *tree = no_tree.lookup(&zero);
	long error;

	if (who->id & GOROUTINE_SYSTEM) {
		count_loss(TREE_SYSTEM);
		return 0;
	}
	if (!tree)
		return 0;
	error = process_note(who);
	if (!error)
		error = trees.update(who, tree);
	if (error) {
		count_loss(error == -E2BIG ? TREE_ROOM : TREE_MEMORY);
		return 0;
	}
	tree = trees.lookup(who);
	if (!tree)
		return 0;
	tree->head.who = *who;
	tree->head.pid = probe_ids() >> 32;
	tree->head.last = TREE_NONE;
	bpf_get_current_comm(tree->head.comm, sizeof(tree->head.comm));
	return tree;
}

#include "parts/follow.bpf.c"

/* The tree is whole. Its reader is woken by the first piece at most. */
static inline void send(struct tree *tree, u64 now)
{
	struct tree_event *event;
	u32 i;

	if (tree->calls[0].latency_ns < SLOWER_NS) {
		count_loss(TREE_FASTER);
		follow_drop(tree, now);
		return;
	}
#pragma clang loop unroll(disable)
	for (i = 0; i < TREE_CALLS / TREE_PIECE; i = loop_next(i)) {
		if (i * TREE_PIECE >= tree->head.count)
			return;
		event = events.ringbuf_reserve(sizeof(*event));
		if (!event) {
			count_loss(TREE_EVENTS);
			return;
		}
		event->time_ns = now + i;
		event->head = tree->head;
		event->first = i * TREE_PIECE;
		event->zero = 0;
		probe_read_kernel(event->calls, sizeof(event->calls),
				  call_at(tree, i * TREE_PIECE));
		events.ringbuf_submit(event, i ? BPF_RB_NO_WAKEUP : 0);
	}
}

/* A call begins that is known by its return address: those at its own depth are over as well,
 * except for one that has come here by a jump. 1: they are; else 0. */
static inline u64 over_at_depth(struct tree *tree, struct call *begins)
{
	struct tree_call *last = call_at(tree, tree->head.last);
	struct call beneath = {.depth = last->depth, .row = last->row, .copy = last->copy};

	return tail_is(begins->copy) &
	       !(tree->head.last != TREE_NONE && tail_goes_on(&beneath, begins));
}

/* How calls ended that are found to be over. */
static inline u32 ending_of(u32 kind)
{
	if (kind < COOKIE_RECOVERED)
		return TREE_UNSEEN;
	return kind == COOKIE_GOEXIT ? TREE_EXITED : TREE_PANICKED;
}

/* What a hit says of its goroutine's calls. The verifier is told nothing of what is in it, nor of
 * who and which copy it is: else it would walk through all that follows, and its loops, for each
 * kind of site, of stack and of copy. */
struct hit_facts {
	u64 over; /* those at this depth or deeper are over, */
	u64 how;
	u64 ends; /* enum tree_how of the call that ends here; 0: none does */
	u64 begins;
};

static inline struct hit_facts hit_of(u32 kind, bool begins, struct goroutine_key *who,
				      struct call *call, u64 noise)
{
	u64 ends = kind == COOKIE_RETURN ? TREE_RETURNED : kind == COOKIE_JUMP ? TREE_JUMPED : 0;
	struct hit_facts hit;

	hit.over = forget_value(over_from(kind, call), noise);
	hit.how = forget_value(ending_of(kind), noise);
	hit.ends = forget_value(ends, noise);
	hit.begins = forget_value(begins, noise);
	who->id = forget_value(who->id, noise);
	call->copy = forget_value(call->copy, noise);
	return hit;
}

/* Ends what is over in the goroutine's tree. Returns the tree if it goes on, else NULL. */
static inline struct tree *go_on(struct goroutine_key *who, struct tree *tree,
				 struct hit_facts *hit, struct call *call, u64 now)
{
	if (hit->begins)
		hit->over -= over_at_depth(tree, call);
	end_from(tree, hit->over, hit->how, now);
	if (hit->ends)
		end_call(tree, call, hit->ends, now);
	if (tree->head.last != TREE_NONE)
		return tree;
	if (tree->head.by)
		return 0;
	follow_over(tree);
	send(tree, now);
	trees.delete(who);
	return 0;
}

int on_probe(struct pt_regs *ctx)
{
	u64 cookie = find_cookie(ctx), now = bpf_ktime_get_ns();
	u32 zero = 0, kind = cookie_kind(cookie), *on = active.lookup(&zero);
	struct call call = {.row = cookie_row(cookie)};
	bool begins = probe_is_call(ctx, cookie);
	struct goroutine_key who = {};
	struct hit_facts hit;
	struct tree *tree;

	if (!on || !*on || !probe_wanted() || kind == COOKIE_NONE)
		return 0;
	if (kind == COOKIE_CALL_IF_CHECKED && !begins)
		return 0;
	if (!goroutine_find(ctx, probe_sp(ctx) + cookie_adjust(cookie), kind, &who, &call.depth)) {
		if (begins)
			count_loss(TREE_UNREADABLE);
		return 0;
	}
	call.depth /= 8;
	tree = tree_here(&who, begins);
	if (!tree && !(begins && call.row < ROOT_ROWS))
		return 0;
	call.copy = tail_copy(ctx, cookie, probe_sp(ctx) + cookie_adjust(cookie));
	hit = hit_of(kind, begins, &who, &call, now);
	if (tree)
		tree = go_on(&who, tree, &hit, &call, now);
	if (!hit.begins)
		return 0;
	if (tree && follow_is_over(tree))
		tree = 0;
	if (!tree && call.row < ROOT_ROWS)
		tree = new_tree(&who);
	if (tree)
		add_call(tree, &call);
	return 0;
}
