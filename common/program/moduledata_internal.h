/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room program uses of moduledata. */
#ifndef MODULEDATA_INTERNAL_H
#define MODULEDATA_INTERNAL_H

#include "program/moduledata.h"

/* Address of the structure whose words are all as given; words[0].index must be 0. 0: none. */
uint64_t moduledata_find(const struct image *img, const struct moduledata_word *words,
			 size_t count);

#endif
