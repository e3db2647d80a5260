/* SPDX-License-Identifier: Apache-2.0 */
/* A program's heap, stacks and variables, of one moment: of a process, copied while it is stopped;
 * of a core file, left where they are. */
#ifndef OBJECTS_STILL_INTERNAL_H
#define OBJECTS_STILL_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "goroutines/memory.h"
#include "goroutines/snapshot.h"
#include "objects/spans_internal.h"
#include "objects/special_queues_internal.h"

struct errmsg;
struct goprocesses_one;

struct objects_range {
	uint64_t addr, len;
};

struct objects_still {
	struct spans spans;
	struct memory mem;
	struct memory_copy *copy;    /* NULL: there is none */
	struct objects_range *roots; /* where pointers to objects are: variables and stacks */
	size_t root_count, root_cap;
	size_t variables;     /* how many of these are variables; the others are stacks */
	struct snapshot snap; /* of the goroutines; has_snap: it was taken */
	bool has_snap;
	uint64_t scanned; /* bytes of spans with pointers */
	uint64_t stopped_ns;
};

/* Where they are: the list of spans, by spans_find(), and queues of what is noted of objects. */
struct objects_places {
	uint64_t spans;
	struct special_queues queues;
};

/* 0; -1 with *err. The caller frees. */
int objects_still_take(const struct goprocesses_one *one, const struct objects_places *places,
		       struct objects_still *out, struct errmsg *err);
void objects_still_free(struct objects_still *still); /* what it points to */

#endif
