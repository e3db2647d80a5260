// SPDX-License-Identifier: Apache-2.0
#include "dwarf/debuginfo.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "dwarf/debuginfo_dialect_internal.h"
#include "dwarf/debuginfo_params_internal.h"
#include "golang/release.h"
#include "machine/insn.h"
#include "program/moduledata.h"
#include "program/functab.h"
#include "program/toolchain.h"
#include "dwarf/dietree_internal.h"

enum {
	MAX_DIES = 1 << 24, /* children of one unit */
};

struct debuginfo_entry { /* a function's first address and its DIE's offset */
	uint64_t addr, off;
};

struct debuginfo_named {
	const char *name; /* in full, memory of the tree */
	uint64_t off;
};

static void add_range(uint64_t from, uint64_t to, void *ctx)
{
	struct debuginfo *dbg = ctx;

	dbg->ranges =
		mem_grow(dbg->ranges, dbg->range_count, &dbg->range_cap, sizeof(*dbg->ranges));
	dbg->ranges[dbg->range_count++] = (struct debuginfo_range){from, to, dbg->unit_count - 1};
}

static void add_package(struct debuginfo *dbg, const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	if (strcmp(slash ? slash + 1 : path, name) == 0)
		return;
	dbg->packages = mem_grow(dbg->packages, dbg->package_count, &dbg->package_cap,
				 sizeof(*dbg->packages));
	dbg->packages[dbg->package_count++] = (struct debuginfo_package){path, name};
}

static bool add_unit(const struct die *die, void *ctx)
{
	struct debuginfo *dbg = ctx;
	const char *path = die_name(die), *name;
	struct debuginfo_unit *unit;

	dbg->units = mem_grow(dbg->units, dbg->unit_count, &dbg->unit_cap, sizeof(*dbg->units));
	unit = &dbg->units[dbg->unit_count++];
	*unit = (struct debuginfo_unit){.die = *die};
	unit->is_runtime = path && strcmp(path, "runtime") == 0;
	if (path && die_text(die, DIE_GO_PACKAGE, &name))
		add_package(dbg, path, name);
	die_each_range(die, add_range, dbg);
	return true;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct debuginfo_range *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

static uint64_t find_types(const struct image *img, const struct functab *tab)
{
	uint64_t addr = tab ? functab_moduledata(tab) : 0;

	if (!addr)
		return 0;
	return moduledata_word(img, addr, moduledata_layout(functab_release_guess(tab))->types);
}

struct debuginfo *debuginfo_open(const struct image *img, const struct functab *tab, int release,
				 struct gotypes *types, struct errmsg *err)
{
	struct debuginfo_file file;
	struct debuginfo *dbg;

	if (debuginfo_file_find(img, release < RELEASE_BLANKS_IN_DWARF, &file, err) != 0)
		return NULL;
	dbg = mem_zalloc(1, sizeof(*dbg));
	*dbg = (struct debuginfo){.img = img,
				  .tab = tab,
				  .release = release,
				  .dialect = tab && functab_toolchain(tab)->gcc_dwarf
						     ? &debuginfo_gccgo
						     : &debuginfo_gc,
				  .types = types,
				  .file = file,
				  .tree = file.tree,
				  .types_addr = find_types(img, tab)};
	dbg->has_places = release < RELEASE_BLANKS_IN_DWARF;
	dietree_each_unit(dbg->tree, add_unit, dbg);
	if (dbg->range_count)
		qsort(dbg->ranges, dbg->range_count, sizeof(*dbg->ranges), compare_ranges);
	debuginfo_sort_packages(dbg);
	return dbg;
}

void debuginfo_close(struct debuginfo *dbg)
{
	if (!dbg)
		return;
	for (size_t i = 0; i < dbg->unit_count; i++) {
		free(dbg->units[i].funcs);
		free(dbg->units[i].descs);
	}
	free(dbg->units);
	free(dbg->ranges);
	free(dbg->packages);
	free(dbg->named);
	free(dbg->known);
	index_free(&dbg->by_off);
	free(dbg->queue);
	debuginfo_file_close(&dbg->file);
	dietree_close(dbg->places);
	insn_decoder_free(dbg->dec);
	free(dbg);
}

static int compare_entries(const void *a, const void *b)
{
	const struct debuginfo_entry *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static void first_range(uint64_t from, uint64_t to, void *ctx)
{
	uint64_t *first = ctx;

	(void)to;
	if (!*first)
		*first = from;
}

/* GCC tells the ranges of a function that it took apart: the first is where it begins. */
static bool address_of(const struct die *die, uint64_t *addr)
{
	if (die_number(die, DIE_LOW_PC, addr))
		return true;
	*addr = 0;
	die_each_range(die, first_range, addr);
	return *addr;
}

static void index_unit(struct debuginfo_unit *unit)
{
	struct die die;
	uint64_t addr;
	unsigned left = MAX_DIES;

	unit->indexed = true;
	for (bool more = die_child(&unit->die, &die); more && left;
	     more = die_sibling(&die, &die)) {
		left--;
		if (die_tag(&die) != DIE_SUBPROGRAM || !address_of(&die, &addr))
			continue;
		unit->funcs = mem_grow(unit->funcs, unit->count, &unit->cap, sizeof(*unit->funcs));
		unit->funcs[unit->count++] = (struct debuginfo_entry){addr, die_off(&die)};
	}
	if (unit->count)
		qsort(unit->funcs, unit->count, sizeof(*unit->funcs), compare_entries);
}

static struct debuginfo_unit *unit_of(struct debuginfo *dbg, uint64_t addr)
{
	size_t low = 0, high = dbg->range_count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (dbg->ranges[mid].from <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || addr >= dbg->ranges[low - 1].to)
		return NULL;
	return &dbg->units[dbg->ranges[low - 1].unit];
}

bool debuginfo_find_function(struct debuginfo *dbg, uint64_t addr, struct die *out)
{
	struct debuginfo_unit *unit = unit_of(dbg, addr);
	struct debuginfo_entry key = {.addr = addr}, *found;

	if (!unit)
		return false;
	if (!unit->indexed)
		index_unit(unit);
	if (!unit->count)
		return false;
	found = bsearch(&key, unit->funcs, unit->count, sizeof(key), compare_entries);
	return found && dietree_at(dbg->tree, found->off, out);
}

int debuginfo_func(struct debuginfo *dbg, uint64_t addr, const char *name, struct gofunc *out)
{
	struct die die;

	if (!debuginfo_find_function(dbg, addr, &die))
		return -1;
	return dbg->dialect->signature(dbg, &die, addr, name, out);
}

void debuginfo_place(struct debuginfo *dbg, uint64_t addr, const struct gofunc *sig, size_t param,
		     struct abi_value *out)
{
	struct die die;

	if (dbg->dialect->place && !sig->params[param].by_address &&
	    debuginfo_find_function(dbg, addr, &die))
		dbg->dialect->place(&die, addr, param, sig->params[param].type, out);
}

/* --- by name --- */

static int compare_named(const void *a, const void *b)
{
	const struct debuginfo_named *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void index_names(struct debuginfo *dbg, const struct debuginfo_unit *unit)
{
	struct die die;
	unsigned left = MAX_DIES;

	for (bool more = die_child(&unit->die, &die); more && left;
	     more = die_sibling(&die, &die)) {
		const char *name = dbg->dialect->name(dbg, &die);

		left--;
		if (!name)
			continue;
		dbg->named = mem_grow(dbg->named, dbg->named_count, &dbg->named_cap,
				      sizeof(*dbg->named));
		dbg->named[dbg->named_count++] = (struct debuginfo_named){name, die_off(&die)};
	}
}

static void index_all_names(struct debuginfo *dbg)
{
	if (dbg->named)
		return;
	for (size_t i = 0; i < dbg->unit_count; i++)
		if (dbg->units[i].is_runtime || !dbg->dialect->one_has_all)
			index_names(dbg, &dbg->units[i]);
	if (dbg->named)
		qsort(dbg->named, dbg->named_count, sizeof(*dbg->named), compare_named);
}

static bool ends_alike(const char *a, const char *b)
{
	const char *x = strrchr(a, '.'), *y = strrchr(b, '.');

	return x && y && strcmp(x, y) == 0;
}

/* A name that Go prints; several types may have it. */
static const struct gotype *type_of_short_name(struct debuginfo *dbg, const char *name)
{
	const struct gotype *found = NULL;

	for (size_t i = 0; i < dbg->named_count; i++) {
		const struct debuginfo_named *named = &dbg->named[i];

		if (!ends_alike(named->name, name) ||
		    strcmp(debuginfo_short_name(dbg, named->name), name) != 0)
			continue;

		const struct gotype *type = debuginfo_type_at(dbg, named->off);

		if (found && type && type != found)
			return NULL;
		found = type ? type : found;
	}
	return found;
}

const struct gotype *debuginfo_type(struct debuginfo *dbg, const char *name)
{
	struct debuginfo_named key = {.name = name}, *found = NULL;

	index_all_names(dbg);
	if (dbg->named)
		found = bsearch(&key, dbg->named, dbg->named_count, sizeof(key), compare_named);
	return found ? debuginfo_type_at(dbg, found->off) : type_of_short_name(dbg, name);
}
