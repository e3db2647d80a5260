// SPDX-License-Identifier: Apache-2.0
#include "dwarf/debuginfo_parts.h"

/* reflect.Kind */
enum {
	KIND_BOOL = 1,
	KIND_INT = 2,
	KIND_INT64 = 6,
	KIND_UINT = 7,
	KIND_UINTPTR = 12,
	KIND_FLOAT64 = 14,
	KIND_COMPLEX128 = 16,
	KIND_ARRAY,
	KIND_CHAN,
	KIND_FUNC,
	KIND_INTERFACE,
	KIND_MAP,
	KIND_POINTER,
	KIND_SLICE,
	KIND_STRING,
	KIND_STRUCT,
	KIND_UNSAFE_POINTER,
	KIND_MASK = 31,
};

enum gotype_kind debuginfo_kind(uint64_t kind)
{
	static const enum gotype_kind kinds[] = {
		[KIND_ARRAY] = GOTYPE_ARRAY,   [KIND_CHAN] = GOTYPE_CHAN,
		[KIND_FUNC] = GOTYPE_FUNC,     [KIND_INTERFACE] = GOTYPE_INTERFACE,
		[KIND_MAP] = GOTYPE_MAP,       [KIND_POINTER] = GOTYPE_POINTER,
		[KIND_SLICE] = GOTYPE_SLICE,   [KIND_STRING] = GOTYPE_STRING,
		[KIND_STRUCT] = GOTYPE_STRUCT, [KIND_UNSAFE_POINTER] = GOTYPE_POINTER,
	};

	kind &= KIND_MASK;
	if (kind == KIND_BOOL)
		return GOTYPE_BOOL;
	if (kind >= KIND_INT && kind <= KIND_INT64)
		return GOTYPE_INT;
	if (kind >= KIND_UINT && kind <= KIND_UINTPTR)
		return GOTYPE_UINT;
	if (kind > KIND_UINTPTR && kind <= KIND_FLOAT64)
		return GOTYPE_FLOAT;
	if (kind > KIND_FLOAT64 && kind <= KIND_COMPLEX128)
		return GOTYPE_COMPLEX;
	return kind < sizeof(kinds) / sizeof(*kinds) ? kinds[kind] : GOTYPE_UNKNOWN;
}

enum gotype_kind debuginfo_kind_of(const struct die *die)
{
	uint64_t number;

	if (die_number(die, DIE_GO_KIND, &number) && number & KIND_MASK)
		return debuginfo_kind(number);
	switch (die_tag(die)) {
	case DIE_STRUCT:
		return GOTYPE_STRUCT;
	case DIE_POINTER:
		return GOTYPE_POINTER;
	case DIE_ARRAY:
		return GOTYPE_ARRAY;
	case DIE_SUBROUTINE_TYPE:
		return GOTYPE_FUNC;
	default:
		return GOTYPE_UNKNOWN;
	}
}
