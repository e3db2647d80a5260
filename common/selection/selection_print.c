// SPDX-License-Identifier: Apache-2.0
#include "selection/selection_print_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/index.h"
#include "base/json.h"
#include "base/mem.h"
#include "files/heldfile.h"
#include "program/functab.h"
#include "program/program.h"
#include "selection/selection.h"

enum { PLACES_MAX = 4 };

/* "main.main, main.run and 12 more": the functions that traced copies of a row stand in */
static void print_places(FILE *out, const struct selection *sel, uint32_t row)
{
	uint32_t last_func = UINT32_MAX;
	size_t named = 0, more = 0;
	struct functab_func fn;

	for (size_t i = 0; i < sel->item_count; i++) {
		const struct selection_item *item = &sel->items[i];

		if (item->row != row || item->skipped || item->func == last_func ||
		    !functab_func(item->prog->tab, item->func, &fn))
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

char *selection_row_binary(const struct selection *sel, size_t row)
{
	const struct program *prog = sel->rows[row].prog;

	if (!sel->several)
		return NULL;
	char *place = heldfile_place(prog->file);

	return place ? place : mem_strdup(prog->path);
}

void selection_json_binary(const struct selection *sel, size_t row, struct json *json)
{
	char *binary = selection_row_binary(sel, row);

	if (binary)
		json_member_string(json, "binary", binary);
	free(binary);
}

char *selection_row_text(const struct selection *sel, size_t row)
{
	char *path = selection_row_binary(sel, row);
	const char *name = sel->rows[row].name, *slash = path ? strrchr(path, '/') : NULL;
	char *text =
		path ? mem_printf("%s (%s)", name, slash ? slash + 1 : path) : mem_strdup(name);

	free(path);
	return text;
}

static bool is_traced(const struct selection_row *row)
{
	return !row->hidden && (row->funcs || row->copies);
}

/* Is the same function traced among the rows that `before` has, for another group? */
static bool is_counted(const struct selection *sel, const struct index *before, uint64_t hash,
		       const struct selection_row *row)
{
	size_t n = index_first(before, hash);

	for (; n != INDEX_NONE; n = index_next(before, n)) {
		const struct selection_row *other = &sel->rows[n];

		if (is_traced(other) && other->prog == row->prog && !strcmp(other->name, row->name))
			return true;
	}
	return false;
}

size_t selection_traced(const struct selection *sel)
{
	struct index before = {0};
	size_t n = 0;

	for (size_t i = 0; i < sel->row_count; i++) {
		const struct selection_row *row = &sel->rows[i];
		uint64_t hash = index_hash_text(0, row->name);

		n += is_traced(row) && !is_counted(sel, &before, hash, row);
		index_add(&before, hash);
	}
	index_free(&before);
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
	struct functab_func fn;

	fprintf(out, "%s: ", tool);
	escape_print(out, sel->rows[item->row].name);
	if (item->is_copy && functab_func(item->prog->tab, item->func, &fn)) {
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

/* Gathers the first `max` different reasons; returns how many there are. *others counts the items
 * with any other reason. */
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

/* A line for each of the most frequent reasons. */
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
	/* a few items are always named: reasons alone would not be shorter, and -v would need a
	 * second run */
	if (skipped <= 3)
		each = true;
	for (size_t i = 0; each && i < sel->item_count; i++)
		if (sel->items[i].skipped)
			print_skipped_item(out, sel, &sel->items[i], tool);
	if (!each)
		print_reasons(out, sel, tool);
}
