/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters and results as fetch arguments of uprobe_events: name_0=%ax:x64 name_1=%bx:x64 */
#ifndef EMIT_ARGS_INTERNAL_H
#define EMIT_ARGS_INTERNAL_H

#include <stdio.h>

#include "abi/abi.h"

struct site;

/* Prints those that can be fetched at this site, each after a space; floats in registers cannot.
 * `prefix`: for the names of those without one ("arg": arg1, arg2, ...). */
void emit_args(FILE *out, enum arch arch, const struct goparam *params,
	       const struct abi_value *values, size_t count, const struct site *site,
	       const char *prefix);

/* The kernel's name ("ax", "r8", "x0") of the 8-byte register that a piece is in, or that holds the
 * piece's address. `text`: room for it. */
const char *emit_register(enum arch arch, const struct abi_piece *piece, char *text, size_t size);

#endif
