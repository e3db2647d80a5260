// SPDX-License-Identifier: Apache-2.0
/* Up to Go 1.21 parameters without a name are missing from DWARF, so that those after them would be
 * taken from the wrong places. Here they are put back. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "dwarf/debuginfo_params_internal.h"
#include "elf/image.h"
#include "golang/release.h"
#include "machine/insn.h"
#include "program/functab.h"

enum { WORD = 8, MAX_BLANKS = 4 };

/* --- from Go 1.17: ArgInfo has an entry for each parameter --- */

static const struct gotype *unknown_type(struct gotypes *types, uint64_t size, uint32_t align)
{
	struct gotype *type = gotypes_add(types, GOTYPE_UNKNOWN, "?");

	type->size = size;
	type->align = align;
	return type;
}

/* As a struct of its values, whatever they are nested in; NULL: not all are told. */
static const struct gotype *unknown_struct(struct gotypes *types, const struct arginfo *info,
					   size_t from, size_t to)
{
	struct gotype *type = gotypes_add(types, GOTYPE_STRUCT, "?");
	int start = -1;

	type->fields = gotypes_alloc(types, to - from, sizeof(*type->fields));
	for (; from < to; from++) {
		const struct arginfo_item *item = &info->items[from];
		struct gotype_field *field = &type->fields[type->field_count];

		if (item->kind == ARGINFO_MORE || (item->kind == ARGINFO_VALUE && item->off < 0))
			return NULL;
		if (item->kind != ARGINFO_VALUE)
			continue;
		start = start < 0 ? item->off : start;
		if (item->off < start)
			return NULL;
		field->name = "_";
		field->type = unknown_type(types, item->size, item->size ? item->size : 1);
		field->off = item->off - start;
		type->field_count++;
		type->align = item->size > type->align ? item->size : type->align;
		type->size = field->off + item->size;
	}
	type->size = (type->size + type->align - 1) / type->align * type->align;
	return type;
}

static const struct gotype *blank_type(struct gotypes *types, const struct arginfo *info, size_t at)
{
	const struct arginfo_item *item = &info->items[at];

	if (item->kind == ARGINFO_VALUE && item->off >= 0 && item->size)
		return unknown_type(types, item->size, item->size);
	return item->kind == ARGINFO_OPEN ? unknown_struct(types, info, at, arginfo_next(info, at))
					  : NULL;
}

struct debuginfo_list debuginfo_copy(const struct debuginfo_list *list)
{
	struct debuginfo_list copy = *list;

	copy.params = (struct debuginfo_params){0};
	for (size_t i = 0; i < list->params.count; i++)
		debuginfo_insert(&copy.params, i, &list->params.items[i]);
	return copy;
}

/* What is missing: an entry of ArgInfo for each bit of `blanks`; those of `floats` are
 * floating-point numbers, which have registers of their own. */
struct guess {
	unsigned blanks, floats;
};

static const struct gotype *guessed_type(struct gotypes *types, const struct arginfo *info,
					 size_t at, bool is_float)
{
	const struct arginfo_item *item = &info->items[at];

	if (!is_float)
		return blank_type(types, info, at);
	if (item->kind != ARGINFO_VALUE || (item->size != 4 && item->size != 8))
		return NULL;
	return gotypes_basic(types, item->size == 4 ? "float32" : "float64");
}

/* false: impossible */
static bool with_blanks(struct debuginfo *dbg, const struct debuginfo_check *check,
			struct guess guess, struct debuginfo_list *list)
{
	/* of a generic function the first input has no entry */
	int shift = (list->dictionary >= 0) - list->generic;

	for (int entry = 0; entry < (int)check->entries; entry++) {
		int param = entry - shift;
		bool is_float = guess.floats & 1u << entry;
		struct debuginfo_param blank = {.name = "_", .full = "", .is_blank = true};

		if (!(guess.blanks & 1u << entry))
			continue;
		if (param < 0 || param > (int)list->params.count)
			return false;
		blank.type = guessed_type(dbg->types, &check->info, check->starts[entry], is_float);
		if (!blank.type)
			return false;
		debuginfo_insert(&list->params, param, &blank);
	}
	return true;
}

static bool try_guess(struct debuginfo *dbg, const struct debuginfo_check *check,
		      const struct debuginfo_list *list, struct guess guess,
		      struct debuginfo_params *out)
{
	struct debuginfo_list candidate = debuginfo_copy(list);

	if (with_blanks(dbg, check, guess, &candidate) && debuginfo_agrees(check, &candidate)) {
		free(out->items);
		*out = candidate.params;
		return true;
	}
	free(candidate.params.items);
	return false;
}

/* Tries all choices of floats among the blanks, none first. */
static bool try_blanks(struct debuginfo *dbg, const struct debuginfo_check *check,
		       const struct debuginfo_list *list, unsigned blanks,
		       struct debuginfo_params *out)
{
	unsigned floats = 0;

	do {
		if (try_guess(dbg, check, list, (struct guess){blanks, floats}, out))
			return true;
		floats = (floats - blanks) & blanks; /* the next subset */
	} while (floats);
	return false;
}

/* Only one order of parameters may agree. */
static bool fill_by_entries(struct debuginfo *dbg, const struct debuginfo_check *check,
			    struct debuginfo_list *list)
{
	int inputs = list->params.count + (list->dictionary >= 0) - list->generic;
	int missing = (int)check->entries - inputs;
	struct debuginfo_params found = {0};
	unsigned ways = 0;

	if (missing <= 0 || missing > MAX_BLANKS)
		return false;
	for (unsigned blanks = 1; blanks < 1u << check->entries && ways < 2; blanks++)
		if (__builtin_popcount(blanks) == missing)
			ways += try_blanks(dbg, check, list, blanks, &found);
	if (ways == 1) {
		free(list->params.items);
		list->params = found;
	} else {
		free(found.items);
	}
	return ways == 1;
}

/* --- before Go 1.17: all are on the stack, and DWARF says where most of them are --- */

static bool fill_gap(struct debuginfo *dbg, struct debuginfo_params *params, size_t at,
		     uint64_t bytes)
{
	struct debuginfo_param blank = {.name = "_", .full = "", .is_blank = true};
	size_t before = at;

	/* it may belong before a parameter whose place DWARF does not tell */
	while (before && !params->items[before - 1].type->size)
		before--;
	if (before && !params->items[before - 1].is_exact)
		return false;
	blank.type = unknown_type(dbg->types, bytes, 1);
	debuginfo_insert(params, at, &blank);
	return true;
}

static bool fill_by_places(struct debuginfo *dbg, struct debuginfo_list *list)
{
	struct debuginfo_params *params = &list->params;
	uint64_t off = 0;

	for (size_t i = 0; i < params->count; i++) {
		const struct debuginfo_param *param = &params->items[i];
		uint32_t align = param->type->align ? param->type->align : 1;
		uint64_t begin = (off + align - 1) / align * align;

		if (param->is_placed && !param->place.in_register &&
		    param->place.n > (int64_t)begin) {
			if (!fill_gap(dbg, params, i, param->place.n - off))
				return false;
			begin = params->items[++i].place.n;
		}
		off = begin + params->items[i].type->size;
	}
	return true;
}

static bool fill_end(struct debuginfo *dbg, const struct debuginfo_check *check,
		     struct debuginfo_list *list)
{
	struct gofunc fn = {.dictionary = -1};
	struct abi_layout layout;
	uint32_t size;

	fn.params = debuginfo_take(&list->params);
	fn.param_count = list->params.count;
	fn.results = debuginfo_take(&list->results);
	fn.result_count = list->results.count;
	abi_layout(&fn, image_arch(check->img), ABI_STACK, &layout);
	size = (layout.args_size + WORD - 1) / WORD * WORD;
	abi_layout_free(&layout);
	free(fn.params);
	free(fn.results);
	return !check->has_args || check->args <= (int64_t)size ||
	       fill_gap(dbg, &list->params, list->params.count, check->args - size);
}

/* --- */

static void find_entries(struct debuginfo_check *check)
{
	for (size_t at = 0; at < check->info.count && check->entries < DEBUGINFO_ENTRIES;) {
		if (check->info.items[at].kind == ARGINFO_MORE)
			break;
		check->starts[check->entries++] = at;
		at = arginfo_next(&check->info, at);
	}
}

static void read_spills(struct debuginfo *dbg, const struct functab_func *fn, struct spills *out)
{
	uint64_t len = fn->end - fn->addr;
	struct insn_code code = {image_at(dbg->img, fn->addr, len), len, fn->addr};

	if (!dbg->dec)
		dbg->dec = insn_decoder_new(image_arch(dbg->img));
	if (!code.bytes || !spills_read(dbg->dec, &code, image_arch(dbg->img), out))
		out->count = 0;
}

static bool fill_blanks(struct debuginfo *dbg, const struct debuginfo_check *check,
			struct debuginfo_list *list)
{
	if (check->has_info)
		return fill_by_entries(dbg, check, list);
	return !check->wants_info && fill_by_places(dbg, list) && fill_end(dbg, check, list) &&
	       debuginfo_agrees(check, list);
}

bool debuginfo_complete(struct debuginfo *dbg, uint64_t addr, struct debuginfo_list *list)
{
	struct debuginfo_check check = {.img = dbg->img};
	struct functab_func fn;
	int32_t args = 0;

	if (!dbg->tab || !functab_find(dbg->tab, addr, &fn))
		return true;
	check.convention = abi_convention(image_arch(dbg->img), dbg->release);
	check.has_args = !fn.is_asm && functab_args_size(dbg->tab, &fn, &args) && args >= 0;
	check.args = args;
	check.wants_info = dbg->release >= RELEASE_ARGINFO && !fn.is_asm;
	check.wants_places = dbg->release < RELEASE_BLANKS_IN_DWARF;
	check.has_info = check.wants_info && arginfo_read(dbg->img, dbg->tab, &fn, &check.info);
	find_entries(&check);
	if (debuginfo_agrees(&check, list))
		return true;
	if (!check.wants_places)
		return false;
	if (check.has_info && check.convention == ABI_REGISTERS)
		read_spills(dbg, &fn, &check.spills);
	return fill_blanks(dbg, &check, list);
}
