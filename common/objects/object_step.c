// SPDX-License-Identifier: Apache-2.0
#include "objects/object_step_internal.h"

#include <stddef.h>

#include "golang/gotype.h"
#include "objects/object_kinds_internal.h"

enum { NESTING_MAX = 64 };

static const struct gotype *type_of(const struct object_kind *kind)
{
	if (!kind || (kind->role != OBJECT_VALUE && kind->role != OBJECT_ARRAY &&
		      kind->role != OBJECT_BUFFER))
		return NULL;
	return kind->type && kind->type->size ? kind->type : NULL;
}

static const struct gotype_field *field_at(const struct gotype *type, uint64_t off)
{
	for (size_t i = 0; i < type->field_count; i++) {
		const struct gotype_field *field = &type->fields[i];

		if (off >= field->off && off - field->off < field->type->size)
			return field;
	}
	return NULL;
}

/* One level into a value; NULL: it is no struct or array, or has nothing there. *off is then within
 * what is returned. */
static const struct gotype *enter(const struct gotype *type, uint64_t *off,
				  const struct gotype_field **field)
{
	*field = NULL;
	if (type->kind == GOTYPE_ARRAY && type->elem && type->elem->size) {
		*off %= type->elem->size;
		return type->elem;
	}
	*field = type->kind == GOTYPE_STRUCT ? field_at(type, *off) : NULL;
	if (!*field)
		return NULL;
	*off -= (*field)->off;
	return (*field)->type;
}

uint64_t object_step(const struct object_kind *kind, uint64_t off)
{
	const struct gotype *type = type_of(kind);
	const struct gotype_field *field;
	uint64_t step = 0;

	if (!type)
		return 0;
	off %= type->size;
	for (int i = 0; type && i < NESTING_MAX; i++) {
		type = enter(type, &off, &field);
		step += field ? field->off : 0;
	}
	return step;
}

void object_step_print(FILE *out, const struct object_kind *kind, uint64_t step)
{
	const struct gotype *type = type_of(kind);
	const struct gotype_field *field;

	for (int i = 0; type && i < NESTING_MAX; i++) {
		type = enter(type, &step, &field);
		if (field)
			fprintf(out, ".%s", field->name ? field->name : "?");
		else if (type)
			fputs("[]", out);
	}
}

static bool leaf_is_pointer(const struct gotype *type, uint64_t off)
{
	switch (type->kind) {
	case GOTYPE_POINTER:
	case GOTYPE_MAP:
	case GOTYPE_CHAN:
	case GOTYPE_FUNC:
	case GOTYPE_STRING:
	case GOTYPE_SLICE:
		return off == 0;
	case GOTYPE_INTERFACE:
		return off == 8; /* types are not in the heap */
	case GOTYPE_UNKNOWN:
	case GOTYPE_STRUCT: /* too deep, or the space between two fields */
	case GOTYPE_ARRAY:
		return true;
	default:
		return false;
	}
}

bool object_step_is_pointer(const struct object_kind *kind, uint64_t off)
{
	const struct gotype *type = type_of(kind), *inner = type;
	const struct gotype_field *field;

	if (!type)
		return true;
	off %= type->size;
	for (int i = 0; inner && i < NESTING_MAX; i++) {
		type = inner;
		inner = enter(type, &off, &field);
	}
	return leaf_is_pointer(type, off);
}
