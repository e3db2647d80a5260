/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room elf uses of ehframe. */
#ifndef EHFRAME_INTERNAL_H
#define EHFRAME_INTERNAL_H

#include "elf/ehframe.h"

/* The row that is true just before the instruction at virtual address `pc` is executed. Each rule
 * read takes a step of `work`. false: there is none, it is not understood, or `work` is used up. */
bool ehframe_row(const struct image *img, uint64_t pc, struct budget *work,
		 struct ehframe_row *out);

#endif
