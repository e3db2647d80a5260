/* SPDX-License-Identifier: Apache-2.0 */
/* Values followed backwards through a function's code, from place to place. */
#ifndef PROVENANCE_TRAIL_INTERNAL_H
#define PROVENANCE_TRAIL_INTERNAL_H

#include "arguments/provenance_internal.h"
#include "sites/site_finder.h"

enum {
	TRAIL_PLACES = 8,      /* that one value is in on its way */
	TRAIL_DEFINITIONS = 8, /* of one value, in branches */
};

struct trail_spot { /* the value is in `place` before instruction `at` */
	uint32_t at;
	unsigned place;
};

/* A search backwards through the code, against the ways that control goes. */
struct trail {
	const struct provenance *of;
	struct insn_code code;
	struct provenance_place places[TRAIL_PLACES];
	unsigned place_count;
	uint32_t definitions[TRAIL_DEFINITIONS];
	size_t definition_count;
	bool at_entry;                      /* the value is one that the function was given */
	bool goes_round;                    /* a loop makes it, anew in each round */
	struct provenance_sources *sources; /* NULL: not asked for */
	bool failed;
};

struct trail_front { /* where a search has come to */
	struct trail *trail;
	bool *seen;
	struct trail_spot *stack;
	size_t depth, cap;
	bool inner; /* within one loop */
	bool made;  /* of an inner search: something in the loop computes the value */
};

const struct flow *trail_flow(const struct trail *trail);
const struct graph *trail_graph(const struct trail *trail);
bool trail_same(const struct provenance_place *a, const struct provenance_place *b);
unsigned trail_place(struct trail *trail, const struct provenance_place *place); /* its number */
/* Free with trail_front_free(). */
void trail_front_init(struct trail_front *front, struct trail *trail, bool inner);
void trail_front_free(struct trail_front *front);
void trail_push(struct trail_front *front, uint32_t at, unsigned place);
void trail_add_source(struct trail *trail, uint64_t at, unsigned number, bool loop);
bool trail_may_go_on(struct trail *trail); /* counts one step; false: the search has failed */
/* Steps back over instruction `at`: pushes where the value was before, or notes its definition. */
void trail_step_over(struct trail_front *front, uint32_t at, unsigned number);
/* Is the edge a back edge (of a loop)? Is any edge into block b? */
bool trail_is_back(const struct graph *graph, uint32_t from, uint32_t to);
bool trail_has_back(const struct graph *graph, uint32_t b);
/* Over the edges into block `to`: back edges, forward edges, or both. */
void trail_step_edges(struct trail_front *front, uint32_t to, unsigned place, bool back,
		      bool forward);

#endif
