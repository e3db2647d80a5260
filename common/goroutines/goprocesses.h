/* SPDX-License-Identifier: Apache-2.0 */
/* The Go programs that a tool looks at: those that run, by ID, by name, or all of them; or one that
 * has left a core file. */
#ifndef GOPROCESSES_H
#define GOPROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/errmsg.h"
#include "goroutines/goprocess.h"

struct goprocesses_wanted {
	const char *core, *binary; /* a core file, and the program; NULL: one that runs */
	const pid_t *pids;
	size_t pid_count;
	const char *name; /* part of the command's name or the file's; NULL: of any */
	bool all;         /* whose name is so, without a PID */
};

struct goprocesses_one {
	pid_t pid;
	struct process *proc; /* NULL: of a core file */
	struct goprocess *gp;
	char *name; /* of its file */
};

struct goprocesses {
	struct goprocesses_one *all;
	size_t count, cap;
	size_t refused;    /* of all that there are, those that could not be looked at */
	struct errmsg why; /* ... the first of them */
	/* of a core file: bytes that it should have, and of these that are missing; it does not
	 * tell which program it is of */
	uint64_t core_size, core_missing;
	bool core_untold;
};

/* Opens what there is. Calls `failed` for each PID given that is none of a Go program, or may not
 * be read. -1 with *err: no process has this name; the core file is of no use. Caller closes. */
int goprocesses_open(const struct goprocesses_wanted *wanted, struct goprocesses *out,
		     void (*failed)(void *ctx, const struct errmsg *err), void *ctx,
		     struct errmsg *err);
void goprocesses_close(struct goprocesses *procs); /* what it points to */

#endif
