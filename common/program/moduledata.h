/* SPDX-License-Identifier: Apache-2.0 */
/* runtime.moduledata, found without symbols: the one place in writable data whose words point to
 * pclntab's header and to the tables in it. Format: Go's src/runtime/symtab.go of each version. */
#ifndef MODULEDATA_H
#define MODULEDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image;

struct moduledata_word { /* what word `index` (of 8 bytes) must be */
	unsigned index;
	uint64_t value;
};

/* Address of the structure whose words are all as given; words[0].index must be 0. 0: none. */
uint64_t moduledata_find(const struct image *img, const struct moduledata_word *words,
			 size_t count);
/* word `index` of the structure at addr; 0 when it is not in the file */
uint64_t moduledata_word(const struct image *img, uint64_t addr, unsigned index);

#endif
