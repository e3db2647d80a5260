/* SPDX-License-Identifier: Apache-2.0 */
/* Evidence about a function's parameters that does not depend on their types: how many bytes they
 * take, and which registers the function saves. It exposes a wrong signature, from the user or
 * from debug information that leaves parameters out. */
#ifndef EVIDENCE_H
#define EVIDENCE_H

#include "abi/spill.h"

struct image;
struct functab;
struct functab_func;

struct evidence {
	enum arch arch;
	enum abi_convention usual; /* of the function: ABI_STACK if it is in assembly */
	int32_t args;              /* functab_args_size(); INT32_MIN: not known */
	struct spills spills;      /* count 0: none are known */
	/* The function saves none: what comes in registers is lost when its stack grows, after
	 * which it goes on at this address. 0: it is not so. */
	uint64_t restart;
};

/* `release`: of the program. `dec` is of the image's machine. */
void evidence_read(const struct image *img, const struct functab *tab,
		   const struct insn_decoder *dec, int release, const struct functab_func *fn,
		   struct evidence *out);

/* abi_layout() of a function by its convention: of Go functions that assembly calls, the stack's.
 * false: what the program shows contradicts the signature, by any convention. To be freed in both
 * cases. */
bool evidence_layout(const struct evidence *evidence, const struct gofunc *fn,
		     struct abi_layout *out);

#endif
