/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps a library that prints on its own from the user's terminal. */
#ifndef QUIET_H
#define QUIET_H

struct quiet;

/* From here on what the process writes to stdout and stderr is kept; should it end meanwhile, that
 * goes to stderr. NULL where that cannot be
 * done: then it goes where it always does. Not to be nested. */
struct quiet *quiet_begin(void);
/* Gives both back; returns what was written as a malloc'd string, "" for nothing. */
char *quiet_end(struct quiet *quiet);

#endif
