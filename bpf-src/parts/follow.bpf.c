// SPDX-License-Identifier: Apache-2.0
/* Goroutines that are started below a call of ROOT, and by these, until that call ends: -DFOLLOW;
 * with -DCHANNELS also those that receive what these send: parts/follow_given.bpf.c; else nothing.
 * Each has a tree of its own, which nobody else touches while it runs. The tool reads
 * these trees when ROOT's call has ended, and deletes them then.
 */
#ifdef FOLLOW
#include "parts/extremes.h"
#include "parts/starts.bpf.c"

BPF_F_TABLE("hash", struct tree_request, struct tree_followed, requests, TREES, BPF_F_NO_PREALLOC);
BPF_ARRAY(request_last, u64, 1); /* its number */

/* The tree of a goroutine that was started below ROOT; NULL: it has none. When the tool has read
 * it, the goroutine itself deletes it, as nobody else knows when it is not in use. */
static inline struct tree *follow_tree(struct goroutine_key *who)
{
	struct goroutine_key key = *who;
	struct tree *tree;

	key.id |= GOROUTINE_STARTED;
	tree = trees.lookup(&key);
	if (!tree || requests.lookup(&tree->head.request))
		return tree;
	trees.delete(&key);
	return 0;
}

/* Has the call of ROOT ended that the goroutine was started below? What it calls from then on is
 * none of its. */
static inline bool follow_is_over(struct tree *tree)
{
	struct tree_followed *followed;

	if (!tree->head.by)
		return false;
	followed = requests.lookup(&tree->head.request);
	return !followed || followed->end_ns;
}

#ifdef CHANNELS
static inline struct tree *given_tree(struct goroutine_key *who, bool adds);
static inline void given_ends(struct goroutine_key *who, u64 now);
#else
static inline struct tree *given_tree(struct goroutine_key *who, bool adds)
{
	return 0;
}

static inline void given_ends(struct goroutine_key *who, u64 now)
{
}
#endif

/* The tree that the goroutine's calls belong to; NULL: none. `adds`: a call, or what it starts, is
 * about to be added. What it has received goes before who has started it. */
static inline struct tree *tree_here(struct goroutine_key *who, bool adds)
{
	struct tree *tree = trees.lookup(who);

	if (!tree)
		tree = given_tree(who, adds);
	return tree ? tree : follow_tree(who);
}

/* ROOT's call has ended. */
static inline void follow_over(struct tree *tree)
{
	struct tree_followed *followed;

	if (!tree->head.request.start_ns)
		return;
	followed = requests.lookup(&tree->head.request);
	if (!followed)
		return;
	followed->newest = tree->head.newest;
	followed->end_ns = tree->calls[0].start_ns + tree->calls[0].latency_ns;
}

/* ROOT's call is not shown: tells the tool to delete the trees of what was started below. */
static inline void follow_drop(struct tree *tree, u64 now)
{
	struct tree_event *event;

	if (!tree->head.request.start_ns)
		return;
	event = events.ringbuf_reserve(sizeof(*event));
	if (!event)
		return;
	event->time_ns = now;
	event->head = tree->head;
	event->head.count = 0;
	event->first = 0;
	event->zero = 0;
	events.ringbuf_submit(event, 0);
}

/* Where the call of ROOT that the tree is of is counted; NULL: the kernel had no room or memory */
static inline struct tree_followed *followed_of(struct tree *tree)
{
	struct tree_followed none = {};
	u32 zero = 0;
	u64 *last = request_last.lookup(&zero);

	if (!tree->head.request.start_ns) {
		none.number = last ? extremes_next(last) : 0;
		tree->head.request.who = tree->head.who;
		tree->head.request.start_ns = tree->calls[0].start_ns;
		requests.update(&tree->head.request, &none);
	}
	return requests.lookup(&tree->head.request);
}

/* A tree of what this goroutine calls from now on, by key->id. NULL: there is no room. */
static inline struct tree *new_branch(struct goroutine_key *key, u64 goid, u64 start)
{
	struct tree_call *call;
	struct tree *branch;
	u32 zero = 0;

	branch = no_tree.lookup(&zero);
	if (!branch || trees.update(key, branch)) {
		count_loss(TREE_FOLLOWED);
		return 0;
	}
	branch = trees.lookup(key);
	if (!branch)
		return 0;
	branch->head.who = *key;
	branch->head.who.id = goid;
	branch->head.count = 1;
	call = call_at(branch, 0);
	call->row = TREE_NO_ROW;
	call->copy = 0;
	call->depth = 0;
	call->parent = TREE_NONE;
	call->how = TREE_RUNNING;
	call->latency_ns = 0;
	call->start_ns = start;
	return branch;
}

static inline void add_newborn(struct tree *tree, struct goroutine_key *key, u64 start)
{
	u64 goid = key->id;
	struct tree *newborn;

	key->id |= GOROUTINE_STARTED;
	newborn = new_branch(key, goid, start);
	if (!newborn)
		return;
	newborn->head.request = tree->head.request;
	newborn->head.pid = tree->head.pid;
	newborn->head.by = tree->head.who.id;
	newborn->head.before = tree->head.newest;
	tree->head.newest = goid;
}

/* The starter's innermost call has started the goroutine. */
static inline void note_started(struct tree *tree, struct goroutine_key *newborn, u64 func, u64 now)
{
	struct tree_followed *followed = followed_of(tree);
	struct tree_call *call;

	if (tree->head.count >= TREE_CALLS) {
		tree->head.cut_started++;
		return;
	}
	call = call_at(tree, tree->head.count);
	call->row = TREE_NO_ROW;
	call->copy = newborn->id;
	call->depth = newborn->id >> 32;
	call->parent = tree->head.last;
	call->how = TREE_STARTED;
	call->latency_ns = func;
	call->start_ns = now;
	tree->head.count++;
	if (!followed || followed->count >= TREE_GOROUTINES) {
		count_loss(TREE_FOLLOWED);
		return;
	}
	__sync_fetch_and_add(&followed->count, 1);
	add_newborn(tree, newborn, now);
}

static inline bool starts_wanted(struct goroutine_key *by)
{
	struct tree *tree = tree_here(by, true);

	return tree && tree->head.last != TREE_NONE && !follow_is_over(tree);
}

static inline void starts_begun(struct starting *it, struct goroutine_key *newborn, u64 now)
{
	struct tree *tree = tree_here(&it->by, false);

	if (tree && tree->head.last != TREE_NONE)
		note_started(tree, newborn, it->func, now);
}

static inline void starts_ended(struct goroutine_key *who, u64 now)
{
	struct tree *tree = follow_tree(who);

	given_ends(who, now);
	if (!tree)
		return;
	end_from(tree, 1, TREE_UNSEEN, now);
	end_from(tree, 0, TREE_RETURNED, now);
	tree->head.end_ns = now;
}

static inline void starts_lost(void)
{
	count_loss(TREE_NEWBORN);
}

int on_probe_1(struct pt_regs *ctx)
{
	u64 cookie = find_cookie(ctx), now = bpf_ktime_get_ns();
	u32 zero = 0, *on = active.lookup(&zero);

	if (on && *on)
		starts_hit(ctx, cookie, now);
	return 0;
}

#ifdef CHANNELS
#include "parts/follow_given.bpf.c"
#endif
#else
static inline struct tree *tree_here(struct goroutine_key *who, bool adds)
{
	return trees.lookup(who);
}

static inline bool follow_is_over(struct tree *tree)
{
	return false;
}

static inline void follow_over(struct tree *tree)
{
}

static inline void follow_drop(struct tree *tree, u64 now)
{
}
#endif
