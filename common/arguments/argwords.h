/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters as words, where the compiler's argument tables are all that is known of a function:
 * a slice is {0x4a3f20, 0x3, 0x4}. What two words are is found out as they are read. */
#ifndef ARGWORDS_H
#define ARGWORDS_H

#include <stdbool.h>

#include "abi/abi.h"
#include "golang/gotype.h"

struct funcinfo;
struct pclntab_func;

/* False: there is no table, or, with `whole`, one that does not tell the place of each parameter;
 * then *sig is as before, and there is nothing to free. */
bool argwords_find(struct funcinfo *info, const struct pclntab_func *fn, bool whole,
		   struct gofunc *sig, struct abi_layout *abi);

#endif
