/* SPDX-License-Identifier: Apache-2.0 */
/* What a function prints on its own, as a string. */
#ifndef QUIET_H
#define QUIET_H

struct quiet;

/* From here on what the process writes to stdout and stderr is kept in memory. NULL: that
 * cannot be done, and output goes where it always does. Not to be nested. */
struct quiet *quiet_begin(void);
/* Restores both; returns what was written as a malloc'd string, "" for nothing or if `quiet` is
 * NULL. */
char *quiet_end(struct quiet *quiet);

#endif
