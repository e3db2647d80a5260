/* SPDX-License-Identifier: Apache-2.0 */
/* The text of one failure, made where its reason is known and printed once, by a tool:
 *   gotrace: /bin/ls: not a Go program
 *   hint: ...
 */
#ifndef ERRMSG_H
#define ERRMSG_H

#include <stdarg.h>

struct errmsg {
	char text[512]; /* "" when nothing failed; no program name, no newline */
	char hint[512]; /* "" when there is no remedy to name */
};

/* Both truncate text that is too long. errmsg_set() clears the hint and returns -1, so that a
 * function can end with `return errmsg_set(err, ...)`. If `err` is NULL, nothing is kept. */
int errmsg_set(struct errmsg *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void errmsg_hint(struct errmsg *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The text without the "col 34: " that it may begin with. */
const char *errmsg_after_col(const struct errmsg *err);

#endif
