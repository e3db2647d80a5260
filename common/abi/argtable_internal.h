/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the module `argtable`: one function's table on its way to a signature. */
#ifndef ARGTABLE_INTERNAL_H
#define ARGTABLE_INTERNAL_H

#include "abi/argtable.h"
#include "abi/argtable_place_internal.h"

struct arginfo;

struct argtable {
	const struct arginfo *info;
	const struct evidence *evidence;
	struct gotypes *memory;
	struct argtable_places places; /* where the code saves nothing; count 0: not known */
};

/* The parts of the parameter that items [from, to) tell of, as a GOTYPE_STRUCT or GOTYPE_PAIR
 * without names; parts that are left out are one of size 0. NULL: it is a single value, or the
 * places of some parts are not told. */
const struct gotype *argtable_words(const struct argtable *table, size_t from, size_t to);

#endif
