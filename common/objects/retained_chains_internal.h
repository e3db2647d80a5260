/* SPDX-License-Identifier: Apache-2.0 */
/* The ways on which objects were reached, told apart by root and by the types on them: a tree.
 * Objects of a list or a tree, which lead to others of their own type, are one place in it. */
#ifndef RETAINED_CHAINS_INTERNAL_H
#define RETAINED_CHAINS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/index.h"
#include "objects/retained_roots_internal.h"

enum { RETAINED_NONE, RETAINED_CHAINS_MAX = 1 << 18, RETAINED_DEPTH_MAX = 128 };

struct retained_object { /* what is told of one on the way */
	uint16_t kind;   /* its number in struct object_kinds */
	bool pointers;   /* of an unknown kind: there may be some in it */
	uint64_t size;   /* likewise: bytes of its slot; 0: of more than 32 KiB */
};

struct retained_chain {
	uint32_t before; /* number of the one that leads to it; RETAINED_NONE: it is a root */
	uint32_t depth;  /* 0: a root */
	uint64_t step;   /* by which field of that: object_step() */
	struct retained_object object;
	struct retained_root root;
	bool several;              /* a STACK's: other goroutines have it, too */
	bool repeated;             /* others of its type, or types between, lead to more of it */
	bool cut;                  /* there is more between it and what follows */
	uint64_t objects, bytes;   /* of those that are sought */
	uint64_t kept, kept_bytes; /* these, and what they alone lead to */
	uint64_t example;          /* address of one */
};

struct retained_chains {
	struct retained_chain *all; /* by number; the first is none */
	size_t count, cap;
	struct index index;
	bool full; /* there were more */
};

void retained_chains_begin(struct retained_chains *chains);
void retained_chains_end(struct retained_chains *chains);
/* The number of a root's. */
uint32_t retained_chains_root(struct retained_chains *chains, const struct retained_root *root);
/* Where an object stands to which `from` leads. `sought`: it is the end of the way. */
uint32_t retained_chains_next(struct retained_chains *chains, uint32_t from, uint64_t step,
			      const struct retained_object *object, bool sought);

#endif
