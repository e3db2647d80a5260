/* SPDX-License-Identifier: Apache-2.0 */
/* Finds runtime.moduledata without symbols: the one place in writable data whose words point to
 * pclntab's header and to the tables in it. Format: Go's src/runtime/symtab.go of each version. */
#ifndef MODULEDATA_H
#define MODULEDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image;

/* Which word of moduledata holds what, in releases Go 1.FIRST to Go 1.LAST; 0: none does. */
struct moduledata_layout {
	int first, last;
	unsigned names, records, functab; /* addresses of these parts of pclntab */
	unsigned text;                    /* address that functab's offsets count from */
	unsigned types, types_len;        /* descriptors, which stand in a row: address, bytes */
	unsigned types_end;
	unsigned itabs_off, itabs_len; /* itabs in a row: bytes from types; bytes */
	unsigned gofunc;               /* address that offsets of funcdata count from */
	/* slices, the length in the next word: offsets of descriptors from types; itabs' addresses
	 */
	unsigned typelinks, itablinks;
	unsigned masks; /* which words of data are pointers, and behind that of bss: bitvectors */
};

/* of this release; of the first known, if it is before that */
const struct moduledata_layout *moduledata_layout(int release);

struct moduledata_word { /* what word `index` (of 8 bytes) must be */
	unsigned index;
	uint64_t value;
};

/* word `index` of the structure at addr; 0 when it is not in the file */
uint64_t moduledata_word(const struct image *img, uint64_t addr, unsigned index);

#endif
