/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a PROBE's tokens one after the other, and makes trees of them. */
#ifndef PROBESPEC_READER_INTERNAL_H
#define PROBESPEC_READER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probespec/expr.h"
#include "probespec/probespec_lexer_internal.h"

struct errmsg;

struct probespec_reader {
	const char *text; /* the PROBE */
	bool at_return;
	struct token token; /* the next one */
	size_t last_end;    /* of the token before it */
	/* of the expression that is being read: */
	unsigned parts, depth;
	const char *state; /* the first $running or the like, in any expression; or NULL */
	bool list;         /* goargs and gorets are allowed for it */
	struct errmsg *err;
};

void probespec_reader_start(struct probespec_reader *reader, size_t at); /* at an offset */
void probespec_reader_next(struct probespec_reader *reader);             /* passes the token */
bool probespec_reader_is(const struct probespec_reader *reader, const char *what);

/* Sets the error "expected WHAT, found TOKEN", and the token's hint. Returns -1. */
int probespec_reader_expected(struct probespec_reader *reader, const char *what);
/* A hint for a token that is not allowed where it is; NULL: none. */
const char *probespec_reader_hint(const struct probespec_reader *reader);

/* Makes a part of the expression, to be freed with expr_free(). Takes over a and b, even on
 * failure. NULL with *err: there are too many parts. */
struct expr *probespec_reader_make(struct probespec_reader *reader, enum expr_kind kind, size_t at,
				   struct expr *a, struct expr *b);
/* The same from the token, which is passed; a name's `text` is a copy of the token's. */
struct expr *probespec_reader_leaf(struct probespec_reader *reader, enum expr_kind kind,
				   uint64_t number);
/* Sets the error as probespec_reader_expected() does; always NULL. */
struct expr *probespec_reader_missing(struct probespec_reader *reader, const char *what);
/* Reads a literal; the token begins with a double quote. */
struct expr *probespec_reader_string(struct probespec_reader *reader);
/* Passes the closing bracket after `expr`; if there is none, frees `expr` and returns NULL with the
 * error set. */
struct expr *probespec_reader_closed(struct probespec_reader *reader, struct expr *expr,
				     const char *bracket);

#endif
