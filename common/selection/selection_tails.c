// SPDX-License-Identifier: Apache-2.0
/* A promoted method is often no more than a jump to the embedded type's: the frame is the same, and
 * what is jumped to returns in place of the method. So the method's calls end there. */
#include "selection/selection_tails_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "program/functab.h"
#include "program/program.h"
#include "selection/selection.h"
#include "selection/tail.h"

enum {
	CALLS_MAX = 8,  /* SAME_DEPTH_MAX of latency.bpf.c, TRACE_SAME_DEPTH */
	CHAIN_MAX = 32, /* jumps from function to function; programs have two or three */
};

struct ender { /* a function that is traced, or that one jumps to */
	const struct program *prog;
	struct functab_func fn;
	struct site_list ends;
	const char *reason; /* why it has none; NULL: it has */
	bool known;         /* ... and these two are filled */
	uint64_t entry;     /* address of its entry site, or 0 */
	size_t item;        /* a traced one; SIZE_MAX: none */
	unsigned items;     /* how many are: several PROBEs may be about one function */
	/* Ways to it were followed that so many calls may have come at once. */
	unsigned most;
	bool on_way; /* it is being looked at */
	bool lost;   /* it is traced, and not all of its jumps can be followed */
};

struct tails {
	struct selection *sel;
	struct ender *enders;
	size_t count, cap;
	struct index by_addr; /* of enders */
	struct index by_site; /* of sel->tails->items */
	/* jumps that cannot be followed: of one of them the name, and what it jumps to */
	size_t lost;
	const char *lost_name, *lost_target, *lost_reason;
};

static uint64_t hash_of(const struct program *prog, uint64_t addr)
{
	return index_hash(index_hash(0, (uintptr_t)prog), addr);
}

static size_t add_ender(struct tails *tails, const struct program *prog,
			const struct functab_func *fn)
{
	tails->enders = mem_grow(tails->enders, tails->count, &tails->cap, sizeof(*tails->enders));
	tails->enders[tails->count++] = (struct ender){.prog = prog, .fn = *fn, .item = SIZE_MAX};
	return index_add(&tails->by_addr, hash_of(prog, fn->addr));
}

/* The number of the function that begins at `addr`; INDEX_NONE: there is none. */
static size_t ender_at(struct tails *tails, const struct program *prog, uint64_t addr)
{
	size_t n = index_first(&tails->by_addr, hash_of(prog, addr));
	struct functab_func fn;

	for (; n != INDEX_NONE; n = index_next(&tails->by_addr, n))
		if (tails->enders[n].prog == prog && tails->enders[n].fn.addr == addr)
			return n;
	if (!addr || !functab_find(prog->tab, addr, &fn) || fn.addr != addr)
		return INDEX_NONE;
	return add_ender(tails, prog, &fn);
}

static void find_ends(const struct tails *tails, struct ender *ender)
{
	struct site_finder *finder = selection_finder(tails->sel, ender->prog);
	const char *ignored;
	struct site entry;

	if (ender->known)
		return;
	ender->known = true;
	site_returns(finder, &ender->fn, &ender->ends, &ender->reason);
	if (!site_entry(finder, &ender->fn, false, &entry, &ignored))
		ender->entry = entry.addr;
}

/* --- the ends --- */

static struct selection_tail *tail_at(struct tails *tails, const struct program *prog,
				      const struct site *site)
{
	const struct selection *sel = tails->sel;
	struct selection_tails *all = sel->tails;
	uint64_t hash = hash_of(prog, site->addr);
	size_t n = index_first(&tails->by_site, hash);

	for (; n != INDEX_NONE; n = index_next(&tails->by_site, n))
		if (sel->items[all->items[n].item].prog == prog &&
		    all->items[n].site.addr == site->addr)
			return &all->items[n];
	all->items = mem_grow(all->items, all->count, &all->cap, sizeof(*all->items));
	index_add(&tails->by_site, hash);
	all->items[all->count] = (struct selection_tail){.site = *site};
	return &all->items[all->count++];
}

struct way {               /* from a traced function, by jumps */
	size_t from, item; /* the function, and one of its items */
	unsigned jumps, calls;
};

static void note_tail(struct tails *tails, const struct ender *ender, const struct site *site,
		      const struct way *way)
{
	struct selection_tail *tail = tail_at(tails, ender->prog, site);

	tail->item = way->item;
	tail->is_entry = site->addr == ender->entry;
	if (way->calls > tail->calls)
		tail->calls = way->calls;
}

/* --- the jumps --- */

/* The jump cannot be followed. `target`, `reason`: NULL, or to what, and why. */
static size_t lose(struct tails *tails, const struct way *way, const char *target,
		   const char *reason)
{
	struct ender *from = &tails->enders[way->from];

	if (!from->lost && !tails->lost++) {
		tails->lost_name = from->fn.name;
		tails->lost_target = target;
		tails->lost_reason = reason;
	}
	from->lost = true;
	return INDEX_NONE;
}

/* The number of the function that the jump leads to, which has the same frame, and ends that can be
 * probed. INDEX_NONE: this is not known. A function that jumps back to the one that the way began
 * with begins another call of it. */
static size_t follow_jump(struct tails *tails, size_t n, const struct site *site,
			  const struct way *way)
{
	size_t next =
		site->sp_adjust ? INDEX_NONE : ender_at(tails, tails->enders[n].prog, site->target);

	if (next == INDEX_NONE || next == way->from || way->jumps == CHAIN_MAX)
		return lose(tails, way, NULL, NULL);
	find_ends(tails, &tails->enders[next]);
	if (tails->enders[next].reason)
		return lose(tails, way, tails->enders[next].fn.name, tails->enders[next].reason);
	return next;
}

/* Notes where calls end that have come to function `n` on this way. */
static void follow(struct tails *tails, size_t n, const struct way *way)
{
	if (tails->enders[n].most >= way->calls)
		return;
	tails->enders[n].most = way->calls;
	tails->enders[n].on_way = true;
	find_ends(tails, &tails->enders[n]);
	for (size_t i = 0; i < tails->enders[n].ends.count; i++) {
		struct site site = tails->enders[n].ends.items[i];
		size_t next = site.kind == SITE_TAIL_JUMP ? follow_jump(tails, n, &site, way)
							  : INDEX_NONE;

		if (next == INDEX_NONE) {
			note_tail(tails, &tails->enders[n], &site, way);
		} else if (!tails->enders[next].on_way) {
			unsigned calls = way->calls + tails->enders[next].items;

			follow(tails, next,
			       &(struct way){.from = way->from,
					     .item = way->item,
					     .jumps = way->jumps + 1,
					     .calls = calls < CALLS_MAX ? calls : CALLS_MAX});
		}
	}
	tails->enders[n].on_way = false;
}

/* --- the items --- */

static bool is_timed_func(const struct selection_item *item)
{
	return item->returns && !item->is_copy && !item->runtime && !item->skipped;
}

static void add_item(struct tails *tails, size_t n)
{
	const struct selection_item *item = &tails->sel->items[n];
	struct functab_func fn;

	if (!is_timed_func(item) || !functab_func(item->prog->tab, item->func, &fn))
		return;
	size_t at = ender_at(tails, item->prog, fn.addr);

	tails->enders[at].item = n;
	tails->enders[at].items++;
}

static bool jumps(const struct selection *sel, const struct selection_item *item)
{
	for (size_t i = 0; i < item->sites.exits; i++)
		if (selection_exits(sel, item)[i].kind == SITE_TAIL_JUMP)
			return true;
	return false;
}

/* Can any of its jumps be followed? If not, its calls end as others' do, at its own ends. */
static bool goes_on(struct tails *tails, size_t n, const struct way *way)
{
	const struct selection_item *item = &tails->sel->items[way->item];
	bool any = false;

	for (size_t i = 0; i < item->sites.exits; i++) {
		struct site site = selection_exits(tails->sel, item)[i];

		any |= site.kind == SITE_TAIL_JUMP &&
		       follow_jump(tails, n, &site, way) != INDEX_NONE;
	}
	return any;
}

static void follow_all(struct tails *tails)
{
	for (size_t n = 0, traced = tails->count; n < traced; n++) {
		const struct way way = {
			.from = n, .item = tails->enders[n].item, .calls = tails->enders[n].items};

		if (jumps(tails->sel, &tails->sel->items[way.item]) && goes_on(tails, n, &way))
			follow(tails, n, &way);
	}
}

static void mark_items(struct tails *tails)
{
	for (size_t i = 0; i < tails->sel->item_count; i++) {
		struct selection_item *item = &tails->sel->items[i];
		struct functab_func fn;

		if (is_timed_func(item) && functab_func(item->prog->tab, item->func, &fn))
			item->tails = tails->enders[ender_at(tails, item->prog, fn.addr)].most > 0;
	}
}

static const char *method_of(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? dot + 1 : name;
}

/* "main.(*T).Close leaves by a jump to what is known only when it is made: ..." */
static void note_lost(const struct tails *tails)
{
	const char *name = tails->lost_name;
	bool one = tails->lost == 1;

	if (!tails->lost)
		return;
	char *who = one ? mem_strdup(name) : mem_printf("%zu functions (as %s)", tails->lost, name);
	char *to = tails->lost_target ? mem_printf("%s, which cannot be timed: %s",
						   tails->lost_target, tails->lost_reason)
				      : mem_printf("what is known only when it is made: try '*.%s'",
						   method_of(name));

	selection_note(tails->sel,
		       mem_printf("%s leave%s by a jump, so the ends of %s calls are not seen; "
				  "it leads to %s",
				  who, one ? "s" : "", one ? "its" : "their", to));
	free(who);
	free(to);
}

void selection_find_tails(struct selection *sel)
{
	struct tails *tails = mem_zalloc(1, sizeof(*tails));

	tails->sel = sel;
	sel->tails = mem_zalloc(1, sizeof(*sel->tails));
	for (size_t i = 0; i < sel->item_count; i++)
		add_item(tails, i);
	follow_all(tails);
	mark_items(tails);
	note_lost(tails);
	for (size_t i = 0; i < tails->count; i++)
		free(tails->enders[i].ends.items);
	free(tails->enders);
	index_free(&tails->by_addr);
	index_free(&tails->by_site);
	free(tails);
}
