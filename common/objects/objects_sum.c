// SPDX-License-Identifier: Apache-2.0
#include "objects/objects_sum_internal.h"

#include <inttypes.h>

#include "base/mem.h"
#include "objects/spans_internal.h"

/* The row of objects of no known type, of such a span. `from`: where such rows begin. */
static struct objects_row *row_of(struct objects_table *table, size_t from, const struct span *span)
{
	uint64_t size = span->large ? 0 : span->elem;

	for (size_t i = from; i < table->count; i++) {
		struct objects_row *row = &table->rows[i];

		if (row->what == OBJECTS_UNKNOWN && row->size == size &&
		    row->pointers == !span->noscan)
			return row;
	}
	table->rows = mem_grow(table->rows, table->count, &table->cap, sizeof(*table->rows));
	table->rows[table->count] = (struct objects_row){
		.what = OBJECTS_UNKNOWN, .size = size, .pointers = !span->noscan};
	return &table->rows[table->count++];
}

/* By the numbers of kinds; those of no type come after them. */
static void add_rows(struct objects_table *table, const struct object_kinds *kinds)
{
	static const enum objects_what whats[OBJECT_FIRST] = {[OBJECT_UNKNOWN] = OBJECTS_UNKNOWN,
							      [OBJECT_SEVERAL] = OBJECTS_SEVERAL,
							      [OBJECT_TINY] = OBJECTS_TINY,
							      [OBJECT_STRING] = OBJECTS_STRING};

	table->count = table->cap = kinds->count + OBJECT_FIRST;
	table->rows = mem_zalloc(table->cap, sizeof(*table->rows));
	for (size_t i = 0; i < table->count; i++)
		table->rows[i] = (struct objects_row){
			.what = i < OBJECT_FIRST ? whats[i] : OBJECTS_TYPE,
			.name = i < OBJECT_FIRST ? NULL : kinds->all[i - OBJECT_FIRST].name,
			.size = UINT64_MAX};
}

static void add_to(struct objects_row *row, uint64_t objects, uint64_t each)
{
	row->objects += objects;
	row->bytes += objects * each;
}

static void add_span(struct objects_table *table, const struct object_walk *walk,
		     const struct span *span)
{
	uint64_t objects = 0, unknown = 0;

	for (uint32_t i = 0; i < span->count; i++) {
		if (!spans_is_allocated(walk->spans, span, i))
			continue;
		uint16_t kind = walk->kind_of[span->first + i];

		objects++;
		if (kind == OBJECT_UNKNOWN)
			unknown++;
		else
			add_to(&table->rows[kind], 1, span->elem);
	}
	if (unknown)
		add_to(row_of(table, walk->kinds.count + OBJECT_FIRST, span), unknown, span->elem);
	table->objects += objects;
	table->bytes += objects * span->elem;
	table->unswept += span->unswept ? objects * span->elem : 0;
}

static void drop_empty(struct objects_table *table)
{
	size_t kept = 0;

	for (size_t i = 0; i < table->count; i++)
		if (table->rows[i].objects)
			table->rows[kept++] = table->rows[i];
	table->count = kept;
}

void objects_add_up(struct objects_table *table, const struct object_walk *walk)
{
	*table = (struct objects_table){0};
	add_rows(table, &walk->kinds);
	for (size_t i = 0; i < walk->spans->count; i++)
		add_span(table, walk, &walk->spans->all[i]);
	drop_empty(table);
}

void objects_say(FILE *err, const struct object_walk *walk, const struct objects_table *table)
{
	if (table->unswept)
		fprintf(err,
			"goheap: %" PRIu64
			" of these bytes are not swept yet: garbage is among them\n",
			table->unswept);
	if (walk->gave_up)
		fputs("goheap: not all pointers were followed: there are too many\n", err);
	if (walk->kinds.full)
		fputs("goheap: there are too many types: some are unknown\n", err);
}
