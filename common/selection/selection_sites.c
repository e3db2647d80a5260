// SPDX-License-Identifier: Apache-2.0
/* The second half of a selection: the sites of what was matched, and what has none. */
#include "selection/selection.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/escape.h"
#include "base/mem.h"
#include "program/pclntab.h"
#include "selection/program.h"

enum { PLACES_MAX = 4 };

static const char *find_copy_sites(struct selection *sel, struct selection_item *item)
{
	const char *reason = NULL;
	size_t first = sel->exits.count;
	int ret;

	/* the kernel side tells copies of one frame apart by 16 bits of their node */
	if (item->copy.node >= UINT16_MAX)
		return "there are too many copies in one function";
	if (item->returns)
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
		return "the entry in the function table is malformed";
	if (site_entry(finder, &fn, sel->want.args || sel->want.runtime, &item->entry, &reason))
		return reason;
	if (sel->want.runtime && !item->entry.args_intact)
		return "the arguments are gone where a probe could stand";
	item->first_exit = sel->exits.count;
	if (item->returns && site_returns(finder, &fn, &sel->exits, &reason))
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
	if (!item->skipped && !item->located)
		item->skipped =
			item->is_copy ? find_copy_sites(sel, item) : find_func_sites(sel, item);
	if (item->skipped)
		selection_uncount(sel, item);
}

void selection_locate_copy(struct selection *sel, struct selection_item *item)
{
	item->skipped = find_copy_sites(sel, item);
	item->located = true;
}

bool selection_is_fips(const struct selection_item *item)
{
	struct pclntab_func fn;

	return pclntab_func(item->prog->tab, item->func, &fn) &&
	       site_is_fips(item->prog->finder, &fn);
}

/* How many items FIPS mode checks: those that are left out, or those that are traced. */
static size_t count_fips(const struct selection *sel, bool left_out)
{
	size_t n = 0;

	for (size_t i = 0; i < sel->item_count; i++)
		n += (sel->items[i].skipped != NULL) == left_out &&
		     selection_is_fips(&sel->items[i]);
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

/* Why there is nothing to trace. */
static int nothing_found(const struct selection *sel, struct errmsg *err)
{
	const struct selection_item *item = &sel->items[0];
	const char *name = sel->rows[item->row].name;
	const char *done = item->returns ? "timed" : "probed";

	if (sel->item_count == 1)
		errmsg_set(err, "%s cannot be %s: %s", name, done, item->skipped);
	else
		errmsg_set(err, "none of %zu functions and copies can be %s", sel->item_count,
			   done);
	if (!sel->want.fips && count_fips(sel, true))
		errmsg_hint(err, "--fips includes functions that FIPS mode checks: only for "
				 "processes that already run");
	else if (sel->item_count > 1)
		errmsg_hint(err, "%s: %s", name, item->skipped);
	return -1;
}

int selection_find_sites(struct selection *sel, struct errmsg *err)
{
	for (size_t i = 0; i < sel->item_count; i++)
		find_item_sites(sel, &sel->items[i]);
	if (!sel->want.may_miss && !selection_traced(sel))
		return nothing_found(sel, err);
	note_fips(sel);
	return 0;
}

/* "main.main, main.run and 12 more": the functions that traced copies of a row stand in */
static void print_places(FILE *out, const struct selection *sel, uint32_t row)
{
	uint32_t last_func = UINT32_MAX;
	size_t named = 0, more = 0;
	struct pclntab_func fn;

	for (size_t i = 0; i < sel->item_count; i++) {
		const struct selection_item *item = &sel->items[i];

		if (item->row != row || item->skipped || item->func == last_func ||
		    !pclntab_func(item->prog->tab, item->func, &fn))
			continue;
		last_func = item->func;
		if (named == PLACES_MAX) {
			more++;
			continue;
		}
		fputs(named++ ? ", " : "", out);
		escape_print(out, fn.name);
	}
	if (more)
		fprintf(out, " and %zu more", more);
}

void selection_print_notes(FILE *out, const struct selection *sel)
{
	for (size_t i = 0; i < sel->note_count; i++) {
		escape_print(out, sel->notes[i]);
		fputc('\n', out);
	}
	for (size_t i = 0; i < sel->row_count; i++) {
		const struct selection_row *row = &sel->rows[i];

		if (!row->announce || !row->copies)
			continue;
		escape_print(out, row->name);
		fprintf(out, " is inlined: %s%u %s, in ", sel->want.may_miss ? "" : "tracing ",
			row->copies, row->copies == 1 ? "copy" : "copies");
		print_places(out, sel, i);
		fputc('\n', out);
	}
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
		fprintf(out, " at 0x%" PRIx64 ")", item->copy.addr);
	}
	fprintf(out, " is left out: %s\n", item->skipped);
}

struct reason {
	const char *text;
	size_t count;
};

static int by_count(const void *a, const void *b)
{
	const struct reason *x = a, *y = b;

	return (x->count < y->count) - (x->count > y->count);
}

/* Gathers the first `max` reasons that there are; returns how many. What has another one is in
 * *others. */
static size_t gather_reasons(const struct selection *sel, struct reason *out, size_t max,
			     size_t *others)
{
	size_t known = 0, n;

	for (size_t i = 0; i < sel->item_count; i++) {
		const char *why = sel->items[i].skipped;

		if (!why)
			continue;
		for (n = 0; n < known && strcmp(out[n].text, why); n++)
			;
		if (n == max) {
			++*others;
			continue;
		}
		if (n == known)
			out[known++] = (struct reason){.text = why};
		out[n].count++;
	}
	return known;
}

/* A line for each reason, of those that leave out most. */
static void print_reasons(FILE *out, const struct selection *sel, const char *tool)
{
	enum { GATHERED = 64, SHOWN = 4 };
	struct reason reasons[GATHERED];
	size_t others = 0, known = gather_reasons(sel, reasons, GATHERED, &others), n;

	qsort(reasons, known, sizeof(*reasons), by_count);
	for (n = SHOWN; n < known; n++)
		others += reasons[n].count;
	for (n = 0; n < known && n < SHOWN; n++)
		fprintf(out, "%s: %zu left out: %s%s\n", tool, reasons[n].count, reasons[n].text,
			n + 1 == known && !others ? " (-v names them)" : "");
	if (others)
		fprintf(out, "%s: %zu more, for other reasons (-v names them)\n", tool, others);
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
		print_reasons(out, sel, tool);
}
