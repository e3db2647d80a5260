// SPDX-License-Identifier: Apache-2.0
/* The second half of a selection: finds the sites of the items, and skips items without any. */
#include "selection/selection.h"

#include <inttypes.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "base/tally.h"
#include "program/functab.h"
#include "program/program.h"
#include "selection/selection_print.h"
#include "selection/selection_tails_internal.h"

static const char *find_func_sites(struct selection *sel, const struct selection_item *item,
				   struct site *entry)
{
	struct site_finder *finder = selection_finder(sel, item->prog);
	bool runtime = sel->want.runtime || item->runtime;
	const char *reason = NULL;
	struct functab_func fn;

	if (!functab_func(item->prog->tab, item->func, &fn))
		return "the entry in the function table is malformed";
	if (site_entry(finder, &fn, sel->want.args || runtime, entry, &reason))
		return reason;
	if (runtime && !entry->args_intact)
		return "the arguments are gone where a probe could stand";
	return item->returns && site_returns(finder, &fn, &sel->exits, &reason) ? reason : NULL;
}

static const char *find_copy_sites(struct selection *sel, const struct selection_item *item,
				   struct site *entry)
{
	const char *reason;

	return inlining_sites(selection_finder(sel, item->prog), &item->copy, item->returns, entry,
			      &sel->exits, &reason)
		       ? reason
		       : NULL;
}

void selection_skip(struct selection *sel, struct selection_item *item, const char *why)
{
	struct selection_row *row = &sel->rows[item->row];

	if (item->skipped)
		return;
	item->skipped = why;
	if (item->is_copy)
		row->copies--;
	else
		row->funcs--;
}

/* The item's exits are those in sel->exits from `first` on. */
static void note_sites(struct selection *sel, struct selection_item *item, size_t first,
		       const char *reason)
{
	item->sites.first_exit = first;
	item->sites.exits = sel->exits.count - first;
	item->sites.known = true;
	if (reason)
		selection_skip(sel, item, reason);
}

static void find_item_sites(struct selection *sel, struct selection_item *item)
{
	size_t first = sel->exits.count;

	if (item->skipped || item->sites.known)
		return;
	note_sites(
		sel, item, first,
		(item->is_copy ? find_copy_sites : find_func_sites)(sel, item, &item->sites.entry));
}

void selection_locate(struct selection *sel, struct selection_item *item, const struct site *entry,
		      const struct site_list *exits, const char *reason)
{
	size_t first = sel->exits.count;

	item->sites.entry = *entry;
	for (size_t i = 0; i < exits->count; i++) {
		sel->exits.items = mem_grow(sel->exits.items, sel->exits.count, &sel->exits.cap,
					    sizeof(*sel->exits.items));
		sel->exits.items[sel->exits.count++] = exits->items[i];
	}
	note_sites(sel, item, first, reason);
}

const struct site *selection_exits(const struct selection *sel, const struct selection_item *item)
{
	return &sel->exits.items[item->sites.first_exit];
}

bool selection_is_fips(const struct selection *sel, const struct selection_item *item)
{
	struct functab_func fn;

	return functab_func(item->prog->tab, item->func, &fn) &&
	       site_is_fips(selection_finder(sel, item->prog), &fn);
}

/* How many of the items that are left out, or else of those that are traced, FIPS mode checks. */
static size_t count_fips(const struct selection *sel, bool left_out)
{
	size_t n = 0;

	for (size_t i = 0; i < sel->item_count; i++)
		n += (sel->items[i].skipped != NULL) == left_out &&
		     selection_is_fips(sel, &sel->items[i]);
	return n;
}

static void note_fips(struct selection *sel)
{
	size_t n = count_fips(sel, !sel->want.fips);

	if (n && sel->want.fips)
		selection_note(sel, mem_printf("--fips: a program that starts in FIPS mode during "
					       "tracing ends with \"fips140: verification "
					       "mismatch\""));
	else if (n)
		selection_note(sel, mem_printf("%zu of the functions%s left out, because FIPS mode "
					       "checks their code when a program starts: --fips "
					       "includes %s",
					       n, sel->want.inlined ? " and copies" : "",
					       n == 1 ? "it" : "them"));
}

/* How many items are asked for: those that the tool asks for by itself come after them. */
static size_t count_asked(const struct selection *sel)
{
	size_t n = 0;

	while (n < sel->item_count && !sel->items[n].runtime)
		n++;
	return n;
}

struct reason {
	const char *why;
	uint64_t count;
};

/* The last one is the most frequent. */
static void keep_reason(const char *why, uint64_t count, void *ctx)
{
	*(struct reason *)ctx = (struct reason){why, count};
}

/* Of many, the reason that most of them have, and one that has it. */
static void hint_of_many(const struct selection *sel, size_t asked, struct errmsg *err)
{
	struct tally *reasons = tally_new();
	struct reason most = {0};
	const char *example = NULL;

	for (size_t i = 0; i < asked; i++)
		tally_add(reasons, sel->items[i].skipped);
	tally_each(reasons, keep_reason, &most);
	for (size_t i = 0; i < asked; i++)
		if (!strcmp(sel->items[i].skipped, most.why))
			example = sel->rows[sel->items[i].row].name;
	errmsg_hint(err, "%" PRIu64 " of them, such as %s: %s", most.count, example, most.why);
	tally_free(reasons);
}

/* Why there is nothing to trace. */
static int nothing_found(const struct selection *sel, struct errmsg *err)
{
	const struct selection_item *item = &sel->items[0];
	const char *name = sel->rows[item->row].name;
	const char *done = item->returns ? "timed" : "probed";
	size_t asked = count_asked(sel);

	if (asked == 1)
		errmsg_set(err, "%s cannot be %s: %s", name, done, item->skipped);
	else
		errmsg_set(err, "none of %zu functions and copies can be %s", asked, done);
	if (!sel->want.fips && count_fips(sel, true))
		errmsg_hint(err, "--fips includes functions that FIPS mode checks: only for "
				 "processes that already run");
	else if (asked > 1)
		hint_of_many(sel, asked, err);
	return -1;
}

int selection_find_sites(struct selection *sel, struct errmsg *err)
{
	for (size_t i = 0; i < sel->item_count; i++)
		find_item_sites(sel, &sel->items[i]);
	if (!sel->want.may_miss && !selection_traced(sel))
		return nothing_found(sel, err);
	if (sel->want.tails)
		selection_find_tails(sel);
	note_fips(sel);
	return 0;
}
