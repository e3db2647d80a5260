/* SPDX-License-Identifier: Apache-2.0 */
/* Finds return addresses in a copy of a stack by call frame information, for code without frame
 * pointers. */
#ifndef UNWIND_H
#define UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/ehframe.h"

struct image;

struct unwind_module { /* a file in the process's memory */
	const struct image *img;
	uint64_t bias;
	/* address in the file of GCC's __morestack, which code is called by that has got a new
	 * stack segment: such frames are left out; 0: not known */
	uint64_t morestack;
};

struct unwind_piece { /* of the stack */
	uint64_t addr, len;
	const uint8_t *bytes;
};

struct unwind {
	const struct unwind_module *modules;
	size_t module_count;
	const struct unwind_piece *pieces;
	size_t piece_count;
	uint64_t regs[EHFRAME_REGS]; /* by DWARF's numbers; [EHFRAME_RA] is the instruction's
					address */
};

/* The module whose code an address is in; NULL: none's. */
const struct unwind_module *unwind_module(const struct unwind *u, uint64_t addr);

/* frames[0]: where the registers are; then return addresses. Returns how many, `max` at most;
 * *complete: nobody called the last one. */
size_t unwind(const struct unwind *u, uint64_t *frames, size_t max, bool *complete);

#endif
