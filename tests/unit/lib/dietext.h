/* SPDX-License-Identifier: Apache-2.0 */
/* DWARF 4 for tests, from text, in a program of elffile.h. A line is an entry, and as many blanks
 * as it begins with are the entries around it:
 *
 *	unit "main" low=401000 high=401100
 *	 #int base "int" size=8 encoding=5
 *	 func "main.f" low=401000 high=401040
 *	  param "n" type=#int at=401000-401010:55,401010-401040:910a9304
 *
 * Numbers are hexadecimal. `at` is a list of locations or, without a range, one location; `ranges`
 * is a list of ranges. */
#ifndef DIETEXT_H
#define DIETEXT_H

#include "elffile.h"

enum {
	DIETEXT_ABBREV = ELFFILE_RODATA + 0x1000,
	DIETEXT_ABBREV_MAX = 0x600, /* bytes */
	DIETEXT_LOC = ELFFILE_RODATA + 0x1600,
	DIETEXT_RANGES = ELFFILE_RODATA + 0x1a00,
	DIETEXT_LISTS_MAX = 0x400,
	DIETEXT_INFO = ELFFILE_DATA + 0x1000,
	DIETEXT_INFO_MAX = 0x1000,
};

void dietext_write(struct elffile *f, const char *text);

#endif
