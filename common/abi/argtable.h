/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of a function in a stripped program: their sizes, from the compiler's argument
 * tables, and their places, from the registers that the function saves. */
#ifndef ARGTABLE_H
#define ARGTABLE_H

#include "abi/abi.h"
#include "abi/evidence.h"

struct image;
struct functab;
struct functab_func;

/* false: the program has no table for it; then there is nothing to free. Parameters have no names
 * and types of kind GOTYPE_UNKNOWN, whose name is their sizes ("8+8 bytes") and whose `elem`, of
 * those that have parts, tells these; one named "..." stands
 * for those that the table leaves out. A value without pieces: its place is not known. There are
 * no results, since tables do not tell of any. The layout is for abi_layout_free(). */
bool argtable_read(const struct image *img, const struct functab *tab,
		   const struct insn_decoder *dec, const struct evidence *evidence,
		   const struct functab_func *fn, struct gotypes *memory, struct gofunc *sig,
		   struct abi_layout *layout);

#endif
