/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters and results as fetch arguments of uprobe_events: name_0=%ax:x64 name_1=%bx:x64 */
#ifndef EMIT_ARGS_H
#define EMIT_ARGS_H

#include <stdio.h>

#include "abi/abi.h"

struct site;

/* Each with a space before it, those that can be fetched at this site; floats in registers cannot.
 * `prefix`: of the names of those that have none ("arg": arg1, arg2, ...). */
void emit_args(FILE *out, enum arch arch, const struct goparam *params,
	       const struct abi_value *values, size_t count, const struct site *site,
	       const char *prefix);

/* The 8-byte register that a piece is in, or whose address it is at, as the kernel calls it: "ax",
 * "r8", "x0". `text`: room for it. */
const char *emit_register(enum arch arch, const struct abi_piece *piece, char *text, size_t size);

#endif
