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

/* The tree of the file with these sections, which are not needed afterwards. NULL and *err: it
 * cannot be read. Without DWARF in the file there are no units. `locations`: die_place() and
 * die_each_location() will be called, whose tables are large. Caller closes. */
struct dietree *dietree_open(const struct image_sections *secs, bool locations, struct errmsg *err);
void dietree_close(struct dietree *tree); /* NULL is all right */

/* Each unit's DIE, in the file's order; stops when fn answers false. */
void dietree_each_unit(struct dietree *tree, bool (*fn)(const struct die *, void *), void *ctx);
/* The DIE at an offset that die_off() gave. */
bool dietree_at(struct dietree *tree, uint64_t off, struct die *out);

/* The code of a unit or a function, range by range: first address, address after it. */
void die_each_range(const struct die *die, void (*fn)(uint64_t, uint64_t, void *), void *ctx);
uint64_t die_off(const struct die *die); /* in .debug_info: its identity */
enum die_tag die_tag(const struct die *die);
bool die_child(const struct die *die, struct die *out);   /* the first */
bool die_sibling(const struct die *die, struct die *out); /* the next; *out may be *die */
const char *die_name(const struct die *die);              /* NULL: it has none of its own */
bool die_number(const struct die *die, enum die_attr attr, uint64_t *out);
bool die_text(const struct die *die, enum die_attr attr, const char **out);
bool die_reference(const struct die *die, enum die_attr attr, struct die *out);
bool die_address(const struct die *die, uint64_t *addr); /* of a variable that never moves */

#endif
