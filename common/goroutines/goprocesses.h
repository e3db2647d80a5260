/* SPDX-License-Identifier: Apache-2.0 */
/* The running Go programs that a tool looks at: by ID, by name, or all that there are. */
#ifndef GOPROCESSES_H
#define GOPROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/errmsg.h"
#include "goroutines/goprocess.h"

struct goprocesses_wanted {
	const pid_t *pids;
	size_t pid_count;
	const char *name; /* part of the command's name or the file's; NULL: of any */
	bool all;         /* whose name is so, without a PID */
};

struct goprocesses_one {
	pid_t pid;
	struct process *proc;
	struct goprocess *gp;
	char *name; /* of its file */
};

struct goprocesses {
	struct goprocesses_one *all;
	size_t count, cap;
	size_t refused;    /* of all that there are, those that could not be looked at */
	struct errmsg why; /* ... the first of them */
};

/* Opens what there is. Calls `failed` for each PID given that is none of a Go program, or may not
 * be read. -1 with *err: no process has this name. Caller closes. */
int goprocesses_open(const struct goprocesses_wanted *wanted, struct goprocesses *out,
		     void (*failed)(void *ctx, const struct errmsg *err), void *ctx,
		     struct errmsg *err);
void goprocesses_close(struct goprocesses *procs); /* what it points to */

#endif
