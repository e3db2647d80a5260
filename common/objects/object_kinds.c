// SPDX-License-Identifier: Apache-2.0
#include "objects/object_kinds_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "golang/gotype.h"

enum { KINDS_MAX = UINT16_MAX - OBJECT_FIRST, NESTING_MAX = 64 };

void object_kinds_free(struct object_kinds *kinds)
{
	for (size_t i = 0; i < kinds->count; i++)
		free(kinds->all[i].name);
	free(kinds->all);
	index_free(&kinds->index);
	*kinds = (struct object_kinds){0};
}

/* A slice's header or a pointer to a map or channel has the same name as what it leads to. */
static bool leads_to_same(const struct gotype *type)
{
	return type && !type->defined &&
	       (type->kind == GOTYPE_SLICE || type->kind == GOTYPE_MAP ||
		type->kind == GOTYPE_CHAN);
}

static char *name_of(enum object_role role, const struct gotype *type, const char *name)
{
	static const char *const formats[] = {
		[OBJECT_VALUE] = "%s",
		[OBJECT_ARRAY] = "[]%s",
		[OBJECT_MAP] = "%s",
		[OBJECT_TABLE] = "%s (table)",
		[OBJECT_DIRECTORY] = "%s (directory)",
		[OBJECT_CHAN] = "chan %s",
		[OBJECT_BUFFER] = "chan %s (buffer)",
		[OBJECT_FUNC] = "func %s",
	};
	if (role == OBJECT_VALUE && leads_to_same(type))
		return mem_printf("%s (variable)", name);
	const char *mark = strstr(formats[role], "%s");

	return mem_printf("%.*s%s%s", (int)(mark - formats[role]), formats[role], name, mark + 2);
}

uint16_t object_kinds_number(struct object_kinds *kinds, enum object_role role, const void *of,
			     const struct gotype *type, const char *name)
{
	uint64_t hash = index_hash(index_hash(0, (uintptr_t)of), role);
	size_t n = index_first(&kinds->index, hash);

	while (n != INDEX_NONE && (kinds->all[n].of != of || kinds->all[n].role != role))
		n = index_next(&kinds->index, n);
	if (n != INDEX_NONE)
		return (uint16_t)(n + OBJECT_FIRST);
	if (kinds->count >= KINDS_MAX) {
		kinds->full = true;
		return OBJECT_UNKNOWN;
	}
	kinds->all = mem_grow(kinds->all, kinds->count, &kinds->cap, sizeof(*kinds->all));
	kinds->all[kinds->count++] = (struct object_kind){
		.role = role, .of = of, .type = type, .name = name_of(role, type, name)};
	return (uint16_t)(index_add(&kinds->index, hash) + OBJECT_FIRST);
}

const struct object_kind *object_kinds_get(const struct object_kinds *kinds, uint16_t number)
{
	return &kinds->all[number - OBJECT_FIRST];
}

/* What stands first in a value of the type; NULL: it is not made of others. */
static const struct gotype *first_of(const struct gotype *type)
{
	if (type->kind == GOTYPE_ARRAY)
		return type->count ? type->elem : NULL;
	if (type->kind != GOTYPE_STRUCT)
		return NULL;
	for (size_t i = 0; i < type->field_count; i++)
		if (type->fields[i].type->size)
			return type->fields[i].off ? NULL : type->fields[i].type;
	return NULL;
}

static bool begins_with(const struct gotype *outer, const struct gotype *inner)
{
	for (int i = 0; outer && i < NESTING_MAX; i++) {
		if (outer == inner)
			return true;
		outer = first_of(outer);
	}
	return false;
}

static bool is_plain(const struct object_kind *kind)
{
	return kind->role == OBJECT_VALUE || kind->role == OBJECT_ARRAY;
}

static bool contains(const struct object_kind *outer, const struct object_kind *inner)
{
	if (!is_plain(outer) || !is_plain(inner))
		return false;
	if (outer->type == inner->type) /* a pointer to the only element */
		return outer->role == OBJECT_ARRAY;
	return begins_with(outer->type, inner->type);
}

uint16_t object_kinds_merge(const struct object_kinds *kinds, uint16_t a, uint16_t b)
{
	if (a == b)
		return a;
	if (a < OBJECT_FIRST || b < OBJECT_FIRST) {
		if (a == OBJECT_SEVERAL || b == OBJECT_SEVERAL)
			return OBJECT_SEVERAL;
		return a > b ? a : b;
	}
	const struct object_kind *x = object_kinds_get(kinds, a), *y = object_kinds_get(kinds, b);

	/* a map's or a channel's pointer tells more than one within the runtime */
	if (is_plain(x) != is_plain(y))
		return is_plain(x) ? b : a;
	if (contains(x, y))
		return a;
	return contains(y, x) ? b : OBJECT_SEVERAL;
}
