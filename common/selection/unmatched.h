/* SPDX-License-Identifier: Apache-2.0 */
/* PATTERNs that pick stacks by the functions in them: is there such a function at all? */
#ifndef UNMATCHED_H
#define UNMATCHED_H

#include <stdbool.h>

struct errmsg;
struct pattern;
struct program;

/* Has neither a function nor an inlined copy of one a name that the pattern matches? Then *err says
 * so, with similar names as its hint. False, too, where not all names could be read. */
bool unmatched_by_all(const struct program *prog, struct pattern *pat, struct errmsg *err);

#endif
