/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of debugging information entries (DIEs) of one file, DWARF 2 to 5, compressed or not.
 * Every number in it is as hostile as the file: an offset may lead anywhere, a chain of references
 * in a circle. Walking children always ends. */
#ifndef DIETREE_H
#define DIETREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dietree;
struct errmsg;
struct image_sections;

struct die { /* belongs to its tree; copied freely */
	uintptr_t priv[4];
};

/* clang-format off */
enum die_tag {
	DIE_OTHER, DIE_SUBPROGRAM, DIE_PARAMETER, DIE_BASE_TYPE, DIE_STRUCT, DIE_MEMBER, DIE_ARRAY,
	DIE_SUBRANGE, DIE_POINTER, DIE_TYPEDEF, DIE_SUBROUTINE_TYPE, DIE_VARIABLE,
	DIE_INLINED, DIE_BLOCK
};
/* clang-format on */

/* ORIGIN: the abstract instance that an entry is a copy of; COUNT: of a subrange; IS_RESULT:
 * DW_AT_variable_parameter, which Go's compiler sets on results. GO_*: Go's own attributes
 * (src/cmd/internal/dwarf); PACKAGE is a unit's package name: the unit's name is the package's
 * path. */
enum die_attr {
	DIE_LOW_PC,
	DIE_TYPE,
	DIE_ORIGIN,
	DIE_BYTE_SIZE,
	DIE_COUNT,
	DIE_MEMBER_OFF,
	DIE_IS_RESULT,
	DIE_GO_KIND,
	DIE_GO_KEY,
	DIE_GO_ELEM,
	DIE_GO_EMBEDDED,
	DIE_GO_RUNTIME_TYPE,
	DIE_GO_PACKAGE,
	DIE_ENCODING, /* of a base type: DW_ATE_* */
	DIE_UPPER_BOUND,
	DIE_LINE,
	DIE_COLUMN
};

#endif
