// SPDX-License-Identifier: Apache-2.0
/* Inlined copies: DW_TAG_inlined_subroutine within a function, and within each other. A parameter
 * without any place may be missing in a copy, so names and types are taken from its origin. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "dwarf/debuginfo_params_internal.h"
#include "dwarf/dietree_internal.h"
#include "dwarf/dietree_place_internal.h"

enum { NESTING_MAX = 64, DIES_MAX = 1 << 20, VARIABLES_MAX = 1000 };

static struct dietree *tree_of_places(struct debuginfo *dbg)
{
	if (dbg->has_places)
		return dbg->tree;
	if (!dbg->places)
		dbg->places = debuginfo_file_again(dbg->img, &dbg->file, true);
	return dbg->places;
}

static void note_lowest(uint64_t from, uint64_t to, void *ctx)
{
	uint64_t *lowest = ctx;

	if (from < to && from < *lowest)
		*lowest = from;
}

/* pclntab has main.Map[...] where DWARF has main.Map[go.shape.int] */
static bool is_name(const char *dwarf, const char *pclntab)
{
	const char *open = strchr(pclntab, '['), *close = strrchr(dwarf, ']');
	size_t before = open ? open - pclntab : 0;

	if (!open || strncmp(open, "[...]", 5) != 0)
		return strcmp(dwarf, pclntab) == 0;
	return close && strncmp(dwarf, pclntab, before + 1) == 0 &&
	       strcmp(close + 1, strchr(open, ']') + 1) == 0;
}

struct search {
	const char *name;
	uint64_t addr;
	struct die found;
	size_t count;
};

static void look_at(struct search *search, const struct die *die)
{
	struct die origin;
	uint64_t lowest = UINT64_MAX;
	const char *name;

	if (die_tag(die) != DIE_INLINED || !die_reference(die, DIE_ORIGIN, &origin))
		return;
	name = die_name(&origin);
	die_each_range(die, note_lowest, &lowest);
	if (!name || lowest != search->addr || !is_name(name, search->name))
		return;
	search->found = *die;
	search->count++;
}

/* All that is below a function's DIE */
static void walk(struct search *search, const struct die *func)
{
	struct die path[NESTING_MAX];
	size_t depth = 0;

	if (!die_child(func, &path[depth++]))
		return;
	for (unsigned left = DIES_MAX; depth && left; left--) {
		struct die *at = &path[depth - 1];
		enum die_tag tag = die_tag(at);

		look_at(search, at);
		if ((tag == DIE_INLINED || tag == DIE_BLOCK) && depth < NESTING_MAX &&
		    die_child(at, &path[depth])) {
			depth++;
			continue;
		}
		while (depth && !die_sibling(&path[depth - 1], &path[depth - 1]))
			depth--;
	}
}

struct fill {
	struct gotypes *types;
	struct debuginfo_location *items;
	size_t count, cap;
};

static void add_location(uint64_t from, uint64_t to, const struct die_pieces *pieces, void *ctx)
{
	struct fill *fill = ctx;
	struct die_piece *copy = gotypes_alloc(fill->types, pieces->count, sizeof(*copy));

	if (pieces->count)
		memcpy(copy, pieces->items, pieces->count * sizeof(*copy));
	fill->items = mem_grow(fill->items, fill->count, &fill->cap, sizeof(*fill->items));
	fill->items[fill->count++] =
		(struct debuginfo_location){from, to, copy, pieces->count, pieces->size};
}

static void read_variable(struct debuginfo *dbg, const struct die *die,
			  struct debuginfo_variable *out)
{
	struct fill fill = {.types = dbg->types};

	die_each_location(die, add_location, &fill);
	out->count = fill.count;
	out->locations = gotypes_alloc(dbg->types, fill.count, sizeof(*fill.items));
	if (fill.count)
		memcpy(out->locations, fill.items, fill.count * sizeof(*fill.items));
	free(fill.items);
}

static struct debuginfo_variable *find_variable(const struct gofunc *sig, const struct die *die,
						struct debuginfo_variable *vars)
{
	struct die origin;
	const char *name = die_reference(die, DIE_ORIGIN, &origin) ? die_name(&origin) : NULL;

	for (size_t i = 0; name && *name && strcmp(name, "_") != 0 && i < sig->param_count; i++)
		if (strcmp(sig->params[i].name, name) == 0)
			return &vars[i];
	return NULL;
}

int debuginfo_inlined(struct debuginfo *dbg, uint64_t func, const char *name, uint64_t copy,
		      struct gofunc *out, struct debuginfo_variable **vars)
{
	struct search search = {.name = name, .addr = copy};
	struct dietree *tree = tree_of_places(dbg);
	struct debuginfo_variable *var;
	struct die parent, origin, die;
	unsigned left = VARIABLES_MAX;

	if (!tree || !debuginfo_find_function(dbg, func, &parent) ||
	    !dietree_at(tree, die_off(&parent), &parent))
		return -1;
	walk(&search, &parent);
	if (search.count != 1 || !die_reference(&search.found, DIE_ORIGIN, &origin) ||
	    !dietree_at(dbg->tree, die_off(&origin), &origin))
		return -1;
	debuginfo_abstract(dbg, &origin, name, out);
	*vars = gotypes_alloc(dbg->types, out->param_count, sizeof(**vars));
	for (bool more = die_child(&search.found, &die); more && left--;
	     more = die_sibling(&die, &die))
		if (die_tag(&die) == DIE_PARAMETER && (var = find_variable(out, &die, *vars)) &&
		    !var->count)
			read_variable(dbg, &die, var);
	return 0;
}
