/* SPDX-License-Identifier: Apache-2.0 */
/* The pointers that the garbage collector begins with: in variables, by the maps that the runtime
 * keeps of them, on stacks, by those of each frame, and in what is noted of single objects. */
#ifndef RETAINED_ROOTS_INTERNAL_H
#define RETAINED_ROOTS_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

struct frames;
struct object_walk;
struct objects_still;
struct variable_names;

enum retained_how {
	RETAINED_VARIABLE,
	RETAINED_STACK,
	/* these have no more than their objects to tell them apart */
	RETAINED_FINALIZER,
	RETAINED_CLEANUP,
	RETAINED_WEAK_POINTER,
	RETAINED_QUEUED_FINALIZER,
	RETAINED_QUEUED_CLEANUP,
};

struct retained_root {
	enum retained_how how;
	/* of the variable, or of the frame's function, which tells it from others; with load bias 0
	 */
	uint64_t addr;
	const char *name; /* likewise; NULL: not known. Valid as long as the program */
	uint64_t goid;    /* STACK */
};

struct retained_roots {
	struct object_walk *walk;
	const struct objects_still *still;
	const struct frames *frames;
	const struct variable_names *names;
	/* called for each: the root, and what it points to */
	void (*found)(void *ctx, const struct retained_root *root, uint64_t to);
	void *ctx;
};

/* False: the maps were not found, and all words count. */
bool retained_roots_variables(const struct retained_roots *roots);
/* Of the runtime's own goroutines, or of all the others. */
void retained_roots_stacks(const struct retained_roots *roots, bool system);
void retained_roots_specials(const struct retained_roots *roots);

#endif
