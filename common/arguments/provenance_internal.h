/* SPDX-License-Identifier: Apache-2.0 */
/* Does the place that debug information names for a parameter of an inlined copy hold what the copy
 * was given? To the compiler a variable is a name that several values have in turn, and the code of
 * a copy is moved into its caller's. So that place may already hold what the callee computes from
 * the parameter, or what an earlier round of a loop left there. The value is followed back, through
 * moves, to the instruction that computed it, and used only if it is the variable's first value. */
#ifndef PROVENANCE_INTERNAL_H
#define PROVENANCE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct functab_func;
struct site_finder;

struct provenance_place {
	bool in_register;
	int64_t n; /* the register's DWARF number; else bytes above SP at the function's entry */
	uint32_t size; /* bytes */
};

struct provenance {
	struct site_finder *finder;
	const struct functab_func *fn; /* that contains the copy */
	int32_t node;                  /* the copy, in its inline tree */
	/* Where is the variable said to be while the instruction at addr is about to be executed?
	 * false: nowhere. */
	bool (*located)(const void *ctx, uint64_t addr, struct provenance_place *out);
	const void *ctx;
	unsigned *steps; /* instructions that may yet be looked at, for all questions */
};

enum { PROVENANCE_SOURCES = 16 };

struct provenance_sources { /* what computed a value: equal numbers are the same computation */
	uint64_t ids[PROVENANCE_SOURCES];
	size_t count;
};

/* Does the place hold, at the instruction at addr, the first value that the variable had in this
 * run? Debug information need not name this place, if it named one from which the value came here.
 * Adds what computed the value to *sources. amd64 only. */
bool provenance_is_first(const struct provenance *of, uint64_t addr,
			 const struct provenance_place *place, struct provenance_sources *sources);

#endif
