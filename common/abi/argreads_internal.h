/* SPDX-License-Identifier: Apache-2.0 */
/* Which of its parameters' places a function's code reads: argument registers before anything is
 * written to them, stack arguments that it does not write itself. What it does not read may be a
 * parameter all the same. */
#ifndef ARGREADS_INTERNAL_H
#define ARGREADS_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

struct image;
struct insn_decoder;
struct functab;
struct functab_func;

enum { ARGREADS_STACK = 256 }; /* bytes of stack arguments that are looked at */

struct argreads {
	uint32_t ints, floats;      /* bit n: the n-th of these registers */
	bool stack[ARGREADS_STACK]; /* by bytes above the first stack argument */
};

/* false: the code is too long, or is not understood. */
bool argreads_find(const struct image *img, const struct functab *tab,
		   const struct insn_decoder *dec, const struct functab_func *fn,
		   struct argreads *out);

#endif
