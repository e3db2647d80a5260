/* SPDX-License-Identifier: Apache-2.0 */
/* DWARF's location descriptions, as far as Go's compiler writes them: a register or a place in the
 * frame, or pieces of such. */
#ifndef DIETREE_PLACE_H
#define DIETREE_PLACE_H

#include "dwarf/dietree.h"

struct die_place {                  /* where a parameter begins, at one instruction */
	bool in_register, is_fixed; /* the latter: at every instruction */
	int64_t n; /* the register's DWARF number; else bytes above the canonical frame address */
	uint64_t size; /* bytes that are told of; 0: of a part; UINT64_MAX: all */
};

enum { DIE_PIECES_MAX = 32 };

struct die_piece { /* bytes [off, off + size) of a variable */
	bool in_register;
	int64_t n; /* as in struct die_place */
	uint64_t off, size;
};

struct die_pieces {
	struct die_piece items[DIE_PIECES_MAX];
	size_t count;  /* of those that are anywhere */
	uint64_t size; /* bytes described; UINT64_MAX: by one place, items[0], of size UINT64_MAX */
};

enum { DIETREE_OPS_MAX = 2 * DIE_PIECES_MAX };

struct dietree_op {
	unsigned atom; /* DW_OP_ */
	uint64_t number;
};

#endif
