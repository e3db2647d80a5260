/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room dwarf uses of dietree_place. */
#ifndef DIETREE_PLACE_INTERNAL_H
#define DIETREE_PLACE_INTERNAL_H

#include "dwarf/dietree_place.h"

bool die_place(const struct die *die, uint64_t addr, struct die_place *out);
/* Calls `fn` for each range [from, to) of a variable's location list: where the variable is when an
 * instruction there is about to be executed. A variable that is always at one place has no such
 * list: `fn` is not called. Places that struct die_piece cannot hold have no pieces. */
void die_each_location(const struct die *die,
		       void (*fn)(uint64_t from, uint64_t to, const struct die_pieces *pieces,
				  void *ctx),
		       void *ctx);
bool dietree_place_of_bytes(const uint8_t *bytes, size_t left, struct die_place *out);
bool dietree_place_of_ops(const struct dietree_op *ops, size_t count, struct die_place *out);
void dietree_pieces_of_ops(const struct dietree_op *ops, size_t count, struct die_pieces *out);

#endif
