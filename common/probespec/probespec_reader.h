/* SPDX-License-Identifier: Apache-2.0 */
/* A PROBE's tokens, read one after the other, and the trees that are made of them. */
#ifndef PROBESPEC_READER_H
#define PROBESPEC_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probespec/expr.h"
#include "probespec/probespec_lexer.h"

struct errmsg;

struct probespec_reader {
	const char *text; /* the PROBE */
	bool at_return;
	struct token token; /* the next one */
	size_t last_end;    /* of the token before it */
	/* of the expression that is being read: */
	unsigned parts, depth;
	bool list; /* goargs and gorets may stand for it */
	struct errmsg *err;
};

void probespec_reader_start(struct probespec_reader *reader, size_t at); /* at an offset */
void probespec_reader_next(struct probespec_reader *reader);             /* passes the token */
bool probespec_reader_is(const struct probespec_reader *reader, const char *what);

/* "expected WHAT, found TOKEN", with a hint where there is one. Returns -1. */
int probespec_reader_expected(struct probespec_reader *reader, const char *what);
/* The remedy for the token where it cannot stand; NULL: none. */
const char *probespec_reader_hint(const struct probespec_reader *reader);

/* A part of the expression, to be freed with expr_free. Takes a and b over, whatever happens. NULL
 * with *err: there are too many. */
struct expr *probespec_reader_make(struct probespec_reader *reader, enum expr_kind kind, size_t at,
				   struct expr *a, struct expr *b);
/* The same of the token, which is then passed; a name's `text` is the token's. */
struct expr *probespec_reader_leaf(struct probespec_reader *reader, enum expr_kind kind,
				   uint64_t number);

#endif
