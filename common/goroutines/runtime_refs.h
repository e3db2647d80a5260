/* SPDX-License-Identifier: Apache-2.0 */
/* Which variables a function of Go's runtime refers to, by its code: so they are found in
 * stripped programs as well. Addresses are with load bias 0. */
#ifndef RUNTIME_REFS_H
#define RUNTIME_REFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/coderefs.h"

struct program;

enum { RUNTIME_REFS = 512 };

struct runtime_refs { /* all zero: none */
	struct coderef all[RUNTIME_REFS];
	size_t count; /* in the order of the code, as often as they occur */
};

/* Adds those of the function of this name; false: the program has no such function. */
bool runtime_refs_add(const struct program *prog, const char *func, struct runtime_refs *refs);
bool runtime_refs_has(const struct runtime_refs *refs, uint64_t addr);
/* The one variable that is referred to so; false: there is none, or there are several. */
bool runtime_refs_only(const struct runtime_refs *refs, int how, unsigned bytes, uint64_t *addr);

#endif
