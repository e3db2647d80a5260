// SPDX-License-Identifier: Apache-2.0
/* A parameter's words, as a type. */
#include "abi/arginfo.h"
#include "abi/argtable_internal.h"

enum { NESTING = 8 }; /* aggregates within each other: the compiler writes five */

struct nesting { /* aggregates that are still open */
	struct gotype *open[NESTING];
	int64_t start[NESTING]; /* of each, bytes from the first stack argument */
	size_t depth;
};

static size_t count_members(const struct arginfo *info, size_t open)
{
	size_t count = 0;

	for (size_t at = open + 1; at < info->count && info->items[at].kind != ARGINFO_CLOSE;
	     at = arginfo_next(info, at))
		count++;
	return count;
}

static void add_member(const struct nesting *nesting, const struct gotype *type, int64_t off)
{
	struct gotype *in = nesting->depth ? nesting->open[nesting->depth - 1] : NULL;

	if (!in)
		return;
	in->fields[in->field_count++] = (struct gotype_field){
		.name = "", .type = type, .off = off - nesting->start[nesting->depth - 1]};
}

static struct gotype *word_type(const struct argtable *table, uint8_t size)
{
	struct gotype *word = gotypes_add(table->memory, GOTYPE_UNKNOWN, "");

	word->size = word->align = size;
	return word;
}

static void open_struct(const struct argtable *table, size_t at, int64_t end,
			struct nesting *nesting)
{
	struct gotype *type = gotypes_add(table->memory, GOTYPE_STRUCT, "");
	size_t members = count_members(table->info, at), next = at;
	size_t stop = arginfo_next(table->info, at);

	while (next < stop && table->info->items[next].kind != ARGINFO_VALUE)
		next++;
	if (next < stop)
		end = table->info->items[next].off;
	else if (nesting->depth && end < nesting->start[nesting->depth - 1])
		end = nesting->start[nesting->depth - 1]; /* nothing in it */
	type->align = 1;
	type->fields = gotypes_alloc(table->memory, members, sizeof(*type->fields));
	nesting->open[nesting->depth] = type;
	nesting->start[nesting->depth++] = end;
}

/* Is one of the values in [start, end) in a floating-point register? */
static bool has_float(const struct argtable *table, int64_t start, int64_t end)
{
	const struct spills *spills = &table->evidence->spills;
	const struct argtable_places *places = &table->places;

	for (size_t i = 0; i < spills->count; i++)
		if (spills->items[i].where == ABI_FLOAT &&
		    (int64_t)spills->items[i].slot >= start && (int64_t)spills->items[i].slot < end)
			return true;
	for (size_t i = 0; i < places->count; i++) {
		int64_t off = table->info->items[places->items[i]].off;

		if (places->pieces[i].where == ABI_FLOAT && off >= start && off < end)
			return true;
	}
	return false;
}

/* Strings and interfaces are made of two words in registers for integers, or of memory. */
static bool is_pair(const struct argtable *table, const struct gotype *type, int64_t start)
{
	if (type->field_count != 2)
		return false;
	for (size_t i = 0; i < 2; i++)
		if (type->fields[i].type->kind != GOTYPE_UNKNOWN ||
		    type->fields[i].type->size != 8 || type->fields[i].off != 8 * i)
			return false;
	return !has_float(table, start, start + 16);
}

/* Ends the innermost aggregate and returns it. */
static struct gotype *close_struct(const struct argtable *table, int64_t end,
				   struct nesting *nesting)
{
	struct gotype *type = nesting->open[--nesting->depth];
	int64_t start = nesting->start[nesting->depth];

	type->size = end - start;
	if (is_pair(table, type, start))
		type->kind = GOTYPE_PAIR;
	add_member(nesting, type, start);
	return type;
}

const struct gotype *argtable_words(const struct argtable *table, size_t from, size_t to)
{
	const struct arginfo_item *items = table->info->items;
	struct nesting nesting = {.depth = 0};
	const struct gotype *whole = NULL;
	int64_t end = 0;

	for (size_t i = from; i < to; i++) {
		bool told = items[i].kind != ARGINFO_VALUE || items[i].off >= 0;

		if (!told || (items[i].kind == ARGINFO_OPEN && nesting.depth == NESTING) ||
		    (items[i].kind == ARGINFO_CLOSE && !nesting.depth))
			return NULL;
		if (items[i].kind == ARGINFO_MORE) {
			add_member(&nesting, word_type(table, 0), end);
		} else if (items[i].kind == ARGINFO_OPEN) {
			open_struct(table, i, end, &nesting);
		} else if (items[i].kind == ARGINFO_CLOSE) {
			whole = close_struct(table, end, &nesting);
		} else {
			add_member(&nesting, word_type(table, items[i].size), items[i].off);
			end = items[i].off + items[i].size;
		}
	}
	return whole;
}
