/* SPDX-License-Identifier: Apache-2.0 */
/* The expressions of a PROBE, by C's precedence. */
#ifndef PROBESPEC_EXPR_H
#define PROBESPEC_EXPR_H

#include <stdbool.h>

struct expr;
struct probespec_reader;

/* Reads one, up to a token that cannot go on with it. `list`: goargs and gorets may stand here.
 * NULL with *err; caller frees. */
struct expr *probespec_expr_read(struct probespec_reader *reader, bool list);

#endif
