/* SPDX-License-Identifier: Apache-2.0 */
/* Where a word that a function was given comes from: what its caller was given itself, and what the
 * code has added to it, or loaded from there. Followed back through the caller's code, on every way
 * to the call. */
#ifndef ORIGIN_H
#define ORIGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct functab_func;
struct site_finder;

enum { ORIGIN_LOADS = 4 };

struct origin { /* at the first instruction of a function */
	bool in_register;
	int64_t n; /* the register's DWARF number; else bytes above SP */
	/* The word is what is there plus adds[0]; then, for each load, what is at this address plus
	 * the next of adds. */
	int64_t adds[ORIGIN_LOADS + 1];
	size_t loads;
};

/* From where a function begins to where its caller does: `fn`, which has called it and whose call
 * returns to `ret`. `callee` is where the function begins. false: not known, and *origin is of no
 * use. amd64 only. */
bool origin_of(struct site_finder *finder, const struct functab_func *fn, uint64_t ret,
	       uint64_t callee, struct origin *origin);

#endif
