/* SPDX-License-Identifier: Apache-2.0 */
/* The inline tree of one function, and which of its nodes each instruction belongs to. */
#ifndef INLTREE_H
#define INLTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program/functab.h"

struct budget;
struct flow;

struct inltree {
	struct functab_inlined *nodes;
	int32_t count;
	/* filled by inltree_join() */
	int32_t *node_of; /* innermost node of each instruction; -1: the function's own */
	uint32_t *insns;  /* instructions, each node's next to those of what is inlined into it */
	uint32_t *from, *to; /* insns[from[n]] ... insns[to[n] - 1] are those of node n and below */
};

/* The nodes alone. No nodes where there are none or they are malformed. */
void inltree_load(struct inltree *tree, const struct functab *tab, const struct functab_func *fn);
/* The same, where the budget has a step for each node; false: it has not, and there are no nodes.
 */
bool inltree_load_within(struct inltree *tree, const struct functab *tab,
			 const struct functab_func *fn, struct budget *budget);
void inltree_join(struct inltree *tree, const struct functab *tab, const struct functab_func *fn,
		  const struct flow *flow);
void inltree_free(struct inltree *tree); /* what it points to; a zeroed one is all right */

int32_t inltree_parent(const struct inltree *tree, int32_t node); /* -1: none */

#endif
