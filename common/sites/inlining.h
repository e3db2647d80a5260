/* SPDX-License-Identifier: Apache-2.0 */
/* Inlined copies of functions, from pclntab's inline trees, and the sites in them at which a run
 * of the copy begins and ends. Works in stripped programs. */
#ifndef INLINING_H
#define INLINING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sites/site.h"

struct image;
struct functab;
struct functab_func;

struct inlining_copy {
	const char *name; /* of the inlined function */
	uint32_t func;    /* pclntab index of the function that it stands in */
	int32_t node;     /* its node in that function's inline tree */
	uint64_t addr;    /* lowest address of its body */
};

/* Calls fn for every copy in every function, in order of address; stops when fn returns false.
 * Cheap: it reads only the trees, and decodes no instructions. Returns how many functions were
 * left out, because their trees and names are too large for a file of this size. */
size_t inlining_each(const struct functab *tab, bool (*fn)(const struct inlining_copy *, void *ctx),
		     void *ctx);

/* Appends all such sites, the start of the runs first. Different things have happened by the time
 * each of them is passed. 0, or -1 with *reason. */
int inlining_places(struct site_finder *finder, const struct inlining_copy *copy,
		    struct site_list *out, const char **reason);

/* What is probed of a copy: as inlining_span() where its runs are timed, else inlining_entry(). */
int inlining_sites(struct site_finder *finder, const struct inlining_copy *copy, bool timed,
		   struct site *entry, struct site_list *exits, const char **reason);

struct inlining_call {
	struct site site; /* SITE_INLINED_CALL */
	uint64_t target;  /* 0: indirect */
	int32_t node;     /* what the instruction is of: the copy, or a copy that stands in it */
};

/* The one call instruction in the copy's code, including copies inside it. The caller must know
 * whether each run passes it. 0, or -1 with *reason. */
int inlining_call(struct site_finder *finder, const struct inlining_copy *copy,
		  struct inlining_call *out, const char **reason);

#endif
