/* SPDX-License-Identifier: Apache-2.0 */
/* Errors in a PROBE, with their column: "col 34: ...". */
#ifndef PROBESPEC_COL_INTERNAL_H
#define PROBESPEC_COL_INTERNAL_H

#include <stddef.h>

struct errmsg;

/* As errmsg_set; `at` is an offset in the PROBE. */
int probespec_col_error(struct errmsg *err, size_t at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
