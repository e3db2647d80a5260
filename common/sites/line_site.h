/* SPDX-License-Identifier: Apache-2.0 */
/* Where a source line can be probed: an instruction that each execution of the line passes exactly
 * once. Go's compiler spreads a line over many places, moves what only computes, and leaves out
 * branches whose outcome it knows: only what it never moves counts here, calls, stores and nil
 * checks. */
#ifndef LINE_SITE_H
#define LINE_SITE_H

#include <stdint.h>

struct functab_func;
struct site;
struct site_finder;

struct line_place {
	const char *file; /* as functab_line() says it */
	int line;
	int32_t node; /* what has the line: a copy in the function's inline tree; -1: itself */
};

/* 0, or -1 with *reason, a static text: no place is certain. */
int line_site(struct site_finder *finder, const struct functab_func *fn,
	      const struct line_place *place, struct site *out, const char **reason);

#endif
