/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the module `argtable`: one function's table on its way to a signature. */
#ifndef ARGTABLE_PARTS_H
#define ARGTABLE_PARTS_H

#include "argtable.h"

struct arginfo;

struct argtable {
	const struct arginfo *info;
	const struct evidence *evidence;
	struct gotypes *memory;
};

/* The parts of the parameter that items [from, to) tell of, as a GOTYPE_STRUCT or GOTYPE_PAIR
 * without names. NULL: it is a single value, or not all of it is told. */
const struct gotype *argtable_words(const struct argtable *table, size_t from, size_t to);

#endif
