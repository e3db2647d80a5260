// SPDX-License-Identifier: Apache-2.0
#include "tracing/probes_internal.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "bpf-src/shared/cookie.h"
#include "elf/image.h"
#include "program/program.h"
#include "selection/selection.h"
#include "selection/tail.h"
#include "sites/goruntime.h"
#include "tracing/tracer_config.h"

static void add_probe(struct probes *probes, const struct program *prog, const struct site *site,
		      uint64_t cookie, size_t owner)
{
	struct attach_probe probe = {.addr = site->addr, .cookie = cookie};

	/* sites are in text, and text is in the file */
	if (!image_addr_to_off(prog->img, site->addr, &probe.off))
		return;
	probes->items = mem_grow(probes->items, probes->count, &probes->cap, sizeof(probe));
	probes->owners =
		mem_grow(probes->owners, probes->count, &probes->owner_cap, sizeof(size_t));
	probes->owners[probes->count] = owner;
	probes->items[probes->count++] = probe;
}

/* Of a copy its node in the inline tree, plus 1; of a function 0, or what the tool calls it, or
 * that its calls are known by where they return to. */
static unsigned copy_of(const struct selection_item *item)
{
	if (item->tails)
		return COOKIE_TAIL;
	return item->is_copy ? (unsigned)item->copy.node + 1 : item->runtime;
}

static uint32_t row_of_item(const struct probes *probes, const struct selection *sel,
			    const struct selection_item *item)
{
	if (sel->want.runtime)
		return item->group;
	return sel->want.places ? (uint32_t)(probes->first_place + probes->count) : item->row;
}

/* May a program carry out the RET at this site? All tools must come to the same answer. Not where a
 * function also begins: there one that runs later must know where the file is. */
static bool is_emulated(const struct probes *probes, const struct selection_item *item,
			const struct site *site)
{
	return probes->emulates && site->plain_ret &&
	       (item->is_copy || site->addr != item->sites.entry.addr);
}

static uint64_t item_cookie(const struct probes *probes, const struct selection *sel,
			    const struct selection_item *item, const struct site *site,
			    enum cookie_kind kind)
{
	uint64_t cookie =
		cookie_make(row_of_item(probes, sel, item), kind, site->sp_adjust, copy_of(item));

	return is_emulated(probes, item, site) ? cookie_of_ret(cookie, site->addr) : cookie;
}

static enum cookie_kind end_kind(const struct selection *sel, const struct site *site)
{
	return site->kind == SITE_TAIL_JUMP && sel->want.tails ? COOKIE_JUMP : COOKIE_RETURN;
}

static void add_exits(struct probes *probes, const struct selection *sel, size_t owner)
{
	const struct selection_item *item = &sel->items[owner];

	for (size_t i = 0; !item->tails && i < item->sites.exits; i++) {
		const struct site *site = &selection_exits(sel, item)[i];

		add_probe(probes, item->prog, site,
			  item_cookie(probes, sel, item, site, end_kind(sel, site)), owner);
	}
}

/* Where calls end that go on by jumps: a probe for each of those that may end there at once. */
static void add_tail(struct probes *probes, const struct selection *sel,
		     const struct selection_tail *tail)
{
	const struct selection_item *item = &sel->items[tail->item];

	for (unsigned i = 0; i < tail->calls; i++) {
		uint64_t cookie =
			cookie_make(row_of_item(probes, sel, item), end_kind(sel, &tail->site),
				    tail->site.sp_adjust, COOKIE_TAIL);

		if (probes->emulates && tail->site.plain_ret && !tail->is_entry)
			cookie = cookie_of_ret(cookie, tail->site.addr);
		add_probe(probes, item->prog, &tail->site, cookie, tail->item);
	}
}

static void add_entry(struct probes *probes, const struct selection *sel, size_t owner)
{
	const struct selection_item *item = &sel->items[owner];
	const struct site *entry = &item->sites.entry;
	enum cookie_kind kind =
		entry->kind == SITE_CHECK_BRANCH ? COOKIE_CALL_IF_CHECKED : COOKIE_CALL;

	add_probe(probes, item->prog, entry, item_cookie(probes, sel, item, entry, kind), owner);
}

static void add_hook(struct probes *probes, const struct program *prog, const struct goruntime *rt,
		     const struct site *site, enum cookie_kind kind)
{
	/* gccgo: the hook's place tells where the goroutine's ID is */
	uint32_t row = rt->split_stack ? probes->first_place + probes->count : 0;

	if (site->addr)
		add_probe(probes, prog, site, cookie_make(row, kind, 0, 0), SIZE_MAX);
}

static void add_hooks(struct probes *probes, const struct program *prog, const struct goruntime *rt)
{
	add_hook(probes, prog, rt, &rt->recovered, COOKIE_RECOVERED);
	add_hook(probes, prog, rt, &rt->goexit, COOKIE_GOEXIT);
	add_hook(probes, prog, rt, &rt->fatal, COOKIE_FATAL);
}

static bool stands_in(const struct selection_item *item, const struct program *prog)
{
	return item->prog == prog && !item->skipped;
}

static bool begins_in_part(const struct probes_want *want, size_t item)
{
	return (want->plans ? want->plans[item].part : 0) == want->part;
}

static bool ends_in_part(const struct probes_want *want, size_t item)
{
	const struct tracer_plan *plan = want->plans ? &want->plans[item] : NULL;

	return (plan ? plan->part - plan->ends_apart : 0) == want->part;
}

static bool is_asked(const struct probes_want *want, size_t item, uint32_t group)
{
	return want->sel->items[item].group == group &&
	       stands_in(&want->sel->items[item], want->prog);
}

/* Of several probes at one place, the kernel runs the one attached last first: it shall be the
 * first group's, so the groups are added in reverse order. */
static void add_ends(struct probes *probes, const struct probes_want *want)
{
	const struct selection *sel = want->sel;

	for (uint32_t group = sel->group + 1; group-- > 0;)
		for (size_t i = 0; i < sel->item_count; i++)
			if (ends_in_part(want, i) && is_asked(want, i, group))
				add_exits(probes, sel, i);
}

/* The same of entries. A copy may begin at the very place where the function that it stands in
 * does, or the copy that it stands in: a call of that has begun before, and an entry that runs
 * later would show that the copy's is over. So of a group functions run first, which are added
 * last, and copies in the order of the inline tree. */
static void add_entries(struct probes *probes, const struct probes_want *want)
{
	const struct selection *sel = want->sel;

	for (uint32_t group = sel->group + 1; group-- > 0;) {
		for (size_t i = sel->item_count; i-- > 0;)
			if (sel->items[i].is_copy && begins_in_part(want, i) &&
			    is_asked(want, i, group))
				add_entry(probes, sel, i);
		for (size_t i = 0; i < sel->item_count; i++)
			if (!sel->items[i].is_copy && begins_in_part(want, i) &&
			    is_asked(want, i, group))
				add_entry(probes, sel, i);
	}
}

/* Each part has them that has calls which may end there. */
static void add_tails(struct probes *probes, const struct probes_want *want)
{
	const struct selection *sel = want->sel;
	bool any = false;

	for (size_t i = 0; !any && i < sel->item_count; i++)
		any = sel->items[i].tails && ends_in_part(want, i) &&
		      stands_in(&sel->items[i], want->prog);
	for (size_t i = 0; any && i < sel->tails->count; i++)
		if (sel->items[sel->tails->items[i].item].prog == want->prog)
			add_tail(probes, sel, &sel->tails->items[i]);
}

/* The hooks of part 0 are for all parts but the one that leads, which has its own. */
static bool hooks_serve(const struct probes_want *want, size_t item)
{
	bool leads = want->leader && want->plans && want->plans[item].part == want->leader;

	return leads == (want->leader && want->part == want->leader);
}

/* are calls timed that the file's hooks may end? Not those of the runtime's functions that a tool
 * asks for. */
static bool any_timed(const struct probes_want *want)
{
	if (want->sel->want.runtime)
		return false;
	for (size_t i = 0; i < want->sel->item_count; i++) {
		const struct selection_item *item = &want->sel->items[i];

		if (item->returns && hooks_serve(want, i) &&
		    (stands_in(item, want->prog) || (want->rt->is_library && !item->skipped)))
			return true;
	}
	return false;
}

struct probes *probes_new(const struct probes_want *want)
{
	struct probes *probes = mem_zalloc(1, sizeof(*probes));

	probes->first_place = want->first_place;
	probes->emulates = want->emulates;
	add_ends(probes, want);
	add_tails(probes, want);
	if (want->rt && (!want->part || want->part == want->leader) && any_timed(want))
		add_hooks(probes, want->prog, want->rt);
	add_entries(probes, want);
	return probes;
}

void probes_free(struct probes *probes)
{
	free(probes->items);
	free(probes->owners);
	free(probes);
}

/* Where a place is refused at which calls of several items end, none of them can be timed. */
static void skip_tails(struct selection *sel, const struct program *prog, const char *why)
{
	for (size_t i = 0; i < sel->item_count; i++)
		if (sel->items[i].tails && sel->items[i].prog == prog)
			selection_skip(sel, &sel->items[i], why);
}

bool probes_note_refused(struct probes *probes, struct selection *sel)
{
	bool others = false;

	for (size_t i = 0; i < probes->count; i++) {
		if (!probes->items[i].refused || probes->owners[i] == SIZE_MAX)
			continue;
		struct selection_item *item = &sel->items[probes->owners[i]];

		others |= item->sites.exits > 0 || item->tails;
		if (item->skipped)
			continue;
		probes->refusal = probes->items[i].refused;
		selection_skip(sel, item, probes->refusal);
		if (item->tails)
			skip_tails(sel, item->prog, probes->refusal);
	}
	return others;
}
