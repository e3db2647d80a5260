/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SELECTION_LINE_INTERNAL_H
#define SELECTION_LINE_INTERNAL_H

#include <stdbool.h>

struct errmsg;
struct program;
struct selection;

/* Is the pattern "@FILE:LINE"? */
bool selection_is_line(const char *pattern);

/* Adds each place of the line: one for each function, and each inlined copy, that has code of it.
 * As selection_add(). -1 with *err, and with lines near by that have places, also if one of the
 * places is not certain. */
int selection_add_line(struct selection *sel, const struct program *prog, const char *pattern,
		       struct errmsg *err);

#endif
