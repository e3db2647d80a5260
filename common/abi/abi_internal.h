/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of abi share. */
#ifndef ABI_INTERNAL_H
#define ABI_INTERNAL_H

#include "abi/abi.h"

enum {
	ABI_WORD = 8,
	ABI_DEPTH_MAX = 64,
	ABI_STEPS_MAX = 4096, /* types looked at in one value: no compiler's value has as many */
};

/* Keeps a copy of the pieces. */
void abi_keep(struct abi_value *out, const struct abi_piece *pieces, size_t count);
/* The offset of a value that comes after *size bytes, in which it is then included. */
uint64_t abi_next(uint64_t *size, const struct gotype *type, uint32_t align);

/* Fills the arrays of abi_layout(), which are there already. */
void abi_sysv(const struct gofunc *fn, struct abi_layout *out);

/* abi_layout() for a function of which pclntab says `args` (functab_args_size()): by `usual`, or on
 * the stack where only that comes to as many bytes, as in Go functions that assembly calls. false:
 * neither does, so that `fn` is not its signature; the layout is by `usual` then. */
bool abi_layout_fitting(const struct gofunc *fn, enum arch arch, enum abi_convention usual,
			int32_t args, struct abi_layout *out);

#endif
