// SPDX-License-Identifier: Apache-2.0
#include "abi/argtable.h"

#include <stdio.h>
#include <string.h>

#include "abi/arginfo.h"
#include "abi/argreads_internal.h"
#include "abi/argtable_internal.h"
#include "base/mem.h"
#include "golang/funcname.h"
#include "program/functab.h"

static bool in_register(const struct evidence *evidence, const struct arginfo_item *item,
			struct abi_piece *out)
{
	for (size_t i = 0; i < evidence->spills.count; i++) {
		const struct spill *spill = &evidence->spills.items[i];

		if ((int64_t)spill->slot != item->off)
			continue;
		*out = (struct abi_piece){spill->where, spill->n, 0, spill->size, 0};
		return true;
	}
	return false;
}

static enum goparam_place place_by_code(const struct argtable_places *places, size_t item,
					struct abi_piece *out)
{
	for (size_t i = 0; i < places->count; i++) {
		if (places->items[i] != item)
			continue;
		*out = places->pieces[i];
		return places->how[i];
	}
	return GOPARAM_UNPLACED;
}

/* A function saves either all that came in registers or, without a stack check, nothing; what it
 * does not save came on the stack in the first case, and from anywhere in the second. */
static enum goparam_place find_piece(const struct argtable *table, size_t at, struct abi_piece *out)
{
	const struct evidence *evidence = table->evidence;
	const struct arginfo_item *item = &table->info->items[at];

	if (item->off < 0)
		return GOPARAM_UNPLACED;
	if (in_register(evidence, item, out))
		return out->size == item->size ? GOPARAM_SAVED : GOPARAM_UNPLACED;
	*out = (struct abi_piece){ABI_SLOT, item->off, 0, item->size, 0};
	if (evidence->usual == ABI_STACK)
		return GOPARAM_ON_STACK;
	if (evidence->spills.count)
		return GOPARAM_SAVED;
	return place_by_code(&table->places, at, out);
}

static size_t count_values(const struct arginfo *info, size_t from, size_t to)
{
	size_t count = 0;

	for (size_t i = from; i < to; i++)
		count += info->items[i].kind == ARGINFO_VALUE;
	return count;
}

/* Pieces of the parameter that items [from, to) tell of: all that are told or, where the place of
 * one is not known, none. */
static enum goparam_place find_pieces(const struct argtable *table, size_t from, size_t to,
				      struct abi_value *out)
{
	enum goparam_place least = GOPARAM_ON_STACK, how;
	const struct arginfo_item *items = table->info->items;
	size_t count = count_values(table->info, from, to);
	int first = 0;

	*out = (struct abi_value){.pieces = mem_zalloc(count + 1, sizeof(*out->pieces))};
	for (size_t i = from; i < to; i++) {
		struct abi_piece *piece = &out->pieces[out->count];

		if (items[i].kind != ARGINFO_VALUE)
			continue;
		how = find_piece(table, i, piece);
		if (how < least)
			least = how;
		if (how == GOPARAM_UNPLACED) {
			out->count = 0;
			break;
		}
		if (!out->count++)
			first = items[i].off;
		piece->off = items[i].off - first;
		out->slot = first;
	}
	return least;
}

/* Bytes from the first value to the end of the last; 0: not all is told. */
static uint64_t total_size(const struct arginfo *info, size_t from, size_t to)
{
	int64_t start = -1, end = 0;

	for (size_t i = from; i < to; i++) {
		const struct arginfo_item *item = &info->items[i];

		if (item->kind == ARGINFO_MORE || (item->kind == ARGINFO_VALUE && item->off < 0))
			return 0;
		if (item->kind != ARGINFO_VALUE)
			continue;
		if (start < 0)
			start = item->off;
		end = item->off + item->size;
	}
	return start >= 0 && end > start ? end - start : 0;
}

/* "8 bytes", "8+8 bytes", "8+... bytes" */
static const char *sizes_text(const struct argtable *table, size_t from, size_t to)
{
	const struct arginfo *info = table->info;
	char text[ARGINFO_ITEMS * 4 + sizeof(" bytes")];
	const char *plus = "";
	size_t len = 0;

	for (size_t i = from; i < to; i++) {
		const struct arginfo_item *item = &info->items[i];
		bool told = item->kind == ARGINFO_VALUE && item->off >= 0;

		if (item->kind == ARGINFO_OPEN || item->kind == ARGINFO_CLOSE)
			continue;
		if (!told) {
			len += snprintf(text + len, sizeof(text) - len, "%s...", plus);
			break;
		}
		len += snprintf(text + len, sizeof(text) - len, "%s%u", plus, item->size);
		plus = "+";
	}
	if (!len)
		text[len++] = '0';
	snprintf(text + len, sizeof(text) - len, len == 1 && *text == '1' ? " byte" : " bytes");
	return gotypes_text(table->memory, text, strlen(text));
}

static struct goparam make_param(const struct argtable *table, size_t from, size_t to)
{
	struct gotype *type =
		gotypes_add(table->memory, GOTYPE_UNKNOWN, sizes_text(table, from, to));

	type->size = total_size(table->info, from, to);
	type->elem = argtable_words(table, from, to);
	return (struct goparam){.name = "", .type = type};
}

/* for parameters that the table does not tell of */
static struct goparam left_out(const struct argtable *table)
{
	return (struct goparam){.name = "...",
				.type = gotypes_add(table->memory, GOTYPE_UNKNOWN, "?")};
}

/* What the table leaves out before its first parameter, by the function's name (arginfo.h). */
enum hidden {
	HIDDEN_NOTHING,  /* or the dictionary: no parameter of the source */
	HIDDEN_RECEIVER, /* and the dictionary is listed first */
	HIDDEN_FIRST,    /* the first parameter */
	HIDDEN_EITHER,   /* the dictionary or the first parameter */
};

static enum hidden what_is_hidden(const char *name)
{
	struct funcname parts;

	if (!strchr(name, '['))
		return HIDDEN_NOTHING;
	if (strstr(name, "[...]"))
		return HIDDEN_EITHER; /* Go 1.18 to 1.20 do not tell */
	funcname_parse(name, &parts);
	if (parts.closure && parts.generic)
		return HIDDEN_EITHER; /* some have the dictionary captured, some are given it */
	if (!parts.shapes)
		return HIDDEN_FIRST;
	return parts.receiver ? HIDDEN_RECEIVER : HIDDEN_NOTHING;
}

static void fill_layout(const struct argtable *table, enum hidden hidden, struct gofunc *sig,
			struct abi_layout *layout)
{
	const struct arginfo *info = table->info;
	struct goparam *param;
	size_t at = 0, next;

	if (hidden != HIDDEN_NOTHING)
		sig->params[sig->param_count++] = left_out(table);
	if (hidden == HIDDEN_RECEIVER)
		at = arginfo_next(info, at);
	for (; at < info->count; at = next) {
		next = arginfo_next(info, at);
		if (info->items[at].kind == ARGINFO_MORE)
			break;
		param = &sig->params[sig->param_count];
		*param = make_param(table, at, next);
		param->place = find_pieces(table, at, next, &layout->params[sig->param_count++]);
		param->is_guess = hidden == HIDDEN_EITHER;
	}
	if (info->truncated)
		sig->params[sig->param_count++] = left_out(table);
	layout->param_count = sig->param_count;
}

/* Is what the table leaves out one word in an integer register? */
static bool hides_a_word(enum hidden hidden, const char *name)
{
	struct funcname parts;

	funcname_parse(name, &parts);
	return hidden == HIDDEN_NOTHING || (hidden == HIDDEN_RECEIVER && parts.pointer);
}

/* Finds the parameters of a function that saves none of them, by what its code reads. */
static void find_places(const struct image *img, const struct functab *tab,
			const struct insn_decoder *dec, const struct functab_func *fn,
			enum hidden hidden, struct argtable *table)
{
	struct argreads reads;
	struct argtable_asked asked = {.info = table->info,
				       .reads = &reads,
				       .arch = table->evidence->arch,
				       .args = table->evidence->args};

	if (table->evidence->usual == ABI_STACK || table->evidence->spills.count || !dec ||
	    fn->is_asm)
		return;
	asked.hidden = strchr(fn->name, '[') != NULL;
	if (asked.hidden && !hides_a_word(hidden, fn->name))
		return;
	if (argreads_find(img, tab, dec, fn, &reads))
		argtable_place(&asked, &table->places);
}

bool argtable_read(const struct image *img, const struct functab *tab,
		   const struct insn_decoder *dec, const struct evidence *evidence,
		   const struct functab_func *fn, struct gotypes *memory, struct gofunc *sig,
		   struct abi_layout *layout)
{
	struct arginfo info;
	struct argtable table = {.info = &info, .evidence = evidence, .memory = memory};
	bool told = arginfo_read(img, tab, fn, &info);

	enum hidden hidden = told ? what_is_hidden(fn->name) : HIDDEN_NOTHING;

	/* assembly may have conventions of its own */
	if (!told && (fn->is_asm || evidence->args != 0))
		return false;
	*sig = (struct gofunc){.dictionary = -1, .source = GOFUNC_ARGINFO};
	sig->params = gotypes_alloc(memory, info.count + 2, sizeof(*sig->params));
	*layout = (struct abi_layout){.results = mem_zalloc(1, sizeof(*layout->results))};
	layout->params = mem_zalloc(info.count + 2, sizeof(*layout->params));
	find_places(img, tab, dec, fn, hidden, &table);
	fill_layout(&table, hidden, sig, layout);
	return true;
}
