// SPDX-License-Identifier: Apache-2.0
/* Which goroutines are below a call of ROOT: the one that makes it, and all that are started below
 * it, by whichever of these, until the call ends.
 *
 *   -DROOTS=n         room for goroutines
 *   -DCHANNELS        and those that receive what these send: parts/channels.bpf.c
 *
 * Inserted after parts/processes.bpf.c. ROOT's calls are numbered. A goroutine that is started has
 * its starter's number, and looks up whether the call goes on: so a call that ends has nobody to
 * tell, and a pool that it has left behind belongs to it no more. A call of ROOT below another one
 * is a call like others.
 *
 * Only the goroutine itself, while it runs, or its starter, before it does, touches what is kept of
 * it.
 */
#include "parts/extremes.h"
#include "parts/starts.bpf.c"
#include "parts/tail.h"
#include "shared/roots.h"

BPF_F_TABLE("hash", struct goroutine_key, struct root_member, root_members, ROOTS,
	    BPF_F_NO_PREALLOC);
BPF_ARRAY(root_last, u64, 1);
BPF_PERCPU_ARRAY(root_losses, u64, ROOT_LOSSES);

static inline void count_root_loss(u64 loss)
{
	u64 *n = root_losses.lookup(KEY(loss));

	if (n)
		__sync_fetch_and_add(n, 1);
}

/* What is kept under this key, of a goroutine that is below a call of ROOT. NULL: it is not, or no
 * more. */
static inline struct root_member *root_kept(struct goroutine_key *who)
{
	struct root_member *member = root_members.lookup(who), *root;
	u64 id = who->id;

	if (!member)
		return 0;
	/* in place: there is no room for another key on the stack */
	who->id = member->root;
	root = root_members.lookup(who);
	who->id = id;
	if (root && root->root == member->root && root->number == member->number)
		return member;
	root_members.delete(who);
	return 0;
}

#ifdef CHANNELS
/* What it has received goes before who has started it. */
static inline struct root_member *root_find(struct goroutine_key *who)
{
	struct root_member *member;

	who->id |= ROOT_GIVEN;
	member = root_kept(who);
	who->id &= ~ROOT_GIVEN;
	return member ? member : root_kept(who);
}
#else
static inline struct root_member *root_find(struct goroutine_key *who)
{
	return root_kept(who);
}
#endif

/* The call's number as it is printed: from 1 on. 0: the goroutine is below none. */
static inline u32 root_number(struct goroutine_key *who)
{
	struct root_member *member = root_find(who);

	return member ? (member->number - 1) % ~0U + 1 : 0;
}

static inline void root_begin(struct goroutine_key *who, struct call *call)
{
	struct root_member member = {.root = who->id, .depth = call->depth, .copy = call->copy};
	u32 zero = 0;
	u64 *last = root_last.lookup(&zero);

	if (who->id & GOROUTINE_SYSTEM) {
		count_root_loss(ROOT_LOSS_SYSTEM);
		return;
	}
	member.number = last ? extremes_next(last) : 0;
	if (!member.number || process_note(who) || root_members.update(who, &member))
		count_root_loss(ROOT_LOSS_CALLS);
}

/* Does the hit of `call` show that the goroutine's own call of ROOT is over? At one depth there may
 * be a function, inlined copies in its frame, and functions that it has gone on in by a jump. */
static inline bool root_is_over(struct root_member *root, struct call *call, u32 kind, bool begins)
{
	bool same = root->copy == call->copy;

	if (kind >= COOKIE_RECOVERED || root->depth != call->depth)
		return root->depth >= over_from(kind, call);
	if (!begins)
		return same;
	return !call->copy || same != tail_is(call->copy);
}

static inline void root_hit(struct pt_regs *ctx, u64 cookie)
{
	u64 sp = probe_sp(ctx) + cookie_adjust(cookie);
	bool begins = probe_is_call(ctx, cookie);
	struct root_member *member;
	struct goroutine_key who = {};
	u32 kind = cookie_kind(cookie);
	struct call call = {};

	if (kind == COOKIE_NONE || (kind == COOKIE_CALL_IF_CHECKED && !begins))
		return;
	if (!goroutine_find(ctx, sp, kind, &who, &call.depth)) {
		if (begins)
			count_root_loss(ROOT_LOSS_UNREADABLE);
		return;
	}
	call.copy = tail_copy(ctx, cookie, sp);
	member = root_find(&who);
	if (member && member->root == who.id && root_is_over(member, &call, kind, begins)) {
		root_members.delete(&who);
		member = 0;
	}
	if (begins && !member)
		root_begin(&who, &call);
}

static inline bool starts_wanted(struct goroutine_key *by)
{
	return root_find(by);
}

static inline void starts_begun(struct starting *it, struct goroutine_key *newborn, u64 now)
{
	struct root_member *by = root_find(&it->by), member = {};

	if (!by)
		return;
	member.number = by->number;
	member.root = by->root;
	if (root_members.update(newborn, &member))
		count_root_loss(ROOT_LOSS_STARTED);
}

static inline void starts_ended(struct goroutine_key *who, u64 now)
{
	root_members.delete(who);
#ifdef CHANNELS
	who->id |= ROOT_GIVEN;
	root_members.delete(who);
#endif
}

static inline void starts_lost(void)
{
	count_root_loss(ROOT_LOSS_NEWBORN);
}

/* The programs: of ROOT, and of the runtime's functions */
static inline int on_root(struct pt_regs *ctx)
{
	u64 cookie = find_cookie(ctx);

	if (probe_wanted())
		root_hit(ctx, cookie);
	return 0;
}

static inline int on_root_start(struct pt_regs *ctx)
{
	starts_hit(ctx, find_cookie(ctx), 0);
	return 0;
}

#ifdef CHANNELS
struct channel_value {
	u64 number, root; /* as in struct root_member */
};

#include "parts/channels.bpf.c"

static inline bool channel_is_given(struct channel_value *value)
{
	return value->number;
}

static inline struct channel_value channel_value(struct goroutine_key *who)
{
	struct channel_value value = {};
	struct root_member *member = root_find(who);

	if (member) {
		value.number = member->number;
		value.root = member->root;
	}
	return value;
}

static inline void channel_receive(struct goroutine_key *who, struct channel_value *value)
{
	struct root_member given = {.number = value->number, .root = value->root}, *own;

	own = root_members.lookup(who);
	if (who->id & GOROUTINE_SYSTEM || (own && own->root == who->id))
		return;
	who->id |= ROOT_GIVEN;
	if (!given.number)
		root_members.delete(who);
	else if (root_members.update(who, &given))
		count_root_loss(ROOT_LOSS_VALUES);
	who->id &= ~ROOT_GIVEN;
}

static inline void channel_full(void)
{
	count_root_loss(ROOT_LOSS_VALUES);
}

static inline void channel_lost(void)
{
	count_root_loss(ROOT_LOSS_CHANNELS);
}

static inline int on_root_channel(struct pt_regs *ctx)
{
	channel_hit(ctx, find_cookie(ctx));
	return 0;
}
#endif
