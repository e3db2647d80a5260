/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room dwarf uses of dietree. */
#ifndef DIETREE_INTERNAL_H
#define DIETREE_INTERNAL_H

#include "dwarf/dietree.h"

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
