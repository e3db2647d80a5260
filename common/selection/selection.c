// SPDX-License-Identifier: Apache-2.0
#include "selection/selection.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "base/tally.h"
#include "golang/pattern.h"
#include "program/functab.h"
#include "program/program.h"
#include "selection/nearest_internal.h"
#include "selection/selection_item_internal.h"
#include "selection/selection_line_internal.h"
#include "selection/selection_wrapper_internal.h"
#include "selection/tail.h"

static uint64_t hash_of(const struct selection *sel, const struct program *prog, const char *name)
{
	return index_hash_text(index_hash(sel->group, (uintptr_t)prog), name);
}

/* The row of this name in the current group, or INDEX_NONE */
static size_t find_row(const struct selection *sel, const struct program *prog, const char *name)
{
	size_t n = index_first(&sel->by_name, hash_of(sel, prog, name));

	for (; n != INDEX_NONE; n = index_next(&sel->by_name, n)) {
		const struct selection_row *row = &sel->rows[n];

		if (row->prog == prog && row->group == sel->group && !strcmp(row->name, name))
			break;
	}
	return n;
}

static uint32_t row_of_name(struct selection *sel, const struct program *prog, const char *name)
{
	size_t found = find_row(sel, prog, name);

	if (found != INDEX_NONE)
		return found;
	sel->rows = mem_grow(sel->rows, sel->row_count, &sel->row_cap, sizeof(*sel->rows));
	sel->rows[sel->row_count] = (struct selection_row){
		.name = name, .prog = prog, .group = sel->group, .hidden = sel->runtime != 0};
	sel->several |= sel->rows[0].prog != prog;
	sel->row_count++;
	return index_add(&sel->by_name, hash_of(sel, prog, name));
}

struct program_finder {
	const struct program *prog;
	struct site_finder *finder;
};

struct selection_finders {
	struct program_finder *items;
	size_t count, cap;
};

struct site_finder *selection_finder(const struct selection *sel, const struct program *prog)
{
	struct selection_finders *all = sel->finders;

	for (size_t i = 0; i < all->count; i++)
		if (all->items[i].prog == prog)
			return all->items[i].finder;
	struct site_finder *finder = site_finder_new(prog);

	site_finder_fips(finder, sel->want.fips);
	site_finder_endless(finder, sel->want.endless);
	all->items = mem_grow(all->items, all->count, &all->cap, sizeof(*all->items));
	all->items[all->count++] = (struct program_finder){prog, finder};
	return finder;
}

static void free_finders(struct selection_finders *all)
{
	for (size_t i = 0; i < all->count; i++)
		site_finder_free(all->items[i].finder);
	free(all->items);
	free(all);
}

struct selection *selection_new(const struct selection_want *want)
{
	struct selection *sel = mem_zalloc(1, sizeof(*sel));

	sel->want = *want;
	sel->returns = want->returns;
	sel->finders = mem_zalloc(1, sizeof(*sel->finders));
	return sel;
}

void selection_free(struct selection *sel)
{
	if (!sel)
		return;
	for (size_t i = 0; i < sel->note_count; i++)
		free(sel->notes[i]);
	free(sel->notes);
	index_free(&sel->by_name);
	free_finders(sel->finders);
	free(sel->exits.items);
	if (sel->tails)
		free(sel->tails->items);
	free(sel->tails);
	free(sel->items);
	free(sel->rows);
	free(sel);
}

void selection_group(struct selection *sel, uint32_t group, bool returns)
{
	sel->group = group;
	sel->returns = returns;
}

void selection_note(struct selection *sel, char *text)
{
	for (size_t i = 0; i < sel->note_count; i++)
		if (!strcmp(sel->notes[i], text)) {
			free(text);
			return;
		}
	sel->notes = mem_grow(sel->notes, sel->note_count, &sel->note_cap, sizeof(*sel->notes));
	sel->notes[sel->note_count++] = text;
}

struct selection_item *selection_add_item(struct selection *sel, const struct program *prog,
					  const char *name)
{
	uint32_t row = row_of_name(sel, prog, name);

	sel->items = mem_grow(sel->items, sel->item_count, &sel->item_cap, sizeof(*sel->items));
	sel->items[sel->item_count] = (struct selection_item){.prog = prog,
							      .row = row,
							      .group = sel->group,
							      .returns = sel->returns,
							      .runtime = sel->runtime};
	return &sel->items[sel->item_count++];
}

/* Drops wrappers made by the compiler from the items where a real function has the same name: a
 * wrapper (as of ABI0) only calls that function, and its calls would be seen twice. */
static void drop_wrappers(struct selection *sel, size_t first_item)
{
	bool *real = mem_zalloc(sel->row_count, sizeof(*real));
	struct functab_func fn;
	size_t kept = first_item;

	for (size_t i = first_item; i < sel->item_count; i++) {
		const struct selection_item *item = &sel->items[i];

		if (functab_func(item->prog->tab, item->func, &fn) && !fn.is_wrapper)
			real[item->row] = true;
	}
	for (size_t i = first_item; i < sel->item_count; i++) {
		const struct selection_item *item = &sel->items[i];

		if (real[item->row] && functab_func(item->prog->tab, item->func, &fn) &&
		    fn.is_wrapper)
			continue;
		sel->items[kept++] = *item;
	}
	sel->item_count = kept;
	free(real);
}

/* Functions that were not looked at */
struct left_out {
	size_t names, trees;
};

static const char why_left_out[] = "too many, or too long names, for a file of this size";

static void note_left_out(struct selection *sel, const struct program *prog,
			  const struct left_out *left_out)
{
	if (left_out->names)
		selection_note(sel,
			       mem_printf("%s: %zu %s left out: %s", prog->path, left_out->names,
					  left_out->names > 1 ? "functions are" : "function is",
					  why_left_out));
	if (left_out->trees)
		selection_note(sel, mem_printf("%s: inlined copies in %zu function%s are left out: "
					       "%s",
					       prog->path, left_out->trees,
					       left_out->trees > 1 ? "s" : "", why_left_out));
}

static size_t add_functions(struct selection *sel, const struct program *prog, struct pattern *pat,
			    struct left_out *left_out)
{
	size_t rows_before = sel->row_count, first_item = sel->item_count, found = 0;
	struct budget names = budget_new(functab_file_size(prog->tab), BUDGET_NAMES);
	struct functab_func fn;

	for (size_t i = 0; i < functab_count(prog->tab); i++) {
		if (!functab_func(prog->tab, i, &fn))
			continue;
		if (!budget_take_name(&names, fn.name)) {
			left_out->names++;
			continue;
		}
		if (!pattern_match(pat, fn.name))
			continue;
		found++;
		size_t row = find_row(sel, prog, fn.name);

		/* an earlier pattern has it already */
		if (row < rows_before && sel->rows[row].funcs)
			continue;
		struct selection_item *item = selection_add_item(sel, prog, fn.name);

		item->func = i;
	}
	left_out->names += functab_left_out(prog->tab);
	drop_wrappers(sel, first_item);
	for (size_t i = first_item; i < sel->item_count; i++)
		sel->rows[sel->items[i].row].funcs++;
	return found;
}

struct copy_search {
	struct selection *sel;
	const struct program *prog;
	struct pattern *pat;
	size_t rows_before;
	size_t found, added;
	bool add;
	struct tally *unseen; /* names that no function has; NULL: not asked for */
};

static bool on_copy(const struct inlining_copy *copy, void *ctx)
{
	struct copy_search *search = ctx;
	struct selection *sel = search->sel;

	if (!pattern_match(search->pat, copy->name))
		return true;
	search->found++;
	if (!search->add && !search->unseen)
		return true;
	size_t row = find_row(sel, search->prog, copy->name);

	if (!search->add) {
		if (row == INDEX_NONE)
			tally_add(search->unseen, copy->name);
		return true;
	}
	if ((row < search->rows_before && sel->rows[row].copies) ||
	    search->added++ >= BUDGET_COPIES)
		return true;
	struct selection_item *item = selection_add_item(sel, search->prog, copy->name);

	item->is_copy = true;
	item->func = copy->func;
	item->copy = *copy;
	return true;
}

static size_t search_copies(struct selection *sel, const struct program *prog, struct pattern *pat,
			    bool add, struct left_out *left_out)
{
	size_t first_item = sel->item_count;
	struct copy_search search = {
		.sel = sel, .prog = prog, .pat = pat, .rows_before = sel->row_count, .add = add};

	left_out->trees = inlining_each(prog->tab, on_copy, &search);
	if (search.added > BUDGET_COPIES)
		selection_note(sel,
			       mem_printf("%s: %zu inlined copies are left out: a pattern "
					  "covers at most %d",
					  prog->path, search.added - BUDGET_COPIES, BUDGET_COPIES));
	for (size_t i = first_item; i < sel->item_count; i++)
		sel->rows[sel->items[i].row].copies++;
	return search.found;
}

static void count_name(const char *name, uint64_t copies, void *ctx)
{
	size_t *count = ctx;

	(void)name;
	(void)copies;
	(*count)++;
}

/* Tells the user how many names the pattern matches that exist only as inlined copies. */
static void note_unseen(struct selection *sel, const struct program *prog, struct pattern *pat)
{
	struct copy_search search = {.sel = sel, .prog = prog, .pat = pat, .unseen = tally_new()};
	size_t names = 0;

	inlining_each(prog->tab, on_copy, &search);
	tally_each(search.unseen, count_name, &names);
	tally_free(search.unseen);
	if (names)
		selection_note(sel, mem_printf("%s: %zu more name%s only as inlined copies, not "
					       "seen without --inlined",
					       pattern_text(pat), names,
					       names == 1 ? " exists" : "s exist"));
}

static int nothing_matched(const struct program *prog, const struct pattern *pat,
			   size_t inlined_found, const struct left_out *left_out,
			   struct errmsg *err)
{
	errmsg_set(err, "%s: no function matches \"%s\"", prog->path, pattern_text(pat));
	if (inlined_found)
		errmsg_hint(err, "%zu inlined %s: --inlined traces them", inlined_found,
			    inlined_found == 1 ? "copy matches" : "copies match");
	else if (left_out->names + left_out->trees)
		errmsg_hint(err, "%zu left out: %s", left_out->names + left_out->trees,
			    why_left_out);
	else
		nearest_hint_of(prog, pattern_text(pat), err);
	return SELECTION_NONE;
}

/* Tells the user of inlined copies that the pattern matches, beside `found` functions. */
static void note_copies(struct selection *sel, const struct pattern *pat, size_t found,
			size_t copies, size_t rows_before)
{
	if (found && copies && !sel->want.runtime)
		selection_note(sel,
			       mem_printf("%s also has %zu inlined %s, not seen without --inlined",
					  pattern_text(pat), copies,
					  copies == 1 ? "copy" : "copies"));
	else if (copies && pattern_is_name(pat))
		for (size_t row = rows_before; row < sel->row_count; row++)
			sel->rows[row].announce = true;
}

static int add_pattern(struct selection *sel, const struct program *prog, struct pattern *pat,
		       struct errmsg *err)
{
	size_t rows_before = sel->row_count, first_item = sel->item_count, copies = 0;
	bool is_name = pattern_is_name(pat);
	struct left_out left_out = {0};
	size_t found = add_functions(sel, prog, pat, &left_out);

	if (sel->want.inlined) {
		found += search_copies(sel, prog, pat, true, &left_out);
	} else if (!found || is_name) {
		copies = search_copies(sel, prog, pat, !found && is_name, &left_out);
		note_copies(sel, pat, found, copies, rows_before);
	} else if (!sel->want.may_miss) {
		note_unseen(sel, prog, pat);
	}
	if (!found && !(copies && is_name))
		return nothing_matched(prog, pat, copies, &left_out, err);
	note_left_out(sel, prog, &left_out);
	if (is_name)
		selection_note_wrappers(sel, first_item);
	return 0;
}

int selection_add(struct selection *sel, const struct program *prog, const char *pattern,
		  struct errmsg *err)
{
	struct pattern *pat;

	if (selection_is_line(pattern))
		return selection_add_line(sel, prog, pattern, err);
	pat = pattern_new(pattern, sel->want.regex, err);

	if (!pat)
		return -1;
	int ret = add_pattern(sel, prog, pat, err);

	pattern_free(pat);
	return ret;
}
