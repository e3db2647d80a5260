/* SPDX-License-Identifier: Apache-2.0 */
/* The expressions of a PROBE, by C's precedence. */
#ifndef PROBESPEC_EXPR_INTERNAL_H
#define PROBESPEC_EXPR_INTERNAL_H

#include <stdbool.h>

struct expr;
struct probespec_reader;

/* Reads an expression, up to the first token that cannot be part of it. `list`: goargs and gorets
 * are allowed. NULL with *err; caller frees. */
struct expr *probespec_expr_read(struct probespec_reader *reader, bool list);

#endif
