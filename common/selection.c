// SPDX-License-Identifier: Apache-2.0
#include "selection.h"

#include <stdlib.h>
#include <string.h>

#include "errmsg.h"
#include "escape.h"
#include "mem.h"
#include "nearest.h"
#include "pattern.h"
#include "pclntab.h"
#include "program.h"

/* Open addressing over row numbers + 1; a power of two at least twice the rows. */
struct selection_names {
	uint32_t *slots;
	size_t size;
};

static uint64_t hash_name(const struct program *prog, const char *name)
{
	uint64_t h = 0xcbf29ce484222325u ^ (uintptr_t)prog;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 0x100000001b3u;
	return h ^ h >> 32;
}

/* the slot of this name: holding its row, or free */
static uint32_t *find_slot(const struct selection *sel, const struct program *prog,
			   const char *name)
{
	const struct selection_names *names = sel->names;

	for (uint64_t h = hash_name(prog, name);; h++) {
		uint32_t *slot = &names->slots[h & (names->size - 1)];
		const struct selection_row *row = &sel->rows[*slot ? *slot - 1 : 0];

		if (!*slot || (row->prog == prog && !strcmp(row->name, name)))
			return slot;
	}
}

static void grow_names(struct selection *sel)
{
	struct selection_names *names = sel->names;

	if (sel->row_count * 2 < names->size)
		return;
	free(names->slots);
	names->size *= 4;
	names->slots = mem_zalloc(names->size, sizeof(*names->slots));
	for (size_t i = 0; i < sel->row_count; i++)
		*find_slot(sel, sel->rows[i].prog, sel->rows[i].name) = i + 1;
}

static uint32_t row_of(struct selection *sel, const struct program *prog, const char *name)
{
	uint32_t *slot = find_slot(sel, prog, name);

	if (*slot)
		return *slot - 1;
	*slot = sel->row_count + 1;
	sel->rows = mem_grow(sel->rows, sel->row_count, &sel->row_cap, sizeof(*sel->rows));
	sel->rows[sel->row_count] = (struct selection_row){.name = name, .prog = prog};
	sel->row_count++;
	grow_names(sel);
	return sel->row_count - 1;
}

struct selection *selection_new(const struct selection_want *want)
{
	struct selection *sel = mem_zalloc(1, sizeof(*sel));

	sel->want = *want;
	sel->names = mem_zalloc(1, sizeof(*sel->names));
	sel->names->size = 1024;
	sel->names->slots = mem_zalloc(sel->names->size, sizeof(*sel->names->slots));
	return sel;
}

void selection_free(struct selection *sel)
{
	if (!sel)
		return;
	for (size_t i = 0; i < sel->note_count; i++)
		free(sel->notes[i]);
	free(sel->notes);
	free(sel->names->slots);
	free(sel->names);
	free(sel->exits.items);
	free(sel->items);
	free(sel->rows);
	free(sel);
}

static void add_note(struct selection *sel, char *text)
{
	sel->notes = mem_grow(sel->notes, sel->note_count, &sel->note_cap, sizeof(*sel->notes));
	sel->notes[sel->note_count++] = text;
}

static struct selection_item *add_item(struct selection *sel, const struct program *prog,
				       const char *name)
{
	uint32_t row = row_of(sel, prog, name);

	sel->items = mem_grow(sel->items, sel->item_count, &sel->item_cap, sizeof(*sel->items));
	sel->items[sel->item_count] = (struct selection_item){.prog = prog, .row = row};
	return &sel->items[sel->item_count++];
}

/* Is there a function of this name that is not a compiler-made wrapper? An .abi0 wrapper only
 * calls its function: both together are one. */
static void drop_wrappers(struct selection *sel, size_t first_item)
{
	bool *real = mem_zalloc(sel->row_count, sizeof(*real));
	struct pclntab_func fn;
	size_t kept = first_item;

	for (size_t i = first_item; i < sel->item_count; i++) {
		const struct selection_item *item = &sel->items[i];

		if (pclntab_func(item->prog->tab, item->func, &fn) && !fn.is_wrapper)
			real[item->row] = true;
	}
	for (size_t i = first_item; i < sel->item_count; i++) {
		const struct selection_item *item = &sel->items[i];

		if (real[item->row] && pclntab_func(item->prog->tab, item->func, &fn) &&
		    fn.is_wrapper)
			continue;
		sel->items[kept++] = *item;
	}
	sel->item_count = kept;
	free(real);
}

static size_t add_functions(struct selection *sel, const struct program *prog,
			    const struct pattern *pat)
{
	size_t rows_before = sel->row_count, first_item = sel->item_count, found = 0;
	struct pclntab_func fn;

	for (size_t i = 0; i < pclntab_count(prog->tab); i++) {
		if (!pclntab_func(prog->tab, i, &fn) || !pattern_match(pat, fn.name))
			continue;
		found++;
		const uint32_t *slot = find_slot(sel, prog, fn.name);

		/* an earlier pattern has it already */
		if (*slot && *slot <= rows_before && sel->rows[*slot - 1].funcs)
			continue;
		struct selection_item *item = add_item(sel, prog, fn.name);

		item->func = i;
	}
	drop_wrappers(sel, first_item);
	for (size_t i = first_item; i < sel->item_count; i++)
		sel->rows[sel->items[i].row].funcs++;
	return found;
}

struct copy_search {
	struct selection *sel;
	const struct program *prog;
	const struct pattern *pat;
	size_t rows_before;
	size_t found;
	bool add;
};

static bool on_copy(const struct inlining_copy *copy, void *ctx)
{
	struct copy_search *search = ctx;
	struct selection *sel = search->sel;

	if (!pattern_match(search->pat, copy->name))
		return true;
	search->found++;
	if (!search->add)
		return true;
	const uint32_t *slot = find_slot(sel, search->prog, copy->name);

	if (*slot && *slot <= search->rows_before && sel->rows[*slot - 1].copies)
		return true;
	struct selection_item *item = add_item(sel, search->prog, copy->name);

	item->is_copy = true;
	item->func = copy->func;
	item->copy = *copy;
	return true;
}

static size_t search_copies(struct selection *sel, const struct program *prog,
			    const struct pattern *pat, bool add)
{
	size_t first_item = sel->item_count;
	struct copy_search search = {
		.sel = sel, .prog = prog, .pat = pat, .rows_before = sel->row_count, .add = add};

	inlining_each(prog->tab, on_copy, &search);
	for (size_t i = first_item; i < sel->item_count; i++)
		sel->rows[sel->items[i].row].copies++;
	return search.found;
}

/* "main.main, main.run, ... (12 more)": the functions that the copies of a row stand in */
static char *copy_places(const struct selection *sel, size_t first_item, uint32_t row)
{
	char *list = mem_strdup("");
	size_t named = 0, more = 0;
	uint32_t last_func = UINT32_MAX;
	struct pclntab_func fn;

	for (size_t i = first_item; i < sel->item_count; i++) {
		const struct selection_item *item = &sel->items[i];

		if (item->row != row || item->func == last_func ||
		    !pclntab_func(item->prog->tab, item->func, &fn))
			continue;
		last_func = item->func;
		if (named == 4) {
			more++;
			continue;
		}
		char *longer = mem_printf("%s%s%s", list, named++ ? ", " : "", fn.name);

		free(list);
		list = longer;
	}
	if (!more)
		return list;
	char *text = mem_printf("%s and %zu more", list, more);

	free(list);
	return text;
}

static void note_copies(struct selection *sel, size_t first_item, size_t rows_before)
{
	for (size_t row = rows_before; row < sel->row_count; row++) {
		const struct selection_row *r = &sel->rows[row];
		char *places = copy_places(sel, first_item, row);

		add_note(sel, mem_printf("%s is inlined: tracing %u %s, in %s", r->name, r->copies,
					 r->copies == 1 ? "copy" : "copies", places));
		free(places);
	}
}

static int nothing_matched(const struct program *prog, const struct pattern *pat,
			   size_t inlined_found, struct errmsg *err)
{
	errmsg_set(err, "%s: no function matches \"%s\"", prog->path, pattern_text(pat));
	if (inlined_found)
		errmsg_hint(err, "%zu inlined %s: --inlined traces them", inlined_found,
			    inlined_found == 1 ? "copy matches" : "copies match");
	else
		nearest_hint(prog->tab, pattern_text(pat), err);
	return -1;
}

static int add_pattern(struct selection *sel, const struct program *prog, const struct pattern *pat,
		       struct errmsg *err)
{
	size_t rows_before = sel->row_count;
	bool is_name = pattern_is_name(pat);
	size_t found = add_functions(sel, prog, pat);
	size_t first_item = sel->item_count;

	if (sel->want.inlined) {
		found += search_copies(sel, prog, pat, true);
		return found ? 0 : nothing_matched(prog, pat, 0, err);
	}
	if (found && !is_name)
		return 0;
	size_t copies = search_copies(sel, prog, pat, !found && is_name);

	if (found && copies)
		add_note(sel,
			 mem_printf("%s also has %zu inlined %s, not seen: --inlined takes both",
				    pattern_text(pat), copies, copies == 1 ? "copy" : "copies"));
	else if (copies && is_name)
		note_copies(sel, first_item, rows_before);
	else if (!found)
		return nothing_matched(prog, pat, copies, err);
	return 0;
}

int selection_add(struct selection *sel, const struct program *prog, const char *pattern,
		  struct errmsg *err)
{
	struct pattern *pat = pattern_new(pattern, sel->want.regex, err);

	if (!pat)
		return -1;
	int ret = add_pattern(sel, prog, pat, err);

	pattern_free(pat);
	return ret;
}

static const char *find_copy_sites(struct selection *sel, struct selection_item *item)
{
	const char *reason = NULL;
	size_t first = sel->exits.count;
	int ret;

	/* the kernel side tells copies of one frame apart by 16 bits of their node */
	if (item->copy.node >= UINT16_MAX)
		return "it is one of too many copies in one function";
	if (sel->want.returns)
		ret = inlining_span(item->prog->finder, &item->copy, &item->entry, &sel->exits,
				    &reason);
	else
		ret = inlining_entry(item->prog->finder, &item->copy, &item->entry, &reason);
	item->first_exit = first;
	item->exits = sel->exits.count - first;
	return ret ? reason : NULL;
}

static const char *find_func_sites(struct selection *sel, struct selection_item *item)
{
	struct site_finder *finder = item->prog->finder;
	const char *reason = NULL;
	struct pclntab_func fn;

	if (!pclntab_func(item->prog->tab, item->func, &fn))
		return "its entry in the function table is malformed";
	if (site_entry(finder, &fn, sel->want.args, &item->entry, &reason))
		return reason;
	item->first_exit = sel->exits.count;
	if (sel->want.returns && site_returns(finder, &fn, &sel->exits, &reason))
		return reason;
	item->exits = sel->exits.count - item->first_exit;
	return NULL;
}

void selection_uncount(struct selection *sel, const struct selection_item *item)
{
	struct selection_row *row = &sel->rows[item->row];

	if (item->is_copy)
		row->copies--;
	else
		row->funcs--;
}

static void find_item_sites(struct selection *sel, struct selection_item *item)
{
	item->skipped = item->is_copy ? find_copy_sites(sel, item) : find_func_sites(sel, item);
	if (item->skipped)
		selection_uncount(sel, item);
}

int selection_find_sites(struct selection *sel, struct errmsg *err)
{
	for (size_t i = 0; i < sel->item_count; i++)
		find_item_sites(sel, &sel->items[i]);
	if (sel->want.may_miss || selection_traced(sel))
		return 0;
	const struct selection_item *item = &sel->items[0];
	const char *name = sel->rows[item->row].name;

	if (sel->item_count == 1)
		return errmsg_set(err, "%s cannot be probed: %s", name, item->skipped);
	errmsg_set(err, "none of %zu functions and copies can be probed", sel->item_count);
	errmsg_hint(err, "%s: %s", name, item->skipped);
	return -1;
}

size_t selection_traced(const struct selection *sel)
{
	size_t n = 0;

	for (size_t i = 0; i < sel->row_count; i++)
		n += sel->rows[i].funcs || sel->rows[i].copies;
	return n;
}

size_t selection_skipped(const struct selection *sel)
{
	size_t n = 0;

	for (size_t i = 0; i < sel->item_count; i++)
		n += sel->items[i].skipped != NULL;
	return n;
}

static void print_skipped_item(FILE *out, const struct selection *sel,
			       const struct selection_item *item, const char *tool)
{
	struct pclntab_func fn;

	fprintf(out, "%s: ", tool);
	escape_print(out, sel->rows[item->row].name);
	if (item->is_copy && pclntab_func(item->prog->tab, item->func, &fn)) {
		fputs(" (its copy in ", out);
		escape_print(out, fn.name);
		fprintf(out, " at 0x%llx)", (unsigned long long)item->copy.addr);
	}
	fprintf(out, " is left out: %s\n", item->skipped);
}

void selection_print_skipped(FILE *out, const struct selection *sel, const char *tool, bool each)
{
	size_t skipped = selection_skipped(sel);

	if (!skipped)
		return;
	/* a few are named at once: no second run for two lines of reasons */
	if (skipped <= 3)
		each = true;
	for (size_t i = 0; each && i < sel->item_count; i++)
		if (sel->items[i].skipped)
			print_skipped_item(out, sel, &sel->items[i], tool);
	if (!each)
		fprintf(out,
			"%s: %zu functions cannot be probed and were left out (-v names them)\n",
			tool, skipped);
}
