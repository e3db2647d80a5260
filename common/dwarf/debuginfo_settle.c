// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "dwarf/debuginfo_gccgo.h"

enum { MAX_NESTING = 64 /* structs and arrays within each other */ };

/* What does not hold together is not looked into. */
static void give_up(struct gotype *type)
{
	type->kind = GOTYPE_UNKNOWN;
	if (type->size == DEBUGINFO_SIZE_LATER)
		type->size = 0;
	type->align = 1;
	type->elem = NULL;
	type->count = 0;
	type->fields = NULL;
	type->field_count = 0;
}

static void settle_array(struct gotype *type)
{
	uint64_t size;

	if (!type->elem->align)
		return;
	if (__builtin_mul_overflow(type->elem->size, type->count, &size) ||
	    size > GOTYPE_SIZE_MAX || (type->size != DEBUGINFO_SIZE_LATER && size != type->size)) {
		give_up(type);
		return;
	}
	type->size = size;
	type->align = type->elem->align;
}

static void settle_struct(struct gotype *type)
{
	uint32_t align = 1;

	for (size_t i = 0; i < type->field_count; i++) {
		const struct gotype_field *field = &type->fields[i];

		if (!field->type->align)
			return;
		if (field->type->size > type->size - field->off) {
			give_up(type);
			return;
		}
		if (field->type->align > align)
			align = field->type->align;
	}
	type->align = align;
}

/* An alignment of 0 says that a type's parts are not settled themselves. Types that are part of
 * themselves never are. */
void debuginfo_settle(struct debuginfo_part *parts, size_t count)
{
	bool left = true;

	for (unsigned pass = 0; left && pass < MAX_NESTING; pass++) {
		left = false;
		for (size_t i = count; i-- > 0;) {
			struct gotype *type = parts[i].type;

			if (!type->align && type->kind == GOTYPE_ARRAY)
				settle_array(type);
			else if (!type->align)
				settle_struct(type);
			left |= !type->align;
		}
	}
	for (size_t i = 0; left && i < count; i++)
		if (!parts[i].type->align)
			give_up(parts[i].type);
}
