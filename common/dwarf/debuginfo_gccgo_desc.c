// SPDX-License-Identifier: Apache-2.0
/* GCC's DWARF does not tell the package of exported types. Where such a type was declared there is
 * the variable that holds its run-time descriptor, example.com/lib.Thing..d. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "dwarf/debuginfo_gccgo_internal.h"
#include "elf/image.h"
#include "golang/gokind.h"
#include "program/typedesc.h"
#include "program/typedesc_gccgo.h"
#include "dwarf/dietree_internal.h"

enum { MAX_DIES = 1 << 24 };

static const char SUFFIX[] = "..d";

static int by_type_name(const void *a, const void *b)
{
	const struct debuginfo_desc *x = a, *y = b;
	int order = strcmp(x->last, y->last);

	return order ? order : strcmp(x->full, y->full);
}

static void add_desc(struct debuginfo *dbg, struct debuginfo_unit *unit, const char *name,
		     uint64_t addr)
{
	size_t len = strlen(name), suffix = sizeof(SUFFIX) - 1;

	if (len <= suffix || strcmp(name + len - suffix, SUFFIX) != 0 ||
	    strncmp(name, "type..", 6) == 0)
		return;
	const char *full = gotypes_text(dbg->types, name, len - suffix), *dot = strrchr(full, '.');

	if (!dot)
		return;
	unit->descs =
		mem_grow(unit->descs, unit->desc_count, &unit->desc_cap, sizeof(*unit->descs));
	unit->descs[unit->desc_count++] = (struct debuginfo_desc){dot + 1, full, addr};
}

static void index_descs(struct debuginfo *dbg, struct debuginfo_unit *unit)
{
	unsigned left = MAX_DIES;
	struct die die;
	uint64_t addr;

	if (unit->has_descs)
		return;
	unit->has_descs = true;
	for (bool more = die_child(&unit->die, &die); more && left;
	     more = die_sibling(&die, &die)) {
		const char *name = die_tag(&die) == DIE_VARIABLE ? die_name(&die) : NULL;

		left--;
		unit->has_types |= die_tag(&die) == DIE_BASE_TYPE || die_tag(&die) == DIE_TYPEDEF;
		if (name && die_address(&die, &addr))
			add_desc(dbg, unit, name, addr);
	}
	if (unit->desc_count)
		qsort(unit->descs, unit->desc_count, sizeof(*unit->descs), by_type_name);
}

/* Units are in the file's order. */
static struct debuginfo_unit *unit_of(struct debuginfo *dbg, const struct die *die)
{
	size_t low = 0, high = dbg->unit_count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (die_off(&dbg->units[mid].die) <= die_off(die))
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &dbg->units[low - 1] : NULL;
}

bool debuginfo_gccgo_has_types(struct debuginfo *dbg, const struct die *die)
{
	struct debuginfo_unit *unit = unit_of(dbg, die);

	if (unit)
		index_descs(dbg, unit);
	return unit && unit->has_types;
}

static size_t first_of_type(const struct debuginfo_unit *unit, const char *last)
{
	size_t low = 0, high = unit->desc_count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(unit->descs[mid].last, last) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Names that are not exported have their package in front: ".example.com/lib.thing". Types that
 * are declared in functions have the function's as well, but in their descriptor's name alone. */
const struct debuginfo_desc *debuginfo_gccgo_desc(struct debuginfo *dbg, const struct die *def)
{
	struct debuginfo_unit *unit = unit_of(dbg, def);
	const char *name = die_name(def), *dot = name ? strrchr(name, '.') : NULL;
	const char *last = dot ? dot + 1 : name;
	const struct debuginfo_desc *found = NULL;
	size_t package = dot ? dot - name : 0;

	if (!unit || !name)
		return NULL;
	index_descs(dbg, unit);
	for (size_t i = first_of_type(unit, last);
	     i < unit->desc_count && !strcmp(unit->descs[i].last, last); i++) {
		if (package && strncmp(unit->descs[i].full, name + 1, package - 1) != 0)
			continue;
		if (found)
			return NULL;
		found = &unit->descs[i];
	}
	return found;
}

const char *debuginfo_gccgo_desc_name(struct debuginfo *dbg, const struct debuginfo_desc *desc,
				      enum gotype_kind kind, uint64_t size)
{
	const struct typedesc_module mod = {.img = dbg->img, .dialect = &typedesc_gccgo};
	struct typedesc found;

	if (!typedesc_read(&mod, desc->addr, &found) || gokind_type(found.kind) != kind ||
	    (size != DEBUGINFO_SIZE_LATER && found.size != size))
		return NULL;
	char *plain = mem_zalloc(found.name.len + 1, 1);
	size_t len = typedesc_plain(&mod, &found.name, plain);
	const char *kept = gotypes_text(dbg->types, plain, len);

	free(plain);
	return kept;
}

void debuginfo_ask(struct debuginfo *dbg, const struct debuginfo_foreign *foreign)
{
	dbg->foreign = *foreign;
}

const char *debuginfo_gccgo_foreign_name(struct debuginfo *dbg, const struct die *def,
					 enum gotype_kind kind, uint64_t size)
{
	struct debuginfo_unit *unit = unit_of(dbg, def);
	const char *name = die_name(def);

	if (!unit || !name || !isupper((unsigned char)*name) || !dbg->foreign.find)
		return NULL;
	index_descs(dbg, unit);

	size_t own = first_of_type(unit, name);

	if (own < unit->desc_count && !strcmp(unit->descs[own].last, name))
		return NULL;
	return dbg->foreign.find(dbg->foreign.ctx, name, kind, size);
}
