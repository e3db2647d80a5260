/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps a library that prints on its own from the user's terminal. */
#ifndef QUIET_INTERNAL_H
#define QUIET_INTERNAL_H

struct quiet;

/* From here on what the process writes to stdout and stderr is kept in memory; if the process ends
 * meanwhile, it goes to stderr. NULL: that cannot be done, and output goes where it always does.
 * Not to be nested. */
struct quiet *quiet_begin(void);
/* Restores both; returns what was written as a malloc'd string, "" for nothing or if `quiet` is
 * NULL. */
char *quiet_end(struct quiet *quiet);

#endif
