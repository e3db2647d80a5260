// SPDX-License-Identifier: Apache-2.0
/* Goroutines that receive values which one below a call of ROOT has sent: -DCHANNELS. What such a
 * goroutine calls until it receives the next value is a branch of that call's tree, from the call
 * that has sent the value on. It goes on in the branch that it has if that is of the same call of
 * ROOT, and either a call in it goes on, or it is the goroutine that was started there.
 *
 * Only the goroutine itself, while it runs, touches its branch, or who hands it a value while it
 * waits. The branch is made when it gets its first call: most receivers call nothing of interest.
 *
 * Inserted into parts/follow.bpf.c.
 */
struct channel_value {
	struct tree_request request; /* start_ns 0: of no call of ROOT */
	u64 from;                    /* by tree_id(): the tree of who sent it, */
	u64 by;                      /* its goid, */
	u32 call, zero;              /* and the call that it was sent in */
};

#include "parts/channels.bpf.c"

/* What a goroutine has received last, if that is of a call of ROOT. */
struct given {
	struct channel_value value;
	u64 start_ns;
	u64 id; /* of its branch in map `trees`; 0: none yet */
};

BPF_F_TABLE("hash", struct goroutine_key, struct given, received, CHANNEL_VALUES,
	    BPF_F_NO_PREALLOC);

static inline bool channel_is_given(struct channel_value *value)
{
	return value->request.start_ns;
}

static inline void channel_full(void)
{
	count_loss(TREE_VALUES);
}

static inline void channel_lost(void)
{
	count_loss(TREE_CHANNELS);
}

/* Of one process, which has both */
static inline bool is_same_request(struct tree_request *a, struct tree_request *b)
{
	return a->start_ns == b->start_ns && a->who.id == b->who.id;
}

static inline struct tree *branch_of(struct goroutine_key *who, struct given *given)
{
	struct tree *tree;
	u64 id = who->id;

	if (!given->id)
		return 0;
	/* in place: there is no room for another key on the stack */
	who->id = given->id;
	tree = trees.lookup(who);
	who->id = id;
	return tree;
}

static inline void delete_branch(struct goroutine_key *who, struct given *given)
{
	u64 id = who->id;

	who->id = given->id;
	if (who->id)
		trees.delete(who);
	who->id = id;
	received.delete(who);
}

/* NULL: there is no room. */
static inline struct tree *make_branch(struct goroutine_key *who, struct given *given,
				       struct tree_followed *followed)
{
	u64 id = who->id, n = 0;
	struct tree *tree = 0;

	if (followed->number && followed->count < TREE_GOROUTINES)
		n = extremes_next(&followed->count);
	if (!n) {
		count_loss(TREE_FOLLOWED);
		return 0;
	}
	who->id = tree_given_id(followed->number, n);
	tree = new_branch(who, id, given->start_ns);
	who->id = id;
	if (!tree)
		return 0;
	given->id = tree_given_id(followed->number, n);
	tree->head.request = given->value.request;
	tree->head.given = given->id;
	tree->head.from = given->value.from;
	tree->head.call = given->value.call;
	tree->head.pid = probe_ids() >> 32;
	tree->head.by = given->value.by;
	return tree;
}

/* Once ROOT's call has ended nothing is added, but calls in the branch may still end. */
static inline struct tree *given_tree(struct goroutine_key *who, bool adds)
{
	struct given *given = received.lookup(who);
	struct tree_followed *followed;
	struct tree *tree;

	if (!given)
		return 0;
	followed = requests.lookup(&given->value.request);
	if (!followed) {
		delete_branch(who, given);
		return 0;
	}
	tree = branch_of(who, given);
	if (!given->id && !followed->end_ns) {
		if (!adds)
			return 0;
		tree = make_branch(who, given, followed);
	}
	if (tree && (!followed->end_ns || tree->head.last))
		return tree;
	received.delete(who);
	return 0;
}

/* The goroutine has left its branch: calls that go on there are none of it from now on. */
static inline void given_ends(struct goroutine_key *who, u64 now)
{
	struct given *given = received.lookup(who);
	struct tree *tree;

	if (!given)
		return;
	tree = branch_of(who, given);
	if (tree)
		tree->head.end_ns = now;
	received.delete(who);
}

/* Does what the goroutine is in belong to this call of ROOT, so that it goes on there? */
static inline bool is_below(struct goroutine_key *who, struct channel_value *value)
{
	struct given *given = received.lookup(who);
	struct tree *tree = 0;

	if (given)
		tree = branch_of(who, given);
	return tree && tree->head.last && is_same_request(&tree->head.request, &value->request);
}

/* Is it the one that was started below this call of ROOT? */
static inline bool is_started_below(struct goroutine_key *who, struct channel_value *value)
{
	struct tree *tree = follow_tree(who);

	return tree && is_same_request(&tree->head.request, &value->request);
}

static inline void channel_receive(struct goroutine_key *who, struct channel_value *value)
{
	struct given given = {.value = *value, .start_ns = bpf_ktime_get_ns()};

	if (who->id & GOROUTINE_SYSTEM || trees.lookup(who))
		return;
	if (channel_is_given(value) && is_below(who, value))
		return;
	given_ends(who, given.start_ns);
	if (!channel_is_given(value) || is_started_below(who, value))
		return;
	if (received.update(who, &given))
		count_loss(TREE_VALUES);
}

/* Has it received a value of a call of ROOT that goes on, and not called anything since? Then what
 * it sends is sent by who has sent that. */
static inline bool is_passed_on(struct given *given)
{
	struct tree_followed *followed;

	if (!given || given->id)
		return false;
	followed = requests.lookup(&given->value.request);
	return followed && !followed->end_ns;
}

static inline struct channel_value channel_value(struct goroutine_key *who)
{
	struct channel_value value = {};
	struct tree *tree = trees.lookup(who);

	if (!tree) {
		struct given *given = received.lookup(who);

		if (is_passed_on(given))
			return given->value;
		tree = tree_here(who, false);
	}
	if (!tree || tree->head.last == TREE_NONE || follow_is_over(tree))
		return value;
	if (!tree->head.by && !followed_of(tree))
		return value;
	value.request = tree->head.request;
	value.from = tree_id(&tree->head);
	value.by = tree->head.who.id;
	value.call = tree->head.last;
	return value;
}

int on_probe_2(struct pt_regs *ctx)
{
	u64 cookie = find_cookie(ctx);
	u32 zero = 0, *on = active.lookup(&zero);

	if (on && *on)
		channel_hit(ctx, cookie);
	return 0;
}
