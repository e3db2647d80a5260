// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"
#include "dwarf/debuginfo_params_internal.h"
#include "elf/image.h"
#include "golang/funcname.h"
#include "golang/release.h"
#include "dwarf/dietree_internal.h"
#include "dwarf/dietree_place_internal.h"

enum {
	MAX_PARAMS = 1000,
	NAME_MAX_LEN = 1000, /* bytes of a parameter's name */
	WORD = 8,
};

static const char *name_of_param(const struct die *die)
{
	const char *name = die_name(die);
	struct die origin;

	if (!name && die_reference(die, DIE_ORIGIN, &origin))
		name = die_name(&origin);
	return name ? name : "";
}

/* Nobody writes a longer one: it is as good as none. */
static const char *param_name(const struct die *die)
{
	const char *name = name_of_param(die);

	return strnlen(name, NAME_MAX_LEN + 1) <= NAME_MAX_LEN ? name : "";
}

/* Some results are listed twice. */
static bool is_listed(const struct debuginfo_params *params, const struct debuginfo_param *param)
{
	const char *name = param->name;

	if (!*name || strcmp(name, "_") == 0)
		return false;
	for (size_t i = 0; i < params->count; i++)
		if (params->items[i].hash == param->hash &&
		    strcmp(params->items[i].name, name) == 0)
			return true;
	return false;
}

static bool is_whole(const struct die_place *place, const struct gotype *type)
{
	switch (type->kind) {
	case GOTYPE_COMPLEX:
	case GOTYPE_STRING:
	case GOTYPE_SLICE:
	case GOTYPE_ARRAY:
	case GOTYPE_STRUCT:
	case GOTYPE_INTERFACE:
		return place->size == type->size || place->size == UINT64_MAX;
	default:
		return true;
	}
}

static void list_param(struct debuginfo *dbg, const struct die *die, uint64_t addr,
		       struct debuginfo_list *list)
{
	struct debuginfo_params *params = &list->params;
	struct debuginfo_param param = {.name = param_name(die)};
	struct die typed = *die, origin;
	uint64_t is_result = 0;

	if (die_reference(die, DIE_ORIGIN, &origin))
		typed = origin;
	if (die_number(&typed, DIE_IS_RESULT, &is_result) && is_result)
		params = &list->results;
	param.hash = index_hash_text(0, param.name);
	if (is_listed(params, &param))
		return;
	if (strcmp(param.name, ".dict") == 0) {
		list->has_dictionary = true;
		return;
	}
	param.type = debuginfo_type_of(dbg, &typed);
	param.full = debuginfo_full_name(&typed);
	param.is_placed = die_place(die, addr, &param.place);
	/* on arm64 the saved link register is below the first stack argument */
	if (param.is_placed && !param.place.in_register && image_arch(dbg->img) == ARCH_ARM64)
		param.place.n -= WORD;
	param.listed = params->count + 1;
	param.is_exact = param.is_placed && is_whole(&param.place, param.type);
	debuginfo_insert(params, params->count, &param);
}

static void list_params(struct debuginfo *dbg, const struct die *func, uint64_t addr,
			struct debuginfo_list *list)
{
	struct die die;
	unsigned left = MAX_PARAMS;

	for (bool more = die_child(func, &die); more && left; more = die_sibling(&die, &die))
		if (die_tag(&die) == DIE_PARAMETER) {
			list_param(dbg, &die, addr, list);
			left--;
		}
}

void debuginfo_insert(struct debuginfo_params *params, size_t at,
		      const struct debuginfo_param *param)
{
	struct debuginfo_param *items =
		mem_grow(params->items, params->count, &params->cap, sizeof(*items));

	memmove(items + at + 1, items + at, (params->count - at) * sizeof(*items));
	items[at] = *param;
	params->items = items;
	params->count++;
}

/* "*net/http.Server" of "net/http.(*Server).Serve"; the caller frees it */
static char *receiver_type(const char *name, const struct funcname *parts)
{
	return mem_printf("%s%.*s.%.*s", parts->pointer ? "*" : "", (int)parts->package_len, name,
			  (int)parts->receiver_len, parts->receiver);
}

static const struct gotype *find_receiver(struct debuginfo *dbg, const char *full)
{
	const struct gotype *type = debuginfo_type(dbg, full);

	if (type || *full != '*')
		return type;
	type = debuginfo_type(dbg, full + 1);
	return type ? gotypes_pointer(dbg->types, type) : NULL;
}

/* Up to Go 1.16 parameters are sorted by place: one of size 0 may be listed after the next one. */
static void sort_receiver(struct debuginfo_params *params, const char *full)
{
	struct debuginfo_param first;

	if (params->count < 2 || params->items[1].type->size ||
	    strcmp(params->items[1].full, full) != 0)
		return;
	first = params->items[1];
	params->items[1] = params->items[0];
	params->items[0] = first;
}

static bool complete(struct debuginfo *dbg, const struct die *func, uint64_t addr,
		     struct debuginfo_list *list)
{
	struct die origin;

	/* the list of a function that is inlined elsewhere is in source order */
	if (dbg->release >= RELEASE_DWARF_IN_ORDER || die_reference(func, DIE_ORIGIN, &origin))
		return debuginfo_complete(dbg, addr, list);
	if (list->receiver && list->params.count && !list->params.items[0].is_placed)
		list->params.items[0].is_placed = list->params.items[0].is_exact = true; /* at 0 */
	return debuginfo_order(dbg, addr, list);
}

/* Up to Go 1.21 a receiver without a name is missing. */
static bool take_receiver(struct debuginfo *dbg, const char *name, const struct funcname *parts,
			  struct debuginfo_params *params)
{
	const struct gotype *type;
	char *full;
	bool found;

	if (!parts->receiver)
		return false;
	full = receiver_type(name, parts);
	if (dbg->release < RELEASE_DWARF_IN_ORDER)
		sort_receiver(params, full);
	found = params->count && strcmp(params->items[0].full, full) == 0;
	if (!found && dbg->release < RELEASE_BLANKS_IN_DWARF && (type = find_receiver(dbg, full))) {
		struct debuginfo_param missing = {.name = "_", .full = "", .type = type};

		missing.is_placed = missing.is_exact =
			dbg->release < RELEASE_DWARF_IN_ORDER; /* at 0 */
		debuginfo_insert(params, 0, &missing);
		found = true;
	}
	free(full);
	return found;
}

struct goparam *debuginfo_take(const struct debuginfo_params *params)
{
	struct goparam *all = mem_zalloc(params->count + 1, sizeof(*all));

	for (size_t i = 0; i < params->count; i++)
		all[i] = (struct goparam){.name = params->items[i].name,
					  .type = params->items[i].type};
	return all;
}

/* The compiler names what has no name: ~p0, ~b0, and results ~r0, which up to Go 1.17 are numbered
 * from the first parameter on. */
static const char *keep_name(struct gotypes *types, const char *name, size_t index, bool is_result)
{
	char number[32];

	if (*name == '~')
		name = "_";
	if (is_result && (!*name || strcmp(name, "_") == 0)) {
		snprintf(number, sizeof(number), "~r%zu", index);
		name = number;
	}
	return gotypes_text(types, name, strlen(name));
}

static struct goparam *keep_params(struct gotypes *types, const struct debuginfo_params *params,
				   bool are_results)
{
	struct goparam *all = gotypes_alloc(types, params->count, sizeof(*all));

	for (size_t i = 0; i < params->count; i++) {
		all[i].name = keep_name(types, params->items[i].name, i, are_results);
		all[i].type = params->items[i].type;
		all[i].is_guess = params->items[i].is_guess;
	}
	return all;
}

int debuginfo_signature(struct debuginfo *dbg, const struct die *func, uint64_t addr,
			const char *functab_name, struct gofunc *out)
{
	const char *own = name_of_param(func), *name = *own ? own : functab_name;
	struct debuginfo_list list = {.dictionary = -1};
	struct funcname parts;
	bool is_certain;

	funcname_parse(name, &parts);
	list_params(dbg, func, addr, &list);
	list.generic = parts.generic;
	*out = (struct gofunc){.source = GOFUNC_DEBUGINFO};
	out->receiver = take_receiver(dbg, name, &parts, &list.params);
	if (list.has_dictionary || parts.shapes)
		list.dictionary = out->receiver && dbg->release >= RELEASE_DICTIONARY_SECOND;
	list.receiver = out->receiver;
	is_certain = complete(dbg, func, addr, &list);
	out->params = keep_params(dbg->types, &list.params, false);
	out->param_count = list.params.count;
	out->results = keep_params(dbg->types, &list.results, true);
	out->result_count = list.results.count;
	out->dictionary = list.dictionary;
	free(list.params.items);
	free(list.results.items);
	return is_certain ? 0 : -1;
}

void debuginfo_abstract(struct debuginfo *dbg, const struct die *func, const char *functab_name,
			struct gofunc *out)
{
	const char *own = name_of_param(func), *name = *own ? own : functab_name;
	struct debuginfo_list list = {.dictionary = -1};
	struct funcname parts;

	funcname_parse(name, &parts);
	list_params(dbg, func, 0, &list);
	*out = (struct gofunc){.source = GOFUNC_DEBUGINFO, .dictionary = -1};
	out->receiver = take_receiver(dbg, name, &parts, &list.params);
	for (size_t i = out->receiver; i < list.params.count; i++)
		list.params.items[i].is_guess = dbg->release < RELEASE_BLANKS_IN_DWARF;
	out->params = keep_params(dbg->types, &list.params, false);
	out->param_count = list.params.count;
	out->results = keep_params(dbg->types, &list.results, true);
	out->result_count = list.results.count;
	free(list.params.items);
	free(list.results.items);
}
