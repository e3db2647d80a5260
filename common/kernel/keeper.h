/* SPDX-License-Identifier: Apache-2.0 */
/* A child process that holds copies of the files open when it was made. Closing them in the tool
 * is then not the last close, which may block forever: closing a link waits for running handlers,
 * and a handler may wait for memory that never comes. */
#ifndef KEEPER_H
#define KEEPER_H

#include <stdbool.h>
#include <sys/types.h>

struct keeper {
	pid_t pid;  /* 0: none could be made; closing is the last close then */
	int let_go; /* closed: it may end */
};

struct keeper keeper_start(void);
/* Ends the child, which closes what it holds; on a busy machine this takes seconds. False: it has
 * not used a processor for so many milliseconds; it keeps trying without us. */
bool keeper_end(struct keeper *keeper, int ms);

#endif
