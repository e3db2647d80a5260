/* SPDX-License-Identifier: Apache-2.0 */
/* What keeps objects from being garbage: the shortest ways from variables and stacks to them. */
#ifndef RETAINED_INTERNAL_H
#define RETAINED_INTERNAL_H

#include <stdint.h>
#include <stdio.h>

#include "objects/objects_look.h"
#include "objects/retained_chains_internal.h"

struct frames;
struct object_walk;
struct objects_still;

struct retained {
	/* of these, such as have objects that are sought are of interest. Those of RETAINED_NONE
	 * are in `others`, if they were reached */
	struct retained_chains chains;
	struct retained_chain others, unreached;
	bool every_word; /* of the variables counts as a pointer */
	bool specials_left_out;
};

/* When the walk has found out the types of objects. 0: *out is to be freed. -1 with *err: there is
 * no such object. */
int retained_find(const struct objects_look *look, struct object_walk *walk,
		  const struct objects_still *still, const struct frames *frames,
		  struct retained *out, struct errmsg *err);
void retained_free(struct retained *retained); /* what it points to */

/* Prints the chains, those that keep most first. Returns how many there are. */
size_t retained_print(FILE *out, const struct objects_look *look, const struct goprocesses_one *one,
		      const struct object_walk *walk, struct retained *retained);
/* Lines for stderr, where there is more to say of it. */
void retained_say(FILE *err, const struct object_walk *walk, const struct retained *retained);

#endif
