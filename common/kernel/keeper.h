/* SPDX-License-Identifier: Apache-2.0 */
/* A child process that keeps the files that are open when it is made, so that closing them here is
 * not their last close, for which the kernel may wait without end: that of a probe's link waits for
 * all handlers that run, and one may wait for memory that nobody provides. */
#ifndef KEEPER_H
#define KEEPER_H

#include <stdbool.h>
#include <sys/types.h>

struct keeper {
	pid_t pid;  /* 0: none could be made; closing is the last close then */
	int let_go; /* closed: it may end */
};

struct keeper keeper_start(void);
/* It ends, which closes what it keeps. False: not within so many milliseconds; it goes on to try
 * without us. */
bool keeper_end(struct keeper *keeper, int ms);

#endif
