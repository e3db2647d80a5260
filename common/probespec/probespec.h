/* SPDX-License-Identifier: Apache-2.0 */
/* The probe language of gotrace:
 *   [p:|r:][BINARY:]FUNCTION[(SIGNATURE)] [(PREDICATE)] ["FORMAT"[[,] EXPR[, EXPR...]]]
 * Grammar: gotrace(8). Columns count from 1, in bytes of the PROBE as it was typed. */
#ifndef PROBESPEC_H
#define PROBESPEC_H

#include <stdbool.h>
#include <stddef.h>

#include "probespec/expr.h"

struct errmsg;

struct probespec {
	bool at_return;
	char *target; /* "BINARY:FUNCTION", "FUNCTION" or ":FUNCTION", as typed */
	unsigned target_col;
	char *signature; /* "(x int) (n int, err error)", as typed; NULL: none */
	unsigned signature_col;
	struct expr *predicate; /* NULL: none */
	char *format;           /* escapes decoded; NULL: none */
	size_t format_len;
	unsigned *format_cols; /* of each byte of `format`, and of the closing quote */
	struct expr **args;
	char **arg_texts; /* each of them as typed */
	size_t arg_count;
	/* the first variable in it that is a part of the latency, by the goroutine's state, as
	 * "$running"; NULL: none */
	const char *state;
};

/* No expression has more parts than this, which bounds how deep its tree is. */
enum { PROBESPEC_EXPR_MAX = 256 };

/* `regex`: FUNCTION is a regular expression, which goes up to a space, so that there can be no
 * SIGNATURE. 0; -1 with *err ("col 34: ..."). `out` is to be freed after 0 only. */
int probespec_parse(const char *text, bool regex, struct probespec *out, struct errmsg *err);
/* The same of goargdist's PROBEs, which have EXPRs in place of the format:
 *   [p:|r:][BINARY:]FUNCTION[(SIGNATURE)] [(PREDICATE)] [EXPR[, EXPR...]]
 * Without any, of returns, there is the first result. The format names and prints them all: "EXPR =
 * %v, EXPR = %v". */
int probespec_parse_values(const char *text, bool regex, struct probespec *out, struct errmsg *err);
void probespec_free(struct probespec *spec); /* what it points to */

#endif
