// SPDX-License-Identifier: Apache-2.0
/* Up to Go 1.21 parameters without a name are missing from DWARF, so that those after them would be
 * taken from the wrong places. What else is known of a function tells where they belong: the sizes
 * and places of its parameters (ArgInfo, from Go 1.17), their total size, and where DWARF says that
 * the others are. */
#include <stdlib.h>

#include "dwarf/debuginfo_params_internal.h"
#include "elf/image.h"
#include "dwarf/dietree_place_internal.h"

enum { WORD = 8 };

/* --- is each parameter where DWARF says that it is at the function's first instruction? --- */

static bool is_piece(enum arch arch, const struct die_place *place, const struct abi_piece *piece)
{
	const struct registers_general *reg = abi_register(arch, piece);

	switch (piece->where) {
	case ABI_INT:
		return place->in_register && reg && place->n == reg->dwarf;
	case ABI_FLOAT:
		return place->in_register && registers_float(arch, place->n) == (int)piece->n;
	default:
		return !place->in_register && place->n >= (int64_t)piece->n &&
		       place->n < (int64_t)piece->n + piece->size;
	}
}

static bool is_at(enum arch arch, const struct debuginfo_param *param,
		  const struct abi_value *value)
{
	const struct die_place *place = &param->place;
	size_t tried = param->is_exact && value->count ? 1 : value->count;

	if (param->is_exact && !place->in_register)
		return value->pieces->where == ABI_SLOT && place->n == (int64_t)value->slot;
	for (size_t i = 0; i < tried; i++)
		if (is_piece(arch, place, &value->pieces[i]))
			return true;
	return false;
}

/* What comes after a parameter whose type is not known has to be confirmed. */
static bool are_placed(const struct debuginfo_check *check, const struct debuginfo_params *params,
		       const struct abi_layout *layout)
{
	enum arch arch = image_arch(check->img);
	bool after_unknown = false, confirmed = check->spills.count;

	for (size_t i = 0; i < params->count; i++) {
		const struct debuginfo_param *param = &params->items[i];
		const struct abi_value *value = &layout->params[i];

		if (value->count && param->is_placed && !is_at(arch, param, value))
			return false;
		if (value->count && !param->is_placed && after_unknown && !param->is_blank)
			return false;
		after_unknown |= param->is_blank && !confirmed;
	}
	return true;
}

bool debuginfo_has_blanks(const struct debuginfo_params *params)
{
	for (size_t i = 0; i < params->count; i++)
		if (params->items[i].is_blank)
			return true;
	return false;
}

/* --- does ArgInfo tell the same? --- */

static int first_off(const struct arginfo *info, size_t at)
{
	while (at < info->count && info->items[at].kind == ARGINFO_OPEN)
		at++;
	return at < info->count && info->items[at].kind == ARGINFO_VALUE ? info->items[at].off : -1;
}

/* The entry of ArgInfo that tells of parameter i; -1: none, as of the first input of a function
 * with type arguments, be that the dictionary or not. */
static int entry_of(const struct debuginfo_list *list, int i)
{
	return i + (list->dictionary >= 0 && i >= list->dictionary) - list->generic;
}

static bool is_told(const struct debuginfo_check *check, const struct debuginfo_list *list,
		    const struct abi_layout *layout, size_t i)
{
	int entry = entry_of(list, i);
	size_t at;

	if (entry < 0 || (check->info.truncated && entry >= (int)check->entries))
		return true;
	if (entry >= (int)check->entries)
		return false;
	at = check->starts[entry];
	if (!list->params.items[i].is_blank &&
	    !arginfo_fits(&check->info, at, list->params.items[i].type))
		return false;

	int off = first_off(&check->info, at);

	return off < 0 || !layout->params[i].count || layout->params[i].slot == (uint32_t)off;
}

static bool are_told(const struct debuginfo_check *check, const struct debuginfo_list *list,
		     const struct abi_layout *layout)
{
	int inputs = entry_of(list, list->params.count);

	if (check->info.truncated ? inputs < (int)check->entries : inputs != (int)check->entries)
		return false;
	for (size_t i = 0; i < list->params.count; i++)
		if (!is_told(check, list, layout, i))
			return false;
	return true;
}

static bool agrees_with(const struct debuginfo_check *check, const struct debuginfo_list *list,
			const struct gofunc *fn, enum abi_convention convention)
{
	struct abi_layout layout;
	bool agrees;

	abi_layout(fn, image_arch(check->img), convention, &layout);
	agrees = !check->has_args ||
		 check->args == ((int64_t)layout.args_size + WORD - 1) / WORD * WORD;
	if (check->has_info)
		agrees = agrees && are_told(check, list, &layout);
	if (check->spills.count)
		agrees = agrees && spills_fit(&check->spills, &layout, fn->dictionary >= 0);
	/* DWARF gives some functions wrong places, though it lists all their parameters */
	if (check->wants_places && (!check->has_info || debuginfo_has_blanks(&list->params)))
		agrees = agrees && are_placed(check, &list->params, &layout);
	abi_layout_free(&layout);
	return agrees;
}

bool debuginfo_agrees(const struct debuginfo_check *check, const struct debuginfo_list *list)
{
	struct gofunc fn = {.dictionary = list->dictionary};
	bool agrees;

	fn.params = debuginfo_take(&list->params);
	fn.param_count = list->params.count;
	fn.results = debuginfo_take(&list->results);
	fn.result_count = list->results.count;
	agrees = agrees_with(check, list, &fn, check->convention);
	/* as functions that assembly calls */
	if (!agrees && check->convention == ABI_REGISTERS)
		agrees = agrees_with(check, list, &fn, ABI_STACK);
	free(fn.params);
	free(fn.results);
	return agrees;
}
