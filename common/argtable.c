// SPDX-License-Identifier: Apache-2.0
#include "argtable.h"

#include <stdio.h>
#include <string.h>

#include "arginfo.h"
#include "argtable_parts.h"
#include "funcname.h"
#include "mem.h"
#include "pclntab.h"

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

/* A function saves either all that came in registers or, without a stack check, nothing; what it
 * does not save came on the stack in the first case, and from anywhere in the second. */
static bool find_piece(const struct evidence *evidence, const struct arginfo_item *item,
		       struct abi_piece *out)
{
	if (item->off < 0)
		return false;
	if (in_register(evidence, item, out))
		return out->size == item->size;
	*out = (struct abi_piece){ABI_SLOT, item->off, 0, item->size, 0};
	return evidence->usual == ABI_STACK || evidence->spills.count;
}

static size_t count_values(const struct arginfo *info, size_t from, size_t to)
{
	size_t count = 0;

	for (size_t i = from; i < to; i++)
		count += info->items[i].kind == ARGINFO_VALUE;
	return count;
}

/* Pieces of the parameter that items [from, to) tell of: all or, where one is not known, none. */
static void find_pieces(const struct argtable *table, size_t from, size_t to, struct abi_value *out)
{
	const struct arginfo_item *items = table->info->items;
	size_t count = count_values(table->info, from, to);
	int first = 0;

	*out = (struct abi_value){.pieces = mem_zalloc(count + 1, sizeof(*out->pieces))};
	for (size_t i = from; i < to; i++) {
		struct abi_piece *piece = &out->pieces[out->count];

		if (items[i].kind == ARGINFO_MORE ||
		    (items[i].kind == ARGINFO_VALUE &&
		     !find_piece(table->evidence, &items[i], piece))) {
			out->count = 0;
			return;
		}
		if (items[i].kind != ARGINFO_VALUE)
			continue;
		if (!out->count++)
			first = items[i].off;
		piece->off = items[i].off - first;
		out->slot = first;
	}
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
	HIDDEN_EITHER,   /* the dictionary or the first parameter: names did not tell before Go 1.21
			  */
};

static enum hidden what_is_hidden(const char *name)
{
	struct funcname parts;

	if (!strchr(name, '['))
		return HIDDEN_NOTHING;
	if (strstr(name, "[...]"))
		return HIDDEN_EITHER;
	funcname_parse(name, &parts);
	if (parts.closure || !parts.shapes)
		return HIDDEN_FIRST;
	return parts.receiver ? HIDDEN_RECEIVER : HIDDEN_NOTHING;
}

static void fill(const struct argtable *table, enum hidden hidden, struct gofunc *sig,
		 struct abi_layout *layout)
{
	const struct arginfo *info = table->info;
	size_t at = 0, next;

	if (hidden != HIDDEN_NOTHING)
		sig->params[sig->param_count++] = left_out(table);
	if (hidden == HIDDEN_RECEIVER)
		at = arginfo_next(info, at);
	for (; at < info->count; at = next) {
		next = arginfo_next(info, at);
		if (info->items[at].kind == ARGINFO_MORE)
			break;
		find_pieces(table, at, next, &layout->params[sig->param_count]);
		sig->params[sig->param_count] = make_param(table, at, next);
		sig->params[sig->param_count++].is_guess = hidden == HIDDEN_EITHER;
	}
	if (info->truncated)
		sig->params[sig->param_count++] = left_out(table);
	layout->param_count = sig->param_count;
}

bool argtable_read(const struct image *img, const struct pclntab *tab,
		   const struct evidence *evidence, const struct pclntab_func *fn,
		   struct gotypes *memory, struct gofunc *sig, struct abi_layout *layout)
{
	struct arginfo info;
	struct argtable table = {&info, evidence, memory};
	bool told = arginfo_read(img, tab, fn, &info);

	/* assembly may have conventions of its own */
	if (!told && (fn->is_asm || evidence->args != 0))
		return false;
	*sig = (struct gofunc){.dictionary = -1, .source = GOFUNC_ARGINFO};
	sig->params = gotypes_alloc(memory, info.count + 2, sizeof(*sig->params));
	*layout = (struct abi_layout){.results = mem_zalloc(1, sizeof(*layout->results))};
	layout->params = mem_zalloc(info.count + 2, sizeof(*layout->params));
	fill(&table, told ? what_is_hidden(fn->name) : HIDDEN_NOTHING, sig, layout);
	return true;
}
