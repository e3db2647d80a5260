// SPDX-License-Identifier: Apache-2.0
#include "metrics/series_internal.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"
#include "metrics/label_internal.h"
#include "metrics/reading_internal.h"

static const char other[] = "other";

struct row {
	size_t number; /* the tool's */
	const char *func, *binary;
	size_t series; /* INDEX_NONE: has none of its own */
};

struct series_table {
	size_t max;
	struct row *rows;
	size_t row_count, row_cap;
	struct series *list;
	size_t count, cap;
	size_t own; /* of them: series of functions; the rest are others */
	struct index by_labels;
};

struct candidate {
	size_t row;
	uint64_t weight;
};

struct series_table *series_new(size_t max)
{
	struct series_table *table = mem_zalloc(1, sizeof(*table));

	table->max = max;
	return table;
}

void series_free(struct series_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->count; i++)
		free(table->list[i].labels);
	free(table->list);
	free(table->rows);
	index_free(&table->by_labels);
	free(table);
}

void series_add_row(struct series_table *table, size_t row, const char *func, const char *binary)
{
	table->rows =
		mem_grow(table->rows, table->row_count, &table->row_cap, sizeof(*table->rows));
	table->rows[table->row_count++] = (struct row){row, func, binary, INDEX_NONE};
}

/* The series with these labels, made if there is none: what cannot be told apart by its labels is
 * one function to whoever reads them. */
static size_t find_or_make(struct series_table *table, const char *func, const char *binary,
			   bool own)
{
	char *labels = label_pair(func, binary);
	uint64_t hash = index_hash_text(0, labels);
	size_t n = index_first(&table->by_labels, hash);

	while (n != INDEX_NONE && strcmp(table->list[n].labels, labels) != 0)
		n = index_next(&table->by_labels, n);
	if (n != INDEX_NONE) {
		free(labels);
		return n;
	}
	table->list = mem_grow(table->list, table->count, &table->cap, sizeof(*table->list));
	table->list[table->count++] = (struct series){.labels = labels};
	table->own += own;
	return index_add(&table->by_labels, hash);
}

static void give_place(struct series_table *table, struct row *row)
{
	/* a function of this very name is among the others from the beginning */
	if (table->own < table->max && strcmp(row->func, other) != 0)
		row->series = find_or_make(table, row->func, row->binary, true);
}

static int by_weight(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static void give_places(struct series_table *table, series_add_fn *add, void *ctx)
{
	struct candidate *found = NULL;
	size_t count = 0, cap = 0;

	for (size_t i = 0; i < table->row_count; i++) {
		struct reading reading = {0};

		if (table->rows[i].series != INDEX_NONE)
			continue;
		if (table->row_count > table->max)
			add(ctx, table->rows[i].number, &reading);
		if (table->row_count > table->max && !reading_weight(&reading))
			continue;
		found = mem_grow(found, count, &cap, sizeof(*found));
		found[count++] = (struct candidate){i, reading_weight(&reading)};
	}
	if (count && table->row_count > table->max)
		qsort(found, count, sizeof(*found), by_weight);
	for (size_t i = 0; i < count; i++)
		give_place(table, &table->rows[found[i].row]);
	free(found);
}

static void add_to_others(struct series_table *table, const struct row *row, series_add_fn *add,
			  void *ctx)
{
	struct reading reading = {0};

	add(ctx, row->number, &reading);
	if (!reading_weight(&reading))
		return;
	size_t n = find_or_make(table, other, row->binary, false);

	reading_add(&table->list[n].now, &reading);
}

void series_update(struct series_table *table, series_add_fn *add, void *ctx)
{
	if (table->own < table->max)
		give_places(table, add, ctx);
	for (size_t i = 0; i < table->count; i++)
		memset(&table->list[i].now, 0, sizeof(table->list[i].now));
	for (size_t i = 0; i < table->row_count; i++) {
		size_t n = table->rows[i].series;

		if (n == INDEX_NONE)
			add_to_others(table, &table->rows[i], add, ctx);
		else
			add(ctx, table->rows[i].number, &table->list[n].now);
	}
}

bool series_overflowed(const struct series_table *table)
{
	return table->count > table->own;
}

const struct series *series_at(const struct series_table *table, size_t n)
{
	return n < table->count ? &table->list[n] : NULL;
}
