/* SPDX-License-Identifier: Apache-2.0 */
/* Translates an address to its stack frames: a function, and the calls inlined into it. */
#ifndef GOSTACK_SYMBOLS_H
#define GOSTACK_SYMBOLS_H

#include "program/gostack.h"

struct gostack_line {
	const char *name; /* NULL: [unknown] */
	const char *file; /* NULL: not known */
	int line;
	int start_line; /* of the function's declaration; 0: not known */
	uint64_t call;  /* what file and line are of: where it calls the line before; Go's alone */
	bool inlined;
	bool wrapper; /* made by the compiler, and left out of Go's tracebacks */
	bool hidden;  /* made by gccgo for another function, and left out by its runtime.Callers */
};

struct gostack_place {
	const struct gostack_line *lines; /* innermost first */
	size_t count;                     /* at least 1 */
	uint64_t off;                     /* of the address in its function */
};

/* `addr` with load bias 0. `returns`: it is a return address, and the call before it is meant.
 * Valid until the next call. */
struct gostack_place gostack_symbols_find(struct gostack_symbols *syms, uint64_t addr,
					  bool returns);
/* Is this a function that the runtime makes appear to be called by the instruction that a signal
 * interrupted? */
bool gostack_symbols_interrupt(const struct gostack_place *callee);

#endif
