// SPDX-License-Identifier: Apache-2.0
#include "blocked/alloc_types.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/index.h"
#include "base/mem.h"
#include "golang/gotype.h"
#include "program/program.h"
#include "rtti/rtti.h"

enum { KNOWN_MAX = 1 << 18 }; /* more than programs have, unless they lie */

struct known {
	uint64_t addr;
	bool many;
	char *name;
};

struct alloc_types {
	struct gotypes *memory;
	struct rtti *rtti; /* NULL: none was found */
	struct index index;
	struct known *all;
	size_t cap;
};

struct alloc_types *alloc_types_new(const struct program *prog)
{
	struct alloc_types *types = mem_zalloc(1, sizeof(*types));

	types->memory = gotypes_new();
	types->rtti = rtti_open(prog->img, prog->tab, prog->release, types->memory, NULL);
	return types;
}

void alloc_types_free(struct alloc_types *types)
{
	if (!types)
		return;
	for (size_t i = 0; i < types->index.count; i++)
		free(types->all[i].name);
	free(types->all);
	index_free(&types->index);
	rtti_close(types->rtti);
	gotypes_free(types->memory);
	free(types);
}

static char *name_of(const struct alloc_types *types, uint64_t addr, bool many)
{
	const struct gotype *type = NULL;

	if (!addr)
		return mem_strdup("noscan");
	if (types->rtti)
		type = rtti_type(types->rtti, addr);
	if (!type)
		return mem_printf("%stype %#" PRIx64, many ? "[]" : "", addr);
	return mem_printf("%s%s", many ? "[]" : "", type->name);
}

const char *alloc_types_name(struct alloc_types *types, uint64_t addr, bool many)
{
	uint64_t hash = index_hash(index_hash(0, addr), many);
	size_t n = index_first(&types->index, hash);

	while (n != INDEX_NONE && (types->all[n].addr != addr || types->all[n].many != many))
		n = index_next(&types->index, n);
	if (n == INDEX_NONE && types->index.count == KNOWN_MAX)
		return "one of too many types";
	if (n == INDEX_NONE) {
		types->all =
			mem_grow(types->all, types->index.count, &types->cap, sizeof(*types->all));
		n = index_add(&types->index, hash);
		types->all[n] = (struct known){addr, many, name_of(types, addr, many)};
	}
	return types->all[n].name;
}
