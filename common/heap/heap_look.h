/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one program's profile of allocations and prints it, by goheap's options. */
#ifndef HEAP_LOOK_H
#define HEAP_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

struct errmsg;
struct frames;
struct heap_state;
struct json;
struct memory;
struct pattern;
struct program;

/* As runtime/pprof names them: alloc_objects, alloc_space, inuse_objects, inuse_space. */
extern const struct profile_spec heap_profile_spec, heap_alloc_profile_spec;

struct heap_look {
	bool json, folded;
	bool alloc;                /* all that was allocated, not what is in use */
	bool again;                /* print what has changed since the last look */
	bool has_printed;          /* something stands before this */
	struct pattern **patterns; /* stacks with a function that one matches; none: all */
	size_t pattern_count;
	void (*json_time)(struct json *json); /* adds to each object; NULL: nothing */
	struct profile *profile;              /* stacks are added; NULL: to none */
	struct heap_state *state;             /* NULL: there was no look yet */
};

struct heap_subject {
	const struct memory *mem;
	const struct program *prog;
	const struct frames *frames;
	int pid;
	const char *name;
	bool ended; /* it has left a core file: nobody knows when */
};

/* -1 with *err. *count: how many stacks were shown. */
int heap_look(struct heap_look *look, const struct heap_subject *of, uint64_t *count,
	      struct errmsg *err);
void heap_look_end(struct heap_look *look); /* forgets the last look */

#endif
